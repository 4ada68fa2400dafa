#!/bin/sh
# Runs schedulers of others for a minute with each of seven loads, twice: both runs are the same.
# How a scheduler ends is part of that: one that has no callbacks for CPUs that come and go ends
# when one does, and one that leaves a task waiting is ended by the watchdog, which says for whom.
# Two loads are the same ping-pong, one without the platform's kernel threads, which some schedulers
# leave waiting (docs/guide/schedulers.md): without them a stall is an error.
#
# Each line has the hash of what happened. It is the same on any machine.
#
# WAKEPLACE: the program, else target/release/wakeplace. DURATION: 60s, 5s at least. ONCE=1: not
# twice, where the hashes are compared with those of another machine.
# SCHEDULERS: their command lines, separated by commas; those that are not in PATH are left out.
# Exit code 1: a difference or an error. 3: none of them is there.
set -eu
cd "$(dirname "$0")/.."
wakeplace=${WAKEPLACE:-target/release/wakeplace} duration=${DURATION:-60s}
named=scx_bpfland,scx_cosmos,scx_lavd,scx_p2dq,scx_rusty,scx_simple,scx_central,scx_flatcg
named=$named,scx_pair,scx_qmap
schedulers=${SCHEDULERS:-$named}
mode=--verify-determinism
[ -z "${ONCE:-}" ] || mode='--format json'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/affinity.json" <<'JSON'
{"global": {"calibration": "CPU0"}, "tasks": {"a": {"instance": 6, "loop": -1, "phases": {
    "x": {"cpus": [1], "loop": 4, "run": 1000, "sleep": 6000},
    "y": {"cpus": [2, 5], "loop": 4, "run": 1000, "sleep": 6000},
    "z": {"cpus": [0, 1, 2, 3, 4, 5, 6, 7], "loop": 2, "run": 1000, "sleep": 6000}}}}}
JSON

# Name, workload, options.
loads() {
    cat <<LOADS
periodic periodic:n=20,duty=10%
ping-pong context-switch:pairs=4
alone context-switch:pairs=4 --set model.housekeeping=off
hogs busy-loops:n=12
messaging messaging:
affinity $work/affinity.json
hotplug periodic:n=20,duty=10% --hotplug 1s:3=off,2s:3=on,3s:6=off,4s:6=on
LOADS
}

# check SCHEDULER LOAD WORKLOAD OPTIONS: says what came out of it.
check() {
    set -- "$@" "$work/out"
    code=0
    # shellcheck disable=SC2086 # options with their values, or nothing
    "$wakeplace" sim --platform hikey960 --workload "$3" --duration "$duration" $4 \
        --scheduler "$1" $mode >"$5" 2>&1 || code=$?
    # Of two runs it is there if they are identical.
    hash=$(sed -n 's/.*"event_hash": "\([0-9a-f]*\)".*/\1/p; s/^identical: .*hash=//p' "$5" |
        head -n 1)
    case $code:$hash:$2:$(cat "$5") in
        ?::*) verdict="FAILED: $(tail -n 1 "$5")" ;;
        0:*) verdict=$hash ;;
        1:*:ping-pong:*stall*)
            verdict="$hash, until the watchdog: $(grep -m 1 -o 'stall ([^)]*)' "$5")"
            ;;
        1:*:hotplug:*', exiting scheduler'*) verdict="$hash, until a CPU left" ;;
        *) verdict="FAILED: $(tail -n 1 "$5")" ;;
    esac
    printf '%-14s %-10s %s\n' "$1" "$2" "$verdict"
    case $verdict in FAILED*) : >"$work/failed" ;; esac
}

ran=
old_ifs=$IFS
IFS=,
for scheduler in $schedulers; do
    IFS=$old_ifs
    command -v "${scheduler%% *}" >/dev/null || {
        printf '%-14s not in PATH\n' "$scheduler"
        continue
    }
    ran=yes
    loads | while read -r name workload options; do
        check "$scheduler" "$name" "$workload" "$options"
    done
    IFS=,
done
[ -n "$ran" ] || exit 3
[ ! -e "$work/failed" ]
