#!/bin/sh
# Runs inside a guest of the lab, under scx_wakeplace: tries to break it, and says step by step how
# that went. Exit code: 0 if every step held.
#
#   guest.sh steps SECONDS      each kind of work once, so many seconds each
#   guest.sh placement          heavy tasks get to big CPUs, small ones leave them alone
#   guest.sh soak MINUTES PART WORK
#                               again and again; PART: a number, for other seeds; WORK: mixed (all
#                               kinds), inside (others wait for what a small group holds)
#   guest.sh killed             the loader is killed; then bad input with no scheduler loaded. The
#                               lab calls this run a failure, rightly: its scheduler did not stay.
#   guest.sh cost               what a wake-up costs, under whatever scheduler runs
#   guest.sh ping-pong          of that the wake-ups alone
#
# What the programs print is left in /out/live-*, which the lab brings back.
ext=/sys/kernel/sched_ext
out=/out
tmp=/tmp/live
trace=/sys/kernel/tracing
events=$trace/events
mkdir -p $tmp
bad=0
done_steps=0

# Hundredths of a second since boot.
now_cs() {
	read -r up _ </proc/uptime
	echo "${up%.*}${up#*.}"
}

is_ours() {
	[ "$(cat $ext/state)" = enabled ] || return 1
	case "$(cat $ext/root/ops 2>/dev/null)" in wakeplace*) ;; *) return 1 ;; esac
}

fault() {
	echo "step: $1 FAILED: $2"
	bad=$((bad + 1))
}

# held NAME BEGIN_CS CODE WHY: judges a step that has ended.
held() {
	took=$(($(now_cs) - $2))
	done_steps=$((done_steps + 1))
	if [ "$3" != 0 ]; then
		fault "$1" "exit code $3: $4"
	elif ! is_ours; then
		fault "$1" "the scheduler is gone ($(cat $ext/state))"
	else
		echo "step: $1 ok, $((took / 100)).$((took % 100 / 10)) s"
	fi
}

# step NAME COMMAND...: one thing at a time.
step() {
	name=$1
	shift
	begin=$(now_cs)
	"$@" >"$out/live-$name.out" 2>"$out/live-$name.err" </dev/null
	code=$?
	held "$name" "$begin" $code "$(tail -c 600 "$out/live-$name.err" "$out/live-$name.out")"
}

# Another policy, mode or parameter every 100 ms, until stop_switching.
start_switching() {
	rm -f $tmp/stop
	switching_since=$(now_cs)
	wakeplace-guest switch $tmp/stop >$out/live-switch.out 2>$out/live-switch.err &
	switcher=$!
}

# Every change must have been accepted, and two of a second at least: a loader that is one task of
# many on a busy host may need a while for an answer. Later than 2 s: a twentieth at most. If it was
# only too slow, that is said.
stop_switching() {
	: >$tmp/stop
	wait $switcher
	code=$?
	changes=$(switched changes) late=$(switched late)
	if [ $code = 0 ]; then
		[ "${changes:-0}" -ge $((($(now_cs) - switching_since) / 50)) ] || code=9
		[ $((${late:-0} * 20)) -le "${changes:-0}" ] || code=9
		[ $code = 0 ] || echo "late: switching"
	fi
	held switching "$switching_since" $code \
		"$(cat $out/live-switch.out $out/live-switch.err)"
	echo "switches: ${changes:-none}, answered late: ${late:-none}"
	scx_wakeplace set policy=wakeplace mode=balance vq_slice_ns=3000000 >/dev/null 2>&1
}

switched() {
	sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" $out/live-switch.out
}

