/* io_uring, by system calls through libc and by what is called as liburing is. */
#include "../common.h"
#include <linux/io_uring.h>

int io_uring_submit(void *ring);

int main(void) {
  for (int at = 0; at < 10; at++) {
    need(io_uring_submit(0) == 3, "io_uring_submit");
  }
  int counted = 30;
  struct io_uring_params params = {0};
  int ring = syscall(SYS_io_uring_setup, 8, &params);
  if (ring >= 0) {
    size_t length = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    char *queue = mmap(0, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
    struct io_uring_sqe *entries = mmap(0, params.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
    need(queue != MAP_FAILED && entries != MAP_FAILED, "mmap");
    unsigned *tail = (unsigned *)(queue + params.sq_off.tail), *array = (unsigned *)(queue + params.sq_off.array);
    for (unsigned at = 0; at < 5; at++) {
      memset(&entries[at], 0, sizeof entries[at]);
      entries[at].opcode = IORING_OP_NOP;
      array[at] = at;
    }
    __atomic_store_n(tail, *tail + 5, __ATOMIC_RELEASE);
    need(syscall(SYS_io_uring_enter, ring, 5, 0, 0, 0, 0) == 5, "io_uring_enter");
    counted += 5;
  }
  printf("operations %d\n", counted);
  return 0;
}
