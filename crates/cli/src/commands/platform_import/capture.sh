#!/bin/sh
# Saves what the kernel says of this machine's CPUs: sh capture.sh FILE.tar (-: standard output)
# On another machine: wakeplace platform import --sysfs FILE.tar
# It only reads; as root it also finds the energy model in debugfs. Needed: sh, cat, mkdir, tar.
set -eu
case "${1:-}" in
-) ;;
'' | -*)
	echo "usage: sh capture.sh FILE.tar" >&2
	exit 2
	;;
esac
case "$1" in
/*) out=$1 ;;
*) out=$PWD/$1 ;;
esac
[ "$1" = - ] || [ ! -d "$out" ] || {
	echo "capture: $1 is a folder, expected the name of the archive" >&2
	exit 2
}
command -v tar >/dev/null 2>&1 || {
	echo "capture: there is no tar on this machine" >&2
	exit 3
}
work=${TMPDIR:-/tmp}/wakeplace-capture.$$
(umask 077 && mkdir "$work")
trap 'rm -rf "$work"; [ "$1" = - ] || rm -f "$out.part"' EXIT
trap 'exit 1' HUP INT TERM

# Files of sysfs have no true size, so each is read whole before it is archived.
keep() {
	for file in "$@"; do
		[ -f "$file" ] && [ -r "$file" ] || continue
		mkdir -p "$work${file%/*}"
		cat "$file" >"$work$file" 2>/dev/null || rm -f "$work$file"
	done
}

cpus=/sys/devices/system/cpu
keep "$cpus/possible" "$cpus/present" "$cpus/online"
for cpu in "$cpus"/cpu[0-9]*; do
	keep "$cpu/cpu_capacity" "$cpu/acpi_cppc/highest_perf" "$cpu/cpufreq/base_frequency" \
		"$cpu/regs/identification/midr_el1" "$cpu"/topology/*_list \
		"$cpu/topology/physical_package_id"
	for cache in "$cpu"/cache/index[0-9]*; do
		keep "$cache/level" "$cache/type" "$cache/shared_cpu_list"
	done
	for state in "$cpu"/cpuidle/state[0-9]*; do
		keep "$state/name" "$state/desc" "$state/latency" "$state/residency"
	done
done
for policy in "$cpus"/cpufreq/policy[0-9]*; do
	keep "$policy/related_cpus" "$policy/scaling_governor" "$policy/cpuinfo_min_freq" \
		"$policy/cpuinfo_max_freq" "$policy/cpuinfo_transition_latency" \
		"$policy/scaling_available_frequencies"
done
[ -d "$cpus/amd_pstate" ] && mkdir -p "$work$cpus/amd_pstate" && keep "$cpus/amd_pstate/status"
for node in /sys/devices/system/node/node[0-9]*; do
	keep "$node/cpulist" "$node/distance"
done
keep /sys/devices/cpu_core/cpus /sys/devices/cpu_atom/cpus /sys/class/dmi/id/product_name \
	/proc/device-tree/model /proc/sys/kernel/arch /proc/sys/kernel/osrelease \
	/proc/sys/kernel/sched_itmt_enabled
for domain in /sys/kernel/debug/energy_model/*; do
	keep "$domain/cpus" "$domain/flags"
	for state in "$domain"/ps:*; do
		keep "$state/frequency" "$state/power" "$state/cost" "$state/inefficient"
	done
done
mkdir -p "$work/proc/sys/kernel" "$work/wakeplace"
sed '/^$/q' /proc/cpuinfo >"$work/proc/cpuinfo" 2>/dev/null || :
[ -s "$work/proc/sys/kernel/arch" ] || uname -m >"$work/proc/sys/kernel/arch"
{
	[ -r /proc/config.gz ] && zcat /proc/config.gz
	[ -r "/boot/config-$(uname -r)" ] && cat "/boot/config-$(uname -r)"
} 2>/dev/null | grep '^CONFIG_HZ=' >"$work/wakeplace/config" || :

[ -s "$work$cpus/online" ] || {
	echo "capture: $cpus/online cannot be read; is /sys mounted?" >&2
	exit 3
}
if [ "$1" = - ]; then
	(cd "$work" && tar -cf - .) || exit 2
else
	(cd "$work" && tar -cf "$out.part" .) || exit 2
	# Not every sync takes a file.
	sync "$out.part" 2>/dev/null || sync
	mv "$out.part" "$out"
fi
[ -d /sys/kernel/debug/energy_model ] || echo "capture: without the energy model: \
debugfs is not mounted, not readable, or this kernel has none" >&2
