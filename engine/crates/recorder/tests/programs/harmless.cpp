// What programs do that a profiler must not disturb, one part an argument. Prints what it sees: the same with Fulcrum
// and without.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fulcrum.h"

extern char **environ;
extern "C" pid_t _Fork(void);
static std::atomic<bool> stop;
static void work(long n) {
  volatile long sink = 0;
  for (long i = 0; i < n; i++) sink = sink + i;
  FULCRUM_PROGRESS_NAMED("work");
}
static double now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}
static void work_for(double seconds) {
  for (const double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds; now(CLOCK_THREAD_CPUTIME_ID) < end;) work(20000);
}
// A second thread that always runs, so that experiments and pauses go on meanwhile. It begins with all signals blocked:
// were it to block them itself, one sent to the process early could still be its.
struct Noise {
  std::thread thread;
  Noise() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    thread = std::thread([] {
      while (!stop) work(100000);
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Noise() {
    stop = true;
    thread.join();
  }
};

// --- signals -----------------------------------------------------------------------------------------------------
static std::atomic<int> caught[65];
static std::atomic<int> code, value;
static void counts(int signal) { caught[signal]++; }
static void tells(int signal, siginfo_t *info, void *) {
  caught[signal]++;
  code = info->si_code;
  value = info->si_value.sival_int;
}
static char *alternate_begin, *alternate_end;
static std::atomic<int> on_alternate;
static void where(int signal) {
  char here;
  caught[signal]++;
  on_alternate = &here >= alternate_begin && &here < alternate_end;
}
static void handle(int signal, void (*handler)(int), int flags = 0) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}
static std::vector<int> order;
static void keeps(int, siginfo_t *info, void *) { order.push_back(info->si_value.sival_int); }

static void every_signal() {
  Noise noise;
  for (int signal = 1; signal <= 64; signal++) {
    if (signal == SIGKILL || signal == SIGSTOP || signal == 32 || signal == 33) continue;
    struct sigaction old, set;
    handle(signal, counts, SA_RESTART);
    raise(signal);
    pthread_kill(pthread_self(), signal);
    syscall(SYS_tgkill, getpid(), gettid(), signal);
    sigaction(signal, nullptr, &set);
    std::printf("%d: %d %d %x ", signal, caught[signal].load(), set.sa_handler == counts, set.sa_flags & SA_RESTART);
    struct sigaction info = {};
    info.sa_sigaction = tells;
    info.sa_flags = SA_SIGINFO;
    sigaction(signal, &info, &old);
    sigval attached;
    attached.sival_int = 7;
    sigqueue(getpid(), signal, attached);
    while (caught[signal] == 3) usleep(100);
    std::printf("%d %d %d ", old.sa_handler == counts, code.load(), value.load());
    std::printf("%d ", ::signal(signal, SIG_IGN) == (sighandler_t)tells);
    raise(signal);
    std::printf("%d %d\n", caught[signal].load(), ::signal(signal, SIG_DFL) == SIG_IGN);
  }
  struct sigaction once = {};
  once.sa_handler = counts;
  once.sa_flags = SA_RESETHAND;
  sigaction(SIGPROF, &once, nullptr);
  raise(SIGPROF);
  sigaction(SIGPROF, nullptr, &once);
  std::printf("reset %d\n", once.sa_handler == SIG_DFL);
}

static void alternate_stack() {
  Noise noise;
  stack_t stack = {};
  stack.ss_size = 65536;
  stack.ss_sp = alternate_begin = (char *)malloc(stack.ss_size);
  alternate_end = alternate_begin + stack.ss_size;
  sigaltstack(&stack, nullptr);
  handle(SIGUSR1, where, SA_ONSTACK);
  handle(SIGUSR2, where);
  for (int i = 0; i < 20; i++) {
    work_for(0.005);
    raise(SIGUSR1);
    if (!on_alternate) std::puts("not on the alternate stack");
    raise(SIGUSR2);
    if (on_alternate) std::puts("on the alternate stack");
  }
  std::printf("%d %d\n", caught[SIGUSR1].load(), caught[SIGUSR2].load());
}

static void queued() {
  Noise noise;
  struct sigaction action = {};
  action.sa_sigaction = keeps;
  action.sa_flags = SA_SIGINFO;
  sigfillset(&action.sa_mask);
  for (int signal : {SIGRTMIN, SIGRTMIN + 3, SIGRTMAX}) sigaction(signal, &action, nullptr);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  for (int i = 0; i < 20; i++) {
    sigval number;
    number.sival_int = i;
    sigqueue(getpid(), i % 3 == 0 ? SIGRTMAX : i % 3 == 1 ? SIGRTMIN : SIGRTMIN + 3, number);
  }
  work_for(0.05);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (int number : order) std::printf("%d ", number);
  std::puts("");
}

static void print_set(const char *name, const sigset_t &set) {
  std::printf("%s", name);
  for (int signal = 1; signal <= 64; signal++)
    if (sigismember(&set, signal) == 1) std::printf(" %d", signal);
  std::puts("");
}
static void masks() {
  sigset_t all, before, seen;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  print_set("before", before);
  handle(SIGPROF, counts);
  handle(SIGUSR1, counts);
  kill(getpid(), SIGPROF);
  kill(getpid(), SIGUSR1);
  work_for(0.05);
  sigpending(&seen);
  print_set("pending", seen);
  sigprocmask(SIG_SETMASK, nullptr, &seen);
  print_set("now", seen);
  std::printf("held %d %d\n", caught[SIGPROF].load(), caught[SIGUSR1].load());
  std::thread([] {
    sigset_t inherited;
    pthread_sigmask(SIG_BLOCK, nullptr, &inherited);
    print_set("inherited", inherited);
  }).join();
  sigset_t prof;
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  sigprocmask(SIG_UNBLOCK, &prof, nullptr);
  std::printf("open %d\n", caught[SIGPROF].load());
  pthread_sigmask(SIG_SETMASK, &before, &seen);
  print_set("left", seen);
  std::printf("delivered %d %d\n", caught[SIGPROF].load(), caught[SIGUSR1].load());
}

static void waits_for_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGPROF, SIGUSR1, SIGRTMIN + 1}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::atomic<int> got{0};
  std::thread waiter([&] {
    for (int i = 0; i < 30; i++) {
      work_for(0.002);
      int signal = 0;
      siginfo_t info = {};
      timespec limit = {5, 0};
      if (i % 3 == 0) sigwait(&set, &signal);
      if (i % 3 == 1) signal = sigwaitinfo(&set, &info);
      if (i % 3 == 2) signal = sigtimedwait(&set, &info, &limit);
      std::printf("%d %d\n", signal, i % 3 == 0 ? 0 : info.si_pid == getpid());
      got++;
    }
  });
  for (int i = 0; i < 30; i++) {
    if (i % 4 == 0) kill(getpid(), SIGPROF);
    if (i % 4 == 1) pthread_kill(waiter.native_handle(), SIGUSR1);
    if (i % 4 == 2) kill(getpid(), SIGUSR1);
    if (i % 4 == 3) pthread_kill(waiter.native_handle(), SIGRTMIN + 1);
    while (got <= i) work(2000);
  }
  waiter.join();
  timespec brief = {0, 3000000};
  for (int i = 0; i < 50; i++) {
    work(20000);
    siginfo_t info;
    if (sigtimedwait(&set, &info, &brief) != -1 || errno != EAGAIN) std::printf("odd %d\n", errno);
  }
}

