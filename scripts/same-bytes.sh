#!/usr/bin/env bash
# Are results the same bytes, whichever machine the program was built for and however? Makes the
# runs of scripts/runs.sh with each program and compares the JSON and all exports with those of the
# first.
#
#   scripts/same-bytes.sh target/debug/wakeplace target/release/wakeplace \
#       'qemu-aarch64 target/lab/arm64/wakeplace'
#
# A program is a command, its words apart by blanks. Exit code 1: a run differs; 2: usage.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/runs.sh

say() { printf 'same-bytes: %s\n' "$*" >&2; }

if [ $# -lt 2 ]; then
    say "two programs at least: scripts/same-bytes.sh PROGRAM PROGRAM..."
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The hashes of all that a run writes, one line each.
hashes() {
    local out=$3
    if ! make_run "$1" "$2" "$out"; then
        say "$1 cannot make the run: $2"
        cat "$out.log" >&2
        exit 1
    fi
    sums "$out"
}

for index in "${!runs[@]}"; do
    run=${runs[$index]}
    printf '%s\n' "$(run_name "$run")"
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
