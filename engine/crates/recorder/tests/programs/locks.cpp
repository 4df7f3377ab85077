// One thread works all the time. The other works, takes a lock by the call that the argument names, gives it back (or
// begins a request and ends it), and prints how often it slept meanwhile: until it had the lock, and until it had given it
// back. Nobody else wants the lock, so that it sleeps only where it pauses. How long both took would tell how busy the
// machine is.
#include <pthread.h>
#include <sys/resource.h>
#include <threads.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "fulcrum.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t plain;
static std::string way;

static void lock() {
  if (way == "lock") pthread_mutex_lock(&mutex);
  if (way == "trylock") pthread_mutex_trylock(&mutex);
  if (way == "rdlock") pthread_rwlock_rdlock(&rwlock);
  if (way == "trywrlock") pthread_rwlock_trywrlock(&rwlock);
  if (way == "c11") mtx_lock(&plain);
  if (way == "request") FULCRUM_BEGIN("request");
}

static void unlock() {
  if (way == "c11") {
    mtx_unlock(&plain);
  } else if (way == "request") {
    FULCRUM_END("request");
  } else if (way == "rdlock" || way == "trywrlock") {
    pthread_rwlock_unlock(&rwlock);
  } else {
    pthread_mutex_unlock(&mutex);
  }
}

static std::atomic<bool> over;
static volatile long sink;
static void first() {
  while (!over) {
    for (long i = 0; i < 100000; i++) sink = sink + i;  // LINE: first
  }
}

// How often this thread has given up its processor of its own accord.
static long sleeps() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

int main(int, char **arguments) {
  way = arguments[1];
  mtx_init(&plain, mtx_plain);
  std::thread other(first);
  using clock = std::chrono::steady_clock;
  using std::chrono::milliseconds, std::chrono::seconds;
  // Until it has paused often, however long a busy machine takes to speed anything up.
  const auto end = clock::now() + milliseconds(2500), latest = end + seconds(60);
  long taking = 0, giving = 0;
  volatile long work = 0;
  while (clock::now() < end || (taking + giving < 20 && clock::now() < latest)) {
    for (long i = 0; i < 100000; i++) work = work + i;
    const long before = sleeps();
    lock();
    const long between = sleeps();
    unlock();
    taking += between - before;
    giving += sleeps() - between;
    FULCRUM_PROGRESS_NAMED("round");
  }
  over = true;
  other.join();
  std::printf("%ld %ld\n", taking, giving);
}
