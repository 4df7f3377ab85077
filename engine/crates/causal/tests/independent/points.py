#!/usr/bin/env python3
"""Works out a causal profile's points a second time, from the rules alone (docs of fulcrum-causal; COZ §2, eq. 8).

    python3 points.py FILE.coz > FILE.tsv

One row a point: progress point, location, speedup, visits, duration, program speedup as the viewer's rules give it, and
the same times eq. 8's factor ("-" when the factor cannot be computed). The tables beside this script are its output and
are what the Rust tests expect. Exact fractions, so that no rounding is shared with the code under test.
"""
import sys
from fractions import Fraction as F

MIN_VISITS, MIN_POINTS = 5, 5


def rows(path):
    for line in open(path, newline=""):
        kind, *fields = line.rstrip("\r\n").split("\t")
        yield kind, dict(f.split("=", 1) for f in fields)


def signed(text):
    n = int(text)
    return n - 2**64 if n >= 2**63 else n


def main(path):
    # (point, line) -> speedup -> list of (duration, visits, numerator, denominator)
    table, exps = {}, []
    # Processes: each startup begins one. A later block of samples in one process replaces an earlier one.
    processes = []
    for kind, f in rows(path):
        if kind == "startup":
            processes.append({"durations": [], "runs": [], "samples": {}, "down": False})
        elif kind == "experiment":
            d = signed(f["duration"])
            exps.append((f["selected"], F(f["speedup"]), d, int(f["selected-samples"])))
            processes[-1]["durations"].append(max(d, 0))
        elif kind in ("throughput-point", "progress-point"):
            line, s, d, _ = exps[-1]
            n = int(f["delta"])
            table.setdefault((f["name"], line), {}).setdefault(s, []).append((d, n, F(d), n))
        elif kind == "latency-point":
            line, s, d, _ = exps[-1]
            l = F(f["difference"]) * d
            row = (d, int(f["departures"]), l, int(f["arrivals"]))
            table.setdefault((f["name"], line), {}).setdefault(s, []).append(row)
        elif kind == "shutdown":
            processes[-1]["down"] = True
        elif kind == "runtime":
            processes[-1]["runs"].append((int(f["time"]), processes[-1]["down"]))
        elif kind == "samples":
            processes[-1]["samples"][f["location"]] = int(f["count"])

    ended = [p for p in processes if p["runs"] and p["runs"][-1][1]]
    total = sum(p["runs"][-1][0] for p in ended)
    samples = {}
    for p in ended:
        for line, n in p["samples"].items():
            samples[line] = samples.get(line, 0) + n

    for (point, line), groups in sorted(table.items()):
        period = {}
        for s, obs in groups.items():
            visits = sum(o[1] for o in obs)
            numerator, denominator = sum(o[2] for o in obs), sum(o[3] for o in obs)
            if visits >= MIN_VISITS and all(o[0] > 0 for o in obs) and denominator and numerator > 0:
                period[s] = F(numerator, denominator)
        if 0 not in period:
            continue
        speedups = {s: (period[0] - p) / period[0] for s, p in period.items()}
        speedups = {s: v for s, v in speedups.items() if v <= 2}
        if len(speedups) < MIN_POINTS:
            continue
        mine = [e for e in exps if e[0] == line and e[2] > 0]
        t_obs, s_obs, s_all = sum(e[2] for e in mine), sum(e[3] for e in mine), samples.get(line, 0)
        factor = F(t_obs, s_obs) * F(s_all, total) if s_obs and s_all and total else None
        for s, v in sorted(speedups.items()):
            visits, duration = sum(o[1] for o in groups[s]), sum(o[0] for o in groups[s])
            corrected = "-" if factor is None else f"{float(v * factor):.15g}"
            print(point, line, f"{float(s):g}", visits, duration, f"{float(v):.15g}", corrected, sep="\t")


main(sys.argv[1])
