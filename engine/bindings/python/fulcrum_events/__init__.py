"""Reads event logs, as docs/formats.md describes them: `events-*.log` of a run that `fulcrum trace` recorded.

    import fulcrum_events

    trace = fulcrum_events.Trace.open("events-4711.log")
    for event in trace.events():
        print(event["timeNs"], trace.threads[event["thread"]].name, event["event"], event.get("method"))

Events are dictionaries with the keys of `fulcrum events list --json`. Times are nanoseconds since the log's start, `cpu` is
the thread's CPU time or None. Damaged parts are left out and told in `Trace.problems`.

Pure Python 3.8 and newer, no other packages. The file is mapped, and events are read while they are asked for.
"""

import heapq
import math
import mmap
import os
import struct
from dataclasses import dataclass

__all__ = ["LogError", "Method", "Thread", "Trace"]

_HEADER = 4096
_STEP = 64
_NEWEST = 2
_U64 = (1 << 64) - 1
_DICTIONARY, _MACHINE = 0, 1
_MAX_PAYLOAD = 4096 - 64 - 48

_METHOD_EVENTS = {1: "enter", 2: "exit", 3: "thrown"}


class LogError(Exception):
    """It is not an event log, or one of another version."""


class _Damage(Exception):
    """Something that is no record."""


@dataclass(frozen=True)
class Method:
    """A method that events are about."""

    cls: str
    name: str
    descriptor: str
    source: str
    line: int


@dataclass(frozen=True)
class Thread:
    """A thread of the log. 1 is the virtual machine itself; a parent of 0 is not known."""

    id: int
    name: str
    group: str
    parent: int


@dataclass(frozen=True)
class _Chunk:
    thread: int
    sequence: int
    data: int
    used: int
    ticks: int
    ns: int
    cpu_ns: int
    base: int


