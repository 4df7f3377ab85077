/* Threads, forks and programs, each in a way of its own; says what it did. */
#include "common.h"
#include <dlfcn.h>

static void *runs(void *name) {
  pthread_setname_np(pthread_self(), name);
  return name;
}

static void *leaves(void *unused) {
  pthread_exit(unused);
}

static void threads(void) {
  pthread_t ids[3];
  need(pthread_create(&ids[0], 0, runs, "first") == 0, "pthread_create");
  pthread_join(ids[0], 0);
  need(pthread_create(&ids[1], 0, runs, "second") == 0, "pthread_create");
  pthread_join(ids[1], 0);
  need(pthread_create(&ids[2], 0, leaves, 0) == 0, "pthread_create");
  pthread_join(ids[2], 0);
}

static void *forks(void *unused) {
  pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  printf("fork %d\n", child);
  waitpid(child, 0, 0);
  return unused;
}

/* The path of the fork: what called what. */
static NOINLINE pid_t inner(void) {
  printf("path %p %p", (void *)inner, __builtin_return_address(0));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  asm volatile("" ::: "memory");
  return child;
}

static NOINLINE pid_t middle(int room) {
  /* A frame of a size that is known only now. */
  char *space = __builtin_alloca(room);
  memset(space, 1, room);
  asm volatile("" ::"r"(space) : "memory");
  pid_t child = inner();
  printf(" %p\n", __builtin_return_address(0));
  waitpid(child, 0, 0);
  return child;
}

static NOINLINE void outer(int room) {
  middle(room);
  asm volatile("" ::: "memory");
}

static volatile int rounds = 3;

static NOINLINE void paths(void) {
  for (int round = 0; round < rounds; round++) {
    outer(100);
  }
  /* The same stack, but another return address. */
  outer(100);
  outer(2000);
}

/* Through a library that comes later. */
static void plugin(const char *library) {
  void *loaded = dlopen(library, RTLD_NOW);
  need(loaded != 0, library);
  pid_t (*through)(pid_t (*)(void)) = dlsym(loaded, "through");
  for (int round = 0; round < rounds; round++) {
    waitpid(through(inner), 0, 0);
    printf("\n");
  }
  /* Until the engine has answered. */
  for (;;) {
    waitpid(through(inner), 0, 0);
    printf("\n");
    fflush(stdout);
    char byte;
    if (read(0, &byte, 1) != 1 || byte == 'q') {
      return;
    }
  }
}

static void programs(char *self) {
  pid_t child = fork();
  if (child == 0) {
    execl(self, self, "exit", "3", (char *)0);
    _exit(98);
  }
  int status;
  waitpid(child, &status, 0);
  printf("executed %d %d\n", child, WEXITSTATUS(status));
  child = vfork();
  if (child == 0) {
    close(0);
    execl("/nowhere", "/nowhere", (char *)0);
    execl(self, self, "exit", "4", (char *)0);
    _exit(98);
  }
  waitpid(child, &status, 0);
  printf("vforked %d %d\n", child, WEXITSTATUS(status));
  child = vfork();
  if (child == 0) {
    _exit(5);
  }
  waitpid(child, &status, 0);
  printf("ended %d %d\n", child, WEXITSTATUS(status));
}

static void raw(void) {
  /* A child that nobody announces. */
  pid_t child = syscall(SYS_fork);
  if (child == 0) {
    pid_t second = fork();
    if (second == 0) {
      _exit(0);
    }
    waitpid(second, 0, 0);
    _exit(7);
  }
  int status;
  waitpid(child, &status, 0);
  printf("raw %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv) {
  const char *what = argv[1];
  if (!strcmp(what, "threads")) {
    threads();
  } else if (!strcmp(what, "forks")) {
    pthread_t id;
    pthread_create(&id, 0, forks, 0);
    pthread_join(id, 0);
  } else if (!strcmp(what, "paths")) {
    paths();
  } else if (!strcmp(what, "plugin")) {
    plugin(argv[2]);
  } else if (!strcmp(what, "programs")) {
    programs(argv[0]);
  } else if (!strcmp(what, "raw")) {
    raw();
  } else if (!strcmp(what, "exit")) {
    exit(atoi(argv[2]));
  } else if (!strcmp(what, "quick")) {
    quick_exit(atoi(argv[2]));
  } else if (!strcmp(what, "at once")) {
    _exit(atoi(argv[2]));
  } else if (!strcmp(what, "abort")) {
    abort();
  } else if (!strcmp(what, "fill")) {
    for (int count = 0; count < 2000; count++) {
      pthread_t id;
      need(pthread_create(&id, 0, runs, "many") == 0, "pthread_create");
      pthread_join(id, 0);
    }
    puts("filled");
  }
  return 0;
}
