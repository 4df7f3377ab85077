// Two threads visit line 12 through two inlined copies of `step`, and count their visits themselves.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile int sink;
static atomic_long visits;
static inline __attribute__((always_inline)) void step(int i) {
  for (int k = 0; k < 100; k++)
    sink += k ^ i;
  sink = i * 3;
  atomic_fetch_add(&visits, 1);
}
static __attribute__((noinline)) void other(int n) {
  for (int i = 0; i < n; i++)
    step(i);
}
static void *thread(void *n) {
  for (int i = 0; i < (int)(long)n; i++) {
    step(i ^ 5);
    if (i % 3 == 0)
      other(2);
  }
  return NULL;
}
int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 1000;
  pthread_t second;
  pthread_create(&second, NULL, thread, (void *)n);
  thread((void *)n);
  pthread_join(second, NULL);
  // Long enough for a look at the process.
  nanosleep(&(struct timespec){0, 800000000}, NULL);
  printf("%ld\n", visits);
  return 7;
}
