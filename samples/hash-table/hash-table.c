// As found in Dedup: a hash function that uses few buckets, so that a search walks a long list. Two workers look up
// chunks and compress them; walking is about half of their time.
//
// All searched keys are absent, so a search walks its whole list. With a quarter of the list left out, the line really
// does a quarter less work. SAMPLE_FIX=1 uses every bucket.
#include <pthread.h>

#include "../sample.h"

enum { ENTRIES = 1152, LISTS = 3, SEARCHES = 1000 };

typedef struct entry {
  unsigned long key;
  struct entry *next;
} entry;

static entry entries[ENTRIES];
static entry *buckets[ENTRIES];
static unsigned long used;

// The entries stay the same, but more buckets are used, so lists are shorter.
static void fill(void) {
  used = sample_is_fixed() ? ENTRIES : (unsigned long)(LISTS * 100 / (100 - sample_percent("search")));
  for (unsigned long key = 0; key < ENTRIES; key++) {
    entries[key].key = key;
    entries[key].next = buckets[key % used];
    buckets[key % used] = &entries[key];
  }
}

static int search(unsigned long key) {
  entry *e = buckets[key % used];
  while (e && e->key != key) e = e->next;  // TARGET: search
  return e != NULL;
}

static unsigned long compress(unsigned long x) {
  const long steps = SAMPLE_MS / 2;
  for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;
  return x;
}

typedef struct {
  long units;
  unsigned long result;
} worker;

static void *work(void *argument) {
  worker *self = argument;
  unsigned long found = 0;
  for (long n = 0; n < self->units; n++) {
    for (unsigned long key = ENTRIES; key < ENTRIES + SEARCHES; key++) found += (unsigned long)search(key);
    self->result = compress(self->result + found);
    FULCRUM_PROGRESS_NAMED("block");
  }
  return NULL;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  worker workers[2] = {{units / 2, 1}, {units - units / 2, 2}};
  pthread_t thread;
  fill();
  const double start = sample_clock();
  pthread_create(&thread, NULL, work, &workers[0]);
  work(&workers[1]);
  pthread_join(thread, NULL);
  sample_report(units, start, workers[0].result ^ workers[1].result);
}