static void own_timers() {
  Noise noise;
  struct sigaction action = {};
  action.sa_sigaction = tells;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  itimerval tick = {{0, 10000}, {0, 10000}}, none = {}, left;
  setitimer(ITIMER_PROF, &tick, nullptr);
  while (caught[SIGPROF] < 5) work(10000);
  getitimer(ITIMER_PROF, &left);
  setitimer(ITIMER_PROF, &none, nullptr);
  std::printf("interval %ld code %d\n", (long)left.it_interval.tv_usec, code.load());
  caught[SIGPROF] = 0;
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGPROF;
  event.sigev_value.sival_int = 4711;
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  itimerspec soon = {{0, 5000000}, {0, 5000000}};
  timer_settime(timer, 0, &soon, nullptr);
  while (caught[SIGPROF] < 5) work(10000);
  timer_delete(timer);
  std::printf("code %d value %d\n", code.load(), value.load());
}
// A signal that is pending already is not sent twice: samples must not swallow the program's own.
static void raises() {
  handle(SIGPROF, counts);
  for (int i = 0; i < 100000; i++) raise(SIGPROF);
  for (int i = 0; i < 100000; i++) pthread_kill(pthread_self(), SIGPROF);
  std::printf("raised %d\n", caught[SIGPROF].load());
}

