#!/usr/bin/env python3
"""Reads the tables of a run with pyarrow and compares them with its Perfetto file.

    tables.py FOLDER TRACE.pftrace

The tables of events must have the rows of that file, field by field, and every thread must have run
as long. Counters and decisions must be as many as there are on the tracks, with the same sums; the
metrics must have a name each. Exit code: 0 they do, 1 one does not.
"""

import sys
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow.parquet as pq

from compare import binary_events

COMMON = ("common_ts", "common_cpu", "common_pid", "common_comm")
# What the tables call it by fields of the Perfetto file, by which the rest is found.
EVENTS = (
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_migrate_task",
    "cpu_frequency",
    "cpu_idle",
    "task_newtask",
    "task_rename",
    "sched_process_exit",
    "hrtimer_start",
    "hrtimer_expire_entry",
    "hrtimer_expire_exit",
    "softirq_entry",
    "wake_up_sync",
)
COUNTERS = {"cluster idle": "cluster_idle"}


def rows(folder, name):
    return pq.read_table(folder / f"{name}.parquet").to_pylist()


def events_of_tables(folder):
    """(time, CPU, pid, event, fields) of every row, as `binary_events` has them."""
    events = []
    for name in EVENTS:
        for row in rows(folder, name):
            time, cpu, pid, comm = (row.pop(column) for column in COMMON)
            if not comm:
                sys.exit(f"{folder}/{name}.parquet: {time} ns: no name of the context")
            events.append((time, cpu, pid, name, row))
    return events


def same_events(ours, theirs):
    key = lambda event: (*event[:4], tuple(sorted(event[4].items())))
    ours, theirs = Counter(map(key, ours)), Counter(map(key, theirs))
    for one, other, where in ((ours, theirs, "tables"), (theirs, ours, "Perfetto file")):
        for event in one - other:
            sys.exit(f"only in the {where}: {event}")


def ran(events):
    """How long each thread ran, from switches alone."""
    since, sums = {}, defaultdict(int)
    switches = [event for event in events if event[3] == "sched_switch"]
    for time, cpu, _, _, fields in sorted(switches, key=lambda event: event[0]):
        if fields["prev_pid"]:
            sums[fields["prev_pid"]] += time - since.pop((cpu, fields["prev_pid"]))
        if fields["next_pid"]:
            since[cpu, fields["next_pid"]] = time
    return dict(sums)


def on_tracks(packets):
    """Counters as (kind, number and sum of the values), and the slices begun."""
    tracks, counters, slices = {}, defaultdict(lambda: [0, 0.0]), 0
    for packet in packets:
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor.name
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        if event.HasField("double_counter_value") or event.HasField("counter_value"):
            kind = tracks[event.track_uuid].rsplit(" ", 1)[0]
            sums = counters[COUNTERS.get(kind, kind)]
            sums[0] += 1
            sums[1] += event.counter_value + event.double_counter_value
        slices += event.type == event.TYPE_SLICE_BEGIN
    return counters, slices


def same_tracks(folder, packets):
    counters = defaultdict(lambda: [0, 0.0])
    for row in rows(folder, "counters"):
        counters[row["counter"]][0] += 1
        counters[row["counter"]][1] += row["value"]
    tracks, slices = on_tracks(packets)
    if set(counters) != set(tracks):
        sys.exit(f"counters {sorted(counters)}, on tracks {sorted(tracks)}")
    for kind, (number, total) in counters.items():
        if number != tracks[kind][0] or abs(total - tracks[kind][1]) > 1e-9 * abs(total):
            sys.exit(f"{kind}: {number} values, sum {total}; on tracks {tracks[kind]}")
    decisions = rows(folder, "decisions")
    if len(decisions) != slices or not all(row["reason"] for row in decisions):
        sys.exit(f"{len(decisions)} decisions, {slices} slices")
    return {kind: number for kind, (number, _) in counters.items()}, len(decisions)


def main():
    folder, trace = Path(sys.argv[1]), sys.argv[2]
    theirs, packets = binary_events(trace)
    ours = events_of_tables(folder)
    same_events(ours, theirs)
    if not ours or ran(ours) != ran(theirs):
        sys.exit("threads ran for other times")
    counters, decisions = same_tracks(folder, packets)
    metrics = rows(folder, "metrics")
    if len({row["metric"] for row in metrics}) != len(metrics) or not metrics:
        sys.exit(f"metrics: {metrics}")
    threads = len(ran(ours))
    print(f"{len(ours)} rows of events as in the Perfetto file, {threads} threads ran as long")
    print(f"{counters}, {decisions} decisions, {len(metrics)} metrics")


main()
