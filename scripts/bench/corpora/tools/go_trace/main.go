// Prints the CPU samples of an execution trace as folded stacks, by Go's own reader.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"

	"golang.org/x/exp/trace"
)

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	reader, err := trace.NewReader(bufio.NewReader(file))
	if err != nil {
		log.Fatal(err)
	}
	counts := map[string]int{}
	for {
		event, err := reader.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		if event.Kind() != trace.EventStackSample {
			continue
		}
		var names []string
		for frame := range event.Stack().Frames() {
			names = append(names, frame.Func)
		}
		slices.Reverse(names)
		counts[strings.Join(names, ";")]++
	}
	for stack, count := range counts {
		fmt.Println(stack, count)
	}
}