// Sends the program's own SIGPROF in every way and waits for it each time, beside threads that work, block it and unblock it.
// A hang ends with SIGALRM; the last line shows where.
static void sends() {
  alarm(600);
  int to_child[2];
  pipe(to_child);
  const pid_t child = fork();
  if (child == 0) {
    close(to_child[1]);
    for (char byte; read(to_child[0], &byte, 1) == 1;) kill(getppid(), SIGPROF);
    _exit(0);
  }
  struct sigaction action = {};
  action.sa_sigaction = tells;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  Noise noise;
  sigset_t prof;
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  std::thread fickle([&] {
    while (!stop) {
      pthread_sigmask(SIG_BLOCK, &prof, nullptr);
      work(300);
      pthread_sigmask(SIG_UNBLOCK, &prof, nullptr);
      work(300);
    }
  });
  std::thread worker([&] {
    while (!stop) work(1000);
  });
  const pthread_t self = pthread_self(), other = worker.native_handle(), changing = fickle.native_handle();
  sigval attached;
  attached.sival_int = 5;
  const auto each = [&](const char *name, int times, auto send) {
    std::printf("%s", name);
    caught[SIGPROF] = 0;
    for (int i = 0; i < times; i++) {
      send();
      while (caught[SIGPROF] == i) usleep(20);
    }
    std::printf(" %d, code %d\n", caught[SIGPROF].load(), code.load());
  };
  each("raise", 30000, [&] { raise(SIGPROF); });
  each("tgkill", 30000, [&] { tgkill(getpid(), gettid(), SIGPROF); });
  each("by number", 60000, [&] { syscall(SYS_tgkill, getpid(), gettid(), SIGPROF); });
  each("by thread", 60000, [&] { syscall(SYS_tkill, gettid(), SIGPROF); });
  each("queued to itself", 30000, [&] { pthread_sigqueue(self, SIGPROF, attached); });
  each("to a thread", 500, [&] { pthread_kill(other, SIGPROF); });
  each("queued to a thread", 500, [&] { pthread_sigqueue(other, SIGPROF, attached); });
  each("to one that blocks", 500, [&] { pthread_kill(changing, SIGPROF); });
  each("kill", 3000, [&] { kill(getpid(), SIGPROF); });
  each("kill by number", 3000, [&] { syscall(SYS_kill, getpid(), SIGPROF); });
  each("from a child", 1000, [&] { write(to_child[1], "", 1); });
  each("sigqueue", 3000, [&] { sigqueue(getpid(), SIGPROF, attached); });
  const itimerval once = {{0, 0}, {0, 1}};
  each("interval timer", 100, [&] { setitimer(ITIMER_PROF, &once, nullptr); });
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGPROF;
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  const itimerspec soon = {{0, 0}, {0, 1000}};
  each("timer", 500, [&] { timer_settime(timer, 0, &soon, nullptr); });
  timer_delete(timer);
  int pair[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  fcntl(pair[0], F_SETOWN, getpid());
  fcntl(pair[0], F_SETSIG, SIGPROF);
  fcntl(pair[0], F_SETFL, O_ASYNC);
  char byte = 0;
  each("descriptor", 500, [&] { write(pair[1], &byte, 1), read(pair[0], &byte, 1); });
  close(to_child[1]);
  waitpid(child, nullptr, 0);
  stop = true;
  fickle.join();
  worker.join();
}

// The program blocks SIGPROF except while it waits: what was sent before must end the wait too.
static void masked_waits() {
  alarm(600);
  handle(SIGPROF, counts);
  sigset_t prof, open;
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &prof, &open);
  Noise noise;
  const pthread_t self = pthread_self();
  std::atomic<int> asked{0};
  std::thread sender([&] {
    for (int sent = 0; !stop;) {
      if (sent < asked) {
        if (sent % 3 == 0) pthread_kill(self, SIGPROF);
        if (sent % 3 == 1) kill(getpid(), SIGPROF);
        if (sent % 3 == 2) syscall(SYS_tgkill, getpid(), getpid(), SIGPROF);
        sent++;
      }
      work(500);
    }
  });
  const int epoll = epoll_create1(0);
  for (const char *way : {"sigsuspend", "ppoll", "pselect", "epoll_pwait", "sigwaitinfo", "sigtimedwait"}) {
    std::printf("%s", way);
    int taken = 0;
    caught[SIGPROF] = 0;
    for (int i = 0; i < 300; i++) {
      asked++;
      work(i % 7 * 200);
      while (caught[SIGPROF] + taken == i) {
        epoll_event event;
        const timespec long_time = {200, 0};
        if (!std::strcmp(way, "sigsuspend")) sigsuspend(&open);
        if (!std::strcmp(way, "ppoll")) ppoll(nullptr, 0, nullptr, &open);
        if (!std::strcmp(way, "pselect")) pselect(0, nullptr, nullptr, nullptr, nullptr, &open);
        if (!std::strcmp(way, "epoll_pwait")) epoll_pwait(epoll, &event, 1, -1, &open);
        if (!std::strcmp(way, "sigwaitinfo")) taken += sigwaitinfo(&prof, nullptr) == SIGPROF;
        if (!std::strcmp(way, "sigtimedwait")) taken += sigtimedwait(&prof, nullptr, &long_time) == SIGPROF;
      }
    }
    std::printf(" %d %d\n", caught[SIGPROF].load(), taken);
  }
  stop = true;
  sender.join();
}

// Nobody has sent anything that could be read there.
static void signal_descriptor() {
  sigset_t mask;
  sigemptyset(&mask);
  for (int signal : {SIGPROF, SIGUSR1}) sigaddset(&mask, signal);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  const int fd = signalfd(-1, &mask, SFD_NONBLOCK);
  signalfd_siginfo info;
  int taken = 0;
  for (const double end = now(CLOCK_THREAD_CPUTIME_ID) + 1; now(CLOCK_THREAD_CPUTIME_ID) < end;)
    for (int i = 0; i < 1000; i++) taken += read(fd, &info, sizeof info) > 0;
  std::printf("%d", taken);
  raise(SIGUSR1);
  read(fd, &info, sizeof info);
  std::printf(" %u\n", info.ssi_signo);
}

