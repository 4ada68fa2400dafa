/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The live scheduler's memory: the core's one context, the record of each task, scratch space of
 * decisions, counters.
 *
 * What must stay: layouts that the loader maps (live.h), and one writer for each CPU's counters.
 *
 * Tests by part: guest.sh hotplug-storm (wake_leaving: tests.rs judges how long a CPU takes to go),
 * long-wait (waited_ns), hints.sh (request_freq, carry_out_freq); parity/glue.rs `kicks` (kick),
 * `leaving` (wake_leaving) and `frequency` (carry_out_freq).
 * live_of, scratch, stats_of, wish_of, cpu_of, dsq_of, nr_queued, nr_waiting and fresh_cpu are used
 * by every step.
 *
 * Rule: docs/decisions/011
 * Tests: crates/scx/tests/parity
 * Covers: parity compares struct wp_ctx, byte for byte, with the native one; guests run with the
 *         rest.
 */
#ifndef SCX_WAKEPLACE_STATE_H
#define SCX_WAKEPLACE_STATE_H

/* Filled by the loader before the scheduler is attached, and by the core from then on. */
struct wp_ctx ctx;
/* Control groups, by the numbers that cgroup_init gives them. */
struct wp_live_groups cgroups;
struct cpu_stats stats[WP_MAX_CPUS];
struct cpu_wish wish[WP_MAX_CPUS];
struct exit_record exit_info;
/* What `apply_params` is to put into force. */
struct wp_params next_params;
/* A CPU came or went: the loader rebuilds the domains. */
u64 hotplug_count;
u64 hotplug_ns; /* the last time */
u32 leaving;    /* the CPU that went last, and one more; 0: one has come since */
/* Tasks of programs that have one CPU: while there are some, the loader attaches
 * wakeplace_wake_up. */
u32 bound_tasks;
/* The kernel preempts lazily; the loader knows. */
u32 lazy_preemption;

struct task_live {
	struct wp_task wp;
	u64 runnable_ns; /* when it became runnable, 0: it ran since */
	u32 go_to;       /* an exec chose this CPU; WP_NONE: none */
	u32 known;       /* enabled on this scheduler */
	u32 forked;      /* has not run yet */
	u32 was_running; /* it was put aside while runnable, and has not been queued since */
	u32 carried;     /* enum carried */
	u32 asleep;      /* it has slept, and not been queued since */
	u32 bound;       /* bound_tasks counts it */
	u32 clamped;     /* its hints were read when its CPU was chosen */
	struct wp_live_member member;
	u64 parked_ns;   /* since when it has waited for its group's quota */
	u64 user_ns;     /* time in user space, by the kernel's ticks */
	u64 accounted_ns; /* counters and its groups' quotas know of its run until then */
};

/*
 * A pull by the periodic balance puts tasks into the taker's queue, which leaves them on the
 * source's run queue until they run: its lock, under which they may be dequeued, is not the
 * taker's. Who changes `carried` first says where a task is counted.
 */
enum carried {
	CARRIED_NOT,
	CARRIED_MOVING,   /* it may have left its queue; it is counted where it was */
	CARRIED_COUNTING, /* it has, and is being counted on the taker */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_live);
} tasks SEC(".maps");

/*
 * Too big for the stack. One per CPU for callbacks, which run with interrupts off and do not nest,
 * and one for execs, which a callback may interrupt.
 */
enum { SCRATCH_CALLBACK, SCRATCH_EXEC, SCRATCH_COUNT };

struct scratch {
	struct wp_request request;
	struct wp_decision decision;
	struct wp_lb_env balance;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_COUNT);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* What is kept of a task; null: it is not of our class yet. */
static __always_inline struct task_live *live_of(struct task_struct *p)
{
	return bpf_task_storage_get(&tasks, p, 0, 0);
}

/* Room of this CPU for one callback or program. */
static __always_inline struct scratch *scratch(u32 which)
{
	return bpf_map_lookup_elem(&scratches, &which);
}

/* Counters of a CPU, which the loader reads. */
static __always_inline struct cpu_stats *stats_of(u32 cpu)
{
	return WP_AT(stats, cpu);
}

/* What others have asked of a CPU. */
static __always_inline struct cpu_wish *wish_of(u32 cpu)
{
	return WP_AT(wish, cpu);
}

