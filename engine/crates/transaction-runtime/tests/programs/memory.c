// What flows through shared memory, and what does not. Each way prints what it did itself.
#include "common.h"

enum { WORKERS = 4, ROOM = 8, MOST = 20000 };

struct request {
  int id;
  struct request *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static int requests;
// The first request was taken: from then on, what happens at these locks is looked at.
static sem_t first_taken;

static int done[WORKERS][MOST];
static int done_count[WORKERS];
static pid_t tids[WORKERS];

static void work_on(int worker, const struct request *request) {
  if (request->id == 0) sem_post(&first_taken);
  done[worker][done_count[worker]++] = request->id;
}

static void say(void) {
  for (int worker = 0; worker < WORKERS; worker++) {
    printf("worker %d", tids[worker]);
    for (int n = 0; n < done_count[worker]; n++) printf(" %d", done[worker][n]);
    printf("\n");
  }
}

static struct request *new_request(int id) {
  struct request *request = malloc(sizeof *request);
  request->id = id;
  request->next = 0;
  return request;
}

// A linked queue without end.
static struct request *head, **tail = &head;

NOINLINE static void push(struct request *request) {
  pthread_mutex_lock(&lock);
  *tail = request;
  tail = &request->next;
  pthread_cond_signal(&not_empty);
  pthread_mutex_unlock(&lock);
}

NOINLINE static struct request *pop(void) {
  pthread_mutex_lock(&lock);
  while (!head) pthread_cond_wait(&not_empty, &lock);
  struct request *request = head;
  head = request->next;
  if (!head) tail = &head;
  pthread_mutex_unlock(&lock);
  return request;
}

static void *queue_worker(void *number) {
  int worker = (int)(long)number;
  tids[worker] = gettid();
  for (;;) {
    struct request *request = pop();
    int last = request->id < 0;
    if (!last) work_on(worker, request);
    free(request);
    if (last) return 0;
  }
}

static void queue(void) {
  pthread_t threads[WORKERS];
  for (long n = 0; n < WORKERS; n++) pthread_create(&threads[n], 0, queue_worker, (void *)n);
  for (int id = 0; id < requests; id++) {
    push(new_request(id));
    if (id == 0) sem_wait(&first_taken);
  }
  for (int n = 0; n < WORKERS; n++) push(new_request(-1));
  for (int n = 0; n < WORKERS; n++) pthread_join(threads[n], 0);
  say();
}

// The same, with requests that are used again, as in memcached: workers give them back, and the main thread fills them anew.
static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
static struct request *free_requests;
static sem_t room;

NOINLINE static struct request *take_free(void) {
  pthread_mutex_lock(&free_lock);
  struct request *request = free_requests;
  if (request) free_requests = request->next;
  pthread_mutex_unlock(&free_lock);
  return request;
}

NOINLINE static void recycle(struct request *request) {
  pthread_mutex_lock(&free_lock);
  request->next = free_requests;
  free_requests = request;
  pthread_mutex_unlock(&free_lock);
}

static void *recycling_worker(void *number) {
  int worker = (int)(long)number;
  tids[worker] = gettid();
  for (;;) {
    struct request *request = pop();
    if (request->id < 0) return 0;
    work_on(worker, request);
    recycle(request);
    sem_post(&room);
  }
}

static void recycled(void) {
  pthread_t threads[WORKERS];
  sem_init(&room, 0, ROOM);
  for (long n = 0; n < WORKERS; n++) pthread_create(&threads[n], 0, recycling_worker, (void *)n);
  for (int id = 0; id < requests; id++) {
    sem_wait(&room);
    struct request *request = take_free();
    if (request) {
      request->id = id;
      request->next = 0;
    } else {
      request = new_request(id);
    }
    push(request);
    if (id == 0) sem_wait(&first_taken);
  }
  for (int n = 0; n < WORKERS; n++) push(new_request(-1));
  for (int n = 0; n < WORKERS; n++) pthread_join(threads[n], 0);
  say();
}

// The same, as in a library that takes all its locks in one function: beside the queue's, each thread has one of its own.
static pthread_mutex_t own_locks[WORKERS + 1];
static long own_counts[WORKERS + 1];

NOINLINE static void take_lock(pthread_mutex_t *which) {
  if (pthread_mutex_lock(which)) abort();
}

NOINLINE static void give_lock(pthread_mutex_t *which) {
  if (pthread_mutex_unlock(which)) abort();
}

NOINLINE static void push_by_library(struct request *request) {
  take_lock(&lock);
  *tail = request;
  tail = &request->next;
  pthread_cond_signal(&not_empty);
  give_lock(&lock);
}

NOINLINE static struct request *pop_by_library(void) {
  take_lock(&lock);
  while (!head) pthread_cond_wait(&not_empty, &lock);
  struct request *request = head;
  head = request->next;
  if (!head) tail = &head;
  give_lock(&lock);
  return request;
}

static void count_own(int who) {
  for (int n = 0; n < 200; n++) {
    take_lock(&own_locks[who]);
    own_counts[who]++;
    give_lock(&own_locks[who]);
  }
}

static void *library_worker(void *number) {
  int worker = (int)(long)number;
  tids[worker] = gettid();
  for (;;) {
    struct request *request = pop_by_library();
    int last = request->id < 0;
    if (!last) work_on(worker, request);
    free(request);
    if (last) return 0;
    count_own(worker);
  }
}

static void library(void) {
  pthread_t threads[WORKERS];
  for (int n = 0; n <= WORKERS; n++) pthread_mutex_init(&own_locks[n], 0);
  for (long n = 0; n < WORKERS; n++) pthread_create(&threads[n], 0, library_worker, (void *)n);
  for (int id = 0; id < requests; id++) {
    push_by_library(new_request(id));
    if (id == 0) sem_wait(&first_taken);
    count_own(WORKERS);
  }
  for (int n = 0; n < WORKERS; n++) push_by_library(new_request(-1));
  for (int n = 0; n < WORKERS; n++) pthread_join(threads[n], 0);
  say();
}

// A ring of a few places, whose producer waits too.
static struct request *ring[ROOM];
static unsigned in, out, count;

NOINLINE static void put(struct request *request) {
  pthread_mutex_lock(&lock);
  while (count == ROOM) pthread_cond_wait(&not_full, &lock);
  ring[in] = request;
  in = (in + 1) % ROOM;
  count++;
  pthread_cond_signal(&not_empty);
  pthread_mutex_unlock(&lock);
}

NOINLINE static struct request *take(void) {
  pthread_mutex_lock(&lock);
  while (!count) pthread_cond_wait(&not_empty, &lock);
  struct request *request = ring[out];
  out = (out + 1) % ROOM;
  count--;
  pthread_cond_signal(&not_full);
  pthread_mutex_unlock(&lock);
  return request;
}

static void *ring_worker(void *number) {
  int worker = (int)(long)number;
  tids[worker] = gettid();
  for (;;) {
    struct request *request = take();
    int last = request->id < 0;
    if (!last) work_on(worker, request);
    free(request);
    if (last) return 0;
  }
}

static void bounded(void) {
  pthread_t threads[WORKERS];
  for (long n = 0; n < WORKERS; n++) pthread_create(&threads[n], 0, ring_worker, (void *)n);
  for (int id = 0; id < requests; id++) put(new_request(id));
  for (int n = 0; n < WORKERS; n++) put(new_request(-1));
  for (int n = 0; n < WORKERS; n++) pthread_join(threads[n], 0);
  say();
}

// A counter and a sum of pointers: numbers, which nobody hands over.
static long counted;

static void *count_worker(void *number) {
  tids[(long)number] = gettid();
  for (int n = 0; n < requests; n++) {
    pthread_mutex_lock(&lock);
    counted++;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

// A list of free objects: each thread takes from it and gives back.
static struct request *unused;

NOINLINE static struct request *take_unused(void) {
  pthread_mutex_lock(&lock);
  struct request *request = unused;
  if (request) unused = request->next;
  pthread_mutex_unlock(&lock);
  return request ? request : new_request(0);
}

NOINLINE static void give_back(struct request *request) {
  pthread_mutex_lock(&lock);
  request->next = unused;
  unused = request;
  pthread_mutex_unlock(&lock);
}

static void *allocating_worker(void *number) {
  tids[(long)number] = gettid();
  for (int n = 0; n < requests; n++) {
    struct request *mine = take_unused();
    struct request *other = take_unused();
    mine->id = other->id = n;
    give_back(mine);
    give_back(other);
  }
  return 0;
}

static void all(void *(*worker)(void *)) {
  pthread_t threads[WORKERS];
  for (long n = 0; n < WORKERS; n++) pthread_create(&threads[n], 0, worker, (void *)n);
  for (int n = 0; n < WORKERS; n++) pthread_join(threads[n], 0);
  say();
  printf("counted %ld\n", counted);
}

// A child has its parent's queue and threads of its own.
static void forked(void) {
  queue();
  fflush(stdout);
  if (fork() == 0) {
    memset(done_count, 0, sizeof done_count);
    queue();
    fflush(stdout);
    _exit(7);
  }
  int status;
  wait(&status);
  printf("child %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv) {
  requests = atoi(argv[2]);
  if (!strcmp(argv[1], "queue")) queue();
  if (!strcmp(argv[1], "bounded")) bounded();
  if (!strcmp(argv[1], "library")) library();
  if (!strcmp(argv[1], "recycled")) recycled();
  if (!strcmp(argv[1], "counter")) all(count_worker);
  if (!strcmp(argv[1], "allocator")) all(allocating_worker);
  if (!strcmp(argv[1], "forked")) forked();
  return 3;
}