// What is pending for a thread is nobody else's, and goes where the kernel lets it go.
static std::atomic<int> taken_by;
static void pending() {
  alarm(600);
  handle(SIGPROF, [](int signal) { caught[signal]++, taken_by = gettid(); });
  sigset_t prof, seen;
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  const auto is_pending = [&] { return sigpending(&seen) == 0 && sigismember(&seen, SIGPROF) == 1; };
  pthread_sigmask(SIG_BLOCK, &prof, nullptr);
  thrd_t id;
  thrd_create(&id, [](void *) {
    sigset_t inherited;
    pthread_sigmask(SIG_BLOCK, nullptr, &inherited);
    return sigismember(&inherited, SIGPROF);
  }, nullptr);
  int result;
  thrd_join(id, &result);
  std::printf("inherited %d\n", result);
  raise(SIGPROF);
  std::thread([&] {
    std::printf("other's %d", is_pending());
    pthread_sigmask(SIG_UNBLOCK, &prof, nullptr);
    work_for(0.02);
    std::printf(" %d\n", caught[SIGPROF].load());
  }).join();
  const pid_t child = fork();
  if (child == 0) {
    std::printf("child's %d\n", is_pending());
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  std::printf("own %d", is_pending());
  pthread_sigmask(SIG_UNBLOCK, &prof, nullptr);
  std::printf(" %d %d\n", caught[SIGPROF].load(), taken_by == gettid());
  pthread_sigmask(SIG_BLOCK, &prof, nullptr);
  raise(SIGPROF);
  signal(SIGPROF, SIG_IGN);
  std::printf("ignored %d\n", is_pending());
  handle(SIGPROF, counts);
  raise(SIGPROF);
  // A child's handler ends its calls like its parent's. The signal may come before the call.
  const pid_t waiting = fork();
  if (waiting == 0) {
    pthread_sigmask(SIG_UNBLOCK, &prof, nullptr);
    const int result = poll(nullptr, 0, -1);
    std::printf("child's call %d %d\n", result, errno == EINTR);
    _exit(0);
  }
  while (waitpid(waiting, nullptr, WNOHANG) == 0) {
    kill(waiting, SIGPROF);
    usleep(1000);
  }
  std::printf("executing\n");
  execlp("grep", "grep", "-E", "^S(ig|hd)Pnd", "/proc/self/status", nullptr);
}

static void dies_of_sigprof() {
  work_for(0.1);
  raise(SIGPROF);
}
static void sigprof_ends_read() {
  int ends[2];
  pipe(ends);
  handle(SIGPROF, counts);
  const pthread_t reader = pthread_self();
  std::thread sender([&] {
    while (!stop) {
      usleep(20000);
      pthread_kill(reader, SIGPROF);
    }
  });
  char byte;
  const long result = read(ends[0], &byte, 1);
  std::printf("%ld %d\n", result, errno == EINTR);
  stop = true;
  sender.join();
}

static void not_interrupted() {
  std::map<std::string, int> interrupted;
  const auto check = [&](const char *name, long result) { interrupted[name] += result == -1 && errno == EINTR; };
  const int epoll = epoll_create1(0);
  int ends[2];
  pipe(ends);
  sem_t never;
  sem_init(&never, 0, 0);
  const timespec brief = {0, 20000};
  for (int i = 0; i < 1500; i++) {
    pollfd one = {ends[0], POLLIN, 0};
    epoll_event event;
    fd_set reads;
    FD_ZERO(&reads);
    FD_SET(ends[0], &reads);
    timeval time = {0, 20};
    sigset_t empty;
    sigemptyset(&empty);
    check("poll", poll(&one, 1, i % 20 == 0));
    check("ppoll", ppoll(&one, 1, &brief, &empty));
    check("select", select(ends[0] + 1, &reads, nullptr, nullptr, &time));
    check("pselect", pselect(ends[0] + 1, &reads, nullptr, nullptr, &brief, nullptr));
    check("epoll", epoll_wait(epoll, &event, 1, i % 20 == 0));
    check("nanosleep", nanosleep(&brief, nullptr));
    check("usleep", usleep(20));
    timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += end.tv_nsec < 999000000 ? 20000 : 0;
    check("sem", sem_timedwait(&never, &end));
    sigaddset(&empty, SIGUSR1);
    check("sigtimedwait", sigtimedwait(&empty, nullptr, &brief));
    work(3000);
  }
  for (auto &[name, times] : interrupted) std::printf("%s %d\n", name.c_str(), times);
}

// A write that a signal meets halfway returns a short count. Small ones are cut where the receiver's buffer is full.
static void whole_writes() {
  Noise noise;
  std::vector<char> much(8 << 20), some(4001);
  iovec parts[] = {{much.data(), much.size() / 2}, {much.data(), much.size() / 2}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  bind(listener, reinterpret_cast<sockaddr *>(&address), length);
  listen(listener, 1);
  getsockname(listener, reinterpret_cast<sockaddr *>(&address), &length);
  int to = socket(AF_INET, SOCK_STREAM, 0);
  connect(to, reinterpret_cast<sockaddr *>(&address), length);
  int ends[2], from = accept(listener, nullptr, nullptr);
  pipe(ends);
  std::vector<std::thread> readers;
  for (int end : {ends[0], from}) {
    readers.emplace_back([end] {
      std::vector<char> room(1 << 16);
      while (read(end, room.data(), room.size()) > 0) work(200);
    });
  }
  for (int i = 0; i < 4; i++) {
    std::printf("%zd\n", write(ends[1], much.data(), much.size()));
    std::printf("%zd\n", writev(ends[1], parts, 2));
    std::printf("%zd\n", send(to, much.data(), much.size(), 0));
    std::printf("%zd\n", sendto(to, much.data(), much.size(), 0, nullptr, 0));
    std::printf("%zd\n", sendmsg(to, &message, 0));
  }
  int shorter = 0;
  for (int i = 0; i < 20000; i++) {
    if (write(to, some.data(), some.size()) != ssize_t(some.size())) shorter++;
  }
  std::printf("%d\n", shorter);
  close(ends[1]);
  close(to);
  for (auto &reader : readers) reader.join();
}

// An alarm for calls that nothing else ends. It rings when the calling thread has been asleep in one system call for a while: at a
// fixed time, it might ring before the call begins.
struct Alarm {
  std::atomic<bool> wanted{false}, over{false};
  std::thread thread;
  Alarm() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    thread = std::thread([this, sleeper = gettid()] {
      long last = -1;
      for (int readings = 0; !over; usleep(1000)) {
        const long call = call_of(sleeper);
        readings = wanted && call >= 0 && call == last ? readings + 1 : 0;
        last = call;
        if (readings < 20) continue;
        wanted = false;
        ualarm(1000, 0);
      }
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Alarm() {
    over = true;
    thread.join();
  }
  // The number of the system call that a thread sleeps in; -1 when it runs.
  static long call_of(pid_t sleeper) {
    char path[64], text[64] = "";
    std::snprintf(path, sizeof path, "/proc/self/task/%d/syscall", sleeper);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    return length > 0 && text[0] >= '0' && text[0] <= '9' ? std::atol(text) : -1;
  }
};

// A write that a signal of the program's own meets halfway ends: its handler may be waited for.
static void writes_cut_by_own() {
  handle(SIGALRM, counts);
  Alarm alarm;
  const std::vector<char> much(8 << 20);
  for (int i = 0; i < 5; i++) {
    int pair[2], ends[2];
    pipe(ends);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    work(3000);
    alarm.wanted = true;
    std::printf("%zd\n", write(ends[1], much.data(), much.size()));
    alarm.wanted = true;
    const bool some = send(pair[1], much.data(), much.size(), 0) > 0;
    std::printf("%d %d\n", some, caught[SIGALRM].load());
    for (int end : {ends[0], ends[1], pair[0], pair[1]}) close(end);
  }
}

static void interrupted_by_own() {
  handle(SIGALRM, counts);
  Alarm alarm;
  for (int way = 0; way < 6; way++) {
    alarm.wanted = true;
    errno = 0;
    long result = 0;
    if (way == 0) result = pause();
    if (way == 1) result = poll(nullptr, 0, 5000);
    if (way == 2) result = sleep(5) > 0;
    if (way == 3) {
      sigset_t empty;
      sigemptyset(&empty);
      result = sigsuspend(&empty);
    }
    if (way == 4) {
      timespec long_time = {5, 0}, left;
      result = nanosleep(&long_time, &left);
    }
    if (way == 5) result = select(0, nullptr, nullptr, nullptr, nullptr);
    std::printf("%d: %ld %d %d\n", way, result, errno == EINTR, caught[SIGALRM].load());
  }
}

// --- faults ------------------------------------------------------------------------------------------------------
static sigjmp_buf back;
static void jumps(int) { siglongjmp(back, 1); }
static int deep(int n) {
  volatile char room[4096];
  room[0] = n;
  return n + deep(n + 1) + room[0];
}
static void faults() {
  Noise noise;
  stack_t stack = {};
  stack.ss_size = 65536;
  stack.ss_sp = malloc(stack.ss_size);
  sigaltstack(&stack, nullptr);
  handle(SIGSEGV, jumps, SA_ONSTACK);
  handle(SIGABRT, jumps);
  handle(SIGFPE, jumps);
  int faulted = 0, aborted = 0;
  for (volatile int i = 0; i < 20; i = i + 1) {
    if (sigsetjmp(back, 1) == 0)
      *static_cast<volatile int *>(nullptr) = 1;
    else
      faulted++;
    work(100000);
  }
  if (sigsetjmp(back, 1) == 0)
    abort();
  else
    aborted++;
  std::printf("%d %d\n", faulted, aborted);
  if (sigsetjmp(back, 1) == 0)
    std::printf("%d\n", deep(0));
  else
    std::puts("stack overflow survived");
}
static void aborts() {
  work_for(0.1);
  abort();
}
static void terminates() {
  work_for(0.1);
  std::thread([] { throw std::runtime_error("nobody catches"); }).join();
}
static void terminated() {
  work_for(0.1);
  kill(getpid(), SIGTERM);
  pause();
}

// --- processes ---------------------------------------------------------------------------------------------------
static int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}
static void forks() {
  Noise noise;
  pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      std::thread([] { work_for(0.02); }).join();
      _exit(11);
    }
    struct sigaction prof;
    sigaction(SIGPROF, nullptr, &prof);
    work_for(0.02);
    _exit(status_of(grandchild) + (prof.sa_handler == SIG_DFL));
  }
  std::printf("fork %d\n", status_of(child));
  child = fork();
  if (child == 0) raise(SIGPROF);
  std::printf("raise %d\n", status_of(child));
  child = _Fork();
  if (child == 0) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 100; i++) {
      pthread_mutex_lock(&mutex);
      work(20000);
      pthread_mutex_unlock(&mutex);
    }
    _exit(12);
  }
  std::printf("_Fork %d\n", status_of(child));
  child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) {
    for (int i = 0; i < 100; i++) usleep(100);
    _exit(13);
  }
  std::printf("clone %d\n", status_of(child));
  for (int i = 0; i < 30; i++) {
    child = vfork();
    if (child == 0) _exit(i);
    if (status_of(child) != i) std::puts("odd");
    child = vfork();
    if (child == 0) {
      execl("/bin/true", "true", nullptr);
      _exit(1);
    }
    if (status_of(child) != 0) std::puts("odd");
    work(30000);
  }
  std::puts("vfork");
}

