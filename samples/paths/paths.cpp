// Ferret again: two stages call the same function, and only one of them is the bottleneck. As a line or a function,
// `search` is 2.8 ms of work per item, which mixes both. As `rank > search`, all of its speedup helps, up to the limit
// of the other stage (60 %); as `extract > search`, none of it does.
#include <semaphore.h>

#include <thread>

#include "../sample.h"

static constexpr int CAPACITY = 4;
static unsigned long ring[CAPACITY];
static sem_t free_places, filled_places;

[[gnu::noinline]] static unsigned long search(unsigned long x, long steps) {  // TARGET: search
  for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;
  return x;
}

[[gnu::noinline]] static unsigned long extract(unsigned long x) {
  static const long steps = sample_reduced("extract", SAMPLE_MS * 8 / 10);
  return search(x, steps) + 1;
}

[[gnu::noinline]] static unsigned long rank(unsigned long x) {
  static const long steps = sample_reduced("rank", SAMPLE_MS * 2);
  return search(x, steps) + 2;
}

static void first_stage(long units) {
  for (long n = 0; n < units; n++) {
    const unsigned long x = extract(static_cast<unsigned long>(n));
    sem_wait(&free_places);
    ring[n % CAPACITY] = x;
    sem_post(&filled_places);
  }
}

static unsigned long second_stage(long units) {
  unsigned long sum = 0;
  for (long n = 0; n < units; n++) {
    sem_wait(&filled_places);
    const unsigned long x = ring[n % CAPACITY];
    sem_post(&free_places);
    sum += rank(x);
    FULCRUM_PROGRESS_NAMED("query");
  }
  return sum;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  sem_init(&free_places, 0, CAPACITY);
  sem_init(&filled_places, 0, 0);
  const double start = sample_clock();
  std::thread first(first_stage, units);
  const unsigned long sum = second_stage(units);
  first.join();
  sample_report(units, start, sum);
}
