// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deferred work. One kernel thread does it in the order it was queued: that a static key was
 * switched or that domains were rebuilt must not be lost, who does it does not matter. The rules
 * are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: works are done in the order in which they were queued. May change: how many
 * threads do the works, if their order is kept.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) every
 * scenario (`queue_work_on`, `run_work`, `worker_loop`: their count is in the report that two runs
 * must share), `storm` (`on_cpu`, when CPUs go); `energy_aware_placement_is_the_kernels_own`
 * (schedutil has the domains rebuilt by a work). `there`, `cancel_work_sync`,
 * `cancel_delayed_work_sync` and the order of works have no test of their own. What is not named
 * here runs as the tree asks for it.
 *
 * Callers: boot.c (`works_up`); the rest the tree.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */
/* Its name changed from del_timer() to timer_delete(). */
WP_WEAK(int, timer_delete, (struct timer_list *));
WP_WEAK(int, del_timer, (struct timer_list *));

static LIST_HEAD(works);
static struct task_struct *worker;

/* At the end. */
static void queue(struct work_struct *work)
{
	list_add_tail(&work->entry, &works);
	if (worker)
		wake_up_process(worker);
}

/* False: it is queued already. */
bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		return false;
	queue(work);
	return true;
}

/* Nodes matter to nobody here. */
bool queue_work_node(int node, struct workqueue_struct *wq, struct work_struct *work)
{
	return queue_work_on(0, wq, work);
}

/* The timer of a delayed work is over. */
void delayed_work_timer_fn(struct timer_list *timer)
{
	queue(&container_of(timer, struct delayed_work, timer)->work);
}

/* False: it is queued or its timer runs already. */
bool queue_delayed_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *work,
			   unsigned long delay)
{
	if (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(&work->work)))
		return false;
	if (delay) {
		work->timer.expires = jiffies + delay;
		add_timer(&work->timer);
	} else {
		queue(&work->work);
	}
	return true;
}

/* False: it was not queued. */
static bool dequeue(struct work_struct *work)
{
	if (!test_and_clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		return false;
	list_del_init(&work->entry);
	return true;
}

/* False: it was not queued. */
bool cancel_work_sync(struct work_struct *work)
{
	return dequeue(work);
}

/* Before its timer or after it. */
bool cancel_delayed_work_sync(struct delayed_work *work)
{
	if (wp_timer_delete ? wp_timer_delete(&work->timer) : wp_del_timer(&work->timer)) {
		clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(&work->work));
		return true;
	}
	return dequeue(&work->work);
}

/* By the worker, or by who flushes. */
static void run_work(struct work_struct *work)
{
	list_del_init(&work->entry);
	clear_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work));
	view.works++;
	work->func(work);
}

/* False: there was nothing to do. */
bool flush_work(struct work_struct *work)
{
	if (!work_pending(work) || list_empty(&work->entry))
		return false;
	run_work(work);
	return true;
}

/*
 * Work of a CPU is done there, since the kernel checks that the CPU is awake meanwhile. The caller
 * goes there and does it. For a caller who may not go there the CPU's stopper does it. The stopper
 * cannot sleep; work of bound threads does not.
 */
struct wp_there {
	long (*fn)(void *);
	void *arg;
	long answer;
};

/* By the stopper of that CPU. */
static int there(void *data)
{
	struct wp_there *call = data;

	call->answer = call->fn(call->arg);
	return 0;
}

/* Calls `fn` there: by affinity, or by the stopper where a task is bound. */
static long on_cpu(int cpu, long (*fn)(void *), void *arg)
{
	struct wp_there call = { .fn = fn, .arg = arg };
	cpumask_t before;

	if (current->flags & PF_NO_SETAFFINITY) {
		stop_one_cpu(cpu, there, &call);
		return call.answer;
	}
	cpumask_copy(&before, &current->cpus_mask);
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	call.answer = fn(arg);
	set_cpus_allowed_ptr(current, &before);
	return call.answer;
}

/* The name that a macro of later trees calls. */
long work_on_cpu_key(int cpu, long (*fn)(void *), void *arg, struct lock_class_key *key)
{
	return on_cpu(cpu, fn, arg);
}

#undef work_on_cpu
/* The name in older trees. */
long work_on_cpu(int cpu, long (*fn)(void *), void *arg)
{
	return on_cpu(cpu, fn, arg);
}

/* For ever. */
static void worker_loop(void *arg)
{
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (list_empty(&works)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		run_work(list_first_entry(&works, struct work_struct, entry));
	}
}

/* The worker's thread, once threads can be made. */
static void works_up(void)
{
	worker = new_kthread(worker_loop, NULL, "kworker/u:0");
}
