#!/usr/bin/env bash
# What takes longer than a submission can wait for: every part runs, whatever fails on the way; each
# prints its seconds, and a table ends the run. What a part says is in target/nightly/PART.log.
#
#   scripts/nightly.sh             all parts
#   scripts/nightly.sh PART...     some of them
#   scripts/nightly.sh --list      their names
#
# NIGHTLY_SCALE=N: times and counts of fuzzing and of mutants, N times the usual.
# Exit code: 0 all held, 1 a part failed. A part that this machine cannot do (exit code 3) is
# skipped, loudly.
set -uo pipefail
cd "$(dirname "$0")/.."

scale=${NIGHTLY_SCALE:-1}
[[ $scale =~ ^[1-9][0-9]{0,3}$ ]] || {
    printf 'NIGHTLY_SCALE=%s: expected a whole number, 1 to 9999\n' "$scale" >&2
    exit 2
}
export CARGO_TERM_COLOR=never
logs=target/nightly

# cargo-deny checks licences. Tools that must be compiled first are never in .ci/run.
deny() {
    local tool
    tool=$(scripts/tool.sh cargo-deny 0.20.2) || return
    "$tool" --locked "$@"
}
# The optimized program, whatever ran before.
program() { cargo build --locked --release --package wakeplace-cli; }

part_lint() { make --no-print-directory lint; }
part_release() { make --no-print-directory build; }
part_demo() { make --no-print-directory demo; }
part_oracle() {
    WAKEPLACE_ORACLE_STATES=1000000 cargo test --locked --package wakeplace-policy-sys \
        --test all oracle -- --nocapture
}
# A sweep that is killed at 200 moments loses nothing that it committed.
part_kills() {
    WAKEPLACE_KILLS=200 cargo test --locked --package wakeplace-cli --test all \
        sweeps::a_killed_sweep_goes_on
}
# A million states for each build of the core, and that all its reasons are among the answers.
part_parity() {
    scripts/setup.sh bpf || return 3
    if [ "$(id -u)" != 0 ] || [ ! -e /sys/kernel/btf/vmlinux ]; then
        echo "**** SKIPPED: the parity test needs root and a kernel with type information"
        return 3
    fi
    WAKEPLACE_REQUIRE_BPF=1 WAKEPLACE_PARITY_STATES=1000000 \
        cargo test --locked --package wakeplace-scx --test parity -- --nocapture
}
# All eight published figures of a contended line, printed (docs/decisions/053).
part_line() {
    WAKEPLACE_UDP_RR=all cargo test --locked --package wakeplace-engine --test behaviour \
        udp_rr:: -- --nocapture
}
part_python() {
    make --no-print-directory python && scripts/python.sh arm64 &&
        cargo clippy --locked --package wakeplace-python -- -D warnings
}
# The module for browsers gives the program's bytes, and its page holds whatever it is given.
part_playground() {
    scripts/setup.sh browser node && program || return
    cargo clippy --locked --package wakeplace-wasm --all-targets -- -D warnings &&
        cargo test --locked --package wakeplace-wasm && scripts/playground-test.sh
}
part_site() { scripts/site.sh; }
part_licences() {
    deny check licenses bans sources
}
part_advisories() { scripts/advisories.sh; }
part_sanitizers() { scripts/sanitize.sh full; }
part_faults() { scripts/faults.sh all; }
part_mutants() { cargo run --quiet --locked --package xtask -- mutants --count $((300 * scale)); }
part_mutants_engine() { MUTANTS_ENGINE=$((12 * scale)) scripts/mutants-engine.sh; }
part_fuzz() {
    WAKEPLACE_FUZZ_INPUTS=$((30 * scale)) cargo test --locked --package wakeplace-fuzz || return
    scripts/fuzz.sh $((120 * scale))
}
part_same_bytes() {
    scripts/setup.sh emulator && scripts/lab-binaries.sh --simulator || return
    program && cargo build --locked --package wakeplace-cli || return
    scripts/same-bytes.sh target/debug/wakeplace target/release/wakeplace \
        "qemu-aarch64 target/lab/arm64/wakeplace"
}
# What is simulated happens as recorded, in all of these runs.
part_same_runs() {
    program && scripts/same-runs.sh --compare scripts/same-runs.txt target/release/wakeplace
}
# No run takes 3 % more instructions than recorded.
part_instructions() { program && scripts/instructions.sh target/release/wakeplace; }
part_traces() { program && scripts/traces/check.sh target/release/wakeplace; }
part_pages() { scripts/setup.sh browser && program && scripts/report-check.sh; }
part_live() { scripts/lab-binaries.sh && program && scripts/live-tests.sh; }
# What can be given away: built twice, and the packages installed in a guest.
part_dist() {
    make --no-print-directory dist && program && scripts/dist-test.sh packages &&
        scripts/dist-test.sh same
}
# Each crate builds from what cargo packages of it.
part_crates() {
    cargo package --locked --workspace --exclude wakeplace-python --exclude wakeplace-wasm \
        --exclude wakeplace-fuzz --exclude xtask
}
part_metrics() { scripts/metrics-test.sh; }
# BPF programs at random do the same compiled as interpreted, here and on arm64.
part_compiler() {
    export WAKEPLACE_SAME_PROGRAMS=$((20000 * scale))
    cargo test --locked --package wakeplace-bpf-vm --test all same:: || return
    scripts/setup.sh lab && scripts/setup.sh emulator || return
    (
        . scripts/arm64-cargo.sh
        export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=qemu-aarch64
        cargo test --locked --package wakeplace-bpf-vm --target aarch64-unknown-linux-gnu --test all
    )
}
# A kernel calls a scheduler as the simulator does.
part_callbacks() {
    scripts/setup.sh bpf emulator && scripts/lab-binaries.sh || return
    WAKEPLACE_CALLBACKS_KERNELS=7.3.4,6.18.15 cargo test --locked --package wakeplace-cli \
        --test all callbacks:: -- --nocapture --test-threads 1
}
# Kernels of other versions as policies: that of the tests is 7.3.4.
part_kernels() {
    local version
    scripts/setup.sh kernel || return
    for version in 5.10 6.1 6.12 6.18; do
        WAKEPLACE_TEST_KERNEL=$version cargo test --locked --package wakeplace-cli --test all \
            kernel_runs:: || return
    done
}
# The shim that trees run on: its own host, sanitizers, and what must not pass in silence.
part_kernel_shim() { cargo build --locked --package wakeplace-cli && scripts/kernel-shim.sh; }
# How much of a tree's kernel/sched the tests execute, and why not the rest.
part_kernel_coverage() { scripts/kernel-coverage.sh; }
# Schedulers of others that are in PATH: a minute with each of seven loads, twice the same.
part_schedulers() { program && scripts/schedulers-check.sh; }
# ... and in an emulated arm64 machine.
part_schedulers_arm64() { program && scripts/schedulers-arm64.sh; }
part_bench() { make --no-print-directory bench; }
part_bench_live() { scripts/lab-binaries.sh && program && scripts/bench-live.sh; }

