// Two threads that count under a lock, one that waits for their sums, a child that makes a thread, memory that comes and goes:
// nothing that a sanitizer has anything to say about. Works until there is the file that the first word names; `leak` and `race` then do what they say.
#include "fulcrum.h"
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

static std::mutex lock;
static std::condition_variable changed;
static long counted;
static bool over;
static long raced;

static void work() {
  std::unique_ptr<unsigned[]> memory(new unsigned[64]());
  for (unsigned i = 0; i < 200000; i++)
    memory[i % 64] = memory[(i + 1) % 64] * 31u + i; // LINE: work
  {
    std::lock_guard<std::mutex> held(lock);
    counted += memory[7] != 0 ? 1 : 2;
    changed.notify_one();
  }
  FULCRUM_PROGRESS_NAMED("served");
}

int main(int count, char **words) {
  const char *what = count > 2 ? words[2] : "";
  std::puts("begins");
  std::fflush(stdout);
  auto loop = [=] {
    do
      work();
    while (access(words[1], F_OK) != 0);
  };
  long seen = 0;
  std::thread waiting([&seen] {
    std::unique_lock<std::mutex> held(lock);
    while (!over)
      changed.wait(held);
    seen = counted;
  });
  std::thread one(loop), two(loop);
  one.join();
  two.join();
  {
    std::lock_guard<std::mutex> held(lock);
    over = true;
    changed.notify_one();
  }
  waiting.join();
  const pid_t child = fork();
  if (child == 0) {
    std::thread(work).join();
    _exit(5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!std::strcmp(what, "race")) {
    // Many times: two accesses at the very same moment escape the sanitizer.
    auto race = [] {
      for (int i = 0; i < 10000; i++)
        raced++;
    };
    std::thread racing(race);
    race();
    racing.join();
  }
  if (!std::strcmp(what, "leak")) {
    char *volatile lost = new char[1234];
    lost = nullptr;
  }
  std::printf("counted %s, child %d\n", seen > 0 ? "some" : "none", WEXITSTATUS(status));
  return 0;
}
