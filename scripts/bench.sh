#!/usr/bin/env bash
# How fast the whole program is: simulated seconds a second on four machines, what exports cost,
# how long the program takes to start, how large it is (docs/internals/performance.md).
#
#   scripts/bench.sh PROGRAM            a table
#   scripts/bench.sh PROGRAM BEFORE     ... beside another build of it, runs in turn
#
# Each figure is the least of several runs, in processor time (user and system, as the kernel
# charged it to the process) and in wall time: on a shared machine only the first says something.
# WAKEPLACE_BENCH_QUICK=1: fewer and shorter runs. It judges nothing.
set -euo pipefail
program=$1
before=${2:-}
rounds=7
shorter=1
if [ -n "${WAKEPLACE_BENCH_QUICK:-}" ]; then
    rounds=3
    shorter=5
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Processor and wall time of a command, us.
spent() {
    local TIMEFORMAT='%3U %3S %3R'
    rm -rf "$work"/t.*
    { time "$@" >"$work/out" 2>&1; } 2>&1 |
        awk '{ printf "%d %d\n", ($1 + $2) * 1e6, $3 * 1e6 }'
}

# The least of each over the rounds, of this program and of the other in turn, in these variables:
# cpu wall other_cpu other_wall.
measure() {
    cpu=999999999 wall=999999999 other_cpu=999999999 other_wall=999999999
    local a b
    for _ in $(seq "$rounds"); do
        read -r a b < <(spent "$program" "$@")
        [ "$a" -ge "$cpu" ] || cpu=$a
        [ "$b" -ge "$wall" ] || wall=$b
        [ -n "$before" ] || continue
        read -r a b < <(spent "$before" "$@")
        [ "$a" -ge "$other_cpu" ] || other_cpu=$a
        [ "$b" -ge "$other_wall" ] || other_wall=$b
    done
}

# NAME MILLISECONDS MUST AIM ARGUMENTS...
speed() {
    local name=$1 ms=$(($2 / shorter)) must=$3 aim=$4
    shift 4
    measure sim --quiet --seed 7 --duration "${ms}ms" "$@"
    awk -v name="$name" -v ms="$ms" -v cpu="$cpu" -v wall="$wall" -v other="$other_cpu" \
        -v before="$before" -v must="$must" -v aim="$aim" 'BEGIN {
        printf "%-36s %9.3f %9.3f %8s %8s", name, ms * 1e3 / cpu, ms * 1e3 / wall, must, aim
        if (before != "") printf "  x %.2f", other / cpu
        print "" }'
}

phone=(--platform hikey960 --workload 'periodic:n=50,period=16ms,duty=5%')
printf '%-36s %9s %9s %8s %8s\n' 'simulated s per s, by' processor wall must aim
speed '50 tasks, 8 CPUs, 4.17+energy-aware' 30000 400 520 "${phone[@]}" \
    --policy linux-4.17+energy-aware
speed '50 tasks, 8 CPUs, 7.3' 30000 330 450 "${phone[@]}" --policy linux-7.3
speed '50 tasks, 8 CPUs, wakeplace' 30000 330 450 "${phone[@]}" --policy wakeplace
speed '640 tasks, 64 CPUs, 6.12' 10000 20 30 --platform snb-ep-4s \
    --workload 'periodic:n=640,period=16ms,duty=5%' --policy linux-6.12
speed '224 pairs, 224 CPUs, 6.2' 200 0.2 0.4 --platform spr-2s \
    --workload context-switch:pairs=224 --policy linux-6.2

printf '\n%-36s %9s %9s\n' 'exports, times the run without' processor wall
plain=("${phone[@]}" --policy linux-4.17+energy-aware --duration "$((60 / shorter))s" --quiet)
measure sim "${plain[@]}"
plain_cpu=$cpu plain_wall=$wall
for one in 'perfetto t.pftrace' 'ftrace t.txt' 'parquet t.tables'; do
    read -r format path <<<"$one"
    measure sim "${plain[@]}" "--export-$format" "$work/$path"
    awk -v name="$format" -v a="$cpu" -v b="$plain_cpu" -v c="$wall" -v d="$plain_wall" \
        'BEGIN { printf "%-36s %9.2f %9.2f\n", name, a / b, c / d }'
done

measure --version
awk -v cpu="$cpu" -v wall="$wall" \
    'BEGIN { printf "\n%-36s %6.1f ms %6.1f ms\n", "start of the process", cpu / 1e3, wall / 1e3 }'
cp "$program" "$work/program"
strip "$work/program"
awk -v size="$(stat -c %s "$work/program")" \
    'BEGIN { printf "%-36s %6.1f MB\n", "program on disk, stripped", size / 1e6 }'
