#!/usr/bin/env bash
# Makes the playground and tries it: the module gives the program's bytes (Node.js), and the page
# does so in a browser, from a disk and from a static host, whatever it is given.
#
#   scripts/playground-test.sh [PROGRAM [FOLDER]]
#
# PROGRAM: the wakeplace to compare with (target/release/wakeplace); FOLDER: where pictures go.
# PLAYGROUND_QUICK=1: a module that is built quickly, Node.js only, a few runs. Exit code 3:
# something it needs cannot be had here.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-target/release/wakeplace}
scripts/setup.sh node
[ -x "$program" ] || {
    printf 'playground-test: no %s; expected a built program\n' "$program" >&2
    exit 2
}
if [ -n "${PLAYGROUND_QUICK:-}" ]; then
    module=$(WASM_PROFILE=dev scripts/wasm.sh)
    node scripts/playground/equal.mjs "$module" "$program"
    exit
fi
scripts/setup.sh browser
page=$(scripts/playground.sh)
node scripts/playground/equal.mjs target/wasm/wasm.wasm "$program" all
node scripts/playground/drive.mjs "$page" "$program" ${2:+"$2"}
