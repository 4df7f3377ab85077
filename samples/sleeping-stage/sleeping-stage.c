// A pipeline whose slower stage mostly sleeps, as if it waited for a disk. No line is to blame: only a faster disk
// would help. The target is the time blocked in the call; the limit is the other stage, 1 - 3/6 = 50 %.
#include <pthread.h>
#include <semaphore.h>

#include "../sample.h"

enum { CAPACITY = 4 };

static unsigned long ring[CAPACITY];
static sem_t free_places, filled_places;
static long units;

static void *prepare(void *unused) {
  for (long n = 0; n < units; n++) {
    unsigned long x = (unsigned long)n;
    for (long i = 0; i < 3 * SAMPLE_MS; i++) x = x * 6364136223846793005u + 1;
    sem_wait(&free_places);
    ring[n % CAPACITY] = x;
    sem_post(&filled_places);
  }
  return unused;
}

static unsigned long store(void) {
  const struct timespec disk = {0, sample_reduced("disk", 5000000)};
  unsigned long sum = 0;
  for (long n = 0; n < units; n++) {
    sem_wait(&filled_places);
    unsigned long x = ring[n % CAPACITY];
    sem_post(&free_places);
    for (long i = 0; i < SAMPLE_MS; i++) x = x * 6364136223846793005u + 1;
    nanosleep(&disk, NULL);  // TARGET: disk
    sum += x;
    FULCRUM_PROGRESS_NAMED("record");
  }
  return sum;
}

int main(int argc, char **argv) {
  pthread_t preparer;
  units = sample_units(argc, argv);
  sem_init(&free_places, 0, CAPACITY);
  sem_init(&filled_places, 0, 0);
  const double start = sample_clock();
  pthread_create(&preparer, NULL, prepare, NULL);
  const unsigned long sum = store();
  pthread_join(preparer, NULL);
  sample_report(units, start, sum);
}
