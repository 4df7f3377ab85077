// Calls a function three million times: its events take more than ten megabytes.
// DISK=BYTES: the agent gets no space beyond that many bytes of a file, as on a full disk.
#ifdef DISK
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((no_instrument_function)) int fallocate(int fd, int mode, off_t at, off_t length) {
  if (at + length <= DISK)
    return syscall(SYS_fallocate, fd, mode, at, length);
  errno = ENOSPC;
  return -1;
}
#endif
static volatile unsigned sink;
__attribute__((noinline)) static void step(unsigned i) { sink = sink * 31u + i; }
int main(void) {
  for (unsigned i = 0; i < 3000000; i++)
    step(i);
  return 7;
}
