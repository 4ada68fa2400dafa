#!/usr/bin/env bash
# What traces cost: processor time of the same run with and without, side by side, the least of
# several each. The program's own start is in both.
#   scripts/traces/bench.sh PROGRAM
# WAKEPLACE_BENCH_QUICK=1: a short look. The aim: a Perfetto file within 1.5 times.
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rounds=7
seconds=60
if [ -n "${WAKEPLACE_BENCH_QUICK:-}" ]; then
    rounds=3
    seconds=20
fi

# Processor time of a run, ms. A trace of the run before is not replaced: to throw that away would
# count as well.
cost() {
    local TIMEFORMAT='%U %S' spent
    rm -rf "$work"/t.*
    spent=$({ time "$program" sim "$@" >"$work/out" 2>&1; } 2>&1)
    awk '{ printf "%d", ($1 + $2) * 1000 }' <<<"$spent"
}

least() {
    if [ "$1" -lt "$2" ]; then echo "$1"; else echo "$2"; fi
}

over=0
compare() {
    local name=$1 plain=999999 perfetto=999999 ftrace=999999 parquet=999999
    shift
    for _ in $(seq "$rounds"); do
        plain=$(least "$plain" "$(cost "$@")")
        perfetto=$(least "$perfetto" "$(cost "$@" --export-perfetto "$work/t.pftrace")")
        ftrace=$(least "$ftrace" "$(cost "$@" --export-ftrace "$work/t.txt")")
        parquet=$(least "$parquet" "$(cost "$@" --export-parquet "$work/t.tables")")
    done
    awk -v name="$name" -v a="$plain" -v b="$perfetto" -v c="$ftrace" -v d="$parquet" 'BEGIN {
        printf "%-34s %6d ms; with Perfetto x %.2f, ftrace x %.2f, Parquet x %.2f\n",
            name, a, b / a, c / a, d / a }'
    if [ $((perfetto * 2)) -gt $((plain * 3)) ]; then
        over=1
    fi
}

echo "traces: processor time without and with"
compare "50 tasks, hikey960, ${seconds} s" --platform hikey960 --policy linux-4.17+energy-aware \
    --workload 'periodic:n=50,period=16ms,duty=5%' --duration "${seconds}s"
compare "context switches, 224 CPUs" --platform spr-2s --policy linux-6.2+sis-short \
    --workload context-switch --duration "$((seconds * 50))ms"
if [ "$over" = 1 ]; then
    echo "a Perfetto file takes more than the 1.5 times aimed at"
fi
