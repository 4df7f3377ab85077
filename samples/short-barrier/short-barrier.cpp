// Two threads that meet at a std::barrier after every step, as in samples/barrier, but every quarter of a millisecond: six times
// per sampling period. One sample then stands for six steps, so its delay has to be spread over them. The real gain is that of
// samples/barrier, at most 1 - 0.65 = 35 %.
#include <pthread.h>
#include <sched.h>

#include <barrier>
#include <thread>

#include "../sample.h"

static std::barrier meeting(2);

// Pins the calling thread to a processor, if the machine has it. Otherwise two threads that wake each other in turn
// may end up sharing one without a profiler, but not under one.
static void pin(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  (void)!pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void collide(long units, unsigned long *result) {
  const long steps = sample_reduced("collide", SAMPLE_MS / 4);
  unsigned long x = *result;
  pin(0);
  for (long n = 0; n < units; n++) {
    for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: collide
    meeting.arrive_and_wait();
    FULCRUM_PROGRESS_NAMED("step");
  }
  *result = x;
}

static void stream(long units, unsigned long *result) {
  unsigned long x = *result;
  pin(1);
  for (long n = 0; n < units; n++) {
    for (long i = 0; i < SAMPLE_MS * 13 / 80; i++) x = x * 6364136223846793005u + 1;
    meeting.arrive_and_wait();
  }
  *result = x;
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  unsigned long one = 1, two = 2;
  const double start = sample_clock();
  std::thread other(stream, units, &two);
  collide(units, &one);
  other.join();
  sample_report(units, start, one ^ two);
}
