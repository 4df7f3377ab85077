// Known calls for Go's profiler; the file to write is the first argument.
package main

import (
	"log"
	"os"
	"runtime/pprof"
)

var sink uint64

//go:noinline
func leaf(n uint64) {
	for i := uint64(0); i < n; i++ {
		sink += i * i
	}
}

//go:noinline
func branch(n uint64) {
	for i := uint64(0); i < n/2; i++ {
		sink ^= i
	}
	leaf(n)
}

//go:noinline
func recurse(depth int, n uint64) {
	leaf(n / 4)
	if depth > 0 {
		recurse(depth-1, n)
	}
}

// The compiler puts it into its caller: one location with two lines.
func inlined(n uint64) {
	leaf(n)
}

func main() {
	file, err := os.Create(os.Args[1])
	if err == nil {
		err = pprof.StartCPUProfile(file)
	}
	if err != nil {
		log.Fatal(err)
	}
	for i := 0; i < 10; i++ {
		branch(30000000)
		recurse(5, 30000000)
		inlined(10000000)
	}
	pprof.StopCPUProfile()
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}
