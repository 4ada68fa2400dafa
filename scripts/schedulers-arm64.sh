#!/usr/bin/env bash
# scripts/schedulers-check.sh in an emulated arm64 machine, each run once: schedulers of others and
# the simulator, all built for arm64 as static programs. Then the same here, each run twice: what
# happens is the same.
#
#   DURATION=60s           simulated time of each run, 5s at least
#   SCHEDULERS_KEEP=FOLDER where what the guests bring back is left; a later run goes on with it
#   REGISTRY=...           those of cargo's registry, NAME@VERSION each; compiled once, into
#                          target/tools
#   KERNELS_OWN=...        those of the kernel's tools; default: simple central flatcg pair qmap
#
# Takes what `wakeplace lab kernels` has fetched, and what scripts/kernel-schedulers.sh needs.
# WAKEPLACE: the program for this machine, else target/release/wakeplace.
# Exit code 1: something does not hold. 3: something cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/live/common.sh

registry=${REGISTRY-scx_bpfland@1.1.4 scx_cosmos@1.1.7 scx_lavd@1.1.4 scx_rusty@1.1.4}

scripts/setup.sh lab
scripts/lab-binaries.sh --simulator arm64
kernels_own=$(scripts/kernel-schedulers.sh --arm64)
programs=()
for name in ${KERNELS_OWN-simple central flatcg pair qmap}; do
    programs+=("$kernels_own/scx_$name")
done
for of in $registry; do programs+=("$(scripts/tool.sh --arm64 "${of%@*}" "${of#*@}")"); done
keep_in "${SCHEDULERS_KEEP:-}"

# check_in_guest PROGRAM: all loads with one scheduler, in a guest of its own. What is whole in
# SCHEDULERS_KEEP, of these programs, is not run again.
check_in_guest() {
    local program=$1 simulator=$lab_programs/arm64/wakeplace folder builds code=0
    folder=$keep/${program##*/}-${DURATION:-60s}
    builds=$(cat "$simulator" "$program" scripts/schedulers-check.sh | sha256sum)
    if [ "$(cat "$folder/whole" 2>/dev/null)" != "$builds" ]; then
        # Runs in the folder where the guest has the files that are added.
        cat >"$keep/run.sh" <<RUN
mkdir scripts
mv schedulers-check.sh scripts
chmod +x wakeplace scx_*
export PATH=\$PWD:\$PATH WAKEPLACE=\$PWD/wakeplace DURATION=${DURATION:-60s} ONCE=1
export SCHEDULERS=${program##*/}
sh scripts/schedulers-check.sh
RUN
        guest "$folder" --arch arm64 --scheduler kernel --timeout 180m \
            --add "$simulator" --add scripts/schedulers-check.sh \
            --add "$program" --add "$keep/run.sh" -- sh run.sh || code=$?
        if [ $code != 0 ]; then
            tail -n 30 "$folder/stdout" "$folder/log" 2>/dev/null
            return 1
        fi
        printf '%s\n' "$builds" >"$folder/whole"
    fi
    cat "$folder/stdout"
    cat "$folder/stdout" >>"$keep/arm64"
}

rm -f "$keep/arm64"
code=0
for program in "${programs[@]}"; do check_in_guest "$program" || code=1; done
[ $code = 0 ] || exit $code

# What happens is the same on this machine.
here=$(scripts/kernel-schedulers.sh)
for of in $registry; do
    program=$(scripts/tool.sh "${of%@*}" "${of#*@}")
    here=$(dirname "$program"):$here
done
names=("${programs[@]##*/}")
SCHEDULERS=$(IFS=, && echo "${names[*]}") PATH=$here:$PATH \
    scripts/schedulers-check.sh >"$keep/here" || code=$?
[ $code = 0 ] || exit $code
awk '
    { of = $1 " " $2 }
    NR == FNR { here[of] = $0; next }
    $0 != here[of] { print "here:  " here[of]; print "arm64: " $0; differ++ }
    { compared++ }
    END {
        print compared " runs on both machines, " differ + 0 " differ"
        exit !compared || differ
    }' "$keep/here" "$keep/arm64"
