// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decisions: a class of the scheduler is a table of functions, and the one that chooses a CPU for a
 * fair task is wrapped at run time. The state told is what the tree's function found; the state of
 * CPUs does not change in it. The rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: the tree's own function chooses; what is told beside is read around that and
 * changes nothing. Fields are wakeplace.h's. May change: what is told with `view.detail` only.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * kernel_diff.rs: `the_core_decides_as_the_kernel` (`describe`, `describe_more`, `describe_task`);
 * `a_decision_is_explained_by_the_trees_own_figures` (`tell_energies`, `energy_of`, `roomiest`,
 * `util_of`), `the_boot_is_forgotten` (a fork is told as one); every scenario (`select_and_tell`:
 * answers are in its hash).
 *
 * Callers: boot.c (`watch_decisions`); `select_and_tell` the tree, by its class's table.
 *
 * Tests: crates/cli/tests/all/kernel_runs.rs, crates/cli/tests/all/kernel_diff.rs,
 *        crates/kernel-shim/tests
 */
#ifdef WPK_HAS_SELECT_SD_FLAG
#define SELECT_ARGS struct task_struct *p, int prev, int sd_flag, int flags
#define SELECT_PASS p, prev, sd_flag, flags
#define WAKE_FORK(flags) (sd_flag & SD_BALANCE_FORK)
#define WAKE_EXEC(flags) (sd_flag & SD_BALANCE_EXEC)
#define WAKE_TTWU(flags) (sd_flag & SD_BALANCE_WAKE)
#else
#define SELECT_ARGS struct task_struct *p, int prev, int flags
#define SELECT_PASS p, prev, flags
#define WAKE_FORK(flags) ((flags) & WF_FORK)
#define WAKE_EXEC(flags) ((flags) & WF_EXEC)
#define WAKE_TTWU(flags) ((flags) & WF_TTWU)
#endif

static int (*select_of_tree)(SELECT_ARGS);
static struct wpk_energy *energies;

/* A CPU's utilisation without the task where it was, or with it. */
static unsigned long util_of(unsigned int cpu, struct task_struct *p, bool with)
{
	struct sched_avg *avg = &cpu_rq(cpu)->cfs.avg;
	unsigned long util = READ_ONCE(avg->util_avg), est = estimate(avg);
	unsigned long own = READ_ONCE(p->se.avg.util_avg);

	if (task_cpu(p) == cpu && !with)
		util -= min(util, own);
	else if (task_cpu(p) != cpu && with)
		util += own;
	if (with)
		est += task_estimate(p);
	return min(max(util, est), arch_scale_cpu_capacity(cpu));
}

/* Energy of a domain with the task on `target`, in the tree's units. */
static unsigned long energy_of(struct perf_domain *pd, struct task_struct *p, unsigned int target)
{
	unsigned long sum = 0, most = 0;
	unsigned int cpu;

	for_each_cpu_and(cpu, perf_domain_span(pd), cpu_online_mask) {
		unsigned long util = util_of(cpu, p, cpu == target);

		sum += util;
		most = max(most, util);
	}
#ifdef WPK_HAS_EM_CAP
	return em_cpu_energy(pd->em_pd, most, sum,
			arch_scale_cpu_capacity(cpumask_first(perf_domain_span(pd))));
#else
	return em_cpu_energy(pd->em_pd, most, sum);
#endif
}

/* The CPU of the domain with most capacity to spare; WPK_NONE: the task may use none. */
static unsigned int roomiest(struct perf_domain *pd, struct task_struct *p)
{
	unsigned int cpu, best = WPK_NONE;
	long most = LONG_MIN;

	for_each_cpu_and(cpu, perf_domain_span(pd), p->cpus_ptr) {
		long spare = (long)cpu_rq(cpu)->cpu_capacity - (long)util_of(cpu, p, true);

		if (cpu_online(cpu) && spare > most) {
			most = spare;
			best = cpu;
		}
	}
	return best;
}

