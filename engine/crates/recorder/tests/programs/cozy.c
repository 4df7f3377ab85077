/* A program built for coz: only coz's published protocol, no header of ours. With -DDEBIAN it uses coz's own header. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#ifdef DEBIAN
#include <coz.h>
#else
typedef struct { size_t count, backoff; } counter_t;
static void visit(int type, const char *name) {
  counter_t *(*get)(int, const char *) =
      (counter_t * (*)(int, const char *)) dlsym(RTLD_DEFAULT, "_coz_get_counter");
  if (get) __atomic_add_fetch(&get(type, name)->count, 1, __ATOMIC_RELAXED);
}
#define COZ_PROGRESS_NAMED(name) visit(1, name)
#define COZ_BEGIN(name) visit(2, name)
#define COZ_END(name) visit(3, name)
#endif

int main(void) {
  for (;;) {
    COZ_BEGIN("request");
    for (volatile long i = 0; i < 1000000; i = i + 1) {}
    COZ_END("request");
    COZ_PROGRESS_NAMED("done");
  }
}
