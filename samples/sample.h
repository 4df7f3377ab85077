/* What all samples share: how much to do, what to leave out, and the report. C and C++.
 *
 *   NAME [UNITS]                        does UNITS units of work and reports; without UNITS, works until it is stopped
 *   SAMPLE_REDUCE=TARGET:PERCENT NAME   really leaves out PERCENT % of the work of the line marked `TARGET: name`
 *   SAMPLE_FIX=1 NAME                   fixes what the profile points at, in samples that have a fix
 *
 * Work is a chain of multiplications, each of which waits for the one before. It takes the same time wherever the loop
 * is placed. A loop over a volatile counter does not: it waits for stores to be forwarded from the store buffer, and
 * how long that takes depends on alignment and on neighbouring code. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fulcrum.h"

/* Steps of the chain in about a millisecond, at four cycles per step and 3.6 GHz. */
#define SAMPLE_MS 900000L

static inline long sample_units(int argc, char **argv) { return argc > 1 ? atol(argv[1]) : LONG_MAX; }

/* The percentage of this target that SAMPLE_REDUCE leaves out. */
static inline long sample_percent(const char *target) {
  const char *reduce = getenv("SAMPLE_REDUCE");
  const size_t length = strlen(target);
  if (!reduce || strncmp(reduce, target, length) != 0 || reduce[length] != ':') return 0;
  return atol(reduce + length + 1);
}

/* `steps`, minus what SAMPLE_REDUCE leaves out of this target. */
static inline long sample_reduced(const char *target, long steps) {
  return steps - steps / 100 * sample_percent(target);
}

static inline int sample_is_fixed(void) { return getenv("SAMPLE_FIX") != NULL; }

/* Seconds since an arbitrary moment. */
static inline double sample_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One line that the benchmarks read. The result depends only on UNITS, not on any profiler. */
static inline void sample_report(long units, double start, unsigned long result) {
  printf("units=%ld seconds=%.6f result=%016lx\n", units, sample_clock() - start, result);
}

#endif
