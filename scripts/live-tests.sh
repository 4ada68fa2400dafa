#!/usr/bin/env bash
# Proves the live scheduler in emulated machines: on every x86-64 kernel that can be had and on one
# arm64 kernel with a big.LITTLE machine. Takes what `make lab` and `make build` made.
#
#   LIVE_QUICK=1    the size of continuous integration: kernels of two sched_ext interfaces and
#                   arm64, and 1 s of each kind of work instead of 8
#   LIVE_KEEP=DIR   where all that the guests brought back is left (default: deleted)
#
# Exit code: 0 all held, 1 something did not, 3 there is no kernel to try.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/live/common.sh

# The guest with the newest kernel has a thread of this machine per CPU, so that its CPUs meet as
# real ones do; if all that went wrong is that it was slow, it runs once more like the others. Those
# have one clock and run their CPUs in turn: slower, but how late a task is does not depend on how
# busy this machine is.
in_turn=--icount
seconds=8 timeout=30m quick=
# Beside the tests each guest has half a core or less.
[ "${LIVE_QUICK:-0}" = 0 ] || seconds=1 timeout=15m quick=1
keep_in "${LIVE_KEEP:-}"
ceilings=crates/scx/verifier_ceilings.txt

# verifier FOLDER NAME VERSION: no program of the kernel side costs its verifier more than its
# ceiling.
verifier() {
    local stats=$1/verified column=2
    case "$3" in 6.* | 7.0.*) column=3 ;; esac
    sed -n 's/^scx_wakeplace: verified: //p' "$1/scheduler.log" >"$stats"
    awk -v name="$2" -v column=$column '
        NR == FNR { if ($0 !~ /^#/ && NF == 3) most[$1] = $column; next }
        { count++ }
        !($1 in most) { print name ": " $1 " has no ceiling"; bad = 1; next }
        $2 + 0 > most[$1] || $2 !~ /^[0-9]+$/ {
            print name ": " $1 " takes " $2 ", ceiling " most[$1]
            bad = 1
        }
        { seen[$1] = 1; sum += $2 }
        END {
            # A kernel has not all callbacks of control groups; one program stands in for another.
            if (column == 3) delete most["wakeplace_cgroup_set_bandwidth"]
            if ("wakeplace_cgroup_set_idle" in seen) delete most["wakeplace_group_idle"]
            if ("wakeplace_group_idle" in seen) delete most["wakeplace_cgroup_set_idle"]
            for (p in most) if (!(p in seen)) { print name ": no program " p; bad = 1 }
            print "verifier: " count " programs, " sum " instructions processed"
            exit bad
        }' "$ceilings" "$stats" || fault "$2: verifier (set $ceilings anew if it must be)"
}

# only_late LOG: did nothing fail but that changes of the policy were answered slowly? A guest whose
# time passes as this machine's does needs no more for that than other work here.
only_late() {
    local failed
    failed=$(grep -c '^step: .* FAILED' "$1" || true)
    [ "$failed" != 0 ] && [ "$failed" = "$(grep -c '^late: ' "$1" || true)" ]
}

# no_stall FOLDER NAME: no CPU took 2 s to come or go. Under the kernel's own scheduler it is 0.1 s
# at most; where the last task of one that goes is forgotten, up to 4 (docs/decisions/011). Guests
# with one clock only: elsewhere a busy host looks the same.
no_stall() {
    local longest
    longest=$(sed -n 's/.*"change_ns_max":\([0-9]*\).*/\1/p' \
        "$1"/live-hotplug-storm*.out | sort -n | tail -n 1 || true)
    longest=$((${longest:-9999999999} / 1000000))
    say "hotplug: a CPU took $longest ms at most to come or go"
    [ $longest -lt 2000 ] || fault "$2: a CPU took $longest ms to come or go"
}

# steps NAME OPTION...: every kind of work in one boot.
steps() {
    local name=$1 folder=$keep/$1 code=0 begin=$SECONDS release late=
    shift
    say "==== $name"
    guest "$folder" "$@" --scheduler wakeplace --timeout $timeout --add $live/guest.sh \
        --add $live/load.json -- sh guest.sh steps $seconds || code=$?
    grep -hE '^(step|steps|switches):' "$folder/log" || true
    case " $* " in *" $in_turn "*) ;; *) ! only_late "$folder/log" || late=1 ;; esac
    if [ $code != 0 ] && [ -z "$late" ]; then
        fault "$name: exit code $code"$'\n'"$(grep -vE '^step:.* ok' "$folder/log" | tail -n 40)"
        return 0
    fi
    clean "$folder" "$name"
    case " $* " in *" $in_turn "*) no_stall "$folder" "$name" ;; esac
    release=$(sed -n 's/^release=//p' "$folder/facts")
    verifier "$folder" "$name" "$release"
    case "$release" in
    6.12.* | 6.13.* | 6.14.*) ;; # have no flag for it
    *)
        grep -q '^scx_wakeplace: wake-ups are queued by the target$' "$folder/scheduler.log" ||
            fault "$name: wake-ups are not queued by the target"
        ;;
    esac
    say "$name: $((SECONDS - begin)) s"
    if [ -n "$late" ]; then
        printf '**** %s: too slow, maybe because this machine is busy: once more, in turn\n' "$name"
        steps "$name-in-turn" "$@" $in_turn
    fi
}

