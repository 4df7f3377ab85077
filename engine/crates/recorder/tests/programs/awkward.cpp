// What programs do that a profiler must not disturb. Prints what it sees; the output must be the same with and without
// Fulcrum. The argument says how it ends.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "fulcrum.h"

static volatile long sink;
static void work(long n) {
  for (long i = 0; i < n; i++) sink = sink + i;
}

static int profiling_signals = 0;
static void on_profiling_signal(int) { profiling_signals++; }

static void signals() {
  signal(SIGPROF, on_profiling_signal);
  raise(SIGPROF);
  raise(SIGPROF);
  struct sigaction installed;
  sigaction(SIGPROF, nullptr, &installed);
  sigset_t set, blocked;
  sigemptyset(&set);
  sigaddset(&set, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  std::printf("signals %d, handler kept %d, blocked %d\n", profiling_signals,
              installed.sa_handler == on_profiling_signal, sigismember(&blocked, SIGPROF));
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

static void descriptors() {
  const int fd = open("/dev/null", O_RDONLY);
  int closed = 0;
  for (int i = 3; i < 4096; i++) closed += close(i) == 0;
  std::printf("descriptor %d, closed %d\n", fd, closed);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void clean(void *) {
  std::puts("cleaned");
  pthread_mutex_unlock(&mutex);
}
static void *sleeper(void *) {
  for (;;) sleep(1);
}
static void *waiter(void *) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(clean, nullptr);
  for (;;) pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(0);
}
static void *leaver(void *value) { pthread_exit(value); }

static void cancellation() {
  for (auto routine : {sleeper, waiter}) {
    pthread_t id;
    void *result;
    pthread_create(&id, nullptr, routine, nullptr);
    usleep(20000);
    pthread_cancel(id);
    pthread_join(id, &result);
    std::printf("cancelled %d\n", result == PTHREAD_CANCELED);
  }
  pthread_t id;
  void *result;
  pthread_create(&id, nullptr, leaver, &id);
  pthread_join(id, &result);
  std::printf("left %d\n", result == &id);
}

static void processes() {
  int status;
  pid_t child = fork();
  if (child == 0) {
    work(1000000);
    std::thread([] { work(100000); }).join();
    _exit(3);
  }
  waitpid(child, &status, 0);
  std::printf("forked %d\n", WEXITSTATUS(status));
  child = fork();
  if (child == 0) execl("/bin/sh", "sh", "-c", "exit 5", static_cast<char *>(nullptr));
  waitpid(child, &status, 0);
  std::printf("executed %d, system %d\n", WEXITSTATUS(status), WEXITSTATUS(system("exit 6")));
}

static void threads() {
  for (int k = 0; k < 2000; k++) {
    std::thread brief([] {});
    if (k % 3 == 0)
      brief.detach();
    else
      brief.join();
  }
  try {
    std::thread([] {
      try {
        throw 1;
      } catch (int) {
        work(1);
      }
    }).join();
    throw 2;
  } catch (int value) {
    std::printf("caught %d\n", value);
  }
}

static void handoffs() {
  std::mutex lock;
  std::condition_variable changed;
  int turn = 0, sum = 0;
  auto player = [&](int me) {
    for (int i = 0; i < 5000; i++) {
      std::unique_lock<std::mutex> held(lock);
      changed.wait(held, [&] { return turn == me; });
      turn = 1 - me;
      sum += i;
      work(200);
      changed.notify_one();
      if (me == 0) FULCRUM_PROGRESS_NAMED("turn");
    }
  };
  std::thread a(player, 0), b(player, 1);
  a.join();
  b.join();
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::thread poster([&] {
    for (int i = 0; i < 1000; i++) sem_post(&semaphore);
  });
  for (int i = 0; i < 1000; i++) sem_wait(&semaphore);
  poster.join();
  std::printf("sum %d\n", sum);
}

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  signals();
  descriptors();
  cancellation();
  processes();
  threads();
  handoffs();
  const char *ending = argc > 1 ? argv[1] : "return";
  if (!std::strcmp(ending, "abort")) abort();
  if (!std::strcmp(ending, "fault")) *static_cast<volatile int *>(nullptr) = 1;
  if (!std::strcmp(ending, "terminate")) kill(getpid(), SIGTERM);
  if (!std::strcmp(ending, "quick")) quick_exit(4);
  if (!std::strcmp(ending, "now")) _exit(8);
  if (!std::strcmp(ending, "execute")) {
    char *const arguments[] = {(char *)"sh", (char *)"-c", (char *)"echo replaced; exit 9", nullptr};
    work(50000000);
    execv("/bin/sh", arguments);
  }
  return 42;
}
