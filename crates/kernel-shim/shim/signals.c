// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals: each update of an average, and each task that is queued or dequeued, with the state
 * before and after. Updates are functions of pelt.c that fair.c calls: the linker leads these calls
 * here (build.sh). What queues and dequeues is in the class's table, as what chooses a CPU is.
 *
 * What must stay: the tree's own functions run once and decide; state is read before and after and
 * never written; of a queue only the CPU's own is told, of entities only tasks. Kinds and fields
 * are wakeplace.h's (docs/rules/README.md#signal-by-signal). May change: nothing but the spelling
 * of fields.
 *
 * Tests by part: crates/cli/tests/all/kernel_diff.rs: `the_cores_signals_are_the_kernels`
 * (averages: `avg_of`, `entity_before`, `clocks_before`; queues: `queue_before`;
 * `enqueue_and_tell`, `dequeue_and_tell`, `event_before`, `event_after`, `dequeue_flags`, and
 * `util_est`), `a_broken_signal_is_found` (that a difference is seen).
 * `__wrap___update_load_avg_blocked_se` has no test of its own. `cargo xtask kernel-shim` links its
 * tree with it. The rest is read by these.
 *
 * Callers: boot.c (`watch_signals`); the __wrap_ functions the tree's fair.c, by the linker; the
 * rest by the class's table.
 *
 * Tests: crates/cli/tests/all/kernel_diff.rs, crates/kernel-shim/tests
 */
#ifdef WPK_HAS_DEQUEUE_BOOL
#define DEQUEUED bool
#else
#define DEQUEUED void
#endif

static void (*enqueue_of_tree)(struct rq *rq, struct task_struct *p, int flags);
static DEQUEUED (*dequeue_of_tree)(struct rq *rq, struct task_struct *p, int flags);

int __real___update_load_avg_se(u64 now, struct cfs_rq *cfs, struct sched_entity *se);
int __real___update_load_avg_blocked_se(u64 now, struct sched_entity *se);
int __real___update_load_avg_cfs_rq(u64 now, struct cfs_rq *cfs);

/* Does the host listen? */
static bool signals_wanted(void)
{
	return unlikely(view.signals) && !view.dead && host->signal;
}

/* The CPU's run queue. */
static struct rq *rq_of_queue(struct cfs_rq *cfs)
{
#ifdef CONFIG_FAIR_GROUP_SCHED
	return cfs->rq;
#else
	return container_of(cfs, struct rq, cfs);
#endif
}

/* The queue that an entity is in. */
static struct cfs_rq *queue_of(struct sched_entity *se)
{
#ifdef CONFIG_FAIR_GROUP_SCHED
	return se->cfs_rq;
#else
	return &task_rq(container_of(se, struct task_struct, se))->cfs;
#endif
}

/* Is the entity a task, and no group? */
static bool is_task(const struct sched_entity *se)
{
#ifdef CONFIG_FAIR_GROUP_SCHED
	return !se->my_q;
#else
	return true;
#endif
}

/* Who of the queue runs; the field's name differs by version. */
static const struct sched_entity *current_of(const struct cfs_rq *cfs)
{
#ifdef WPK_HAS_H_CURR
	return cfs->h_curr;
#else
	return cfs->curr;
#endif
}

/* A copy of all sums and averages. */
static struct wpk_avg avg_of(const struct sched_avg *a)
{
	unsigned int est = *(const unsigned int *)&a->util_est;

	return (struct wpk_avg){
		.last_update_ns = a->last_update_time,
		.load_sum = a->load_sum,
		.runnable_sum = a->runnable_sum,
		.util_sum = a->util_sum,
		.load_avg = a->load_avg,
		.runnable_avg = a->runnable_avg,
		.util_avg = a->util_avg,
		.period_contrib = a->period_contrib,
		.util_est = (est & ~UTIL_AVG_UNCHANGED) |
			    (est & UTIL_AVG_UNCHANGED ? WPK_UNCHANGED : 0),
#ifdef WPK_HAS_UTIL_EST_STRUCT
		.util_est_ewma = a->util_est.ewma,
#endif
	};
}

/* Does its queue keep it though it sleeps? */
static unsigned int is_delayed(const struct sched_entity *se)
{
#ifdef WPK_HAS_DELAY_DEQUEUE
	return se->sched_delayed;
#else
	return 0;
#endif
}

/* A CPU's queue, with what left it and is not taken off yet. */
static void queue_before(struct wpk_queue *q, struct cfs_rq *cfs)
{
	*q = (struct wpk_queue){
		.avg = avg_of(&cfs->avg),
		.weight = scale_load_down(cfs->load.weight),
		.nr_fair = nr_fair(cfs),
		.curr_fair = !!current_of(cfs),
		.nr_removed = cfs->removed.nr,
		.removed_load = cfs->removed.load_avg,
		.removed_util = cfs->removed.util_avg,
		.removed_runnable = cfs->removed.runnable_avg,
	};
}

/* A task and its average. */
static void entity_before(struct wpk_signal *s, struct cfs_rq *cfs, struct sched_entity *se)
{
	s->task = container_of(se, struct task_struct, se)->thread.number;
	s->on_rq = se->on_rq;
	s->delayed = is_delayed(se);
	s->running = current_of(cfs) == se;
	s->weight = scale_load_down(se->load.weight);
	s->before = avg_of(&se->avg);
}

/* The CPU's clocks, which say up to when an update goes. */
static void clocks_before(struct wpk_signal *s, struct rq *rq)
{
	s->cpu = cpu_of(rq);
	s->clock_ns = rq->clock;
	s->clock_task_ns = rq->clock_task;
	s->clock_pelt_ns = rq->clock_pelt;
	s->lost_idle_ns = rq->lost_idle_time;
	s->capacity_orig = arch_scale_cpu_capacity(cpu_of(rq));
}

