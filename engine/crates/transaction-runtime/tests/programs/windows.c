// What is recorded when recording pauses. The program plays the engine's part: it pauses recording and lets it go on.
#include "common.h"

static _Atomic uint64_t *window;

// Maps the settings of the session, if there is one. Word 6 is the number of the window, odd in pauses.
static void find_window(void) {
  const char *folder = getenv("FULCRUM_TRANSACTIONS");
  if (!folder) {
    static _Atomic uint64_t none;
    window = &none;
    return;
  }
  char path[4096];
  snprintf(path, sizeof path, "%s/settings", folder);
  int fd = open(path, O_RDWR);
  need(fd >= 0, path);
  _Atomic uint64_t *settings = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  need(settings != MAP_FAILED, "mmap");
  close(fd);
  window = settings + 6;
}

static void next_window(void) { (*window)++; }

static char bytes[4096];

static void gives(int fd, int count) { need(write(fd, bytes, count) == count, "write"); }

static void takes(int fd, int count) { need(read(fd, bytes, count) == count, "read"); }

// A request of two parts and its answer.
static void ask(int asker, int server) {
  gives(asker, 10);
  takes(server, 10);
  gives(asker, 1);
  takes(server, 1);
  gives(server, 5);
  takes(asker, 5);
}

static void connection(int *asker, int *server) {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  need(bind(listener, (void *)&address, length) == 0 && listen(listener, 1) == 0, "listen");
  need(getsockname(listener, (void *)&address, &length) == 0, "getsockname");
  *asker = socket(AF_INET, SOCK_STREAM, 0);
  need(connect(*asker, (void *)&address, length) == 0, "connect");
  *server = accept(listener, 0, 0);
  need(*server >= 0, "accept");
  close(listener);
}

// Requests before, in and after a pause. In the second pause, half of a request comes.
static void streams(void) {
  int asker, server;
  connection(&asker, &server);
  ask(asker, server);
  next_window();
  ask(asker, server);
  ask(asker, server);
  next_window();
  ask(asker, server);
  next_window();
  gives(asker, 10);
  takes(server, 10);
  next_window();
  gives(asker, 1);
  takes(server, 1);
  gives(server, 5);
  takes(asker, 5);
  ask(asker, server);
  close(asker);
  close(server);
}

// A connection that comes in a pause, with a request that is not answered there.
static void new_connection(void) {
  next_window();
  int asker, server;
  connection(&asker, &server);
  ask(asker, server);
  gives(asker, 10);
  takes(server, 10);
  next_window();
  gives(asker, 1);
  takes(server, 1);
  gives(server, 5);
  takes(asker, 5);
  ask(asker, server);
  close(asker);
  close(server);
}

// Two events are ready each time. Prints how many a call tells of.
static void events(void) {
  int epoll = epoll_create1(0);
  int ends[2][2];
  struct epoll_event told[8];
  for (int n = 0; n < 2; n++) {
    need(pipe(ends[n]) == 0, "pipe");
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = n};
    need(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[n][0], &event) == 0, "epoll_ctl");
    gives(ends[n][1], 1);
  }
  printf("told");
  for (int times = 0; times < 3; times++) {
    int count = epoll_wait(epoll, told, 8, -1);
    need(count > 0, "epoll_wait");
    printf(" %d", count);
    next_window();
    // What the thread was told of in the pause, it still does in the window.
    for (int n = 0; times == 1 && n < count; n++) takes(ends[told[n].data.u32][0], 1);
    if (times == 1)
      for (int n = 0; n < 2; n++) gives(ends[n][1], 1);
  }
  printf("\n");
}

// A connection is registered in a window, and another one in the pause after it. The next window begins with its event, asked for
// without waiting, at a place that is known from the first one.
static void registered(void) {
  int epoll = epoll_create1(0);
  volatile int times = 2;  // so that the loop is not unrolled
  for (int n = 0; n < times; n++) {
    if (n == 1) next_window();
    int asker, server;
    connection(&asker, &server);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = n};
    need(epoll_ctl(epoll, EPOLL_CTL_ADD, server, &event) == 0, "epoll_ctl");
    gives(asker, 1);
    if (n == 1) next_window();
    need(epoll_wait(epoll, &event, 1, 0) == 1, "epoll_wait");
    takes(server, 1);
    gives(server, 5);
  }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted, given;
static long slot, seen;

NOINLINE static void put(long value) {
  pthread_mutex_lock(&lock);
  slot = value;
  pthread_mutex_unlock(&lock);
}

NOINLINE static void take(void) {
  pthread_mutex_lock(&lock);
  long value = slot;
  slot = 0;
  pthread_mutex_unlock(&lock);
  if (value) seen += value;
}

static void *taker(void *unused) {
  for (;;) {
    sem_wait(&wanted);
    if (slot < 0) return 0;
    take();
    sem_post(&given);
  }
}

static void pass(long value) {
  put(value);
  sem_post(&wanted);
  sem_wait(&given);
}

// A value goes from thread to thread: ten times, then a hundred times in a pause, and ten times again. One value is put in the
// pause and taken in the window.
static void memory(void) {
  pthread_t thread;
  sem_init(&wanted, 0, 0);
  sem_init(&given, 0, 0);
  pthread_create(&thread, 0, taker, 0);
  for (int n = 1; n <= 10; n++) pass(n);
  next_window();
  for (int n = 1; n <= 100; n++) pass(n);
  put(1000);
  next_window();
  sem_post(&wanted);
  sem_wait(&given);
  for (int n = 1; n <= 10; n++) pass(n);
  slot = -1;
  sem_post(&wanted);
  pthread_join(thread, 0);
  printf("seen %ld\n", seen);
}

static void *waits(void *unused) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return 0;
}

// A wait in a pause, one that begins there, and one in a window.
static void locks(void) {
  for (int times = 0; times < 3; times++) {
    pthread_t thread;
    if (times < 2) next_window();
    pthread_mutex_lock(&lock);
    pthread_create(&thread, 0, waits, 0);
    while (*(volatile int *)&lock != 2) usleep(100);
    if (times == 1) next_window();
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    if (times == 0) next_window();
  }
}

int main(int count, char **arguments) {
  find_window();
  const char *way = arguments[1];
  if (!strcmp(way, "streams")) streams();
  if (!strcmp(way, "connection")) new_connection();
  if (!strcmp(way, "events")) events();
  if (!strcmp(way, "registered")) registered();
  if (!strcmp(way, "memory")) memory();
  if (!strcmp(way, "locks")) locks();
  return 3;
}
