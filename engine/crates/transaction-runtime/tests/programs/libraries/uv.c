/* libuv, by its public functions alone. */
#include "calls.h"

typedef void handler(void *);
void *uv_default_loop(void);
int uv_run(void *loop, int mode);
size_t uv_handle_size(int), uv_req_size(int);
void uv_handle_set_data(void *, void *), uv_req_set_data(void *, void *);
void *uv_handle_get_data(void *), *uv_req_get_data(void *);
int uv_timer_init(void *loop, void *), uv_timer_start(void *, handler *, uint64_t, uint64_t);
int uv_timer_stop(void *);
int uv_queue_work(void *loop, void *, handler *, void (*)(void *, int));
int uv_async_init(void *loop, void *, handler *), uv_async_send(void *);
void uv_close(void *, handler *);

enum { ASYNC = 1, TIMER = 13, WORK = 7 };
static void *loop;
static int begun, done;

struct request {
  void *timer, *async, *work;
  struct call from;
  int ticks;
};

static void start(void);

static void *new_handle(int kind, struct request *request) {
  void *handle = calloc(1, uv_handle_size(kind));
  uv_handle_set_data(handle, request);
  return handle;
}

static void on_closed(void *handle) {
  struct request *request = uv_handle_get_data(handle);
  called(on_closed, request->from);
  free(request->timer);
  free(request->async);
  free(request->work);
  free(request);
  done++;
  start();
}

static void on_timer_closed(void *handle) {
  struct request *request = uv_handle_get_data(handle);
  called(on_timer_closed, request->from);
  request->from = here;
  uv_close(request->async, on_closed);
}

static void on_async(void *handle) {
  struct request *request = uv_handle_get_data(handle);
  called(on_async, request->from);
  request->from = here;
  uv_close(request->timer, on_timer_closed);
}

static void on_done(void *work, int status) {
  struct request *request = uv_req_get_data(work);
  called(on_done, request->from);
  need(status == 0, "status");
  request->from = here;
  need(uv_async_send(request->async) == 0, "uv_async_send");
}

static void on_work(void *work) {
  struct request *request = uv_req_get_data(work);
  called(on_work, request->from);
  request->from = here;
}

/* Twice: a timer that repeats. */
static void on_timer(void *handle) {
  struct request *request = uv_handle_get_data(handle);
  called(on_timer, request->from);
  if (++request->ticks < 2) {
    return;
  }
  uv_timer_stop(handle);
  request->from = here;
  need(uv_queue_work(loop, request->work, on_work, on_done) == 0, "uv_queue_work");
}

static void start(void) {
  if (begun == REQUESTS) {
    return;
  }
  struct request *request = calloc(1, sizeof *request);
  request->timer = new_handle(TIMER, request);
  request->async = new_handle(ASYNC, request);
  request->work = calloc(1, uv_req_size(WORK));
  uv_req_set_data(request->work, request);
  request->from = here;
  uv_timer_init(loop, request->timer);
  uv_async_init(loop, request->async, on_async);
  uv_timer_start(request->timer, on_timer, begun++ % 3, 1);
}

int main(void) {
  loop = uv_default_loop();
  for (int at = 0; at < AT_ONCE; at++) {
    start();
  }
  uv_run(loop, 0);
  need(done == REQUESTS, "all are done");
  tell();
  return 0;
}
