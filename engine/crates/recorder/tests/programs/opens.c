// Opens the library named by its argument and calls its `work` for ever.
#include "fulcrum.h"
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  void (*work)(int) = (void (*)(int))dlsym(library, "work");
  for (;;) {
    work(200);
    FULCRUM_PROGRESS_NAMED("round");
  }
}