# Its semaphore stressor counts its turns in several tasks at once, without a lock. So its own check
# of that count may fail by itself (stress-ng's pull request 657). Nothing else may.
stress() {
	stress-ng --quiet --metrics-brief --cpu 2 --switch 2 --futex 2 --fork 2 --pipe 2 --timer 1 \
		--yield 2 --sem 2 --nanosleep 2 "$@" >$tmp/stress.out 2>&1
	code=$?
	cat $tmp/stress.out
	grep -E 'fail:|error:' $tmp/stress.out >$tmp/stress.failed || return $code
	! grep -qvE ' sem instance [0-9]+ (corrupted|hash)| metrics-check:' $tmp/stress.failed ||
		return $code
}

# group NAME: a control group that has the cpu controller.
group() {
	groups=/tmp/cgroup
	mkdir -p $groups
	[ -e $groups/cgroup.procs ] || mount -t cgroup2 none $groups || return 1
	echo +cpu >$groups/cgroup.subtree_control && mkdir -p "$groups/$1"
}

# The command, in a group that may use half a CPU. Kernels before 6.17 do not tell sched_ext of it.
limited() (
	group limited && echo '10000 20000' >$groups/limited/cpu.max || return 1
	# shellcheck disable=SC2016 # the number of the task that becomes the command
	sh -c 'echo $$ >"$0" && exec "$@"' $groups/limited/cgroup.procs "$@"
)

# endless NUMBER: tasks without end on CPU 1, in $spinners
endless() {
	left=$1
	while [ "$left" -gt 0 ]; do
		taskset 2 sh -c 'while :; do :; done' &
		spinners="$spinners $!"
		left=$((left - 1))
	done
}

# A task of an idle group begins to wait beside three others, and then there are sixty: its share is
# a slice in 47 s. The kernel ends a scheduler with a task that waits for 30 s: it runs sooner.
long_wait() {
	group idle && echo 1 >$groups/idle/cpu.idle || return 1
	spinners=
	endless 3
	taskset 2 sh -c "echo \$\$ >$groups/idle/cgroup.procs; while :; do :; done" &
	spinners="$spinners $!"
	sleep 4
	endless 57
	looks=0 starved=0
	while [ $looks -lt 3 ] && [ $starved = 0 ]; do
		before=$(grep usage_usec $groups/idle/cpu.stat)
		sleep 15
		[ "$(grep usage_usec $groups/idle/cpu.stat)" != "$before" ] || starved=1
		looks=$((looks + 1))
	done
	# shellcheck disable=SC2086 # one word each
	kill $spinners
	return $starved
}

# A real-time task without end takes the CPU of a task. A second later that one may run elsewhere,
# where CPUs idle: it has one of its own again, and runs for nine tenths of the time at least.
displaced() {
	taskset 8 sh -c 'while :; do :; done' &
	moved=$!
	chrt -f 50 taskset 8 sh -c 'while :; do :; done' &
	hog=$!
	sleep 1
	taskset -p f $moved >/dev/null
	sleep 1
	before=$(ran_ns $moved)
	sleep 2
	ran_ms=$((($(ran_ns $moved) - before) / 1000000))
	kill $moved $hog
	echo "ran for $ran_ms ms of 2000"
	[ $ran_ms -ge 1800 ]
}

ran_ns() {
	cut -d ' ' -f 1 "/proc/$1/schedstat"
}

# Its tasks are gone: they may have waited for their quota as they were killed.
over() {
	echo max >"$groups/$1/cpu.max"
	tries=0
	until rmdir "$groups/$1" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -le 200 ] || { echo "$1: they do not end" && return 1; }
		sleep 0.1
	done
}

