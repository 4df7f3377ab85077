/* Structures that threads share under a lock. Of each, push_NAME stores an item, and pop_NAME takes one and returns what it
   reads from it after the unlock; 0 when there is none. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define NOINLINE __attribute__((noinline))
#define ROOM 64

struct item {
  long id;
  STAILQ_ENTRY(item) simple;
  TAILQ_ENTRY(item) tail;
  SLIST_ENTRY(item) single;
};

typedef void take(pthread_mutex_t *);
static take *lock, *unlock;

typedef void await(pthread_cond_t *, pthread_mutex_t *);
static await *wait_for;

void set_up(take *l, take *u, await *w) { lock = l, unlock = u, wait_for = w; }

/* What the consumer does with an item, after the section. */
NOINLINE static long use(struct item *it) { return it ? it->id : 0; }

/* Figure 1 of the paper. */
struct element {
  void *sd, *p;
};
static struct {
  pthread_mutex_t one_big_mutex;
  struct element data[ROOM];
  unsigned nelts;
} queue = {PTHREAD_MUTEX_INITIALIZER};

NOINLINE static int ap_queue_push(void *sd, void *p) {
  lock(&queue.one_big_mutex);
  if (queue.nelts == ROOM) {
    unlock(&queue.one_big_mutex);
    return 0;
  }
  struct element *elem = &queue.data[queue.nelts];
  elem->sd = sd;
  elem->p = p;
  queue.nelts++;
  unlock(&queue.one_big_mutex);
  return 1;
}

NOINLINE static int ap_queue_pop(void **sd, void **p) {
  lock(&queue.one_big_mutex);
  if (queue.nelts == 0) {
    unlock(&queue.one_big_mutex);
    return 0;
  }
  struct element *elem = &queue.data[--queue.nelts];
  *sd = elem->sd;
  *p = elem->p;
  unlock(&queue.one_big_mutex);
  return 1;
}

long push_array(struct item *it) { return ap_queue_push(it, &it->id); }
long pop_array(void) {
  void *sd, *p;
  if (!ap_queue_pop(&sd, &p))
    return 0;
  return use(sd) + (*(long *)p - *(long *)p);
}

/* sys/queue.h (section 3.3.2). */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static STAILQ_HEAD(, item) simple = STAILQ_HEAD_INITIALIZER(simple);
static TAILQ_HEAD(, item) tailed = TAILQ_HEAD_INITIALIZER(tailed);
static SLIST_HEAD(, item) stack = SLIST_HEAD_INITIALIZER(stack);

#define LIST(NAME, INSERT, FIRST, REMOVE)                                                                                      \
  long push_##NAME(struct item *it) {                                                                                          \
    lock(&list_lock);                                                                                                          \
    INSERT;                                                                                                                    \
    unlock(&list_lock);                                                                                                        \
    return 1;                                                                                                                  \
  }                                                                                                                            \
  NOINLINE static struct item *take_##NAME(void) {                                                                             \
    lock(&list_lock);                                                                                                          \
    struct item *it = FIRST;                                                                                                   \
    if (it)                                                                                                                    \
      REMOVE;                                                                                                                  \
    unlock(&list_lock);                                                                                                        \
    return it;                                                                                                                 \
  }                                                                                                                            \
  long pop_##NAME(void) { return use(take_##NAME()); }

LIST(stailq, STAILQ_INSERT_TAIL(&simple, it, simple), STAILQ_FIRST(&simple), STAILQ_REMOVE_HEAD(&simple, simple))
LIST(tailq, TAILQ_INSERT_TAIL(&tailed, it, tail), TAILQ_FIRST(&tailed), TAILQ_REMOVE(&tailed, it, tail))
LIST(slist, SLIST_INSERT_HEAD(&stack, it, single), SLIST_FIRST(&stack), SLIST_REMOVE_HEAD(&stack, single))

/* Several words, as one value: compilers move them through vector registers. */
struct words {
  struct item *first, *second;
};
static pthread_mutex_t words_lock = PTHREAD_MUTEX_INITIALIZER;
static struct words ring[ROOM];
static unsigned words_in, words_out;

NOINLINE static void push_words_of(struct item *first, struct item *second) {
  lock(&words_lock);
  ring[words_in++ % ROOM] = (struct words){first, second};
  unlock(&words_lock);
}

long push_words(struct item *it) {
  push_words_of(it, it + 0);
  return 1;
}

NOINLINE static struct words take_words(void) {
  struct words it = {0, 0};
  lock(&words_lock);
  if (words_out != words_in)
    it = ring[words_out++ % ROOM];
  unlock(&words_lock);
  return it;
}

long pop_words(void) {
  struct words it = take_words();
  return use(it.first);
}

/* A long value, copied by memcpy. */
struct wide {
  struct item *before[3], *item, *after[8];
};
static pthread_mutex_t wide_lock = PTHREAD_MUTEX_INITIALIZER;
static struct wide wides[ROOM];
static unsigned wide_in, wide_out;
static volatile size_t wide_size = sizeof(struct wide);

NOINLINE static void put_wide(const struct wide *it) {
  lock(&wide_lock);
  memcpy(&wides[wide_in++ % ROOM], it, wide_size);
  unlock(&wide_lock);
}

long push_wide(struct item *it) {
  struct wide wide = {{it, it, it}, it, {it, it, it, it, it, it, it, it}};
  put_wide(&wide);
  return 1;
}

NOINLINE static int take_wide(struct wide *it) {
  int found = 0;
  lock(&wide_lock);
  if (wide_out != wide_in) {
    memcpy(it, &wides[wide_out++ % ROOM], wide_size);
    found = 1;
  }
  unlock(&wide_lock);
  return found;
}