# A loader that is killed gives the machine back, and the lab does not call that a result.
killed() {
    local folder=$keep/killed code=0
    say "==== loader killed, bad input ($1)"
    # One clock for all CPUs: how long it takes must not depend on how busy this machine is.
    guest "$folder" --arch x86_64 --kernel "$1" --icount --scheduler wakeplace \
        --timeout $timeout --add $live/guest.sh -- sh guest.sh killed || code=$?
    if [ ! -e "$folder/stdout" ]; then
        fault "killed: $(tail -n 30 "$folder/log")"
        return 0
    fi
    grep -hE '^(step|steps|loader killed):?' "$folder/stdout" || true
    grep -q '^steps: 0, failed: 0$' "$folder/stdout" ||
        fault "killed: $(tail -n 30 "$folder/stdout")"
    if [ $code = 1 ] && grep -q 'scheduler' "$folder/log"; then
        say "step: the lab calls it a failure, ok"
    else
        fault "killed: the lab's exit code is $code: $(tail -n 5 "$folder/log")"
    fi
    local found
    found=$(complaints "$folder/dmesg")
    [ -z "$found" ] || fault "killed: the kernel complains: $found"
}

# Big and little CPUs with the kernel's energy model: where tasks end up.
placement() {
    local folder=$keep/placement code=0
    say "==== placement (arm64, hikey960)"
    # One clock for all CPUs: an emulated CPU that waits for the host would be counted as late.
    guest "$folder" --arch arm64 --platform hikey960 --icount --scheduler wakeplace \
        --timeout $timeout --add $live/guest.sh -- sh guest.sh placement || code=$?
    grep -hE '^(step|steps):' "$folder/log" || true
    if [ $code != 0 ]; then
        fault "placement: exit code $code: $(tail -n 30 "$folder/log")"
        return 0
    fi
    clean "$folder" placement
    # The guest program has judged them: on a big CPU within 100 ms, at most 1 % of small tasks' run
    # time on big CPUs. That big CPUs are idle is judged here.
    grep -ho '"placed_after_ms":[0-9.]*' "$folder/live-until-placed-heavy.out"
    grep -ho '"big_idle_pct":[0-9.]*' "$folder/live-until-placed-small.out" |
        awk -F : '{ print } $2 < 99 { exit 1 }' || fault "placement: big CPUs idle below 99 %"
}

