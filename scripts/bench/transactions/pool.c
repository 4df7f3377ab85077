/* A server that hands each request to a pool of threads and waits for the result, as executors with futures do; the pool asks
 * another server about it. Both are processes of this program.
 *
 *   pool PORT POOL   listens at PORT, with POOL threads in the pool; the server behind it takes any port
 *
 * GET /work/<letter> is answered by what GET /item/<letter> at the server behind it says. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

struct task {
  char letter, answer;
  int is_done;
  pthread_mutex_t lock;
  pthread_cond_t done;
  struct task *next;
};

static struct task *first, **last = &first;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static struct sockaddr_in behind;

static void need(int ok, const char *what) {
  if (!ok) {
    perror(what);
    exit(99);
  }
}

static int nodelay(int fd) {
  int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

static int listener(int port, struct sockaddr_in *address) {
  *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof *address;
  int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  need(bind(fd, (struct sockaddr *)address, length) == 0, "bind");
  need(listen(fd, 512) == 0, "listen");
  getsockname(fd, (struct sockaddr *)address, &length);
  return fd;
}

/* Receives up to the empty line, and what follows by the given number of bytes; 0 when there is no more. */
static int receive_all(int fd, char *text, size_t room, size_t body) {
  size_t got = 0;
  for (;;) {
    ssize_t more = recv(fd, text + got, room - 1 - got, 0);
    if (more <= 0) {
      return 0;
    }
    got += more;
    text[got] = 0;
    char *end = strstr(text, "\r\n\r\n");
    if (end && got >= end + 4 + body - text) {
      return 1;
    }
  }
}

static NOINLINE void submit(struct task *task) {
  pthread_mutex_lock(&queue_lock);
  task->next = 0;
  *last = task;
  last = &task->next;
  pthread_cond_signal(&not_empty);
  pthread_mutex_unlock(&queue_lock);
}

static NOINLINE struct task *take(void) {
  pthread_mutex_lock(&queue_lock);
  while (!first) {
    pthread_cond_wait(&not_empty, &queue_lock);
  }
  struct task *task = first;
  first = task->next;
  if (!first) {
    last = &first;
  }
  pthread_mutex_unlock(&queue_lock);
  return task;
}

static NOINLINE void complete(struct task *task, char answer) {
  pthread_mutex_lock(&task->lock);
  task->answer = answer;
  task->is_done = 1;
  pthread_cond_signal(&task->done);
  pthread_mutex_unlock(&task->lock);
}

static NOINLINE char result_of(struct task *task) {
  pthread_mutex_lock(&task->lock);
  while (!task->is_done) {
    pthread_cond_wait(&task->done, &task->lock);
  }
  char answer = task->answer;
  pthread_mutex_unlock(&task->lock);
  return answer;
}

static NOINLINE char ask_behind(int fd, char letter) {
  char text[1000];
  int length = snprintf(text, sizeof text, "GET /item/%c HTTP/1.1\r\nHost: item\r\n\r\n", letter);
  need(send(fd, text, length, MSG_NOSIGNAL) == length, "ask");
  need(receive_all(fd, text, sizeof text, 1), "answer");
  return strstr(text, "\r\n\r\n")[4];
}

static void *work(void *unused) {
  prctl(PR_SET_NAME, "pool");
  int fd = nodelay(socket(AF_INET, SOCK_STREAM, 0));
  need(connect(fd, (struct sockaddr *)&behind, sizeof behind) == 0, "connect");
  for (;;) {
    struct task *task = take();
    complete(task, ask_behind(fd, task->letter));
  }
}

static void answer(int fd, char what) {
  char text[200];
  int length = snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%c", what);
  send(fd, text, length, MSG_NOSIGNAL);
}

static void *serve(void *argument) {
  int fd = nodelay((int)(long)argument);
  char text[4000];
  while (receive_all(fd, text, sizeof text, 0)) {
    struct task *task = malloc(sizeof *task);
    *task = (struct task){.letter = text[strlen("GET /work/")],
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .done = PTHREAD_COND_INITIALIZER};
    submit(task);
    answer(fd, result_of(task));
    free(task);
  }
  close(fd);
  return 0;
}

static void *serve_behind(void *argument) {
  int fd = nodelay((int)(long)argument);
  char text[4000];
  while (receive_all(fd, text, sizeof text, 0)) {
    answer(fd, text[strlen("GET /item/")]);
  }
  close(fd);
  return 0;
}

static void accept_all(int fd, void *(*serve)(void *)) {
  for (;;) {
    int connection = accept(fd, 0, 0);
    need(connection >= 0, "accept");
    pthread_t thread;
    need(pthread_create(&thread, 0, serve, (void *)(long)connection) == 0, "thread");
    pthread_detach(thread);
  }
}

int main(int argc, char **argv) {
  need(argc == 3, "arguments");
  int other = listener(0, &behind);
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    accept_all(other, serve_behind);
  }
  close(other);
  struct sockaddr_in address;
  int fd = listener(atoi(argv[1]), &address);
  for (int n = 0; n < atoi(argv[2]); n++) {
    pthread_t thread;
    need(pthread_create(&thread, 0, work, 0) == 0, "thread");
  }
  accept_all(fd, serve);
}
