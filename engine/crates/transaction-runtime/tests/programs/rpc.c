/* Two processes that call each other through a connection, in random pieces, by all functions that there are; and everything
 * else that happens to streams. Each process writes down what it did: `send OFFSET LENGTH`, `receive OFFSET LENGTH HEAD`. */
#include "common.h"

static FILE *said;
static unsigned seed;

static unsigned draw(unsigned below) {
  seed = seed * 1103515245 + 12345;
  return (seed >> 16 & 0x7fff) % below;
}

struct end {
  int in, out, is_socket;
  uint64_t sent, received;
  /* Bytes since the last send. */
  uint64_t heard;
};

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
  if (end->is_socket && draw(4) == 0) {
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

static void say_received(struct end *end, const char *bytes, ssize_t count) {
  fprintf(said, "receive %lu %zd ", end->received, count);
  for (ssize_t at = 0; at < count && end->heard + at < 64; at++) {
    fprintf(said, "%02x", (unsigned char)bytes[at]);
  }
  fputs("\n", said);
  end->heard += count;
  end->received += count;
}

static void send_all(struct end *end, const char *bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    size_t piece = 1 + draw(3000);
    ssize_t result = send_some(end, bytes + done, piece < count - done ? piece : count - done);
    need(result > 0, "send");
    fprintf(said, "send %lu %zd\n", end->sent, result);
    if (end->is_socket) {
      end->heard = 0;
    }
    end->sent += result;
    done += result;
  }
}

static void receive_all(struct end *end, char *bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    size_t piece = 1 + draw(3000);
    ssize_t result = receive_some(end, bytes + done, piece < count - done ? piece : count - done);
    need(result > 0, "receive");
    say_received(end, bytes + done, result);
    done += result;
  }
}

struct message {
  uint32_t number, length;
  char text[6000];
};

static void fill(struct message *message, uint32_t number) {
  message->number = number;
  message->length = draw(sizeof message->text);
  memset(message->text, number * 7 + 1, message->length);
}

static void check(struct message *message, uint32_t number) {
  need(message->number == number, "number");
  for (uint32_t at = 0; at < message->length; at++) {
    need(message->text[at] == (char)(number * 7 + 1), "text");
  }
}

static void receive_message(struct end *end, struct message *message) {
  receive_all(end, (char *)message, 8);
  receive_all(end, message->text, message->length);
}

static void client(struct end *end, int rounds) {
  static struct message message;
  for (int round = 0; round < rounds; round++) {
    fill(&message, round);
    send_all(end, (char *)&message, 8 + message.length);
    receive_message(end, &message);
    check(&message, round + 1);
  }
}

static void server(struct end *end, int rounds) {
  static struct message message;
  for (int round = 0; round < rounds; round++) {
    receive_message(end, &message);
    check(&message, round);
    fill(&message, round + 1);
    send_all(end, (char *)&message, 8 + message.length);
  }
  char byte;
  ssize_t none = read(end->in, &byte, 1);
  need(none == 0, "end");
  say_received(end, &byte, 0);
}

static void say_in(const char *folder, const char *who) {
  char path[1000];
  snprintf(path, sizeof path, "%s/%s.txt", folder, who);
  said = fopen(path, "w");
  need(said != 0, path);
}

static int listening(const char *kind, struct sockaddr *address, socklen_t *length) {
  int fd = socket(address->sa_family, SOCK_STREAM, 0);
  need(bind(fd, address, *length) == 0, "bind");
  need(listen(fd, 5) == 0, "listen");
  need(getsockname(fd, address, length) == 0, "getsockname");
  return fd;
}