class Trace:
    """An event log.

    pid, start_unix_ns: the process, and when the log began. ended: "ended", "open" (being written, or killed) or "full".
    dropped: events that found no place. costs: what probes cost, nanoseconds (inside, outside, skipped). methods, classes and
    threads by their numbers. notes: what the recorder says. problems: what is damaged.
    """

    def __init__(self, data):
        """Reads a log from bytes, or from anything that can be indexed like them."""
        if len(data) < 16 or bytes(data[0:8]) != b"FULCELOG":
            raise LogError("it is not an event log: at byte 0 FULCELOG was expected")
        words = struct.unpack("<15Q", bytes(data[0:120]).ljust(120, b"\0"))
        if not 1 <= words[1] <= _NEWEST:
            raise LogError(f"at byte 8 it says that it is of version {words[1]}, and this reads versions up to {_NEWEST}")
        self._data = data
        self.pid = words[2]
        self.start_unix_ns = words[3]
        self.ended = {1: "ended", 2: "full"}.get(words[7], "open")
        self.dropped = words[10]
        self.costs = tuple(word / 1000 for word in words[11:14])
        self.notes = []
        self.problems = []
        self._cpu_clock = words[14]
        self._until = words[8] if self.ended == "full" else _U64
        self._chunks = self._find_chunks()
        self._start = words[4]
        self._rate = self._clock_rate((words[4], words[5]), (words[8], words[9]))
        self.methods = {}
        self.classes = {}
        self._read_dictionary()
        self.threads = {number: self._thread(number) for number in sorted(self._chunks) if number != _DICTIONARY}

    @classmethod
    def open(cls, path):
        """Opens a log, or the only one of a run's folder."""
        if os.path.isdir(path):
            logs = sorted(name for name in os.listdir(path) if name.startswith("events-") and name.endswith(".log"))
            if len(logs) != 1:
                raise LogError(f"{path} holds {len(logs)} logs: choose one")
            path = os.path.join(path, logs[0])
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise LogError("it is empty")
            return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def events(self):
        """The events of all threads, in the order of time."""
        streams = [self.thread_events(number) for number in self.threads]
        return heapq.merge(*streams, key=lambda event: (event["timeNs"], event["thread"]))

    def thread_events(self, thread):
        """The events of one thread, in order."""
        has_cpu = self._cpu_clock != 0 and thread != _MACHINE
        last_wall = last_cpu = 0
        sync_chunk = sync_ticks = sync_cpu = None
        for chunk, kind, ticks, cpu_ns, skipped, body in self._records(thread, self.problems):
            if ticks > self._until:
                return
            if sync_chunk is not chunk:
                sync_chunk, sync_ticks, sync_cpu = chunk, chunk.ticks, chunk.cpu_ns
            if cpu_ns is not None:
                sync_ticks, sync_cpu = ticks, min(chunk.cpu_ns + cpu_ns, _U64)
            wall = max(self._ns(ticks), last_wall)
            cpu = max(min(max(sync_cpu + self._span(sync_ticks, ticks), 0), _U64), last_cpu)
            last_wall, last_cpu = wall, cpu
            event = {"timeNs": wall, "cpuNs": cpu if has_cpu else None, "thread": thread, "event": None}
            if skipped:
                event["skipped"] = skipped
            if self._tell(event, kind, body):
                yield event

    def _find_chunks(self):
        """Chunks by thread, in order."""
        data, length = self._data, len(self._data)
        found = {}
        at = _HEADER
        cut = 0
        while at + _STEP <= length:
            words = struct.unpack("<8Q", data[at : at + _STEP])
            size, used = words[7] & 0xFFFFFFFF, words[7] >> 32
            whole = size % _STEP == 0 and size >= _STEP and used <= size - _STEP
            valid = words[0] & 0xFFFFFFFF == 0x4B484346 and words[1] == at and _check(words) == words[2] >> 32
            if not (whole and valid):
                at += _STEP
                continue
            there = min(used, length - at - _STEP)
            cut += used - there
            chunk = _Chunk(words[0] >> 32, words[2] & 0xFFFFFFFF, at + _STEP, there, *words[3:7])
            found.setdefault(chunk.thread, []).append(chunk)
            at += size
        if cut:
            self.problems.append(f"The log is cut at byte {length}: {cut} bytes of events are missing.")
        for chunks in found.values():
            chunks.sort(key=lambda chunk: chunk.sequence)
        return found

    def _clock_rate(self, start, end):
        """Nanoseconds a tick: from the beginning to the latest moment that the file tells."""
        moments = [(chunk.ticks, chunk.ns) for chunks in self._chunks.values() for chunk in chunks]
        if self.ended != "open":
            moments.append(end)
        last = max(moments + [start])
        ticks, ns = last[0] - start[0], last[1] - start[1]
        rate = 1.0 if ticks == 0 else ns / ticks
        if ticks < 0 or ns < 0 or not 0.001 <= rate <= 100_000.0:
            self.problems.append("The log's clocks are damaged: its times are in an unknown unit.")
            return 1.0
        return rate

    def _span(self, start, ticks):
        difference = (ticks - start) & _U64
        if difference >= 1 << 63:
            difference -= 1 << 64
        return _rounded(difference * self._rate)

    def _ns(self, ticks):
        return max(self._span(self._start, ticks), 0)

    def _records(self, thread, problems):
        """Chunk, kind, ticks, CPU time, unlogged calls, and the method's number or the contents."""
        expected = 0
        for chunk in self._chunks.get(thread, ()):
            if chunk.sequence != expected:
                missing = abs(chunk.sequence - expected)
                problems.append(f"{missing} chunks of thread {thread} before byte {chunk.data} are missing or damaged.")
            expected = chunk.sequence + 1
            data = bytes(self._data[chunk.data : chunk.data + chunk.used])
            at, ticks = 0, chunk.base
            try:
                while at < len(data):
                    first = data[at]
                    kind = first & 0x1F
                    if first & 0x80 or kind == 0:
                        raise _Damage
                    passed, at = _number(data, at + 1)
                    cpu_ns, skipped = None, 0
                    if first & 0x20:
                        cpu_ns, at = _number(data, at)
                    if first & 0x40:
                        skipped, at = _number(data, at)
                    body, at = _number(data, at)
                    if kind in _METHOD_EVENTS:
                        if body >= 1 << 32:
                            raise _Damage
                    else:
                        if body > _MAX_PAYLOAD or at + body > len(data):
                            raise _Damage
                        body, at = data[at : at + body], at + body
                    ticks = min(ticks + passed, _U64)
                    yield chunk, kind, ticks, cpu_ns, skipped, body
            except _Damage:
                left = len(data) - at
                problems.append(f"After byte {chunk.data + at} a record is malformed: "
                                f"{left} bytes of events of thread {thread} are left out.")

    def _read_dictionary(self):
        for _, kind, _, _, _, body in self._records(_DICTIONARY, self.problems):
            try:
                fields = _Fields(body) if isinstance(body, bytes) else None
                if fields is None:
                    raise _Damage
                if kind == 24:
                    number = fields.small()
                    texts = [fields.text() for _ in range(4)]
                    self.methods[number] = Method(*texts, fields.number())
                elif kind == 25:
                    number = fields.small()
                    self.classes[number] = fields.text()
                elif kind == 26:
                    self.notes.append(fields.text())
            except _Damage:
                self.problems.append("A name of a method or a class is damaged.")

    def _thread(self, number):
        if number == _MACHINE:
            return Thread(number, "(virtual machine)", "", 0)
        for _, kind, _, _, _, body in self._records(number, []):
            event = {}
            if kind == 4 and self._tell(event, kind, body):
                return Thread(number, event["name"], event["group"], event["parent"])
            break
        return Thread(number, f"thread {number}", "", 0)

    def _class(self, number):
        return self.classes.get(number, "?")

    def _method(self, event, number):
        method = self.methods.get(number)
        if method is None:
            event["method"] = f"method {number}"
        else:
            event.update({"class": method.cls, "method": method.name, "descriptor": method.descriptor})

    def _tell_objects(self, event, kind, fields):
        """Adds the objects of a call. False for results that this version does not know."""
        event["event"] = "objects" if kind == 18 else "result"
        self._method(event, fields.small())
        what, value = fields.number(), fields.number()
        if kind == 18:
            event.update(receiver=what, argument=value)
        elif what == 0:
            event["object"] = value
        elif what == 1:
            event["value"] = value != 0
        else:
            return False
        return True

    def _tell_values(self, event, kind, fields):
        """Adds what a call was given or returns. False for types of values that this version does not know."""
        event["event"] = "arguments" if kind == 20 else "returned"
        self._method(event, fields.small())
        if kind == 21:
            event["returned"] = self._value(fields)
            return event["returned"] is not None
        everything, count = fields.small(), fields.number()
        values = []
        for _ in range(count):
            values.append(self._value(fields))
            if values[-1] is None:
                return False
        event.update(arguments=values, moreArguments=max(everything - count, 0))
        return True

    def _value(self, fields):
        """The next value, None for a type that this version does not know."""
        kind, cut = fields.number(), False
        if kind == 0:
            name, value = "unknown", "?"
        elif kind == 1:
            name, value = "integer", str(fields.signed())
        elif kind == 2:
            name, value = "integer", str(fields.number())
        elif kind == 3:
            name, value = "boolean", "true" if fields.number() else "false"
        elif kind == 4:
            name, value = "character", _character(fields.small())
        elif kind == 5:
            name, value = "real", _real(fields.small(), 4)
        elif kind == 6:
            name, value = "real", _real(fields.number(), 8)
        elif kind == 7:
            cut = fields.number() != 0
            name, value = "text", fields.text()
        elif kind == 8:
            name, value = "null", "null"
        elif kind == 9:
            name, value = "object", self._class(fields.small())
        elif kind == 10:
            name, value = "address", hex(fields.number())
        elif kind == 11:
            fields.signed()
            name, value = "named", fields.text()
        else:
            return None
        return {"kind": name, "value": value, "cut": cut}

    def _tell(self, event, kind, body):
        """Adds what an event tells. False for definitions and for kinds that this version does not know."""
        if kind in _METHOD_EVENTS:
            event["event"] = _METHOD_EVENTS[kind]
            self._method(event, body)
            return True
        fields = _Fields(body)
        try:
            if kind in (18, 19):
                return self._tell_objects(event, kind, fields)
            if kind in (20, 21):
                return self._tell_values(event, kind, fields)
            if kind == 4:
                parent, flags = fields.small(), fields.number()
                name, group = fields.text(), fields.text()
                event.update(event="threadStart", name=name, group=group, parent=parent, daemon=bool(flags & 1),
                             virtual=bool(flags & 2), earlier=bool(flags & 4))
            elif kind == 5:
                event["event"] = "threadEnd"
            elif kind in (6, 7, 8, 9, 10):
                names = {6: "contendedEnter", 7: "contendedEntered", 8: "wait", 9: "waited", 10: "allocation"}
                event.update(event=names[kind], object=fields.number())
                event["class"] = self._class(fields.small())
                if kind == 8:
                    event["timeoutMs"] = fields.number()
                elif kind == 9:
                    event["timedOut"] = fields.number() != 0
                elif kind == 10:
                    event["bytes"] = fields.number()
                    event["intervalBytes"] = fields.number() if fields.more() else 0
            elif kind == 11:
                event.update(event="release", object=fields.number())
            elif kind in (12, 13):
                event["event"] = "gcStart" if kind == 12 else "gcEnd"
            elif kind == 14:
                event.update({"event": "classLoad", "class": self._class(fields.small())})
                event["probed"] = fields.number()
            elif kind == 15:
                event.update({"event": "classUnload", "class": self._class(fields.small())})
            elif kind == 16:
                event.update(event="vmStart", machine=fields.text())
            elif kind == 17:
                event["event"] = "vmEnd"
            else:
                return False
        except _Damage:
            self.problems.append("An event is malformed and is left out.")
            return False
        return True


