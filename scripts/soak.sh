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
#   SOAK_GUESTS=...       ARCH:KERNEL[:NS] each. arm64 is a hikey960. NS: its clock counts
#                         instructions of so many nanoseconds. Default: x86_64 and the newest kernel
#   SOAK_JOBS=1           so many guests at a time
#   SOAK_CLOCK=host       the other guests' clock: `host`, or `instructions:NS`. By the host's clock
#                         a guest stalls if the host is busy: do nothing else meanwhile. The other
#                         takes a core a guest. With 16 ns an hour of an x86-64 guest of four CPUs
#                         takes about an hour of it, an arm64 guest's 40 minutes.
#   SOAK_KEEP=target/soak where parts are kept
#   SOAK_PAGE=FILE        replaces the part of that page that names this command by a table of the
#                         guests' parts
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
case ${SOAK_CLOCK:-host} in
    host | instructions:*) ;;
    *) bad "SOAK_CLOCK=$SOAK_CLOCK: expected host or instructions:NS" ;;
esac
keep_in "${SOAK_KEEP:-${CARGO_TARGET_DIR:-target}/soak}"
guests=${SOAK_GUESTS:-x86_64:}
for of in $guests; do
    case $of in
        x86_64:*:* | arm64:*:*) whole "SOAK_GUESTS: $of: nanoseconds" "${of##*:}" ;;
        x86_64:* | arm64:*) ;;
        *) bad "SOAK_GUESTS: $of: expected x86_64:KERNEL[:NS] or arm64:KERNEL[:NS]" ;;
    esac
done

# clock_of GUEST: `host` or `instructions:NS`.
clock_of() {
    case $1 in
        *:*:*) printf 'instructions:%s\n' "${1##*:}" ;;
        *) printf '%s\n' "${SOAK_CLOCK:-host}" ;;
    esac
}

# folder_of GUEST: where its parts are.
folder_of() {
    local arch kernel
    IFS=: read -r arch kernel _ <<<"$1"
    printf '%s\n' "$keep/$arch${kernel:+-$kernel}"
}

# what_runs GUEST: names the clock, and the build of the scheduler.
what_runs() {
    local arch=${1%%:*}
    printf '%s %s\n' "$(clock_of "$1")" \
        "$(sha256sum "$lab_programs/$arch/scx_wakeplace" | cut -c 1-64)"
}

# run_part GUEST NUMBER MINUTES FOLDER
run_part() {
    local number=$2 minutes=$3 folder=$4 code=0 options=() arch kernel clock build
    IFS=: read -r arch kernel _ <<<"$1"
    build=$(what_runs "$1")
    clock=$(clock_of "$1")
    options=(--arch "$arch" --scheduler wakeplace)
    [ "$clock" = host ] || options+=("--icount=${clock#*:}")
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

# soak GUEST: its parts one after the other, until one fails.
soak() {
    local number=0 left=$minutes folder length
    while [ "$left" -gt 0 ] && all_held; do
        length=$((left < part ? left : part))
        folder=$(folder_of "$1")/part-$number
        if [ "$(cat "$folder/held" 2>/dev/null)" = "$length $(what_runs "$1")" ]; then
            say "soak: $folder: held before"
        else
            run_part "$1" "$number" "$length" "$folder"
        fi
        left=$((left - length)) number=$((number + 1))
    done
}

# first_number KEY FILE: the first `"KEY": number` of one-key-a-line JSON.
first_number() {
    awk -v key="\"$1\":" '$1 == key { printf "%d\n", $2; exit }' "$2"
}

# totals GUEST: a row of the table, of the parts of $minutes minutes.
totals() {
    local number=0 left=$minutes folder kernel clock
    local rounds=0 wakeups=0 forks=0 switches=0 changes=0 late=0 longest_us=0 wait_us
    while [ "$left" -gt 0 ]; do
        folder=$(folder_of "$1")/part-$number
        rounds=$((rounds + $(sed -n 's/^rounds: //p' "$folder/log")))
        wakeups=$((wakeups + $(first_number wakeups "$folder/live-status.json")))
        forks=$((forks + $(first_number forks "$folder/live-status.json")))
        switches=$((switches + $(first_number switches "$folder/live-status.json")))
        wait_us=$(first_number max "$folder/live-status.json")
        longest_us=$((wait_us > longest_us ? wait_us : longest_us))
        changes=$((changes + $(sed -n 's/^switches: \([0-9]*\),.*/\1/p' "$folder/log")))
        late=$((late + $(sed -n 's/^switches: .*late: //p' "$folder/log")))
        left=$((left - part)) number=$((number + 1))
    done
    kernel=$(awk '$1 == "kernel" { print $3; exit }' "$folder/log")
    clock=$(clock_of "$1")
    [ "$clock" = host ] || clock="${clock#*:} ns"
    printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "${1%%:*}" "$kernel" \
        "$clock" "$minutes" "$number" "$rounds" "$wakeups" "$forks" "$switches" \
        "$((longest_us / 1000000)).$((longest_us % 1000000 / 100000)) s" "$changes" "$late"
}

# table: a line per guest.
table() {
    local of
    printf '| guest | kernel | an instruction | minutes | parts | rounds | wake-ups | forks '
    printf '| switches | longest wait | changes of policy and mode | answered late |\n'
    printf '|:--|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n'
    for of in $guests; do totals "$of"; done
}

for of in $guests; do
    while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n || true; done
    soak "$of" &
done
wait
all_held || exit 1
printf '\nsoak: all held for %s minutes in each of: %s\n\n' "$minutes" "$guests"
table >"$keep/table.md"
cat "$keep/table.md"
[ -z "${SOAK_PAGE:-}" ] || scripts/page-part.sh "$SOAK_PAGE" "$keep/table.md" scripts/soak.sh
