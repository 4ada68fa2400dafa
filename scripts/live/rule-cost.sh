#!/bin/sh
# Runs inside a guest of the lab, under scx_wakeplace, with a clock that counts instructions (2 ns
# each) and with the package bpftool: what the scheduler's programs take per wake-up, with the
# policy's own settings and with one of them changed.
#
#   rule-cost.sh SECONDS SETTING...     KEY=VALUE/OWN each: the value to try, and the policy's own
#
# The load: ten tasks that run 1 ms of a big CPU's time every 16 ms. Three passes; each prints, for
# `own` and for each setting, `cost: SETTING CHOICE ALL`: instructions of the program that chooses a
# CPU, and of all programs, per choice.
seconds=$1
shift

# Time of the program that chooses (ns), how often it ran, and the time of all programs (ns).
counts() {
	bpftool prog show | awk '{
			for (i = 1; i < NF; i++) {
				if ($i == "name") name = $(i + 1)
				if ($i == "run_time_ns") { ns = $(i + 1); all += ns }
				if ($i == "run_cnt" && name == "wakeplace_select_cpu") {
					choice = ns
					runs = $(i + 1)
				}
			}
		}
		END { printf "%.0f %.0f %.0f\n", choice, runs, all }'
}

measure() {
	wakeplace-guest load warm-up.json >/dev/null || exit 1
	before=$(counts)
	wakeplace-guest load window.json >/dev/null || exit 1
	# shellcheck disable=SC2046 # six numbers
	echo "$1" $before $(counts) | awk '{
		runs = $6 - $3
		if (runs < 100) exit 1
		printf "cost: %s %.0f %.0f\n", $1, ($5 - $2) / 2 / runs, ($7 - $4) / 2 / runs
	}' || exit 1
}

# The load, for so many ms.
job() {
	awk -v ms="$1" 'BEGIN {
		for (t = 0; t < 10; t++) {
			sep = t ? ", " : ""
			timers = timers sep "{mode: absolute, start_delay_ns: " t * 3100000 "}"
			ops = "{run: {work_ns: 1000000}}, {timer: {timer: " t
			ops = ops ", period_ns: 16000000}}"
			phase = "{loops: forever, ops: [" ops "]}"
			tasks = tasks sep "{name: t" t ", loops: forever, phases: [" phase "]}"
		}
		text = "{warm_up_ns: 1000, window_ns: " ms "000000, frequency_invariant: true, "
		text = text "timers: [" timers "], tasks: [" tasks "]}"
		# Words are quoted, all but true.
		gsub(/[a-z_]+[a-z0-9_]*/, "\"&\"", text)
		gsub(/"true"/, "true", text)
		print text
	}'
}

echo 1 >/proc/sys/kernel/bpf_stats_enabled || exit 1
job 1000 >warm-up.json
job $((seconds * 1000)) >window.json
for _ in 1 2 3; do
	measure own
	for setting in "$@"; do
		scx_wakeplace set "${setting%/*}" >/dev/null || exit 1
		measure "${setting%/*}"
		scx_wakeplace set "${setting%%=*}=${setting#*/}" >/dev/null || exit 1
	done
done
