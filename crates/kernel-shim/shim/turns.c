// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns: does a task that joins a queue displace the one that runs, and who is next? The first
 * function is in the class's table, as what chooses a CPU is; of the second the linker leads
 * core.c's call here (build.sh), which is that of CPUs without tasks of other classes. Told are the
 * queue before, as far as all of it are tasks of the root group, and what came of it. The rules are
 * the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: the tree's own function decides; nothing is updated for the telling. May change:
 * MOST_ENTITIES, the longest queue that is told.
 *
 * Tests by part: `the_cores_signals_are_the_kernels` (kinds `wakeup-preempt` and `pick-task`:
 * `turn_before`, `turn_after`, `pick_before`, `entities_of`, `entity_of`, `marks_before`,
 * `who_runs`), `a_broken_signal_is_found` (a wrong protection and a wrong queue are seen).
 * `skipped_of` and `last_of` only matter in older trees, which these two skip. The rest by these.
 *
 * Callers: boot.c (`watch_turns`); `preempt_and_tell` the tree, by its class's table; the __wrap_
 * function core.c, by the linker.
 *
 * Tests: crates/cli/tests/all/kernel_diff.rs
 */
#ifdef WPK_HAS_WAKEUP_PREEMPT
#define PREEMPT_CALL wakeup_preempt
#else
#define PREEMPT_CALL check_preempt_curr
#endif

#ifdef WPK_HAS_PICK_TASK
#define PICK(prefix) prefix##pick_task_fair
#define PICK_ARGS struct rq *rq, struct rq_flags *rf
#define PICK_PASS rq, rf
#else
#define PICK(prefix) prefix##pick_next_task_fair
#define PICK_ARGS struct rq *rq, struct task_struct *prev, struct rq_flags *rf
#define PICK_PASS rq, prev, rf
#endif
struct task_struct *PICK(__real_)(PICK_ARGS);

/* Longer queues are not told. */
#define MOST_ENTITIES 1024

static void (*preempt_of_tree)(struct rq *rq, struct task_struct *p, int flags);
static struct wpk_entity *entities;

/* Whose time it is; the field's name differs by version. */
static struct task_struct *who_runs(struct rq *rq)
{
#ifdef WPK_HAS_DONOR
	return rcu_dereference_raw(rq->donor);
#else
	return rcu_dereference_raw(rq->curr);
#endif
}

/* Is the running task to be displaced, at once or lazily? */
static bool is_marked(struct rq *rq)
{
	struct task_struct *curr = rcu_dereference_raw(rq->curr);

#ifdef TIF_NEED_RESCHED_LAZY
	if (test_tsk_thread_flag(curr, TIF_NEED_RESCHED_LAZY))
		return true;
#endif
	return test_tsk_need_resched(curr);
}

/* WPK_NONE: nobody. */
static unsigned int number_of(const struct sched_entity *se)
{
	return se ? container_of(se, struct task_struct, se)->thread.number : WPK_NONE;
}

/* To 6.5: who was preempted last. */
static unsigned int last_of(const struct cfs_rq *cfs)
{
#ifdef WPK_HAS_LAST_BUDDY
	return number_of(cfs->last);
#else
	return WPK_NONE;
#endif
}

/* To 6.5: who has yielded. */
static unsigned int skipped_of(const struct cfs_rq *cfs)
{
#ifdef WPK_HAS_LAST_BUDDY
	return number_of(cfs->skip);
#else
	return WPK_NONE;
#endif
}

/* A task as its queue has it. */
static struct wpk_entity entity_of(struct sched_entity *se)
{
	struct task_struct *p = container_of(se, struct task_struct, se);

	return (struct wpk_entity){
		.task = p->thread.number,
		.policy = p->policy,
		.nice = task_nice(p),
		.flags = is_delayed(se) ? WPK_ENTITY_DELAYED : 0,
		.vruntime = se->vruntime,
#ifdef WPK_HAS_SLICE
		.deadline = se->deadline,
		.vlag = se->vlag,
#endif
#ifdef WPK_HAS_CUSTOM_SLICE
		.slice_ns = se->custom_slice ? se->slice : 0,
#endif
#ifdef WPK_HAS_VPROT
		.vprot = se->vprot,
#endif
	};
}