static const char *const SCRIPT = "echo $0 $1 $2 $3 $4 $5 $6 $VARIABLE; exit 7";
static void execute(const std::string &way) {
  char *const list[] = {(char *)"sh", (char *)"-c", (char *)SCRIPT, (char *)"a", (char *)"b", (char *)"c", (char *)"d",
                        (char *)"e",  (char *)"f",  (char *)"g",    nullptr};
  char *const variables[] = {(char *)"VARIABLE=set", (char *)"PATH=/bin", nullptr};
  setenv("VARIABLE", "kept", 1);
  const int shell = open("/bin/sh", O_RDONLY);
  if (way == "execl") execl("/bin/sh", "sh", "-c", SCRIPT, "a", "b", "c", "d", "e", "f", "g", nullptr);
  if (way == "execlp") execlp("sh", "sh", "-c", SCRIPT, "a", "b", "c", "d", "e", "f", "g", nullptr);
  if (way == "execle") execle("/bin/sh", "sh", "-c", SCRIPT, "a", "b", "c", "d", "e", "f", "g", nullptr, variables);
  if (way == "execv") execv("/bin/sh", list);
  if (way == "execvp") execvp("sh", list);
  if (way == "execve") execve("/bin/sh", list, variables);
  if (way == "execvpe") execvpe("sh", list, variables);
  if (way == "fexecve") fexecve(shell, list, variables);
  if (way == "execveat") execveat(shell, "", list, variables, AT_EMPTY_PATH);
  if (way == "raw") syscall(SYS_execve, "/bin/sh", list, variables);
  if (way == "execl-short") execl("/bin/pwd", "pwd", nullptr);
}
static const std::vector<std::string> WAYS = {"execl",   "execlp",  "execle",   "execv", "execvp",     "execve",
                                              "execvpe", "fexecve", "execveat", "raw",   "execl-short"};
