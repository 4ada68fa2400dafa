#!/usr/bin/env bash
# Does everything that is simulated happen as before? Makes the runs of scripts/runs.sh and prints
# of each its name, the hash of what happened (`behaviour_hashes` of the JSON; what is in it:
# docs/internals/checks.md) and a hash of the bytes of the result with all exports.
#
#   scripts/same-runs.sh [PROGRAM]                   print them
#   scripts/same-runs.sh --record FILE [PROGRAM]     write them to a file
#   scripts/same-runs.sh --compare FILE [PROGRAM]    compare them with those of a file
#
# PROGRAM is a command, target/debug/wakeplace if none is given. scripts/same-runs.txt has the
# hashes of this tree. Exit code 1: something differs; 2: usage.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/runs.sh

say() { printf 'same-runs: %s\n' "$*" >&2; }
usage() {
    say "expected: scripts/same-runs.sh [--record FILE | --compare FILE] [PROGRAM]"
    exit 2
}

do=print file=
case "${1:-}" in
    --record | --compare)
        [ $# -ge 2 ] || usage
        do=${1#--} file=$2
        shift 2
        ;;
    -*) usage ;;
esac
[ $# -le 1 ] || usage
program=${1:-target/debug/wakeplace}
if [ $do = compare ] && [ ! -f "$file" ]; then
    say "$file: no such file; --record makes one"
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The hash of what happened: of one run as it is, of several one over all, - if the result has none.
happened() {
    local found
    found=$(sed -n '/"behaviour_hashes": \[/,/\]/{ s/^ *"\([0-9a-f]\{16\}\)",*$/\1/p }' "$1")
    case "$found" in
        '') printf '%016s' - ;;
        *$'\n'*) sha256sum <<<"$found" | cut -c1-16 ;;
        *) printf '%s' "$found" ;;
    esac
}

# A result without what says which program made it and in which folder, without the hash of its own
# events, and without hashes of inputs and lists of all parameters, which a new field or parameter
# changes. All of them may change while all that happens stays.
without_origin() {
    sed -i -e '/^  "\(version\|commit\)": /d' -e '/"event_hashes": \[/,/\]/d' \
        -e '/"\(event\|platform\|workload\)_hash": /d' \
        -e '/^      "settings": {$/,/^      }/d' -e "s|${1%/*}|OUT|g" "$1"
}

# One line of each run.
lines() {
    local run out name
    for run in "${runs[@]}"; do
        name=$(run_name "$run") out=$work/run
        if ! make_run "$program" "$run" "$out"; then
            say "$program cannot make the run $run"
            cat "$out.log" >&2
            return 1
        fi
        printf '%-20s  %s  ' "$name" "$(happened "$out/result.json")"
        without_origin "$out/result.json"
        sums "$out" | sha256sum | cut -c1-32
        rm -rf "$out"
    done
}

heading() {
    cat <<'TEXT'
# Made by scripts/same-runs.sh --record scripts/same-runs.txt: name of the run, hash of what
# happened, start of the SHA-256 of its bytes. When which of them may change:
# docs/internals/checks.md.
TEXT
}

# What differs from the file, run by run.
compare() {
    local name hash bytes old_hash old_bytes
    local -a otherwise=() only_bytes=() unknown=()
    while read -r name hash bytes; do
        read -r _ old_hash old_bytes < <(grep -E "^$name " "$file" || echo - - -)
        if [ "$old_bytes" = - ]; then
            unknown+=("$name")
        elif [ "$hash" != "$old_hash" ]; then
            otherwise+=("$name")
        elif [ "$bytes" != "$old_bytes" ]; then
            only_bytes+=("$name")
        fi
    done <"$work/lines"
    [ ${#otherwise[@]} = 0 ] || say "something else happens in: ${otherwise[*]}"
    [ ${#only_bytes[@]} = 0 ] || say "the same happens, but the bytes differ in: ${only_bytes[*]}"
    [ ${#unknown[@]} = 0 ] || say "not in $file: ${unknown[*]}"
    local made
    made=$(cut -d' ' -f1 "$work/lines")
    local gone
    gone=$(grep -oE '^[^# ]+' "$file" | grep -vxF "$made" | tr '\n' ' ' || true)
    [ -z "$gone" ] || say "in $file, but not made: $gone"
    [ $((${#otherwise[@]} + ${#only_bytes[@]} + ${#unknown[@]})) = 0 ] && [ -z "$gone" ]
}

lines >"$work/lines"
case $do in
    print) cat "$work/lines" ;;
    record)
        { heading && cat "$work/lines"; } >"$work/file"
        cp "$work/file" "$file"
        ;;
    compare) compare || exit 1 ;;
esac
say "${#runs[@]} runs [$SECONDS s]"
