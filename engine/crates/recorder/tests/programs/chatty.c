// Calls a function three million times: its events take more than ten megabytes.
static volatile unsigned sink;
__attribute__((noinline)) static void step(unsigned i) { sink = sink * 31u + i; }
int main(void) {
  for (unsigned i = 0; i < 3000000; i++)
    step(i);
  return 7;
}
