"""Known calls for a sampling profiler; the argument is how many rounds."""

import sys


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def sort(n):
    numbers = [(i * 7919) % n for i in range(n)]
    return sorted(numbers)


def work(rounds):
    for _ in range(rounds):
        fibonacci(18)
        sort(4000)


work(int(sys.argv[1]))
