/* Remote calls in random pieces, by all functions that send and receive.
 *
 *   chain links ROUNDS SEED FOLDER       clients ask through four programs in a row: by TCP, by one unix socket that all
 *                                        requests share, by pipes and by a pair of sockets. The functions that ask have a
 *                                        request's kind in their names, so that a context says itself whether it is right:
 *                                        ask_7 → relay_7 → note_7 → store_7.
 *   chain client KIND PLACE ROUNDS SEED  one that asks, and one that answers, whose messages are the same in each run
 *   chain server KIND PLACE ROUNDS SEED
 *   chain record KIND FROM TO FILE       passes on what comes from a client to a server and back, and writes it down
 *
 * KIND is tcp, unix or pipe; PLACE a port, a path, or a folder with two named pipes. Every message is compared with what it
 * must be; who finds another one ends with status 99. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { KINDS = 16, CLIENTS = 4, LONGEST = 1500 };

static void need(int ok, const char *what) {
  if (!ok) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    _exit(99);
  }
}

/* Pieces of messages: what a thread draws depends on what it receives when. */
static __thread unsigned pieces;

static unsigned next(unsigned *state) {
  *state = *state * 1103515245 + 12345;
  return *state >> 16 & 0x7fff;
}

static unsigned draw(unsigned below) { return next(&pieces) % below; }

struct end {
  int in, out, is_socket;
};

static __thread uint64_t reads, partial_reads;

struct message {
  uint32_t number, kind, length;
  unsigned char text[LONGEST];
};

enum { HEAD = 12 };

/* What a message of this number says, in each run. */
static void fill(struct message *message, unsigned seed, uint32_t number) {
  unsigned state = seed * 2654435761u + number;
  next(&state);
  message->number = number;
  message->kind = next(&state) % KINDS;
  message->length = next(&state) % LONGEST;
  for (uint32_t at = 0; at < message->length; at++) {
    message->text[at] = next(&state);
  }
}

