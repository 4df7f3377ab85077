// One thread works all the time. The other works, takes a lock by the call that the argument names, gives it back (or
// begins a request and ends it), and prints how long that took in all: until it had the lock, and until it had given it
// back.
#include <pthread.h>
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

int main(int, char **arguments) {
  way = arguments[1];
  mtx_init(&plain, mtx_plain);
  std::thread other(first);
  using clock = std::chrono::steady_clock;
  clock::duration taking{}, giving{};
  using std::chrono::milliseconds, std::chrono::seconds;
  // Until it has paid, however long a busy machine takes to speed anything up.
  const auto end = clock::now() + milliseconds(2500), latest = end + seconds(60);
  volatile long work = 0;
  while (clock::now() < end || (taking + giving < milliseconds(100) && clock::now() < latest)) {
    for (long i = 0; i < 100000; i++) work = work + i;
    const auto before = clock::now();
    lock();
    const auto between = clock::now();
    unlock();
    taking += between - before;
    giving += clock::now() - between;
    FULCRUM_PROGRESS_NAMED("round");
  }
  over = true;
  other.join();
  std::printf("%ld %ld\n", static_cast<long>(taking.count()), static_cast<long>(giving.count()));
}
