#!/bin/busybox sh
# One job of the lab, inside the guest. /lab/job sets the variables LAB_*; facts about the run go to
# /out/facts, one KEY=VALUE a line; the host judges them.
# What must stay: keys and words of facts (outcome.rs and run.rs read them) and names of files in
# /out (run.rs, `collect`). Nothing tries this file but guests that boot (crates/lab/tests/boot.rs);
# outcome.rs tries the judgement with facts as they are written here.
. /lab/job
out=/out
ext=/sys/kernel/sched_ext
tracing=/sys/kernel/tracing

fact() { echo "$1=$2" >>$out/facts; }
value() { cat "$1" 2>/dev/null || echo none; }
now() { cut -d ' ' -f 1 /proc/uptime; }

# What runs the normal tasks at this moment: sched_ext's state, the loaded scheduler's name, and how
# many have been loaded since boot.
scheduler_facts() {
	fact "$1_state" "$(value $ext/state)"
	fact "$1_ops" "$(value $ext/root/ops)"
	fact "$1_loads" "$(value $ext/enable_seq)"
}

machine_facts() {
	fact release "$(uname -r)"
	fact cpus "$(value /sys/devices/system/cpu/online)"
	for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
		name=${cpu##*/}
		capacity=$(value "$cpu/cpu_capacity")
		[ "$capacity" = none ] || fact "capacity_${name#cpu}" "$capacity"
	done
	fact energy_model "$(ls /sys/kernel/debug/energy_model 2>/dev/null | wc -l)"
	fact energy_aware "$(value /proc/sys/kernel/sched_energy_aware)"
	fact governor "$(value /sys/devices/system/cpu/cpufreq/policy0/scaling_governor)"
}

# Waits until the scheduler is in charge, at most five minutes of the guest's time; fails if it
# is not. The verifier of 6.16 takes two, emulated.
start_scheduler() {
	sh /lab/scheduler.sh >$out/scheduler.log 2>&1 &
	scheduler=$!
	tries=0
	while [ $tries -lt 3000 ]; do
		if [ "$(value $ext/state)" = enabled ]; then
			case "$(value $ext/root/ops)" in "$LAB_OPS"*) return 0 ;; esac
		fi
		kill -0 $scheduler 2>/dev/null || return 1
		tries=$((tries + 1))
		sleep 0.1
	done
	return 1
}

# Asks the scheduler to go, waits at most half a minute, notes how it went.
stop_scheduler() {
	if kill -0 $scheduler 2>/dev/null; then
		fact scheduler_alive yes
		[ "$LAB_SCHEDULER" = loader ] ||
			timeout 10 /bin/scx_wakeplace status --format json >$out/status.json \
				2>$out/status.log || rm -f $out/status.json
		kill -INT $scheduler
	else
		fact scheduler_alive no
	fi
	# The shell has a program behind it ignore SIGINT; one that does not care needs SIGTERM.
	(sleep 10 && kill -TERM $scheduler && sleep 20 && kill -KILL $scheduler) 2>/dev/null &
	guard=$!
	wait $scheduler
	fact scheduler_exit $?
	kill $guard 2>/dev/null
	# A kernel lets go of a scheduler after its program has ended.
	tries=0
	while [ $tries -lt 100 ] && [ "$(value $ext/state)" = disabling ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

# Makes the tracer ready; fails if the kernel has none.
prepare_trace() {
	[ -d $tracing/events/sched/sched_switch ] || return 1
	echo 0 >$tracing/tracing_on
	echo mono >$tracing/trace_clock
	echo "$LAB_TRACE_KB" >$tracing/buffer_size_kb
	echo 0 >$tracing/options/overwrite
	echo 8192 >$tracing/saved_cmdlines_size
	for event in sched/sched_switch sched/sched_waking sched/sched_wakeup \
		sched/sched_wakeup_new sched/sched_migrate_task sched/sched_process_fork \
		power/cpu_frequency; do
		[ -d $tracing/events/$event ] && echo 1 >$tracing/events/$event/enable
	done
	fact tracer yes
}

# A job with a window of its own switches tracing itself, and reads frequencies.
start_trace() {
	[ "$LAB_TRACE" = command ] || return 0
	echo 1 >$tracing/tracing_on
	for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
		[ -d "$cpu/cpufreq" ] || continue
		fact "khz_${cpu##*cpu}" "$(value "$cpu/cpufreq/scaling_cur_freq")"
	done
}

stop_trace() {
	cat $tracing/trace >$out/trace
	lost=0
	for stats in $tracing/per_cpu/cpu*/stats; do
		for count in $(sed -n 's/^\(dropped events\|overrun\): //p' $stats); do
			lost=$((lost + count))
		done
	done
	fact trace_lost $lost
}

if [ -f /lab/config ]; then
	mkdir -p /boot
	ln -s /lab/config "/boot/config-$(uname -r)"
fi
sleep "$LAB_SETTLE_S"
machine_facts
if [ "$LAB_SCHEDULER" != kernel ] && ! start_scheduler; then
	scheduler_facts begin
	stop_scheduler
	dmesg >$out/dmesg
	exit
fi
[ "$LAB_TRACE" = off ] || prepare_trace || LAB_TRACE=off
scheduler_facts begin
fact begin_s "$(now)"
[ "$LAB_TRACE" = off ] || start_trace
# The process says its number and becomes the command.
sh -c 'echo "command_pid=$$" >>/out/facts; . /lab/command.sh' >$out/stdout 2>$out/stderr </dev/null
code=$?
[ "$LAB_TRACE" = off ] || echo 0 >$tracing/tracing_on
fact end_s "$(now)"
scheduler_facts end
fact command_exit $code
[ "$LAB_TRACE" = off ] || stop_trace
[ "$LAB_SCHEDULER" = kernel ] || stop_scheduler
dmesg >$out/dmesg