static void programs() {
  Noise noise;
  for (const auto &way : WAYS) {
    const pid_t child = fork();
    if (child == 0) {
      chdir("/");
      execute(way);
      _exit(99);
    }
    std::printf("%s %d\n", way.c_str(), status_of(child));
    std::printf("failed %d %d\n", execl("/nowhere", "a", "b", nullptr), errno == ENOENT);
    std::printf("failed %d %d\n", execve("/nowhere", environ, environ), errno == ENOENT);
    work(100000);
  }
  pid_t child;
  char *const list[] = {(char *)"sh", (char *)"-c", (char *)"exit 21", nullptr};
  posix_spawn(&child, "/bin/sh", nullptr, nullptr, list, environ);
  std::printf("spawn %d\n", status_of(child));
  posix_spawnp(&child, "sh", nullptr, nullptr, list, environ);
  std::printf("spawnp %d\n", status_of(child));
  std::printf("system %d\n", WEXITSTATUS(system("exit 22")));
  FILE *pipe = popen("echo from a pipe; exit 23", "r");
  char line[100] = "";
  std::fgets(line, sizeof line, pipe);
  std::printf("popen %s%d\n", line, WEXITSTATUS(pclose(pipe)));
}
// What a new program inherits of signals.
static void inherited_signals() {
  // libc's own signals lose what they inherited with the first thread.
  std::thread([] {}).join();
  signal(SIGPROF, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigaddset(&set, SIGPROF);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  work_for(0.05);
  execlp("grep", "grep", "-E", "^Sig(Blk|Ign|Pnd)", "/proc/self/status", nullptr);
}

// --- descriptors -------------------------------------------------------------------------------------------------
static void descriptors() {
  Noise noise;
  for (const char *way : {"loop", "range", "from", "raw", "listing"}) {
    const int first = open("/dev/null", O_RDONLY), second = dup(first);
    int closed = 0;
    if (!std::strcmp(way, "loop"))
      for (int fd = 3; fd < 8192; fd++) closed += close(fd) == 0;
    if (!std::strcmp(way, "range")) closed = close_range(3, ~0u, 0);
    if (!std::strcmp(way, "from")) closefrom(3);
    if (!std::strcmp(way, "raw")) {
      closed = syscall(SYS_close_range, 3, ~0u, 0);
      syscall(SYS_close, 500);
    }
    if (!std::strcmp(way, "listing")) {
      DIR *listing = opendir("/proc/self/fd");
      std::vector<int> found;
      while (dirent *entry = readdir(listing))
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(listing)) found.push_back(atoi(entry->d_name));
      closedir(listing);
      for (int fd : found)
        if (fd > 2) closed += close(fd) == 0;
    }
    work_for(0.03);
    const int next = open("/dev/null", O_RDONLY);
    std::printf("%s: %d %d, closed %d, next %d\n", way, first, second, closed, next);
    close(next);
  }
  const int high = dup2(1, 700);
  std::printf("dup2 %d %d\n", high, close(high));
}

