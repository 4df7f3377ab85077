// A small pipeline with most of what C++ code looks like.
#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#ifdef USE_FAST_QUEUE
#include "fast_queue.h"
#endif

#define CHECK(x) do { if (!(x)) fail(#x, __FILE__, __LINE__); } while (0)
#define FOR_EACH(item, list) for (auto& item : list)

namespace pipeline {

using Work = std::function<int(int)>;

template <typename T, size_t N = 16>
class Queue {
public:
    explicit Queue(std::string name) : name_(std::move(name)), head_{0} {}
    Queue(const Queue&) = delete;
    ~Queue() { close(); }

    bool push(T value) {
        for (;;) {
            auto head = head_.load(std::memory_order_relaxed);
            if (head - tail_ >= N) return false;
            if (head_.compare_exchange_weak(head, head + 1)) { slots_[head % N] = std::move(value); return true; }
        }
    }

    T pop() {
        while (empty())
            std::this_thread::yield();  // spin
        return slots_[tail_++ % N];
    }

    bool operator==(const Queue& other) const { return name_ == other.name_; }
    constexpr static size_t capacity() { return N; }
    bool empty() const noexcept;

private:
    std::string name_;
    std::atomic<size_t> head_;
    size_t tail_ = 0;
    T slots_[N];
};

static int parse(const char* text, int (*convert)(const char*)) try {
    int sum = 0;
    for (const char* p = text; *p; p++)
        switch (*p) {
            case ' ':
            case '\t':
                continue;
            case '#': {
                while (*p && *p != '\n') ++p;
                break;
            }
            default:
                sum += convert(p);
                /* falls out */
                break;
        }
    return sum;
} catch (const std::exception& e) {
    log(e.what());
    throw;
}

void run(std::vector<Work>& stages, int count) {
    std::vector<std::thread> threads;
    std::map<std::string, std::vector<int>> seen;
    for (auto& stage : stages) {
        threads.emplace_back([&stage, count] {
            for (int i = 0; i < count; ++i) {
                if (auto result = stage(i); result < 0) {
                    continue;
                } else if (result == 0)
                    break;
                else {
                    use(result);
                }
            }
        });
    }

    std::sort(stages.begin(), stages.end(), [](const Work& a, const Work& b) { return &a < &b; });
    FOR_EACH(item, seen) {
        CHECK(!item.first.empty());
    }
    for (auto& [name, values] : seen) for (int v : values) total += v;
    do { drain(); } while (pending());
    do
        step();
    while (more());
#ifdef TRACE
    for (auto& thread : threads) {
        trace(thread);
    }
#else
    (void)threads;
#endif
#pragma omp parallel for
    for (int i = 0; i < 10; i++);
    const char* sql = R"(
        for (;;) { SELECT; }
    )";
    if constexpr (sizeof(long) == 8) { wide(sql); }
    goto done;
done:
    for (auto& thread : threads) { thread.join(); }
}

}  // namespace pipeline

TEST(Pipeline, Runs) {
    EXPECT_EQ(parse("1 2", [](const char* p) { return *p - '0'; }), 3);
}

int main(int argc, char** argv) { return argc > 1 ? parse(argv[1], nullptr) : 0; }
