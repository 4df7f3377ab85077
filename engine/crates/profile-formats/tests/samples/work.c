/* Known calls: a chain, a function that calls itself, and two that call each other. */
#include <stdio.h>
#include <stdlib.h>

#define FAR __attribute__((noinline))

static volatile unsigned long sink;

FAR void leaf(unsigned long n) {
  for (unsigned long i = 0; i < n; i++) sink += i * i;
}

FAR void branch(unsigned long n) {
  for (unsigned long i = 0; i < n / 2; i++) sink ^= i;
  leaf(n);
}

FAR void recurse(int depth, unsigned long n) {
  leaf(n / 4);
  if (depth > 0) recurse(depth - 1, n);
  for (unsigned long i = 0; i < n / 8; i++) sink -= i;
}

FAR void even(int depth, unsigned long n);

FAR void odd(int depth, unsigned long n) {
  leaf(n / 8);
  if (depth > 0) even(depth - 1, n);
  sink++;
}

FAR void even(int depth, unsigned long n) {
  leaf(n / 16);
  if (depth > 0) odd(depth - 1, n);
  sink++;
}

int main(int argc, char **argv) {
  unsigned long n = argc > 1 ? strtoul(argv[1], 0, 10) : 1000;
  for (int i = 0; i < 10; i++) {
    branch(n);
    recurse(5, n);
    even(6, n);
  }
  printf("%lu\n", sink);
  return 0;
}
