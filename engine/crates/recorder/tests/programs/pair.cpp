// Two threads that have nothing to do with each other. The second writes into the file of its only argument how long it
// stood still without wanting to (ns), and how often it gave its processor away.
#include <cstdint>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>

#include "fulcrum.h"

static volatile uint64_t unwatched[2];
static volatile uint64_t *held_up = unwatched;

static void first() {
  for (volatile long i = 0;; i = i + 1) {} // LINE: first
}

static uint64_t now() {
  timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000ull + at.tv_nsec;
}

static void second() {
  uint64_t shortest = UINT64_MAX;
  for (uint64_t before = now();;) {
    for (volatile long i = 0; i < 30000; i = i + 1) {} // LINE: second
    rusage used;
    getrusage(RUSAGE_THREAD, &used);
    const uint64_t after = now(), took = after - before;
    if (took < shortest) shortest = took;
    // What takes a little longer has been interrupted, or was slow. A pause is many times as long.
    if (took > 3 * shortest) held_up[0] = held_up[0] + (took - shortest);
    held_up[1] = used.ru_nvcsw;
    before = after;
    FULCRUM_PROGRESS_NAMED("second");
  }
}

int main(int argc, char **argv) {
  const char *file = argc > 1 ? argv[1] : nullptr;
  if (file) held_up = static_cast<uint64_t *>(mmap(nullptr, 64, PROT_READ | PROT_WRITE, MAP_SHARED, open(file, O_RDWR), 0));
  std::thread a(first), b(second); // LINE: once
  a.join();
  b.join();
}