/* The candidates of each domain with their energies, as an estimate beside. */
static void tell_energies(struct wpk_decision *d, struct task_struct *p)
{
	struct perf_domain *pd;

	rcu_read_lock();
	for (pd = rcu_dereference(this_rq()->rd->pd); pd; pd = pd->next) {
		struct wpk_energy *e = &energies[d->nr_energies++];

		e->first_cpu = cpumask_first(perf_domain_span(pd));
		e->best_cpu = roomiest(pd, p);
		e->without = energy_of(pd, p, WPK_NONE);
		e->with = e->best_cpu == WPK_NONE ? 0 : energy_of(pd, p, e->best_cpu);
	}
	rcu_read_unlock();
	d->energies = energies;
}

/* What a decision finds: before the tree's function is called. */
static void describe(struct wpk_decision *d, struct task_struct *p)
{
	struct root_domain *rd = this_rq()->rd;

	d->task = p->thread.number;
	d->waker = current->thread.number;
	d->cpu = wpsim_cpu;
	d->overutilized = !!READ_ONCE(rd->overutilized);
	d->energy_aware = rcu_dereference_raw(rd->pd) && !d->overutilized;
	d->in_interrupt = in_interrupt() != 0;
	d->waker_pinned = current->flags & PF_KTHREAD && current->nr_cpus_allowed == 1;
}

/* The task's own averages, which the rules bring up to date before they look at them. */
static void describe_task(struct wpk_decision *d, struct task_struct *p, unsigned long load)
{
	d->util = READ_ONCE(p->se.avg.util_avg);
	d->runnable = READ_ONCE(p->se.avg.runnable_avg);
	d->util_est = task_estimate(p);
	d->party.load = READ_ONCE(p->se.avg.load_avg);
	d->party.h_load = h_load_of(p, d->why == WPK_WHY_WAKE ? load : d->party.load);
	if (current->sched_class == &fair_sched_class)
		d->waking.h_load = h_load_of(current, READ_ONCE(current->se.avg.load_avg));
	if (view.detail && d->energy_aware)
		tell_energies(d, p);
}

/* With `detail` only: all CPUs, both tasks, energies. */
static void describe_more(struct wpk_decision *d, struct task_struct *p)
{
#ifdef CONFIG_UCLAMP_TASK
	d->uclamp_min = uclamp_eff_value(p, UCLAMP_MIN);
	d->uclamp_max = uclamp_eff_value(p, UCLAMP_MAX);
#endif
	party_of(&d->party, p);
	party_of(&d->waking, current);
	tell_choices(d, p);
}

/* Stands in the class's table in place of the tree's function, and calls that. */
static int select_and_tell(SELECT_ARGS)
{
	struct wpk_decision d = { .prev = prev, .flags = flags };
	unsigned long load = READ_ONCE(p->se.avg.load_avg);
	unsigned int dead = view.dead;

	view.decisions++;
	if (!host->placed)
		return select_of_tree(SELECT_PASS);
	describe(&d, p);
	d.why = WAKE_FORK(flags) ? WPK_WHY_FORK : WAKE_EXEC(flags) ? WPK_WHY_EXEC :
		WAKE_TTWU(flags) ? WPK_WHY_WAKE : WPK_WHY_OTHER;
	d.sync = d.why == WPK_WHY_WAKE && flags & WF_SYNC && !(current->flags & PF_EXITING);
	d.is_new = !p->se.avg.last_update_time;
	if (view.detail)
		describe_more(&d, p);
	d.answer = select_of_tree(SELECT_PASS);
	describe_task(&d, p, load);
	told_host = true;
	if (!dead)
		host->placed(host->data, &d);
	return d.answer;
}

/* Puts select_and_tell into the fair class's table. */
static void watch_decisions(void)
{
	struct sched_class *class = (struct sched_class *)&fair_sched_class;

	choices = wp_alloc(nr_cpus * sizeof(*choices), 64);
	energies = wp_alloc(nr_cpus * sizeof(*energies), 64);
	select_of_tree = class->select_task_rq;
	class->select_task_rq = select_and_tell;
}
