/* What a program that others wrote is built with for a benchmark, as `-include borrowed.h`. It then behaves as a sample does
 * (../../../samples/sample.h): it can leave out a part of its work, counts its units, and reports.
 *
 *   SAMPLE_UNITS=N NAME …               ends after the Nth unit and reports; without it, works until it is stopped
 *   SAMPLE_SKIP=N NAME …                the first N units do not count: those that fill tables, say
 *   SAMPLE_REDUCE=TARGET:PERCENT NAME   leaves out PERCENT % of the work of that target
 *
 * A loop that can be shortened goes to BORROWED_KEPT steps. Where work cannot be left out without changing what the rest does,
 * it is done four times (BORROWED_AGAIN), of which one, two or three are left out: that needs work which may be repeated. */
#ifndef BORROWED_H
#define BORROWED_H

#include "sample.h"

#ifdef __cplusplus
extern "C" {
#endif
void borrowed_unit_done(void);
#ifdef __cplusplus
}
#endif

/* At file scope: `name`, a number of steps, less what is left out of the target of that name. */
#define BORROWED_KEPT(name, steps)                                                                     \
  static long name;                                                                                    \
  __attribute__((constructor)) static void borrowed_set_##name(void) {                                 \
    name = sample_reduced(#name, steps);                                                               \
  }

/* At file scope: how often the target of that name is done; `times` is a multiple of four. */
#define BORROWED_TIMES(name, times)                                                                    \
  static long name##_times;                                                                            \
  __attribute__((constructor)) static void borrowed_set_##name(void) {                                 \
    name##_times = (times) - (times) * sample_percent(#name) / 100;                                    \
  }

/* Does the statement behind it so often. The compiler must not make one of several. */
#define BORROWED_AGAIN(name)                                                                           \
  for (long borrowed_left = name##_times; borrowed_left > 0;                                           \
       borrowed_left--, ({ __asm__ volatile("" ::: "memory"); }))

/* A unit of work is done: a visit to a progress point, also counted here. */
#define BORROWED_UNIT(point)                                                                           \
  do {                                                                                                 \
    FULCRUM_PROGRESS_NAMED(point);                                                                     \
    borrowed_unit_done();                                                                              \
  } while (0)

/* The same where a unit is so many passages of a thread. */
#define BORROWED_EVERY(passages, point)                                                                \
  do {                                                                                                 \
    static __thread long borrowed_passed;                                                              \
    if (__builtin_expect(++borrowed_passed == (passages), 0)) {                                        \
      borrowed_passed = 0;                                                                             \
      BORROWED_UNIT(point);                                                                            \
    }                                                                                                  \
  } while (0)

#endif
