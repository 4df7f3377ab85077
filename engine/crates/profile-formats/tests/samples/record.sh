#!/bin/sh
# Records the profiles beside it anew: record.sh DIR. What can be compared with the profiler's own report was compared
# before its golden list was committed. DIR's name is in the profiles, so take a neutral one.
set -eu
from=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cp "$from"/work.* "$from"/loop.py "$from"/otlp.py "$from"/Work.java "$from"/Parked.java "$from"/parked.jfc "$from"/shop.cpp "$from"/heap.cpp "$1"
cd "$1"

gcc -O1 -g -fno-omit-frame-pointer -o work work.c
gcc -O1 -g -pg -o work-gprof work.c
g++ -O1 -g -fno-omit-frame-pointer -pthread -o shop shop.cpp
g++ -O1 -g -fno-omit-frame-pointer -o heap heap.cpp
go build -trimpath -o work-go work.go
javac -g -d . Work.java

valgrind -q --tool=callgrind --callgrind-out-file=work.callgrind ./work 2000
valgrind -q --tool=callgrind --dump-instr=yes --cache-sim=yes --callgrind-out-file=cache.callgrind ./work 500
gzip -9nf cache.callgrind
valgrind -q --tool=massif --detailed-freq=20 --massif-out-file=heap.massif ./heap
valgrind -q --tool=dhat --dhat-out-file=heap.dhat.json ./heap
# Needs gperftools' tcmalloc.
LD_PRELOAD=libtcmalloc.so HEAPPROFILE=heap HEAP_PROFILE_ALLOCATION_INTERVAL=0 ./heap
mv heap.0001.heap heap.gperftools
# Needs jemalloc, built with --enable-prof.
MALLOC_CONF=prof:true,lg_prof_sample:10,prof_final:true,prof_prefix:jemalloc LD_PRELOAD=libjemalloc.so.2 ./heap
mv jemalloc.*.heap heap.jemalloc
./work-gprof 12000000
gprof ./work-gprof gmon.out >work.gprof
python3 work.py work.pstats
# Needs the package opentelemetry-proto.
python3 otlp.py work.otlp
# Needs py-spy.
py-spy record -f raw -r 100 -o loop.folded -- python3 -S loop.py 1500
py-spy record -f speedscope -r 100 -o loop.speedscope.json -- python3 -S loop.py 1500
# Needs pyinstrument and scalene.
pyinstrument -r json -o loop.pyinstrument.json loop.py 60
scalene run --cpu-only -o loop.scalene.json loop.py 60
# Where Python is installed does not matter.
sed -i -E "s#$(python3 -c 'import sys; print(sys.prefix)')#/usr#g" loop.scalene.json
gzip -9nf loop.scalene.json
# Needs the gem stackprof.
ruby work.rb work.stackprof.json
node --cpu-prof --cpu-prof-dir=. --cpu-prof-name=work.cpuprofile work.js
node --heap-prof --heap-prof-interval=4096 --heap-prof-name=work.heapprofile work.js
node --trace-event-categories v8 --trace-event-file-pattern=work.trace.json work.js
./work-go work.pb.gz
java -Xmx64m -XX:StartFlightRecording:settings=work.jfc,filename=work.jfr Work 500
gzip -9nf work.jfr
# JAVA_17 and JAVA_25 are the homes of two JDKs: their recordings differ.
for version in 17 25; do
    eval home=\"\$JAVA_$version\"
    "$home/bin/javac" -g -d "$version" Parked.java
    "$home/bin/java" -Xmx64m -XX:StartFlightRecording:settings=parked.jfc,filename="parked-$version.jfr" -cp "$version" Parked 40
    gzip -9nf "parked-$version.jfr"
done
perf record -q -e cpu-clock -F 499 -g -o work.perf.data ./work 8000000
perf script -i work.perf.data >work.perf.txt
perf record -q -z -e cpu-clock -F 499 -g -o work-z.perf.data ./work 8000000
perf record -q -e cpu-clock -F 499 -g -o shop.perf.data ./shop 60000
perf script -i shop.perf.data >shop.perf.txt
perf script --no-demangle -i shop.perf.data >shop-mangled.perf.txt

# What perf says about the machine (its name, processors, caches) is wiped; build ids, the events' names and
# how it is compressed stay.
wipe() {
    python3 - "$1" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
offset, size = struct.unpack_from("<QQ", data, 40)
bits = int.from_bytes(data[72:104], "little")
row = offset + size
for bit in range(256):
    if bits >> bit & 1:
        start, length = struct.unpack_from("<QQ", data, row)
        row += 16
        if bit not in (2, 12, 27):
            data[start:start + length] = bytes(length)
open(sys.argv[1], "wb").write(data)
END
}
wipe work.perf.data
wipe work-z.perf.data
wipe shop.perf.data
