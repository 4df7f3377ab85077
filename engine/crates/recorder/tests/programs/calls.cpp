// `heavy` and `light` call the same `leaf`, 7 to 3. Words on the command line change that: `nap` has a round sleep 4 ms,
// `foreign` has it fill memory instead, `forks=n` has n children do the work, `rounds=n` ends after n rounds, `file=f` adds
// up there how long it slept (ns).
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fulcrum.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned long kept = 1;
static char block[1 << 20];

__attribute__((noinline)) unsigned long leaf(unsigned long n) {
    unsigned long y = kept | 1;
    for (unsigned long i = 0; i < n; i++) y = y * 6364136223846793005ul + 1442695040888963407ul;
    kept = y;
    return y;
}
__attribute__((noinline)) unsigned long heavy(unsigned long n) { return leaf(7 * n) + 1; }
__attribute__((noinline)) unsigned long light(unsigned long n) { return leaf(3 * n) + 2; }
__attribute__((noinline)) void foreign() {
    for (int i = 0; i < 60; i++)
        memset(block, (int)kept, sizeof block); // LINE: foreign
}

static long rounds = -1, forks = 0;
static bool nap = false, far = false;
static volatile uint64_t unwatched, *slept = &unwatched;

static uint64_t now() {
    timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000ull + at.tv_nsec;
}

static void work() {
    for (; rounds != 0; rounds--) {
        if (far)
            foreign();
        else
            heavy(400000), light(400000);
        const uint64_t before = nap ? now() : 0;
        if (nap) usleep(4000); // LINE: nap
        if (nap) *slept = *slept + (now() - before);
        FULCRUM_PROGRESS_NAMED("round");
    }
}

int main(int count, char **words) {
    for (int i = 1; i < count; i++) {
        sscanf(words[i], "rounds=%ld", &rounds);
        sscanf(words[i], "forks=%ld", &forks);
        if (!strncmp(words[i], "file=", 5))
            slept = static_cast<uint64_t *>(
                mmap(nullptr, 64, PROT_READ | PROT_WRITE, MAP_SHARED, open(words[i] + 5, O_RDWR), 0));
        nap = nap || !strcmp(words[i], "nap");
        far = far || !strcmp(words[i], "foreign");
    }
    for (long i = 0; i < forks; i++)
        if (fork() == 0) {
            work();
            _exit(0);
        }
    if (!forks) work();
    while (wait(nullptr) > 0) {}
    return 7;
}
