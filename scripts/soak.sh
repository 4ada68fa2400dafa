#!/usr/bin/env bash
# The live scheduler under all kinds of work, mixed and repeated, for a long time in one guest, its
# policy and mode switched all the while. Takes what `make lab` and `make build` made.
#
#   SOAK_MINUTES=30   how long
#   SOAK_CPUS=4       CPUs of the guest
#   SOAK_KERNEL=...   version of its kernel; default: the newest that can be used
#   SOAK_KEEP=DIR     where all that the guest brought back is left (default: deleted)
#
# Exit code: 0 all held, 1 something did not.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/live/common.sh

minutes=${SOAK_MINUTES:-30}
[[ $minutes =~ ^[1-9][0-9]{0,3}$ ]] || {
    printf 'SOAK_MINUTES=%s: expected whole minutes, 1 to 9999\n' "$minutes" >&2
    exit 2
}
keep_in "${SOAK_KEEP:-}"
options=(--arch x86_64 --cpus "${SOAK_CPUS:-4}")
[ -z "${SOAK_KERNEL:-}" ] || options+=(--kernel "$SOAK_KERNEL")

code=0
guest "$keep/soak" "${options[@]}" --scheduler wakeplace --timeout "$((minutes * 2 + 15))m" \
    --add $live/guest.sh --add $live/load.json -- sh guest.sh soak "$minutes" || code=$?
cat "$keep/soak/log"
[ $code = 0 ] || fault "soak: exit code $code"
[ ! -e "$keep/soak/dmesg" ] || clean "$keep/soak" soak
all_held || exit 1
printf '\nsoak: all held for %s minutes, kernel messages clean\n' "$minutes"
