#!/bin/sh
# Runs inside a guest of the lab whose first process is systemd: installs the unit as
# docs/guide/live.md says, tries all that it promises, and says step by step how that went. The
# guest boots twice (`systemctl soft-reboot`): the second time the unit has to come up by itself.
# Exit code: 0 if every step held.
#
# What the steps print is left in /out/live-systemd-*, which the lab brings back.
ext=/sys/kernel/sched_ext
out=/out
unit=scx_wakeplace
options=/etc/default/scx_wakeplace
kept=$PWD/kept
mkdir -p $kept

say() { echo "$*" | tee -a $out/live-systemd-steps; }

state() { cat $ext/state; }

# Hundredths of a second since boot.
now_cs() {
	read -r up _ </proc/uptime
	echo "${up%.*}${up#*.}"
}

# step NAME: the function of that name (with _ for -), judged by its exit code.
step() {
	step_begin=$(now_cs)
	why=ok
	"$(echo "$1" | tr - _)" >"$out/live-systemd-$1.out" 2>&1 || why=FAILED
	step_took=$(($(now_cs) - step_begin))
	say "step: systemd-$1 $why, $((step_took / 100)).$((step_took % 100 / 10)) s"
	echo . >>$kept/steps
	[ $why = ok ] && return
	echo . >>$kept/failed
	say "$(tail -n 15 "$out/live-systemd-$1.out")"
	say "$(systemctl status --no-pager --full --lines 15 $unit 2>&1)"
}

# expect WHAT WANTED FOUND
expect() {
	[ "$2" = "$3" ] && return
	echo "$1: expected $2, found $3"
	return 1
}

property() { systemctl show --property "$1" --value $unit; }

has() {
	expect "$1" "$2" "$(property "$1")"
}

# Started means in force: nobody waits here.
in_force() {
	taken || return
	case "$(cat $ext/root/ops)" in
	wakeplace*) has ActiveState active ;;
	*) expect ops wakeplace "$(cat $ext/root/ops)" ;;
	esac
}

given_back() {
	expect state disabled "$(state)"
}

taken() {
	expect state enabled "$(state)"
}

# status KEY VALUE: what the scheduler itself says.
status() {
	scx_wakeplace status --format json >$kept/status.json || return
	grep -q "\"$1\": *\"$2\"" $kept/status.json && return
	echo "status: expected $1 $2, found: $(grep "\"$1\"" $kept/status.json)"
	return 1
}

# until_true SECONDS COMMAND...
until_true() {
	until=$(($(now_cs) + $1 * 100))
	shift
	while ! "$@" >/dev/null 2>&1; do
		[ "$(now_cs)" -lt $until ] || {
			"$@"
			return 1
		}
		sleep 0.02
	done
}

flags() { echo "SCX_WAKEPLACE_FLAGS=\"$*\"" >$options; }

# The limit of starts counts those of a test too.
fresh() { systemctl reset-failed $unit 2>/dev/null; }

installed() {
	mkdir -p /usr/local/bin /etc/default
	install -m 755 /bin/scx_wakeplace /usr/local/bin/ || return
	install -m 644 scx_wakeplace.service /etc/systemd/system/ || return
	install -m 644 scx_wakeplace.default $options || return
	systemctl daemon-reload || return
	systemctl is-system-running --wait
	verdict=$(systemd-analyze verify /etc/systemd/system/$unit.service 2>&1)
	expect verdict '' "$verdict" || return
	systemd-analyze --no-pager security $unit.service | tail -n 1
	has LoadState loaded && given_back
}

start() {
	systemctl start $unit || return
	in_force || return
	scx_wakeplace status || return
	status policy wakeplace || return
	status mode auto || return
	journalctl --no-pager -u $unit | grep 'placing by wakeplace' || return
	hackbench -g 1 -l 50 || return
	# The statistics that scx tools read, one second of them.
	timeout 20 scx_wakeplace --monitor 1 | head -n 3 | grep . || return
	in_force
}

# The example in the file, as it stands there, with another mode.
options() {
	fresh
	sed -i 's/^#\(SCX_WAKEPLACE_FLAGS=\)/\1/' $options
	sed -i 's/--mode auto/--mode powersave/' $options
	cat $options
	before=$(property MainPID)
	systemctl restart $unit || return
	in_force || return
	[ "$(property MainPID)" != "$before" ] || return
	status mode powersave || return
	control=/run/scx_wakeplace/control.sock
	expect socket 'root adm 660' "$(stat -c '%U %G %a' $control)" || return
	group=$(sed -n 's/^adm:[^:]*:\([0-9]*\):.*/\1/p' /etc/group)
	echo "watcher:x:4000:$group::/:/bin/sh" >>/etc/passwd
	su watcher -s /bin/sh -c 'scx_wakeplace set mode=performance' || return
	status mode performance
}

# Exit code 2 is not tried again.
wrong_options() {
	fresh
	flags --mode fast
	systemctl restart $unit && return 1
	sleep 3
	has ActiveState failed || return
	has ExecMainStatus 2 || return
	has NRestarts 0 || return
	given_back || return
	journalctl --no-pager -u $unit | grep fast
}

