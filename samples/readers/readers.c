/* Rounds of two threads: both read under a read lock, for 3 ms at the same time; then one of them writes under the write lock for
 * 2 ms, while the other waits. Writing is 2 of 5 ms, so speeding it up helps by 40 % of the speedup. */
#include <pthread.h>

#include "../sample.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t round_begins, all_have_read;
static unsigned long table = 1;
static long units, steps;

static unsigned long read_all(unsigned long x) {
  pthread_rwlock_rdlock(&lock);
  x ^= table;
  for (long i = 0; i < SAMPLE_MS * 3; i++) x = x * 6364136223846793005u + 1;
  pthread_rwlock_unlock(&lock);
  return x;
}

static void write_all(void) {
  pthread_rwlock_wrlock(&lock);
  unsigned long x = table;
  for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1; // TARGET: write
  table = x;
  pthread_rwlock_unlock(&lock);
}

static void *reader(void *result) {
  unsigned long x = 2;
  for (long n = 0; n < units; n++) {
    pthread_barrier_wait(&round_begins);
    x = read_all(x);
    pthread_barrier_wait(&all_have_read);
  }
  *(unsigned long *)result = x;
  return NULL;
}

int main(int argc, char **argv) {
  units = sample_units(argc, argv);
  steps = sample_reduced("write", SAMPLE_MS * 2);
  pthread_t other;
  unsigned long theirs = 0, x = 3;
  pthread_barrier_init(&round_begins, NULL, 2);
  pthread_barrier_init(&all_have_read, NULL, 2);
  const double start = sample_clock();
  pthread_create(&other, NULL, reader, &theirs);
  for (long n = 0; n < units; n++) {
    pthread_barrier_wait(&round_begins);
    x = read_all(x);
    pthread_barrier_wait(&all_have_read);
    write_all();
    FULCRUM_PROGRESS_NAMED("update");
  }
  pthread_join(other, NULL);
  sample_report(units, start, x ^ theirs);
}
