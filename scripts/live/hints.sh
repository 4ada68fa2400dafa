#!/bin/sh
# Runs inside a guest of the lab with CPUs of two capacities, under whatever scheduler runs: what
# the performance hints of control groups (cpu.uclamp.min, cpu.uclamp.max) change. Prints `hint:
# CASE big PERCENT` and `hint: CASE frequency PERCENT`: how often the tasks were on big CPUs, and
# the frequency of their CPU, in percent of its highest.
#
#   hints.sh LOOKS      so many looks at each case, 20 ms apart
groups=/tmp/cgroup
looks=$1
cpus=/sys/devices/system/cpu
mkdir -p $groups
mount -t cgroup2 none $groups || exit 1
echo +cpu >$groups/cgroup.subtree_control || exit 1

# group NAME [HINT PERCENT]
group() {
	mkdir "$groups/$1" || exit 1
	[ $# = 1 ] || echo "$3" >"$groups/$1/cpu.uclamp.$2" || exit 1
}

# One task of a group: runs so many us of each 20 ms on a big CPU at its highest frequency, or
# without end.
task() {
	if [ "$2" = all ]; then
		op='"busy"'
	else # `wakeplace-guest` counts work at that speed
		op="{\"run\": {\"work_ns\": ${2}000}}"
		op="$op, {\"timer\": {\"timer\": 0, \"period_ns\": 20000000}}"
	fi
	bound=
	[ $# = 2 ] || bound=", \"affinity\": [$3]"
	cat >/tmp/hints.json <<-END
		{"warm_up_ns": 500000000, "window_ns": 60000000000, "frequency_invariant": true,
		 "timers": [{"mode": "absolute"}],
		 "tasks": [{"name": "hinted", "loops": "forever"$bound,
		  "phases": [{"loops": "forever", "ops": [$op]}]}]}
	END
	sh -c "echo \$\$ >$groups/$1/cgroup.procs; exec wakeplace-guest load /tmp/hints.json" \
		>/tmp/hints.out 2>&1 &
}

# The CPU that the thread ran on last.
cpu_of() {
	read -r stat <"/proc/$1/stat" || return 1
	set -- ${stat##*) }
	cpu=${37}
}

# look CASE GROUP CPU: from this CPU, three seconds after the task has begun. All threads but the
# program's first are tasks.
look() {
	case=$1 group=$2
	taskset -p -c "$3" $$ >/dev/null
	sleep 3
	first=$(cat "$groups/$group/cgroup.procs")
	left=$looks seen=0 big=0 frequency=0
	while [ "$left" -gt 0 ]; do
		left=$((left - 1))
		sleep 0.02
		while read -r tid; do
			if [ "$tid" = "$first" ] || ! cpu_of "$tid"; then continue; fi
			read -r capacity <"$cpus/cpu$cpu/cpu_capacity"
			read -r now <"$cpus/cpu$cpu/cpufreq/scaling_cur_freq"
			read -r most <"$cpus/cpu$cpu/cpufreq/cpuinfo_max_freq"
			seen=$((seen + 1))
			[ "$capacity" != 1024 ] || big=$((big + 1))
			frequency=$((frequency + now * 100 / most))
		done <"$groups/$group/cgroup.threads"
	done
	echo 1 >"$groups/$group/cgroup.kill"
	while ! rmdir "$groups/$group" 2>/dev/null; do sleep 0.1; done
	if [ $seen = 0 ]; then
		echo "hint: no task of $case: $(cat /tmp/hints.out)"
		return
	fi
	echo "hint: $case big $((big * 100 / seen))"
	# one that seldom runs has the frequency of what else ran there
	[ "$case" != "${case#small}" ] || echo "hint: $case frequency $((frequency / seen))"
}

renice -n -20 -p $$ >/dev/null

# On a little CPU; with the hint a big one is wanted.
group a
task a 600
look small a 7
group a min 80
task a 600
look small-min-80 a 0

# It has one CPU: only the frequency follows.
group a
task a 3000 1
look bound a 7
group a min 100
task a 3000 1
look bound-min-100 a 7
group a max 10
task a 3000 1
look bound-max-10 a 7

# On a big CPU at its highest frequency; with the hint a little one does, at a lower one.
group a
task a all
look endless a 0
group a max 20
task a all
look endless-max-20 a 7
echo "hints: done"
