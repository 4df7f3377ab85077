/* Replaces coz's header in coz's own benchmarks. borrowed.h marks their units, in some with fewer and larger ones, and both
 * profilers must see the same units. */
#define COZ_PROGRESS
#define COZ_PROGRESS_NAMED(name)