# Thirty tasks share a thousandth of a CPU. A turn of a tick for each takes minutes; within 12 s
# each has had one: it runs once it has waited for ten, and is looked at once a second. Kernels
# before 6.17 do not tell sched_ext of the quota.
small_quota() {
	group small || return 1
	sh -c "echo \$\$ >$groups/small/cgroup.procs; taskset -p 2 \$\$ >/dev/null
		for _ in \$(seq 30); do while :; do :; done & done"
	sleep 5 # each has begun: who waits for a quota as it begins keeps locks of the kernel
	echo '1000 1000000' >$groups/small/cpu.max || return 1
	# shellcheck disable=SC2046 # one file each
	set -- $(sed 's|.*|/proc/&/schedstat|' $groups/small/cgroup.procs)
	cut -d ' ' -f 1 "$@" >$tmp/small-before
	sleep 12
	cut -d ' ' -f 1 "$@" >$tmp/small-after
	echo max >$groups/small/cpu.max
	echo 1 >$groups/small/cgroup.kill
	waiting=$(paste $tmp/small-before $tmp/small-after | awk '$1 == $2' | wc -l)
	echo "$waiting of $# did not run in 12 s"
	[ $# = 30 ] && [ "$waiting" = 0 ] || return 1
	over small
}

# One kind of `inside`, for so many seconds.
inside_kind() {
	most=1000000
	[ "$1" != pi ] || most=3000000
	(
		sleep 1
		echo '1000 1000000' >$groups/small/cpu.max
	) &
	setting=$!
	wakeplace-guest inside-storm "$1" $groups/small --seconds "$2" >$tmp/inside
	code=$?
	wait $setting || return 1
	[ $code = 0 ] || return 1
	echo max >$groups/small/cpu.max
	us=$(sed -n 's/.*"wait_us_max":\([0-9]*\).*/\1/p' $tmp/inside)
	echo "$1: others waited for $us us at most"
	[ "${us:-$most}" -lt $most ]
}

# Tasks of a group with a thousandth of a CPU hold what others wait for, each kind for so long. What
# is held in the kernel is given back as if there were no quota; so nobody else waits for a second.
# Who has been held back with a futex before somebody waited for it is looked at after a second.
# Kernels before 6.17 do not tell sched_ext of the quota.
inside() {
	group small || return 1
	for kind in files rcu mutex pi; do
		if ! inside_kind $kind "$1"; then
			over small
			return 1
		fi
	done
	over small
}

# Wanted exit code, then the command. Nothing else may happen to the scheduler that runs.
refuses() {
	want=$1 words=$2
	shift 2
	"$@" >$tmp/refused.out 2>&1
	code=$?
	cat $tmp/refused.out
	[ $code = "$want" ] || { echo "exit code $code, expected $want" && return 1; }
	grep -q "$words" $tmp/refused.out || { echo "expected to read: $words" && return 1; }
}

as_nobody() {
	grep -q ^nobody: /etc/passwd 2>/dev/null ||
		echo 'nobody:x:65534:65534::/:/bin/sh' >>/etc/passwd
	su nobody -s /bin/sh -c "$*"
}

tracefs() {
	[ -e $events ] || mount -t tracefs none $trace
}

# The timer for idle CPUs fires where somebody runs, and wakes no idle CPU: nine times of ten at
# least, beside a task without end on one CPU and then on another. Slices end by such timers, too.
# What counts is the task that a timer found (0 is the idle task) and not the CPU: on a slow host
# the shell that measures runs for several ticks, and the timer may rightly fire where it does.
timer_follows() {
	tracefs || return 1
	for busy in 1 3; do
		taskset -c $busy sh -c 'while :; do :; done' &
		followed=1
		# It may take a second or two until it has come there.
		for _ in 1 2 3; do
			sleep 1
			timer_is_with_a_task "$busy" && followed=0 && break
		done
		kill $!
		[ $followed = 0 ] || return 1
	done
}

# timer_is_with_a_task BUSY: nine of ten times it expires within a second it finds a task that runs.
timer_is_with_a_task() {
	entry=$events/timer/hrtimer_expire_entry
	echo 'hist:keys=function.sym,common_cpu,common_pid' >$entry/trigger || return 1
	sleep 1
	# the CPU, the task, how often
	sed -n '/bpf_timer_cb/ { s/^.*common_cpu: *//; s/[^0-9]\+/ /g; p; }' \
		$entry/hist >$tmp/timers
	echo '!hist:keys=function.sym,common_cpu,common_pid' >$entry/trigger
	echo "busy: $1, timer per CPU and task: $(tr '\n' ';' <$tmp/timers)"
	awk '{ all += $3 } $2 != 0 { found += $3 }
		END { exit !(all > 20 && found * 10 >= all * 9) }' $tmp/timers
}

steps() {
	s=$1
	step load-generator wakeplace-guest load load.json
	step hackbench hackbench -g 2 -l $((s * 40))
	step ping-pong wakeplace-guest ping-pong --pairs 2 --rounds $((s * 300))
	step fork-storm wakeplace-guest fork-storm --seconds "$s"
	step stress-ng stress --affinity 2 --timeout "$s"
	step affinity-storm wakeplace-guest affinity-storm --seconds "$s"
	step affinity-storm-limited limited wakeplace-guest affinity-storm --seconds "$s"
	start_switching
	step hackbench-switching hackbench -g 2 -l $((s * 40))
	step fork-storm-switching wakeplace-guest fork-storm --seconds "$s"
	step affinity-storm-switching wakeplace-guest affinity-storm --seconds "$s"
	stop_switching
	hotplug "$s"
	step timer-follows timer_follows
	step displaced displaced
	[ "$s" = 1 ] || waits
	step second-instance refuses 3 'in force' scx_wakeplace
	step set-unknown refuses 2 'mode' scx_wakeplace set mdoe=balance
	step set-nonsense refuses 2 'nonsense' scx_wakeplace set nonsense=1
	step set-bad-value refuses 2 'vq_slice_ns' scx_wakeplace set vq_slice_ns=-1
	step set-as-nobody refuses 3 'control.sock' as_nobody scx_wakeplace set mode=powersave
	step status-json scx_wakeplace status --format json
	step status-openmetrics scx_wakeplace status --format openmetrics
}

waits() {
	step long-wait long_wait
	step small-quota small_quota
	step inside inside 15
}

hotplug() {
	step hotplug-storm wakeplace-guest hotplug-storm --seconds "$s"
	start_switching
	step hotplug-storm-switching wakeplace-guest hotplug-storm --seconds "$s"
	stop_switching
}

placement() {
	step until-placed-heavy wakeplace-guest until-placed heavy --seconds 3
	step until-placed-small wakeplace-guest until-placed small --seconds 5
}

# Two or three kinds at once. What changes CPUs' number runs with what does not name CPUs.
mixed_round() {
	jobs=
	case $(($1 % 10)) in
	0)
		also hackbench -g 2 -l 400
		also wakeplace-guest affinity-storm --seconds 10 --seed "$1"
		;;
	1)
		also wakeplace-guest fork-storm --seconds 10
		also wakeplace-guest ping-pong --pairs 2 --rounds 2000
		;;
	2) also stress --affinity 2 --timeout 10 ;;
	3)
		also wakeplace-guest hotplug-storm --seconds 10 --seed "$1"
		also hackbench -g 1 -l 200
		;;
	4)
		also wakeplace-guest load load.json
		also wakeplace-guest affinity-storm --seconds 5 --seed "$1"
		also wakeplace-guest fork-storm --seconds 5
		;;
	5)
		also wakeplace-guest hotplug-storm --seconds 10 --seed "$1"
		also stress --timeout 8
		;;
	6)
		also sh group-storm.sh 10 "$1"
		also hackbench -g 1 -l 200
		;;
	7)
		also sh group-storm.sh 10 "$1"
		also wakeplace-guest hotplug-storm --seconds 10 --seed "$1"
		also wakeplace-guest fork-storm --seconds 10
		;;
	8)
		also limited wakeplace-guest affinity-storm --seconds 10 --seed "$1"
		also wakeplace-guest fork-storm --seconds 5
		;;
	9)
		also limited wakeplace-guest inside-storm files --seconds 10
		also limited wakeplace-guest inside-storm rcu --seconds 10
		also limited wakeplace-guest inside-storm mutex --seconds 10
		also wakeplace-guest fork-storm --seconds 5
		;;
	esac
	for job in $jobs; do
		wait "$job" || return 1
	done
}

