/* Other people's programs are built with `-include borrowed.h` for a benchmark. They then behave like a sample
 * (../../../samples/sample.h): they can leave out a part of their work, count their units, and report.
 *
 *   SAMPLE_UNITS=N NAME …               ends after N units and reports; without it, works until it is stopped
 *   SAMPLE_SKIP=N NAME …                the first N units do not count, for example because they fill tables
 *   SAMPLE_REDUCE=TARGET:PERCENT NAME   leaves out PERCENT % of the target's work
 *
 * A loop that can be shortened runs to BORROWED_KEPT steps. Work that cannot be left out without changing the rest is done
 * four times (BORROWED_AGAIN), of which one, two or three are left out; such work must be repeatable. */
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

/* At file scope: `name`, a number of steps, reduced for the target of that name. */
#define BORROWED_KEPT(name, steps)                                                                     \
  static long name;                                                                                    \
  __attribute__((constructor)) static void borrowed_set_##name(void) {                                 \
    name = sample_reduced(#name, steps);                                                               \
  }

/* At file scope: how often to do the target of that name. `times` is a multiple of four. */
#define BORROWED_TIMES(name, times)                                                                    \
  static long name##_times;                                                                            \
  __attribute__((constructor)) static void borrowed_set_##name(void) {                                 \
    name##_times = (times) - (times) * sample_percent(#name) / 100;                                    \
  }

/* Repeats the next statement that often. The compiler must not merge repetitions. */
#define BORROWED_AGAIN(name)                                                                           \
  for (long borrowed_left = name##_times; borrowed_left > 0;                                           \
       borrowed_left--, ({ __asm__ volatile("" ::: "memory"); }))

/* Ends a unit of work: visits a progress point, and counts the unit. */
#define BORROWED_UNIT(point)                                                                           \
  do {                                                                                                 \
    FULCRUM_PROGRESS_NAMED(point);                                                                     \
    borrowed_unit_done();                                                                              \
  } while (0)

/* The same if a unit is `times` passes of a thread. */
#define BORROWED_EVERY(passages, point)                                                                \
  do {                                                                                                 \
    static __thread long borrowed_passed;                                                              \
    if (__builtin_expect(++borrowed_passed == (passages), 0)) {                                        \
      borrowed_passed = 0;                                                                             \
      BORROWED_UNIT(point);                                                                            \
    }                                                                                                  \
  } while (0)

#endif
