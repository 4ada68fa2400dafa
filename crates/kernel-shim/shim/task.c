// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks: copied from their creator, known to the host by its numbers. The rules are the tree's own
 * code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: numbers are the host's and stay; pids are numbers plus PID_OF_TASKS. A task is
 * freed after its last switch. May change: what a task must not share with its creator
 * (`own_parts`), as trees grow fields.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) every
 * scenario (`do_fork_call`, `fork_from`, `new_task`, `keep_task`, `join_group`, `new_kthread`);
 * `grow_task_table` (that another CPU grows it meanwhile by no test, but by 112 pairs of seed 2 in
 * studies/sis-short/context-switch-spr/own-code.toml),
 * `storm` (`set_attributes`, `do_exit`, `bury`, the end of tasks), `probes` (`fork_wrongly`: a
 * wrong priority is -EINVAL; numbers of tasks that come late); `no_kind_of_work_makes_it_warn`
 * (`birth`, `inherited_load` run there; what they give is not compared). Refused numbers (-EEXIST)
 * have no test of their own. The rest by every scenario.
 *
 * Callers: call.c and irq.c (`do_fork_call`), control.c (`set_attributes`), threads.c, works.c and
 * boot.c (`new_kthread`); the rest the tree.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */

#define PID_OF_TASKS 1000000
static int last_pid;

/* NULL: there is none, or no more. */
static struct task_struct *task_by_number(unsigned int number)
{
	return number < task_table_size ? task_table[number] : NULL;
}

/* sched_setaffinity() asks by pid. */
struct task_struct *find_task_by_vpid(pid_t pid)
{
	return pid >= PID_OF_TASKS ? task_by_number(pid - PID_OF_TASKS) : NULL;
}

/*
 * The table grows. Where memcpy() takes time, other CPUs keep tasks and may grow the table
 * meanwhile; the copy itself comes after that time, at once. So whoever finds another table begins
 * anew.
 */
static void grow_task_table(unsigned int number)
{
	while (number >= task_table_size) {
		unsigned int old_size = task_table_size;
		unsigned int size = max(2 * old_size, max(number + 1, 256U));
		struct task_struct **old = task_table;
		struct task_struct **table = wp_alloc(size * sizeof(*table), 64);

		if (old)
			memcpy(table, old, old_size * sizeof(*table));
		if (READ_ONCE(task_table) != old) { /* memcpy() is no barrier */
			wp_free(table);
			continue;
		}
		task_table = table;
		task_table_size = size;
		wp_free(old);
	}
}

/* -EEXIST: the number is another task's. */
static int keep_task(unsigned int number, struct task_struct *p)
{
	grow_task_table(number);
	if (task_table[number])
		return -EEXIST;
	task_table[number] = p;
	return 0;
}

/*
 * What a task must not share with the one it was copied from. The scheduler's own part is
 * sched_fork()'s.
 */
static void own_parts(struct task_struct *p)
{
	p->cpus_ptr = &p->cpus_mask;
#ifdef WPK_HAS_USER_CPUS
	p->user_cpus_ptr = NULL;
#endif
	p->mm = NULL;
	p->active_mm = NULL;
	p->task_works = NULL;
	p->vfork_done = NULL;
	p->wake_q.next = NULL;
#ifdef CONFIG_RT_MUTEXES
	p->pi_blocked_on = NULL;
	p->pi_top_task = NULL;
	p->pi_waiters = RB_ROOT_CACHED;
#endif
	p->utime = p->stime = p->gtime = 0;
	p->nvcsw = p->nivcsw = 0;
	raw_spin_lock_init(&p->pi_lock);
	spin_lock_init(&p->alloc_lock);
	INIT_LIST_HEAD(&p->tasks);
	INIT_LIST_HEAD(&p->children);
	INIT_LIST_HEAD(&p->sibling);
	refcount_set(&p->usage, 1);
	refcount_set(&p->rcu_users, 1);
	task_thread_info(p)->flags = 0;
	memset(&p->thread, 0, sizeof(p->thread));
}

