// What programs do in critical sections besides copying words. Each function gives the same answer however it runs.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include <regex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

typedef void take(pthread_mutex_t *);
static take *lock, *unlock;
static int (*collect)(void **, int);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;

struct Guard {
  Guard() { lock(&mutex); }
  ~Guard() { unlock(&mutex); }
};

extern "C" void set_up(take *l, take *u, int (*c)(void **, int)) { lock = l, unlock = u, collect = c; }

NOINLINE static long inner(long n) {
  counter++;
  if (n % 2)
    throw n;
  return n;
}

extern "C" long throws(long n) {
  try {
    Guard guard;
    return inner(n) + 1;
  } catch (long caught) {
    return -caught;
  }
}

static jmp_buf back;

NOINLINE static void jump(long n) {
  if (n % 2)
    longjmp(back, 1);
}

extern "C" long jumps(long n) {
  volatile long kept = n * 3;
  lock(&mutex);
  long came = setjmp(back);
  if (!came)
    jump(n);
  unlock(&mutex);
  return kept + came;
}

extern "C" long system_calls(long n) {
  int ends[2];
  char got = 0;
  timespec time;
  lock(&mutex);
  long fine = pipe(ends) == 0;
  char sent = n;
  fine += write(ends[1], &sent, 1) == 1;
  fine += read(ends[0], &got, 1) == 1;
  fine += got == sent;
  fine += clock_gettime(CLOCK_MONOTONIC, &time) == 0;
  fine += syscall(SYS_getppid) == getppid();
  long next, flags;
  // The kernel leaves the next instruction's address and the flags.
  asm volatile("lea 1f(%%rip), %%rbx; xor %%eax, %%eax; mov %[number], %%eax; syscall; 1: sub %%rbx, %%rcx; mov %%rcx, %0; "
               "mov %%r11, %1"
               : "=r"(next), "=r"(flags)
               : [number] "i"(SYS_getpid)
               : "rax", "rbx", "rcx", "r11", "memory");
  fine += next == 0;
  fine += flags & 2;
  fine += close(ends[0]) == 0 && close(ends[1]) == 0;
  unlock(&mutex);
  return fine;
}

extern "C" long forks(long n) {
  lock(&mutex);
  pid_t child = fork();
  if (child == 0)
    _exit(n);
  int status = 0;
  waitpid(child, &status, 0);
  unlock(&mutex);
  return WEXITSTATUS(status);
}

static void *frames[32];

extern "C" NOINLINE long calls(long) {
  lock(&mutex);
  long found = collect(frames, 32);
  unlock(&mutex);
  return found;
}

extern "C" void *frame(long n) { return frames[n]; }

extern "C" long loops(long n) {
  volatile long sum = 0;
  lock(&mutex);
  for (long i = 0; i < n; i++)
    sum = sum + i;
  unlock(&mutex);
  return sum;
}

extern "C" long strings(long n) {
  char from[64], to[64];
  for (int i = 0; i < 64; i++)
    from[i] = i * n, to[i] = 0;
  lock(&mutex);
  void *source = from + 40, *target = to + 50;
  size_t count = 33;
  asm volatile("std; rep movsb; cld" : "+S"(source), "+D"(target), "+c"(count)::"memory", "cc");
  asm volatile("rep stosb" : "=D"(target), "=c"(count) : "D"(to + 2), "c"(5L), "a"(n) : "memory");
  memcpy(to + 55, from + 1, 8);
  unlock(&mutex);
  long hash = 0;
  for (int i = 0; i < 64; i++)
    hash = hash * 31 + to[i];
  return hash;
}

extern "C" long floats(long n) {
  lock(&mutex);
  volatile double half = n / 2.0;
  volatile long double third = n / 3.0L;
  counter += half > third;
  long sum = (long)(__builtin_sqrt(half) * 1000 + third * 1000);
  unlock(&mutex);
  return sum;
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

// Much of what libraries have, as they come: their string functions use the widest registers there are.
extern "C" long libraries(long n) {
  lock(&mutex);
  char text[400];
  int length = snprintf(text, sizeof text, "%ld %g %s %08lx %.3Lf", n, n / 7.0, "some text that is copied", n * 977, n / 3.0L);
  long hash = strtol(text, 0, 10) + length + (long)strlen(text) + (long)(strtod("2.75", 0) * n);
  hash += strchr(text, 's') - text + (strstr(text, "copied") - text) + strcmp(text, "17") + memcmp(text, text + 1, 20);
  int numbers[40];
  for (int i = 0; i < 40; i++)
    numbers[i] = (i * 7919 + n) % 101;
  qsort(numbers, 20, sizeof *numbers, by_value);
  std::sort(numbers + 20, numbers + 40);
  for (int i = 0; i < 40; i++)
    hash = hash * 31 + numbers[i];
  std::map<std::string, std::shared_ptr<long>> map;
  for (long i = 0; i < 20; i++)
    map[std::to_string(i * n) + " as a key that is too long for the string itself"] = std::make_shared<long>(i);
  for (auto &it : map)
    hash = hash * 17 + *it.second + (long)it.first.size();
  std::vector<std::string> parts;
  for (char *part = strtok(text, " "); part; part = strtok(0, " "))
    parts.push_back(part);
  std::rotate(parts.begin(), parts.begin() + 1, parts.end());
  for (auto &it : parts)
    hash = hash * 13 + (long)it.size() + it[0];
  regex_t expression;
  regmatch_t match;
  if (regcomp(&expression, "[a-z]+ (t[ex]*t)", REG_EXTENDED) == 0) {
    hash += regexec(&expression, "12 some text", 1, &match, 0) == 0 ? match.rm_so : 1000;
    regfree(&expression);
  }
  char large[3000], other[3000];
  memset(large, n, sizeof large);
  memcpy(other, large, sizeof other);
  memmove(other + 3, other, 1500);
  for (int i = 0; i < 3000; i += 97)
    hash = hash * 7 + other[i];
  unlock(&mutex);
  return hash;
}
