/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks come, change and go; they become runnable and sleep.
 *
 * What must stay: what is counted for a task that comes is taken back as it goes; times and weights
 * in the core's units.
 *
 * Tests by part: guest.sh fork-storm (wakeplace_init_task, inherit_signals, note_class, arrive,
 * depart, unqueue, account_run, account_move), affinity-storm (wakeplace_set_cpumask, copy_mask,
 * count_bound, is_bound), group-storm.sh (wakeplace_cgroup_move), hints.sh (note_clamps), tests.rs
 * (wakeplace_enable, wakeplace_disable: start, end, killed loader). parity/glue.rs has `user_time`
 * (note_user_time), `carried` (end_carried), `weights` (wakeplace_set_weight, weight_of,
 * note_class, withdraw), `bound` (wakeplace_set_cpumask, copy_mask, count_bound, is_bound), `hints`
 * (note_clamps), `sleeps` (arrive, depart, unqueue, account_run), `taking` (account_move) and
 * `comes` (inherit_signals). The kernel calls what begins with wakeplace_.
 *
 * Kernel: ops init_task(), enable(), disable(), set_weight(), set_cpumask(), cgroup_move(),
 *         kernel/sched/ext.c
 * Rule: docs/rules/signals.md#new-task, docs/rules/live-queue.md#vq-lag
 * Tests: scripts/live/guest.sh, crates/scx/tests/parity
 * Covers: guest.sh fork-storm and affinity-storm: tasks come, change CPUs and go, none is lost;
 *         parity compares the core's functions that this file calls with the native build; its
 *         glue.rs runs some of this file on a kernel of one thread.
 * Untried: an attribute that changes while the task is being pulled.
 */
#ifndef SCX_WAKEPLACE_TASK_H
#define SCX_WAKEPLACE_TASK_H

/* Weight as the fair class has it; the weight that sched_ext computes has another scale. */
static __always_inline u32 weight_of(const struct task_struct *p)
{
	if (p->policy == SCHED_IDLE)
		return WP_WEIGHT_IDLE_POLICY;
	return wp_nice_weight(p->static_prio - DEFAULT_PRIO);
}

/* Weight and policy of a task that is not queued; what its group leaves it of that (weigh) is known
 * when it is. */
static __always_inline void note_class(struct task_live *t, const struct task_struct *p)
{
	t->wp.weight = t->member.own_weight = weight_of(p);
	t->wp.idle_policy = t->member.own_idle = p->policy == SCHED_IDLE;
}

/* The kernel's mask as the core has it, 64 CPUs a word. */
static __always_inline void copy_mask(struct wp_task *task, const struct cpumask *mask)
{
	u32 cpu;

	bpf_for(cpu, 0, WP_MASK_WORDS)
		*WP_AT(task->allowed, cpu) = 0;
	bpf_for(cpu, 0, ctx.nr_cpus < WP_MAX_CPUS ? ctx.nr_cpus : WP_MAX_CPUS)
		if (bpf_cpumask_test_cpu(cpu, mask))
			*WP_AT(task->allowed, cpu / 64) |= 1ull << (cpu % 64);
}

/* A task that is older than this scheduler: the fair class has measured it until now. */
static __always_inline void inherit_signals(struct wp_task *task, const struct task_struct *p)
{
	task->waker.wakee_flips = p->wakee_flips;
	task->waker.flip_decay_ns = now_ns(); /* the kernel's own stamp has another clock */
	task->avg.util_avg = wp_min((u32)p->se.avg.util_avg, WP_SCALE);
	task->avg.runnable_avg = wp_min((u32)p->se.avg.runnable_avg, WP_SCALE);
	if (bpf_core_field_exists(p->se.avg.util_est))
		task->util_est = wp_min(p->se.avg.util_est & ~WP_UTIL_EST_UNCHANGED, WP_SCALE);
}

/*
 * A task comes: its record, class, mask and, of a fork, what its parent remembers. An error refuses
 * it.
 */
OPS_SLEEPABLE(init_task) s32 wakeplace_init_task(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct task_live *t = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct scx_init_task_args *with = (struct scx_init_task_args *)args[1];
	struct task_live *parent;
	struct cgroup *cgrp;

	if (!t)
		return -12; /* ENOMEM */
	t->go_to = WP_NONE;
	t->wp.id = (u32)p->pid;
	note_class(t, p);
	t->wp.cpu = cpu_of(p);
	bpf_rcu_read_lock();
	copy_mask(&t->wp, p->cpus_ptr);
	if (bpf_core_field_exists(with->cgroup)) {
		cgrp = with->cgroup;
		if (cgrp)
			t->member.group = group_of(cgrp);
	}
	bpf_rcu_read_unlock();
	wp_task_init(&ctx, &t->wp);
	t->forked = with->fork;
	if (t->forked) {
		parent = live_of(bpf_get_current_task_btf());
		if (parent)
			wp_task_fork(&t->wp, &parent->wp.waker);
	} else
		inherit_signals(&t->wp, p);
	return 0;
}

