/* As much of libev as the test's program calls, where libev itself may be missing. It calls its own public functions, as libev
   does. */
#include "../common.h"

struct watcher;
typedef void handler(void *, struct watcher *, int);
struct watcher {
  int active, pending, priority;
  void *data;
  handler *handler;
  double at, repeat;
};
enum { MOST = 1024 };
static struct watcher *timers[MOST], *asyncs[MOST], *due[MOST];
static int timer_count, async_count, due_count, loop;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

int ev_version_major(void) { return 4; }
void *ev_default_loop(unsigned flags) { return &loop; }

static void put_in(struct watcher **all, int *count, struct watcher *watcher) {
  need(*count < MOST, "watchers");
  all[(*count)++] = watcher;
  watcher->active = 1;
}

static void take_out(struct watcher **all, int *count, struct watcher *watcher) {
  for (int at = 0; at < *count; at++) {
    if (all[at] == watcher) {
      all[at] = all[--*count];
      watcher->active = 0;
      return;
    }
  }
}

void ev_timer_start(void *of, struct watcher *watcher) {
  watcher->at += now();
  put_in(timers, &timer_count, watcher);
}

void ev_timer_stop(void *of, struct watcher *watcher) { take_out(timers, &timer_count, watcher); }
void ev_async_start(void *of, struct watcher *watcher) { put_in(asyncs, &async_count, watcher); }
void ev_async_stop(void *of, struct watcher *watcher) { take_out(asyncs, &async_count, watcher); }

void ev_feed_event(void *of, struct watcher *watcher, int events) {
  need(due_count < MOST, "due");
  due[due_count++] = watcher;
}

void ev_async_send(void *of, struct watcher *watcher) { watcher->pending = 1; }

int ev_run(void *of, int flags) {
  while (timer_count + async_count + due_count > 0) {
    for (int at = 0; at < timer_count; at++) {
      struct watcher *watcher = timers[at];
      if (watcher->at <= now()) {
        if (watcher->repeat > 0) {
          watcher->at += watcher->repeat;
        } else {
          ev_timer_stop(of, watcher);
          at--;
        }
        ev_feed_event(of, watcher, 0x100);
      }
    }
    for (int at = 0; at < async_count; at++) {
      if (asyncs[at]->pending) {
        asyncs[at]->pending = 0;
        ev_feed_event(of, asyncs[at], 0x80000);
      }
    }
    /* What handlers feed waits for the next round. */
    struct watcher *now_due[MOST];
    int count = due_count;
    memcpy(now_due, due, sizeof due);
    due_count = 0;
    for (int at = 0; at < count; at++) {
      if (now_due[at]->handler) {
        now_due[at]->handler(of, now_due[at], 0x100);
      }
    }
    if (!count) {
      usleep(50);
    }
  }
  return 0;
}
