#!/usr/bin/env bash
# The shim that a kernel tree runs on (crates/kernel-shim), under its own host in C: every scenario
# twice with the same bytes and nothing to complain about, then the same with guard pages, for the
# kernel's own code, and with AddressSanitizer and UndefinedBehaviorSanitizer in the shim. Then on
# an arm64 host (by emulation), with the decisions of this one. Then what must not pass in silence:
# a clock that is lost, and trees that were broken on purpose.
#
#   scripts/kernel-shim.sh [VERSION [PROGRAM]]
#
# Exit code 1: something was found; 3: no kernel can be had or built here.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/kernel-drive.sh

version=${1:-7.3.4}
program=${2:-${CARGO_TARGET_DIR:-target}/debug/wakeplace}
work=$(realpath -m "${CARGO_TARGET_DIR:-target}")/kernel-shim
mkdir -p "$work"
say() { printf 'kernel-shim: %s\n' "$*" >&2; }

scripts/setup.sh kernel || exit 3
"$program" kernel build "$version" --arch arm64 >"$work/build.log" 2>&1 || {
    cat "$work/build.log" >&2
    exit 3
}
tree=$(kernel_tree "$version")

# build_object NAME: $work/NAME.so, with what the environment says.
build_object() {
    local out=$work/out${CROSS_COMPILE:-}
    HOSTCC=gcc crates/kernel-shim/build.sh "$tree" "$out" \
        crates/kernel-shim/config/like-arm64.config
    cp "$out/kernel.so" "$work/$1.so"
}

# scenarios NAME DRIVE OBJECT: all of them, each twice.
scenarios() {
    local scenario
    while read -r scenario; do
        drive "$2" "$3" "$scenario" >"$work/first" 2>"$work/all-said" || {
            cat "$work/first" "$work/all-said" >&2
            say "$1, $scenario: it fails"
            return 1
        }
        # A thread that ends leaves its stack for good, of which AddressSanitizer knows nothing.
        sed '/ASan is ignoring requested __asan_handle_no_return/,+2d' "$work/all-said" \
            >"$work/said"
        # A WARN, an answer that was not expected, a finding: all of them are said here.
        if [ -s "$work/said" ] || ! grep -q ' warnings 0 ' "$work/first"; then
            cat "$work/first" "$work/said" >&2
            say "$1, $scenario: it complains"
            return 1
        fi
        drive "$2" "$3" "$scenario" >"$work/second" 2>"$work/all-said"
        cmp "$work/first" "$work/second"
        say "$1, $scenario: $(grep -o 'hash .*' "$work/first"), twice"
    done < <(drive_scenarios)
}

compile_drive "$work/drive"
build_object plain
scenarios plain "$work/drive" "$work/plain.so"
say "with a guard behind each piece of memory"
export GUARD=1
scenarios guarded "$work/drive" "$work/plain.so"
unset GUARD

say "with sanitizers"
sanitizers=-fsanitize=address,undefined
compile_drive "$work/drive-sanitized" $sanitizers
# Left out, as a kernel does such things on purpose: unaligned access and shifts into the sign.
WPSIM_SHIM_CFLAGS="$sanitizers -fno-sanitize=alignment,shift" WPSIM_LDFLAGS=-Wl,-z,undefs \
    build_object sanitized
# Signals are the sanitizers'. Stacks are switched, of which they need not know if they keep to
# their own.
export NO_HANDLER=1 UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS=detect_stack_use_after_return=0:detect_leaks=0
scenarios sanitized "$work/drive-sanitized" "$work/sanitized.so"
unset NO_HANDLER

say "on an arm64 host"
scripts/setup.sh cross && scripts/setup.sh emulator || exit 3
export CROSS_COMPILE=aarch64-linux-gnu-
compile_drive "$work/drive-arm64"
build_object arm64
unset CROSS_COMPILE
printf '#!/bin/sh\nexec qemu-aarch64 -L /usr/aarch64-linux-gnu %s "$@"\n' "$work/drive-arm64" \
    >"$work/emulated"
chmod +x "$work/emulated"
while read -r scenario; do
    drive "$work/drive" "$work/plain.so" "$scenario" >"$work/first"
    drive "$work/emulated" "$work/arm64.so" "$scenario" >"$work/second"
    cmp "$work/first" "$work/second"
    say "arm64 host, $scenario: $(grep -o 'hash .*' "$work/first"), as on this one"
done < <(drive_scenarios)

# refused WORDS COMMAND...: it ends with exit code 1, and says these words.
refused() {
    local words=$1 code=0
    shift
    "$@" >"$work/said" 2>&1 || code=$?
    if [ $code != 1 ] || ! grep -qE "$words" "$work/said"; then
        cat "$work/said" >&2
        say "exit code $code; expected 1, and: $words"
        return 1
    fi
    say "$(grep -E "$words" "$work/said" | head -1)"
}

say "a clock that is lost"
DEAF=3 refused 'CPU 3, with [0-9]+ tasks, had no tick from 1[0-9]+ ns to 1[0-9]+ ns' \
    "$work/drive" "$work/plain.so" busy 2

# broken C-TEXT: a tree whose tick does that first on CPU 3, from 100 ms on: its clock begins 10 s
# before.
broken() {
    local tick core=$work/broken/kernel/sched/core.c
    [ -e "$work/broken" ] || cp -rs "$tree" "$work/broken"
    tick=$(grep -oE '^void (scheduler|sched)_tick\(void\)' "$tree/kernel/sched/core.c")
    rm "$core"
    {
        sed "s/^$tick/static void whole_tick(void)/" "$tree/kernel/sched/core.c"
        printf 'void wakeplace_does_not_have_this(void);\n%s\n{\n' "$tick"
        printf '\tif (smp_processor_id() == 3 && sched_clock() > 10100000000ULL)\n\t\t%s;\n' "$1"
        printf '\twhole_tick();\n}\n'
    } >"$core"
}
run=("$program" sim --platform hikey960 --workload busy-loops:n=10 --duration 300ms
    --policy "kernel:$work/broken")
say "a tree that forgets the clock of a run queue"
broken return
refused 'CPU 3 is busy, and the clock of its run queue says [0-9]+ ns at [0-9]+ ns' "${run[@]}"
say "a tree that calls what the shim does not have"
broken 'wakeplace_does_not_have_this()'
refused 'the kernel calls wakeplace_does_not_have_this\(\), which the shim does not have' \
    "${run[@]}"
say "nothing found [$SECONDS s]"
