#!/bin/busybox sh
# Runs the job, sends back /out as a tar archive over the virtio serial port named `out`, and
# switches the machine off. What must stay: the port's name, the archive's form (guest.rs,
# `unpack`), and that modules come in the order of their names (modules.rs). Nothing tries this file
# but guests that boot (crates/lab/tests/boot.rs).
cd /root
# Each comes after those that it needs; after a soft reboot all are there already.
for module in /lab/modules/*.ko; do
	name=${module##*/??-}
	[ ! -f "$module" ] || [ -d "/sys/module/${name%.ko}" ] || insmod "$module"
done
# Without the way back there is no use in the job. A port comes some time after its module.
find_port() {
	for port in /sys/class/virtio-ports/vport*; do
		[ "$(cat "$port/name" 2>/dev/null)" = out ] && return 0
	done
	return 1
}
tries=0
until find_port; do
	tries=$((tries + 1))
	[ $tries -le 50 ] || {
		lacks="CONFIG_VIRTIO_PCI and CONFIG_VIRTIO_CONSOLE"
		echo "lab: the kernel lacks $lacks, built in or by --modules"
		busybox reboot -f
	}
	sleep 0.1
done
echo "lab: guest is up, $(cut -d ' ' -f 1 /proc/uptime) s"
sh /lab/run.sh
echo "lab: job is done, $(cut -d ' ' -f 1 /proc/uptime) s"
tar -C /out -cf "/dev/${port##*/}" .
echo "lab: results are out"
sync
busybox poweroff -f