/* Kernel threads that are bound do not count: there are always some. */
static __always_inline void count_bound(struct task_live *t, u32 bound)
{
	if (t->bound == bound)
		return;
	t->bound = bound;
	WP_ADD(&bound_tasks, bound ? 1u : 0 - 1u);
}

/* It may run on one CPU alone, and is of a program. */
static __always_inline u32 is_bound(const struct task_live *t, const struct task_struct *p)
{
	return t->wp.nr_allowed == 1 && !(p->flags & PF_KTHREAD);
}

/* How long it has been in user space, by the kernel's ticks, but for virtual machines. True: it was
 * there at the tick that has just come. */
static __always_inline bool note_user_time(struct task_live *t, const struct task_struct *p)
{
	u64 user = p->utime - p->gtime, had = t->user_ns;

	t->user_ns = user;
	/* where the kernel counts at each change of mode a tick says nothing (nohz_full) */
	if (bpf_core_field_exists(p->vtime) && p->vtime.state != VTIME_INACTIVE)
		return false;
	return user != had;
}

/* It is in our class from now on. */
OPS(enable) void wakeplace_enable(u64 *args)
{
	struct task_live *t = live_of(ARG_TASK(args, 0));

	if (!t)
		return;
	note_class(t, ARG_TASK(args, 0));
	count_bound(t, is_bound(t, ARG_TASK(args, 0)));
	note_user_time(t, ARG_TASK(args, 0));
	t->known = 1;
}

/* It is dequeued while another CPU pulls it: not to be counted there any more, or that is waited
 * for, some hundred instructions. */
static __always_inline void end_carried(struct task_live *t)
{
	u32 turn;

	if (!t->carried || WP_CAS(&t->carried, CARRIED_MOVING, CARRIED_NOT) == CARRIED_MOVING)
		return;
	bpf_for(turn, 0, 1 << 20)
		if (*(volatile u32 *)&t->carried == CARRIED_NOT)
			break;
}

/*
 * The kernel has dequeued a task that waited, to change it; nothing tells of that. It is counted no
 * more: not with this CPU's lock, since another CPU may have taken it into its own queue.
 */
static __always_inline void withdraw(struct task_live *t)
{
	end_carried(t);
	leave_group(t);
	if (!t->wp.on_rq)
		return;
	wp_live_queue_leave(&ctx, &t->wp, 0, now_ns());
	WP_ADD(&WP_AT(ctx.cpus, t->wp.cpu)->queue.nr_running, 0 - 1u);
	wp_migrate_pulled(&ctx, &t->wp, t->wp.cpu);
}

/* It leaves our class, or exits: nothing of it stays behind. */
OPS(disable) void wakeplace_disable(u64 *args)
{
	struct task_live *t = live_of(ARG_TASK(args, 0));

	if (!t)
		return;
	withdraw(t);
	wp_live_queue_leave(&ctx, &t->wp, 0, now_ns());
	wp_task_dead_fair(&ctx, &t->wp);
	count_bound(t, 0);
	t->asleep = 0;
	t->known = 0;
	/* what is known of its last turn here says nothing of the next */
	t->runnable_ns = 0;
	t->was_running = 0;
	t->go_to = WP_NONE;
	t->member.outside = 0;
	t->member.turn_ns = 0;
}

/* Its nice value or policy changed; a task that waited is queued again afterwards. */
OPS(set_weight) void wakeplace_set_weight(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct task_live *t = live_of(p);

	if (!t)
		return;
	withdraw(t);
	t->member.own_weight = weight_of(p);
	t->wp.idle_policy = t->member.own_idle = p->policy == SCHED_IDLE;
	wp_reweight_task(&ctx, &t->wp, t->member.own_weight, now_ns());
}

/* The task, which is queued again afterwards, is in another group. */
OPS(cgroup_move) void wakeplace_cgroup_move(u64 *args)
{
	struct task_live *t = live_of(ARG_TASK(args, 0));

	if (!t)
		return;
	withdraw(t);
	t->member.group = group_of((struct cgroup *)args[2]);
}

/* Its CPUs changed. The kernel moves it itself if it must. */
OPS(set_cpumask) void wakeplace_set_cpumask(u64 *args)
{
	struct task_live *t = live_of(ARG_TASK(args, 0));

	if (!t)
		return;
	copy_mask(&t->wp, (const struct cpumask *)args[1]);
	wp_set_cpus_allowed(&ctx, &t->wp);
	if (t->known)
		count_bound(t, is_bound(t, ARG_TASK(args, 0)));
}

/* The task is on another CPU than the core has it: it was placed while asleep, or pulled. */
static __always_inline void account_move(struct task_live *t, u32 cpu, u64 now)
{
	struct wp_task *task = &t->wp;

	if (task->cpu == cpu)
		return;
	if (!task->on_rq) {
		wp_migrate_task_rq_fair(&ctx, task, cpu, now);
		return;
	}
	WP_ADD(&WP_AT(ctx.cpus, task->cpu)->queue.nr_running, 0 - 1u);
	wp_migrate_pulled(&ctx, task, cpu);
	carry_out_freq(cpu, wp_enqueue_task_fair(&ctx, task, cpu, now, 0));
	WP_ADD(&WP_AT(ctx.cpus, cpu)->queue.nr_running, 1u);
}

