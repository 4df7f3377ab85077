// A library that is opened while the program runs: lines 5 and 6 do the work.
static volatile unsigned sink;
void work(int rounds) {
  for (int i = 0; i < rounds; i++)
    for (int k = 0; k < 1000; k++)
      sink = sink * 31u + k;
}
