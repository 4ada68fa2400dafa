#!/bin/busybox sh
# The first process of a guest: mounts what programs expect, then becomes what /lab/job names: the
# lab's own work, or systemd, which has that work as a service.
# Programs from packages are there already; those stay.
# What must stay: "lab: the kernel lacks CONFIG_NAME", which console.rs reads. Nothing tries this
# file but guests that boot (crates/lab/tests/boot.rs).
/bin/busybox --install -s /bin 2>/dev/null
export PATH=/bin:/sbin HOME=/root
# The host reads this of the console.
lacks() {
	echo "lab: the kernel lacks CONFIG_$1"
	busybox reboot -f
}
mount -t proc proc /proc || lacks PROC_FS
mount -t sysfs sysfs /sys || lacks SYSFS
mount -t devtmpfs devtmpfs /dev || lacks DEVTMPFS
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /tmp
mount -t debugfs debugfs /sys/kernel/debug
[ -d /sys/kernel/tracing ] && mount -t tracefs tracefs /sys/kernel/tracing
[ -d /sys/fs/bpf ] && mount -t bpf bpf /sys/fs/bpf
[ -d /sys/fs/cgroup ] && mount -t cgroup2 cgroup2 /sys/fs/cgroup
ulimit -n 65536
ip link set lo up
. /lab/job
# A machine without an identity is one at its first boot to systemd, which then asks questions.
[ "$LAB_FIRST" = /lab/work.sh ] || tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id
exec "$LAB_FIRST"
