"""Prints what memray says of a recording when its memory was largest: for each function its name, its own bytes, and those with
its callees. Usage: memray_functions.py FILE.bin"""

import json
import sys
from collections import defaultdict

from memray import FileReader


def main():
    costs = defaultdict(lambda: [0, 0])
    with FileReader(sys.argv[1]) as reader:
        for record in reader.get_high_watermark_allocation_records(merge_threads=True):
            stack = [(name, file) for name, file, _ in record.stack_trace()]
            for function in set(stack):
                costs[function][1] += record.size
            for function in stack[:1]:
                costs[function][0] += record.size
    json.dump([[name, own, whole] for (name, _), (own, whole) in costs.items()], sys.stdout)


main()
