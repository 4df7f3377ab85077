// Two threads transfer money: 3 ms of booking under a common lock, 2 ms of checking without it. The lock is always held, so
// booking sets the pace: 3 ms per transfer. Once booking takes less than checking, both threads are always busy, and a transfer
// takes half of the sum. No thread waits for the checking.
#include <mutex>
#include <thread>

#include "../sample.h"

static std::mutex guard;
static unsigned long balance;

static void transfer(long units, unsigned long *result) {
  const long booking = sample_reduced("book", SAMPLE_MS * 3), checking = sample_reduced("check", SAMPLE_MS * 2);
  unsigned long x = *result;
  for (long n = 0; n < units; n++) {
    for (long i = 0; i < checking; i++) x = x * 6364136223846793005u + 1;  // TARGET: check
    {
      std::lock_guard<std::mutex> lock(guard);
      for (long i = 0; i < booking; i++) x = x * 6364136223846793005u + 1;  // TARGET: book
      balance += x;
    }
    FULCRUM_PROGRESS_NAMED("transfer");
  }
  *result = x;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  unsigned long one = 1, two = 2;
  const double start = sample_clock();
  std::thread other(transfer, units / 2, &one);
  transfer(units - units / 2, &two);
  other.join();
  sample_report(units, start, one ^ two ^ balance);
}