// --- threads -----------------------------------------------------------------------------------------------------
static thread_local struct Farewell {
  std::string name;
  ~Farewell() {
    if (!name.empty()) std::printf("%s gone\n", name.c_str());
  }
} farewell;
static pthread_key_t first_key, second_key;
static void short_threads() {
  std::atomic<int> ended{0};
  for (int i = 0; i < 3000; i++) {
    std::thread thread([&] { ended++; });
    if (i % 3 == 0)
      thread.detach();
    else
      thread.join();
  }
  while (ended < 3000) usleep(100);
  std::vector<std::thread> many;
  for (int i = 0; i < 200; i++) many.emplace_back([&] { work(10000), ended++; });
  for (auto &one : many) one.join();
  thrd_t id;
  int result;
  thrd_create(&id, [](void *argument) { return *(int *)argument + 1; }, &(result = 41));
  int got;
  thrd_join(id, &got);
  thrd_create(&id, [](void *) -> int { thrd_exit(-5); }, nullptr);
  thrd_join(id, &result);
  std::printf("%d %d %d\n", ended.load(), got, result);
  pthread_key_create(&first_key, [](void *name) { std::printf("key %s\n", (char *)name); });
  pthread_key_create(&second_key, [](void *name) { std::printf("key %s\n", (char *)name); });
  std::thread([] {
    farewell.name = "thread";
    pthread_setspecific(first_key, "first");
    pthread_setspecific(second_key, "second");
    struct Local {
      ~Local() { std::puts("unwound"); }
    } local;
    pthread_exit(nullptr);
  }).join();
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int pipe_ends[2];
static void clean(void *name) { std::printf("cleaned %s\n", (const char *)name); }
static void cancellation() {
  Noise noise;
  pipe(pipe_ends);
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  using Routine = void *(*)(void *);
  const std::vector<std::pair<const char *, Routine>> routines = {
      {"sleep", [](void *) -> void * { for (;;) sleep(1); }},
      {"nanosleep", [](void *) -> void * { timespec t = {9, 0}; for (;;) nanosleep(&t, nullptr); }},
      {"read", [](void *) -> void * { char byte; for (;;) read(pipe_ends[0], &byte, 1); }},
      {"poll", [](void *) -> void * { for (;;) poll(nullptr, 0, -1); }},
      {"select", [](void *) -> void * { for (;;) select(0, nullptr, nullptr, nullptr, nullptr); }},
      {"epoll", [](void *) -> void * { epoll_event e; const int fd = epoll_create1(0); for (;;) epoll_wait(fd, &e, 1, -1); }},
      {"pause", [](void *) -> void * { for (;;) pause(); }},
      {"semaphore", [](void *) -> void * { for (;;) sem_wait(&semaphore); }},
      {"sigwait", [](void *) -> void * { sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); int n; for (;;) sigwait(&s, &n); }},
      {"join", [](void *) -> void * { static std::thread endless([] { for (;;) usleep(1000); }); endless.native_handle(); pthread_join(endless.native_handle(), nullptr); return nullptr; }},
      {"condition", [](void *) -> void * {
         pthread_mutex_lock(&mutex);
         pthread_cleanup_push([](void *) { pthread_mutex_unlock(&mutex); }, nullptr);
         for (;;) pthread_cond_wait(&condition, &mutex);
         pthread_cleanup_pop(0);
       }},
      {"asynchronous", [](void *) -> void * {
         pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
         for (volatile long i = 0;; i = i + 1);
       }},
      {"testcancel", [](void *) -> void * {
         pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
         usleep(60000);
         std::puts("not yet");
         pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
         for (;;) pthread_testcancel(), work(1000);
       }},
  };
  for (auto &[name, routine] : routines) {
    static Routine body;
    body = routine;
    pthread_t id;
    void *result = nullptr;
    pthread_create(&id, nullptr, [](void *name) -> void * {
      void *result;
      pthread_cleanup_push(clean, name);
      result = body(nullptr);
      pthread_cleanup_pop(0);
      return result;
    }, (void *)name);
    usleep(30000);
    pthread_cancel(id);
    pthread_join(id, &result);
    std::printf("%s %d\n", name, result == PTHREAD_CANCELED);
  }
  std::fflush(stdout);
  stop = true;
  noise.thread.join();
  _exit(0);
}

static void exceptions() {
  Noise noise;
  int caught_here = 0;
  for (int i = 0; i < 500; i++) {
    try {
      auto result = std::async(std::launch::async, [](int n) { work(5000); if (n % 2) throw n; return n; }, i);
      result.get();
    } catch (int) {
      caught_here++;
    }
  }
  std::exception_ptr kept;
  std::thread([&] {
    try {
      throw std::runtime_error("kept");
    } catch (...) {
      kept = std::current_exception();
    }
  }).join();
  try {
    std::rethrow_exception(kept);
  } catch (const std::exception &error) {
    std::printf("%d %s\n", caught_here, error.what());
  }
}

