// SPDX-License-Identifier: GPL-2.0-only
/*
 * The idle loop is the kernel's own. Here is where its CPU waits, and a driver for the platform's
 * states. The rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: which state is the governor's choice; times of states are the platform's, ns. May
 * change: how many tables of states there may be.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) every
 * scenario (`enter_state`, `wait_in`, `cpuidle_up`), `IDLE_GOVERNOR=teo periodic`
 * (`cpuidle_before`), `storm` (`idle_governor`); `a_decision_is_explained_by_the_trees_own_figures`
 * (states of idle CPUs), `no_kind_of_work_makes_it_warn` (`arch_cpu_idle`: model.cpuidle=none). The
 * rest by every boot.
 *
 * Callers: boot.c (`cpuidle_before`, `cpuidle_up`), parameters.c (`idle_governor`); the rest the
 * tree's idle loop.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */

/* The CPU waits at the host, in this state, until something comes. */
static void wait_in(unsigned int state)
{
	struct wpk_cpu *c = &view.cpus[wpsim_cpu];

	rcu_settle();
	c->idle_state = state;
	changed(wpsim_cpu);
	to_host(WPK_WAIT);
	c->idle_state = WPK_NONE;
	changed(wpsim_cpu);
	wpsim_irq_pending = arrived[wpsim_cpu] != 0;
}

/* Interrupts are off here, and on soon after: there what woke the CPU is taken. */
void arch_cpu_idle(void)
{
	wait_in(WPK_IDLE_DEFAULT);
#ifdef WPK_HAS_IDLE_ENABLES_IRQS
	raw_local_irq_enable();
#endif
}

/* The driver's entry: the index that was entered. */
static int enter_state(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index)
{
	wait_in(index);
	return index;
}

static struct cpuidle_driver idle_drivers[32];

/* The governor's name, before the framework starts. */
static void cpuidle_before(const char *governor)
{
	if (governor)
		strscpy(param_governor, governor, CPUIDLE_NAME_LEN);
}

/* A driver's table, of the platform's states. */
static void describe_states(struct cpuidle_driver *drv, const struct wpk_idle_table *table)
{
	unsigned int i;

	drv->state_count = min_t(unsigned int, table->nr_states, CPUIDLE_STATE_MAX);
	for (i = 0; i < drv->state_count; i++) {
		const struct wpk_idle_state *from = &table->states[i];
		struct cpuidle_state *to = &drv->states[i];

		strscpy(to->name, from->name, CPUIDLE_NAME_LEN);
		strscpy(to->desc, from->name, CPUIDLE_DESC_LEN);
		/* Both forms, as the kernel takes the microseconds where there are any. */
		to->exit_latency = from->exit_latency_ns / NSEC_PER_USEC;
		to->exit_latency_ns = from->exit_latency_ns;
		to->target_residency = from->residency_ns / NSEC_PER_USEC;
		to->target_residency_ns = from->residency_ns;
		to->flags = from->flags & WPK_POLLING ? CPUIDLE_FLAG_POLLING : 0;
		to->enter = enter_state;
	}
}

/* A driver for each table of states. */
static void cpuidle_up(void)
{
	static struct cpumask masks[ARRAY_SIZE(idle_drivers)];
	unsigned int i, cpu;

	if (nr_idle_tables > ARRAY_SIZE(idle_drivers))
		wp_fault(WPK_FAULT_SHIM, "more than %zu tables of idle states",
			ARRAY_SIZE(idle_drivers));
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (machine_cpus[cpu].idle < nr_idle_tables)
			cpumask_set_cpu(cpu, &masks[machine_cpus[cpu].idle]);
	for (i = 0; i < nr_idle_tables; i++) {
		struct cpuidle_driver *drv = &idle_drivers[i];
		int error;

		if (cpumask_empty(&masks[i]) || !idle_tables[i].nr_states)
			continue;
		drv->name = "wakeplace";
		drv->cpumask = &masks[i];
		describe_states(drv, &idle_tables[i]);
		error = cpuidle_register(drv, NULL);
		if (error)
			wp_fault(WPK_FAULT_SHIM, "the kernel refuses idle states: %d", error);
	}
}

/* -ENOENT: the tree has no such governor. */
static int idle_governor(const char *name)
{
	struct cpuidle_governor *g;
	int error = -ENOENT;

	mutex_lock(&cpuidle_lock);
	list_for_each_entry(g, &cpuidle_governors, governor_list)
		if (!strcmp(g->name, name)) {
			error = cpuidle_switch_governor(g);
			break;
		}
	mutex_unlock(&cpuidle_lock);
	return error;
}