/* Small pieces of a message do not wait for an answer. */
static void at_once(int fd) {
  int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

static void connections(const char *kind, const char *folder, int rounds) {
  struct end server_end = {.is_socket = 1}, client_end = server_end;
  struct sockaddr_in inet = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  struct sockaddr_in6 inet6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  struct sockaddr_un local = {.sun_family = AF_UNIX};
  struct sockaddr *address = (struct sockaddr *)&inet;
  socklen_t length = sizeof inet;
  int pipes[2][2], pair[2], listener = -1;
  if (!strcmp(kind, "tcp6")) {
    address = (struct sockaddr *)&inet6;
    length = sizeof inet6;
  } else if (!strcmp(kind, "unix")) {
    snprintf(local.sun_path, sizeof local.sun_path, "%s/socket", folder);
    address = (struct sockaddr *)&local;
    length = sizeof local;
  }
  int is_pipe = !strcmp(kind, "pipe"), is_pair = !strcmp(kind, "pair");
  if (is_pipe) {
    need(pipe(pipes[0]) == 0 && pipe2(pipes[1], O_CLOEXEC) == 0, "pipe");
  } else if (is_pair) {
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
  } else {
    listener = listening(kind, address, &length);
  }
  pid_t child = fork();
  if (child == 0) {
    say_in(folder, "server");
    seed = 2;
    if (is_pipe) {
      close(pipes[0][1]);
      close(pipes[1][0]);
      server_end = (struct end){.in = pipes[0][0], .out = pipes[1][1]};
    } else {
      if (is_pair) {
        close(pair[0]);
      }
      int fd = is_pair ? pair[1] : accept(listener, 0, 0);
      need(fd >= 0, "accept");
      at_once(fd);
      server_end.in = server_end.out = fd;
    }
    server(&server_end, rounds);
    fclose(said);
    exit(0);
  }
  say_in(folder, "client");
  seed = 1;
  if (is_pipe) {
    close(pipes[0][0]);
    close(pipes[1][1]);
    client_end = (struct end){.in = pipes[1][0], .out = pipes[0][1]};
  } else if (is_pair) {
    close(pair[1]);
    client_end.in = client_end.out = pair[0];
  } else {
    int fd = socket(address->sa_family, SOCK_STREAM, 0);
    need(connect(fd, address, length) == 0, "connect");
    at_once(fd);
    client_end.in = client_end.out = fd;
  }
  client(&client_end, rounds);
  close(client_end.in);
  close(client_end.out);
  int status;
  need(waitpid(child, &status, 0) == child && status == 0, "server");
  fclose(said);
  printf("server %d\n", child);
}

/* What moves bytes without the program's seeing them. */
static void moves(const char *folder) {
  char path[1000], bytes[1000];
  snprintf(path, sizeof path, "%s/file", folder);
  int file = open(path, O_RDWR | O_CREAT, 0600), pair[2], first[2], second[2];
  need(write(file, bytes, sizeof bytes) == sizeof bytes, "write");
  lseek(file, 0, SEEK_SET);
  need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
  need(pipe(first) == 0 && pipe(second) == 0, "pipe");
  printf("sendfile %zd\n", sendfile(pair[0], file, 0, 700));
  printf("splice in %zd\n", splice(pair[1], 0, first[1], 0, 600, 0));
  printf("tee %zd\n", tee(first[0], second[1], 500, 0));
  printf("splice out %zd\n", splice(first[0], 0, pair[1], 0, 550, 0));
  printf("rest %zd\n", read(pair[0], bytes, sizeof bytes));
  printf("second %zd\n", read(second[0], bytes, sizeof bytes));
  struct iovec part = {bytes, 300};
  printf("vmsplice %zd\n", vmsplice(second[1], &part, 1, 0));
  printf("taken %zd\n", vmsplice(second[0], &part, 1, 0));
}

/* Copies, passed descriptors, numbers that are used again, closes in all ways. */
static void descriptors(const char *folder) {
  char byte = 'x';
  int pair[2], other[2];
  need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
  int copy = dup(pair[0]), high = fcntl(pair[0], F_DUPFD, 100);
  need(dup2(pair[0], 50) == 50, "dup2");
  write(pair[0], &byte, 1);
  write(copy, &byte, 1);
  write(high, &byte, 1);
  write(50, &byte, 1);
  close(pair[0]);
  close(copy);
  write(50, &byte, 1);
  close_range(50, 100, 0);
  /* The number is another stream's now. */
  need(pipe(other) == 0 && other[0] == pair[0], "pipe");
  write(other[1], &byte, 1);
  read(other[0], &byte, 1);
  /* A descriptor goes through a socket to this process itself. */
  int ways[2];
  need(socketpair(AF_UNIX, SOCK_STREAM, 0, ways) == 0, "socketpair");
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control = {0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &other[1], sizeof(int));
  need(sendmsg(ways[0], &message, 0) == 1, "sendmsg");
  need(recvmsg(ways[1], &message, 0) == 1, "recvmsg");
  int passed;
  memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof passed);
  write(passed, &byte, 1);
  /* Closed by stdio; the number becomes a file's. */
  FILE *stream = fdopen(ways[0], "r+");
  fclose(stream);
  char path[1000];
  snprintf(path, sizeof path, "%s/file", folder);
  int file = open(path, O_RDWR | O_CREAT, 0600);
  need(file == ways[0], "the same number");
  write(file, &byte, 1);
  closefrom(3);
  puts("done");
}

