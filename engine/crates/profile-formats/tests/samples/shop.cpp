// Two threads, templates, lambdas: names that need demangling.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace shop {
template <class T>
struct Cart {
  std::vector<T> items;
  __attribute__((noinline)) T total(int rounds) const {
    T sum{};
    for (int round = 0; round < rounds; round++)
      for (auto &item : items) sum += item * T(round % 7);
    return sum;
  }
};
}  // namespace shop

volatile double out;

template <class T>
__attribute__((noinline)) void fill_and_total(int rounds) {
  shop::Cart<T> cart;
  for (int i = 0; i < 1000; i++) cart.items.push_back(T(i));
  out = cart.total(rounds);
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  std::thread first([=] { fill_and_total<double>(rounds); });
  std::thread second([=] {
    fill_and_total<int>(rounds);
    fill_and_total<double>(rounds / 2);
  });
  first.join();
  second.join();
  std::printf("%f\n", out);
}
