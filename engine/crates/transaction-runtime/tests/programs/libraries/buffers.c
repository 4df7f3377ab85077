/* Connections of libevent's buffers: what is read is answered by another handler, when the connection can be written to. */
#include "calls.h"

typedef void on_data(void *, void *), on_event(void *, short, void *);
void *event_base_new(void);
int event_base_loop(void *base, int flags), event_base_loopbreak(void *base);
void *bufferevent_socket_new(void *base, int fd, int options);
void bufferevent_setcb(void *, on_data *, on_data *, on_event *, void *);
void bufferevent_getcb(void *, on_data **, on_data **, on_event **, void **);
int bufferevent_enable(void *, short events), bufferevent_write(void *, const void *, size_t);
size_t bufferevent_read(void *, void *, size_t);

enum { READ = 2, WRITE = 4, CONNECTIONS = 50 };
static int ends[CONNECTIONS][2];
static void *base;
static int written;

static void on_read(void *buffers, void *argument) {
  char bytes[64];
  size_t count = bufferevent_read(buffers, bytes, sizeof bytes);
  need(count == 8, "a whole message");
  bufferevent_write(buffers, bytes, count);
}

static void on_written(void *buffers, void *argument) { written++; }

/* The other side has had all answers. */
static void on_end(void *buffers, short what, void *argument) { event_base_loopbreak(base); }

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
  shutdown(ends[0][1], SHUT_WR);
  return 0;
}

int main(int argc, char **argv) {
  base = event_base_new();
  for (int at = 0; at < CONNECTIONS; at++) {
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[at]) == 0, "socketpair");
    fcntl(ends[at][0], F_SETFL, O_NONBLOCK);
    /* Deferred: handlers are called after libevent's own have returned. */
    void *buffers = bufferevent_socket_new(base, ends[at][0], argc > 1 ? 4 : 0);
    bufferevent_setcb(buffers, on_read, on_written, on_end, &ends[at]);
    on_data *reads, *writes;
    on_event *events;
    void *argument;
    bufferevent_getcb(buffers, &reads, &writes, &events, &argument);
    need(reads == on_read && writes == on_written && events == on_end && argument == &ends[at], "getcb");
    bufferevent_enable(buffers, READ | WRITE);
  }
  pthread_t thread;
  pthread_create(&thread, 0, asks, 0);
  event_base_loop(base, 0);
  pthread_join(thread, 0);
  need(written >= REQUESTS, "all was written");
  printf("handlers %p %p\n", on_read, on_written);
  return 0;
}
