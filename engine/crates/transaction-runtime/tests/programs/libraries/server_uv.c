/* A server of libuv's: /hit is answered at once; /miss by a timer, and by work for a thread. */
#include "../common.h"

typedef void handler(void *);
struct buffer {
  char *base;
  size_t length;
};
void *uv_default_loop(void);
int uv_run(void *loop, int mode);
void uv_stop(void *loop);
size_t uv_handle_size(int), uv_req_size(int);
void uv_handle_set_data(void *, void *), *uv_handle_get_data(void *);
void uv_req_set_data(void *, void *), *uv_req_get_data(void *);
int uv_tcp_init(void *loop, void *), uv_tcp_bind(void *, const void *, unsigned);
int uv_tcp_getsockname(void *, void *, int *);
int uv_listen(void *, int, void (*)(void *, int)), uv_accept(void *, void *);
int uv_read_start(void *, void (*)(void *, size_t, struct buffer *), void (*)(void *, ssize_t, const struct buffer *));
int uv_write(void *, void *, const struct buffer *, unsigned, void (*)(void *, int));
int uv_timer_init(void *loop, void *), uv_timer_start(void *, handler *, uint64_t, uint64_t);
int uv_queue_work(void *loop, void *, handler *, void (*)(void *, int));

enum { TCP = 12, TIMER = 13, WRITE = 3, WORK = 7 };
static void *loop;
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/* Processor time of the thread, milliseconds. */
static NOINLINE void spin(int ms) {
  struct timespec from, to;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
  } while ((to.tv_sec - from.tv_sec) * 1e3 + (to.tv_nsec - from.tv_nsec) / 1e6 < ms);
}

static void on_written(void *request, int status) { free(request); }

static void reply(void *connection) {
  struct buffer buffer = {(char *)answer, sizeof answer - 1};
  uv_write(calloc(1, uv_req_size(WRITE)), connection, &buffer, 1, on_written);
}

static void on_done(void *work, int status) {
  spin(1);
  reply(uv_req_get_data(work));
  free(work);
}

static void on_work(void *work) { spin(3); }

static void on_delay(void *timer) {
  spin(3);
  void *work = calloc(1, uv_req_size(WORK));
  uv_req_set_data(work, uv_handle_get_data(timer));
  uv_queue_work(loop, work, on_work, on_done);
}

static void on_place(void *connection, size_t wanted, struct buffer *buffer) {
  *buffer = (struct buffer){malloc(4096), 4096};
}

static void on_read(void *connection, ssize_t count, const struct buffer *buffer) {
  int is_miss = count > 9 && !memcmp(buffer->base, "GET /miss", 9);
  int is_last = count > 9 && !memcmp(buffer->base, "GET /quit", 9);
  free(buffer->base);
  if (count <= 0) {
    return;
  }
  if (is_miss) {
    spin(2);
    void *timer = calloc(1, uv_handle_size(TIMER));
    uv_timer_init(loop, timer);
    uv_handle_set_data(timer, connection);
    uv_timer_start(timer, on_delay, 1, 0);
    return;
  }
  spin(1);
  reply(connection);
  if (is_last) {
    uv_stop(loop);
  }
}

static void on_connection(void *server, int status) {
  void *connection = calloc(1, uv_handle_size(TCP));
  uv_tcp_init(loop, connection);
  need(uv_accept(server, connection) == 0, "uv_accept");
  uv_read_start(connection, on_place, on_read);
}

static void on_tick(void *timer) { spin(1); }

int main(void) {
  loop = uv_default_loop();
  void *server = calloc(1, uv_handle_size(TCP)), *timer = calloc(1, uv_handle_size(TIMER));
  uv_tcp_init(loop, server);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int length = sizeof address;
  need(uv_tcp_bind(server, &address, 0) == 0 && uv_listen(server, 16, on_connection) == 0, "uv_listen");
  uv_tcp_getsockname(server, &address, &length);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  uv_timer_init(loop, timer);
  uv_timer_start(timer, on_tick, 10, 10);
  uv_run(loop, 0);
  return 0;
}
