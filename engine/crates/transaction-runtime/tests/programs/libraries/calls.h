/* What the programs of event libraries say: which handler was called, and by which call it was registered. */
#include "../common.h"

enum { REQUESTS = 10000, AT_ONCE = 100 };

/* A call of a handler: the thread's, by its number among the thread's. */
struct call {
  int thread, number;
};

static struct line {
  struct call call, from;
  void *function;
} lines[1 << 18];
static int line_count;
/* The call that the thread is in; none at first. */
static __thread struct call here;
static __thread int call_count;

/* A handler is called that was registered there. */
static void called(void *function, struct call from) {
  struct call call = {syscall(SYS_gettid), ++call_count};
  int at = __atomic_fetch_add(&line_count, 1, __ATOMIC_RELAXED);
  need(at < 1 << 18, "lines");
  lines[at] = (struct line){call, from, function};
  here = call;
}

static void tell(void) {
  for (int at = 0; at < line_count; at++) {
    struct line *it = &lines[at];
    printf("call %d %d %p %d %d\n", it->call.thread, it->call.number, it->function, it->from.thread,
           it->from.number);
  }
}