# beside_the_kernel SCRIPT WORD MOST OPTION... -- ARGUMENT...: what scripts/live/SCRIPT.sh measures
# in a guest with one clock is the same under the kernel's own scheduler, within MOST. It prints
# `WORD: CASE OF NUMBER`, and `SCRIPT: done`.
beside_the_kernel() {
    local script=$1 word=$2 most=$3 scheduler code options=()
    shift 3
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    for scheduler in kernel wakeplace; do
        code=0
        guest "$keep/$script-$scheduler" "${options[@]}" $in_turn --scheduler $scheduler \
            --timeout $timeout --add "$live/$script.sh" -- sh "$script.sh" "$@" || code=$?
        if [ $code != 0 ] || ! grep -q "^$script: done$" "$keep/$script-$scheduler/stdout"; then
            fault "$script: $scheduler: exit code $code:" \
                "$(tail -n 30 "$keep/$script-$scheduler/log")"
            return 0
        fi
    done
    clean "$keep/$script-wakeplace" "$script"
    awk -v word="$word:" -v most="$most" '
        $1 != word { next }
        NF != 4 || $4 !~ /^[0-9.]+$/ { print; bad = 1; next }
        NR == FNR { kernel[$2 " " $3] = $4; next }
        {
            of = $2 " " $3
            apart = $4 > kernel[of] ? $4 - kernel[of] : kernel[of] - $4
            print of ": kernel " kernel[of] " %, wakeplace " $4 " %"
            if (!(of in kernel) || apart > most) { print "too far apart: " of; bad = 1 }
            delete kernel[of]
        }
        END { for (of in kernel) { print "not measured: " of; bad = 1 } exit bad }
    ' "$keep/$script-kernel/stdout" "$keep/$script-wakeplace/stdout" ||
        fault "$script: otherwise than under the kernel's own scheduler"
}

# What control groups get of the CPUs, within 3 % of them.
shares() {
    say "==== shares of control groups ($1)"
    beside_the_kernel shares share 3 --arch x86_64 --kernel "$1" -- 3
}

# What their performance hints change, on big and little CPUs with the kernel's energy model: where
# tasks are and how fast, within 10 %.
hints() {
    say "==== hints of control groups (arm64, hikey960)"
    beside_the_kernel hints hint 10 --arch arm64 --platform hikey960 -- 60
}

# priced NAME COMMAND...: a workload on an image in a file, as a user's own kernel is one: it comes
# back with the energy of the platform's CPUs and with the wake-ups of the workload's tasks.
priced() {
    local name=$1 folder=$keep/$1 code=0
    shift
    say "==== a kernel of the user's own ($name)"
    mkdir -p "$folder"
    "$wakeplace" lab run --keep "$folder" --timeout $timeout $in_turn --scheduler kernel \
        --workload 'periodic:n=4,period=10ms,duty=20%' --duration 1s --format json "$@" \
        >"$folder/json" 2>"$folder/log" || code=$?
    grep -hE '"(cpu_energy_j|wakeups|wake_latency_us_p50)"' "$folder/json" || true
    # Four tasks, a hundred times each; the first or last may be beyond the window's end.
    awk -v code=$code '
        $1 == "\"cpu_energy_j\":" && $2 + 0 > 0 { energy = 1 }
        $1 == "\"wakeups\":" && $2 + 0 >= 390 && $2 + 0 <= 410 { wakeups = 1 }
        $1 == "\"wake_latency_us_p50\":" && $2 + 0 > 0 { latency = 1 }
        END { exit !(code == 0 && energy && wakeups && latency) }
    ' "$folder/json" || fault "$name: exit code $code: $(tail -n 20 "$folder/log")"
}

# own_kernels: the image of the newest kernel of each architecture, out of the cache; on arm64 with
# its module of operating points.
own_kernels() {
    local cache=${WAKEPLACE_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/wakeplace/lab}/kernels
    priced own-x86_64 --arch x86_64 --platform snb-laptop --kernel "$cache/amd64/$1/vmlinuz"
    priced own-arm64 --arch arm64 --platform hikey960 --kernel "$cache/arm64/$1/vmlinuz" \
        --modules "$cache/arm64/$1"
}

