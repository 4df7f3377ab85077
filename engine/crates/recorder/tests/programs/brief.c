/* Threads one after another, each of which works for less than a sampling period: for 0.6 ms of processor time. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static volatile long sink;
static long worked(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}
static void *thread(void *unused) {
  while (worked() < 600000)
    for (int k = 0; k < 5000; k++) sink += k; // LINE: work
  return unused;
}
int main(int argc, char **argv) {
  for (long n = argc > 1 ? atol(argv[1]) : 100; n > 0; n--) {
    pthread_t brief;
    pthread_create(&brief, NULL, thread, NULL);
    pthread_join(brief, NULL);
  }
  return 0;
}
