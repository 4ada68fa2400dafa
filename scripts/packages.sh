#!/bin/sh
# Prints which packages cargo is to take: all but the modules for Python (`make python`) and for
# browsers (`make playground`), and without the live scheduler where what builds it (clang 19,
# libelf, zlib) is not there and cannot be installed. That is said loudly.
set -eu
if scripts/setup.sh bpf >&2; then
    echo --workspace --exclude wakeplace-python --exclude wakeplace-wasm
else
    printf '**** SKIPPED: the live scheduler (crates/scx) cannot be built or tested here\n' >&2
    echo --workspace --exclude wakeplace-python --exclude wakeplace-wasm --exclude wakeplace-scx
fi
