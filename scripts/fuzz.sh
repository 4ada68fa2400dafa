#!/usr/bin/env bash
# Fuzzes each target, guided by coverage: scripts/fuzz.sh [SECONDS EACH [TARGET...]]. A panic, an
# input that takes over 60 s or memory above 1 GiB ends it with exit code 1; the input is kept below
# target/fuzz/found. Starts from the kept inputs, and goes on from what earlier runs left in
# target/fuzz/corpus. For a night: `cargo test -p wakeplace-fuzz` runs the same without a tool.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
all=(platform rtapp trace tree run study report bpf store)
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=("${all[@]}")
for target in "${targets[@]}"; do
    if [[ " ${all[*]} " != *" $target "* ]]; then
        printf 'fuzz: no target is called %s; expected one of %s\n' "$target" "${all[*]}" >&2
        exit 2
    fi
done

# Without a sanitizer, which needs no nightly compiler: safe Rust has no memory to corrupt.
tool=$(scripts/tool.sh cargo-fuzz 0.13.2)

work=$PWD/target/fuzz
export TMPDIR=$work/tmp
rm -rf "$TMPDIR"
mkdir -p "$TMPDIR"
failed=()
for target in "${targets[@]}"; do
    mkdir -p "$work/corpus/$target" "$work/found/$target"
    cp fuzz/corpus/"$target"/* "$work/corpus/$target/"
    case $target in
        platform) cp platforms/*.toml "$work/corpus/$target/" ;;
        rtapp) cp workloads/*.json crates/workload/tests/fixtures/rtapp/corpus/*.json \
            "$work/corpus/$target/" ;;
        trace) cp crates/trace/tests/data/*.txt "$work/corpus/$target/" ;;
        tree) cp crates/platform/tests/import/trees/*.yml "$work/corpus/$target/" ;;
    esac
    printf '== fuzzing %s for %s s\n' "$target" "$seconds"
    log=$work/$target.log
    if ! "$tool" run --fuzz-dir fuzz/guided --sanitizer none --target-dir "$work/build" "$target" \
        "$work/corpus/$target" -- -max_total_time="$seconds" -timeout=60 -rss_limit_mb=1024 \
        -max_len=65536 -artifact_prefix="$work/found/$target/" -print_final_stats=1 \
        >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        printf 'fuzz: %s failed; the input is below %s\n' "$target" "$work/found/$target" >&2
        failed+=("$target")
    fi
    grep -E 'stat::number_of_executed_units|stat::peak_rss_mb|^Done' "$log" || true
    rm -rf "$TMPDIR"/*
done
if [ ${#failed[@]} -gt 0 ]; then
    printf 'fuzz: findings in %s\n' "${failed[*]}" >&2
    exit 1
fi
