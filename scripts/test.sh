#!/usr/bin/env bash
# Runs all tests, whatever fails on the way, and ends with one line that counts them. The same line
# goes to target/test-summary. Exit code: cargo's own, or 1 where no test ran at all.
set -uo pipefail
cd "$(dirname "$0")/.."

log=target/test.log
beside=target/test-beside.log
summary=target/test-summary
mkdir -p target
rm -f "$summary"

read -ra packages < <(scripts/packages.sh)
cargo test "${packages[@]}" --locked --no-run "$@" || exit
built=$SECONDS

# One test program is run after the other, and the end of each waits for its longest test. So two
# rows of programs run beside each other: `all` of each crate, and the rest with the documents'
# examples. What the second row says follows the first.
run() {
    cargo test "${packages[@]}" --locked --no-fail-fast "$@" 2>&1
}
rest() {
    local failed=0
    run --lib --bins --test '[!a]*' "$@" || failed=1
    run --doc "$@" || failed=1
    return $failed
}
rest "$@" >"$beside" &
pid=$!
run --test 'a*' "$@" | tee "$log"
status=${PIPESTATUS[0]}
wait "$pid" || status=1
cat "$beside"
cat "$beside" >>"$log"

# "test result: ok. 4 passed; 0 failed; 1 ignored; …", one line for every test program.
read -r passed failed ignored < <(awk '
    /^test result:/ { passed += $4; failed += $6; ignored += $8 }
    END { print passed + 0, failed + 0, ignored + 0 }' "$log")

# How far the energy-aware rule's choices are from the least energy: figures, not a test.
printf '\n'
grep -o 'oracle V[0-9]*: .*' "$log" | sort

# A test that checks nothing here says so past the harness's capture.
grep -E "(^|: |\*\*\*\* )SKIPPED" "$log" | sort

printf '\n'
if [ "$failed" -gt 0 ]; then
    printf 'What failed:\n'
    grep -E '^test .* FAILED$|^error: test failed' "$log" | sort -u
    printf '\n'
fi
printf 'tests built in %d s, run in %d s\n' "$built" "$((SECONDS - built))"
line="$passed passed, $failed failed"
[ "$ignored" -gt 0 ] && line="$line, $ignored skipped"
printf '%s\n' "$line" | tee "$summary"

if [ "$status" -eq 0 ] && [ "$passed" -eq 0 ]; then
    printf 'no test ran\n' >&2
    exit 1
fi
exit "$status"
