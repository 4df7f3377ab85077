/* Locks that one thread holds while another one waits, each once: `NAME LOCK HOLDER WAITER`. */
#include "common.h"
#include <linux/futex.h>
#include <threads.h>

static pid_t waiter_id;
static void (*wait_now)(void);

static pid_t own_id(void) { return syscall(SYS_gettid); }

static void *waiter(void *unused) {
  __atomic_store_n(&waiter_id, own_id(), __ATOMIC_SEQ_CST);
  wait_now();
  return 0;
}

/* Waits until the other thread sleeps: in what it was to do. */
static void until_it_sleeps(void) {
  pid_t id;
  while ((id = __atomic_load_n(&waiter_id, __ATOMIC_SEQ_CST)) == 0) {
    sched_yield();
  }
  char path[100], text[1000];
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", id);
  for (;;) {
    int fd = open(path, O_RDONLY);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    close(fd);
    if (length > 0) {
      text[length] = 0;
      if (atoi(text) == SYS_futex && text[0] != 'r') {
        return;
      }
    }
    usleep(100);
  }
}

/* Runs one case: this thread holds, the other one waits. */
static void held(const char *name, void *lock, void (*hold)(void), void (*wait)(void), void (*give)(void)) {
  pthread_t thread;
  waiter_id = 0;
  wait_now = wait;
  hold();
  need(pthread_create(&thread, 0, waiter, 0) == 0, "pthread_create");
  until_it_sleeps();
  give();
  need(pthread_join(thread, 0) == 0, "pthread_join");
  printf("%s %p %d %d\n", name, lock, own_id(), waiter_id);
}

static void nothing(void) {}

static pthread_mutex_t mutex;
static void lock_mutex(void) {
  int result = pthread_mutex_lock(&mutex);
  need(result == 0 || result == EOWNERDEAD, "lock");
}
static void give_mutex(void) { need(pthread_mutex_unlock(&mutex) == 0, "unlock"); }
static void pass_mutex(void) {
  lock_mutex();
  give_mutex();
}

static void mutexes(void) {
  struct {
    const char *name;
    int type, robust, protocol;
  } kinds[] = {
      {"normal", PTHREAD_MUTEX_NORMAL, 0, 0},       {"recursive", PTHREAD_MUTEX_RECURSIVE, 0, 0},
      {"checked", PTHREAD_MUTEX_ERRORCHECK, 0, 0},  {"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0},
      {"robust", PTHREAD_MUTEX_NORMAL, 1, 0},       {"inheriting", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT},
  };
  for (unsigned at = 0; at < sizeof kinds / sizeof *kinds; at++) {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, kinds[at].type);
    pthread_mutexattr_setrobust(&how, kinds[at].robust);
    pthread_mutexattr_setprotocol(&how, kinds[at].protocol);
    need(pthread_mutex_init(&mutex, &how) == 0, "pthread_mutex_init");
    /* Not contended: nothing to tell. */
    for (int round = 0; round < 1000; round++) {
      pass_mutex();
    }
    held(kinds[at].name, &mutex, lock_mutex, pass_mutex, give_mutex);
    pthread_mutex_destroy(&mutex);
  }
}

