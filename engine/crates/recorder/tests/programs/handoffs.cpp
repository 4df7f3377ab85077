// One thread's work, then the other's: as many ways to hand over as there are. The argument says which.
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <semaphore>
#include <string>
#include <thread>

#include "fulcrum.h"

static volatile long sink;
static const long N = 1500000;
__attribute__((noinline)) static void first() {
  for (long i = 0; i < N; i++) sink = sink + i;  // LINE: first
}
static volatile long other;
__attribute__((noinline)) static void second() {
  for (long i = 0; i < N; i++) other = other + i;
}

static std::string way;
static long call(std::atomic<int> *word, int operation, int value) {
  return syscall(SYS_futex, word, operation, value, nullptr, nullptr, ~0u);
}

struct Baton {
  std::atomic<int> word{0};
  std::counting_semaphore<> semaphore{0};
  sem_t posix;
  mtx_t mutex;
  cnd_t changed;
  pthread_t taker;
  int held = 0;
  Baton() {
    sem_init(&posix, 0, 0);
    mtx_init(&mutex, mtx_plain);
    cnd_init(&changed);
  }
  void give() {
    if (way == "futex" || way == "waitv") {
      word = 1;
      call(&word, FUTEX_WAKE_PRIVATE, 1);
    } else if (way == "bitset") {
      word = 1;
      call(&word, FUTEX_WAKE_BITSET_PRIVATE, 1);
    } else if (way == "atomic") {
      word = 1;
      word.notify_one();
    } else if (way == "semaphore") {
      semaphore.release();
    } else if (way == "posix") {
      sem_post(&posix);
    } else if (way == "c11") {
      mtx_lock(&mutex);
      held = 1;
      cnd_signal(&changed);
      mtx_unlock(&mutex);
    } else if (way == "signal") {
      pthread_kill(taker, SIGUSR1);
    }
  }
  void take() {
    if (way == "futex") {
      while (word == 0) call(&word, FUTEX_WAIT_PRIVATE, 0);
      word = 0;
    } else if (way == "bitset") {
      while (word == 0) call(&word, FUTEX_WAIT_BITSET_PRIVATE, 0);
      word = 0;
    } else if (way == "waitv") {
      struct {
        uint64_t value, address;
        uint32_t flags, reserved;
      } one = {0, (uint64_t)&word, 2 | 128, 0};
      while (word == 0) syscall(449, &one, 1, 0, nullptr, 0);
      word = 0;
    } else if (way == "atomic") {
      word.wait(0);
      word = 0;
    } else if (way == "semaphore") {
      semaphore.acquire();
    } else if (way == "posix") {
      sem_wait(&posix);
    } else if (way == "c11") {
      mtx_lock(&mutex);
      while (!held) cnd_wait(&changed, &mutex);
      held = 0;
      mtx_unlock(&mutex);
    } else if (way == "signal") {
      sigset_t set;
      int signal;
      sigemptyset(&set);
      sigaddset(&set, SIGUSR1);
      sigwait(&set, &signal);
    }
  }
};

// Whether a thread waits in a system call that is not a pause.
static bool is_waiting(pid_t thread) {
  char path[64], text[64] = {};
  std::snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
  // Not through libc's functions, before which delays are paid.
  const long file = syscall(SYS_open, path, 0);
  syscall(SYS_read, file, text, sizeof text - 1);
  syscall(SYS_close, file);
  return std::isdigit(text[0]) && std::atol(text) != SYS_clock_nanosleep;
}

// A thread that only begins to wait when the other's work has begun is late by as much without delays too, and owes it. So the
// work begins when it waits, on a busy machine too.
static void until_waiting(pid_t thread) {
  const timespec brief = {0, 1000};
  while (!is_waiting(thread)) nanosleep(&brief, nullptr);
}

// Rounds of the thread that does not run the sped-up line, and those in which it slept although it had work to do: a
// pause gives the processor away, a busy machine takes it.
static std::atomic<long> rounds, paused;
static long given_away() {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}
static void count(long before, long own) {
  rounds++;
  if (given_away() - before > own) paused++;
  FULCRUM_PROGRESS_NAMED("round");
}

static int runs_first(void *creator) {
  until_waiting(*(pid_t *)creator);
  first();
  return 0;
}
static int runs_second(void *) {
  const long before = given_away();
  second();
  count(before, 0);
  return 0;
}

// The second thread waits for time to pass, not for the first.
static void alone_again() {
  std::atomic<int> never{0};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  const timespec brief = {0, 500000};
  for (;;) {
    const long before = given_away();
    if (way == "timeout") {
      syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, &brief, nullptr, 0);
    } else if (way == "changed") {
      syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
      for (long i = 0; i < N / 8; i++) other = other + i;
    } else if (way == "timer") {
      sigtimedwait(&set, nullptr, &brief);
    } else {
      nanosleep(&brief, nullptr);
    }
    count(before, way == "changed" ? 0 : 1);
  }
}

static bool alone() {
  return way == "timeout" || way == "changed" || way == "timer" || way == "sleep";
}

// What the test needs to see, however long a busy machine takes to get there.
static bool is_enough() {
  return alone() ? paused >= 3 : rounds >= 30;
}

static void play() {
  if (way == "inherit" || way == "join") {
    pid_t id = gettid();
    for (;;) {
      const bool join = way == "join";
      if (!join) first();
      thrd_t other;
      thrd_create(&other, join ? runs_first : runs_second, &id);
      thrd_join(other, nullptr);
      if (join) runs_second(nullptr);
    }
  }
  if (alone()) {
    std::thread(alone_again).detach();
    for (;;) first();
  }
  static Baton there, back;
  back.taker = pthread_self();
  static std::atomic<pid_t> id;
  std::thread partner([] {
    id = gettid();
    for (;;) {
      there.take();
      runs_second(nullptr);
      back.give();
    }
  });
  there.taker = partner.native_handle();
  while (id == 0) sched_yield();
  for (;;) {
    until_waiting(id);
    first();
    there.give();
    back.take();
  }
}

int main(int, char **arguments) {
  way = arguments[1];
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread(play).detach();
  for (int seconds = 0; seconds < 2 || (!is_enough() && seconds < 60); seconds++) sleep(1);
  std::printf("%ld %ld\n", paused.load(), rounds.load());
  std::fflush(stdout);
  _exit(0);
}
