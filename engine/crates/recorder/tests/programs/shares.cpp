// One thread; seven parts of ten of its work are on line 10, three on line 14. Each step is a multiplication that waits
// for the one before, so the shares do not depend on how the loops happen to be laid out.
#include "fulcrum.h"
#include <cstdlib>

static unsigned long x = 1;

static void seven() {
  unsigned long y = x;
  for (long i = 0; i < 2100000; i++) { y = y * 6364136223846793005u + 1; asm volatile("" : "+r"(y)); } x = y;
}
static void three() {
  unsigned long y = x;
  for (long i = 0; i < 900000; i++) { y = y * 6364136223846793005u + 1; asm volatile("" : "+r"(y)); } x = y;
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : -1;
  for (int round = 0; round != rounds; round++) {
    seven();
    three();
    FULCRUM_PROGRESS_NAMED("round");
  }
}
