/* Counts the units of other people's programs; see borrowed.h. */
#include "borrowed.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static pthread_once_t begun = PTHREAD_ONCE_INIT;
static long skipped, wanted, done;
static double start;

/* Discards the program's output from here on, because nobody reads it. */
static void begin(void) {
  const char *units = getenv("SAMPLE_UNITS"), *skip = getenv("SAMPLE_SKIP");
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  skipped = skip ? atol(skip) : 0;
  wanted = units ? atol(units) : LONG_MAX / 2;
}

/* The clock starts with the first unit that counts, so that reading the input is not measured. */
void borrowed_unit_done(void) {
  long now;
  pthread_once(&begun, begin);
  now = __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
  if (now == skipped) start = sample_clock();
  if (now != skipped + wanted) return;
  fprintf(stderr, "units=%ld seconds=%.6f result=0\n", wanted, sample_clock() - start);
  _exit(0);
}
