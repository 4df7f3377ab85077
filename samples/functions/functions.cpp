// A function that calls another one. Speeding up only `render` (exclusive) helps by its own 30 % of the time; with
// everything that it calls (inclusive), by 70 %. `print` also calls `shade`, which does not count for `render`.
// Each function works in two lines, so no single line has the result of the function.
#include <thread>

#include "../sample.h"

static const long render_percent = sample_percent("render"), inclusive_percent = sample_percent("render-inclusive");

static unsigned long load(unsigned long x, long steps) {
  for (long i = 0; i < steps / 2; i++) x = x * 6364136223846793005u + 1;
  for (long i = 0; i < steps / 2; i++) x = x * 2862933555777941757u + 1;
  return x;
}

[[gnu::noinline]] static unsigned long shade(unsigned long x, long steps) {
  for (long i = 0; i < steps / 2; i++) x = x * 6364136223846793005u + 1;
  for (long i = 0; i < steps / 2; i++) x = x * 2862933555777941757u + 1;
  return x;
}

[[gnu::noinline]] static unsigned long render(unsigned long x) {  // TARGET: render
  const long own = SAMPLE_MS * 3 / 200 * (100 - render_percent - inclusive_percent);
  const long called = SAMPLE_MS * 4 / 100 * (100 - inclusive_percent);
  for (long i = 0; i < own; i++) x = x * 6364136223846793005u + 1;
  x = shade(x, called);
  for (long i = 0; i < own; i++) x = x * 2862933555777941757u + 1;
  return x;
}

[[gnu::noinline]] static unsigned long print(unsigned long x) { return shade(x, SAMPLE_MS) + 1; }

static void draw(long units, unsigned long *result) {
  unsigned long x = *result;
  for (long n = 0; n < units; n++) {
    x = load(x, 2 * SAMPLE_MS);
    x = render(x);
    x = print(x);
    FULCRUM_PROGRESS_NAMED("picture");
  }
  *result = x;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  unsigned long one = 1, two = 2;
  const double start = sample_clock();
  std::thread other(draw, units / 2, &one);
  draw(units - units / 2, &two);
  other.join();
  sample_report(units, start, one ^ two);
}