long pop_wide(void) {
  struct wide it;
  return take_wide(&it) ? use(it.item) : 0;
}

/* A section within a section (section 3.3.2). */
static pthread_mutex_t outer_lock = PTHREAD_MUTEX_INITIALIZER, inner_lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *nested[ROOM];
static unsigned nested_count, nested_changes;

long push_nested(struct item *it) {
  lock(&outer_lock);
  nested_changes++;
  lock(&inner_lock);
  nested[nested_count++] = it;
  unlock(&inner_lock);
  unlock(&outer_lock);
  return 1;
}

NOINLINE static struct item *take_nested(void) {
  struct item *it = 0;
  lock(&outer_lock);
  nested_changes++;
  lock(&inner_lock);
  if (nested_count)
    it = nested[--nested_count];
  unlock(&inner_lock);
  unlock(&outer_lock);
  return it;
}

long pop_nested(void) { return use(take_nested()); }

/* A heap, in which elements move (section 3.2). */
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *heap[ROOM];
static unsigned heaped;

long push_heap(struct item *it) {
  lock(&heap_lock);
  unsigned n = heaped++;
  while (n && heap[(n - 1) / 2]->id > it->id) {
    heap[n] = heap[(n - 1) / 2];
    n = (n - 1) / 2;
  }
  heap[n] = it;
  unlock(&heap_lock);
  return 1;
}

NOINLINE static struct item *take_least(void) {
  struct item *it = 0;
  lock(&heap_lock);
  if (heaped) {
    it = heap[0];
    struct item *last = heap[--heaped];
    unsigned n = 0;
    for (;;) {
      unsigned child = 2 * n + 1;
      if (child + 1 < heaped && heap[child + 1]->id < heap[child]->id)
        child++;
      if (child >= heaped || heap[child]->id >= last->id)
        break;
      heap[n] = heap[child];
      n = child;
    }
    heap[n] = last;
  }
  unlock(&heap_lock);
  return it;
}

long pop_heap(void) { return use(take_least()); }

/* Descriptors: four bytes. */
static pthread_mutex_t numbers_lock = PTHREAD_MUTEX_INITIALIZER;
static int numbers[ROOM];
static unsigned numbered;
static struct item *items_by_number[1 << 16];

NOINLINE static void put_number(int number) {
  lock(&numbers_lock);
  numbers[numbered++] = number;
  unlock(&numbers_lock);
}

long push_number(struct item *it) {
  items_by_number[it->id] = it;
  put_number(it->id);
  return 1;
}

NOINLINE static int take_number(void) {
  int number = 0;
  lock(&numbers_lock);
  if (numbered)
    number = numbers[--numbered];
  unlock(&numbers_lock);
  return number;
}

long pop_number(void) {
  int number = take_number();
  return number ? use(items_by_number[number]) : 0;
}

/* A node that is allocated in the section, and freed in another one. */
struct node {
  struct node *next;
  struct item *item;
};
static pthread_mutex_t nodes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *nodes;

long push_node(struct item *it) {
  lock(&nodes_lock);
  struct node *node = malloc(sizeof *node);
  node->item = it;
  node->next = nodes;
  nodes = node;
  unlock(&nodes_lock);
  return 1;
}

NOINLINE static struct item *take_node(void) {
  struct item *it = 0;
  lock(&nodes_lock);
  struct node *node = nodes;
  if (node) {
    it = node->item;
    nodes = node->next;
    free(node);
  }
  unlock(&nodes_lock);
  return it;
}

long pop_node(void) { return use(take_node()); }

/* Both sides wait for the other one. */
static pthread_mutex_t bounded_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static struct item *bounded[4];
static unsigned bounded_in, bounded_out;

long push_bounded(struct item *it) {
  lock(&bounded_lock);
  while (bounded_in - bounded_out == 4)
    wait_for(&not_full, &bounded_lock);
  bounded[bounded_in++ % 4] = it;
  pthread_cond_signal(&not_empty);
  unlock(&bounded_lock);
  return 1;
}

NOINLINE static struct item *take_bounded(void) {
  lock(&bounded_lock);
  while (bounded_in == bounded_out)
    wait_for(&not_empty, &bounded_lock);
  struct item *it = bounded[bounded_out++ % 4];
  pthread_cond_signal(&not_full);
  unlock(&bounded_lock);
  return it;
}

long pop_bounded(void) { return use(take_bounded()); }

/* What follows carries no transaction. */

/* Figure 2. */
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static long count;

long count_up(void) {
  lock(&count_lock);
  long now = ++count;
  unlock(&count_lock);
  return now * 2;
}

/* Statistics: the largest so far, and how often a limit was reached. */
static long largest, reached;

long largest_so_far(long value) {
  lock(&count_lock);
  if (value > largest)
    largest = value;
  else
    reached += 1;
  long now = largest;
  unlock(&count_lock);
  return now + 1;
}

/* Figure 3. */
static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
static void **free_list;

NOINLINE static void *mem_alloc(void) {
  lock(&free_lock);
  void **mem = free_list;
  if (mem)
    free_list = *mem;
  unlock(&free_lock);
  return mem ? mem : malloc(64);
}

NOINLINE static void mem_free(void **mem) {
  lock(&free_lock);
  *mem = free_list;
  free_list = mem;
  unlock(&free_lock);
}

long allocate_and_free(void) {
  long *mem = mem_alloc();
  *mem = 7;
  long found = *mem;
  mem_free((void **)mem);
  return found;
}
