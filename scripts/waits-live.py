#!/usr/bin/env python3
"""How long short tasks wait beside tasks without end, under the kernel's own scheduler and under
scx_wakeplace: pairs of boots of an emulated machine with the same seed, from recorded traces.

    scripts/waits-live.py                                        prints the table
    WAITS_PAGE=docs/results/live.md scripts/waits-live.py        renews that page's part
    scripts/waits-live.py --boots 1 --cases 4x4                  one pair of the first case

WAKEPLACE: the program, else target/release/wakeplace. Exit code 3: a guest cannot be run here.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from waits import ROOT, percentiles, renew

PROGRAM = os.environ.get("WAKEPLACE", str(ROOT / "target/release/wakeplace"))
KERNEL = "7.3.4"
SECONDS = 4
# Name: CPUs, tasks without end, short tasks, pairs of boots.
CASES = {"4x4": (4, 4, 4, 9), "4x8": (4, 8, 4, 9), "8x8": (8, 8, 8, 9)}
EVENT = re.compile(r"\s([\d.]+): (sched_waking|sched_switch): (.*)$")

# A short task in an event: who is woken, or who runs next.
TASK = {
    "sched_waking": r"comm=short\S* pid=(\d+)",
    "sched_switch": r"next_comm=short\S* next_pid=(\d+)",
}


def workload(endless, short):
    """Each short task runs 0.3 of 5 ms."""
    timer = {"ref": "unique", "period": 5000, "mode": "absolute"}
    tasks = {
        "hog": {"instance": endless, "loop": -1, "run": 1_000_000},
        "short": {"instance": short, "loop": -1, "run": 300, "timer": timer},
    }
    return json.dumps({"global": {"duration": SECONDS}, "tasks": tasks})


def waits_us(trace):
    """From each wake-up of a short task until it runs, in order of length."""
    woken, waits = {}, []
    for line in trace.read_text(errors="replace").splitlines():
        event = EVENT.search(line)
        if not event:
            continue
        time_us, kind, what = float(event[1]) * 1e6, event[2], event[3]
        task = re.search(TASK[kind], what)
        if task and kind == "sched_waking":
            woken.setdefault(task[1], time_us)
        elif task and task[1] in woken:
            waits.append(time_us - woken.pop(task[1]))
    return sorted(waits)


def boot(scheduler, case, seed, folder):
    """The 50th, 95th and 99th percentile of one boot."""
    cpus, endless, short, _ = case
    app, trace = folder / "app.json", folder / "trace"
    app.write_text(workload(endless, short))
    command = [PROGRAM, "lab", "run", "--quiet", "--arch", "x86_64", "--icount"]
    command += ["--kernel", KERNEL, "--cpus", str(cpus), "--scheduler", scheduler]
    command += ["--workload", str(app), "--seed", str(seed), "--trace", str(trace)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(3 if done.returncode == 3 else 1)
    waits = waits_us(trace)
    if not waits:
        sys.exit(f"waits-live: no wake-up of a short task in a trace of {scheduler}")
    return percentiles(waits, (0.5, 0.95, 0.99))


def row(case, boots, folder):
    """A row of the table."""
    cpus, endless, short, usual = case
    boots = boots or usual
    pairs = []
    for seed in range(1, boots + 1):
        pairs.append([boot(scheduler, case, seed, folder) for scheduler in ("kernel", "wakeplace")])
        print(f"{cpus} CPUs, {endless} without end, seed {seed}: {pairs[-1]}", file=sys.stderr)
    median = lambda of: [statistics.median(column) for column in zip(*of)]
    kernel, ours = median([pair[0] for pair in pairs]), median([pair[1] for pair in pairs])
    ratios = [[b / a for a, b in zip(*pair)] for pair in pairs]
    text = lambda figures: " / ".join(f"{figure:.0f}" for figure in figures)
    _, p95, p99 = median(ratios)
    longest = ", ".join(f"{ratio[2]:.2f}" for ratio in sorted(ratios, key=lambda ratio: ratio[2]))
    what = f"{cpus} CPUs, {endless} without end, {short} short"
    return f"| {what} | {boots} | {text(kernel)} | {text(ours)} | {p95:.2f} | {p99:.2f} | {longest} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boots", type=int, help="pairs of each case")
    parser.add_argument("--cases", default=",".join(CASES), help="some of " + ", ".join(CASES))
    options = parser.parse_args()
    cases = options.cases.split(",")
    if unknown := [case for case in cases if case not in CASES]:
        parser.error(f"no case {unknown[0]}; expected some of {', '.join(CASES)}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        lines = [
            "| medians, us | boots | kernel, p50 / p95 / p99 | wakeplace | p95 ratio | p99 ratio "
            "| p99 ratio of each pair |",
            "|:--|--:|--:|--:|--:|--:|:--|",
        ]
        lines += [row(CASES[case], options.boots, folder) for case in cases]
        table = "\n".join(lines) + "\n"
        print(table, end="")
        if page := os.environ.get("WAITS_PAGE"):
            renew(page, table, "waits-live.py")


if __name__ == "__main__":
    main()
