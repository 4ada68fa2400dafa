// SPDX-License-Identifier: GPL-2.0-only
/*
 * The platform's powers for the tree's energy model. The rules are the tree's own code
 * (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: powers are uW of the platform's table; what the kernel makes of them is its own.
 * May change: how a version is given its arguments.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * `energy_aware_placement_is_the_kernels_own` (`register_energy`, `power_at`: tasks go to little
 * CPUs), `a_decision_is_explained_by_the_trees_own_figures` (both domains have energies). With
 * trees of 5.10 to 6.18 (nightly): `power_at_before` (the first of these) and `rebuild_energy`
 * (`what_it_does_not_take_is_refused`, by `plain_set`).
 *
 * Callers: cpufreq.c or the tree's cpufreq core (`register_energy`); sysctl.c (`rebuild_energy`).
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */

/* The first operating point of at least `khz`, which becomes its frequency; -EINVAL: none. */
static int power_at(struct device *dev, unsigned long *power, unsigned long *khz)
{
	const struct wpk_domain *d = &domains[machine_cpus[dev->id].domain];
	unsigned int i;

	for (i = 0; i < d->nr_opps; i++)
		if (d->opps[i].khz >= *khz)
			break;
	if (i == d->nr_opps)
		return -EINVAL;
	*khz = d->opps[i].khz;
#ifdef WPK_HAS_EM_MICROWATTS
	*power = d->opps[i].uw;
#else
	*power = max(d->opps[i].uw / 1000, 1U);
#endif
	return 0;
}

/* The order of the arguments before 5.19. */
static int power_at_before(unsigned long *power, unsigned long *khz, struct device *dev)
{
	return power_at(dev, power, khz);
}

/* Trees before 5.11 have no last argument: one too many does no harm in a register. */
typedef int register_fn(struct device *, unsigned int, const void *, const struct cpumask *, bool);

/* Of each domain, once its policy is there. */
static void register_energy(struct cpufreq_policy *policy)
{
	static struct em_data_callback callback;
	const struct wpk_domain *d = &domains[machine_cpus[policy->cpu].domain];
	/*
	 * A tree without a callback for it is asked when the policy begins: its CPUs are all it
	 * has.
	 */
#ifdef WPK_HAS_REGISTER_EM
	const struct cpumask *cpus = policy->related_cpus;
#else
	const struct cpumask *cpus = policy->cpus;
#endif
	register_fn *function;
	int error;

	if (!(d->flags & WPK_ENERGY_MODEL))
		return;
	if (__builtin_types_compatible_p(__typeof__(callback.active_power), __typeof__(&power_at)))
		*(void **)&callback.active_power = power_at;
	else
		*(void **)&callback.active_power = power_at_before;
	function = (void *)em_dev_register_perf_domain;
	error = function(get_cpu_device(policy->cpu), d->nr_opps,
			 &callback, cpus, true);
	if (error && error != -EEXIST)
		wp_fault(WPK_FAULT_SHIM, "the kernel refuses the energy model: %d", error);
}

WP_WEAK(void, rebuild_sched_domains_energy, (void));
extern bool wp_sched_energy_update __asm__("sched_energy_update")
	__attribute__((weak, visibility("default")));

/* The kernel looks anew whether energy-aware placement is on. */
static void rebuild_energy(void)
{
	if (wp_rebuild_sched_domains_energy) {
		wp_rebuild_sched_domains_energy();
		return;
	}
	if (&wp_sched_energy_update)
		wp_sched_energy_update = true;
	rebuild_sched_domains();
	if (&wp_sched_energy_update)
		wp_sched_energy_update = false;
}
