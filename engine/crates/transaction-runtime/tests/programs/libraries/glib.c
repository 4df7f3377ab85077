/* GLib's main loop, by its public functions alone. */
#include "calls.h"

typedef int handler(void *);
void *g_main_loop_new(void *context, int is_running);
void g_main_loop_run(void *), g_main_loop_quit(void *);
unsigned g_timeout_add(unsigned ms, handler *, void *);
unsigned g_idle_add(handler *, void *);
unsigned g_idle_add_full(int priority, handler *, void *, void (*)(void *));
int g_idle_remove_by_data(void *);
void *g_idle_source_new(void), *g_main_current_source(void);
void g_source_set_callback(void *, handler *, void *, void (*)(void *));
unsigned g_source_attach(void *, void *context), g_source_get_id(void *);
void g_source_unref(void *);
void g_main_context_invoke(void *context, handler *, void *);

static void *loop;
static int begun, done;

struct request {
  struct call from;
  unsigned id;
};

static void start(void);

static void gone(void *argument) {
  free(argument);
  if (++done == REQUESTS) {
    g_main_loop_quit(loop);
  }
}

static int last(void *argument) {
  struct request *request = argument;
  called(last, request->from);
  start();
  return 0;
}

static int invoked(void *argument) {
  struct request *request = argument;
  called(invoked, request->from);
  request->from = here;
  g_idle_add_full(100, last, request, gone);
  return 0;
}

/* A thread of the program's own: what it does is no handler's. */
static void *helps(void *argument) {
  struct request *request = argument;
  request->from = here;
  g_main_context_invoke(0, invoked, request);
  return 0;
}

static int with_source(void *argument) {
  struct request *request = argument;
  called(with_source, request->from);
  request->from = here;
  if (begun % 16) {
    g_idle_add_full(100, last, request, gone);
    return 0;
  }
  pthread_t thread;
  need(pthread_create(&thread, 0, helps, request) == 0, "pthread_create");
  pthread_detach(thread);
  return 0;
}

static int on_idle(void *argument) {
  struct request *request = argument;
  called(on_idle, request->from);
  request->from = here;
  need(g_source_get_id(g_main_current_source()) == request->id, "the source's number");
  void *source = g_idle_source_new();
  g_source_set_callback(source, with_source, request, 0);
  g_source_attach(source, 0);
  g_source_unref(source);
  return 0;
}

static int never(void *argument) {
  need(0, "a source that was removed by its argument");
  return 0;
}

static int on_timer(void *argument) {
  struct request *request = argument;
  called(on_timer, request->from);
  request->from = here;
  g_idle_add(never, &request->from);
  need(g_idle_remove_by_data(&request->from), "g_idle_remove_by_data");
  request->id = g_idle_add(on_idle, request);
  return 0;
}

static void start(void) {
  if (begun == REQUESTS) {
    return;
  }
  struct request *request = calloc(1, sizeof *request);
  request->from = here;
  g_timeout_add(begun++ % 3, on_timer, request);
}

int main(void) {
  loop = g_main_loop_new(0, 0);
  for (int at = 0; at < AT_ONCE; at++) {
    start();
  }
  g_main_loop_run(loop);
  tell();
  return 0;
}