# A minute of each kind.
inside_round() {
	inside 60
}

also() {
	"$@" &
	jobs="$jobs $!"
}

soak() {
	end=$(($(now_cs) + $1 * 6000))
	first=$((${2:-0} * 1000)) round=$first work=${3:-mixed}
	start_switching
	while [ "$(now_cs)" -lt $end ] && [ $bad = 0 ]; do
		round_begin=$(now_cs)
		"${work}_round" $round >$out/live-soak.out 2>$out/live-soak.err
		held "round-$round" "$round_begin" $? \
			"$(tail -c 1000 $out/live-soak.err $out/live-soak.out)"
		grep 'others waited' $out/live-soak.out
		round=$((round + 1))
	done
	stop_switching
	echo "rounds: $((round - first))"
	scx_wakeplace status
	scx_wakeplace status --format json >$out/live-status.json
}

# The kernel takes the machine back at most a second after its scheduler's loader died.
killed() {
	wakeplace-guest affinity-storm --seconds 4 --tasks 4 >$out/live-survivors.out 2>&1 &
	survivors=$!
	wakeplace-guest ping-pong --rounds 3000 >$out/live-survivors-pipe.out 2>&1 &
	ping_pong=$!
	sleep 1
	# The clock of this test must not wait for the tasks that it is about.
	renice -n -20 -p $$ >/dev/null
	begin=$(now_cs)
	kill -KILL "$(pidof scx_wakeplace)"
	while [ "$(cat $ext/state)" != disabled ] && [ $(($(now_cs) - begin)) -lt 1000 ]; do
		sleep 0.02
	done
	took=$(($(now_cs) - begin))
	echo "loader killed: the kernel's scheduler is back after ${took}0 ms"
	[ $took -le 100 ] || fault loader-killed "expected at most 1000 ms"
	wait $survivors || fault survivors "$(tail -c 600 $out/live-survivors.out)"
	wait $ping_pong || fault survivors "$(cat $out/live-survivors-pipe.out)"
	bad_input platform-of-another-machine 2 hikey960 --platform hikey960
	echo 'name = "damaged' >$tmp/damaged.toml
	bad_input platform-damaged 2 damaged --platform $tmp/damaged.toml
	bad_input policy-unknown 2 linux-7.3 --policy linux-7.4
	bad_input option-unknown 2 polic --polcy wakeplace
	begin=$(now_cs)
	if refuses 3 'sudo' as_nobody scx_wakeplace >$out/live-not-root.out; then
		echo "step: not-root ok"
	else
		fault not-root "$(cat $out/live-not-root.out)"
	fi
	[ "$(cat $ext/state)" = disabled ] || fault bad-input "a scheduler is $(cat $ext/state)"
	again
}

