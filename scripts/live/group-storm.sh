#!/bin/sh
# Runs inside a guest of the lab: control groups are made, nested, filled, changed, emptied and
# removed, again and again. Exit code 1: a write was refused, or a group did not go.
#
#   group-storm.sh SECONDS SEED
groups=/tmp/cgroup

# Hundredths of a second since boot.
now_cs() {
	read -r up _ </proc/uptime
	echo "${up%.*}${up#*.}"
}

# soon COMMAND...: it succeeds within 10 s.
soon() {
	tries=0
	while ! why=$("$@" 2>&1); do
		tries=$((tries + 1))
		[ $tries -le 100 ] || { echo "$*: $why" && return 1; } >&2
		sleep 0.1
	done
}

has_two() {
	[ "$(wc -l <"$1/cgroup.procs")" = 2 ]
}

# set_to GROUP KEY VALUE. Kernels without hints of groups have no such files.
set_to() {
	[ ! -e "$1/cpu.$2" ] || echo "$3" >"$1/cpu.$2"
}

# endless GROUP: two tasks in it
endless() {
	for _ in 1 2; do
		# shellcheck disable=SC2016 # the task's own number
		sh -c 'echo $$ >"$1"/cgroup.procs; while :; do :; done' sh "$1" &
	done
}

# turn NUMBER: a group with two groups in it, each with two tasks; the number says how they are set.
turn() {
	outer=$groups/storm
	inner=$outer/in by=$outer/by
	mkdir $outer && echo +cpu >$outer/cgroup.subtree_control && mkdir $inner $by || return 1
	set_to $outer weight $(($1 % 500 + 1)) || return 1
	endless $inner
	endless $by
	set_to $inner weight $(($1 % 97 + 1)) && set_to $by idle $(($1 % 2)) &&
		set_to $inner max "$(($1 % 40000 + 2000)) 50000" &&
		set_to $inner uclamp.min $(($1 % 90)) && soon has_two $inner && soon has_two $by &&
		set_to $inner max max || return 1
	# They leave for the other group while they run.
	while read -r task; do
		echo "$task" >$by/cgroup.procs || return 1
	done <$inner/cgroup.procs
	echo 1 >$outer/cgroup.kill && soon rmdir $inner && soon rmdir $by && soon rmdir $outer
}

mkdir -p $groups
[ -e $groups/cgroup.procs ] || mount -t cgroup2 none $groups || exit 1
echo +cpu >$groups/cgroup.subtree_control || exit 1
end=$(($(now_cs) + $1 * 100)) number=$2 turns=0
while [ "$(now_cs)" -lt $end ]; do
	number=$(((number * 1103515245 + 12345) % 2147483648))
	turn $((number / 65536)) || exit 1
	turns=$((turns + 1))
done
echo "groups: $turns turns"
[ $turns -gt 0 ]
