// A queue with ten places between two threads, guarded by a mutex and two conditions. Producing an item takes 5 ms, consuming it
// 4 ms. Speeding up the producer helps until the consumer is slower, by at most 1 - 4/5 = 20 %; speeding up the consumer does not
// help. A full queue takes 40 ms to drain, so an experiment's effect on the queue outlasts the beginning of the experiment.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "../sample.h"

static constexpr size_t CAPACITY = 10;
static std::mutex guard;
static std::condition_variable not_full, not_empty;
static std::deque<unsigned long> items;

static void produce(long units) {
  const long steps = sample_reduced("produce", SAMPLE_MS * 5);
  unsigned long x = 1;
  for (long n = 0; n < units; n++) {
    for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: produce
    std::unique_lock<std::mutex> lock(guard);
    not_full.wait(lock, [] { return items.size() < CAPACITY; });
    items.push_back(static_cast<unsigned long>(n));
    not_empty.notify_one();
  }
  // The compiler must not remove the computation.
  volatile unsigned long computed = x;
  static_cast<void>(computed);
}

static unsigned long consume(long units) {
  const long steps = sample_reduced("consume", SAMPLE_MS * 4);
  unsigned long sum = 0, x = 1;
  for (long n = 0; n < units; n++) {
    std::unique_lock<std::mutex> lock(guard);
    not_empty.wait(lock, [] { return !items.empty(); });
    sum += items.front();
    items.pop_front();
    lock.unlock();
    not_full.notify_one();
    for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: consume
    FULCRUM_PROGRESS_NAMED("item");
  }
  volatile unsigned long computed = x;
  static_cast<void>(computed);
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
