#!/usr/bin/env python3
"""Compares what trace_processor made of two traces: rows.py ROWS ROWS

Times may differ by 2 ns each: it reads times in text as floating point. Of wake-ups one in a
thousand may be taken for another's: what happens on two CPUs in one nanosecond has an order in text
only.
"""

import json
import sys

TIMES = {"ts", "dur", "ns"}


def main():
    files = [open(path, encoding="utf-8").read().splitlines() for path in sys.argv[1:]]
    if len(files[0]) != len(files[1]):
        sys.exit(f"{len(files[0])} queries, {len(files[1])}")
    rows = 0
    for number, (one, other) in enumerate(zip(*files), 1):
        one, other = json.loads(one), json.loads(other)
        if len(one) != len(other):
            sys.exit(f"query {number}: {len(one)} rows, {len(other)}")
        for a, b in zip(one, other):
            slack = 2 * a.get("n", 1)
            for key in a:
                if key in TIMES:
                    wrong = abs(a[key] - b[key]) > slack
                elif key == "n" and "waker" in a:
                    wrong = abs(a[key] - b[key]) * 1000 > a[key]
                else:
                    wrong = a[key] != b[key]
                if wrong:
                    sys.exit(f"query {number}, `{key}`: {a} and {b}")
            rows += 1
    if not rows:
        sys.exit("no rows")
    print(f"{rows} rows the same")


main()