# Another scheduler stays where it is; exit code 3 is not tried again.
occupied() {
	fresh
	flags
	scx_wakeplace --socket /run/other.sock &
	other=$!
	until_true 120 taken
	code=0
	occupied_by $other || code=$?
	kill -INT $other
	wait $other || return
	[ $code = 0 ] && given_back
}

occupied_by() {
	systemctl start $unit && return 1
	sleep 3
	has ActiveState failed || return
	has ExecMainStatus 3 || return
	has NRestarts 0 || return
	taken || return
	kill -0 "$1"
}

back_in_force() {
	has NRestarts "$1" && in_force
}

# The kernel has the machine back a second after the loader died, at most; then the unit has it.
killed() {
	fresh
	systemctl start $unit || return
	begin=$(now_cs)
	kill -KILL "$(property MainPID)"
	until_true 10 given_back || return
	took=$(($(now_cs) - begin))
	echo "loader killed: the kernel's scheduler is back after ${took}0 ms"
	[ $took -le 100 ] || return
	until_true 120 back_in_force 1 || return
	scx_wakeplace status
}

# Killed the third time within the unit's minute, it stays out. An emulated start takes 13 s, so
# that three are hardly done in one: here the minute is three.
three_times() {
	systemctl stop $unit
	fresh
	has StartLimitIntervalUSec 1min || return
	longer=/run/systemd/system/$unit.service.d
	mkdir -p $longer
	printf '[Unit]\nStartLimitIntervalSec=180\n' >$longer/longer.conf
	systemctl daemon-reload
	code=0
	thrown_out_thrice || code=$?
	rm -r $longer
	systemctl daemon-reload
	return $code
}

thrown_out_thrice() {
	begin=$(now_cs)
	systemctl start $unit || return
	for restarts in 1 2; do
		kill -KILL "$(property MainPID)"
		until_true 120 back_in_force $restarts || return
	done
	kill -KILL "$(property MainPID)"
	until_true 10 given_back || return
	sleep 5
	# Had it taken longer than the unit's interval, one more start would be right.
	echo "this took $((($(now_cs) - begin) / 100)) s of the interval of 180 s"
	has ActiveState failed || return
	given_back || return
	journalctl --no-pager -u $unit | grep 'repeated too quickly'
}

# What an administrator can do without any program is not undone.
sysrq() {
	fresh
	systemctl start $unit || return
	echo S >/proc/sysrq-trigger
	until_true 10 given_back || return
	sleep 5
	has ActiveState inactive || return
	has Result success || return
	given_back
}

stop() {
	fresh
	systemctl start $unit || return
	in_force || return
	systemctl stop $unit || return
	given_back || return
	has ActiveState inactive || return
	has Result success || return
	has ExecMainStatus 0 || return
	[ ! -e /run/scx_wakeplace ] || return
	dmesg | grep sched_ext | tail -n 1 |
		grep 'scheduler "wakeplace.*disabled (unregistered from user space)'
}

# Told to stop while the kernel verifies it.
stop_early() {
	fresh
	systemctl start --no-block $unit || return
	until_true 10 has ActiveState activating || return
	sleep 1
	has ActiveState activating || return
	systemctl stop $unit || return
	given_back || return
	has ActiveState inactive || return
	has Result success
}

enable() {
	fresh
	systemctl enable $unit || return
	expect enabled enabled "$(systemctl is-enabled $unit)" || return
	systemctl start $unit && in_force
}

# After the second boot, before anybody asked for it.
at_boot() {
	boots=$(systemctl show --property SoftRebootsCount --value)
	expect "times booted again" 1 "$boots" || return
	in_force || return
	has NRestarts 0 || return
	status mode auto
}

# The first boot's end was as clean as `systemctl stop`.
at_shutdown() {
	dmesg | grep 'sched_ext: BPF scheduler' | tail -n 2 | tee $kept/last
	head -n 1 $kept/last | grep 'disabled (unregistered from user space)'
}

remove() {
	systemctl disable --now $unit || return
	given_back || return
	rm /usr/local/bin/scx_wakeplace /etc/systemd/system/$unit.service $options
	systemctl daemon-reload || return
	has LoadState not-found
}

count() {
	[ -e "$kept/$1" ] || echo 0
	[ ! -e "$kept/$1" ] || wc -l <"$kept/$1"
}

expect 'first process' systemd "$(cat /proc/1/comm)" || exit 1
if [ ! -e $kept/booted ]; then
	: >$kept/booted
	say "$(systemctl --version | head -n 1)"
	for name in installed start options wrong-options occupied killed three-times sysrq \
		stop stop-early enable; do
		step $name
	done
	systemctl soft-reboot
	# It ends this, too.
	sleep 120
	say "the guest does not boot again"
	exit 1
fi
for name in at-boot at-shutdown remove; do
	step $name
done
journalctl --no-pager -u $unit >$out/live-systemd-journal
say "steps: $(count steps), failed: $(count failed)"
[ "$(count failed)" = 0 ]