/* Descriptors that are none of the program's: it must not notice ours. */
static void hidden(void) {
  int open_ones = 0;
  for (int fd = 3; fd < 5000; fd++) {
    struct stat status;
    open_ones += fstat(fd, &status) == 0 || fcntl(fd, F_GETFD) >= 0 || dup(fd) >= 0 || close(fd) == 0;
  }
  int first = open("/dev/null", O_RDONLY);
  printf("open %d, first %d\n", open_ones, first);
}

static volatile int handled;
static int self[2];

/* Writes whatever is interrupted. */
static void on_signal(int unused) {
  char byte = 's';
  handled += write(self[1], &byte, 1) == 1;
}

static void signals(void) {
  need(pipe(self) == 0, "pipe");
  fcntl(self[0], F_SETPIPE_SZ, 1 << 20);
  int pair[2];
  need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, 0);
  struct itimerval fast = {{0, 100}, {0, 100}}, none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &fast, 0);
  uint64_t bytes = 0;
  char byte = 'x';
  while (handled < 2000) {
    bytes += write(pair[0], &byte, 1);
    read(pair[1], &byte, 1);
  }
  setitimer(ITIMER_REAL, &none, 0);
  static char room[1 << 20];
  ssize_t all = read(self[0], room, sizeof room);
  printf("handled %d read %zd other %lu\n", handled, all, bytes);
}

static uint64_t storm_bytes, storm_streams;

/* Descriptors come and go in many threads, under each other's numbers. */
static void *storms(void *number) {
  char bytes[100] = {0};
  unsigned own = (uintptr_t)number + 1;
  for (int round = 0; round < 400; round++) {
    own = own * 1103515245 + 12345;
    unsigned count = 1 + (own >> 16) % sizeof bytes;
    int ends[2];
    if (round % 2) {
      need(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    } else {
      need(pipe(ends) == 0, "pipe");
    }
    int copy = dup(ends[1]);
    need(write(ends[1], bytes, count) == count, "write");
    close(ends[1]);
    need(write(copy, bytes, 1) == 1, "write");
    close(copy);
    for (unsigned got = 0; got < count + 1;) {
      ssize_t more = read(ends[0], bytes, sizeof bytes);
      need(more > 0, "read");
      got += more;
    }
    close(ends[0]);
    __atomic_fetch_add(&storm_bytes, count + 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&storm_streams, 1 + round % 2, __ATOMIC_RELAXED);
  }
  return 0;
}

static void storm(void) {
  pthread_t threads[8];
  for (uintptr_t at = 0; at < 8; at++) {
    pthread_create(&threads[at], 0, storms, (void *)at);
  }
  for (int at = 0; at < 8; at++) {
    pthread_join(threads[at], 0);
  }
  printf("bytes %lu streams %lu\n", storm_bytes, storm_streams);
}

int main(int argc, char **argv) {
  const char *what = argv[1];
  if (!strcmp(what, "moves")) {
    moves(argv[2]);
  } else if (!strcmp(what, "descriptors")) {
    descriptors(argv[2]);
  } else if (!strcmp(what, "hidden")) {
    hidden();
  } else if (!strcmp(what, "storm")) {
    storm();
  } else if (!strcmp(what, "signals")) {
    signals();
  } else {
    connections(what, argv[2], atoi(argv[3]));
  }
  return 0;
}
