#!/usr/bin/env bash
# Proves the systemd unit in an emulated Debian machine whose first process is systemd. Takes what
# `make lab` and `make build` made. Part of `make live-test`.
#
#   LIVE_KEEP=DIR   where what the guest brought back is left, in DIR/systemd (default: deleted)
#
# Exit code: 0 all held, 1 something did not.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/live/common.sh

keep_in "${LIVE_KEEP:-}"
folder=$keep/systemd
begin=$SECONDS code=0
say "==== the unit, under systemd"
# One clock for all CPUs: the times of the unit and of its test must not depend on how busy this
# machine is.
guest "$folder" --arch x86_64 --cpus 2 --icount --systemd --scheduler kernel --timeout 30m \
    --add $live/systemd.sh --add packaging/scx_wakeplace.service \
    --add packaging/scx_wakeplace.default -- sh systemd.sh || code=$?
if [ ! -e "$folder/live-systemd-steps" ]; then
    fault "systemd: $(tail -n 30 "$folder/log")"
else
    cat "$folder/live-systemd-steps"
    grep -qE '^steps: [1-9][0-9]*, failed: 0$' "$folder/live-systemd-steps" ||
        fault "systemd: a step did not hold"
    # The lab asked for the kernel's scheduler, and must see that the unit had brought another one.
    if [ $code != 1 ] || ! grep -q 'asked for scheduler kernel' "$folder/log"; then
        fault "systemd: the lab's exit code is $code: $(tail -n 5 "$folder/log")"
    fi
    found=$(complaints "$folder/dmesg")
    [ -z "$found" ] || fault "systemd: the kernel complains: $found"
    say "systemd: $((SECONDS - begin)) s"
fi
all_held
