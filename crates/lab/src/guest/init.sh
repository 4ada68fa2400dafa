#!/bin/busybox sh
# The first process of a guest: mounts what programs expect, runs the job, sends back /out as a tar
# archive over the virtio serial port named `out`, and switches the machine off.
/bin/busybox --install -s /bin
export PATH=/bin:/sbin HOME=/root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
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
cd /root
echo "lab: guest is up, $(cut -d ' ' -f 1 /proc/uptime) s"
sh /lab/run.sh
echo "lab: job is done, $(cut -d ' ' -f 1 /proc/uptime) s"
for port in /sys/class/virtio-ports/vport*; do
	[ "$(cat "$port/name")" = out ] || continue
	tar -C /out -cf "/dev/${port##*/}" .
	echo "lab: results are out"
done
sync
poweroff -f
