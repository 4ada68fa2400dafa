#!/usr/bin/env bash
# Are results the same bytes, whichever machine the program was built for and however? Makes ten
# small runs with each program and compares the JSON and all exports with those of the first.
#
#   scripts/same-bytes.sh target/debug/wakeplace target/release/wakeplace \
#       'qemu-aarch64 target/lab/arm64/wakeplace'
#
# A program is a command, its words apart by blanks. Exit code 1: a run differs; 2: usage.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'same-bytes: %s\n' "$*" >&2; }

if [ $# -lt 2 ]; then
    say "two programs at least: scripts/same-bytes.sh PROGRAM PROGRAM..."
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Every era, every feature, the live queues in each mode, CPUs that go and come, heat, a parameter
# that changes, groups of tasks, random times. Duration and exports are the same for all.
runs=(
    '--platform tc2 --policy linux-3.1+sched-mc=2 --workload periodic:n=6'
    '--platform snb-ep-2s --policy linux-3.8+power-policy=powersaving --workload messaging:'
    '--platform juno-r0 --policy linux-4.7+asym-capacity --workload periodic:n=10'
    '--platform hikey960 --policy linux-4.17+energy-aware --workload periodic:n=10,duty=5%
        --set model.thermal=on --hotplug 20ms:5=off,60ms:5=on'
    '--platform juno-r2 --policy linux-5.0 --workload periodic:n=8 --set queue=eevdf'
    '--platform zen4-7950x --policy linux-6.2+sis-short=v5 --workload schbench:'
    '--platform rk3588 --policy linux-6.12 --workload messaging: --set model.irq=0:3ms:200us'
    '--platform gs101 --policy linux-7.3 --workload cyclictest:
        --set model.freq_cap=1:max@10ms --set model.em_scale=1:150@20ms'
    '--platform sdm845 --policy wakeplace --workload sysbench-threads: --hotplug 30ms:1=off'
    '--platform wsm-ep-2s --policy wakeplace --set mode=powersave --workload oltp:
        --policy-at 40ms=mode=performance'
)

# The hashes of all that a run writes, one line each.
hashes() {
    local program run
    read -ra program <<<"$1"
    read -ra run <<<"$2"
    local out=$3
    mkdir "$out"
    if ! "${program[@]}" sim "${run[@]}" --duration 100ms --seed 7 --quiet --format json \
        --export-ftrace "$out/ftrace.txt" --export-perfetto "$out/perfetto" \
        --export-parquet "$out/tables" -o "$out/result.json" >"$out.log" 2>&1; then
        say "$1 cannot make the run: ${run[*]}"
        cat "$out.log" >&2
        exit 1
    fi
    (cd "$out" && find . -type f -print0 | sort -z | xargs -0 sha256sum)
}

for index in "${!runs[@]}"; do
    run=$(tr -s ' \n' ' ' <<<"${runs[$index]}")
    printf '%s\n' "$run"
    number=0
    for program in "$@"; do
        out=$work/$index.$number
        hashes "$program" "$run" "$out" >"$out.sums"
        printf '  %s  %s\n' "$(sha256sum <"$out.sums" | cut -c1-16)" "$program"
        if ! cmp -s "$out.sums" "$work/$index.0.sums"; then
            say "$program differs from $1 in the run: $run"
            diff "$work/$index.0.sums" "$out.sums" >&2 || true
            exit 1
        fi
        rm -rf "$out"
        number=$((number + 1))
    done
done
say "${#runs[@]} runs, the same bytes from $# programs [$SECONDS s]"
