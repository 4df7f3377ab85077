// A ring buffer guarded by two C++20 semaphores. The producer is slower: speeding it up helps until the consumer is, by
// at most 1 - 0.9/2 = 55 %. The semaphores wait in futexes, without pthread functions.
#include <semaphore>
#include <thread>

#include "../sample.h"

static constexpr int CAPACITY = 8;
static std::counting_semaphore<CAPACITY> free_places(CAPACITY), filled_places(0);
static unsigned long ring[CAPACITY];

static void produce(long units) {
  const long steps = sample_reduced("produce", SAMPLE_MS * 2);
  unsigned long x = 1;
  for (long n = 0; n < units; n++) {
    for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: produce
    free_places.acquire();
    ring[n % CAPACITY] = x;
    filled_places.release();
  }
}

static unsigned long consume(long units) {
  unsigned long sum = 0;
  for (long n = 0; n < units; n++) {
    filled_places.acquire();
    unsigned long x = ring[n % CAPACITY];
    free_places.release();
    for (long i = 0; i < SAMPLE_MS * 9 / 10; i++) x = x * 6364136223846793005u + 1;
    sum += x;
    FULCRUM_PROGRESS_NAMED("item");
  }
  return sum;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  const double start = sample_clock();
  std::thread producer(produce, units);
  const unsigned long sum = consume(units);
  producer.join();
  sample_report(units, start, sum);
}