/* All that is queued: who runs, then the others in their order. False: not all are such tasks. */
static bool entities_of(struct wpk_turn *t, struct rq *rq, struct sched_entity *runs)
{
	struct rb_node *node = rb_first_cached(&rq->cfs.tasks_timeline);

	if (runs) {
		if (!is_task(runs) || queue_of(runs) != &rq->cfs)
			return false;
		t->runs = 1;
		t->exec_ns = rq_clock_task(rq) - runs->exec_start;
		entities[t->nr_entities++] = entity_of(runs);
	}
	for (; node; node = rb_next(node)) {
		struct sched_entity *se = rb_entry(node, struct sched_entity, run_node);

		if (t->nr_entities == MOST_ENTITIES || !is_task(se) || queue_of(se) != &rq->cfs)
			return false;
		entities[t->nr_entities++] = entity_of(se);
	}
	t->entities = entities;
	return true;
}

/* What the queue remembers of buddies, and whether the running one is marked. */
static void marks_before(struct wpk_turn *t, struct rq *rq)
{
	t->cpu = cpu_of(rq);
	t->resched = is_marked(rq);
	t->next = number_of(rq->cfs.next);
	t->last = last_of(&rq->cfs);
	t->skip = skipped_of(&rq->cfs);
	t->tick_ns = TICK_NSEC;
}

/* A CPU that pulls before it goes idle has a running task that has left its queue. */
static bool turn_before(struct wpk_turn *t, struct rq *rq, struct task_struct *p, int flags)
{
	struct task_struct *runs = who_runs(rq);

	if (p->sched_class != &fair_sched_class || runs->sched_class != &fair_sched_class ||
	    p == runs || !runs->se.on_rq || !entities_of(t, rq, &runs->se))
		return false;
	marks_before(t, rq);
	t->task = p->thread.number;
	t->sync = !!(flags & WF_SYNC);
	t->fork = !!(flags & WF_FORK);
	return true;
}

/* The running one, its mark, the buddies, and how many wait. */
static void turn_after(struct wpk_turn *t, struct rq *rq)
{
	struct rb_node *node = rb_first_cached(&rq->cfs.tasks_timeline);

	t->after = entity_of(&who_runs(rq)->se);
	t->resched_after = is_marked(rq);
	t->next_after = number_of(rq->cfs.next);
	t->last_after = last_of(&rq->cfs);
	for (t->nr_after = 1; node; node = rb_next(node))
		t->nr_after++;
}

/* A CPU with nobody to run looks for tasks elsewhere: that is not told. */
static bool pick_before(struct wpk_turn *t, struct rq *rq)
{
	struct sched_entity *runs = rq->cfs.curr;
	unsigned int i;

	if (!entities_of(t, rq, runs && runs->on_rq ? runs : NULL))
		return false;
	marks_before(t, rq);
	for (i = 0; i < t->nr_entities; i++)
		if (!(entities[i].flags & WPK_ENTITY_DELAYED))
			return true;
	return false;
}

/* core.c's pick of a CPU that has fair tasks only, by the linker. */
struct task_struct *PICK(__wrap_)(PICK_ARGS)
{
	struct wpk_turn t = { .kind = WPK_TURN_PICK, .task = WPK_NONE };
	struct task_struct *p;

	if (!signals_wanted() || !host->turned || !pick_before(&t, rq))
		return PICK(__real_)(PICK_PASS);
	p = PICK(__real_)(PICK_PASS);
	if (p && p != RETRY_TASK) {
		t.task = p->thread.number;
		host->turned(host->data, &t);
	}
	return p;
}

/* In place of the class's wakeup_preempt, which it calls once. */
static void preempt_and_tell(struct rq *rq, struct task_struct *p, int flags)
{
	struct wpk_turn t = { .kind = WPK_TURN_PREEMPT, .task = WPK_NONE };

	if (!signals_wanted() || !host->turned || !turn_before(&t, rq, p, flags)) {
		preempt_of_tree(rq, p, flags);
		return;
	}
	preempt_of_tree(rq, p, flags);
	turn_after(&t, rq);
	host->turned(host->data, &t);
}

static void watch_turns(void)
{
	struct sched_class *class = (struct sched_class *)&fair_sched_class;

	entities = wp_alloc(MOST_ENTITIES * sizeof(*entities), 64);
	preempt_of_tree = class->PREEMPT_CALL;
	class->PREEMPT_CALL = preempt_and_tell;
}
