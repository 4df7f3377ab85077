// A queue with ten places, guarded by a mutex and two conditions. Producing an item takes 3 ms, consuming it 5 ms. Speeding up
// the consumer helps until the producer is slower, by at most 1 - 3/5 = 40 %.
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

#include "../sample.h"

static constexpr size_t CAPACITY = 10;
static std::mutex guard;
static std::condition_variable not_full, not_empty;
static std::queue<unsigned long> items;

static void produce(long units) {
  unsigned long x = 1;
  for (long n = 0; n < units; n++) {
    for (long i = 0; i < SAMPLE_MS * 3; i++) x = x * 6364136223846793005u + 1;
    std::unique_lock<std::mutex> lock(guard);
    not_full.wait(lock, [] { return items.size() < CAPACITY; });
    items.push(x);
    lock.unlock();
    not_empty.notify_one();
  }
}

static unsigned long consume(long units) {
  const long steps = sample_reduced("consume", SAMPLE_MS * 5);
  unsigned long x = 1;
  for (long n = 0; n < units; n++) {
    std::unique_lock<std::mutex> lock(guard);
    not_empty.wait(lock, [] { return !items.empty(); });
    x ^= items.front();
    items.pop();
    lock.unlock();
    not_full.notify_one();
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