static NOINLINE ssize_t send_some(struct end *end, const char *from, size_t count) {
  struct iovec parts[2] = {{(char *)from, count / 3}, {(char *)from + count / 3, count - count / 3}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  struct mmsghdr several = {.msg_hdr = message};
  switch (draw(end->is_socket ? 7 : 3)) {
    case 0: return write(end->out, from, count);
    case 1: return writev(end->out, parts, 2);
    case 2: return syscall(SYS_write, end->out, from, count);
    case 3: return send(end->out, from, count, MSG_NOSIGNAL);
    case 4: return sendto(end->out, from, count, 0, 0, 0);
    case 5: return sendmsg(end->out, &message, 0);
    default: return sendmmsg(end->out, &several, 1, 0) == 1 ? several.msg_len : -1;
  }
}

static NOINLINE ssize_t receive_some(struct end *end, char *to, size_t count) {
  struct iovec parts[3] = {{to, count / 5}, {to + count / 5, 0}, {to + count / 5, count - count / 5}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
  struct mmsghdr several = {.msg_hdr = message};
  if (end->is_socket && draw(8) == 0) {
    recv(end->in, to, count, MSG_PEEK);
  }
  switch (draw(end->is_socket ? 7 : 3)) {
    case 0: return read(end->in, to, count);
    case 1: return readv(end->in, parts, 3);
    case 2: return syscall(SYS_read, end->in, to, count);
    case 3: return recv(end->in, to, count, 0);
    case 4: return recvfrom(end->in, to, count, 0, 0, 0);
    case 5: return recvmsg(end->in, &message, 0);
    default: return recvmmsg(end->in, &several, 1, 0, 0) == 1 ? several.msg_len : -1;
  }
}

static void send_message(struct end *end, const struct message *message) {
  size_t all = HEAD + message->length;
  for (size_t done = 0; done < all;) {
    size_t piece = 1 + draw(draw(4) ? LONGEST : 20);
    ssize_t sent = send_some(end, (const char *)message + done, piece < all - done ? piece : all - done);
    need(sent > 0, "send");
    done += sent;
  }
}

/* Receives a message, or nothing when there is no further one. */
static int receive_message(struct end *end, struct message *message) {
  size_t all = HEAD;
  for (size_t done = 0; done < all;) {
    size_t piece = 1 + draw(draw(4) ? LONGEST : 20);
    ssize_t got = receive_some(end, (char *)message + done, piece < all - done ? piece : all - done);
    if (got == 0 && done == 0) {
      return 0;
    }
    need(got > 0, "receive");
    done += got;
    if (done == HEAD) {
      need(message->length < LONGEST, "length");
      all += message->length;
    }
    reads++;
    partial_reads += done < all;
  }
  return 1;
}

static void check(const struct message *message, unsigned seed, uint32_t number) {
  struct message expected;
  fill(&expected, seed, number);
  need(memcmp(message, &expected, HEAD + expected.length) == 0, "message");
}

/* An answer is the message of the next number. */
static NOINLINE void call(struct end *end, struct message *message, unsigned seed, uint32_t number) {
  fill(message, seed, number);
  send_message(end, message);
  need(receive_message(end, message), "answer");
  check(message, seed, number + 1);
}

typedef void caller(struct end *, struct message *, unsigned, uint32_t);

#define CALLER(verb, kind)                                                                                      \
  static NOINLINE void verb##_##kind(struct end *end, struct message *message, unsigned seed, uint32_t number) { \
    call(end, message, seed, number);                                                                           \
    __asm__ volatile("" ::: "memory");                                                                          \
  }
#define CALLERS(verb)                                                                                              \
  CALLER(verb, 0) CALLER(verb, 1) CALLER(verb, 2) CALLER(verb, 3) CALLER(verb, 4) CALLER(verb, 5) CALLER(verb, 6)   \
  CALLER(verb, 7) CALLER(verb, 8) CALLER(verb, 9) CALLER(verb, 10) CALLER(verb, 11) CALLER(verb, 12)               \
  CALLER(verb, 13) CALLER(verb, 14) CALLER(verb, 15)                                                               \
  static caller *const verb[KINDS] = {verb##_0,  verb##_1,  verb##_2,  verb##_3,  verb##_4,  verb##_5,             \
                                      verb##_6,  verb##_7,  verb##_8,  verb##_9,  verb##_10, verb##_11,            \
                                      verb##_12, verb##_13, verb##_14, verb##_15};
CALLERS(ask)
CALLERS(relay)
CALLERS(note)
CALLERS(store)

static unsigned the_seed;
static int rounds;

static void say_reads(const char *who) {
  printf("%s reads %lu partial %lu\n", who, reads, partial_reads);
  fflush(stdout);
}

/* Answers what comes by one end, after it has asked by the other one. */
static void serve(struct end *from, struct end *to, caller *const *verb, pthread_mutex_t *lock) {
  struct message message;
  while (receive_message(from, &message)) {
    uint32_t number = message.number;
    check(&message, the_seed, number);
    if (to) {
      caller *ask_next = verb[message.kind];
      if (lock) {
        pthread_mutex_lock(lock);
      }
      ask_next(to, &message, the_seed, number);
      if (lock) {
        pthread_mutex_unlock(lock);
      }
    }
    fill(&message, the_seed, number + 1);
    send_message(from, &message);
  }
}

/* Small pieces of a message do not wait for an answer. */
static struct end connection(int fd) {
  int yes = 1;
  need(fd >= 0, "connection");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return (struct end){fd, fd, 1};
}

static socklen_t address_of(const char *kind, const char *place, struct sockaddr_storage *address) {
  memset(address, 0, sizeof *address);
  if (!strcmp(kind, "tcp")) {
    struct sockaddr_in *inet = (struct sockaddr_in *)address;
    *inet = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(place)), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return sizeof *inet;
  }
  struct sockaddr_un *local = (struct sockaddr_un *)address;
  local->sun_family = AF_UNIX;
  snprintf(local->sun_path, sizeof local->sun_path, "%s", place);
  return sizeof *local;
}

static int listener(const char *kind, const char *place) {
  struct sockaddr_storage address;
  socklen_t length = address_of(kind, place, &address);
  int fd = socket(address.ss_family, SOCK_STREAM, 0), yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  need(bind(fd, (struct sockaddr *)&address, length) == 0, "bind");
  need(listen(fd, 64) == 0, "listen");
  return fd;
}

/* Connects as soon as somebody listens. */
static int connected(const char *kind, const char *place) {
  struct sockaddr_storage address;
  socklen_t length = address_of(kind, place, &address);
  for (int tries = 0; tries < 3000; tries++) {
    int fd = socket(address.ss_family, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, length) == 0) {
      return fd;
    }
    close(fd);
    usleep(10000);
  }
  return -1;
}

