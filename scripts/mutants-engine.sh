#!/usr/bin/env bash
# Breaks files of the engine in small ways and lists what its tests do not see, by cargo-mutants:
# scripts/mutants-engine.sh [FILE...], from crates/engine/src. A build and a run of the tests for
# each change, on a copy of the tree: a minute or two. So a run tries some of the changes, each day
# of the year others. Exit code 2: something was not seen. The report stays in
# target/mutants/engine.
#
#   MUTANTS_ENGINE=N   about so many changes (12); `all`: all of them, for hours
#   MUTANTS_PART=K     this part of them instead of today's, from 0
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
    parts=$(((total + count - 1) / count))
    part=${MUTANTS_PART:-$((10#$(date +%j) % parts))}
    printf 'mutants-engine: part %s of 0 to %d, of %d changes\n' "$part" $((parts - 1)) "$total"
    chosen+=(--shard "$part/$parts")
fi

mkdir -p target/mutants/engine
# Changed constants of a display or a debug form are no rule of the engine.
# Its exit code 3 means that a change made tests run for too long; here 3 means "not possible here".
code=0
"$tool" mutants --package wakeplace-engine "${chosen[@]}" --output target/mutants/engine \
    --no-shuffle --timeout-multiplier 5 --cargo-test-arg=--lib --cargo-test-arg=--test \
    --cargo-test-arg=behaviour || code=$?
[ $code != 3 ] || code=2
exit $code
