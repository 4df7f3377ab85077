/* Runs a plug-in, whose libraries nobody else sees. */
#include "../common.h"
#include <dlfcn.h>

int main(int argc, char **argv) {
  void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    fprintf(stderr, "%s\n", dlerror());
    return 98;
  }
  int (*run)(int, char **) = dlsym(plugin, "run");
  return run(argc - 1, argv + 1);
}
