// COZ's Figure 1: an iteration runs two threads and ends when both have. One has 5 % more to do, so making it faster
// helps by at most 1 - 1/1.05 = 4.8 %; making the other one faster does not help at all.
//
// usage: two-threads [ITERATIONS]   (default: until it is stopped)
#include <cstdlib>
#include <thread>

#include "fulcrum.h"

static volatile unsigned long result;

static void longer() {
  unsigned long x = 1;
  for (long i = 0; i < 10500000; i++) x = x * 6364136223846793005u + 1;
  result = x;
}

static void shorter() {
  unsigned long x = 1;
  for (long i = 0; i < 10000000; i++) x = x * 6364136223846793005u + 1;
  result = x;
}

int main(int argc, char **argv) {
  const long iterations = argc > 1 ? std::atol(argv[1]) : -1;
  for (long n = 0; n != iterations; n++) {
    std::thread a(longer), b(shorter);
    a.join();
    b.join();
    FULCRUM_PROGRESS_NAMED("iteration");
  }
}
