// As found in Fluidanimate: a custom barrier whose waiting thread polls under the lock that the working thread needs.
// The pause between two polls looks like waste. But if it is shorter, the waiting thread holds the lock for more of
// the time, and the program gets slower: the profile slopes down. SAMPLE_FIX=1 uses the standard barrier instead,
// which makes the program faster.
#include <pthread.h>

#include <atomic>
#include <thread>

#include "../sample.h"

static unsigned long chain(unsigned long x, long steps) {
  for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;
  return x;
}

static pthread_mutex_t grid = PTHREAD_MUTEX_INITIALIZER;
static std::atomic<unsigned long> ignored;

static void lock_grid() {
  while (pthread_mutex_trylock(&grid) != 0) {
  }
}

class SpinBarrier {
 public:
  void wait() {
    lock_grid();
    const long mine = round_;
    const bool last = ++arrived_ == 2;
    if (last) {
      arrived_ = 0;
      round_++;
    }
    pthread_mutex_unlock(&grid);
    for (bool over = last; !over;) {
      unsigned long x = 1;
      for (long i = 0; i < pause_; i++) x = x * 6364136223846793005u + 1;  // TARGET: spin
      lock_grid();
      ignored = chain(x, 4 * SAMPLE_MS);  // checks the grid to see whether all have arrived
      over = round_ != mine;
      pthread_mutex_unlock(&grid);
    }
  }

 private:
  const long pause_ = sample_reduced("spin", 4 * SAMPLE_MS);
  int arrived_ = 0;
  long round_ = 0;
};

static SpinBarrier spin_barrier;
static pthread_barrier_t standard_barrier;

static void wait_for_the_other() {
  static const bool fixed = sample_is_fixed();
  if (fixed) {
    pthread_barrier_wait(&standard_barrier);
  } else {
    spin_barrier.wait();
  }
}

// The second thread does most of the work. Its parts have different lengths (1 to 9 ms), like the cells of a fluid,
// and after each it writes to the grid.
static void simulate(long units, int parts, unsigned long *result) {
  unsigned long x = *result;
  for (long n = 0; n < units; n++) {
    for (int part = 0; part < parts; part++) {
      x = chain(x, SAMPLE_MS + static_cast<long>((x >> 33) % (8 * SAMPLE_MS)));
      lock_grid();
      pthread_mutex_unlock(&grid);
    }
    wait_for_the_other();
    if (parts > 0) FULCRUM_PROGRESS_NAMED("frame");
  }
  *result = x;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  unsigned long few = 1, many = 2;
  pthread_barrier_init(&standard_barrier, nullptr, 2);
  const double start = sample_clock();
  std::thread other(simulate, units, 0, &few);
  simulate(units, 4, &many);
  other.join();
  sample_report(units, start, few ^ many);
}
