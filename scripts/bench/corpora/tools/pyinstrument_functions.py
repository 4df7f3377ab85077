"""Prints what pyinstrument makes of a session: for each function its name, its own seconds, and those with its callees; of its
whole tree, or of what its JSON shows. Usage: pyinstrument_functions.py whole|shown FILE.pyisession"""

import json
import sys
from collections import defaultdict

from pyinstrument.renderers import JSONRenderer
from pyinstrument.session import Session


def add(frame, above, costs):
    key = (frame.class_name, frame.function, frame.file_path)
    name = f"{frame.class_name}.{frame.function}" if frame.class_name else frame.function
    calls = [child for child in frame.children if not child.is_synthetic]
    # A thread is no function.
    if frame.file_path != "<thread>":
        cost = costs[key]
        cost[0] = name
        cost[1] += frame.time - sum(child.time for child in calls)
        cost[2] += 0 if key in above else frame.time
    for child in calls:
        add(child, above | {key}, costs)


def main():
    what, path = sys.argv[1:]
    sys.setrecursionlimit(100_000)
    # Only the JSON leaves out what Python itself calls before the program.
    root = Session.load(path).root_frame(trim_stem=what == "shown")
    costs = defaultdict(lambda: ["", 0.0, 0.0])
    add(root if what == "whole" else JSONRenderer().preprocess(root), frozenset(), costs)
    json.dump(list(costs.values()), sys.stdout)


main()
