#!/bin/sh
# Prints which packages cargo is to take: all but the modules for Python (`make python`) and for
# browsers (`make playground`), and without the live scheduler and the loader of object files where
# what builds them (clang 19, libelf, zlib) is not there and cannot be installed. That is said
# loudly.
set -eu
modules='--exclude wakeplace-python --exclude wakeplace-wasm'
if scripts/setup.sh bpf >&2; then
    echo "--workspace $modules"
else
    printf '**** SKIPPED: the live scheduler (crates/scx) cannot be built or tested here\n' >&2
    echo "--workspace $modules --exclude wakeplace-scx --exclude wakeplace-bpf-load"
fi