# In this order.
all=(lint release demo oracle kills python playground site parity line licences advisories
    sanitizers faults mutants mutants_engine fuzz same_bytes same_runs instructions traces pages
    live compiler kernels kernel_shim kernel_coverage callbacks schedulers schedulers_arm64
    metrics crates dist bench bench_live)

chosen=("$@")
[ $# -gt 0 ] || chosen=("${all[@]}")
if [ "${1:-}" = --list ]; then
    printf '%s\n' "${all[@]//_/-}"
    exit
fi
chosen=("${chosen[@]//-/_}")
for part in "${chosen[@]}"; do
    declare -F "part_$part" >/dev/null || {
        printf 'nightly: no part is called %s; expected one of: %s\n' "${part//_/-}" \
            "${all[*]//_/-}" >&2
        exit 2
    }
done

mkdir -p "$logs"
rows=() failed=0
for part in "${chosen[@]}"; do
    name=${part//_/-}
    begin=$SECONDS
    printf '==== %s\n' "$name"
    "part_$part" >"$logs/$name.log" 2>&1 </dev/null
    case $? in
        0) result=held ;;
        3) result=SKIPPED ;;
        *) result=FAILED failed=$((failed + 1)) ;;
    esac
    # A part that leaves out a piece of itself says so in these words.
    grep -hE '^\*\*\*\* |^SKIPPED' "$logs/$name.log" || true
    [ $result = held ] || tail -n 25 "$logs/$name.log" | sed 's/^/    /'
    rows+=("$(printf '%-16s %6d s  %s' "$name" $((SECONDS - begin)) "$result")")
    printf '%s\n' "${rows[-1]}"
done

printf '\n==== nightly, %d s\n' "$SECONDS"
printf '%s\n' "${rows[@]}"
[ $failed = 0 ]
