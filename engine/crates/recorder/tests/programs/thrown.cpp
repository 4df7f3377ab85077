// Line 13 begins with little more than a call that throws: the exception must pass the displaced code.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <time.h>
static volatile int sink;
__attribute__((noinline)) void fails(int i) {
  if (i % 2) throw std::runtime_error("odd");
  sink = i;
}
__attribute__((noinline)) int calls(int i) {
  try {
    fails(i);
    return 1;
  } catch (const std::exception &) {
    return 0;
  }
}
int main(int, char **argv) {
  long n = atol(argv[1]), even = 0;
  for (long i = 0; i < n; i++) even += calls(i);
  timespec wait{0, 800000000};
  nanosleep(&wait, nullptr);
  std::printf("%ld\n", even * 2);
  return 7;
}
