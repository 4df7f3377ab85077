// COZ's Figure 1: an iteration runs two threads and ends when both have ended. One does 5 % more work, so speeding it up
// helps by at most 1 - 1/1.05 = 4.8 %; speeding up the other one does not help at all.
#include <thread>

#include "../sample.h"

static unsigned long longer_result, shorter_result;

static void longer(long steps) {
  unsigned long x = longer_result;
  for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: longer
  longer_result = x;
}

static void shorter(long steps) {
  unsigned long x = shorter_result;
  for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: shorter
  shorter_result = x;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  const long longer_steps = sample_reduced("longer", 10500000);
  const long shorter_steps = sample_reduced("shorter", 10000000);
  const double start = sample_clock();
  for (long n = 0; n < units; n++) {
    std::thread a(longer, longer_steps), b(shorter, shorter_steps);
    a.join();
    b.join();
    FULCRUM_PROGRESS_NAMED("iteration");
  }
  sample_report(units, start, longer_result ^ shorter_result);
}
