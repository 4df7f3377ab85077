/* Event loops, and waits for whatever comes next; says what was handled and how often it waited. */
#include "common.h"
#include <sys/select.h>

enum { MANY = 12, TIMER = 99 };
static int ends[MANY][2];
static int epoll, extra;
static int waits;

static void add(int fd, uint32_t events, uint64_t data) {
  struct epoll_event event = {.events = events, .data.u64 = data};
  need(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

static void prepare(uint32_t how) {
  epoll = epoll_create1(0);
  for (int at = 0; at < MANY; at++) {
    need(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends[at]) == 0, "socketpair");
    add(ends[at][0], EPOLLIN | how, 1000 + at);
  }
  extra = eventfd(0, EFD_NONBLOCK);
  add(extra, EPOLLIN | how, TIMER);
}

static void wake_all(void) {
  uint64_t one = 1;
  for (int at = 0; at < MANY; at++) {
    need(write(ends[at][1], "hello", 5) == 5, "write");
  }
  need(write(extra, &one, sizeof one) == sizeof one, "write");
}

/* Reads what is there, and says so. */
static void handle(uint64_t data) {
  char bytes[16];
  if (data == TIMER) {
    need(read(extra, bytes, 8) == 8, "read");
  } else {
    need(read(ends[data - 1000][0], bytes, sizeof bytes) == 5, "read");
  }
  printf("handled %lu\n", data);
}

static void loop(int expected) {
  struct epoll_event events[64];
  while (expected > 0) {
    int count = epoll_wait(epoll, events, 64, -1);
    waits++;
    need(count > 0, "epoll_wait");
    for (int at = 0; at < count; at++) {
      handle(events[at].data.u64);
    }
    expected -= count;
  }
}

static void served(uint32_t how) {
  prepare(how);
  for (int round = 0; round < 3; round++) {
    wake_all();
    loop(MANY + 1);
    if (how & EPOLLONESHOT) {
      for (int at = 0; at < MANY; at++) {
        struct epoll_event event = {.events = EPOLLIN | how, .data.u64 = 1000 + at};
        need(epoll_ctl(epoll, EPOLL_CTL_MOD, ends[at][0], &event) == 0, "epoll_ctl");
      }
      struct epoll_event event = {.events = EPOLLIN | how, .data.u64 = TIMER};
      need(epoll_ctl(epoll, EPOLL_CTL_MOD, extra, &event) == 0, "epoll_ctl");
    }
  }
  struct epoll_event none;
  need(epoll_wait(epoll, &none, 1, 0) == 0, "nothing is left");
  printf("waits %d\n", waits);
}

static int control(int raw, int operation, int fd, uint32_t events, uint64_t data) {
  struct epoll_event event = {.events = events, .data.u64 = data};
  return raw ? syscall(SYS_epoll_ctl, epoll, operation, fd, &event) : epoll_ctl(epoll, operation, fd, &event);
}

static void wait_for(uint64_t data) {
  struct epoll_event event;
  need(epoll_wait(epoll, &event, 1, -1) == 1 && event.data.u64 == data, "epoll_wait");
}

/* A request of a client arrives. */
static void asked(int client) {
  need(write(ends[client][1], "hello", 5) == 5, "write");
  wait_for(1000 + client);
  handle(1000 + client);
}

/* A proxy with one connection to a server, which it registers to write for one client after the other. */
static void registered(int raw) {
  enum { SERVER = 2 };
  const uint32_t both = EPOLLIN | EPOLLOUT;
  uint64_t one = 1;
  char bytes[16];
  prepare(0);
  int server = ends[SERVER][0];
  for (int round = 0; round < 3; round++) {
    for (int client = 0; client < 2; client++) {
      asked(client);
      /* What the client's work tells of its own connection, and what it tells twice, is nothing new. */
      need(control(raw, EPOLL_CTL_MOD, ends[client][0], EPOLLIN, 1000 + client) == 0, "epoll_ctl");
      need(control(raw, EPOLL_CTL_ADD, server, both, 7) < 0 && errno == EEXIST, "epoll_ctl");
      need(control(raw, EPOLL_CTL_MOD, server, both, 1000 + SERVER) == 0, "epoll_ctl");
      need(control(raw, EPOLL_CTL_MOD, server, both, 1000 + SERVER) == 0, "epoll_ctl");
      wait_for(1000 + SERVER);
      need(write(server, "ask", 3) == 3, "write");
      need(control(raw, EPOLL_CTL_MOD, server, EPOLLIN, 1000 + SERVER) == 0, "epoll_ctl");
      need(read(ends[SERVER][1], bytes, sizeof bytes) == 3, "read");
    }
    /* For nobody. */
    need(write(extra, &one, sizeof one) == sizeof one, "write");
    wait_for(TIMER);
    handle(TIMER);
    need(control(raw, EPOLL_CTL_MOD, server, both, 1000 + SERVER) == 0, "epoll_ctl");
    need(control(raw, EPOLL_CTL_MOD, server, EPOLLIN, 1000 + SERVER) == 0, "epoll_ctl");
  }
  asked(0);
  need(control(raw, EPOLL_CTL_MOD, server, EPOLLOUT, 1000 + SERVER) == 0, "epoll_ctl");
  need(control(raw, EPOLL_CTL_DEL, server, 0, 0) == 0, "epoll_ctl");
}

/* What is closed while others of its batch are handled has no event. */
static void closed(void) {
  struct epoll_event events[64];
  prepare(EPOLLET);
  wake_all();
  int gone[MANY] = {0}, count;
  while ((count = epoll_wait(epoll, events, 64, 0)) > 0) {
    for (int at = 0; at < count; at++) {
      uint64_t data = events[at].data.u64;
      if (data == TIMER || gone[data - 1000]) {
        continue;
      }
      handle(data);
      for (int other = 0; other < MANY; other++) {
        if (other != (int)data - 1000 && !gone[other]) {
          gone[other] = 1;
          if (other % 2) {
            close(ends[other][0]);
          } else {
            epoll_ctl(epoll, EPOLL_CTL_DEL, ends[other][0], 0);
          }
        }
      }
    }
  }
}

/* An epoll descriptor that another call watches is ready until everything has been fetched. */
static void nested(void) {
  prepare(EPOLLET);
  wake_all();
  int left = MANY + 1;
  while (left > 0) {
    struct pollfd outer = {.fd = epoll, .events = POLLIN};
    need(poll(&outer, 1, -1) == 1, "poll");
    waits++;
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, 64, 0);
    need(count > 0, "epoll_wait");
    for (int at = 0; at < count; at++) {
      handle(events[at].data.u64);
    }
    left -= count;
  }
  printf("waits %d\n", waits);
}

