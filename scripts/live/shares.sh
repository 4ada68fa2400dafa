#!/bin/sh
# Runs inside a guest of the lab, under whatever scheduler runs: what control groups get of the
# machine. Prints `share: CASE GROUP PERCENT`, in percent of the CPUs that the case uses.
#
#   shares.sh SECONDS      so long each case
groups=/tmp/cgroup
seconds=$1
mkdir -p $groups /tmp/live
mount -t cgroup2 none $groups || exit 1
echo +cpu >$groups/cgroup.subtree_control || exit 1

# group NAME [KEY VALUE]...: a control group that has the cpu controller, with these settings
group() {
	name=$1
	shift
	mkdir "$groups/$name" || exit 1
	while [ $# -gt 0 ]; do
		echo "$2" >"$groups/$name/cpu.$1" || exit 1
		shift 2
	done
}

# around NAME: groups in it have the controller, too
around() {
	echo +cpu >"$groups/$1/cgroup.subtree_control" || exit 1
}

# hogs GROUP NUMBER MASK: tasks without end, on these CPUs. They are there before they join: the
# kernel lets a group pay for load that it had elsewhere, as long as the CPU there idles.
hogs() {
	count=$2
	while [ "$count" -gt 0 ]; do
		taskset "$3" sh -c "echo \$\$ >$groups/$1/cgroup.procs; while :; do :; done" &
		count=$((count - 1))
	done
}

used_us() {
	sed -n 's/^usage_usec //p' "$groups/$1/cpu.stat"
}

now_us() {
	read -r up _ </proc/uptime
	echo "${up%.*}${up#*.}0000"
}

# measure CASE CPUS GROUP...: what each gets, after a second, or `settle`
measure() {
	case=$1 cpus=$2
	shift 2
	sleep "${settle:-1}"
	begin=$(now_us)
	for name in "$@"; do used_us "$name" >"/tmp/live/$(echo "$name" | tr / _)"; done
	sleep "$seconds"
	took=$(($(now_us) - begin))
	for name in "$@"; do
		used=$(($(used_us "$name") - $(cat "/tmp/live/$(echo "$name" | tr / _)")))
		echo "share: $case $name $((used * 1000 / took / cpus))" |
			sed 's/\([0-9]\)$/.\1/; s/ \./ 0./'
	done
}

# Its tasks and groups are gone.
over() {
	for name in "$@"; do
		echo 1 >"$groups/$name/cgroup.kill"
		tries=0
		while ! rmdir "$groups/$name" 2>/dev/null && [ $tries -lt 200 ]; do
			tries=$((tries + 1))
			sleep 0.1
		done
		[ ! -e "$groups/$name" ] || echo "share: $name is still there"
	done
}

# The case's own shell goes before those that use the CPUs.
renice -n -20 -p $$ >/dev/null

group a weight 200
around a
group a/one weight 100
group a/two weight 300
group b weight 400
hogs a/one 1 2
hogs a/two 2 2
hogs b 1 2
measure nested 1 a a/one a/two b
echo 100 >$groups/b/cpu.weight
measure changed 1 a/one a/two b
over a/one a/two a b

group a weight 300
group b weight 100
hogs a 8 f
hogs b 4 f
# From 7.3 on a task less counts in the kernel's shares until tasks have moved: there that takes
# seconds, and is left to chance (docs/rules/live-queue.md#vq-groups). So ours may be what the
# weights say instead: both have tasks on all four CPUs, hence 300 of 400 and 100 of 400.
settle=8
measure spread 4 a b
echo "weights: spread a 75"
echo "weights: spread b 25"
settle=
over a b

group a idle 1
group b
hogs a 1 2
hogs b 1 2
measure idle 1 a b
over a b

group a
around a
group a/low idle 1
group a/high
group b
hogs a/low 1 2
hogs b 1 2
measure idle-within 1 a b
hogs a/high 1 2
measure idle-beside 1 a a/low b
over a/low a/high a b

# The first quota of the machine, set while its task runs and nobody displaces it.
group a
hogs a 1 2
sleep 3
echo '20000 100000' >$groups/a/cpu.max
measure max-late 1 a
over a

group a max '20000 100000'
hogs a 1 2
measure max 1 a
echo '150000 100000' >$groups/a/cpu.max
hogs a 4 f
measure max-four 4 a
over a

group a max '50000 100000'
around a
group a/most max '80000 100000'
group b
hogs a/most 2 2
hogs b 1 2
measure max-within 1 a b
over a/most a b
echo "shares: done"
