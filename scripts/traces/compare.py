#!/usr/bin/env python3
"""Reads the two traces of one run with readers that are not ours, and compares them.

    compare.py TRACE.pftrace TRACE.txt

The Perfetto file is read with Perfetto's own classes (PyPI `perfetto`), the text with the kernel's
print formats as regular expressions. Both must tell the same events, field by field; each file must
be in order, and say of every CPU one thing at a time. Exit code: 0 they do, 1 one does not.
"""

import re
import sys
from collections import Counter

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

LINE = re.compile(r"^ *(.{1,16})-(\d+) +\[(\d{3,})\] +(\d+)\.(\d{9}): (\w+): (.*)$")
NAMED = r"comm=(?P<comm>.*) pid=(?P<pid>\d+) prio=(?P<prio>-?\d+)"
TARGET = NAMED + r" target_cpu=(?P<target_cpu>\d{3,})"
FIELDS = {
    "sched_switch": r"prev_comm=(?P<prev_comm>.*) prev_pid=(?P<prev_pid>\d+) "
    r"prev_prio=(?P<prev_prio>-?\d+) prev_state=(?P<prev_state>[RSDTtXZPI]\+?) ==> "
    r"next_comm=(?P<next_comm>.*) next_pid=(?P<next_pid>\d+) next_prio=(?P<next_prio>-?\d+)",
    "sched_waking": TARGET,
    "sched_wakeup": TARGET,
    "sched_wakeup_new": TARGET,
    "sched_migrate_task": NAMED + r" orig_cpu=(?P<orig_cpu>\d+) dest_cpu=(?P<dest_cpu>\d+)",
    "cpu_frequency": r"state=(?P<state>\d+) cpu_id=(?P<cpu_id>\d+)",
    "cpu_idle": r"state=(?P<state>\d+) cpu_id=(?P<cpu_id>\d+)",
    "task_newtask": r"pid=(?P<pid>\d+) comm=(?P<comm>.*) clone_flags=(?P<clone_flags>[0-9a-f]+) "
    r"oom_score_adj=(?P<oom_score_adj>-?\d+)",
    "task_rename": r"pid=(?P<pid>\d+) oldcomm=(?P<oldcomm>.*) newcomm=(?P<newcomm>.*) "
    r"oom_score_adj=(?P<oom_score_adj>-?\d+)",
    "sched_process_exit": NAMED,
    "hrtimer_start": r"hrtimer=(?P<hrtimer>[0-9a-f]+) function=hrtimer_wakeup "
    r"expires=(?P<expires>\d+) softexpires=(?P<softexpires>\d+) mode=ABS",
    "hrtimer_expire_entry": r"hrtimer=(?P<hrtimer>[0-9a-f]+) function=hrtimer_wakeup "
    r"now=(?P<now>\d+)",
    "hrtimer_expire_exit": r"hrtimer=(?P<hrtimer>[0-9a-f]+)",
    "softirq_entry": r"vec=(?P<vec>\d+) \[action=[A-Z_]*\]",
    "wake_up_sync": r"\(__wake_up_sync_key\+0x0/0x20\)",
}
FIELDS = {event: re.compile(f"^{fields}$") for event, fields in FIELDS.items()}
STATES = {"R": 0, "S": 1, "D": 2, "T": 4, "t": 8, "X": 16, "Z": 32, "P": 64, "I": 128, "R+": 256}
TEXT_FIELDS = {"comm", "prev_comm", "next_comm", "oldcomm", "newcomm"}
# Fields of the binary form that the text does not have.
BINARY_ONLY = {"success", "tgid", "mode"}
HEXADECIMAL = {"clone_flags", "hrtimer"}


def value(name, text):
    if name in TEXT_FIELDS:
        return text
    if name == "prev_state":
        return STATES[text]
    return int(text, 16 if name in HEXADECIMAL else 10)


def text_events(path):
    """(time, cpu, pid, event, fields) of each line, and the number of CPUs."""
    lines = open(path, encoding="utf-8").read().splitlines()
    head = re.match(r"^cpus=(\d+)$", lines[0])
    if not head:
        sys.exit(f"{path}:1: not `cpus=N`: {lines[0]}")
    events = []
    for number, line in enumerate(lines[1:], 2):
        found = LINE.match(line)
        fields = found and FIELDS.get(found[6]) and FIELDS[found[6]].match(found[7])
        if not fields:
            sys.exit(f"{path}:{number}: not as the kernel prints it: {line}")
        time = int(found[4]) * 10**9 + int(found[5])
        named = {name: value(name, text) for name, text in fields.groupdict().items()}
        events.append((time, int(found[3]), int(found[2]), found[6], named))
    return events, int(head[1])


