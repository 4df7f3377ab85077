/* One thread, two loops. Encoding takes 7 ms of 10, so speeding it up helps by 70 % of the speedup. */
#include "../sample.h"

static unsigned long parse(unsigned long x) {
  for (long i = 0; i < SAMPLE_MS * 3; i++) x = x * 6364136223846793005u + 1;
  return x;
}

static unsigned long encode(unsigned long x, long steps) {
  for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1; // TARGET: encode
  return x;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  const long steps = sample_reduced("encode", SAMPLE_MS * 7);
  const double start = sample_clock();
  unsigned long x = 1;
  for (long n = 0; n < units; n++) {
    x = encode(parse(x), steps);
    FULCRUM_PROGRESS_NAMED("record");
  }
  sample_report(units, start, x);
}
