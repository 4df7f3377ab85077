/*
 * A server and its client in one program. A report spends a tenth of its processor time in sections of cart_lock, as this
 * program's own clock says; a checkout takes the lock and gives it back. file=FILE: counters for what the clock says.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t cart_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t idle_lock = PTHREAD_RWLOCK_INITIALIZER;
/* Nanoseconds in sections of cart_lock, in reports, and checkouts answered. */
static uint64_t *counters;
static volatile unsigned long result;

static uint64_t cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}

__attribute__((noinline)) static void compute(int units) {
  unsigned long x = 1;
  for (long i = 0; i < units * 100000l; i++) x = x * 6364136223846793005u + 1;
  result = x;
}

__attribute__((noinline)) static void report(void) {
  uint64_t begin = cpu();
  compute(18);
  pthread_mutex_lock(&cart_lock);
  uint64_t taken = cpu();
  compute(2);
  counters[0] += cpu() - taken;
  pthread_mutex_unlock(&cart_lock);
  counters[1] += cpu() - begin;
}

__attribute__((noinline)) static void checkout(void) {
  pthread_mutex_lock(&cart_lock);
  counters[2]++;
  pthread_mutex_unlock(&cart_lock);
}

static void *serve(void *at) {
  int fd = *(int *)at;
  char request[200];
  ssize_t length;
  while ((length = read(fd, request, sizeof request - 1)) > 0) {
    request[length] = 0;
    if (strncmp(request, "GET /report", 11) == 0) report();
    if (strncmp(request, "GET /checkout", 13) == 0) checkout();
    if (write(fd, "HTTP/1.1 204 No Content\r\n\r\n", 27) != 27) exit(3);
  }
  return 0;
}

int main(int argc, char **argv) {
  int file = -1, pair[2];
  if (argc > 1) file = open(argv[1] + strlen("file="), O_RDWR);
  int kind = file < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
  counters = mmap(0, 64, PROT_READ | PROT_WRITE, kind, file, 0);
  if (counters == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
  pthread_t server;
  pthread_create(&server, 0, serve, &pair[0]);
  for (;;) {
    static const char *what[] = {"GET /checkout?item=7", "GET /report"};
    for (int i = 0; i < 2; i++) {
      char request[100], answer[100];
      int length = snprintf(request, sizeof request, "%s HTTP/1.1\r\nHost: till\r\n\r\n", what[i]);
      if (write(pair[1], request, length) != length || read(pair[1], answer, sizeof answer) <= 0) return 2;
    }
  }
}
