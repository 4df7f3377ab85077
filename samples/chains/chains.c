/* Rounds of two threads that meet at a barrier: one divides for about 6 ms, the other multiplies for 4 ms. Speeding up the divisions
 * helps until multiplying takes longer. The time of a division depends on the processor, so there is no theoretical
 * value. */
#include <pthread.h>

#include "../sample.h"

/* Divisions in about a millisecond, at 13 cycles each. */
#define DIVISIONS_PER_MS (SAMPLE_MS * 4 / 13)

static pthread_barrier_t barrier;
static long units;

static double divide(double x, long steps) {
  for (long i = 0; i < steps; i++) x = 1.5 / x; // TARGET: divide
  return x;
}

static void *multiply(void *unused) {
  unsigned long x = 1;
  for (long n = 0; n < units; n++) {
    for (long i = 0; i < SAMPLE_MS * 4; i++) x = x * 6364136223846793005u + 1;
    pthread_barrier_wait(&barrier);
  }
  volatile unsigned long computed = x;
  (void)computed;
  return unused;
}

int main(int argc, char **argv) {
  units = sample_units(argc, argv);
  const long steps = sample_reduced("divide", 6 * DIVISIONS_PER_MS);
  pthread_t other;
  pthread_barrier_init(&barrier, NULL, 2);
  const double start = sample_clock();
  pthread_create(&other, NULL, multiply, NULL);
  double x = 1.1;
  for (long n = 0; n < units; n++) {
    x = divide(x, steps);
    pthread_barrier_wait(&barrier);
    FULCRUM_PROGRESS_NAMED("round");
  }
  pthread_join(other, NULL);
  sample_report(units, start, x > 0);
}
