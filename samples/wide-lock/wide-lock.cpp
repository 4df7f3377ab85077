// As found in Memcached: a lock that is held for more than it protects. While `format` runs under the lock, the other
// worker waits, so speeding it up helps both. SAMPLE_FIX=1 moves it out of the lock.
#include <mutex>
#include <thread>

#include "../sample.h"

static std::mutex cache_lock;
static unsigned long cache;

static unsigned long update(unsigned long x) {
  for (long i = 0; i < SAMPLE_MS / 2; i++) x = x * 6364136223846793005u + 1;
  return x;
}

static unsigned long format(unsigned long x, long steps) {
  for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: format
  return x;
}

static unsigned long parse(unsigned long x) {
  for (long i = 0; i < SAMPLE_MS; i++) x = x * 6364136223846793005u + 1;
  return x;
}

static void serve(long units, unsigned long *result) {
  const long format_steps = sample_reduced("format", SAMPLE_MS * 3 / 2);
  const bool fixed = sample_is_fixed();
  unsigned long x = *result;
  for (long n = 0; n < units; n++) {
    x = parse(x);
    {
      std::lock_guard<std::mutex> guard(cache_lock);
      cache += update(x);
      if (!fixed) x = format(x, format_steps);
    }
    if (fixed) x = format(x, format_steps);
    FULCRUM_PROGRESS_NAMED("request");
  }
  *result = x;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  unsigned long one = 1, two = 2;
  const double start = sample_clock();
  std::thread other(serve, units / 2, &one);
  serve(units - units / 2, &two);
  other.join();
  sample_report(units, start, one ^ two ^ cache);
}
