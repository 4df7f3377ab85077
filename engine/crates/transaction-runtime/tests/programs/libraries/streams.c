/* Connections of libuv's: what is read is answered at once. */
#include "calls.h"

struct buffer {
  char *base;
  size_t length;
};
void *uv_default_loop(void);
int uv_run(void *loop, int mode);
void uv_stop(void *loop);
size_t uv_handle_size(int), uv_req_size(int);
int uv_pipe_init(void *loop, void *handle, int ipc), uv_pipe_open(void *handle, int fd);
int uv_read_start(void *, void (*)(void *, size_t, struct buffer *), void (*)(void *, ssize_t, const struct buffer *));
int uv_write(void *, void *, const struct buffer *, unsigned, void (*)(void *, int));

enum { PIPE = 7, WRITE = 3, CONNECTIONS = 50 };
static int ends[CONNECTIONS][2];
static void *loop;
static int left = REQUESTS;

static void on_place(void *handle, size_t wanted, struct buffer *buffer) {
  *buffer = (struct buffer){malloc(64), 64};
}

static void on_written(void *request, int status) {
  need(status == 0, "uv_write");
  free(request);
  if (--left == 0) {
    uv_stop(loop);
  }
}

static void on_read(void *handle, ssize_t count, const struct buffer *buffer) {
  if (count > 0) {
    need(count == 8, "a whole message");
    struct buffer answer = {buffer->base, count};
    uv_write(calloc(1, uv_req_size(WRITE)), handle, &answer, 1, on_written);
  }
  free(buffer->base);
}

static void *asks(void *unused) {
  for (int round = 0; round < REQUESTS / CONNECTIONS; round++) {
    char bytes[8] = "hello..", answer[8];
    for (int at = 0; at < CONNECTIONS; at++) {
      need(send(ends[at][1], bytes, 8, 0) == 8, "send");
    }
    for (int at = 0; at < CONNECTIONS; at++) {
      need(recv(ends[at][1], answer, 8, MSG_WAITALL) == 8, "recv");
    }
  }
  return 0;
}

int main(void) {
  loop = uv_default_loop();
  for (int at = 0; at < CONNECTIONS; at++) {
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[at]) == 0, "socketpair");
    void *handle = calloc(1, uv_handle_size(PIPE));
    need(uv_pipe_init(loop, handle, 0) == 0 && uv_pipe_open(handle, ends[at][0]) == 0, "uv_pipe_open");
    need(uv_read_start(handle, on_place, on_read) == 0, "uv_read_start");
  }
  pthread_t thread;
  pthread_create(&thread, 0, asks, 0);
  uv_run(loop, 0);
  pthread_join(thread, 0);
  printf("handlers %p %p\n", on_read, on_written);
  return 0;
}