WP_WEAK(int, set_kthread_struct, (struct task_struct *));
WP_WEAK(void, free_kthread_struct, (struct task_struct *));

/* A copy with parts of its own, on no CPU. */
static struct task_struct *new_task(struct task_struct *parent, const char *name,
		unsigned int flags)
{
	struct task_struct *p = wp_alloc_for(sizeof(*p), 64, NULL, "task_struct");

	memcpy(p, parent, sizeof(*p));
	own_parts(p);
	p->pid = p->tgid = ++last_pid;
	p->flags = flags;
	p->thread.number = WPK_KTHREAD | p->pid;
	/* The first task is bound to its CPU, as all idle tasks are. */
	if (parent == &init_task) {
		cpumask_copy(&p->cpus_mask, cpu_possible_mask);
		p->nr_cpus_allowed = nr_cpus;
	}
	if (flags & PF_KTHREAD) {
		p->set_child_tid = NULL;
#ifdef WPK_HAS_WORKER_PRIVATE
		p->worker_private = NULL;
#endif
		if (wp_set_kthread_struct)
			wp_set_kthread_struct(p);
	}
	strscpy(p->comm, name, sizeof(p->comm));
	return p;
}

/* Before it first runs. */
static int join_group(struct task_struct *p, unsigned int number)
{
	struct kernel_clone_args args = { .cset = css_set_of(number) };
	int error = 0;

	rcu_assign_pointer(p->cgroups, args.cset);
#if defined(WPK_HAS_CGROUP_FORK_ANSWERS)
	error = sched_cgroup_fork(p, &args);
#elif defined(WPK_HAS_CGROUP_FORK)
	sched_cgroup_fork(p, &args);
#endif
#ifdef WPK_HAS_POST_FORK_ARGS
	sched_post_fork(p, &args);
#else
	sched_post_fork(p);
#endif
	return error;
}

/* On a stack of its own, asleep until woken. */
static struct task_struct *new_kthread(void (*fn)(void *), void *arg, const char *name)
{
	struct task_struct *p = new_task(&init_task, name, PF_KTHREAD);

	if (sched_fork(0, p) || join_group(p, WPK_ROOT_GROUP))
		wp_fault(WPK_FAULT_SHIM, "no kernel thread %s", name);
	give_stack(p, fn, arg);
	wake_up_new_task(p);
	return p;
}

#define WP_CLAMPS (SCHED_FLAG_UTIL_CLAMP_MIN | SCHED_FLAG_UTIL_CLAMP_MAX)

/* As sched_setattr(2), by the tree's own function. */
static int set_attributes(struct task_struct *p, const struct wpk_attr *from, u64 more_flags)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = from->policy,
		.sched_flags = from->flags | more_flags,
		.sched_nice = from->nice,
		.sched_priority = from->priority,
		.sched_runtime = from->runtime,
		.sched_deadline = from->deadline,
		.sched_period = from->period,
		.sched_util_min = from->util_min,
		.sched_util_max = from->util_max,
	};

	return sched_setattr(p, &attr);
}