static void nothing(int unused) {}

/* Connects to a socket that listens, and sends a little. */
static void *connects(void *address) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  need(connect(fd, address, sizeof(struct sockaddr_in)) == 0, "connect");
  need(send(fd, "hello", 5, 0) == 5, "send");
  return 0;
}

static void *kills(void *thread) {
  pthread_kill(*(pthread_t *)thread, SIGUSR1);
  return 0;
}

static void idle(void) {
  int pair[2];
  need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && write(pair[1], "x", 1) == 1, "socketpair");
  struct pollfd one = {.fd = pair[0], .events = POLLIN};
  fd_set set;
  struct timespec second = {1, 0}, zero = {0, 0};
  struct timeval none = {0, 0};
  need(poll(&one, 1, -1) == 1 && ++waits, "poll");
  need(ppoll(&one, 1, &second, 0) == 1 && ++waits, "ppoll");
  need(syscall(SYS_poll, &one, 1, -1) == 1 && ++waits, "poll");
  FD_ZERO(&set);
  FD_SET(pair[0], &set);
  need(select(pair[0] + 1, &set, 0, 0, 0) == 1 && ++waits, "select");
  need(pselect(pair[0] + 1, &set, 0, 0, &second, 0) == 1 && ++waits, "pselect");
  /* Only looks. */
  need(poll(&one, 1, 0) == 1 && ppoll(&one, 1, &zero, 0) == 1, "poll");
  need(select(pair[0] + 1, &set, 0, 0, &none) == 1, "select");
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, 0);
  pthread_t self = pthread_self(), other;
  int signal;
  pthread_create(&other, 0, kills, &self);
  need(sigwait(&signals, &signal) == 0 && signal == SIGUSR1 && ++waits, "sigwait");
  pthread_join(other, 0);
  pthread_create(&other, 0, kills, &self);
  need(sigwaitinfo(&signals, 0) == SIGUSR1 && ++waits, "sigwaitinfo");
  pthread_join(other, 0);
  struct sigaction action = {.sa_handler = nothing};
  sigaction(SIGUSR1, &action, 0);
  pthread_create(&other, 0, kills, &self);
  sigset_t all_open;
  sigemptyset(&all_open);
  need(sigsuspend(&all_open) < 0 && errno == EINTR && ++waits, "sigsuspend");
  pthread_join(other, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  need(bind(listener, (void *)&address, length) == 0 && listen(listener, 5) == 0, "listen");
  getsockname(listener, (void *)&address, &length);
  pthread_create(&other, 0, connects, &address);
  int fd = accept(listener, 0, 0);
  need(fd >= 0 && ++waits, "accept");
  pthread_join(other, 0);
  pthread_create(&other, 0, connects, &address);
  one.fd = listener;
  need(poll(&one, 1, -1) == 1 && ++waits, "poll");
  /* Nothing has happened since. */
  need(accept(listener, 0, 0) >= 0, "accept");
  pthread_join(other, 0);
  /* Known to be there: no wait. */
  epoll = epoll_create1(0);
  add(listener, EPOLLIN, 7);
  fcntl(listener, F_SETFL, O_NONBLOCK);
  pthread_create(&other, 0, connects, &address);
  struct epoll_event event;
  need(epoll_pwait(epoll, &event, 1, -1, 0) == 1 && event.data.u64 == 7 && ++waits, "epoll_pwait");
  need(accept4(listener, 0, 0, SOCK_CLOEXEC) >= 0, "accept4");
  pthread_join(other, 0);
  errno = 0;
  need(accept(listener, 0, 0) < 0 && errno == EAGAIN, "accept");
  printf("waits %d\n", waits);
}

