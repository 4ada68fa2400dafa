/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The least that a scheduler costs which has parts of scx_wakeplace: what no glue around the core
 * can save. PARTS says how many:
 *
 *   1   a queue per CPU in the order of virtual time, a record per task, idle CPUs claimed
 *   2   and load tracking: the signals of tasks and CPUs, frequency requests
 *   3   and EEVDF: virtual deadlines, lags, preemption at wake-ups
 *
 * Nothing else is there: no decision where a task goes (its previous CPU if that idles, or any that
 * does), no statistics, timers, pulls, pushes, control groups, execs, hotplug. The CPUs are equal.
 * All wake-ups count as synchronous. Not part of scx_wakeplace; cargo xtask live-floor measures it
 * (docs/results/live.md).
 */
#include "kernel.h"
#include "compat.h"

#define WP_LIVE
#include "policy.c"

char _license[] SEC("license") = "GPL";

#define MOST_CPUS 16u
#define SLICE_NS 3000000ull
#define SCX_OPS_ALLOW_QUEUED_WAKEUP (1ull << 5) /* from 6.15 on */

struct wp_ctx ctx;
u64 vtime[MOST_CPUS];

struct task_floor {
	struct wp_task wp;
	u64 vtime;
	u64 start_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_floor);
} tasks SEC(".maps");

extern s32 scx_bpf_pick_idle_cpu(const struct cpumask *allowed, u64 flags) __ksym;

static __always_inline struct task_floor *floor_of(struct task_struct *p)
{
	return bpf_task_storage_get(&tasks, p, 0, 0);
}

/* The task is in the queue of `cpu`, where it has not been before. */
static __always_inline void arrive(struct task_floor *t, u32 cpu, u64 now)
{
	if (PARTS < 2 || t->wp.on_rq)
		return;
	if (t->wp.cpu != cpu)
		wp_migrate_task_rq_fair(&ctx, &t->wp, cpu, now);
	if (wp_enqueue_task_fair(&ctx, &t->wp, cpu, now, WP_Q_WAKEUP) & WP_DID_FREQ)
		scx_bpf_cpuperf_set((s32)cpu, wp_cpu_perf_request(&ctx, cpu));
	WP_AT(ctx.cpus, cpu)->queue.pending = 0;
	WP_ADD(&WP_AT(ctx.cpus, cpu)->queue.nr_running, 1u);
}

/* Its previous CPU if that idles, or any. */
OPS(select_cpu) s32 floor_select_cpu(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	s32 prev = (s32)args[1], idle = prev;
	struct task_floor *t = floor_of(p);

	if (!t)
		return prev;
	if (!scx_bpf_test_and_clear_cpu_idle(prev))
		idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	if (idle < 0)
		return prev;
	if (PARTS >= 3)
		wp_live_queue_place(&ctx, &t->wp, (u32)idle, now_ns());
	dsq_insert(p, SCX_DSQ_LOCAL, SLICE_NS, 0);
	return idle;
}

/* By virtual time alone: nobody is owed more than a slice. */
static __always_inline void insert_by_vtime(struct task_struct *p, struct task_floor *t, u32 cpu,
					    u64 flags)
{
	u64 least = vtime[cpu % MOST_CPUS] - SLICE_NS;

	if ((s64)(t->vtime - least) < 0)
		t->vtime = least;
	dsq_insert_vtime(p, cpu, SLICE_NS, t->vtime, flags);
}

/* By deadline; at once if it preempts, or is the next anyway. */
static __always_inline void insert_by_deadline(struct task_struct *p, struct task_floor *t, u32 cpu,
					       u64 flags, u64 now)
{
	struct wp_queue_walk walk = { .now_ns = now, .cpu = cpu };

	t->wp.woken_sync = 1;
	wp_live_queue_place(&ctx, &t->wp, cpu, now);
	if (wp_preempt_begin(&ctx, &walk, &t->wp))
		dsq_insert(p, SCX_DSQ_LOCAL, SLICE_NS, flags | SCX_ENQ_PREEMPT);
	else if (wp_live_queue_is_next(&ctx, &t->wp, cpu,
				       WP_AT(ctx.cpus, cpu)->queue.nr_running - 2))
		dsq_insert(p, SCX_DSQ_LOCAL, SLICE_NS, flags);
	else
		dsq_insert_vtime(p, cpu, SLICE_NS, t->wp.deadline_ns, flags);
}

OPS(enqueue) void floor_enqueue(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct task_floor *t = floor_of(p);
	u32 cpu = p->thread_info.cpu;
	u64 now = now_ns();

	if (!t)
		return;
	arrive(t, cpu, now);
	if (PARTS >= 3)
		insert_by_deadline(p, t, cpu, args[1], now);
	else
		insert_by_vtime(p, t, cpu, args[1]);
}

