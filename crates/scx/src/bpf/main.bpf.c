/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scx_wakeplace, the kernel side: every callback of sched_ext turns kernel facts into the core's
 * structs, calls the core, and carries out what it answers. No placement rule is here.
 *
 *   place.bpf.h    a task wakes, is forked, execs: where to
 *   queue.bpf.h    queues in the order of virtual deadlines; running, stopping, the tick
 *   pull.bpf.h     pulling and pushing, by the core's decisions
 *   task.bpf.h     tasks come, change, go; they arrive in a queue and depart from it
 *   slice.bpf.h    the timers that end slices; idle_timer.bpf.h the one for idle CPUs
 *   cgroup.bpf.h   control groups come, change and go; quota.bpf.h: tasks wait for their quota
 *   machine.bpf.h  idle, hotplug, that timer's turns, start and end
 *
 * Kernel: struct sched_ext_ops, kernel/sched/ext.c
 * Rule: docs/decisions/011
 * Tests: crates/scx/tests/parity, xtask/src/live/tests.rs
 */
#include "kernel.h"
#include "compat.h"

#define WP_LIVE
#include "policy.c"
#include "live.h"
#include "state.bpf.h"
#include "cgroup.bpf.h"

char _license[] SEC("license") = "GPL";

#include "task.bpf.h"
#include "place.bpf.h"
#include "pull.bpf.h"
#include "slice.bpf.h"
#include "quota.bpf.h"
#include "idle_timer.bpf.h"
#include "queue.bpf.h"
#include "machine.bpf.h"

SEC(".struct_ops.link")
struct sched_ext_ops wakeplace_ops = {
	.select_cpu = (void *)wakeplace_select_cpu,
	.enqueue = (void *)wakeplace_enqueue,
	.dispatch = (void *)wakeplace_dispatch,
	.tick = (void *)wakeplace_tick,
	.yield = (void *)wakeplace_yield,
	.running = (void *)wakeplace_running,
	.stopping = (void *)wakeplace_stopping,
	.set_weight = (void *)wakeplace_set_weight,
	.set_cpumask = (void *)wakeplace_set_cpumask,
	.update_idle = (void *)wakeplace_update_idle,
	.init_task = (void *)wakeplace_init_task,
	.enable = (void *)wakeplace_enable,
	.disable = (void *)wakeplace_disable,
	.cpu_release = (void *)wakeplace_cpu_release,
	.cpu_online = (void *)wakeplace_cpu_online,
	.cpu_offline = (void *)wakeplace_cpu_offline,
	.cgroup_init = (void *)wakeplace_cgroup_init,
	.cgroup_exit = (void *)wakeplace_cgroup_exit,
	.cgroup_move = (void *)wakeplace_cgroup_move,
	.cgroup_set_weight = (void *)wakeplace_cgroup_set_weight,
	.cgroup_set_bandwidth = (void *)wakeplace_cgroup_set_bandwidth,
	.cgroup_set_idle = (void *)wakeplace_cgroup_set_idle,
	.init = (void *)wakeplace_init,
	.exit = (void *)wakeplace_exit,
	.flags = SCX_OPS_KEEP_BUILTIN_IDLE | SCX_OPS_ENQ_LAST,
	.timeout_ms = 30000,
	.name = "wakeplace",
};
