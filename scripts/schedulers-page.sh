#!/bin/sh
# Compares schedulers of others with linux-7.3 and wakeplace, and rewrites the part of
# docs/results/schedulers.md between its marks. The schedulers must be in PATH.
#
# WAKEPLACE: the program, else it is built. SEEDS, DURATION: 5 and 3s.
# SCHEDULERS: their command lines, separated by commas.
set -eu
cd "$(dirname "$0")/.."
page=docs/results/schedulers.md
seeds=${SEEDS:-5} duration=${DURATION:-3s}
named='scx_bpfland,scx_bpfland -m powersave,scx_cosmos,scx_lavd,scx_rusty'
named=$named,scx_simple,scx_central,scx_flatcg,scx_pair,scx_qmap
schedulers=${SCHEDULERS:-$named}
wakeplace=${WAKEPLACE:-}
if [ -z "$wakeplace" ]; then
    cargo build --quiet --release -p wakeplace-cli
    wakeplace=${CARGO_TARGET_DIR:-target}/release/wakeplace
fi

# Platform, workload, metric beside CPU energy and p99.
cases() {
    cat <<'CASES'
hikey960 periodic:n=6,period=33ms,duty=9% missed_periods_total
hikey960 workloads/mixed-sizes.json missed_periods_total
hikey960 workloads/media.json missed_periods_total
hikey960 workloads/frame-deadline.json missed_periods_total
hikey960 messaging: runtime_s
hikey960 schbench: wake_latency_us_mean
rk3588 workloads/mixed-sizes.json missed_periods_total
rk3588 workloads/scroll.json missed_periods_total
sm8650 periodic:n=6,period=33ms,duty=9% missed_periods_total
sm8650 workloads/mixed-sizes.json missed_periods_total
sm8650 workloads/frame-deadline.json missed_periods_total
sm8650 messaging: runtime_s
alder-lake-12900k periodic:n=20,period=16ms,duty=10% missed_periods_total
alder-lake-12900k workloads/mixed-sizes.json missed_periods_total
alder-lake-12900k workloads/frame-deadline.json missed_periods_total
alder-lake-12900k messaging: runtime_s
alder-lake-12900k schbench: wake_latency_us_mean
zen4-7950x periodic:n=20,period=16ms,duty=10% missed_periods_total
zen4-7950x messaging: runtime_s
zen4-7950x schbench: wake_latency_us_mean
CASES
}

# table METRIC: CSV in, a table out; each contender in the order in which it first stands there.
table() {
    awk -v third="$1" '
        # Commas within quotes are no ends of fields.
        function fields(line,    i, c, quoted, n) {
            n = 1
            f[1] = ""
            for (i = 1; i <= length(line); i++) {
                c = substr(line, i, 1)
                if (c == "\"") quoted = !quoted
                else if (c == "," && !quoted) f[++n] = ""
                else f[n] = f[n] c
            }
        }
        NR == 1 { next }
        {
            fields($0)
            if (!(f[3] in known)) { known[f[3]] = 1; order[++count] = f[3] }
            cell[f[3], f[4]] = sprintf("%.4g%s", f[7], f[5] == "count" ? "" : " " f[5])
            if (f[10] != "")
                cell[f[3], f[4]] = cell[f[3], f[4]] sprintf(", %+.1f %% [%+.0f, %+.0f] %s", \
                    f[10], f[11], f[12], f[14])
        }
        END {
            split("cpu_energy_j wake_latency_us_p99 " third, metric, " ")
            print "| | CPU energy | p99 of wake-ups | " third " |"
            print "|:--|:--|:--|:--|"
            for (i = 1; i <= count; i++) {
                printf "| %s |", order[i]
                for (m = 1; m <= 3; m++) printf " %s |", cell[order[i], metric[m]]
                print ""
            }
        }'
}

tables() {
    old_ifs=$IFS
    IFS=,
    set --
    for scheduler in $schedulers; do set -- "$@" --scheduler "$scheduler"; done
    IFS=$old_ifs
    printf '\nOf %s, %s each, %s seeds.\n' "$("$wakeplace" --version | head -n 1)" \
        "$duration" "$seeds"
    cases | while read -r platform workload third; do
        length="--duration $duration"
        [ "$third" != runtime_s ] || length=
        printf '\n### %s, %s\n\n' "$platform" "$workload"
        # shellcheck disable=SC2086 # an option and its value, or nothing
        "$wakeplace" compare --quiet --platform "$platform" --workload "$workload" $length \
            --seeds "$seeds" --policy linux-7.3 \
            --policy linux-7.3-energy-aware --policy wakeplace "$@" --format csv \
            >"$work/csv" || exit
        table "$third" <"$work/csv"
    done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tables >"$work/page"
scripts/page-part.sh "$page" "$work/page" scripts/schedulers-page.sh
