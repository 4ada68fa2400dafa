#!/bin/sh
# Measures what linux-6.12 does otherwise than linux-6.2, rule by rule, and rewrites the part of
# docs/results/eras.md between its marks. WAKEPLACE: the program, else it is built.
#
# Each workload runs under linux-6.2, then under linux-6.2 with one more group of rules as 6.12 has
# them in each line, until it is linux-6.12 (a test of crates/cli keeps the groups complete), and
# under linux-6.2 with that group alone.
set -eu
cd "$(dirname "$0")/.."
page=docs/results/eras.md
seeds=${SEEDS:-5}
wakeplace=${WAKEPLACE:-}
if [ -z "$wakeplace" ]; then
    cargo build --quiet --release -p wakeplace-cli
    wakeplace=${CARGO_TARGET_DIR:-target}/release/wakeplace
fi

# Groups of rules, in the order in which they change: NAME KEY=VALUE...
groups() {
    cat <<'GROUPS'
queue queue=eevdf eevdf_form=6.12
estimate util_est=single
estimate-order util_est_before_update=on
boost runnable_boost=on
new-task post_init_scaled_weight=off
headroom freq_perf_form=on
rate-limit rate_limit_multiplier=1 rate_limit_extra_percent=50 rate_limit_cap_us=10000000
energy energy_aware=6.12 energy_max_complexity=0
misfit misfit_form=6.12
cores balance_smt=on
newidle newidle_random=on
clusters sis_cluster=on
pressure pressure_form=limits freq_pressure=on
rt-server rt_server=on
idle-tick idle_got_tick=on teo=6.12
group-writes tg_write_interval_us=1000
GROUPS
}

# Platform, workload, metric of energy, duration (- : the file's).
cases() {
    cat <<'CASES'
hikey960 periodic:n=10,period=16ms,duty=5%,start=spread cpu_energy_j 10s
hikey960 periodic:n=30,period=16ms,duty=5%,start=spread cpu_energy_j 10s
juno-r0 periodic:n=20,period=16ms,duty=5%,start=spread cpu_energy_j 10s
tc2 periodic:n=10,period=16ms,duty=5%,start=spread cpu_energy_bogo 10s
hikey960 periodic:n=8,period=100ms,duty=40%,start=spread cpu_energy_j 10s
hikey960 workloads/nice-mix.json cpu_energy_j -
CASES
}

# run POLICY PLATFORM WORKLOAD DURATION KEY=VALUE...: METRIC MEAN DEVIATION_IN_PERCENT, one a line.
run() {
    policy=$1 platform=$2 workload=$3 duration=$4
    shift 4
    options=
    for set in "$@"; do options="$options --set $set"; done
    [ "$duration" = - ] || options="$options --duration $duration"
    # shellcheck disable=SC2086 # none of the options contains a blank
    "$wakeplace" sim --quiet --platform "$platform" --workload "$workload" --policy "$policy" \
        --seeds "$seeds" --format csv $options |
        awk 'NR > 1 { gsub(/"[^"]*"/, "W"); split($0, f, ","); print f[4], f[7], f[8] }'
}

# line NAME FILE_BEFORE FILE_NOW FILE_BASE FILE_ALONE METRIC: a row of the table.
line() {
    awk -v name="$1" -v energy="$6" '
        function change(now, before) {
            if (now == before) return "="
            if (before == 0) return sprintf("%+.4g", now)
            return sprintf("%+.2f %%", 100 * (now / before - 1))
        }
        FNR == 1 { kind = substr("bnoa", ++file, 1) } # before, now, base, alone
        { v[kind, $1] = $2 }
        END {
            count = split(energy " wake_latency_us_mean wake_latency_us_p99 freq_changes_total " \
                          "migrations_total missed_periods_total", metric, " ")
            printf "| %s |", name
            for (i = 1; i <= count; i++) {
                m = metric[i]
                printf " %s", change(v["n", m], v["b", m])
                if (name != "**all**") printf " (%s)", change(v["a", m], v["o", m])
                printf " |"
            }
            print ""
        }' "$2" "$3" "$4" "$5"
}

# whole NAME FILE METRIC: a row of an era's own figures, with their spread over the seeds.
whole() {
    awk -v name="$1" -v energy="$3" '
        { mean[$1] = $2; spread[$1] = $3 }
        function cell(m) { return sprintf(" %.4g (\302\261%.1f %%) |", mean[m], spread[m]) }
        END { print "| " name " |" cell(energy) cell("wake_latency_us_mean") \
              cell("wake_latency_us_p99") cell("freq_changes_total") cell("migrations_total") \
              cell("missed_periods_total") }' "$2"
}

tables() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cases | while read -r platform workload energy duration; do
        printf '\n### %s, %s\n\n' "$platform" "$workload"
        printf '| rules | %s | latency mean | latency p99 | frequency changes |' "$energy"
        printf ' migrations | missed periods |\n'
        printf '|:--|--:|--:|--:|--:|--:|--:|\n'
        run linux-6.2 "$platform" "$workload" "$duration" > "$work/base"
        run linux-6.12 "$platform" "$workload" "$duration" > "$work/goal"
        whole linux-6.2 "$work/base" "$energy"
        cp "$work/base" "$work/before"
        sets=
        groups | while read -r name own; do
            sets="$sets $own"
            # shellcheck disable=SC2086 # a list of settings
            run linux-6.2 "$platform" "$workload" "$duration" $sets > "$work/now"
            # shellcheck disable=SC2086
            run linux-6.2 "$platform" "$workload" "$duration" $own > "$work/alone"
            line "$name" "$work/before" "$work/now" "$work/base" "$work/alone" "$energy"
            cp "$work/now" "$work/before"
        done
        if ! cmp -s "$work/now" "$work/goal"; then
            echo "$platform, $workload: the groups do not lead to linux-6.12" >&2
            exit 1
        fi
        line '**all**' "$work/base" "$work/goal" "$work/base" "$work/goal" "$energy"
        whole linux-6.12 "$work/goal" "$energy"
    done
}

tables > "$page.new"
scripts/page-part.sh "$page" "$page.new" scripts/eras-page.sh
