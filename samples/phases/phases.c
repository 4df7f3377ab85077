// A line that runs only a tenth of the time: of every 1000 units, 900 build and then 100 pack. During packing, speeding
// it up helps fully; over the whole run, it helps a tenth as much. Experiments start while the line runs, so without
// phase correction (COZ 3.4.4, eq. 8) they show the former.
#include "../sample.h"

static unsigned long build(unsigned long x) {
  for (long i = 0; i < 10 * SAMPLE_MS; i++) x = x * 6364136223846793005u + 1;
  return x;
}

static unsigned long pack(unsigned long x, long steps) {
  for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: pack
  return x;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  const long pack_steps = sample_reduced("pack", 10 * SAMPLE_MS);
  unsigned long x = 1;
  const double start = sample_clock();
  for (long n = 0; n < units; n++) {
    x = n % 1000 < 900 ? build(x) : pack(x, pack_steps);
    FULCRUM_PROGRESS_NAMED("unit");
  }
  sample_report(units, start, x);
}
