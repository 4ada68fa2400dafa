#!/usr/bin/env bash
# Are there advisories about what we depend on? Each crate of Cargo.lock is looked up, and so is the
# project that Cranelift comes from: advisories about the compiler are filed under `wasmtime`, which
# nothing here depends on. `wasmtime-internal-core` has the version of the Wasmtime that a Cranelift
# was released with.
#
#   scripts/advisories.sh               of this workspace
#   scripts/advisories.sh Cargo.lock    of the Cranelift in this file only
#
# ADVISORY_DB: the address of the database of advisories, else RustSec's.
#
# A Wasmtime whose series has a later release on crates.io is found without that database, too:
# later releases of a series mend faults, nothing else.
# Exit code: 0 none, 1 there is one, 3 the database or the registry cannot be reached.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'advisories: %s\n' "$*" >&2; }
skip() {
    echo "**** SKIPPED: $*"
    exit 3
}

lock=${1:-Cargo.lock}
wasmtime=$(awk '/^name = / { name = $3 } /^version = / && name == "\"wasmtime-internal-core\"" {
    gsub(/"/, "", $3); print $3 }' "$lock")
[ -n "$wasmtime" ] || {
    say "$lock has no wasmtime-internal-core, by which the release of Cranelift is known"
    exit 1
}

# A package that depends on Wasmtime: what cargo and cargo-deny look at.
watched=$(realpath -m "${CARGO_TARGET_DIR:-target}")/watched
watch() {
    rm -rf "$watched"
    mkdir -p "$watched/src"
    : >"$watched/src/lib.rs"
    printf '[package]\nname = "watched"\nversion = "0.0.0"\nedition = "2024"\nlicense = "MIT"\n' \
        >"$watched/Cargo.toml"
    printf '[workspace]\n[dependencies]\nwasmtime = { version = "%s", %s }\n' "$1" \
        'default-features = false' >>"$watched/Cargo.toml"
    cargo generate-lockfile --quiet --manifest-path "$watched/Cargo.toml"
}

watch "~${wasmtime%.*}" || skip "crates.io does not say which releases of Wasmtime there are"
newest=$(awk '/^name = / { name = $3 } /^version = / && name == "\"wasmtime\"" {
    gsub(/"/, "", $3); print $3 }' "$watched/Cargo.lock")
if [ "$newest" != "$wasmtime" ]; then
    say "Cranelift is that of Wasmtime $wasmtime; $newest is out: read its advisories and take it"
    exit 1
fi
say "Wasmtime $wasmtime is the last of its series"

tool=$(scripts/tool.sh cargo-deny 0.20.2) || exit
watch "=$wasmtime"
config=$watched/deny.toml
cp deny.toml "$config"
[ -z "${ADVISORY_DB:-}" ] ||
    sed -i "s|^\[advisories\]|&\ndb-urls = [\"$ADVISORY_DB\"]|" "$config"
"$tool" --locked fetch --config "$config" db ||
    skip "the database of advisories cannot be fetched here"
failed=0
[ $# -gt 0 ] || "$tool" --locked check --config "$config" advisories || failed=1
"$tool" --locked --manifest-path "$watched/Cargo.toml" check --config "$config" advisories ||
    failed=1
exit $failed