OPS(dispatch) void floor_dispatch(u64 *args)
{
	dsq_move_to_local((u32)args[0]);
}

OPS(running) void floor_running(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct task_floor *t = floor_of(p);
	u32 cpu = p->thread_info.cpu;
	u64 now = now_ns();

	if (!t)
		return;
	arrive(t, cpu, now);
	if (PARTS >= 2 && wp_set_next_task_fair(&ctx, &t->wp, now) & WP_DID_FREQ)
		scx_bpf_cpuperf_set((s32)cpu, wp_cpu_perf_request(&ctx, cpu));
	if (PARTS >= 3)
		wp_live_queue_start(&ctx, &t->wp, cpu, now);
	else if ((s64)(vtime[cpu % MOST_CPUS] - t->vtime) < 0)
		vtime[cpu % MOST_CPUS] = t->vtime;
	t->start_ns = now;
}

OPS(stopping) void floor_stopping(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct task_floor *t = floor_of(p);
	u32 cpu = p->thread_info.cpu;
	u64 now = now_ns();
	int did = 0;

	if (!t)
		return;
	if (PARTS < 3)
		t->vtime += (now - t->start_ns) * WP_SCALE / (t->wp.weight ? t->wp.weight : 1);
	else if (args[1])
		wp_live_queue_stop(&ctx, &t->wp, now);
	else
		wp_live_queue_leave(&ctx, &t->wp, 1, now);
	if (PARTS < 2)
		return;
	if (args[1]) {
		did = wp_put_prev_task_fair(&ctx, &t->wp, now);
	} else if (t->wp.on_rq) {
		WP_ADD(&WP_AT(ctx.cpus, cpu)->queue.nr_running, 0 - 1u);
		did = wp_dequeue_task_fair(&ctx, &t->wp, now, WP_Q_SLEEP);
	}
	if (did & WP_DID_FREQ)
		scx_bpf_cpuperf_set((s32)cpu, wp_cpu_perf_request(&ctx, cpu));
}

#if PARTS >= 2
OPS(update_idle) void floor_update_idle(u64 *args)
{
	if (args[1])
		wp_enter_idle(&ctx, (u32)args[0], now_ns());
	else
		wp_exit_idle(&ctx, (u32)args[0], now_ns());
}
#endif

OPS_SLEEPABLE(init_task) s32 floor_init_task(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct task_floor *t = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	u32 cpu;

	if (!t)
		return -12; /* ENOMEM */
	t->wp.id = (u32)p->pid;
	t->wp.weight = wp_nice_weight(p->static_prio - DEFAULT_PRIO);
	t->wp.cpu = p->thread_info.cpu;
	bpf_rcu_read_lock();
	bpf_for(cpu, 0, MOST_CPUS)
		if (bpf_cpumask_test_cpu(cpu, p->cpus_ptr))
			t->wp.allowed[0] |= 1ull << cpu;
	bpf_rcu_read_unlock();
	wp_task_init(&ctx, &t->wp);
	return 0;
}

/* Equal CPUs of one cache. Parameters are 0 where that costs less. */
OPS_SLEEPABLE(init) s32 floor_init(u64 *args)
{
	u32 i;

	ctx.nr_cpus = 4;
	ctx.tick_ns = 4000000;
	ctx.max_capacity_orig = WP_SCALE;
	ctx.params.vq_slice_ns = SLICE_NS;
	ctx.params.vq_sync_run_ns = 2000000;
	bpf_for(i, 0, MOST_CPUS) {
		struct wp_cpu *c = WP_AT(ctx.cpus, i);
		s32 error = scx_bpf_create_dsq(i, -1);

		if (error)
			return error;
		c->load.capacity_orig = c->load.capacity = c->load.freq_scale = WP_SCALE;
		c->topo.perf_dom = WP_NONE;
		c->queue.online = i < ctx.nr_cpus;
	}
	return 0;
}

SEC(".struct_ops.link")
struct sched_ext_ops floor_ops = {
	.select_cpu = (void *)floor_select_cpu,
	.enqueue = (void *)floor_enqueue,
	.dispatch = (void *)floor_dispatch,
	.running = (void *)floor_running,
	.stopping = (void *)floor_stopping,
#if PARTS >= 2
	.update_idle = (void *)floor_update_idle,
#endif
	.init_task = (void *)floor_init_task,
	.init = (void *)floor_init,
	.flags = SCX_OPS_KEEP_BUILTIN_IDLE | SCX_OPS_ALLOW_QUEUED_WAKEUP,
	.timeout_ms = 30000,
	.name = "floor",
};
