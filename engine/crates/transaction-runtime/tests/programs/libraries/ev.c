/* libev, by its public functions and the layout of its watchers. */
#include "calls.h"

struct watcher;
typedef void handler(void *loop, struct watcher *, int events);
struct watcher {
  int active, pending, priority;
  void *data;
  handler *handler;
  double at, repeat;
};
void *ev_default_loop(unsigned flags);
int ev_run(void *loop, int flags);
void ev_timer_start(void *loop, struct watcher *), ev_timer_stop(void *loop, struct watcher *);
void ev_feed_event(void *loop, void *watcher, int events);
void ev_async_start(void *loop, struct watcher *), ev_async_send(void *loop, struct watcher *);
void ev_async_stop(void *loop, struct watcher *);

static void *loop;
static int begun, done;

struct request {
  /* With room for what libev keeps in a watcher. */
  struct {
    struct watcher of;
    char room[64];
  } timer, fed, async;
  struct call from;
  int ticks;
};

static void start(void);

static void on_async(void *of, struct watcher *watcher, int events) {
  struct request *request = watcher->data;
  called(on_async, request->from);
  ev_async_stop(loop, watcher);
  free(request);
  done++;
  start();
}

static void on_fed(void *of, struct watcher *watcher, int events) {
  struct request *request = watcher->data;
  called(on_fed, request->from);
  ev_timer_stop(loop, watcher);
  request->from = here;
  ev_async_send(loop, &request->async.of);
}

/* Twice: a timer that repeats. */
static void on_timer(void *of, struct watcher *watcher, int events) {
  struct request *request = watcher->data;
  called(on_timer, request->from);
  need(of == loop, "the loop");
  if (++request->ticks < 2) {
    return;
  }
  ev_timer_stop(loop, watcher);
  request->from = here;
  ev_feed_event(loop, &request->fed.of, 0x100);
}

static void start(void) {
  if (begun == REQUESTS) {
    return;
  }
  struct request *request = calloc(1, sizeof *request);
  request->from = here;
  request->timer.of = (struct watcher){.data = request, .handler = on_timer, .at = begun++ % 3 * 1e-4, .repeat = 1e-4};
  request->fed.of = (struct watcher){.data = request, .handler = on_fed, .at = 1000};
  request->async.of = (struct watcher){.data = request, .handler = on_async};
  ev_timer_start(loop, &request->timer.of);
  ev_timer_start(loop, &request->fed.of);
  ev_async_start(loop, &request->async.of);
}

int main(void) {
  loop = ev_default_loop(0);
  for (int at = 0; at < AT_ONCE; at++) {
    start();
  }
  ev_run(loop, 0);
  need(done == REQUESTS, "all are done");
  tell();
  return 0;
}
