/* Threads one after another, each of which works for less than a sampling period: for 0.6 ms of processor time. With a second
   argument, they are processes instead, and each works for 6 ms. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile long sink;
static long worked(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}
static void work(long ns) {
  while (worked() < ns)
    for (int k = 0; k < 5000; k++) sink += k; // LINE: work
}
static void *thread(void *unused) {
  work(600000);
  return unused;
}
static void run_thread(void) {
  pthread_t brief;
  pthread_create(&brief, NULL, thread, NULL);
  pthread_join(brief, NULL);
}
static void run_process(void) {
  if (fork() == 0) {
    work(6000000);
    _exit(0);
  }
  wait(NULL);
}
int main(int argc, char **argv) {
  for (long n = argc > 1 ? atol(argv[1]) : 100; n > 0; n--) {
    if (argc > 2) {
      run_process();
    } else {
      run_thread();
    }
  }
  return 0;
}
