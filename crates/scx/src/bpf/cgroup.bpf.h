/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Control groups (cgroup v2, or the cpu controller of v1): they come, change and go, and tasks move
 * between them. The core has a number for each; the kernel keeps it with the group. Groups without
 * the cpu controller are unknown to sched_ext: their tasks are in the group around them.
 *
 *   cgroup_set_bandwidth   from 6.17
 *   cgroup_set_idle        from 7.0; before, a program at the kernel's function that sets it
 *
 * The loader leaves out what the kernel does not call.
 *
 * What must stay: numbers of groups are the core's, kept with the kernel's group; the loader knows
 * these callbacks by name (crates/scx/src/live.rs).
 *
 * Tests by part: shares.sh (weights and nesting: wakeplace_cgroup_init,
 * wakeplace_cgroup_set_weight, group_of, own_group_of, weigh, charge, leave_group; cpu.max:
 * wakeplace_cgroup_set_bandwidth, quota_wait_ns), guest.sh long-wait (is_idle,
 * wakeplace_cgroup_set_idle, before 7.0 wakeplace_group_idle), group-storm.sh
 * (wakeplace_cgroup_exit), parity/glue.rs `groups` (wakeplace_cgroup_init, group_of, own_group_of,
 * is_idle). The kernel calls what begins with wakeplace_; task.bpf.h and queue.bpf.h
 * call the rest.
 *
 * Kernel: ops cgroup_init(), cgroup_exit(), cgroup_set_weight(), cgroup_set_bandwidth(),
 *         cgroup_set_idle(), kernel/sched/ext.c; sched_group_set_idle(), kernel/sched/fair.c
 * Rule: docs/rules/live-queue.md#vq-groups, #vq-quota
 * Tests: scripts/live/shares.sh, scripts/live/hints.sh, scripts/live/group-storm.sh
 * Covers: shares.sh: what groups get by weight, nesting and cpu.max, beside the kernel's own class;
 *         hints.sh: what cpu.uclamp changes; group-storm.sh: groups that come and go under load;
 *         guest.sh long-wait: a SCHED_IDLE group.
 */
#ifndef SCX_WAKEPLACE_CGROUP_H
#define SCX_WAKEPLACE_CGROUP_H

struct cgroup_number {
	u32 group;
	u32 own; /* 0: it counts as the group around it */
};

struct {
	__uint(type, BPF_MAP_TYPE_CGRP_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct cgroup_number);
} cgroup_numbers SEC(".maps");

/* The core's number of a group; 0: the root, or a group that is not known. */
static __always_inline u32 group_of(struct cgroup *cgrp)
{
	struct cgroup_number *number = bpf_cgrp_storage_get(&cgroup_numbers, cgrp, 0, 0);

	return number ? number->group : 0;
}

/* The number of the group itself; 0: it has none. */
static __always_inline u32 own_group_of(struct cgroup *cgrp)
{
	struct cgroup_number *number = bpf_cgrp_storage_get(&cgroup_numbers, cgrp, 0, 0);

	return number && number->own ? number->group : 0;
}

/* cpu.idle of a group that is older than this scheduler; the kernel links a new one later. */
static __always_inline u32 is_idle(const struct cgroup *cgrp)
{
	u32 cpu = bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id);
	const void *css = 0, *link;
	int idle = 0;

	link = (const void *)cgrp + bpf_core_field_offset(struct cgroup, subsys) +
	       cpu * sizeof(void *);
	if (!bpf_core_field_exists(struct task_group, idle) ||
	    bpf_probe_read_kernel(&css, sizeof(css), link) || !css)
		return 0;
	css -= bpf_core_field_offset(struct task_group, css);
	css += bpf_core_field_offset(struct task_group, idle);
	return !bpf_probe_read_kernel(&idle, sizeof(idle), css) && idle > 0;
}

