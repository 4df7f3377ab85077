"""`python3 -m fulcrum_events LOG`: the events of a log, an object a line, as `fulcrum events list --json`."""

import json
import sys

from . import LogError, Trace


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python3 -m fulcrum_events LOG")
    try:
        trace = Trace.open(sys.argv[1])
        for event in trace.events():
            print(json.dumps(event, ensure_ascii=False, separators=(",", ":")))
    except (LogError, OSError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
    except BrokenPipeError:
        # A reader that closed its end wanted no more.
        sys.stderr.close()
        return
    for problem in trace.notes + trace.problems:
        print(f"note: {problem}", file=sys.stderr)


main()
