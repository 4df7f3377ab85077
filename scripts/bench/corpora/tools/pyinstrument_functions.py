"""Prints what pyinstrument makes of a recording: for each function its name, its own seconds, and those with its callees.

Usage: pyinstrument_functions.py whole|shown FILE.pyisession    of a session's whole tree, or of what its JSON shows
       pyinstrument_functions.py tree FILE.json                 of the tree that its page is given
       pyinstrument_functions.py json FILE.json                 that tree as pyinstrument's JSON instead"""

import json
import sys
from collections import defaultdict

from pyinstrument.frame import Frame
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


class Context:
    """What a frame asks its session for."""

    sys_prefixes = ()

    def shorten_path(self, path):
        return path


def tree(node):
    frame = Frame(node["identifier"], [tree(child) for child in node["children"]], context=Context())
    frame.time = node["time"]
    frame.attributes = node["attributes"]
    return frame


def as_json(session, root):
    about = {key: session[key] for key in ("start_time", "duration", "sample_count", "target_description", "cpu_time")}
    return f"{json.dumps(about)[:-1]}, \"root_frame\": {JSONRenderer().render_frame(root)}}}"


def root_of(what, path):
    if what == "tree":
        with open(path, encoding="utf-8") as file:
            return tree(json.load(file)["frame_tree"])
    # Only the JSON leaves out what Python itself calls before the program.
    root = Session.load(path).root_frame(trim_stem=what == "shown")
    return root if what == "whole" else JSONRenderer().preprocess(root)


def main():
    what, path = sys.argv[1:]
    sys.setrecursionlimit(100_000)
    if what == "json":
        with open(path, encoding="utf-8") as file:
            session = json.load(file)["session"]
        print(as_json(session, root_of("tree", path)))
        return
    costs = defaultdict(lambda: ["", 0.0, 0.0])
    add(root_of(what, path), frozenset(), costs)
    json.dump(list(costs.values()), sys.stdout)


main()
