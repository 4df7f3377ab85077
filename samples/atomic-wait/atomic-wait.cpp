// Two threads that take turns, with std::atomic's wait and notify. Nothing overlaps, so speeding up `solve` helps by
// its share of a round: 1.2/2 = 60 % of the speedup.
#include <atomic>
#include <thread>

#include "../sample.h"

enum Turn { ASKER, SOLVER };
static std::atomic<Turn> turn = ASKER;
static unsigned long problem;

static void give(Turn to) {
  turn = to;
  turn.notify_one();
}

static void ask(long units) {
  for (long n = 0; n < units; n++) {
    turn.wait(SOLVER);
    unsigned long x = problem;
    for (long i = 0; i < SAMPLE_MS * 8 / 10; i++) x = x * 6364136223846793005u + 1;
    problem = x;
    give(SOLVER);
  }
}

static void solve(long units) {
  const long steps = sample_reduced("solve", SAMPLE_MS * 12 / 10);
  for (long n = 0; n < units; n++) {
    turn.wait(ASKER);
    unsigned long x = problem;
    for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: solve
    problem = x;
    FULCRUM_PROGRESS_NAMED("problem");
    give(ASKER);
  }
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv);
  const double start = sample_clock();
  std::thread solver(solve, units);
  ask(units);
  solver.join();
  sample_report(units, start, problem);
}
