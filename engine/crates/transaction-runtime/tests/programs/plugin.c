/* A library that comes later. */
#include <sys/types.h>

__attribute__((noinline)) pid_t through(pid_t (*function)(void)) {
  pid_t child = function();
  __asm__ volatile("" ::: "memory");
  return child;
}
