"""Known calls for cProfile; the file to write is the first argument."""

import cProfile
import sys


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def sort(n):
    return sorted((i * 7919) % n for i in range(n))


def work():
    for _ in range(3):
        fibonacci(16)
    sort(20000)
    "".join(map(str, range(5000)))


cProfile.run("work()", sys.argv[1])
