#!/bin/sh
# Records the profiles beside it again: record.sh DIR. DIR's name gets into the profiles, so use a neutral one. Needs perf,
# samply, valgrind, and fulcrum in PATH.
set -eu
from=$(cd "$(dirname "$0")" && pwd)
samples=$(dirname "$from")
flags="-O1 -g -fno-omit-frame-pointer -pthread -I$samples/../engine/include -ffile-prefix-map=$samples=/srv/samples"
mkdir -p "$1"
cd "$1"

for name in hash-table pipeline indirect-calls; do
    gcc $flags -o "$name" "$samples/$name/$name.c"
done
for name in paths functions; do
    g++ -std=c++20 $flags -o "$name" "$samples/$name/$name.cpp"
done

# Only debug information gives the callers of leaf functions, so perf copies stacks and unwinds them.
record() {
    perf record -q -e cpu-clock -F 199 --call-graph dwarf,4096 "$@"
}

for name in hash-table:600 paths:250 functions:120 indirect-calls:400 pipeline:300; do
    record -o "${name%:*}.perf.data" "./${name%:*}" "${name#*:}"
done
SAMPLE_FIX=1
export SAMPLE_FIX
record -o fixed.perf.data ./hash-table 600
unset SAMPLE_FIX

convert() {
    perf script -i "$1" | fulcrum profile convert --names none - --to "$2" --output "$3"
}
convert hash-table.perf.data folded hash-table.folded
convert fixed.perf.data folded hash-table-fixed.folded
convert functions.perf.data speedscope functions.speedscope.json
convert indirect-calls.perf.data pprof indirect-calls.pb.gz
perf script -i paths.perf.data | gzip -9n >paths.perf.txt.gz
# samply unwinds on its own. Names are resolved when the profile is opened.
samply import pipeline.perf.data --save-only --output pipeline.samply.json.gz

valgrind -q --tool=callgrind --callgrind-out-file=paths.callgrind ./paths 4
gzip -9nf paths.callgrind
