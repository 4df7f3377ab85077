/* Functions that have names of libraries and are others: of more arguments, on the stack and in vector registers. Calls
   go through the table of symbols, as calls between libraries do. */
#include <stdio.h>

double event_add(long a, double b, long c, long d, long e, long f, long g, long h, double i) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}
struct large {
  long words[6];
};
struct large uv_close(long a, long b) { return (struct large){{a, b, a + b, a - b, a * b, 7}}; }
int g_idle_add(const char *format, int count, ...) {
  __builtin_va_list all;
  __builtin_va_start(all, count);
  double sum = 0;
  for (int at = 0; at < count; at++) {
    sum += __builtin_va_arg(all, double);
  }
  __builtin_va_end(all);
  return printf(format, sum);
}

int run(int argc, char **argv) {
  for (int round = 0; round < 3; round++) {
    struct large large = uv_close(5, 3);
    printf("%.2f %ld %ld\n", event_add(1, 2.5, 3, 4, 5, 6, 7, 8, 9.25), large.words[2], large.words[4]);
    g_idle_add("%.3f\n", 9, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.125);
  }
  return 0;
}
