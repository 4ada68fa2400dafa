#!/usr/bin/env python3
"""How long a task of `lab fidelity` waits that wakes to an idle CPU on which no other task of the
set runs meanwhile, by how many other CPUs run something: on a machine whose CPUs run side by side
the one does not depend on the other. Of all wake-ups from the start of a set on, warm-up included.

    wakeplace lab fidelity --platform juno-r0 --sets L20,L35,E,B --starts 1 --keep FOLDER
    the same with `--round 50us`
    scripts/waits-idle.py FOLDER                     prints the table
    WAITS_IDLE_PAGE=docs/results/live.md scripts/waits-idle.py FOLDER    renews that page's part

Exit code 2: usage, or one of the recordings is not in FOLDER.
"""

import os
import pathlib
import re
import sys

from waits import percentiles, renew

EVENT = re.compile(r"\[(\d+)\]\s+\S+\s+([\d.]+): (sched_\w+): (.*)$")
WAKING = re.compile(r"comm=t\d+ pid=(\d+) .*target_cpu=(\d+)")
MIGRATE = re.compile(r"pid=(\d+) .*dest_cpu=(\d+)")
SWITCH = re.compile(r"next_pid=(\d+)")
# What runs in a recording, and its folder's name.
RECORDINGS = {
    "kernel": "*-eas-1-light",
    "wakeplace": "*-live-light",
    "kernel, 50 us": "*-eas-1-light-50us",
    "wakeplace, 50 us": "*-live-light-50us",
}
# So many other CPUs and more are one row.
MOST = 4


class Wait:
    """A task that was woken and has not run yet."""

    def __init__(self, time_us, cpu, running):
        self.time_us, self.cpu = time_us, cpu
        self.running = dict(running)
        self.behind_another = False

    def to_idle_cpu(self):
        return self.running.get(self.cpu) == "0" and not self.behind_another

    def others(self):
        """Other CPUs that ran something when it was woken."""
        return sum(pid != "0" for cpu, pid in self.running.items() if cpu != self.cpu)


def waits(recording):
    """Whether to an idle CPU, how many others were busy, and the wait in us, of each wake-up."""
    running, woken, found = {}, {}, []
    for line in recording.read_text(errors="replace").splitlines():
        if line.startswith("=== load "):
            running, woken = {}, {}
        event = EVENT.search(line)
        if not event:
            continue
        cpu, time_us, kind, what = int(event[1]), float(event[2]) * 1e6, event[3], event[4]
        if kind == "sched_waking" and (task := WAKING.search(what)):
            woken[task[1]] = Wait(time_us, int(task[2]), running)
        elif kind == "sched_migrate_task" and (task := MIGRATE.search(what)):
            if task[1] in woken:
                woken[task[1]].cpu = int(task[2])
        elif kind == "sched_switch" and (task := SWITCH.search(what)):
            running[cpu] = task[1]
            ended = woken.pop(task[1], None)
            if ended:
                found.append((ended.to_idle_cpu(), ended.others(), time_us - ended.time_us))
            elif task[1] != "0":
                for wait in woken.values():
                    wait.behind_another |= wait.cpu == cpu
    return found


def both(values):
    """The 50th and the 95th percentile."""
    return " / ".join(f"{value:.0f}" for value in percentiles(sorted(values), (0.5, 0.95)))


def table(folder):
    found = {}
    for name, pattern in RECORDINGS.items():
        recordings = sorted(folder.glob(f"{pattern}/stdout"))
        if not recordings:
            print(f"waits-idle: {folder}: no recording {pattern}", file=sys.stderr)
            sys.exit(2)
        found[name] = [wait for recording in recordings for wait in waits(recording)]
    lines = [
        f"| other CPUs that run something | {' | '.join(found)} |",
        "|:--|--:|--:|--:|--:|",
    ]
    for others in range(MOST + 1):
        cells = [f"{others}" if others < MOST else f"{others} and more"]
        for of in found.values():
            row = [us for idle, busy, us in of if idle and min(busy, MOST) == others]
            cells.append(f"{both(row)} ({len(row)})" if row else "-")
        lines.append("| " + " | ".join(cells) + " |")
    all_waits = [both([us for _, _, us in of]) + f" ({len(of)})" for of in found.values()]
    lines.append("| all wake-ups, to busy CPUs too | " + " | ".join(all_waits) + " |")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr, end="")
        sys.exit(2)
    text = table(pathlib.Path(sys.argv[1]))
    page = os.environ.get("WAITS_IDLE_PAGE")
    if not page:
        print(text, end="")
        return
    renew(page, text, "waits-idle.py")


if __name__ == "__main__":
    main()
