/* libevent, by its public functions alone. */
#include "calls.h"

typedef void handler(int, short, void *);
void *event_base_new(void);
int event_base_loop(void *base, int flags);
void *event_new(void *base, int fd, short events, handler *, void *);
int event_assign(void *event, void *base, int fd, short events, handler *, void *);
int event_add(void *event, const struct timeval *);
void event_active(void *event, int what, short calls);
void event_free(void *event);
handler *event_get_callback(const void *event);
void *event_get_callback_arg(const void *event);
void event_get_assignment(const void *event, void **base, int *fd, short *events, handler **, void **);
int event_base_once(void *base, int fd, short events, handler *, void *, const struct timeval *);

enum { TIMEOUT = 1, READ = 2, PERSIST = 16 };
static void *base;
static int begun, done;

struct request {
  void *timer, *other;
  struct call from;
};

static void start(void);

static void third(int fd, short what, void *argument) {
  struct request *request = argument;
  called(third, request->from);
  free(request);
  done++;
  start();
}

static void second(int fd, short what, void *argument) {
  struct request *request = argument;
  called(second, request->from);
  request->from = here;
  struct timeval soon = {0, 10};
  need(event_base_once(base, -1, TIMEOUT, third, request, &soon) == 0, "event_base_once");
  event_free(request->timer);
  event_free(request->other);
}

static void first(int fd, short what, void *argument) {
  struct request *request = argument;
  called(first, request->from);
  need(fd == -1 && what == TIMEOUT, "arguments");
  handler *handler;
  void *of, *base_of;
  short events;
  event_get_assignment(request->timer, &base_of, &fd, &events, &handler, &of);
  need(handler == first && of == argument && base_of == base, "event_get_assignment");
  need(event_get_callback(request->timer) == first, "event_get_callback");
  need(event_get_callback_arg(request->timer) == argument, "event_get_callback_arg");
  request->from = here;
  request->other = event_new(base, -1, 0, second, request);
  event_active(request->other, TIMEOUT, 1);
}

static void start(void) {
  if (begun == REQUESTS) {
    return;
  }
  struct request *request = calloc(1, sizeof *request);
  struct timeval soon = {0, begun++ % 7 * 10};
  request->from = here;
  request->timer = event_new(base, -1, 0, first, request);
  need(event_add(request->timer, &soon) == 0, "event_add");
}

static void chains(void) {
  for (int at = 0; at < AT_ONCE; at++) {
    start();
  }
  event_base_loop(base, 0);
  need(done == REQUESTS, "all are done");
}

/* Timers that are called alike, each registered by another handler: the earlier one is due first. */
enum { ALIKE = 6 };
static struct call registered[ALIKE];
static int alike_calls;

static void alike(int fd, short what, void *argument) {
  called(alike, registered[alike_calls++]);
}

static void registers(int fd, short what, void *argument) {
  int number = (int)(intptr_t)argument;
  called(registers, (struct call){0, 0});
  registered[number] = here;
  struct timeval later = {0, 20000 * (number + 1)};
  event_add(event_new(base, -1, 0, alike, 0), &later);
}

static void same(void) {
  struct timeval now = {0, 0};
  for (intptr_t at = 0; at < ALIKE; at++) {
    event_add(event_new(base, -1, 0, registers, (void *)at), &now);
  }
  event_base_loop(base, 0);
  need(alike_calls == ALIKE, "all are called");
}

int main(int argc, char **argv) {
  base = event_base_new();
  if (!strcmp(argv[1], "same")) {
    same();
  } else {
    chains();
  }
  tell();
  return 0;
}
