#!/usr/bin/env bash
# Fuzzes the loaders, each for so many seconds: scripts/fuzz.sh [SECONDS] [TARGET...]. What is found
# is kept below target/fuzz; a panic, an input that takes over 10 s or memory above 256 MB ends it
# with exit code 1. Starts from the project's own files.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(rtapp platform trace tree)

# Without a sanitizer, which needs no nightly compiler: safe Rust has no memory to corrupt.
tool=target/tools/bin/cargo-fuzz
[ -x "$tool" ] || cargo install cargo-fuzz --version 0.13.2 --locked --quiet --root target/tools

work=target/fuzz
for target in "${targets[@]}"; do
    mkdir -p "$work/corpus/$target" "$work/found/$target"
    case $target in
        rtapp) seeds=(workloads/*.json crates/workload/tests/fixtures/*.json \
            crates/workload/tests/fixtures/rtapp/corpus/*.json) ;;
        platform) seeds=(platforms/*.toml) ;;
        trace) seeds=(crates/trace/tests/replay/*.txt) ;;
        tree) seeds=(crates/platform/tests/import/trees/*.yml) ;;
        *)
            printf 'fuzz: no target is called %s; expected rtapp, platform, trace or tree\n' \
                "$target" >&2
            exit 2
            ;;
    esac
    for seed in "${seeds[@]}"; do
        [ ! -e "$seed" ] || cp "$seed" "$work/corpus/$target/"
    done
    printf '== fuzzing %s for %s s\n' "$target" "$seconds"
    log=$work/$target.log
    if ! "$tool" run --sanitizer none --target-dir "$work/build" "$target" \
        "$work/corpus/$target" -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=256 \
        -artifact_prefix="$work/found/$target/" -print_final_stats=1 >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        printf 'fuzz: %s failed; the input is below %s\n' "$target" "$work/found/$target" >&2
        exit 1
    fi
    grep -E 'stat::number_of_executed_units|stat::peak_rss_mb|^Done' "$log"
done
