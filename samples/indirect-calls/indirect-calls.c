// As found in SQLite: small functions that both threads only call through a table of pointers. Each call is far shorter
// than the time between two samples; all calls of `fetch_page` together take about half of the run.
#include <pthread.h>

#include "../sample.h"

enum { CALLS = 2000 };

static long fetch_steps;

static unsigned long memory_size(unsigned long x) {
  for (long i = 0; i < 100; i++) x = x * 6364136223846793005u + 1;
  return x;
}

static unsigned long leave_mutex(unsigned long x) {
  for (long i = 0; i < 300; i++) x = x * 6364136223846793005u + 1;
  return x;
}

static unsigned long fetch_page(unsigned long x) {
  for (long i = 0; i < fetch_steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: fetch
  return x;
}

// Set once at the start; the compiler cannot know, so every call stays indirect.
static struct {
  unsigned long (*memory_size)(unsigned long);
  unsigned long (*leave_mutex)(unsigned long);
  unsigned long (*fetch_page)(unsigned long);
} volatile methods = {memory_size, leave_mutex, fetch_page};

typedef struct {
  long units;
  unsigned long result;
} worker;

static void *insert_rows(void *argument) {
  worker *self = argument;
  unsigned long x = self->result;
  for (long n = 0; n < self->units; n++) {
    for (int call = 0; call < CALLS; call++) x = methods.leave_mutex(methods.fetch_page(methods.memory_size(x)));
    FULCRUM_PROGRESS_NAMED("row");
  }
  self->result = x;
  return NULL;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  worker workers[2] = {{units / 2, 1}, {units - units / 2, 2}};
  pthread_t thread;
  fetch_steps = sample_reduced("fetch", 400);
  const double start = sample_clock();
  pthread_create(&thread, NULL, insert_rows, &workers[0]);
  insert_rows(&workers[1]);
  pthread_join(thread, NULL);
  sample_report(units, start, workers[0].result ^ workers[1].result);
}
