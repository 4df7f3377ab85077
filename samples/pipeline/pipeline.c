// The shape of Ferret: stages joined by bounded queues, one of them slower than the others. Speeding up `rank` speeds up
// the program equally, until `segment` is the slowest stage: at most 1 - 0.8/2 = 60 %.
#include <pthread.h>

#include "../sample.h"

enum { CAPACITY = 4 };

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t filled, emptied;
  unsigned long items[CAPACITY];
  int first, count;
} queue;

#define QUEUE_INIT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0}

static void put(queue *q, unsigned long item) {
  pthread_mutex_lock(&q->lock);
  while (q->count == CAPACITY) pthread_cond_wait(&q->emptied, &q->lock);
  q->items[(q->first + q->count++) % CAPACITY] = item;
  pthread_cond_signal(&q->filled);
  pthread_mutex_unlock(&q->lock);
}

static unsigned long take(queue *q) {
  pthread_mutex_lock(&q->lock);
  while (q->count == 0) pthread_cond_wait(&q->filled, &q->lock);
  const unsigned long item = q->items[q->first];
  q->first = (q->first + 1) % CAPACITY;
  q->count--;
  pthread_cond_signal(&q->emptied);
  pthread_mutex_unlock(&q->lock);
  return item;
}

static queue segmented = QUEUE_INIT, ranked = QUEUE_INIT;
static long units;

static void *segment(void *unused) {
  const long steps = SAMPLE_MS * 8 / 10;
  for (long n = 0; n < units; n++) {
    unsigned long x = (unsigned long)n;
    for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;
    put(&segmented, x);
  }
  return unused;
}

static void *rank(void *unused) {
  const long steps = sample_reduced("rank", SAMPLE_MS * 2);
  for (long n = 0; n < units; n++) {
    unsigned long x = take(&segmented);
    for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: rank
    put(&ranked, x);
  }
  return unused;
}

static unsigned long output(void) {
  unsigned long sum = 0;
  for (long n = 0; n < units; n++) {
    sum += take(&ranked);
    FULCRUM_PROGRESS_NAMED("image");
  }
  return sum;
}

int main(int argc, char **argv) {
  pthread_t segmenter, ranker;
  units = sample_units(argc, argv);
  const double start = sample_clock();
  pthread_create(&segmenter, NULL, segment, NULL);
  pthread_create(&ranker, NULL, rank, NULL);
  const unsigned long sum = output();
  pthread_join(segmenter, NULL);
  pthread_join(ranker, NULL);
  sample_report(units, start, sum);
}
