#!/usr/bin/env bash
# What the parts of the energy rule cost in scx_wakeplace, in instructions per wake-up: the policy
# with each part left out, in an emulated phone board whose clock counts instructions, so that it
# does not matter how busy this machine is. Takes what `make lab` and `make build` made.
#
#   RULE_COST_PLATFORMS='hikey960 juno-r0'     the boards
#   RULE_COST_PAGE=FILE                        replaces that part of a page (docs/results/live.md)
#   LIVE_KEEP=FOLDER                           where all that the guests bring back is left
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/live/common.sh

keep_in "${LIVE_KEEP:-}"
read -ra platforms <<<"${RULE_COST_PLATFORMS:-hikey960 juno-r0}"
# Values that leave a part out, and those of the policy.
settings=(energy_idle=off/on energy_idle_free=off/on energy_wait=off/on energy_stay_pct=0/45
    energy_stay_domain_pct=0/4 runnable_boost_pct=100/50)
files=()
for platform in "${platforms[@]}"; do
    code=0
    guest "$keep/$platform" --arch arm64 --platform "$platform" --icount --scheduler wakeplace \
        --timeout 30m --package bpftool --add $live/rule-cost.sh \
        -- sh rule-cost.sh 5 "${settings[@]}" || code=$?
    [ $code = 0 ] || fault "$platform: exit code $code: $(tail -n 30 "$keep/$platform/log")"
    files+=("$keep/$platform/stdout")
done
all_held || exit 1

table=$keep/table.md
{
    version=$(awk '$1 == "kernel" { print $3; exit }' "$keep/${platforms[0]}/log")
    printf 'Linux %s, arm64. Instructions per wake-up, median of three passes and their range: of' \
        "$version"
    printf ' the program that chooses a CPU, and of all programs.\n\n'
    awk -v platforms="${platforms[*]}" -f $live/median.awk -f $live/rule-cost-table.awk \
        "${files[@]}"
} >"$table"
cat "$table"
[ -z "${RULE_COST_PAGE:-}" ] ||
    scripts/page-part.sh "$RULE_COST_PAGE" "$table" scripts/rule-cost-live.sh
