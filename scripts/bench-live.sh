#!/usr/bin/env bash
# What a wake-up costs under the kernel's own scheduler and under scx_wakeplace, in instructions: in
# an emulated machine whose clock counts them (2 ns each), so that it does not matter how busy this
# one is. Takes what `make lab` and `make build` made.
#
#   BENCH_KERNEL=...      version of the guest's kernel; default: the newest that can be used
#   BENCH_POLICY=NAME     policy of scx_wakeplace; default: its own
#
# All instructions of all CPUs count: the system calls, both programs' own work, idle loops. So the
# ratio is what a program sees, not that of the placement alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/live/common.sh

aim=1.15
keep_in ""
options=(--arch x86_64 --cpus 4 --icount --timeout 30m --add $live/guest.sh)
[ -z "${BENCH_KERNEL:-}" ] || options+=(--kernel "$BENCH_KERNEL")

for scheduler in kernel "wakeplace${BENCH_POLICY:+:$BENCH_POLICY}"; do
    code=0
    guest "$keep/${scheduler%%:*}" "${options[@]}" --scheduler "$scheduler" -- \
        sh guest.sh cost || code=$?
    if [ $code != 0 ]; then
        fault "$scheduler: exit code $code: $(tail -n 30 "$keep/${scheduler%%:*}/log")"
        exit 1
    fi
done
grep -h '^kernel ' -A 1 "$keep/wakeplace/log" | tr -s ' ' | tr -d '\n'
printf '\n\n%-34s %10s %10s %7s  %s\n' '' kernel wakeplace ratio 'repeats within'
awk -v aim=$aim '
    /^cost: / {
        side = FILENAME ~ /kernel\/stdout$/ ? 1 : 2
        if (!($2 in known)) { known[$2] = 1; order[++names] = $2 }
        i = ++count[$2, side]; value[$2, side, i] = $3
    }
    function median(name, side,   n, i, j, t, v) {
        n = count[name, side]
        for (i = 1; i <= n; i++) v[i] = value[name, side, i] + 0
        for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++)
            if (v[j] < v[i]) { t = v[i]; v[i] = v[j]; v[j] = t }
        spread = v[1] > 0 ? 100 * (v[n] - v[1]) / v[1] : 0
        if (spread > widest) widest = spread
        return v[int((n + 1) / 2)]
    }
    END {
        title["ping-pong-1"] = "ping-pong, 1 CPU: insns/wake-up"
        title["ping-pong-4"] = "ping-pong, 4 CPUs: insns/wake-up"
        title["hackbench"] = "hackbench -g 2 -l 100: virtual s"
        title["wait-p50"] = "  its waits, watched: median, us"
        title["wait-p99"] = "  ... 99th percentile, us"
        for (k = 1; k <= names; k++) {
            name = order[k]; widest = 0
            kernel = median(name, 1); ours = median(name, 2)
            cost = name ~ /^ping-pong/; watched = name ~ /^wait/
            if (cost) { kernel /= 2; ours /= 2 }
            if (kernel <= 0 || ours <= 0 || count[name, 1] != count[name, 2]) {
                print name ": no figure"
                exit 1
            }
            form = name == "hackbench" ? "%-34s %10.3f %10.3f" : "%-34s %10.0f %10.0f"
            printf form " %7.2f  %.1f %%%s\n", title[name], kernel, ours, ours / kernel, widest,
                (!watched && ours / kernel > aim ? "  above the aim of " aim : "")
        }
        if (names != 5) { print "figures are missing"; exit 1 }
    }' "$keep/kernel/stdout" "$keep/wakeplace/stdout"
