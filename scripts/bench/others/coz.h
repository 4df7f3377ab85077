/* In place of coz's header, for coz's own benchmarks: their units are marked by borrowed.h, some by fewer and larger ones, and
 * both profilers shall see the same. */
#define COZ_PROGRESS
#define COZ_PROGRESS_NAMED(name)
