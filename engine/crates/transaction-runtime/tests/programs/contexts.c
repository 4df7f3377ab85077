/*
 * Publishes spans as OpenTelemetry SDKs do (OTEP 4947, 4719), and writes a byte to a pipe after each. The variable is its own, or
 * that of the library that it is given: with -DLIBRARY this file is that library.
 */
#include "common.h"
#include <dlfcn.h>

struct record {
  uint8_t trace[16], span[8], valid, flags;
  uint16_t size;
  uint8_t attributes[64];
};

#if defined LIBRARY || defined OWN
__attribute__((visibility("default"))) __thread struct record *otel_thread_ctx_v1;
__attribute__((visibility("default"), noinline)) void publish(struct record *record) {
  otel_thread_ctx_v1 = record;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
#endif

#ifndef LIBRARY
static void (*publish_span)(struct record *);
static int ends[2];

struct header {
  char signature[8];
  uint32_t version, size;
  uint64_t published;
  const void *payload;
};

/* A message ProcessContext whose attribute names the attributes 0 and 1. */
static const char names[] =
    "\x12\x48\x0a\x1dthreadlocal.attribute_key_map\x12\x27\x2a\x25\x0a\x0c\x0a\x0ahttp.route\x0a\x15\x0a\x13http.request.method";

static void publish_names(void) {
  int fd = memfd_create("OTEL_CTX", 0);
  need(fd >= 0 && ftruncate(fd, 4096) == 0, "memfd_create");
  struct header *header = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  need(header != MAP_FAILED, "mmap");
  close(fd);
  header->version = 2;
  header->size = sizeof names - 1;
  header->published = 1;
  header->payload = names;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  memcpy(header->signature, "OTEL_CTX", 8);
}

static void attribute(struct record *record, int key, const char *value) {
  uint8_t *at = record->attributes + record->size;
  at[0] = key;
  at[1] = strlen(value);
  memcpy(at + 2, value, at[1]);
  record->size += 2 + at[1];
}

static void say(void) { need(write(ends[1], "x", 1) == 1, "write"); }

static void *other_thread(void *unused) {
  struct record record = {.trace = {9}, .span = {9}, .valid = 1};
  say();
  publish_span(&record);
  say();
  publish_span(0);
  return 0;
}

int main(int argc, char **argv) {
  need(pipe(ends) == 0, "pipe");
#ifdef OWN
  publish_span = publish;
#else
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  need(library != 0, "dlopen");
  publish_span = (void (*)(struct record *))dlsym(library, "publish");
#endif
  publish_names();
  struct record first = {.trace = {1, 2, 3}, .span = {4}, .valid = 1, .flags = 1};
  attribute(&first, 0, "/buy");
  attribute(&first, 1, "GET");
  struct record second = {.trace = {1, 2, 3}, .span = {5}, .valid = 1};
  /* So many that a new part of the log begins. */
  for (int i = 0; i < 2000; i++) {
    char byte;
    say();
    need(read(ends[0], &byte, 1) == 1, "read");
  }
  publish_span(&first);
  say();
  say();
  publish_span(&second);
  say();
  second.valid = 0;
  say();
  publish_span(0);
  say();
  publish_span(&first);
  say();
  first.valid = 0;
  first.span[0] = 6;
  first.valid = 1;
  say();
  publish_span(0);
  pthread_t thread;
  pthread_create(&thread, 0, other_thread, 0);
  pthread_join(thread, 0);
  return 0;
}
#endif
