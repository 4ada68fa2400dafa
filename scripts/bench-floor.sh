#!/usr/bin/env bash
# What the parts of a wake-up cost at least, in instructions as in bench-live.sh: a scheduler that
# has only them (scripts/live/floor.bpf.c). Takes what `make lab` and `make build` made, and
# clang 19.
#
#   BENCH_KERNEL=...      version of the guest's kernel; default: the newest that can be used
#   BENCH_JOBS=N          so many guests at a time; default: 1
#   BENCH_PAGE=FILE       replaces the part of that page that names this command
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/live/common.sh

keep_in "${LIVE_KEEP:-}"
built=$(dirname "$(dirname "$wakeplace")")
headers=$(find "$built" -path '*/libbpf-sys-*/out/include' -print -quit)
[ -n "$headers" ] || {
    printf 'the headers of libbpf are missing: run `make build`\n' >&2
    exit 3
}
loader=$(realpath "$(dirname "$wakeplace")/wakeplace-bpf-load")
options=(--arch x86_64 --cpus 4 --icount --timeout 60m --add $live/guest.sh)
[ -z "${BENCH_KERNEL:-}" ] || options+=(--kernel "$BENCH_KERNEL")

# measure NAME OPTION...: in a guest of its own.
measure() {
    local name=$1 code=0
    shift
    guest "$keep/$name" "${options[@]}" "$@" -- sh guest.sh ping-pong || code=$?
    [ $code = 0 ] || fault "$name: exit code $code: $(tail -n 30 "$keep/$name/log")"
}

outputs=("$keep/kernel/stdout")
measure kernel --scheduler kernel &
for parts in 1 2 3; do
    object=$keep/floor-$parts.bpf.o
    "${BPF_CLANG:-clang-19}" -g -O2 -mcpu=v3 --target=bpf -Wall -Werror -DPARTS=$parts \
        -I"$headers" -Icrates/scx/policy/include -Icrates/scx/policy -Icrates/scx/src/bpf \
        -c scripts/live/floor.bpf.c -o "$object"
    while [ "$(jobs -rp | wc -l)" -ge "${BENCH_JOBS:-1}" ]; do wait -n; done
    measure "floor-$parts" --add "$object" --scheduler "$loader floor-$parts.bpf.o" &
    outputs+=("$keep/floor-$parts/stdout")
done
wait
all_held || exit 1
table=$keep/table.md
{
    version=$(awk '$1 == "kernel" { print $3; exit }' "$keep/kernel/log")
    printf 'Linux %s, x86-64, four CPUs.\n\n' "$version"
    awk -f $live/median.awk -f $live/floor-table.awk "${outputs[@]}"
} >"$table"
cat "$table"
[ -z "${BENCH_PAGE:-}" ] || scripts/page-part.sh "$BENCH_PAGE" "$table" scripts/bench-floor.sh