/* The user's performance hints, for the task and for its group: sched_ext has no callback for a
 * change of them. */
static __always_inline void note_clamps(struct task_live *t, const struct task_struct *p)
{
	const struct uclamp_se *lower, *upper;
	struct wp_task *task = &t->wp;
	u32 min, max, least, most;

	if (!ctx.params.uclamp || !bpf_core_field_exists(p->uclamp_req))
		return;
	lower = &p->uclamp_req[WP_UCLAMP_MIN];
	upper = &p->uclamp_req[WP_UCLAMP_MAX];
	min = (u32)BPF_CORE_READ_BITFIELD(lower, value);
	max = (u32)BPF_CORE_READ_BITFIELD(upper, value);
	if (t->member.group && bpf_core_field_exists(struct task_group, uclamp)) {
		lower = &p->sched_task_group->uclamp[WP_UCLAMP_MIN];
		upper = &p->sched_task_group->uclamp[WP_UCLAMP_MAX];
		least = (u32)BPF_CORE_READ_BITFIELD(lower, value);
		most = (u32)BPF_CORE_READ_BITFIELD(upper, value);
		min = wp_uclamp_tg_restrict(min, least, most);
		max = wp_uclamp_tg_restrict(max, least, most);
	}
	if (min != task->uclamp_min || max != task->uclamp_max)
		wp_task_set_uclamp(&ctx, task, min, max);
}

/*
 * The task has run until now. At ticks, too: a task that nobody displaces stops once in hours, its
 * CPU's clock changes meanwhile, and a quota counts from the moment it is set.
 */
static __always_inline void account_run(struct task_live *t, u32 cpu, u64 now)
{
	struct cpu_stats *st = stats_of(cpu);
	u64 ran = wp_sub(now, t->accounted_ns);

	t->accounted_ns = now;
	st->run_ns += ran;
	if (WP_AT(ctx.cpus, cpu)->topo.perf_dom != WP_NONE)
		st->energy_nj += wp_run_energy_nj(&ctx, cpu, ran);
	charge(t, ran, now);
}

/*
 * The task is in the queue of `cpu`: it has woken, is new, has been dequeued for a change, or was
 * moved by the kernel. Asked where it is first seen: in enqueue; in running where the kernel leaves
 * that out, for a CPU that select_cpu has claimed and for a task on its way out. Its signals are
 * brought up to date there, once. Returns what is to be carried out (carry_out_freq).
 */
static __always_inline int arrive(struct task_struct *p, struct task_live *t, u32 cpu, u64 now)
{
	struct wp_cpu *c = WP_AT(ctx.cpus, cpu);
	u32 flags = t->asleep ? WP_Q_WAKEUP : 0;

	if (t->carried)
		end_carried(t);
	if (t->wp.on_rq || t->wp.cpu != cpu)
		account_move(t, cpu, now);
	if (t->wp.on_rq)
		return 0;
	if (t->forked) {
		wp_task_new(&ctx, &t->wp, cpu, now);
		flags = WP_Q_NEW;
		t->forked = 0;
	}
	if (!t->clamped)
		note_clamps(t, p);
	t->clamped = 0;
	weigh(t, now);
	if (flags && !t->runnable_ns)
		t->runnable_ns = now;
	if (t->asleep)
		wp_woken(&ctx, cpu, now);
	t->asleep = 0;
	c->queue.pending = 0;
	WP_ADD(&c->queue.nr_running, 1u);
	return wp_enqueue_task_fair(&ctx, &t->wp, cpu, now, flags);
}

/* It leaves the queue. `flags`: of wp_dequeue_task_fair; `back`: it sleeps, and comes back. */
static __always_inline void unqueue(struct task_live *t, u32 cpu, u64 now, u32 flags, bool back)
{
	wp_live_queue_leave(&ctx, &t->wp, back, now);
	leave_group(t);
	WP_ADD(&WP_AT(ctx.cpus, cpu)->queue.nr_running, 0 - 1u);
	carry_out_freq(cpu, wp_dequeue_task_fair(&ctx, &t->wp, now, flags));
}

/*
 * The running task leaves the queue: it falls asleep, or is about to be changed. The kernel says
 * which to quiescent alone; a task that sleeps has said so in its state before.
 */
static __always_inline void depart(struct task_struct *p, struct task_live *t, u32 cpu, u64 now)
{
	u32 state = p->__state;

	if (state)
		t->go_to = WP_NONE; /* where it goes is decided anew when it wakes */
	/* the dead do not come back: no queue keeps them */
	unqueue(t, cpu, now, state ? WP_Q_SLEEP : 0, state && !(state & TASK_DEAD));
	if (!state)
		return;
	t->member.turn_ns = 0; /* a turn without quota is for one run */
	t->asleep = 1;
	(*WP_AT(stats_of(cpu)->duration, wp_time_bucket(t->wp.dur_avg_ns)))++;
}

#endif
