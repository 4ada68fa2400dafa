#!/usr/bin/env bash
# What kernels' own governors of idle states choose: scripts/idle-governors.sh TREE:VERSION...
#
# TREE is a kernel's source tree, or the folder of its governors (with gov.h). Each governor of it
# is built unmodified against crates/kernel-shim/tests/governors and asked. What it chose is written
# to NAME-VERSION.txt beside our governors, whose test compares (docs/rules/cpuidle.md#recorded).
# Governors of which no recording is there are left out: ours have no such form.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
recorded=$root/crates/engine/src/kernel/model/cpuidle/recorded
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# = 0 ]; then
	echo "usage: scripts/idle-governors.sh TREE:VERSION..." >&2
	exit 2
fi

# The kernel's headers, empty: governor.c has what is needed of them.
for header in asm/io.h linux/{cpuidle,hrtimer,jiffies,kernel,ktime,math64,pm_qos,sched}.h \
	linux/{tick,time,types,uaccess}.h linux/sched/{clock,loadavg,stat,topology}.h; do
	mkdir -p "$work/$(dirname "$header")"
	: >"$work/$header"
done

for given in "$@"; do
	tree=${given%:*} version=${given##*:}
	folder=$tree/drivers/cpuidle/governors
	[ -d "$folder" ] || folder=$tree
	for name in teo ladder menu; do
		out=$recorded/$name-$version.txt
		source=$(cd "$folder" && pwd)/$name.c
		[ -e "$out" ] || continue
		if [ ! -e "$source" ]; then
			echo "scripts/idle-governors.sh: $given: no $name.c in $folder" >&2
			exit 2
		fi
		# -fwrapv: as the kernel is built; -w: its warnings are its own.
		"${CC:-cc}" -O1 -w -fwrapv -I"$work" -DGOVERNOR="\"$source\"" \
			"$root/crates/kernel-shim/tests/governors/governor.c" -o "$work/governor"
		"$work/governor" >"$work/chosen"
		cmp -s "$work/chosen" "$out" && same=same || same=changed
		mv "$work/chosen" "$out"
		echo "$name-$version: $same"
	done
done
