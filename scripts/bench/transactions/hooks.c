/* What hooks cost, in ticks of the time stamp counter: `hooks [ROUNDS]`, recorded or not. Each round does the same by libc's
 * own functions and by those that the program is linked to, in turn; only the latter are hooked. Prints a line a case: its
 * name, then for libc's functions and for the program's the ticks of the first call, of a call at first (the mean of the first
 * 200), and of a call in the end: the median, and the first and third quartile over the second half of the rounds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <x86intrin.h>

enum { FIRST = 200, BATCH = 64, LOCKS = 64 };

/* The functions of a way: libc's own, or the program's. */
struct way {
    int (*lock)(pthread_mutex_t *);
    int (*unlock)(pthread_mutex_t *);
    ssize_t (*send)(int, const void *, size_t, int);
    ssize_t (*recv)(int, void *, size_t, int);
    int (*wait)(int, struct epoll_event *, int, int);
};

static struct way ways[2];
static int rounds = 4000;

static unsigned long long now(void) {
    unsigned processor;
    _mm_lfence();
    unsigned long long ticks = __rdtscp(&processor);
    _mm_lfence();
    return ticks;
}

/* Ticks of calls, one after another. */
struct ticks {
    double first, early, *late;
    int calls, count;
};

static void add(struct ticks *ticks, double each, int calls) {
    if (ticks->calls == 0) {
        ticks->first = each;
    }
    if (ticks->calls < FIRST) {
        ticks->early += each * calls;
    }
    ticks->calls += calls;
    ticks->late[ticks->count++] = each;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void show(const struct ticks *ticks) {
    int half = ticks->count / 2, rest = ticks->count - half;
    double *late = ticks->late + half;
    qsort(late, rest, sizeof *late, ascending);
    int early = ticks->calls < FIRST ? ticks->calls : FIRST;
    printf("\t%.0f\t%.0f\t%.1f\t%.1f\t%.1f", ticks->first, ticks->early / early, late[rest / 2], late[rest / 4], late[rest * 3 / 4]);
}

static struct ticks *fresh(void) {
    struct ticks *ticks = calloc(2, sizeof *ticks);
    for (int way = 0; way < 2; way++) {
        ticks[way].late = calloc(rounds + FIRST, sizeof(double));
    }
    return ticks;
}

/* Runs a case: single calls at first, then batches, by both ways in turn. */
static void run(const char *name, void (*call)(const struct way *)) {
    struct ticks *ticks = fresh();
    for (int round = 0; round < rounds; round++) {
        int calls = round < FIRST ? 1 : BATCH;
        for (int turn = 0; turn < 2; turn++) {
            int way = (round + turn) % 2;
            unsigned long long start = now();
            for (int n = 0; n < calls; n++) {
                call(&ways[way]);
            }
            add(&ticks[way], (double)(now() - start) / calls, calls);
        }
    }
    printf("%s", name);
    show(&ticks[0]);
    show(&ticks[1]);
    printf("\n");
    fflush(stdout);
}

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, several[LOCKS];
static long counter;

__attribute__((noinline)) static void one_lock(const struct way *way) {
    way->lock(&one);
    counter++;
    way->unlock(&one);
}

__attribute__((noinline)) static void many_locks(const struct way *way) {
    pthread_mutex_t *lock = &several[counter % LOCKS];
    way->lock(lock);
    counter++;
    way->unlock(lock);
}

static int ends[2];

__attribute__((noinline)) static void send_and_receive(const struct way *way) {
    char bytes[64] = "GET /a\n";
    if (way->send(ends[0], bytes, sizeof bytes, 0) != sizeof bytes || way->recv(ends[1], bytes, sizeof bytes, 0) != sizeof bytes) {
        abort();
    }
}

static int epoll;

__attribute__((noinline)) static void wait_for_an_event(const struct way *way) {
    struct epoll_event events[8];
    if (way->wait(epoll, events, 8, -1) != 1) {
        abort();
    }
}

/* Figure 1 of the paper: a queue of Apache's shape, one for each way. */
struct queue {
    pthread_mutex_t lock;
    void *items[64];
    unsigned in, out, count;
};

static struct queue queues[2];
static long work;

__attribute__((noinline)) static void push(const struct way *way, struct queue *queue, void *item) {
    way->lock(&queue->lock);
    queue->items[queue->in++ % 64] = item;
    queue->count++;
    way->unlock(&queue->lock);
}

__attribute__((noinline)) static void pop(const struct way *way, struct queue *queue) {
    void *item = NULL;
    way->lock(&queue->lock);
    if (queue->count > 0) {
        item = queue->items[queue->out++ % 64];
        queue->count--;
    }
    way->unlock(&queue->lock);
    if (item != NULL) {
        work += *(long *)item;
    }
}

static atomic_int turn;
static struct ticks *pushes, *pops;

/* Thread 0 pushes, thread 1 pops, in turn. */
static void *side(void *argument) {
    int which = argument != NULL;
    for (int round = 0; round < rounds; round++) {
        for (int part = 0; part < 2; part++) {
            while (atomic_load_explicit(&turn, memory_order_acquire) != which) {
                sched_yield();
            }
            int way = (round + part) % 2, calls = round < FIRST ? 1 : 16;
            long *items = calloc(calls, sizeof(long));
            unsigned long long start = now();
            for (int n = 0; n < calls; n++) {
                if (which == 0) {
                    push(&ways[way], &queues[way], &items[n]);
                } else {
                    pop(&ways[way], &queues[way]);
                }
            }
            add(which == 0 ? &pushes[way] : &pops[way], (double)(now() - start) / calls, calls);
            atomic_store_explicit(&turn, 1 - which, memory_order_release);
        }
    }
    return NULL;
}

static void flow(void) {
    pushes = fresh();
    pops = fresh();
    pthread_t threads[2];
    for (int n = 0; n < 2; n++) {
        pthread_mutex_init(&queues[n].lock, NULL);
        pthread_create(&threads[n], NULL, side, n == 0 ? NULL : &turn);
    }
    for (int n = 0; n < 2; n++) {
        pthread_join(threads[n], NULL);
    }
    printf("push that flows");
    show(&pushes[0]);
    show(&pushes[1]);
    printf("\npop that flows");
    show(&pops[0]);
    show(&pops[1]);
    printf("\n");
}

static void *own(void *libc, const char *name) {
    void *found = dlsym(libc, name);
    if (found == NULL) {
        fprintf(stderr, "libc has no %s\n", name);
        exit(1);
    }
    return found;
}

/* A thread that only waits: with one thread alone, libc's locks need no atomic instructions. */
static void *stay(void *argument) {
    pause();
    return argument;
}

int main(int count, char **arguments) {
    if (count > 1) {
        rounds = atoi(arguments[1]);
    }
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    if (libc == NULL || rounds <= FIRST) {
        fprintf(stderr, "usage: hooks [ROUNDS], more than %d\n", FIRST);
        return 2;
    }
    ways[0] = (struct way){own(libc, "pthread_mutex_lock"), own(libc, "pthread_mutex_unlock"), own(libc, "send"), own(libc, "recv"), own(libc, "epoll_wait")};
    ways[1] = (struct way){pthread_mutex_lock, pthread_mutex_unlock, send, recv, epoll_wait};
    pthread_t other;
    pthread_create(&other, NULL, stay, NULL);
    for (int n = 0; n < LOCKS; n++) {
        pthread_mutex_init(&several[n], NULL);
    }
    run("one lock that does not flow", one_lock);
    run("64 locks at one place", many_locks);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        perror("socketpair");
        return 1;
    }
    run("send and recv of 64 bytes", send_and_receive);
    epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = ends[1]};
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event);
    if (write(ends[0], "x", 1) != 1) {
        perror("write");
        return 1;
    }
    run("epoll_wait with an event", wait_for_an_event);
    flow();
    fflush(stdout);
    _exit(counter == 0 || work < 0);
}