def binary_events(path):
    """The same of a Perfetto file, and all its packets."""
    trace = pb.Trace()
    trace.ParseFromString(open(path, "rb").read())
    events = []
    for packet in trace.packet:
        if not packet.HasField("ftrace_events"):
            continue
        cpu, last = packet.ftrace_events.cpu, 0
        for event in packet.ftrace_events.event:
            if event.timestamp < last:
                sys.exit(f"{path}: CPU {cpu} goes back from {last} to {event.timestamp}")
            last = event.timestamp
            name = event.WhichOneof("event")
            set_fields = getattr(event, name).ListFields()
            named = {f.name: v for f, v in set_fields if f.name not in BINARY_ONLY}
            if name == "kprobe_event":  # named by whoever set the probe
                name, named = named["name"], {}
            events.append((event.timestamp, cpu, event.pid, name, named))
    return events, trace.packet


def check_order(path, events):
    """Times do not go back; on each CPU the one who leaves is the one who came."""
    running = {}
    for before, after in zip(events, events[1:]):
        if after[0] < before[0]:
            sys.exit(f"{path}: time goes back from {before[0]} to {after[0]}")
    for time, cpu, pid, event, fields in events:
        if event == "sched_switch":
            if running.get(cpu, 0) != fields["prev_pid"] or pid != fields["prev_pid"]:
                sys.exit(f"{path}: {time} ns: CPU {cpu} runs {running.get(cpu, 0)}, but {fields}")
            running[cpu] = fields["next_pid"]
    elsewhere = [pid for pid, n in Counter(running.values()).items() if pid and n > 1]
    if elsewhere:
        sys.exit(f"{path}: threads {elsewhere} run on two CPUs at once")


def per_cpu(events):
    lists = {}
    for event in events:
        lists.setdefault(event[1], []).append(event)
    return lists


def check_tracks(path, packets):
    """Every track event is on a track that was described, every slice that begins ends."""
    tracks, depth, counters = {}, Counter(), Counter()
    reasons = {}
    for packet in packets:
        for name in packet.interned_data.event_names:
            reasons[name.iid] = name.name
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        if event.track_uuid not in tracks:
            sys.exit(f"{path}: track {event.track_uuid} is not described")
        if event.type == pb.TrackEvent.TYPE_COUNTER:
            counters[tracks[event.track_uuid].name.split(" ")[0]] += 1
        elif event.type == pb.TrackEvent.TYPE_SLICE_BEGIN:
            if event.name_iid not in reasons:
                sys.exit(f"{path}: a decision without a known reason: {event}")
            depth[event.track_uuid] += 1
        else:
            depth[event.track_uuid] -= 1
        if depth[event.track_uuid] not in (0, 1):
            sys.exit(f"{path}: slices of `{tracks[event.track_uuid].name}` overlap")
    if any(depth.values()):
        sys.exit(f"{path}: a slice does not end")
    return counters


def main():
    binary_path, text_path = sys.argv[1:]
    binary, packets = binary_events(binary_path)
    text, nr_cpus = text_events(text_path)
    ours, theirs = per_cpu(text), per_cpu(binary)
    for cpu in sorted(set(ours) | set(theirs)):
        a, b = ours.get(cpu, []), theirs.get(cpu, [])
        for one, other in zip(a, b):
            if one != other:
                sys.exit(f"CPU {cpu}: the text has\n  {one}\nand the Perfetto file\n  {other}")
        if len(a) != len(b):
            sys.exit(f"CPU {cpu}: {len(a)} events in the text, {len(b)} in the Perfetto file")
    check_order(text_path, text)
    counters = check_tracks(binary_path, packets)
    info = [packet.cpu_info for packet in packets if packet.HasField("cpu_info")]
    if len(info) != 1 or len(info[0].cpus) != nr_cpus or not all(c.capacity for c in info[0].cpus):
        sys.exit(f"{binary_path}: no capacities of {nr_cpus} CPUs")
    kinds = Counter(event[3] for event in text)
    wanted = {"sched_switch", "sched_waking", "cpu_frequency", "cpu_idle", "task_newtask"}
    missing = [kind for kind in wanted if not kinds[kind]]
    missing += [kind for kind in ("utilisation", "capacity") if not counters[kind]]
    if missing:
        sys.exit(f"{binary_path}: has none of {missing}")
    print(f"{len(text)} events the same in both: {dict(sorted(kinds.items()))}")
    print(f"counters: {dict(sorted(counters.items()))}")


if __name__ == "__main__":
    main()
