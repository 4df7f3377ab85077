// Two clients and a server that is always busy. A client waits for its own request and for the other's, so its latency
// is twice the server's time minus its own think time: a server that is 25 % faster reduces the latency by more than
// 25 %. The program measures its latency itself; a profiler knows it by Little's law.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "../sample.h"

static std::mutex lock;
static std::condition_variable asked, answered;

struct Client {
  unsigned long value = 0;
  bool waits = false;
  double waited = 0;
};

static Client clients[2];

static unsigned long think(unsigned long x) {
  for (long i = 0; i < SAMPLE_MS / 2; i++) x = x * 6364136223846793005u + 1;
  return x;
}

static unsigned long handle(unsigned long x, long steps) {
  for (long i = 0; i < steps; i++) x = x * 6364136223846793005u + 1;  // TARGET: handle
  return x;
}

static void ask(Client &self, long requests) {
  for (long n = 0; n < requests; n++) {
    const unsigned long question = think(self.value);
    const double start = sample_clock();
    FULCRUM_BEGIN("request");
    std::unique_lock<std::mutex> held(lock);
    self.value = question;
    self.waits = true;
    asked.notify_one();
    answered.wait(held, [&] { return !self.waits; });
    FULCRUM_END("request");
    self.waited += sample_clock() - start;
  }
}

// Clients take turns, so that neither overtakes the other.
static void serve(long requests) {
  const long steps = sample_reduced("handle", SAMPLE_MS * 4);
  Client *next = &clients[0];
  for (long n = 0; n < requests; n++) {
    std::unique_lock<std::mutex> held(lock);
    asked.wait(held, [] { return clients[0].waits || clients[1].waits; });
    if (!next->waits) next = next == &clients[0] ? &clients[1] : &clients[0];
    Client *served = next;
    held.unlock();
    const unsigned long answer = handle(served->value, steps);
    held.lock();
    served->value = answer;
    served->waits = false;
    next = served == &clients[0] ? &clients[1] : &clients[0];
    answered.notify_all();
  }
}

int main(int argc, char **argv) {
  const long units = sample_units(argc, argv) / 2 * 2;
  const double start = sample_clock();
  std::thread server(serve, units);
  std::thread other(ask, std::ref(clients[0]), units / 2);
  ask(clients[1], units / 2);
  other.join();
  server.join();
  printf("latency=%.9f ", (clients[0].waited + clients[1].waited) / static_cast<double>(units));
  sample_report(units, start, clients[0].value + clients[1].value);
}
