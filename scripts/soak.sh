#!/usr/bin/env bash
# The live scheduler under all kinds of work, mixed and repeated, for a long time: load, CPUs that
# come and go, control groups that come and go, its policy and mode switched all the while. Takes
# what `make lab` and `make build` made.
#
# A soak is made of parts, each a boot of its own with other seeds. A part that held is kept, so
# that a soak that was interrupted goes on where it was; one of another build of the scheduler is
# run again.
#
#   SOAK_MINUTES=30       how long in each guest, by the guest's clock
#   SOAK_PART=30          minutes of a part; the last part may be shorter
#   SOAK_GUESTS=...       ARCH:KERNEL each. arm64 is a hikey960. Default: x86_64 and the newest
#   SOAK_JOBS=1           so many guests at a time
#   SOAK_CLOCK=host       the guests' clock: `host`, or `instructions:NS`, so many nanoseconds an
#                         instruction. By the host's clock a guest stalls if the host is busy: do
#                         nothing else meanwhile. The other takes a core a guest; with 16 ns an hour
#                         of four CPUs takes about an hour of it.
#   SOAK_KEEP=target/soak where parts are kept
#
# Exit code: 0 all held, 1 something did not, 2 bad input.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/live/common.sh

bad() {
    printf 'soak: %s\n' "$*" >&2
    exit 2
}

# whole NAME VALUE
whole() {
    [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] || bad "$1=$2: expected a whole number, 1 to 9999"
}

minutes=${SOAK_MINUTES:-30} part=${SOAK_PART:-30} at_once=${SOAK_JOBS:-1}
whole SOAK_MINUTES "$minutes"
whole SOAK_PART "$part"
whole SOAK_JOBS "$at_once"
clock=()
case ${SOAK_CLOCK:-host} in
    host) ;;
    instructions:*) clock=("--icount=${SOAK_CLOCK#*:}") ;;
    *) bad "SOAK_CLOCK=$SOAK_CLOCK: expected host or instructions:NS" ;;
esac
keep_in "${SOAK_KEEP:-${CARGO_TARGET_DIR:-target}/soak}"
guests=${SOAK_GUESTS:-x86_64:}
for of in $guests; do
    case $of in
        x86_64:* | arm64:*) ;;
        *) bad "SOAK_GUESTS: $of: expected x86_64:KERNEL or arm64:KERNEL" ;;
    esac
done

# what_runs ARCH: names the build of the scheduler, and the clock.
what_runs() {
    printf '%s %s\n' "${SOAK_CLOCK:-host}" \
        "$(sha256sum "$lab_programs/$1/scx_wakeplace" | cut -c 1-64)"
}

# run_part ARCH KERNEL NUMBER MINUTES FOLDER
run_part() {
    local arch=$1 kernel=$2 number=$3 minutes=$4 folder=$5 code=0 options=() build
    build=$(what_runs "$arch")
    options=(--arch "$arch" "${clock[@]}" --scheduler wakeplace)
    # By another clock than the host's a minute may take several.
    options+=(--timeout "$((minutes * 6 + 20))m")
    [ "$arch" != arm64 ] || options+=(--platform hikey960)
    [ -z "$kernel" ] || options+=(--kernel "$kernel")
    guest "$folder" "${options[@]}" --add $live/guest.sh --add $live/group-storm.sh \
        --add $live/load.json -- sh guest.sh soak "$minutes" "$number" || code=$?
    if [ $code != 0 ]; then
        fault "soak: $folder: exit code $code: $(grep -v '^step:.* ok' "$folder/log" | tail -n 20)"
        return 0
    fi
    local before after
    before=$(wc -c <"$faults")
    clean "$folder" "soak: $folder"
    after=$(wc -c <"$faults")
    [ "$before" != "$after" ] || printf '%s %s\n' "$minutes" "$build" >"$folder/held"
    say "soak: $folder: $(sed -n 's/^rounds: //p' "$folder/log") rounds in $minutes minutes"
}

# soak ARCH:KERNEL: its parts one after the other, until one fails.
soak() {
    local arch=${1%%:*} kernel=${1#*:} number=0 left=$minutes folder length
    while [ "$left" -gt 0 ] && all_held; do
        length=$((left < part ? left : part))
        folder=$keep/$arch${kernel:+-$kernel}/part-$number
        if [ "$(cat "$folder/held" 2>/dev/null)" = "$length $(what_runs "$arch")" ]; then
            say "soak: $folder: held before"
        else
            run_part "$arch" "$kernel" "$number" "$length" "$folder"
        fi
        left=$((left - length)) number=$((number + 1))
    done
}

for of in $guests; do
    while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n || true; done
    soak "$of" &
done
wait
all_held || exit 1
printf '\nsoak: all held for %s minutes in each of: %s\n' "$minutes" "$guests"
