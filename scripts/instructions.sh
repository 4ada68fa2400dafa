#!/usr/bin/env bash
# How many instructions five runs of the optimized program take, counted by valgrind: time on a
# shared machine says little, a count is the same each time.
#
#   scripts/instructions.sh [PROGRAM]            compare with scripts/instructions.txt
#   scripts/instructions.sh --record [PROGRAM]   write that file
#
# PROGRAM: target/release/wakeplace if none is given. The counts of the file are of one tool chain,
# which it names; with another the comparison says nothing and is skipped, loudly. Exit code 1: a
# run takes 3 % more than recorded; 2: usage; 3: skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
file=scripts/instructions.txt
limit_percent=3

do=compare
if [ "${1:-}" = --record ]; then
    do=record
    shift
fi
if [ $# -gt 1 ] || [[ ${1:-} == -* ]]; then
    echo "instructions: expected: scripts/instructions.sh [--record] [PROGRAM]" >&2
    exit 2
fi
program=${1:-target/release/wakeplace}

phone='--platform hikey960 --workload periodic:n=50,period=16ms,duty=5% --duration 5s'
runs=(
    "phone-4.17-eas   $phone --policy linux-4.17+energy-aware"
    "phone-7.3        $phone --policy linux-7.3"
    "phone-wakeplace  $phone --policy wakeplace"
    'server-640       --platform snb-ep-4s --workload periodic:n=640,period=16ms,duty=5%
        --duration 300ms --policy linux-6.12'
    'pairs-224        --platform spr-2s --workload context-switch:pairs=224 --duration 15ms
        --policy linux-6.2'
)

skip() {
    echo "**** SKIPPED: instructions: $*"
    exit 3
}
command -v valgrind >/dev/null || skip "valgrind is not installed"

# What a count depends on beside the source.
tool_chain() {
    printf '# rustc: %s\n' "$(rustc --version)"
    printf '# cc: %s\n' "$(cc --version | head -n 1)"
    printf '# libc: %s\n' "$(ldd --version | head -n 1)"
    printf '# valgrind: %s, %s\n' "$(valgrind --version)" "$(uname -m)"
}

count() {
    local -a words
    read -ra words <<<"$(tr -s ' \n' ' ' <<<"$1")"
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
        "$program" sim --quiet --seed 7 "${words[@]:1}" 2>&1 >/dev/null |
        sed -n 's/.*I *refs: *//p' | tr -d ,
}

if [ $do = record ]; then
    {
        echo "# Made by scripts/instructions.sh --record: instructions of runs, with"
        tool_chain
        for run in "${runs[@]}"; do
            printf '%-16s %12d\n' "${run%% *}" "$(count "$run")"
        done
    } >"$file.new"
    mv "$file.new" "$file"
    cat "$file"
    exit
fi

if ! diff <(grep -E '^# [a-z]+: ' "$file") <(tool_chain); then
    skip "$file is of another tool chain (above); record it with this one before a change"
fi
over=0
printf '%-16s %14s %14s %8s\n' run recorded now change
for run in "${runs[@]}"; do
    name=${run%% *}
    was=$(sed -n "s/^$name  *//p" "$file")
    [ -n "$was" ] || { echo "instructions: $name is not in $file" >&2; exit 1; }
    now=$(count "$run")
    awk -v name="$name" -v was="$was" -v now="$now" -v limit=$limit_percent 'BEGIN {
        change = (now / was - 1) * 100
        over = (change > limit)
        printf "%-16s %14d %14d %+7.2f%%%s\n", name, was, now, change,
            (over ? "  MORE than " limit " %" : "")
        exit over }' || over=1
done
exit $over
