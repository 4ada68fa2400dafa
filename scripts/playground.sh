#!/usr/bin/env bash
# Makes the playground, one page that is complete: scripts/playground.sh [FILE], and prints its path
# (target/playground/index.html). Exit code 3: the module for browsers cannot be built here.
set -euo pipefail
cd "$(dirname "$0")/.."

file=${1:-target/playground/index.html}
module=$(scripts/wasm.sh)
mkdir -p "$(dirname "$file")"
packed=$(mktemp)
trap 'rm -f "$packed" "$file.draft"' EXIT
gzip -9n <"$module" | base64 -w 0 >"$packed"
cargo run --locked --quiet --package wakeplace-wasm --bin playground-page -- \
    "$packed" site/playground >"$file.draft"
mv "$file.draft" "$file"
printf '%s\n' "$file"
