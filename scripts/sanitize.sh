#!/usr/bin/env bash
# The policy core with AddressSanitizer and UndefinedBehaviorSanitizer and with its array indices
# checked: under its own tests and under simulations of which everything is drawn.
#
#   scripts/sanitize.sh quick   its tests with fewer random states, 86 simulations
#   scripts/sanitize.sh full    all tests that simulate, 500 simulations
#
# WAKEPLACE_RANDOM_SEED=N: the first seed. Exit code 1: something was found; 3: no sanitizer here.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'sanitize: %s\n' "$*" >&2; }

mode=${1:-quick}
case $mode in
    quick)
        export WAKEPLACE_ORACLE_STATES=${WAKEPLACE_ORACLE_STATES:-5000}
        export WAKEPLACE_RANDOM_RUNS=${WAKEPLACE_RANDOM_RUNS:-86}
        ;;
    full) export WAKEPLACE_RANDOM_RUNS=${WAKEPLACE_RANDOM_RUNS:-500} ;;
    *)
        say "unknown size: $mode (quick, full)"
        exit 2
        ;;
esac

# The runtimes are those of gcc: build.rs links them. Another name for it builds libraries anew.
case $(cc --version 2>/dev/null) in
    *"Free Software Foundation"*) ;;
    *) export CC=gcc ;;
esac
if ! echo 'int main(void) { return 0; }' |
    "${CC:-cc}" -fsanitize=address,undefined -x c -o /dev/null - 2>/dev/null; then
    say "gcc and its libasan and libubsan are needed: apt-get install gcc"
    exit 3
fi

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
logs=$target/sanitize
mkdir -p "$logs"
# All of the tests include the program's own, which would then be the one with sanitizers.
[ "$mode" != full ] || export CARGO_TARGET_DIR=$logs
# What Rust leaves allocated at its end is no finding. The threshold: tests make thousands of
# machines of a megabyte, of which AddressSanitizer would map and unmap its own part each time.
options=detect_leaks=0:clear_shadow_mmap_threshold=100000000
export ASAN_OPTIONS=$options${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export UBSAN_OPTIONS=print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}

# tests NAME PACKAGE... -- ARGUMENT...: the core's package is always among them, it has the feature.
# Without capture: an abort would lose what its test has said. Only the end is shown if all is well.
tests() {
    local log=$logs/$1.log name=$1 packages=(--package wakeplace-policy-sys)
    shift
    while [ "$1" != -- ]; do
        packages+=(--package "wakeplace-$1")
        shift
    done
    shift
    if ! cargo test --locked --features wakeplace-policy-sys/sanitize "${packages[@]}" \
        "$@" >"$log" 2>&1; then
        tail -n 120 "$log" >&2
        say "found something (the whole output: $log)"
        exit 1
    fi
    if ! grep -qE '^test result: ok. [1-9][0-9]* passed' "$log"; then
        say "$name: no test ran (the whole output: $log)"
        exit 1
    fi
    grep -h '^test result:' "$log" | grep -v ' 0 passed' | sed "s/^test result:/sanitize: $name:/"
}

tests core -- --test all -- --nocapture
# In one thread: the last seed that is named is the one that ended it.
tests random engine -- --test behaviour -- --nocapture --test-threads 1 random::
say "$WAKEPLACE_RANDOM_RUNS simulations from seed ${WAKEPLACE_RANDOM_SEED:-1} on"
if [ "$mode" = full ]; then
    unset WAKEPLACE_RANDOM_RUNS
    # Left out: a preloaded library and bounds on memory, which AddressSanitizer does not bear.
    tests simulating engine metrics trace study report -- --no-fail-fast -- \
        --skip in_bounded_memory
    tests program cli -- --bins --tests --no-fail-fast -- --skip faults:: --skip a_hundred_megabytes
fi
say "nothing found [$SECONDS s]"
