#!/usr/bin/env bash
# What a wake-up costs under the kernel's own scheduler, under scx_wakeplace and under sched_ext
# schedulers of others, in instructions: in emulated machines whose clock counts them (2 ns each),
# so that it does not matter how busy this one is. Takes what `make lab` and `make build` made.
#
#   BENCH_KERNEL=...      version of the guest's kernel; default: the newest that can be used
#   BENCH_POLICY=NAME     policy of scx_wakeplace; default: its own
#   BENCH_PEERS=...       NAME@VERSION of cargo's registry each; default: those below. They are
#                         compiled once, into target/tools. Empty: none
#   BENCH_JOBS=N          so many guests at a time; default: 1
#   BENCH_PAGE=FILE       replaces the measured part of that page (docs/results/live.md)
#
# All instructions of all CPUs count: the system calls, both programs' own work, idle loops. So the
# ratio is what a program sees, not that of the placement alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/live/common.sh

peers=${BENCH_PEERS-scx_bpfland@1.1.4 scx_cosmos@1.1.7 scx_lavd@1.1.4 scx_rusty@1.1.4}
keep_in "${LIVE_KEEP:-}"
options=(--arch x86_64 --cpus 4 --icount --timeout 60m --add $live/guest.sh)
[ -z "${BENCH_KERNEL:-}" ] || options+=(--kernel "$BENCH_KERNEL")

# measure NAME SCHEDULER: in a guest of its own.
measure() {
    local code=0
    guest "$keep/$1" "${options[@]}" --scheduler "$2" -- sh guest.sh cost || code=$?
    [ $code = 0 ] || fault "$1: exit code $code: $(tail -n 30 "$keep/$1/log")"
}

names=(kernel wakeplace)
commands=(kernel "wakeplace${BENCH_POLICY:+:$BENCH_POLICY}")
for peer in $peers; do
    program=$(scripts/tool.sh "${peer%@*}" "${peer#*@}")
    names+=("${peer%@*}")
    commands+=("$program")
done
for at in "${!names[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "${BENCH_JOBS:-1}" ]; do wait -n; done
    say "bench-live: ${names[at]} [$SECONDS s]" >&2
    measure "${names[at]}" "${commands[at]}" &
done
wait
all_held || exit 1

outputs=()
for name in "${names[@]}"; do outputs+=("$keep/$name/stdout"); done
table=$keep/table.md
{
    version=$(awk '$1 == "kernel" { print $3; exit }' "$keep/wakeplace/log")
    peers=${peers//@/ }
    printf 'Linux %s, x86-64, four CPUs%s.\n\n' "$version" "${peers:+; ${peers// scx_/, scx_}}"
    awk -f $live/median.awk -f $live/cost-table.awk "${outputs[@]}"
} >"$table"
cat "$table"
[ -z "${BENCH_PAGE:-}" ] || scripts/page-part.sh "$BENCH_PAGE" "$table" scripts/bench-live.sh