/* fair.c's update of an entity that is queued. */
int __wrap___update_load_avg_se(u64 now, struct cfs_rq *cfs, struct sched_entity *se)
{
	struct wpk_signal s = { .kind = WPK_SIGNAL_TASK, .now_ns = now };
	int written;

	if (!signals_wanted() || !is_task(se))
		return __real___update_load_avg_se(now, cfs, se);
	clocks_before(&s, rq_of_queue(cfs));
	entity_before(&s, cfs, se);
	written = __real___update_load_avg_se(now, cfs, se);
	s.after = avg_of(&se->avg);
	host->signal(host->data, &s);
	return written;
}

/* Its update of one that sleeps. */
int __wrap___update_load_avg_blocked_se(u64 now, struct sched_entity *se)
{
	struct wpk_signal s = { .kind = WPK_SIGNAL_BLOCKED, .now_ns = now };
	int written;

	if (!signals_wanted() || !is_task(se))
		return __real___update_load_avg_blocked_se(now, se);
	clocks_before(&s, rq_of_queue(queue_of(se)));
	entity_before(&s, queue_of(se), se);
	written = __real___update_load_avg_blocked_se(now, se);
	s.after = avg_of(&se->avg);
	host->signal(host->data, &s);
	return written;
}

/* Its update of a queue; told are CPUs', not groups'. */
int __wrap___update_load_avg_cfs_rq(u64 now, struct cfs_rq *cfs)
{
	struct wpk_signal s = { .kind = WPK_SIGNAL_QUEUE, .task = WPK_NONE, .now_ns = now };
	struct rq *rq = rq_of_queue(cfs);
	int written;

	if (!signals_wanted() || cfs != &rq->cfs)
		return __real___update_load_avg_cfs_rq(now, cfs);
	clocks_before(&s, rq);
	queue_before(&s.queue, cfs);
	written = __real___update_load_avg_cfs_rq(now, cfs);
	s.queue_after = avg_of(&cfs->avg);
	host->signal(host->data, &s);
	return written;
}

/* What happens to a task of the root group with its queue: before it happens. */
static void event_before(struct wpk_signal *s, struct rq *rq, struct task_struct *p)
{
	clocks_before(s, rq);
	s->now_ns = rq->clock_pelt - rq->lost_idle_time;
	entity_before(s, &rq->cfs, &p->se);
	queue_before(&s->queue, &rq->cfs);
}

/* What came of it; the host hears of both. */
static void event_after(struct wpk_signal *s, struct rq *rq, struct task_struct *p)
{
	s->after = avg_of(&p->se.avg);
	s->queue_after = avg_of(&rq->cfs.avg);
	host->signal(host->data, s);
}

/* Only tasks of the root group are told. */
static bool event_wanted(struct rq *rq, struct task_struct *p)
{
	return signals_wanted() && queue_of(&p->se) == &rq->cfs;
}

/* In place of the class's enqueue_task, which it calls once. */
static void enqueue_and_tell(struct rq *rq, struct task_struct *p, int flags)
{
	struct wpk_signal s = { .kind = WPK_SIGNAL_ENQUEUE };

	if (!event_wanted(rq, p)) {
		enqueue_of_tree(rq, p, flags);
		return;
	}
	event_before(&s, rq, p);
	if (flags & ENQUEUE_WAKEUP)
		s.flags |= WPK_SIGNAL_WAKEUP;
	enqueue_of_tree(rq, p, flags);
	event_after(&s, rq, p);
}

/* Does it sleep, and do its averages leave with it? */
static void dequeue_flags(struct wpk_signal *s, const struct task_struct *p, int flags)
{
	if (flags & DEQUEUE_SLEEP)
		s->flags |= WPK_SIGNAL_SLEEP;
#ifdef WPK_HAS_DEQUEUE_DETACHES
	if (p->on_rq == TASK_ON_RQ_MIGRATING)
		s->flags |= WPK_SIGNAL_DETACH;
#endif
}

#ifdef WPK_HAS_DEQUEUE_BOOL
/* In place of the class's dequeue_task, which it calls once. */
static bool dequeue_and_tell(struct rq *rq, struct task_struct *p, int flags)
{
	struct wpk_signal s = { .kind = WPK_SIGNAL_DEQUEUE };
	bool left;

	if (!event_wanted(rq, p))
		return dequeue_of_tree(rq, p, flags);
	event_before(&s, rq, p);
	dequeue_flags(&s, p, flags);
	left = dequeue_of_tree(rq, p, flags);
	if (!left && !s.delayed && is_delayed(&p->se))
		s.flags |= WPK_SIGNAL_DELAY;
	event_after(&s, rq, p);
	return left;
}
#else
/* In place of the class's dequeue_task, which it calls once. */
static void dequeue_and_tell(struct rq *rq, struct task_struct *p, int flags)
{
	struct wpk_signal s = { .kind = WPK_SIGNAL_DEQUEUE };

	if (!event_wanted(rq, p)) {
		dequeue_of_tree(rq, p, flags);
		return;
	}
	event_before(&s, rq, p);
	dequeue_flags(&s, p, flags);
	dequeue_of_tree(rq, p, flags);
	event_after(&s, rq, p);
}
#endif

/* Puts enqueue_and_tell and dequeue_and_tell into the fair class's table. */
static void watch_signals(void)
{
	struct sched_class *class = (struct sched_class *)&fair_sched_class;

	enqueue_of_tree = class->enqueue_task;
	dequeue_of_tree = class->dequeue_task;
	class->enqueue_task = enqueue_and_tell;
	class->dequeue_task = dequeue_and_tell;
}
