"""Prints what gprof2dot reads of a recording: for each function its name, its file, its own cost, and its cost with callees
where the recording has whole stacks (null where gprof2dot estimates it). Usage: functions.py FORMAT FILE"""

import json
import sys

import gprof2dot

# Of stacks, their own numbers instead of shares of calls.
gprof2dot.totalMethod = "callstacks"
# Version 2025.4.14 calls it without having it.
gprof2dot.compat_itervalues = lambda it: it.values()


def cost(function, event):
    try:
        return function[event]
    except gprof2dot.UndefinedEvent:
        return None


def main():
    name, path = sys.argv[1:]
    reader = gprof2dot.formats[name]
    if reader.stdinInput:
        with open(path, encoding="UTF-8", errors="replace") as file:
            profile = reader(file).parse()
    else:
        profile = reader(path).parse()
    own = gprof2dot.TIME if name in ("prof", "pstats") else gprof2dot.SAMPLES
    whole = name in ("perf", "collapse", "dtrace", "json")
    functions = [
        [it.name, it.module, cost(it, own), cost(it, gprof2dot.TOTAL_SAMPLES) if whole else None]
        for it in profile.functions.values()
    ]
    json.dump(functions, sys.stdout)


main()