// --- the rest ----------------------------------------------------------------------------------------------------
static void libraries() {
  Noise noise;
  for (int i = 0; i < 50; i++) {
    void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    auto cosine = (double (*)(double))dlsym(library, "cos");
    if (cosine(0.0) != 1.0) std::puts("odd");
    dlclose(library);
    work(20000);
  }
  const bool missing = dlopen("libnowhere.so", RTLD_NOW) == nullptr;
  std::printf("%d %d\n", missing, std::strstr(dlerror(), "libnowhere.so") != nullptr);
}
static void limits() {
  const auto limit = [](int which, rlim_t to) {
    rlimit value = {to, to};
    std::printf("limit %d\n", setrlimit((__rlimit_resource)which, &value));
  };
  limit(RLIMIT_NOFILE, 8);
  limit(RLIMIT_SIGPENDING, 0);
  limit(RLIMIT_MEMLOCK, 0);
  std::vector<std::thread> many;
  std::atomic<int> ended{0};
  for (int i = 0; i < 30; i++) many.emplace_back([&] { work_for(0.01), ended++; });
  for (auto &one : many) one.join();
  std::vector<int> opened;
  for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;) opened.push_back(fd);
  std::printf("%d threads, opened %zu, then %d\n", ended.load(), opened.size(), errno == EMFILE);
}
static void full_queue() {
  rlimit few = {8, 8};
  setrlimit(RLIMIT_SIGPENDING, &few);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  sigval nothing = {};
  while (sigqueue(getpid(), SIGRTMIN, nothing) == 0) {
  }
  const bool full = errno == EAGAIN;
  std::vector<std::thread> some;
  for (int i = 0; i < 4; i++) some.emplace_back([] { work_for(0.1); });
  for (auto &one : some) one.join();
  std::printf("full %d\n", full);
}
static void timer_slack() {
  prctl(PR_SET_TIMERSLACK, 12345);
  Noise noise;
  long looks = 0, changed = 0;
  for (const double end = now(CLOCK_THREAD_CPUTIME_ID) + 0.6; now(CLOCK_THREAD_CPUTIME_ID) < end; looks++) {
    work(20000);
    changed += prctl(PR_GET_TIMERSLACK) != 12345;
  }
  std::printf("%d %ld\n", looks > 0, changed);
}
// As the kernel has it; libc does not declare it everywhere.
struct Scheduling {
  unsigned size, policy;
  unsigned long long flags;
  int nice;
  unsigned priority;
  unsigned long long slice, deadline, period;
};
static void scheduling() {
  Scheduling own = {sizeof own, SCHED_OTHER, 0, 0, 0, 1400000, 0, 0};
  const long set = syscall(SYS_sched_setattr, 0, &own, 0);
  const long got = syscall(SYS_sched_getattr, 0, &own, sizeof own, 0);
  Noise noise;
  long looks = 0, changed = 0;
  for (const double end = now(CLOCK_THREAD_CPUTIME_ID) + 0.6; now(CLOCK_THREAD_CPUTIME_ID) < end; looks++) {
    work(20000);
    Scheduling seen = {};
    syscall(SYS_sched_getattr, 0, &seen, sizeof seen, 0);
    changed += memcmp(&seen, &own, sizeof own) != 0;
  }
  std::printf("%ld %ld %llu, %d %ld\n", set, got, own.slice, looks > 0, changed);
}
static void clocks() {
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  const double wall = now(), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  const clock_t ticks = clock();
  work_for(0.3);
  getrusage(RUSAGE_SELF, &after);
  const double used = after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec +
                      (after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1e6;
  const auto about = [](double seconds) { return seconds > 0.25 && seconds < 0.45; };
  std::printf("%d %d %d %d\n", about(used), about(now(CLOCK_PROCESS_CPUTIME_ID) - cpu),
              about((double)(clock() - ticks) / CLOCKS_PER_SEC), now() - wall >= 0.29);
  struct stat status;
  const mode_t mask = umask(027);
  char path[] = "/tmp/fulcrum-harmless-XXXXXX";
  const int made = mkstemp(path);
  unlink(path);
  const int fd = open(path, O_CREAT | O_RDWR, 0666);
  fstat(fd, &status);
  unlink(path);
  std::printf("%o %o %d\n", mask, status.st_mode & 0777, made);
}

// --- ways out ----------------------------------------------------------------------------------------------------
static void leave(const std::string &way) {
  atexit([] { std::puts("at exit, first registered"); });
  atexit([] { std::puts("at exit, last registered"), work(100000); });
  at_quick_exit([] { std::puts("at quick exit"); });
  static struct Last {
    ~Last() { std::puts("static gone"); }
  } last;
  work_for(0.15);
  std::fflush(stdout);
  if (way == "return") return;
  if (way == "exit") std::thread([] { exit(5); }).join();
  if (way == "_exit") _exit(6);
  if (way == "_Exit") _Exit(7);
  if (way == "quick_exit") quick_exit(8);
  if (way == "exit_group") syscall(SYS_exit_group, 9);
  if (way == "child") {
    const pid_t child = fork();
    if (child == 0) quick_exit(10);
    std::exit(status_of(child));
  }
  if (way == "main") {
    std::thread([] { work_for(0.2), std::puts("the other thread"); }).detach();
    pthread_exit(nullptr);
  }
  if (way == "last") pthread_exit(nullptr);
  if (way == "raw-last") syscall(SYS_exit, 0);
  if (way == "in-handler") {
    handle(SIGALRM, [](int) { _exit(12); });
    ualarm(10000, 0);
    for (;;) work(100000);
  }
}

int main(int, char **arguments) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  const std::string part = arguments[1];
  const std::map<std::string, void (*)()> parts = {
      {"every-signal", every_signal},   {"alternate-stack", alternate_stack},
      {"queued", queued},               {"masks", masks},
      {"waits", waits_for_signals},     {"own-timers", own_timers},
      {"raises", raises}, {"sends", sends}, {"masked-waits", masked_waits}, {"pending", pending}, {"signal-descriptor", signal_descriptor}, {"dies-of-sigprof", dies_of_sigprof}, {"sigprof-ends-read", sigprof_ends_read},
      {"not-interrupted", not_interrupted}, {"interrupted-by-own", interrupted_by_own}, {"whole-writes", whole_writes}, {"writes-cut-by-own", writes_cut_by_own},
      {"faults", faults},               {"aborts", aborts},
      {"terminates", terminates},       {"terminated", terminated},
      {"forks", forks},                 {"programs", programs},
      {"inherited-signals", inherited_signals}, {"descriptors", descriptors},
      {"short-threads", short_threads}, {"cancellation", cancellation},
      {"exceptions", exceptions},       {"libraries", libraries},
      {"limits", limits},               {"full-queue", full_queue},
      {"clocks", clocks},               {"timer-slack", timer_slack},     {"scheduling", scheduling},
  };
  if (part.rfind("leave-", 0) == 0) {
    leave(part.substr(6));
  } else if (part.rfind("become-", 0) == 0) {
    Noise noise;
    work_for(0.1);
    chdir("/");
    execute(part.substr(7));
  } else {
    parts.at(part)();
  }
  return 42;
}
