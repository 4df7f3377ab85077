// Goes into the background, as servers do, and works there. The words name a file that it writes at its end, and how many
// rounds it works; without that, for ever.
#define _DEFAULT_SOURCE
#include "fulcrum.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile unsigned sink;
int main(int count, char **words) {
  long rounds = count > 2 ? atol(words[2]) : -1;
  if (daemon(1, 1))
    return 3;
  for (; rounds != 0; rounds--) {
    for (int i = 0; i < 2000000; i++)
      sink = sink * 31u + i; // LINE: work
    FULCRUM_PROGRESS_NAMED("served");
  }
  fclose(fopen(words[1], "w"));
  return 0;
}
