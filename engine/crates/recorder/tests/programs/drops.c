// Like a server that root starts: a child gives up root's rights for ever and does the work. Its lines are marked. The words
// name the parent's exit status when the child could not, and how many rounds it works.
#define _GNU_SOURCE
#include "fulcrum.h"
#include <grp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned sink;
static void work(void) {
  for (int i = 0; i < 2000000; i++)
    sink = sink * 31u + i; // LINE: work
  FULCRUM_PROGRESS_NAMED("served");
}
int main(int count, char **words) {
  const int rounds = count > 2 ? atoi(words[2]) : 1000;
  const pid_t worker = fork();
  if (worker == 0) {
    const int denied = setgroups(0, NULL) || setgid(65534) || setuid(65534);
    for (int i = 0; i < rounds; i++)
      work();
    _exit(denied ? atoi(words[1]) : 0);
  }
  int status = 0;
  waitpid(worker, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
