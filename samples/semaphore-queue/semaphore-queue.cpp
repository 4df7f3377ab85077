// A queue with ten places, guarded by two C++20 semaphores. Producing an item takes 4 ms, consuming it 5 ms. Speeding up the
// consumer helps until the producer is slower, by at most 1 - 4/5 = 20 %.
#include <semaphore>
#include <thread>

#include "../sample.h"

static constexpr int CAPACITY = 10;
static std::counting_semaphore<CAPACITY> free_places(CAPACITY), filled_places(0);
static unsigned long ring[CAPACITY];

static void produce(long units) {
  unsigned long x = 1;
  for (long n = 0; n < units; n++) {
    for (long i = 0; i < SAMPLE_MS * 4; i++) x = x * 6364136223846793005u + 1;
    free_places.acquire();
    ring[n % CAPACITY] = x;
    filled_places.release();
  }
}

static unsigned long consume(long units) {
  const long steps = sample_reduced("consume", SAMPLE_MS * 5);
  unsigned long x = 1;
  for (long n = 0; n < units; n++) {
    filled_places.acquire();
    x ^= ring[n % CAPACITY];
    free_places.release();
    for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: consume
    FULCRUM_PROGRESS_NAMED("item");
  }
  return x;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  const double start = sample_clock();
  std::thread producer(produce, units);
  const unsigned long result = consume(units);
  producer.join();
  sample_report(units, start, result);
}
