#!/usr/bin/env bash
# scripts/schedulers-check.sh in an emulated arm64 machine, each run once: schedulers of others and
# the simulator, all built for arm64 as static programs. Then the same here, each run twice: what
# happens is the same for all schedulers that are on both machines.
#
#   DURATION=60s       simulated time of each run
#   SCHEDULERS=...     their command lines, separated by commas; default: all
#   REGISTRY=...       those of cargo's registry, NAME@VERSION each; compiled once, into
#                      target/tools
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
programs=("$lab_programs/arm64/wakeplace" scripts/schedulers-check.sh)
kernels_own=$(scripts/kernel-schedulers.sh --arm64)
for name in simple central flatcg pair qmap; do programs+=("$kernels_own/scx_$name"); done
for of in $registry; do programs+=("$(scripts/tool.sh --arm64 "${of%@*}" "${of#*@}")"); done

options=()
for program in "${programs[@]}"; do options+=(--add "$program"); done
keep_in "${SCHEDULERS_KEEP:-}"
code=0
# Runs in the folder where the guest has the files that are added.
cat >"$keep/run.sh" <<RUN
mkdir scripts
mv schedulers-check.sh scripts
chmod +x wakeplace scx_*
export PATH=\$PWD:\$PATH WAKEPLACE=\$PWD/wakeplace DURATION=${DURATION:-60s} ONCE=1
${SCHEDULERS:+export SCHEDULERS='$SCHEDULERS'}
sh scripts/schedulers-check.sh
RUN
guest "$keep/schedulers" --arch arm64 --scheduler kernel --timeout 180m "${options[@]}" \
    --add "$keep/run.sh" -- sh run.sh || code=$?
[ -e "$keep/schedulers/stdout" ] || {
    tail -n 30 "$keep/schedulers/log"
    exit 1
}
cat "$keep/schedulers/stdout"
[ $code = 0 ] || exit $code

# What happens is the same on this machine, with the schedulers that are here, too.
here=$kernels_own/../bin
for of in $registry; do
    here=$PWD/target/tools/${of/@/-}/bin:$here
done
PATH=$here:$PATH scripts/schedulers-check.sh >"$keep/here" || code=$?
[ $code = 0 ] || exit $code
awk '
    { of = $1 " " $2 }
    / not in PATH$/ { next }
    NR == FNR { here[of] = $0; next }
    !(of in here) { next }
    $0 != here[of] { print "here:  " here[of]; print "arm64: " $0; differ++ }
    { compared++ }
    END {
        print compared " runs on both machines, " differ + 0 " differ"
        exit !compared || differ
    }' "$keep/here" "$keep/schedulers/stdout"
