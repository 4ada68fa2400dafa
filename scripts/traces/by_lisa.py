#!/usr/bin/env python3
"""Reads ftrace text with LISA (PyPI `lisa-linux`) as its users do, and compares what it says.

    by_lisa.py TRACE.txt

How long each thread ran on each CPU, how often it woke, at which frequencies a CPU ran and which
idle states it was in, by LISA's analyses, must be what the lines of the text add up to. Exit code:
0 it is, 1 something is not.
"""

import re
import sys
import warnings
from collections import Counter, defaultdict

warnings.simplefilter("ignore")

from lisa.platforms.platinfo import PlatformInfo
from lisa.trace import TaskID, Trace

LINE = re.compile(r"^ *.{1,16}-\d+ +\[(\d+)\] +(\d+)\.(\d{9}): (\w+): (.*)$")
SWITCH = re.compile(r"prev_comm=(.*) prev_pid=(\d+) .* ==> next_comm=(.*) next_pid=(\d+) ")
STATE = re.compile(r"state=(\d+) cpu_id=(\d+)$")
WAKEUP = re.compile(r"comm=(.*) pid=(\d+) ")
# LISA has times as floating point, and puts events of one instant apart by the least that it can.
SLACK_S = 1e-6


class Lines:
    """What the lines of the text add up to, in seconds."""

    def __init__(self, path):
        lines = open(path, encoding="utf-8").read().splitlines()
        self.nr_cpus = int(lines[0].removeprefix("cpus="))
        self.ran, self.wakeups = defaultdict(float), Counter()
        self.khz, self.idle = defaultdict(float), defaultdict(float)
        since, now = {}, {}
        for line in lines[1:]:
            cpu, seconds, ns, event, fields = LINE.match(line).groups()
            self.end, cpu = int(seconds) + int(ns) / 1e9, int(cpu)
            if event == "sched_switch":
                prev_comm, prev, next_comm, pid = SWITCH.search(fields + " ").groups()
                if int(prev):
                    self.ran[int(prev), prev_comm, cpu] += self.end - since.pop(cpu)
                if int(pid):
                    since[cpu] = self.end
            elif event in ("sched_wakeup", "sched_wakeup_new"):
                comm, pid = WAKEUP.search(fields).groups()
                self.wakeups[int(pid)] += event == "sched_wakeup"
            elif event in ("cpu_frequency", "cpu_idle"):
                state, of = map(int, STATE.search(fields).groups())
                self.follow(now, event, of, -1 if state == 2**32 - 1 else state)
        for event, of in list(now):
            self.follow(now, event, of, None)

    def follow(self, now, event, cpu, state):
        was, since = now.get((event, cpu), (None, 0))
        sums = self.khz if event == "cpu_frequency" else self.idle
        if was is not None:
            sums[cpu, was] += self.end - since
        now[event, cpu] = (state, self.end)


def expect(what, found, wanted):
    if abs(found - wanted) > SLACK_S:
        sys.exit(f"{what}: LISA says {found}, the lines {wanted}")


def main():
    lines = Lines(sys.argv[1])
    # A domain for each CPU: whether they share a clock does not matter here.
    domains = [[cpu] for cpu in range(lines.nr_cpus)]
    info = PlatformInfo({"cpus-count": lines.nr_cpus, "freq-domains": domains})
    trace = Trace(sys.argv[1], plat_info=info, normalize_time=False)
    switches = trace.df_event("sched_switch")
    tasks, checked = trace.ana.tasks, Counter()
    wakeups = tasks.df_tasks_wakeups()["wakeups"]
    for pid, comm in sorted({(pid, comm) for pid, comm, _ in lines.ran}):
        residency = tasks.df_task_total_residency(TaskID(pid=pid, comm=comm))["runtime"]
        for cpu in range(lines.nr_cpus):
            wanted = lines.ran.get((pid, comm, cpu), 0.0)
            expect(f"{comm} ({pid}) on CPU {cpu}, s", residency.get(cpu, 0.0), wanted)
            checked["times on a CPU"] += 1
        if lines.wakeups[pid]:
            expect(f"wake-ups of {comm} ({pid})", wakeups[pid], lines.wakeups[pid])
            checked["tasks' wake-ups"] += 1
    for cpu in range(lines.nr_cpus):
        times = trace.ana.frequency.df_cpu_frequency_residency(cpu)["total_time"]
        for khz in times.index:
            expect(f"CPU {cpu} at {khz} kHz, s", times[khz], lines.khz[cpu, khz])
            checked["frequencies"] += 1
        idle = trace.ana.idle.df_cpu_idle_state_residency(cpu)["time"]
        for state in (state for state in idle.index if int(state) >= 0):
            expect(f"CPU {cpu} in state {state}, s", idle[state], lines.idle[cpu, int(state)])
            checked["idle states"] += 1
    if len(checked) < 4:
        sys.exit(f"LISA found too little: {dict(checked)}")
    print(f"{len(switches)} switches; the same by LISA's analyses: {dict(checked)}")


main()