# This machine's own kernel, where it has no sched_ext.
without_sched_ext() {
    say "==== a kernel without sched_ext"
    if [ -e /sys/kernel/sched_ext ]; then
        say "**** SKIPPED: this machine's kernel has sched_ext"
        return
    fi
    local code=0 loader words='nothing was changed.*sched_ext'
    loader=$lab_programs/x86_64/scx_wakeplace
    "$loader" >"$keep/host" 2>&1 || code=$?
    if [ $code = 3 ] && tr '\n' ' ' <"$keep/host" | grep -q "$words"; then
        say "step: no-sched-ext ok"
    else
        fault "scx_wakeplace here: exit code $code, expected 3 and $words: $(cat "$keep/host")"
    fi
}

# Kernels before 7.0, 7.0, and later ones have three different interfaces (bpf/compat.h).
interface() {
    case "$1" in
        6.*) echo 6 ;;
        7.0.*) echo 7.0 ;;
        *) echo later ;;
    esac
}

# beside NAME COMMAND...: in the background, two at a time: each guest with one clock takes one
# thread of this machine. Its time is counted in instructions, so a busy machine does not change it.
waiting=()
beside() {
    local name=$1
    shift
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n || true; done
    say "begun: $name"
    # Two commands, not `"$@" && ...`: in such a list it would go on after a command that failed.
    rm -f "$keep/$name.ended"
    ("$@"; : >"$keep/$name.ended") >"$keep/$name.said" 2>&1 &
    waiting+=("$name")
}

# Waits for all of them and says what they said.
together() {
    wait
    local name
    for name in "${waiting[@]}"; do
        cat "$keep/$name.said"
        [ -e "$keep/$name.ended" ] || fault "$name: ended early: $(tail -n 5 "$keep/$name.said")"
    done
    waiting=()
}

without_sched_ext
code=0
kernels=$("$wakeplace" lab kernels --arch x86_64 --format json) || code=$?
if [ $code != 0 ]; then
    printf 'no kernels: see above\n' >&2
    { [ $code = 3 ] && all_held; } || exit 1
    exit 3
fi
interfaces=' ' tried=' ' newest=
while read -r version usable; do
    if [ "$usable" != true ]; then
        printf '**** MISSING: Linux %s for x86-64 cannot be had or used\n' "$version" >&2
        continue
    fi
    own=$(interface "$version")
    interfaces=${interfaces/ $own / }$own' '
    if [ -z "$newest" ]; then
        newest=$version
    elif [ -n "$quick" ] &&
        { [ "$(wc -w <<<"$tried")" -ge 2 ] || [[ $tried == *" $own "* ]]; }; then
        continue
    else
        beside "x86_64-$version" steps "x86_64-$version" --arch x86_64 --kernel "$version" $in_turn
    fi
    tried=${tried/ $own / }$own' '
done < <(objects "kernel usable" <<<"$kernels")
different=$(wc -w <<<"$interfaces")
[ "$different" -ge 2 ] || fault "kernels with $different sched_ext interfaces, expected 2 or more"
beside arm64-hikey960 steps arm64-hikey960 --arch arm64 --platform hikey960 $in_turn
if [ -z "$quick" ]; then
    [ -z "$newest" ] || beside own-kernels own_kernels "$newest"
    [ -z "$newest" ] || beside killed killed "$newest"
    beside placement placement
    beside hints hints
    [ -z "$newest" ] || beside shares shares "$newest"
fi
together
# Alone: it is the one that minds a busy machine.
[ -z "$newest" ] || steps "x86_64-$newest" --arch x86_64 --kernel "$newest"
if [ -z "$quick" ]; then
    LIVE_KEEP=$keep scripts/live-unit.sh || fault "the unit, under systemd"
else
    say "**** NOT TRIED with LIVE_QUICK: all kernels and interfaces, own images, killed loader," \
        "placement, hints, shares, the unit (make live-test)"
fi
if ! all_held; then
    printf '\nlive tests: failed\n%s\n' "$(cat "$faults")" >&2
    exit 1
fi
printf '\nlive tests: all held, %d different sched_ext interfaces, %d s\n' \
    "$(wc -w <<<"$tried")" $SECONDS
