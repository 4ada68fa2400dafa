/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pulling tasks: the core says from where, which and how many; this file moves them. Always on the
 * CPU that takes, in its dispatch, with its queue locked. A CPU out of work takes one task, to run
 * at once: on its own run queue, so that nobody else touches its record. Others take several, which
 * wait in the queue's order and may be pulled again (enum carried).
 *
 * What must stay: the dialogue's order (crates/engine/src/kernel/model/balance.rs has the same),
 * and that a task is moved under its taker's lock.
 *
 * Tests by part: guest.sh displaced (newidle_balance, take_to_run), hackbench and load-generator
 * (periodic_balance, balance_level, offer_tasks, take_to_wait, count_pulled). parity/glue.rs has
 * `carried` (take_to_wait), `taking` (take_to_run, count_pulled) and `asking` (ask_push).
 * queue.bpf.h calls newidle_balance and periodic_balance.
 *
 * Kernel: ops dispatch(), kernel/sched/ext.c
 * Rule: docs/rules/balancing.md
 * Tests: scripts/live/guest.sh, crates/scx/tests/parity
 * Covers: guest.sh under load: no task is lost or waits 30 s while CPUs pull, and displaced: a
 *         waiting task is pulled by an idle CPU; parity compares the core's functions that this
 *         file calls with the native build; its glue.rs runs some of this file on a kernel of one
 *         thread.
 * Untried: a task that leaves while another CPU counts it (enum carried) is met by chance alone, in
 *          storms.
 */
#ifndef SCX_WAKEPLACE_PULL_H
#define SCX_WAKEPLACE_PULL_H

/* Rounds of one level: the core may ask for another source or destination. */
#define PULL_ROUNDS 8

/* The task is this CPU's from now on, with a place in its virtual time. */
static __always_inline void count_pulled(struct task_live *t, u32 cpu, u64 now)
{
	account_move(t, cpu, now);
	wp_live_queue_place(&ctx, &t->wp, cpu, now);
	stats_of(cpu)->pulled++;
}

/* To run at once. False: it ran or left meanwhile. */
static __always_inline bool take_to_run(struct bpf_iter_scx_dsq *it, struct task_struct *p,
					struct task_live *t, u32 cpu, u64 now)
{
	if (!scx_bpf_dsq_move(it, p, SCX_DSQ_LOCAL, 0))
		return false;
	count_pulled(t, cpu, now);
	return true;
}

/* To wait in the order of the queue; it is counted there, unless it leaves meanwhile. */
static __always_inline bool take_to_wait(struct bpf_iter_scx_dsq *it, struct task_struct *p,
					 struct task_live *t, u32 cpu, u64 now)
{
	bool moved;

	if (WP_CAS(&t->carried, CARRIED_NOT, CARRIED_MOVING) != CARRIED_NOT)
		return false;
	scx_bpf_dsq_move_set_vtime(it, wp_live_queue_deadline_on(&ctx, &t->wp, cpu, now));
	moved = scx_bpf_dsq_move_vtime(it, p, dsq_of(cpu), 0);
	if (!moved) {
		WP_CAS(&t->carried, CARRIED_MOVING, CARRIED_NOT);
	} else if (WP_CAS(&t->carried, CARRIED_MOVING, CARRIED_COUNTING) == CARRIED_MOVING) {
		count_pulled(t, cpu, now);
		WP_SWAP(&t->carried, CARRIED_NOT);
	}
	return moved;
}

/* Offer the waiting tasks of the source, in queue order. */
static __always_inline void offer_tasks(struct scratch *s, u32 cpu)
{
	struct wp_lb_env *bal = &s->balance;
	struct task_struct *p;
	struct task_live *t;
	bool waits = bal->idle != WP_CPU_NEWLY_IDLE, taken;
	int offer;

	bpf_for_each(scx_dsq, p, dsq_of(bal->src_cpu), 0) {
		t = live_of(p);
		if (!t || t->carried || !usable(p, cpu))
			continue;
		offer = wp_balance_offer(&ctx, bal, &t->wp);
		if (offer == WP_OFFER_STOP)
			break;
		if (offer == WP_OFFER_SKIP)
			continue;
		taken = waits ? take_to_wait(BPF_FOR_EACH_ITER, p, t, cpu, bal->now_ns) :
				take_to_run(BPF_FOR_EACH_ITER, p, t, cpu, bal->now_ns);
		if (!taken)
			bal->moved--;
	}
}

/* Ask the source to send its running task here when it next passes through the kernel. */
static __always_inline void ask_push(const struct wp_lb_env *bal)
{
	struct cpu_wish *w = wish_of(bal->src_cpu);

	w->push_level = bal->level;
	w->asked_ns = bal->now_ns;
	w->push_to = bal->this_cpu;
	kick(bal->src_cpu, SCX_KICK_PREEMPT);
}

/* One attempt to balance one level. Returns enum wp_balance_step's last answer. Two callers: the
 * verifier looks at it once. */
__noinline int balance_level(struct scratch *s WP_NONNULL, u32 cpu, u32 level, u32 idle, u64 now)
{
	struct wp_lb_env *bal = &s->balance;
	int step, round;

	bal->now_ns = now;
	bal->this_cpu = cpu;
	bal->level = level;
	bal->idle = idle;
	bal->random = bpf_get_prandom_u32() & (WP_SCALE - 1);
	step = wp_balance_begin(&ctx, bal);
	bpf_for(round, 0, PULL_ROUNDS) {
		if (step != WP_BALANCE_DETACH)
			break;
		if (bal->dst_cpu == cpu) /* another CPU of the group pulls for itself */
			offer_tasks(s, cpu);
		/* Which task runs on the source is not known here; if it may not go, it stays. */
		step = wp_balance_end(&ctx, bal, 1);
		if (bal->push) {
			ask_push(bal);
			break;
		}
	}
	return step;
}

/* The periodic pass over all levels of a CPU. */
static __always_inline void periodic_balance(u32 cpu, u32 idle)
{
	struct scratch *s = scratch(SCRATCH_CALLBACK);
	u64 now = now_ns();
	u32 level;

	if (!s)
		return;
	bpf_for(level, 0, WP_MAX_LEVELS) {
		if (level >= WP_AT(ctx.cpus, cpu)->topo.nr_levels)
			break;
		if (!wp_balance_due(&ctx, cpu, level, now, idle))
			continue;
		if (balance_level(s, cpu, level, idle, now) == WP_BALANCE_STOP)
			break;
	}
	wp_balance_pass_end(&ctx, cpu, now, idle);
}

/*
 * The CPU runs out of work. True: it looked around and found nothing. Its queue's lock was dropped
 * meanwhile, so that a task may have come to its own queue from one who saw it busy.
 */
static __always_inline bool newidle_balance(u32 cpu)
{
	struct cpu_stats *st = stats_of(cpu);
	u64 now = now_ns(), spent = 0, pulled = st->pulled;
	struct scratch *s;
	u32 level;

	if (!wp_newidle_begin(&ctx, cpu, now))
		return false;
	s = scratch(SCRATCH_CALLBACK);
	if (!s)
		return false;
	bpf_for(level, 0, WP_MAX_LEVELS) {
		if (!wp_newidle_level(&ctx, cpu, level, spent))
			break;
		balance_level(s, cpu, level, WP_CPU_NEWLY_IDLE, now);
		spent += wp_newidle_done(&ctx, cpu, level);
		if (st->pulled != pulled)
			break;
	}
	wp_newidle_end(&ctx, cpu, spent, st->pulled != pulled);
	return st->pulled == pulled;
}

#endif
