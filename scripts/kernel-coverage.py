#!/usr/bin/env python3
"""Sums what runs of a kernel built with coverage have executed, and judges it.

    kernel-coverage.py LIST FOLDER... [--page PART]

LIST: functions that never run, each with its reason (scripts/kernel-coverage.txt says its form).
FOLDER: a build's `obj`, whose kernel/sched has the counters of all its runs; lines and functions
of several builds are added up. PART: the tables go there, for scripts/page-part.sh.

Exit code 1: a file is below its goal, a function never ran and is not on the list, or one on the
list did run, or is not there.
"""

import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

# Percent of lines (docs/results/truth.md), of what decides most.
GOALS = {"fair.c": 85, "pelt.c": 85, "cpufreq_schedutil.c": 85, "core.c": 70}


def counted(folder):
    """Each file that gcov found in the objects of kernel/sched: its name and what it says of it."""
    objects = os.path.join(folder, "kernel", "sched")
    counters = sorted(name for name in os.listdir(objects) if name.endswith(".gcda"))
    if not counters:
        sys.exit(f"kernel-coverage: no run has counted in {objects}")
    with tempfile.TemporaryDirectory() as work:
        for name in counters:
            path = os.path.abspath(os.path.join(objects, name))
            subprocess.run(["gcov", "--json-format", path], cwd=work, check=True,
                           stdout=subprocess.DEVNULL)
            for found in sorted(os.listdir(work)):
                with gzip.open(os.path.join(work, found), "rt") as text:
                    yield from json.load(text)["files"]
                os.remove(os.path.join(work, found))


class Sum:
    """Lines and functions of the files of kernel/sched, over all builds."""

    def __init__(self):
        self.lines = collections.defaultdict(lambda: collections.defaultdict(int))
        self.functions = collections.defaultdict(lambda: collections.defaultdict(int))

    def add(self, folder):
        for of in counted(folder):
            where, name = os.path.split(of["file"])
            if not where.endswith("kernel/sched") or not name.endswith(".c"):
                continue
            for line in of["lines"]:
                self.lines[name][line["line_number"]] += line["count"]
            for function in of["functions"]:
                self.functions[name][function["name"].split(".")[0]] += function["execution_count"]

    def rate(self, name):
        lines = self.lines[name].values()
        return sum(count > 0 for count in lines), len(lines)

    def never(self, name):
        return sorted(own for own, count in self.functions[name].items() if not count)


def reasons(path):
    """By file and function: the reason, in the list's order."""
    found, why = {}, None
    with open(path, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            if not line.startswith(" "):
                why = line
                continue
            name, *functions = line.split()
            if why is None or not name.endswith(".c:"):
                sys.exit(f"{path}:{number}: expected a reason, then lines ` FILE.c: FUNCTION...`")
            for function in functions:
                if (name[:-1], function) in found:
                    sys.exit(f"{path}:{number}: {function} of {name[:-1]} stands there twice")
                found[name[:-1], function] = why
    return found


def judge(total, listed):
    """What is wrong, a line each."""
    for name, goal in GOALS.items():
        ran, of = total.rate(name)
        if 100 * ran < goal * of:
            yield f"{name}: {ran} of {of} lines ran, less than {goal} %"
        for function in total.never(name):
            if (name, function) not in listed:
                yield f"{name}: {function}() never ran, and the list has no reason"
    for name, function in listed:
        count = total.functions.get(name, {}).get(function)
        if name not in GOALS:
            yield f"{name}: {function}() is on the list, which is for {', '.join(GOALS)}"
        elif count is None:
            yield f"{name}: {function}() is on the list, and is not there"
        elif count:
            yield f"{name}: {function}() is on the list, and ran"


def page(total, listed):
    yield "| file | lines | ran | | functions | never ran |"
    yield "|:--|--:|--:|--:|--:|--:|"
    for name in sorted(total.lines, key=lambda name: (name not in GOALS, name)):
        ran, of = total.rate(name)
        goal = f", goal {GOALS[name]} %" if name in GOALS else ""
        functions = len(total.functions[name])
        yield (f"| `{name}` | {of} | {ran} | {100 * ran / of:.1f} %{goal} | {functions} | "
               f"{len(total.never(name))} |")
    yield ""
    yield "| why they never ran | functions |"
    yield "|:--|:--|"
    for why in dict.fromkeys(listed.values()):
        names = (f"`{function}`" for (_, function), own in listed.items() if own == why)
        yield f"| {why} | {', '.join(names)} |"


def main(arguments):
    part = None
    if "--page" in arguments:
        at = arguments.index("--page")
        part = arguments[at + 1]
        del arguments[at:at + 2]
    if len(arguments) < 2:
        sys.exit(__doc__)
    listed = reasons(arguments[0])
    total = Sum()
    for folder in arguments[1:]:
        total.add(folder)
    text = "\n".join(page(total, listed)) + "\n"
    sys.stdout.write(text)
    wrong = list(judge(total, listed))
    for line in wrong:
        print(f"kernel-coverage: {line}", file=sys.stderr)
    if part and not wrong:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
