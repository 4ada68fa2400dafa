#!/usr/bin/env bash
# Breaks files of the engine in small ways and lists what its tests do not see, by cargo-mutants:
# scripts/mutants-engine.sh [FILE...], from crates/engine/src. Each change takes a build and a run
# of the tests on a copy of the tree: a minute or two. A run tries a part of the changes, and each
# day of the year another part. Exit code 1: something was not seen; 2: usage. The report stays in
# target/mutants/engine.
#
#   MUTANTS_ENGINE=N   about so many changes (12); `all`: all of them, for hours
#   MUTANTS_PART=K     this part of them instead of today's, from 1
set -euo pipefail
cd "$(dirname "$0")/.."

files=("$@")
[ ${#files[@]} -gt 0 ] || files=(menu.rs progress.rs)

tool=$(scripts/tool.sh cargo-mutants 27.1.0)

chosen=()
for file in "${files[@]}"; do
    if [ ! -e "crates/engine/src/$file" ]; then
        printf 'mutants-engine: there is no %s in crates/engine/src\n' "$file" >&2
        exit 2
    fi
    chosen+=(--file "crates/engine/src/$file")
done

count=${MUTANTS_ENGINE:-12}
[[ $count = all || $count =~ ^[1-9][0-9]{0,5}$ ]] || {
    printf 'MUTANTS_ENGINE=%s: expected a whole number from 1 on, or all\n' "$count" >&2
    exit 2
}
if [ "$count" != all ]; then
    total=$("$tool" mutants --package wakeplace-engine "${chosen[@]}" --list | wc -l)
    if [ "$total" = 0 ]; then
        printf 'mutants-engine: there is nothing to change in %s\n' "${files[*]}"
        exit 0
    fi
    parts=$(((total + count - 1) / count))
    part=${MUTANTS_PART:-$((10#$(date +%j) % parts + 1))}
    if ! [[ $part =~ ^[1-9][0-9]{0,5}$ ]] || [ "$part" -gt "$parts" ]; then
        printf 'MUTANTS_PART=%s: expected 1 to %d\n' "$part" "$parts" >&2
        exit 2
    fi
    printf 'mutants-engine: part %d of %d, of %d changes in all\n' "$part" "$parts" "$total"
    chosen+=(--shard "$((part - 1))/$parts")
fi

mkdir -p target/mutants/engine
# Changed constants of a display or a debug form are no rule of the engine.
# Its exit codes 2 and 3 say that a change was not seen or made tests run for too long.
code=0
"$tool" mutants --package wakeplace-engine "${chosen[@]}" --output target/mutants/engine \
    --no-shuffle --timeout-multiplier 5 --cargo-test-arg=--lib --cargo-test-arg=--test \
    --cargo-test-arg=behaviour || code=$?
[ $code = 0 ] || code=1
exit $code
