#!/bin/sh
# Runs inside a guest of the lab, under whatever scheduler runs: tasks of a small group hold what
# others wait for. Prints `inside: KIND QUOTA MS`: how long somebody outside of the group waited at
# most, by what is held and by the group's quota in us of each second.
#
#   inside.sh SECONDS      so long each case
groups=/tmp/cgroup
seconds=$1
mkdir -p $groups
mount -t cgroup2 none $groups || exit 1
echo +cpu >$groups/cgroup.subtree_control || exit 1

# Its tasks are gone: they may have waited for their quota as they were killed.
over() {
	echo max >"$groups/$1/cpu.max"
	tries=0
	until rmdir "$groups/$1" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -le 200 ] || { echo "inside: $1 is still there" && return 1; }
		sleep 0.1
	done
}

# The holders are there before the quota is: who begins with one waits for it as it begins.
storm() {
	kind=$1 quota=$2
	mkdir $groups/small || return 1
	(
		sleep 2
		echo "$quota 1000000" >$groups/small/cpu.max
	) &
	setting=$!
	wakeplace-guest inside-storm "$kind" $groups/small --seconds "$seconds" --holders 8 \
		>"/out/inside-$kind-$quota.out" || return 1
	wait $setting || return 1
	us=$(sed -n 's/.*"wait_us_max":\([0-9]*\).*/\1/p' "/out/inside-$kind-$quota.out")
	echo "inside: $kind $quota $((us / 1000))"
	over small
}

for kind in files rcu mutex pi; do
	for quota in 10000 1000; do
		storm $kind $quota || exit 1
	done
done
echo "inside: done"