static int named_pipe(const char *folder, const char *name, int how) {
  char path[4000];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int fd = open(path, how);
  need(fd >= 0, path);
  return fd;
}

static struct end open_server(const char *kind, const char *place) {
  if (!strcmp(kind, "pipe")) {
    int in = named_pipe(place, "in", O_RDONLY);
    return (struct end){in, named_pipe(place, "out", O_WRONLY), 0};
  }
  int fd = listener(kind, place);
  struct end end = connection(accept(fd, 0, 0));
  close(fd);
  return end;
}

static struct end open_client(const char *kind, const char *place) {
  if (!strcmp(kind, "pipe")) {
    int out = named_pipe(place, "in", O_WRONLY);
    return (struct end){named_pipe(place, "out", O_RDONLY), out, 0};
  }
  return connection(connected(kind, place));
}

/* Copies what is there; 0 at the end. */
static int pump(int from, int to, FILE *file) {
  static char bytes[1 << 16];
  ssize_t got = read(from, bytes, sizeof bytes);
  need(got >= 0, "read");
  for (ssize_t done = 0; done < got;) {
    ssize_t sent = write(to, bytes + done, got - done);
    need(sent > 0, "write");
    done += sent;
  }
  need(fwrite(bytes, 1, got, file) == (size_t)got, "record");
  return got > 0;
}

static void record(const char *kind, const char *from, const char *to, const char *file) {
  char path[4000];
  FILE *files[2];
  for (int way = 0; way < 2; way++) {
    snprintf(path, sizeof path, "%s.%s", file, way ? "answers" : "requests");
    need((files[way] = fopen(path, "w")) != 0, path);
  }
  struct end client = open_server(kind, from), server = open_client(kind, to);
  struct end *ends[2][2] = {{&client, &server}, {&server, &client}};
  struct pollfd polled[2] = {{client.in, POLLIN, 0}, {server.in, POLLIN, 0}};
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    need(poll(polled, 2, -1) > 0, "poll");
    for (int way = 0; way < 2; way++) {
      if (!polled[way].revents || pump(ends[way][0]->in, ends[way][1]->out, files[way])) {
        continue;
      }
      polled[way].fd = -1;
      if (ends[way][1]->is_socket) {
        shutdown(ends[way][1]->out, SHUT_WR);
      } else {
        close(ends[way][1]->out);
      }
    }
  }
  need(fclose(files[0]) == 0 && fclose(files[1]) == 0, "record");
}

static void client(const char *kind, const char *place) {
  struct end end = open_client(kind, place);
  struct message message;
  for (int round = 0; round < rounds; round++) {
    call(&end, &message, the_seed, 2 * round);
  }
  close(end.out);
  say_reads("client");
}

static void server(const char *kind, const char *place) {
  struct end end = open_server(kind, place);
  serve(&end, 0, 0, 0);
  close(end.out);
  say_reads("server");
}

/* A child keeps nothing but its own ends, so that who waits for the end of a stream finds it. */
static pid_t child(const int *kept, int count) {
  fflush(stdout);
  pid_t pid = fork();
  need(pid >= 0, "fork");
  for (int fd = 3; pid == 0 && fd < 64; fd++) {
    int is_kept = 0;
    for (int at = 0; at < count; at++) {
      is_kept |= kept[at] == fd;
    }
    if (!is_kept) {
      close(fd);
    }
  }
  return pid;
}

static struct end to_relay;
static pthread_mutex_t relay_lock = PTHREAD_MUTEX_INITIALIZER;

static void *serve_connection(void *fd) {
  pieces = the_seed + (uintptr_t)fd;
  struct end end = connection((int)(uintptr_t)fd);
  serve(&end, &to_relay, relay, &relay_lock);
  close(end.in);
  say_reads("front");
  return 0;
}