/* A group comes: its number, weight, idle flag and quota. An error refuses the group. */
OPS_SLEEPABLE(cgroup_init) s32 wakeplace_cgroup_init(u64 *args)
{
	struct cgroup *cgrp = (struct cgroup *)args[0], *parent;
	struct scx_cgroup_init_args *with = (struct scx_cgroup_init_args *)args[1];
	struct cgroup_number *number;
	u32 around = 0;

	if (!cgrp->level)
		return 0; /* the root: number 0 */
	number = bpf_cgrp_storage_get(&cgroup_numbers, cgrp, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!number)
		return -12; /* ENOMEM */
	parent = bpf_cgroup_ancestor(cgrp, cgrp->level - 1);
	if (parent) {
		around = group_of(parent);
		bpf_cgroup_release(parent);
	}
	number->group = wp_live_group_new(&cgroups, around);
	number->own = number->group != around;
	if (!number->own)
		return 0;
	wp_live_group_set_weight(&cgroups, number->group, with->weight);
	wp_live_group_set_idle(&cgroups, number->group, is_idle(cgrp));
	if (bpf_core_field_exists(with->bw_quota_us))
		wp_live_group_set_quota(&cgroups, number->group, with->bw_period_us,
					with->bw_quota_us, with->bw_burst_us);
	return 0;
}

/* A group goes, when nothing is in it. */
OPS_SLEEPABLE(cgroup_exit) void wakeplace_cgroup_exit(u64 *args)
{
	wp_live_group_free(&cgroups, own_group_of((struct cgroup *)args[0]));
}

/* cpu.weight, 1 to 10000. */
OPS(cgroup_set_weight) void wakeplace_cgroup_set_weight(u64 *args)
{
	wp_live_group_set_weight(&cgroups, own_group_of((struct cgroup *)args[0]), (u32)args[1]);
}

/* cpu.idle, from 7.0 on. */
OPS(cgroup_set_idle) void wakeplace_cgroup_set_idle(u64 *args)
{
	wp_live_group_set_idle(&cgroups, own_group_of((struct cgroup *)args[0]), args[1] & 1);
}

/* cpu.idle before 7.0: beside the kernel's own function. */
SEC("fentry/sched_group_set_idle") int wakeplace_group_idle(u64 *args)
{
	struct cgroup *cgrp = ((struct task_group *)args[0])->css.cgroup;

	if (cgrp && args[1] <= 1) /* the kernel refuses others */
		wp_live_group_set_idle(&cgroups, own_group_of(cgrp), (u32)args[1]);
	return 0;
}

/* cpu.max and cpu.max.burst, us; the quota may be without limit. */
OPS(cgroup_set_bandwidth) void wakeplace_cgroup_set_bandwidth(u64 *args)
{
	wp_live_group_set_quota(&cgroups, own_group_of((struct cgroup *)args[0]), args[1], args[2],
				args[3]);
}

/* The task is runnable no more: its group counts it no longer. */
static __always_inline void leave_group(struct task_live *t)
{
	if (t->member.counted)
		wp_live_member_leave(&cgroups, &t->member);
}

/* What the task weighs may have changed with the groups around it. True: it has. Without a group
 * that weighs more or less than others, nothing is asked. */
static __always_inline bool weigh(struct task_live *t, u64 now)
{
	return (cgroups.uneven | t->member.weighed) &&
	       wp_live_member_weigh(&ctx, &cgroups, &t->member, &t->wp, now);
}

/* The running task's groups have used so much more of their quotas. */
static __always_inline void charge(struct task_live *t, u64 ran, u64 now)
{
	if (cgroups.limited && t->member.group)
		wp_live_member_ran(&cgroups, &t->member, ran, now);
}

/* May a quota hold the task back? Threads of the kernel and tasks on their way out never return to
 * user space: they run on, as in the fair class (task_throttle_setup_work()). So does one that has
 * a lock with priority inheritance for which somebody waits. pi_top_task would not say so of who
 * was handed the lock: the kernel sets it when the next one comes to wait. */
static __always_inline bool has_quota(const struct task_struct *p, const struct task_live *t)
{
	if (!cgroups.limited || !t->member.group || (p->flags & (PF_KTHREAD | PF_EXITING)))
		return false;
	return !bpf_core_field_exists(p->pi_waiters) || !p->pi_waiters.rb_leftmost;
}

/* So long the task has to wait for the quota of a group around it, ns. */
static __always_inline u64 quota_wait_ns(const struct task_struct *p, const struct task_live *t,
					 u64 now)
{
	return has_quota(p, t) ? wp_live_member_wait_ns(&cgroups, &t->member, now) : 0;
}

#endif
