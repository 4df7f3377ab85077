"""Prints the samples of stacks in a Perfetto trace: for each function its name, its samples alone, and those with its callees. An
independent reading of what Perfetto's protocol says, by its published messages, for machines without Perfetto's own trace processor.
Usage: perfetto_functions.py FILE.pftrace

With `--make`, it writes the traces with such samples that are in a file of Perfetto's own tests (textproto, or a module of tests)
into a folder, and prints their names: perfetto_functions.py --make FOLDER FILE"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

from google.protobuf import text_format
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

# What the interned tables of a writer hold, and whether entries are text.
TABLES = {"mapping_paths": True, "function_names": True, "build_ids": True, "mappings": False, "frames": False, "callstacks": False}


def sampled(trace):
    return [it for it in trace.packet if it.HasField("perf_sample") or it.HasField("streaming_profile_packet")]


def name_of(frame, tables):
    name = tables["function_names"].get(frame.function_name_id, "")
    if name:
        return name
    mapping = tables["mappings"].get(frame.mapping_id)
    path = "/".join(tables["mapping_paths"].get(it, "") for it in mapping.path_string_ids) if mapping else ""
    base = path.split("/")[-1].strip("[]")
    return f"[{base or 'unknown'}]"


def stacks_of(trace):
    writers = defaultdict(lambda: {name: {} for name in TABLES})
    # Interned entries hold for the whole of a writer here: no trace of the tests clears them.
    for packet in trace.packet:
        for name, is_text in TABLES.items():
            for entry in getattr(packet.interned_data, name):
                value = entry.str.decode("utf-8", "replace") if is_text else entry
                writers[packet.trusted_packet_sequence_id][name][entry.iid] = value
    for packet in sampled(trace):
        tables = writers[packet.trusted_packet_sequence_id]
        sample = packet.perf_sample
        if sample.HasField("sample_skipped_reason"):
            continue
        ids = [sample.callstack_iid] if packet.HasField("perf_sample") else packet.streaming_profile_packet.callstack_iid
        for iid in ids:
            stack = tables["callstacks"].get(iid)
            frames = [tables["frames"][it] for it in stack.frame_ids] if stack else []
            # The outermost frame is first.
            yield [name_of(frame, tables) for frame in reversed(frames)] or ["[no stack]"]


def read(path):
    trace = messages.Trace()
    trace.ParseFromString(Path(path).read_bytes())
    costs = defaultdict(lambda: [0, 0])
    for stack in stacks_of(trace):
        costs[stack[0]][0] += 1
        for name in set(stack):
            costs[name][1] += 1
    json.dump([[name, *cost] for name, cost in costs.items()], sys.stdout)


def make(folder, path):
    name = Path(path).name
    text = Path(path).read_text()
    texts = re.findall(r"TextProto\(r?(?:'''|\"\"\")(.*?)(?:'''|\"\"\")", text, re.S) if name.endswith(".py") else [text]
    for number, one in enumerate(texts):
        trace = messages.Trace()
        try:
            text_format.Parse(one, trace, allow_unknown_field=True, allow_unknown_extension=True)
        except text_format.ParseError:
            continue
        if sampled(trace):
            file = f"{Path(name).stem}-{number}.pftrace"
            Path(folder, file).write_bytes(trace.SerializeToString())
            print(file)


if sys.argv[1] == "--make":
    make(*sys.argv[2:])
else:
    read(sys.argv[1])
