// Allocates in three ways, for the samples of profilers of memory: kept, given back at once, and given back at the end.
#include <cstdlib>
#include <cstring>
#include <vector>

__attribute__((noinline)) char *leaf(std::size_t size)
{
    char *block = static_cast<char *>(std::malloc(size));
    std::memset(block, 1, size);
    return block;
}

__attribute__((noinline)) void keep(std::vector<char *> &blocks, int count)
{
    for (int n = 0; n < count; n++)
        blocks.push_back(leaf(1000));
}

__attribute__((noinline)) void drop(int count)
{
    for (int n = 0; n < count; n++)
        std::free(leaf(5000));
}

int main()
{
    static std::vector<char *> kept;
    std::vector<char *> blocks;
    keep(kept, 120);
    keep(blocks, 300);
    drop(200);
    keep(blocks, 100);
    for (char *block : blocks)
        std::free(block);
}