/* Is it a policy of the fair class? */
static bool is_fair(unsigned int policy)
{
	return policy == SCHED_NORMAL || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

/* The weight that a creator with this policy and nice value would have left to it. */
static struct load_weight inherited_load(const struct task_struct *p)
{
	const unsigned int at = p->static_prio - MAX_RT_PRIO;

	if (p->policy == SCHED_IDLE)
		return (struct load_weight){
			.weight = scale_load(WEIGHT_IDLEPRIO),
			.inv_weight = WMULT_IDLEPRIO,
		};
	return (struct load_weight){
		.weight = scale_load(sched_prio_to_weight[at]),
		.inv_weight = sched_prio_to_wmult[at],
	};
}

/* A child is born with its nice value and its mask, as if its creator had had them. */
static void birth(struct task_struct *p, const struct wpk_call *call)
{
	if (call->mask) {
		unsigned int cpu;

		cpumask_clear(&p->cpus_mask);
		for (cpu = 0; cpu < nr_cpus; cpu++)
			if (call->mask[cpu / 64] >> (cpu % 64) & 1)
				cpumask_set_cpu(cpu, &p->cpus_mask);
		p->nr_cpus_allowed = cpumask_weight(&p->cpus_mask);
	}
	if (call->attr && is_fair(call->attr->policy)) {
		p->policy = call->attr->policy;
		p->static_prio = NICE_TO_PRIO(call->attr->nice);
		p->prio = p->normal_prio = p->static_prio;
		p->rt_priority = 0;
		p->se.load = inherited_load(p);
	}
}

/*
 * A child begins with the priority of `current`. One that nobody creates comes by an interrupt, and
 * that may come upon any kernel thread: the governor's is a deadline task, of which nothing forks.
 */
static int fork_from(struct task_struct *parent, struct task_struct *p)
{
	struct task_struct *here = current;
	int error;

	wpsim_current = parent;
	error = sched_fork(0, p);
	wpsim_current = here;
	return error;
}

/* The number of the child, or a negative errno. */
static wpk_s64 do_fork_call(const struct wpk_call *call)
{
	struct task_struct *parent = current->flags & PF_KTHREAD ? &init_task : current;
	/*
	 * The child, or the governor's thread, may run first as soon as the scheduler is asked: the
	 * host's words are gone by then.
	 */
	const struct wpk_attr attr = call->attr ? *call->attr : (struct wpk_attr){};
	const bool has_attr = call->attr;
	const bool later = has_attr && (!is_fair(attr.policy) || attr.runtime);
	const unsigned int number = call->task, group = call->group;
	struct task_struct *p;
	int error;

	if (number & WPK_KTHREAD || !css_set_of(group))
		return -EINVAL;
	if (task_by_number(number))
		return -EEXIST;
	p = new_task(parent, call->name ? call->name : "task", 0);
	p->pid = p->tgid = PID_OF_TASKS + number;
	p->thread.number = number;
	birth(p, call);
	error = fork_from(parent, p);
	if (error) {
		wp_free(p);
		return error;
	}
	if (has_attr && is_fair(attr.policy))
		p->prio = p->normal_prio;
	error = join_group(p, group);
	if (!error)
		error = keep_task(number, p);
	if (error)
		return error;
	give_stack(p, user_loop, NULL);
	if (attr.flags & WP_CLAMPS)
		error = set_attributes(p, &attr, SCHED_FLAG_KEEP_ALL);
	get_task_struct(p);
	wake_up_new_task(p);
	if (later && !error)
		error = set_attributes(p, &attr, 0);
	put_task_struct(p);
	return error;
}

/* The end of a task: its memory goes when nobody looks at it any more. */
void __put_task_struct(struct task_struct *p)
{
	if (p->flags & PF_KTHREAD && wp_free_kthread_struct)
		wp_free_kthread_struct(p);
	wp_free(p);
}

/* The same as a callback. */
void __put_task_struct_rcu_cb(struct rcu_head *head)
{
	__put_task_struct(container_of(head, struct task_struct, rcu));
}

/* After a grace period the last holder lets go. */
static void bury(struct rcu_head *head)
{
	put_task_struct(container_of(head, struct task_struct, rcu));
}

/* Its number is free, its stack goes. */
void put_task_struct_rcu_user(struct task_struct *p)
{
	if (!refcount_dec_and_test(&p->rcu_users))
		return;
	if (!(p->thread.number & WPK_KTHREAD) && task_by_number(p->thread.number) == p)
		task_table[p->thread.number] = NULL;
	take_stack(p);
	call_rcu(&p->rcu, bury);
}

/* The end of a task: it switches away for the last time. */
void __noreturn do_exit(long code)
{
	struct completion *done = current->vfork_done;
#ifdef WPK_HAS_KTHREAD_DO_EXIT
	struct kthread *kthread = tsk_is_kthread(current);

	/* It leaves the list of threads that follow their node's CPUs. */
	if (kthread)
		kthread_do_exit(kthread, code);
#endif
	if (done) {
		current->vfork_done = NULL;
		complete_all(done);
	}
	preempt_disable();
	do_task_dead();
}
