// Restricts its system calls, as sandboxes do, and then works in a thread. The first word says how: `perf`, without perf
// events; `samples`, without timers either; `list`, with nothing but what this program needs; `strict`, the kernel's strict
// mode, in which it writes and ends. Whatever else it called, it would be killed. It works until there is the file that the
// second word names.
#define _GNU_SOURCE
#include "fulcrum.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile unsigned sink;
static const char *how, *end;

static void *work(void *unused) {
  int rounds = 0;
  do {
    for (int i = 0; i < 1000000; i++)
      sink = sink * 31u + i; // LINE: work
    FULCRUM_PROGRESS_NAMED("served");
  } while (strcmp(how, "list") ? access(end, F_OK) != 0 : ++rounds < 100);
  return unused;
}

static struct sock_filter rules[96];
static unsigned short length;

static void rule(unsigned short code, unsigned char yes, unsigned char no, unsigned operand) {
  rules[length++] = (struct sock_filter){code, yes, no, operand};
}

// Either kills these calls, or kills all others.
static int restrict_to(const int *calls, unsigned these, unsigned others) {
  rule(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
  for (; *calls >= 0; calls++) {
    rule(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, *calls);
    rule(BPF_RET | BPF_K, 0, 0, these);
  }
  rule(BPF_RET | BPF_K, 0, 0, others);
  struct sock_fprog program = {length, rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    return 1;
  // Both ways that there are.
  if (!strcmp(how, "perf"))
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0;
}

int main(int count, char **words) {
  how = words[1];
  end = words[2];
  const int perf[] = {SYS_perf_event_open, SYS_prctl, -1};
  const int samples[] = {SYS_perf_event_open, SYS_timer_create, -1};
  const int list[] = {SYS_write,    SYS_exit,   SYS_exit_group,      SYS_futex,   SYS_mmap,           SYS_munmap,
                      SYS_mprotect, SYS_brk,    SYS_rt_sigprocmask,  SYS_clone3,  SYS_clone,          SYS_set_robust_list,
                      334,          SYS_rt_sigaction,          SYS_madvise, SYS_rt_sigreturn,   SYS_fstat,   SYS_newfstatat,     -1};
  puts("begins");
  fflush(stdout);
  if (!strcmp(how, "strict")) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
      return 9;
    syscall(SYS_write, 1, "done\n", 5);
    syscall(SYS_exit, 3);
  }
  const unsigned kill = 0x80000000u, allow = SECCOMP_RET_ALLOW;
  const int failed = !strcmp(how, "list") ? restrict_to(list, allow, kill)
                                          : restrict_to(strcmp(how, "perf") ? samples : perf, kill, allow);
  if (failed)
    return 9;
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL))
    return 8;
  pthread_join(thread, NULL);
  puts("done");
  fflush(stdout);
  return 3;
}
