// Writes a line each time it is run, to count the runs; the word on its command line says how it fails.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile unsigned sink;
static void work(void) {
  // A fifth of a second or so.
  for (long i = 0; i < 200000000; i++)
    sink = sink * 31u + i;
}
int main(int count, char **words) {
  const char *how = count > 2 ? words[2] : "";
  FILE *runs = fopen(words[1], "a");
  fputs("run\n", runs);
  fclose(runs);
  if (!strcmp(how, "crash"))
    raise(SIGSEGV);
  if (!strcmp(how, "late"))
    work();
  fprintf(stderr, "usage: fails FILE\n");
  return strcmp(how, "nothing") ? 2 : 0;
}
// Nobody calls it: a file of its own, of which no line ever runs.
#line 1 "never.c"
void never(void) { sink++; }