/* What scx_bpf_task_cpu returns, without the call where the kernel has it in the task. */
static __always_inline u32 cpu_of(const struct task_struct *p)
{
	if (bpf_core_field_exists(p->thread_info.cpu))
		return p->thread_info.cpu;
	return (u32)scx_bpf_task_cpu(p);
}

/* The queue of a CPU has the CPU's number. */
static __always_inline u64 dsq_of(u32 cpu)
{
	return cpu;
}

/* Tasks in a queue; one that there is not has none. */
static __always_inline u32 nr_queued(u64 dsq)
{
	s32 queued = scx_bpf_dsq_nr_queued(dsq);

	return queued > 0 ? (u32)queued : 0; /* below 0: there is no such queue */
}

/* How many wait on a CPU, for its turn or, where they have been sent here, ahead of it. */
static __always_inline u32 nr_waiting(u32 cpu)
{
	u32 waiting = nr_queued(dsq_of(cpu));

	return waiting ? waiting : nr_queued(SCX_DSQ_LOCAL_ON | cpu);
}

/* The CPU's clock rate enters every signal; the kernel knows it, the core is told. */
static __always_inline struct wp_cpu *fresh_cpu(u32 cpu)
{
	struct wp_cpu *c = WP_AT(ctx.cpus, cpu);
	const unsigned long *scale = bpf_per_cpu_ptr(&arch_freq_scale, cpu);

	if (scale)
		c->load.freq_scale = (u32)*scale;
	return c;
}

/*
 * Asks a CPU to pass through the kernel. Not from a CPU on its way out: the kernel hands the
 * request to this CPU's own interrupt work, which nobody does after its last interrupt. It would
 * stay there when the CPU comes back, and stop all later work of its kind, the kernel's own too.
 */
static __always_inline void kick(u32 cpu, u64 flags)
{
	if (WP_AT(ctx.cpus, bpf_get_smp_processor_id())->queue.online)
		scx_bpf_kick_cpu((s32)cpu, flags);
}

/* So long after a CPU came or went, or still had tasks, more is looked at: chosen by us. */
#define HOTPLUG_ALERT_NS 1000000000ull

/*
 * A task begins to run. A CPU on its way out waits for its last task to leave, and looks only when
 * it schedules: those whom it waits for are taken by others, unheard, so that it must be woken.
 */
static __always_inline void wake_leaving(u64 now)
{
	const struct rq *rq;
	u32 gone = leaving;

	if (!gone || now >= hotplug_ns + HOTPLUG_ALERT_NS)
		return;
	rq = bpf_per_cpu_ptr(&runqueues, gone - 1);
	if (rq && rq->nr_running) /* some wait for their turn elsewhere, which may take long */
		hotplug_ns = now;
	kick(gone - 1, 0);
}

/* So long the kernel has seen the task wait: what its watchdog counts. */
static __always_inline u64 waited_ns(const struct task_struct *p)
{
	return (bpf_jiffies64() - p->scx.runnable_at) * ctx.tick_ns;
}

/* Hand the core's frequency request of a CPU to the governor. */
static __always_inline void request_freq(u32 cpu)
{
	wish_of(cpu)->freq = 0;
	scx_bpf_cpuperf_set(cpu, wp_cpu_perf_request(&ctx, cpu));
}

/* kernel/sched/sched.h: a run queue's clock is good to read from this flag on. */
#define RQCF_ACT_SKIP 2

/*
 * For callbacks under the lock of this CPU's run queue. The request makes the kernel read that run
 * queue's clock. A pick may have given the lock away and taken it again; nobody has updated the
 * clock since, and the kernel would print a warning (assert_clock_updated; seen once on 7.3.4, as a
 * thread of schedutil left a CPU; of lavd: github.com/sched-ext/scx/issues/3687). Then the request
 * waits for the next one, for the tick or for the timer of idle CPUs: at most 64 ms
 * (WP_REST_PERIOD_NS), where all CPUs idle.
 */
static __always_inline void carry_out_freq(u32 cpu, int did)
{
	const struct rq *rq;

	if (!(did & WP_DID_FREQ))
		return;
	rq = bpf_per_cpu_ptr(&runqueues, cpu);
	if (rq && rq->clock_update_flags < RQCF_ACT_SKIP)
		wish_of(cpu)->freq = 1;
	else
		request_freq(cpu);
}

#endif
