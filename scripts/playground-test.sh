#!/usr/bin/env bash
# Makes the playground and tries it: the module gives the program's bytes (Node.js), and the page
# does so in a browser, from a disk and from a static host, whatever it is given.
#
#   scripts/playground-test.sh [PROGRAM [FOLDER]]
#
# PROGRAM: the wakeplace to compare with (target/release/wakeplace); FOLDER: where pictures go.
# PLAYGROUND_QUICK=1: a module that is built quickly, a few runs, and in the browser no files and no
# runs without end. Exit code 3: something it needs cannot be had here.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-target/release/wakeplace}
scripts/setup.sh node
[ -x "$program" ] || {
    printf 'playground-test: no %s; expected a built program\n' "$program" >&2
    exit 2
}
how=(all)
if [ -n "${PLAYGROUND_QUICK:-}" ]; then
    export WASM_PROFILE=dev
    how=()
fi
page=$(scripts/playground.sh ${WASM_PROFILE:+target/playground/$WASM_PROFILE.html})
node scripts/playground/equal.mjs "$(scripts/wasm.sh)" "$program" "${how[@]}"
# Node.js has tried the module. Without a browser the page is not tried, and that is said.
scripts/setup.sh browser || true
node scripts/playground/drive.mjs "$page" "$program" ${2:+"$2"}
