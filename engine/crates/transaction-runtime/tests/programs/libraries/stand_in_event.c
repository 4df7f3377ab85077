/* As much of libevent as the test's program calls, where libevent itself may be missing. It calls its own public functions, as
   libevent does. */
#include "../common.h"

typedef void handler(int, short, void *);
struct event {
  int fd, is_active, is_pending;
  short events;
  handler *handler;
  void *argument;
  uint64_t due_us;
  struct event *next;
};
struct once {
  struct event event;
  handler *handler;
  void *argument;
};
static int base;
static struct event *first;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000ull + time.tv_nsec / 1000;
}

static void take_out(struct event *event) {
  for (struct event **at = &first; *at; at = &(*at)->next) {
    if (*at == event) {
      *at = event->next;
      return;
    }
  }
}

static void put_in(struct event *event) {
  take_out(event);
  struct event **at = &first;
  while (*at) {
    at = &(*at)->next;
  }
  *at = event;
  event->next = 0;
}

uint32_t event_get_version_number(void) { return 0x02010c00; }
void *event_base_new(void) { return &base; }

int event_assign(struct event *event, void *of, int fd, short events, handler *handler, void *argument) {
  *event = (struct event){.fd = fd, .events = events, .handler = handler, .argument = argument};
  return 0;
}

struct event *event_new(void *of, int fd, short events, handler *handler, void *argument) {
  struct event *event = malloc(sizeof *event);
  event_assign(event, of, fd, events, handler, argument);
  return event;
}

int event_add(struct event *event, const struct timeval *time) {
  event->due_us = now() + time->tv_sec * 1000000ull + time->tv_usec;
  event->is_pending = 1;
  put_in(event);
  return 0;
}

void event_active(struct event *event, int what, short calls) {
  event->is_active = 1;
  put_in(event);
}

void event_free(struct event *event) {
  take_out(event);
  free(event);
}

handler *event_get_callback(const struct event *event) { return event->handler; }
void *event_get_callback_arg(const struct event *event) { return event->argument; }

void event_get_assignment(const struct event *event, void **of, int *fd, short *events, handler **handler,
                          void **argument) {
  *of = &base;
  *fd = event->fd;
  *events = event->events;
  *handler = event->handler;
  *argument = event->argument;
}

static void call_once(int fd, short what, void *argument) {
  struct once *once = argument;
  once->handler(fd, what, once->argument);
  free(once);
}

int event_base_once(void *of, int fd, short events, handler *handler, void *argument, const struct timeval *time) {
  struct once *once = malloc(sizeof *once);
  once->handler = handler;
  once->argument = argument;
  event_assign(&once->event, of, fd, events, call_once, once);
  return event_add(&once->event, time);
}

int event_base_loop(void *of, int flags) {
  while (first) {
    struct event *next = first;
    for (struct event *event = first; event; event = event->next) {
      if (!next->is_active && (event->is_active || event->due_us < next->due_us)) {
        next = event;
      }
    }
    uint64_t time = now();
    if (!next->is_active && next->due_us > time) {
      usleep(next->due_us - time);
    }
    take_out(next);
    next->is_active = next->is_pending = 0;
    next->handler(next->fd, 1, next->argument);
  }
  return 0;
}
