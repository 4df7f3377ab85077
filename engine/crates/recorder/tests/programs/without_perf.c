// Starts a program that may not open perf events, as in a container with a strict seccomp profile: the call fails with the
// error that the first word names, or (KILL) ends the program.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments) {
  const int error = !strcmp(arguments[1], "EPERM") ? EPERM : EACCES;
  const unsigned denied = !strcmp(arguments[1], "KILL") ? 0x80000000u : SECCOMP_RET_ERRNO | error;
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, denied),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    perror("seccomp");
    return 1;
  }
  execv(arguments[2], arguments + 2);
  perror(arguments[2]);
  return 1;
}
