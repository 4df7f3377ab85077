/* As much of libuv as the test's program calls, where libuv itself may be missing. It calls its own public functions, as libuv
   does. */
#include "../common.h"

typedef struct handle handle;
typedef void handler(handle *);
struct handle {
  void *data;
  handler *handler, *closed;
  uint64_t due_ms, repeat_ms;
  int is_timer, is_active, is_sent;
  handle *next;
};
typedef struct work {
  void *data;
  void (*work)(struct work *);
  void (*after)(struct work *, int);
  struct work *next;
} work;
static handle *first;
static work *to_do, *done;
static int works, has_thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t comes = PTHREAD_COND_INITIALIZER, is_done = PTHREAD_COND_INITIALIZER;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1000ull + time.tv_nsec / 1000000;
}

unsigned uv_version(void) { return 1 << 16 | 44 << 8; }
void *uv_default_loop(void) { return &lock; }
size_t uv_handle_size(int kind) { return sizeof(handle); }
size_t uv_req_size(int kind) { return sizeof(work); }
void uv_handle_set_data(handle *handle, void *data) { handle->data = data; }
void *uv_handle_get_data(handle *handle) { return handle->data; }
void uv_req_set_data(work *work, void *data) { work->data = data; }
void *uv_req_get_data(work *work) { return work->data; }
int uv_fileno(handle *handle, int *fd) { return -EINVAL; }

static void put_in(handle *handle) {
  handle->next = first;
  first = handle;
}

int uv_timer_init(void *loop, handle *handle) {
  handle->is_timer = 1;
  put_in(handle);
  return 0;
}

int uv_timer_start(handle *handle, handler *handler, uint64_t after, uint64_t repeat) {
  handle->handler = handler;
  handle->due_ms = now() + after;
  handle->repeat_ms = repeat;
  handle->is_active = 1;
  return 0;
}

int uv_timer_stop(handle *handle) {
  handle->is_active = 0;
  return 0;
}

int uv_timer_again(handle *handle) {
  if (handle->repeat_ms) {
    uv_timer_start(handle, handle->handler, handle->repeat_ms, handle->repeat_ms);
  }
  return 0;
}

int uv_async_init(void *loop, handle *handle, handler *handler) {
  handle->handler = handler;
  handle->is_active = 1;
  put_in(handle);
  return 0;
}

int uv_async_send(handle *handle) {
  pthread_mutex_lock(&lock);
  handle->is_sent = 1;
  pthread_cond_signal(&is_done);
  pthread_mutex_unlock(&lock);
  return 0;
}

void uv_close(handle *handle, handler *closed) {
  handle->is_active = 0;
  handle->closed = closed;
}

static void *works_on(void *unused) {
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!to_do) {
      pthread_cond_wait(&comes, &lock);
    }
    work *next = to_do;
    to_do = next->next;
    pthread_mutex_unlock(&lock);
    next->work(next);
    pthread_mutex_lock(&lock);
    next->next = done;
    done = next;
    pthread_cond_signal(&is_done);
  }
}

int uv_queue_work(void *loop, work *new, void (*work)(struct work *), void (*after)(struct work *, int)) {
  if (!has_thread++) {
    pthread_t thread;
    pthread_create(&thread, 0, works_on, 0);
  }
  new->work = work;
  new->after = after;
  pthread_mutex_lock(&lock);
  works++;
  new->next = to_do;
  to_do = new;
  pthread_cond_signal(&comes);
  pthread_mutex_unlock(&lock);
  return 0;
}

/* Calls what is due for one handle. Whether there was any. */
static int calls_one(void) {
  uint64_t time = now();
  for (handle **at = &first; *at; at = &(*at)->next) {
    handle *handle = *at;
    if (handle->closed) {
      *at = handle->next;
      handle->closed(handle);
      return 1;
    }
    if (handle->is_timer && handle->is_active && handle->due_ms <= time) {
      uv_timer_stop(handle);
      uv_timer_again(handle);
      handle->handler(handle);
      return 1;
    }
    if (__atomic_exchange_n(&handle->is_sent, 0, __ATOMIC_ACQ_REL)) {
      handle->handler(handle);
      return 1;
    }
  }
  return 0;
}

int uv_run(void *loop, int mode) {
  for (;;) {
    while (calls_one()) {
    }
    pthread_mutex_lock(&lock);
    work *next = done;
    if (next) {
      done = next->next;
      works--;
    }
    int is_alive = works > 0 || first;
    if (!next && is_alive) {
      uint64_t until = now() + 1;
      struct timespec time = {until / 1000, until % 1000 * 1000000};
      pthread_cond_timedwait(&is_done, &lock, &time);
    }
    pthread_mutex_unlock(&lock);
    if (next) {
      next->after(next, 0);
    } else if (!is_alive) {
      return 0;
    }
  }
}
