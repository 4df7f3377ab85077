"""Samples itself and writes OTLP, as protobuf and as JSON, with OpenTelemetry's own messages (PyPI: opentelemetry-proto).

otlp.py FILE writes FILE and FILE.json.
"""

import sys
import threading
import time

from google.protobuf import json_format
from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def sort(n):
    return sorted((i * 7919) % n for i in range(n))


def work():
    for _ in range(40):
        fibonacci(20)
        sort(20000)


data = ProfilesData()
dictionary = data.dictionary
tables = {}


def row(table, key, fill):
    """The row of a key in a table of the dictionary; row 0 is empty."""
    rows = tables.setdefault(table, {None: 0})
    if len(getattr(dictionary, table)) == 0:
        getattr(dictionary, table).add()
    if key not in rows:
        rows[key] = len(rows)
        fill(getattr(dictionary, table).add())
    return rows[key]


def string(text):
    rows = tables.setdefault("strings", {"": 0})
    if not dictionary.string_table:
        dictionary.string_table.append("")
    if text not in rows:
        rows[text] = len(rows)
        dictionary.string_table.append(text)
    return rows[text]


def function(code):
    def fill(it):
        it.name_strindex = string(code.co_name)
        it.filename_strindex = string(code.co_filename.rsplit("/", 1)[-1])
        it.start_line = code.co_firstlineno

    return row("function_table", code, fill)


def location(frame):
    key = (frame.f_code, frame.f_lineno)
    return row("location_table", key, lambda it: it.lines.add(function_index=function(key[0]), line=key[1]))


def stack(frame):
    frames = []
    while frame:
        frames.append(location(frame))
        frame = frame.f_back
    return row("stack_table", tuple(frames), lambda it: it.location_indices.extend(frames))


resource = data.resource_profiles.add()
resource.resource.attributes.add(key="service.name").value.string_value = "work"
profile = resource.scope_profiles.add().profiles.add()
profile.sample_type.type_strindex = string("samples")
profile.sample_type.unit_strindex = string("count")
samples = {}
sys.setswitchinterval(0.0005)
worker = threading.Thread(target=work)
worker.start()
while worker.is_alive():
    time.sleep(0.002)
    if frame := sys._current_frames().get(worker.ident):
        samples.setdefault(stack(frame), []).append(time.time_ns())
for index, times in samples.items():
    profile.samples.add(stack_index=index, timestamps_unix_nano=times)

with open(sys.argv[1], "wb") as file:
    file.write(data.SerializeToString())
with open(sys.argv[1] + ".json", "w") as file:
    file.write(json_format.MessageToJson(data, indent=None) + "\n")
