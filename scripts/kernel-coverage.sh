#!/usr/bin/env bash
# How much of a kernel's own kernel/sched the test runs of trees execute: the kernel is built with
# gcov's counters, the tests run, and what was never executed is compared with a list that says why
# (scripts/kernel-coverage.txt). An object writes its counters when it is unloaded, at each run's
# end; nothing of the program is another one.
#
#   scripts/kernel-coverage.sh          the table, and what is wrong
#   scripts/kernel-coverage.sh --page   renews docs/internals/kernel-coverage.md, too
#
# KEEP=1: the objects stay, and the counters of earlier runs are added.
# Exit code 1: a goal is missed, or the list is wrong; 3: no kernel can be had or built here.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/kernel-drive.sh

version=7.3.4
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
program=$target/debug/wakeplace
work=$target/kernel-coverage
say() { printf 'kernel-coverage: %s\n' "$*" >&2; }

scripts/setup.sh kernel || exit 3
if ! command -v gcov >/dev/null || ! command -v python3 >/dev/null; then
    say "gcov and python3 are needed: apt-get install gcc python3"
    exit 3
fi
cargo build --locked --quiet --package wakeplace-cli
cargo test --locked --quiet --package wakeplace-cli --test all --no-run
[ -n "${KEEP:-}" ] || rm -rf "$work"
mkdir -p "$work/cache"

# The sources that were fetched before, so that the archive is not asked again.
"$program" kernel build "$version" --arch arm64 >"$work/build.log" 2>&1 || {
    cat "$work/build.log" >&2
    exit 3
}
fetched=$(dirname "$(dirname "$(kernel_tree "$version")")")
[ -e "$work/cache/trees" ] || cp -al "$fetched" "$work/cache/trees"

# Objects are kept by what they are made of, to which these do not belong: a cache of its own.
export WAKEPLACE_KERNEL_CACHE=$work/cache
# Functions are counted before they are put into others, but for those that must be.
export WPSIM_CFLAGS="--coverage -fno-early-inlining" WPSIM_LDFLAGS="-lgcov -lc"
for machine in "arm64" "x86_64" "arm64 --large" "x86_64 --large"; do
    # shellcheck disable=SC2086 # words
    "$program" kernel build "$version" --arch $machine >"$work/build.log" 2>&1 || {
        cat "$work/build.log" >&2
        exit 1
    }
done
unset WPSIM_CFLAGS WPSIM_LDFLAGS

say "the tests"
WAKEPLACE_REQUIRE_KERNEL=1 cargo test --locked --quiet --package wakeplace-cli --test all \
    kernel_runs:: >"$work/tests.log" 2>&1 || {
    tail -n 50 "$work/tests.log" >&2
    exit 1
}
say "other machines"
while read -r run; do
    kernel_run "$program" "$version" "$run" >"$work/run.log" 2>&1 </dev/null || {
        cat "$work/run.log" >&2
        say "it fails: $run"
        exit 1
    }
done < <(kernel_runs)
say "the shim's own host"
compile_drive "$work/drive"
for object in "$work"/cache/objects/*/kernel.so; do
    nr_cpus=$(sed -n 's/^CONFIG_NR_CPUS=//p' "$(dirname "$object")/obj/.config")
    while read -r scenario; do
        [[ $scenario != *big* || $nr_cpus -gt 64 ]] || continue
        drive "$work/drive" "$object" "$scenario" >"$work/drive.log" 2>&1 || {
            cat "$work/drive.log" >&2
            say "it fails: $scenario"
            exit 1
        }
    done < <(drive_scenarios)
done

mapfile -t folders < <(ls -d "$work"/cache/objects/*/obj)
part=()
page=docs/internals/kernel-coverage.md
[ "${1:-}" != --page ] || part=(--page "$page.new")
scripts/kernel-coverage.py scripts/kernel-coverage.txt "${folders[@]}" "${part[@]}"
[ ${#part[@]} = 0 ] || scripts/page-part.sh "$page" "$page.new" scripts/kernel-coverage.sh
say "done [$SECONDS s]"