/* A proxy's way to another server: connected to without waiting, then written to by the handler of an event. */
static void upstream(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  need(bind(listener, (void *)&address, length) == 0 && listen(listener, 5) == 0, "listen");
  getsockname(listener, (void *)&address, &length);
  epoll = epoll_create1(0);
  for (int n = 1; n <= 3; n++) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    errno = 0;
    int result = connect(fd, (void *)&address, length);
    need(result == 0 || errno == EINPROGRESS, "connect");
    add(fd, EPOLLOUT, n);
    struct epoll_event event;
    need(epoll_wait(epoll, &event, 1, -1) == 1 && event.data.u64 == n, "epoll_wait");
    need(send(fd, "hello", 5, 0) == 5, "send");
    struct sockaddr_in own;
    getsockname(fd, (void *)&own, &length);
    printf("connected %d %d %d\n", n, ntohs(own.sin_port), ntohs(address.sin_port));
    close(fd);
  }
}

int main(int argc, char **argv) {
  const char *what = argv[1];
  if (!strcmp(what, "level")) {
    served(0);
  } else if (!strcmp(what, "edge")) {
    served(EPOLLET);
  } else if (!strcmp(what, "once")) {
    served(EPOLLONESHOT);
  } else if (!strcmp(what, "registered") || !strcmp(what, "registered-raw")) {
    registered(!strcmp(what, "registered-raw"));
  } else if (!strcmp(what, "closed")) {
    closed();
  } else if (!strcmp(what, "nested")) {
    nested();
  } else if (!strcmp(what, "idle")) {
    idle();
  } else if (!strcmp(what, "upstream")) {
    upstream();
  }
  return 0;
}
