// What a line's time passes in. Rounds of the first word: `lock` waits for a lock that another thread has taken before, `write` has the kernel copy memory, anything else computes.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fulcrum.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
static volatile unsigned long kept = 1;
static char block[1 << 18];
static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;
// The rounds in which the lock was taken here and there.
static std::atomic<long> held, passed;

__attribute__((noinline)) static void compute(unsigned long n) {
    unsigned long y = kept | 1;
    for (unsigned long i = 0; i < n; i++) y = y * 6364136223846793005ul + 1442695040888963407ul; // LINE: compute
    kept = y;
}

__attribute__((noinline)) static void hold() {
    for (long round = 1;; round++) {
        pthread_mutex_lock(&taken);
        held = round;
        compute(2000000);
        pthread_mutex_unlock(&taken); // LINE: held
        while (passed < round) sched_yield();
    }
}

static void wait_for_it(long round) {
    while (held < round) sched_yield();
    pthread_mutex_lock(&taken); // LINE: lock
    passed = round;
    pthread_mutex_unlock(&taken);
}

static void copy(int file) {
    lseek(file, 0, SEEK_SET);
    if (write(file, block, sizeof block) < 0) abort(); // LINE: write
}

int main(int, char **words) {
    const bool locks = !strcmp(words[1], "lock"), writes = !strcmp(words[1], "write");
    const int file = memfd_create("copy", 0);
    if (locks) std::thread(hold).detach();
    for (long round = 1;; round++) {
        if (locks)
            wait_for_it(round);
        else if (writes)
            copy(file);
        else
            compute(100000);
        FULCRUM_PROGRESS_NAMED("round");
    }
}