# bad_input NAME CODE WORDS OPTION...
bad_input() {
	name=$1 want=$2 words=$3
	shift 3
	if refuses "$want" "$words" timeout 20 scx_wakeplace "$@" >"$out/live-$name.out"; then
		echo "step: $name ok"
	else
		fault "$name" "$(cat "$out/live-$name.out")"
	fi
}

# What the killed one left behind is in nobody's way.
again() {
	scx_wakeplace >$out/live-again.out 2>&1 &
	loader=$!
	tries=0
	while ! is_ours && [ $tries -lt 200 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	is_ours || fault again "$(cat $out/live-again.out)"
	scx_wakeplace status >$out/live-again-status.out 2>&1 ||
		fault again "$(cat $out/live-again-status.out)"
	kill -INT $loader
	wait $loader
	code=$?
	[ $code = 0 ] || fault again "exit code $code: $(cat $out/live-again.out)"
	[ "$(cat $ext/state)" = disabled ] || fault again "it is still in force"
	[ $bad != 0 ] || echo "step: again ok"
}

# Runs a command as the child of a shell that has done little but wait for a while: each of its
# wake-ups more than a second after the last one halves its flips. What init woke while the machine
# started makes every later child a waker of many otherwise, until the child itself is old, and
# wake_wide pulls none of them together (docs/rules/wake-ups.md#what-a-fork-copies).
settled() {
	(
		for _ in 1 2 3 4 5 6 7 8; do
			sleep 1.1
			echo
		done
		"$@"
	) | cat
}

# Nanoseconds of a wake-up on one CPU and on four; pass 0 does not count.
ping_pong() {
	for cpus in 1 4; do
		mask=f
		[ $cpus != 1 ] || mask=1
		wakeup=$(taskset $mask wakeplace-guest ping-pong --rounds 3000 |
			sed -n 's/.*"ns_per_wakeup":\([0-9.]*\).*/\1/p')
		[ "$1" = 0 ] || echo "cost: ping-pong-$cpus ${wakeup:-none}"
	done
}

# Three passes of a machine that has settled.
ping_pongs() {
	sleep 3
	for pass in 0 1 2 3; do
		ping_pong $pass
	done
}

# Three passes of each, nine of hackbench, so that one sees how far they repeat. The first does not
# count.
cost() {
	for pass in 0 1 2 3; do
		ping_pong $pass
		for _ in 1 2 3; do # each is one of many courses it can take
			time=$(settled hackbench -g 2 -l 100 | sed -n 's/^Time: //p')
			[ $pass = 0 ] || echo "cost: hackbench ${time:-none}"
		done
	done
	hackbench_waits
}

# From wake-up to run, of hackbench's tasks: median and 99th percentile, us. Apart from the times
# above, since being watched takes time.
hackbench_waits() {
	if ! tracefs; then
		fault waits "no tracefs"
		return
	fi
	echo 'waited u64 us' >$trace/synthetic_events || fault waits "no synthetic events"
	echo 'hist:keys=pid:since=common_timestamp.usecs if comm=="hackbench"' \
		>$events/sched/sched_waking/trigger || fault waits "sched_waking"
	ends='us=common_timestamp.usecs-$since:onmatch(sched.sched_waking).waited($us)'
	echo "hist:keys=next_pid:$ends if next_comm==\"hackbench\"" \
		>$events/sched/sched_switch/trigger || fault waits "sched_switch"
	for _ in 1 2 3; do
		echo 'hist:keys=us:size=65536' >$events/synthetic/waited/trigger
		settled hackbench -g 2 -l 100 >/dev/null
		grep -q 'Dropped: 0$' $events/synthetic/waited/hist || fault waits "some dropped"
		sed -n 's/.*us: *\([0-9]*\) } hitcount: *\([0-9]*\)$/\1 \2/p' \
			$events/synthetic/waited/hist | sort -n >$tmp/waits
		echo '!hist:keys=us:size=65536' >$events/synthetic/waited/trigger
		awk '{ all += $2; wait[NR] = $1; number[NR] = $2 }
			END {
				for (i = 1; i <= NR; i++) {
					sum += number[i]
					if (p50 == "" && sum * 2 >= all) p50 = wait[i]
					if (p99 == "" && sum * 100 >= all * 99) p99 = wait[i]
				}
				print "cost: wait-p50 " p50
				print "cost: wait-p99 " p99
			}' $tmp/waits
	done
}

# All the work that was begun has ended.
nothing_left() {
	for name in hackbench stress-ng wakeplace-guest; do
		left=$(pidof $name) && fault nothing-left "$name $left still there"
	done
}

what=$1
shift
case "$what" in
steps | placement | soak | killed | cost) $what "$@" ;;
ping-pong) ping_pongs ;;
*)
	echo "unknown: $what" >&2
	exit 2
	;;
esac
nothing_left
echo "steps: $done_steps, failed: $bad"
[ $bad = 0 ]
