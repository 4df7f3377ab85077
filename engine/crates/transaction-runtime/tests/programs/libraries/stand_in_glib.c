/* As much of GLib's main loop as the test's program calls, where GLib itself may be missing. It does not call its own public
   functions where ours could see it, as GLib does not. */
#include "../common.h"

typedef int handler(void *);
typedef struct source source;
struct source {
  handler *handler;
  void *data;
  void (*notify)(void *);
  unsigned id;
  int is_timer, is_gone;
  uint64_t due_ms, ms;
  source *next;
};
static source *first;
static unsigned last_id;
static int is_running, context;
static pthread_t owner;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread source *current;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000ull + time.tv_nsec / 1000000;
}

static source *new_source(int is_timer, unsigned ms) {
  source *new = calloc(1, sizeof *new);
  new->is_timer = is_timer;
  new->ms = ms;
  return new;
}

static unsigned attach(source *source) {
  pthread_mutex_lock(&lock);
  struct source **at = &first;
  while (*at) {
    at = &(*at)->next;
  }
  *at = source;
  source->due_ms = now() + source->ms;
  unsigned id = source->id = ++last_id;
  pthread_mutex_unlock(&lock);
  return id;
}

source *g_main_current_source(void) { return current; }
unsigned g_source_get_id(source *source) { return source->id; }
source *g_timeout_source_new(unsigned ms) { return new_source(1, ms); }
source *g_timeout_source_new_seconds(unsigned seconds) { return new_source(1, 1000 * seconds); }
source *g_idle_source_new(void) { return new_source(0, 0); }
source *g_io_create_watch(void *channel, int condition) { return 0; }
source *g_unix_fd_source_new(int fd, int condition) { return 0; }
source *g_child_watch_source_new(int pid) { return 0; }
source *g_unix_signal_source_new(int signal) { return 0; }
void g_source_set_priority(source *source, int priority) {}
void g_source_unref(source *source) {}

void g_source_set_callback(source *source, handler *handler, void *data, void (*notify)(void *)) {
  source->handler = handler;
  source->data = data;
  source->notify = notify;
}

unsigned g_source_attach(source *source, void *of) { return attach(source); }

static unsigned add(source *source, handler *handler, void *data, void (*notify)(void *)) {
  source->handler = handler;
  source->data = data;
  source->notify = notify;
  return attach(source);
}

unsigned g_timeout_add(unsigned ms, handler *handler, void *data) { return add(new_source(1, ms), handler, data, 0); }
unsigned g_idle_add(handler *handler, void *data) { return add(new_source(0, 0), handler, data, 0); }

unsigned g_idle_add_full(int priority, handler *handler, void *data, void (*notify)(void *)) {
  return add(new_source(0, 0), handler, data, notify);
}

int g_idle_remove_by_data(void *data) {
  int found = 0;
  pthread_mutex_lock(&lock);
  for (source **at = &first; *at && !found; at = &(*at)->next) {
    if ((*at)->data == data) {
      *at = (*at)->next;
      found = 1;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  return found;
}

void *g_main_context_default(void) { return &context; }
void *g_main_context_get_thread_default(void) { return 0; }
int g_main_context_is_owner(void *of) { return is_running && pthread_equal(owner, pthread_self()); }
int g_main_context_acquire(void *of) { return !is_running; }
void g_main_context_release(void *of) {}

void g_main_context_invoke(void *of, handler *handler, void *data) {
  if (g_main_context_is_owner(of)) {
    while (handler(data)) {
    }
    return;
  }
  add(new_source(0, 0), handler, data, 0);
}

/* Takes out what is due: a timer, or what is idle. */
static source *take_due(void) {
  pthread_mutex_lock(&lock);
  source *found = 0;
  for (source **at = &first; *at; at = &(*at)->next) {
    if ((*at)->due_ms <= now()) {
      found = *at;
      *at = found->next;
      found->next = 0;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  return found;
}

void g_main_context_dispatch(void *of) {
  source *source = take_due();
  if (!source) {
    usleep(50);
    return;
  }
  struct source *before = current;
  current = source;
  int again = source->handler(source->data);
  current = before;
  if (again) {
    attach(source);
    return;
  }
  if (source->notify) {
    source->notify(source->data);
  }
  free(source);
}

void *g_main_loop_new(void *of, int running) { return &is_running; }
void g_main_loop_quit(void *loop) { is_running = 0; }

void g_main_loop_run(void *loop) {
  owner = pthread_self();
  is_running = 1;
  while (is_running) {
    g_main_context_dispatch(&context);
  }
}