/* A place at which so many locks were taken that nobody looks any more. */
static pthread_mutex_t often = PTHREAD_MUTEX_INITIALIZER, late_one = PTHREAD_MUTEX_INITIALIZER;
static void lock_late(void) { need(pthread_mutex_lock(&late_one) == 0, "lock"); }
static void give_late(void) { need(pthread_mutex_unlock(&late_one) == 0, "unlock"); }
NOINLINE static void pass(pthread_mutex_t *which) {
  need(pthread_mutex_lock(which) == 0, "lock");
  need(pthread_mutex_unlock(which) == 0, "unlock");
}
static void pass_often(void) {
  for (int round = 0; round < 4000; round++) {
    pass(&often);
  }
  pass(&late_one);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static void lock_read(void) { need(pthread_rwlock_rdlock(&rwlock) == 0, "rdlock"); }
static void lock_write(void) { need(pthread_rwlock_wrlock(&rwlock) == 0, "wrlock"); }
static void give_rwlock(void) { need(pthread_rwlock_unlock(&rwlock) == 0, "unlock"); }
static void pass_read(void) {
  lock_read();
  give_rwlock();
}
static void pass_write(void) {
  lock_write();
  give_rwlock();
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static void await(void) {
  pthread_mutex_lock(&guard);
  while (!ready) {
    pthread_cond_wait(&condition, &guard);
  }
  pthread_mutex_unlock(&guard);
}
static void unready(void) { ready = 0; }
/* The signal comes when the mutex is free again, so that the waiter waits for the condition alone. */
static void signal_one(void) {
  pthread_mutex_lock(&guard);
  ready = 1;
  pthread_mutex_unlock(&guard);
  pthread_cond_signal(&condition);
}
static void signal_all(void) {
  pthread_mutex_lock(&guard);
  ready = 1;
  pthread_mutex_unlock(&guard);
  pthread_cond_broadcast(&condition);
}

static sem_t semaphore;
static void draw(void) { need(sem_wait(&semaphore) == 0, "sem_wait"); }
static void post(void) { need(sem_post(&semaphore) == 0, "sem_post"); }

static uint32_t word;
static void futex_wait(void) { need(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0) == 0, "futex"); }
static void futex_wake(void) { need(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0) == 1, "futex"); }

static mtx_t simple;
static void lock_simple(void) { need(mtx_lock(&simple) == thrd_success, "mtx_lock"); }
static void give_simple(void) { need(mtx_unlock(&simple) == thrd_success, "mtx_unlock"); }
static void pass_simple(void) {
  lock_simple();
  give_simple();
}

static void waits(void) {
  mutexes();
  held("often", &late_one, lock_late, pass_often, give_late);
  held("write-read", &rwlock, lock_write, pass_read, give_rwlock);
  held("write-write", &rwlock, lock_write, pass_write, give_rwlock);
  held("read-write", &rwlock, lock_read, pass_write, give_rwlock);
  held("signal", &condition, unready, await, signal_one);
  held("broadcast", &condition, unready, await, signal_all);
  held("semaphore", &semaphore, nothing, draw, post);
  held("futex", &word, nothing, futex_wait, futex_wake);
  mtx_init(&simple, mtx_plain);
  held("c11", &simple, lock_simple, pass_simple, give_simple);
}

static void late(void) {
  struct timespec past = {1, 0};
  printf("%d ", pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT);
  printf("%d ", pthread_rwlock_timedrdlock(&rwlock, &past) == ETIMEDOUT);
  printf("%d ", sem_timedwait(&semaphore, &past) < 0 && errno == ETIMEDOUT);
  pthread_mutex_lock(&guard);
  printf("%d\n", pthread_cond_timedwait(&condition, &guard, &past) == ETIMEDOUT);
  pthread_mutex_unlock(&guard);
}

static void *late_thread(void *unused) {
  late();
  return unused;
}

/* Errors are those of the locks themselves, and tell nothing. */
static void errors(void) {
  pthread_mutexattr_t how;
  pthread_mutexattr_init(&how);
  pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &how);
  lock_mutex();
  printf("%d ", pthread_mutex_lock(&mutex) == EDEADLK);
  give_mutex();
  printf("%d ", pthread_mutex_unlock(&mutex) == EPERM);
  lock_write();
  printf("%d ", pthread_rwlock_rdlock(&rwlock) == EDEADLK);
  give_rwlock();
  errno = 0;
  printf("%d ", syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, 0, 0, 0) < 0 && errno == EAGAIN);
  errno = 77;
  sem_init(&semaphore, 0, 1);
  draw();
  printf("%d\n", errno == 77);
}

int main(int argc, char **argv) {
  const char *what = argv[1];
  if (!strcmp(what, "waits")) {
    waits();
  } else if (!strcmp(what, "late")) {
    pthread_t thread;
    lock_mutex();
    lock_write();
    pthread_create(&thread, 0, late_thread, 0);
    pthread_join(thread, 0);
    printf("locks %p %p %p %p\n", &mutex, &rwlock, &semaphore, &condition);
  } else if (!strcmp(what, "errors")) {
    errors();
  }
  return 0;
}
