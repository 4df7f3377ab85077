/* Calls a function that does almost nothing. Prints the nanoseconds per call, one line per round. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned sum;

__attribute__((noinline)) void step(unsigned n) { sum += n; }

static __attribute__((noinline, no_instrument_function)) double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

__attribute__((no_instrument_function)) int main(int argc, char **argv) {
  int rounds = atoi(argv[1]), calls = atoi(argv[2]);
  for (int round = 0; round < rounds; round++) {
    double begin = now();
    for (int n = 0; n < calls; n++) {
      step(n);
    }
    printf("%.3f\n", (now() - begin) / calls);
  }
  return 0;
}
