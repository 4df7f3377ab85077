/* Progress points for Fulcrum, the causal profiler. Header only. When the program runs without a profiler, a visit costs one
 * relaxed addition (where a request begins or ends, an empty call too) and nothing else. Works in C (gnu99 and later) and
 * C++ (11 and later).
 *
 *   FULCRUM_PROGRESS;              a unit of work has ended here; named FILE:LINE
 *   FULCRUM_PROGRESS_NAMED("x");   the same, with a name of your own
 *   FULCRUM_BEGIN("x");            a request begins
 *   FULCRUM_END("x");              a request ends: its latency is measured
 *
 * Link with -ldl where dlsym is not in libc (glibc before 2.34). SPDX-License-Identifier: MIT */
#ifndef FULCRUM_H
#define FULCRUM_H

#include <stddef.h>

#if defined(__linux__)

#ifdef __cplusplus
extern "C" {
#endif
/* dlsym is declared here because <dlfcn.h> hides RTLD_DEFAULT from programs that do not ask for GNU extensions. */
void *dlsym(void *, const char *)
#if defined(__cplusplus) && defined(__GLIBC__)
    throw()
#endif
    ;
#ifdef __cplusplus
}
#endif

typedef struct fulcrum_counter {
  size_t count;
  size_t reserved;
} fulcrum_counter;

/* The runtime hands out one counter a kind and name; without it, visits go to a counter that nobody reads. */
static inline fulcrum_counter *fulcrum_find_counter(int kind, const char *name) {
  static fulcrum_counter unread;
  fulcrum_counter *(*find)(int, const char *);
  void *symbol = dlsym((void *)0, "_coz_get_counter");
  fulcrum_counter *found;
  if (!symbol) return &unread;
  __builtin_memcpy(&find, &symbol, sizeof find);
  found = find(kind, name);
  return found ? found : &unread;
}

static inline void fulcrum_nothing_owed(void) {}

/* Where a request begins or ends, the runtime is called first: a pause that this thread still owes belongs to the side on
 * which it was earned. */
static inline void (*fulcrum_find_settle(void))(void) {
  void (*settle)(void);
  void *symbol = dlsym((void *)0, "fulcrum_settle");
  if (!symbol) return fulcrum_nothing_owed;
  __builtin_memcpy(&settle, &symbol, sizeof settle);
  return settle;
}

#define FULCRUM_VISIT_(kind, name)                                                      \
  do {                                                                                  \
    static fulcrum_counter *fulcrum_site_;                                              \
    fulcrum_counter *fulcrum_here_ = __atomic_load_n(&fulcrum_site_, __ATOMIC_ACQUIRE); \
    if (__builtin_expect(!fulcrum_here_, 0)) {                                          \
      fulcrum_here_ = fulcrum_find_counter(kind, name);                                 \
      __atomic_store_n(&fulcrum_site_, fulcrum_here_, __ATOMIC_RELEASE);                \
    }                                                                                   \
    __atomic_fetch_add(&fulcrum_here_->count, 1, __ATOMIC_RELAXED);                     \
  } while (0)

#define FULCRUM_BOUNDARY_(kind, name)                                                   \
  do {                                                                                  \
    static void (*fulcrum_owed_)(void);                                                 \
    void (*fulcrum_pay_)(void) = __atomic_load_n(&fulcrum_owed_, __ATOMIC_RELAXED);     \
    if (__builtin_expect(!fulcrum_pay_, 0)) {                                           \
      fulcrum_pay_ = fulcrum_find_settle();                                             \
      __atomic_store_n(&fulcrum_owed_, fulcrum_pay_, __ATOMIC_RELAXED);                 \
    }                                                                                   \
    fulcrum_pay_();                                                                     \
    FULCRUM_VISIT_(kind, name);                                                         \
  } while (0)

#else /* not Linux: nothing to talk to */
#define FULCRUM_VISIT_(kind, name) \
  do {                             \
    (void)(name);                  \
  } while (0)
#define FULCRUM_BOUNDARY_(kind, name) FULCRUM_VISIT_(kind, name)
#endif

#define FULCRUM_TEXT_(x) #x
#define FULCRUM_TEXT(x) FULCRUM_TEXT_(x)

#define FULCRUM_PROGRESS FULCRUM_VISIT_(1, __FILE__ ":" FULCRUM_TEXT(__LINE__))
#define FULCRUM_PROGRESS_NAMED(name) FULCRUM_VISIT_(1, name)
#define FULCRUM_BEGIN(name) FULCRUM_BOUNDARY_(2, name)
#define FULCRUM_END(name) FULCRUM_BOUNDARY_(3, name)

#endif