def _check(words):
    """The checksum of a chunk's header."""
    h = 0xCBF29CE484222325
    for at, word in enumerate(words):
        if at == 7:
            word = 0
        elif at == 2:
            word &= 0xFFFFFFFF
        h = ((h ^ word) * 0x100000001B3) & _U64
        h ^= h >> 29
    return (h ^ (h >> 32)) & 0xFFFFFFFF


def _character(code):
    """A character; U+FFFD for what is none."""
    return chr(code) if code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"


def _real(bits, size):
    """The shortest digits that mean the same number of 4 or 8 bytes."""
    kind = "<f" if size == 4 else "<d"
    packed = bits.to_bytes(size, "little")
    (value,) = struct.unpack(kind, packed)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if size == 4:
        for digits in range(1, 10):
            shorter = float(f"{value:.{digits}g}")
            # Digits that are rounded up may mean more than the greatest number of 4 bytes.
            if abs(shorter) < 3.5e38 and _single(shorter) == value:
                value = shorter
                break
    digits, mark, power = repr(value).partition("e")
    if not mark:
        return digits
    return f"{digits}e{int(power)}"


def _single(value):
    """The nearest number of 4 bytes."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.inf


def _rounded(value):
    """To the nearest whole number; halves away from zero."""
    whole = math.floor(abs(value))
    if abs(value) - whole >= 0.5:
        whole += 1
    return whole if value >= 0 else -whole


def _number(data, at):
    """LEB128, at most 10 bytes."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise _Damage
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    if value > _U64:
        raise _Damage
    return value, at


class _Fields:
    """The contents of a record, field by field."""

    def __init__(self, body):
        self._body = body
        self._at = 0

    def more(self):
        return self._at < len(self._body)

    def number(self):
        value, self._at = _number(self._body, self._at)
        return value

    def signed(self):
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def small(self):
        value = self.number()
        if value >= 1 << 32:
            raise _Damage
        return value

    def text(self):
        length = self.number()
        end = self._at + length
        if end > len(self._body):
            raise _Damage
        text, self._at = self._body[self._at : end].decode("utf-8", "replace"), end
        return text