static void serve_connections(int tcp) {
  pthread_t threads[CLIENTS];
  for (int n = 0; n < CLIENTS; n++) {
    int fd = accept(tcp, 0, 0);
    pthread_create(&threads[n], 0, serve_connection, (void *)(uintptr_t)fd);
  }
  for (int n = 0; n < CLIENTS; n++) {
    pthread_join(threads[n], 0);
  }
}

static int tcp_port;

static void *ask_all(void *number) {
  pieces = the_seed + 1000 + (uintptr_t)number;
  char place[20];
  snprintf(place, sizeof place, "%d", tcp_port);
  struct end end = connection(connected("tcp", place));
  struct message message;
  for (int round = (uintptr_t)number; round < rounds; round += CLIENTS) {
    struct message first;
    fill(&first, the_seed, 2 * round);
    ask[first.kind](&end, &message, the_seed, 2 * round);
  }
  close(end.in);
  say_reads("client");
  return 0;
}

static void say_kinds(void) {
  int counts[KINDS] = {0};
  struct message message;
  for (int round = 0; round < rounds; round++) {
    fill(&message, the_seed, 2 * round);
    counts[message.kind]++;
  }
  for (int kind = 0; kind < KINDS; kind++) {
    printf("kind %d %d\n", kind, counts[kind]);
  }
}

static void links(const char *folder) {
  int pair[2], down[2], up[2];
  char path[4000];
  snprintf(path, sizeof path, "%s/chain.sock", folder);
  need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && pipe(down) == 0 && pipe(up) == 0, "pipe");
  int tcp = listener("tcp", "0"), local = listener("unix", path);
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  need(getsockname(tcp, (struct sockaddr *)&address, &length) == 0, "getsockname");
  tcp_port = ntohs(address.sin_port);
  if (child((int[]){pair[1]}, 1) == 0) {
    struct end end = {pair[1], pair[1], 1};
    serve(&end, 0, 0, 0);
    say_reads("store");
    exit(0);
  }
  if (child((int[]){pair[0], down[0], up[1]}, 3) == 0) {
    struct end from = {down[0], up[1], 0}, to = {pair[0], pair[0], 1};
    serve(&from, &to, store, 0);
    say_reads("notes");
    exit(0);
  }
  if (child((int[]){local, down[1], up[0]}, 3) == 0) {
    struct end from = connection(accept(local, 0, 0)), to = {up[0], down[1], 0};
    serve(&from, &to, note, 0);
    say_reads("relay");
    exit(0);
  }
  if (child((int[]){tcp}, 1) == 0) {
    to_relay = connection(connected("unix", path));
    serve_connections(tcp);
    exit(0);
  }
  int rest[] = {pair[0], pair[1], down[0], down[1], up[0], up[1], tcp, local};
  for (unsigned at = 0; at < sizeof rest / sizeof *rest; at++) {
    close(rest[at]);
  }
  pthread_t threads[CLIENTS];
  for (uintptr_t n = 0; n < CLIENTS; n++) {
    pthread_create(&threads[n], 0, ask_all, (void *)n);
  }
  for (int n = 0; n < CLIENTS; n++) {
    pthread_join(threads[n], 0);
  }
  for (int n = 0; n < 4; n++) {
    int status;
    need(wait(&status) > 0 && status == 0, "child");
  }
  say_kinds();
}

int main(int argc, char **argv) {
  need(argc >= 5, "arguments");
  if (!strcmp(argv[1], "links")) {
    rounds = atoi(argv[2]);
    the_seed = atoi(argv[3]);
    links(argv[4]);
  } else if (!strcmp(argv[1], "record")) {
    need(argc == 6, "arguments");
    record(argv[2], argv[3], argv[4], argv[5]);
  } else {
    need(argc == 6, "arguments");
    rounds = atoi(argv[4]);
    the_seed = atoi(argv[5]);
    int is_client = !strcmp(argv[1], "client");
    pieces = the_seed + is_client;
    (is_client ? client : server)(argv[2], argv[3]);
  }
  return 0;
}
