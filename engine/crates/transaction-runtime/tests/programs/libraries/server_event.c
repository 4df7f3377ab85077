/* A server of libevent's: /hit is answered at once; /miss by a timer, and by what that defers. */
#include "../common.h"

typedef void handler(int, short, void *);
typedef void on_message(void *request, void *argument);
void *event_base_new(void), *evhttp_new(void *base), *evbuffer_new(void);
int event_base_dispatch(void *), event_base_loopexit(void *, const struct timeval *);
void *event_new(void *base, int fd, short events, handler *, void *);
int event_add(void *event, const struct timeval *);
int event_base_once(void *base, int fd, short events, handler *, void *, const struct timeval *);
void evhttp_set_gencb(void *, on_message *, void *);
void *evhttp_bind_socket_with_handle(void *, const char *, uint16_t);
int evhttp_bound_socket_get_fd(void *);
const char *evhttp_request_get_uri(void *request);
void evhttp_send_reply(void *request, int code, const char *, void *buffer);

enum { TIMEOUT = 1, PERSIST = 16 };
static void *base;

/* Processor time of the thread, milliseconds. */
static NOINLINE void spin(int ms) {
  struct timespec from, to;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
  } while ((to.tv_sec - from.tv_sec) * 1e3 + (to.tv_nsec - from.tv_nsec) / 1e6 < ms);
}

static void on_fetched(int fd, short what, void *request) {
  spin(4);
  evhttp_send_reply(request, 200, "OK", 0);
}

static void on_delay(int fd, short what, void *request) {
  spin(3);
  struct timeval soon = {0, 100};
  event_base_once(base, -1, TIMEOUT, on_fetched, request, &soon);
}

static void on_request(void *request, void *unused) {
  struct timeval soon = {0, 1000};
  if (!strcmp(evhttp_request_get_uri(request), "/miss")) {
    spin(2);
    event_base_once(base, -1, TIMEOUT, on_delay, request, &soon);
    return;
  }
  spin(1);
  if (!strcmp(evhttp_request_get_uri(request), "/quit")) {
    event_base_loopexit(base, &soon);
  }
  evhttp_send_reply(request, 200, "OK", 0);
}

static void on_tick(int fd, short what, void *unused) { spin(1); }

int main(void) {
  base = event_base_new();
  void *server = evhttp_new(base);
  evhttp_set_gencb(server, on_request, 0);
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  void *bound = evhttp_bind_socket_with_handle(server, "127.0.0.1", 0);
  getsockname(evhttp_bound_socket_get_fd(bound), (void *)&address, &length);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  struct timeval often = {0, 10000};
  event_add(event_new(base, -1, PERSIST, on_tick, 0), &often);
  event_base_dispatch(base);
  return 0;
}
