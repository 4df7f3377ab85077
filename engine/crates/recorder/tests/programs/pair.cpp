// Two threads that have nothing to do with each other.
#include <thread>

#include "fulcrum.h"

static void first() {
  for (volatile long i = 0;; i = i + 1) {}
}

static void second() {
  for (;;) {
    for (volatile long i = 0; i < 300000; i = i + 1) {}
    FULCRUM_PROGRESS_NAMED("second");
  }
}

int main() {
  std::thread a(first), b(second);
  a.join();
  b.join();
}
