// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver for the platform's frequency domains below the tree's own cpufreq core. The rules are
 * the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: frequencies are kHz; a domain that the host told of is one cpufreq policy. What a
 * governor wants the host hears (`host->frequency`). May change: how a limit is asked for, if the
 * governor sees the same.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * scenarios without `SLOW` (`driver_fast_switch`), with it (`driver_target_index`), `storm`
 * (`frequency_limit`, `heat`); `waits_for_devices_move_frequencies` (`report`, `driver_policy`),
 * `a_governor_that_comes_first_repeats_no_call` (`driver_target_index`),
 * `no_kind_of_work_makes_it_warn` (`frequency_limit` by model.freq_cap). What the kernel makes of a
 * limit or of heat is not compared. The x86 half of `report` only runs with `cargo xtask
 * kernel-coverage`. The rest by every boot of a machine with domains.
 *
 * Callers: boot.c (`cpufreq_up`), control.c (limits); the driver's functions the tree's cpufreq
 * core.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */

static struct cpufreq_frequency_table **freq_tables;
static struct cpufreq_policy **policies;
static struct freq_qos_request *limits;
static bool *limited;

/* The platform's domain of a policy. */
static unsigned int domain_of(const struct cpufreq_policy *policy)
{
	return machine_cpus[policy->cpu].domain;
}

/* The highest operating point, kHz. */
static unsigned int highest(unsigned int domain)
{
	return domains[domain].opps[domains[domain].nr_opps - 1].khz;
}

/* The host hears of the new frequency; on x86 the scheduler's scale follows. */
static void report(struct cpufreq_policy *policy, unsigned int khz)
{
	unsigned int domain = domain_of(policy);

#ifdef CONFIG_WPSIM_LIKE_X86
	topology_set_freq_scale(policy->cpus, khz, highest(domain));
#endif
	told_host = true;
	host->frequency(host->data, domain, khz);
}

/* The reference of arch_set_freq_scale() is the architecture's; the core makes the call. */
static unsigned int driver_fast_switch(struct cpufreq_policy *policy, unsigned int target)
{
	const struct wpk_domain *d = &domains[domain_of(policy)];
	unsigned int i;

	for (i = 0; i < d->nr_opps - 1; i++)
		if (d->opps[i].khz >= target || d->opps[i + 1].khz > policy->max)
			break;
	if (d->opps[i].khz != policy->cur)
		report(policy, d->opps[i].khz);
	return d->opps[i].khz;
}

/* A slow change: the governor's thread is busy meanwhile, unless the owner orders it. */
static int driver_target_index(struct cpufreq_policy *policy, unsigned int index)
{
	const struct wpk_domain *d = &domains[domain_of(policy)];

	/* What the machine's owner orders takes no time, nor does what it makes the governor do. */
	if (!owner_waits())
		kernel_work(d->switch_ns);
	report(policy, freq_tables[domain_of(policy)][index].frequency);
	return 0;
}

/* What cpufreq is told that the CPU runs at, kHz. */
static unsigned int driver_get(unsigned int cpu)
{
	return domain_khz(machine_cpus[cpu].domain);
}

/* Fills in a policy; -ENODEV: the CPU has no clock of its own. */
static int driver_policy(struct cpufreq_policy *policy)
{
	unsigned int cpu, domain = domain_of(policy);
	const struct wpk_domain *d;

	if (domain >= nr_domains)
		return -ENODEV;
	d = &domains[domain];
	for_each_possible_cpu(cpu)
		if (machine_cpus[cpu].domain == domain)
			cpumask_set_cpu(cpu, policy->cpus);
	policy->freq_table = freq_tables[domain];
	policy->cpuinfo.transition_latency = d->transition_latency_ns;
	policy->transition_delay_us = d->rate_limit_us;
	policy->fast_switch_possible = d->flags & WPK_FAST_SWITCH;
	policy->dvfs_possible_from_any_cpu = !!(d->flags & WPK_ANY_CPU);
	policy->cur = d->boot_khz ? d->boot_khz : d->opps[0].khz;
	policies[domain] = policy;
#ifndef WPK_HAS_REGISTER_EM
	register_energy(policy);
#endif
	return 0;
}

/* A policy outlives its CPUs: they come back to it. */
static int driver_keep(struct cpufreq_policy *policy)
{
	return 0;
}

static struct cpufreq_driver driver = {
	.name = "wakeplace",
	.flags = CPUFREQ_HAVE_GOVERNOR_PER_POLICY,
	.init = driver_policy,
	.online = driver_keep,
	.offline = driver_keep,
	.verify = cpufreq_generic_frequency_table_verify,
	.target_index = driver_target_index,
	.fast_switch = driver_fast_switch,
	.get = driver_get,
#ifdef WPK_HAS_REGISTER_EM
	.register_em = register_energy,
#endif
};

/* What the domain runs at; before there are policies what it boots at. */
static unsigned int domain_khz(unsigned int domain)
{
	if (domain >= nr_domains)
		return 0;
	if (!policies || !policies[domain])
		return domains[domain].boot_khz
			? domains[domain].boot_khz : domains[domain].opps[0].khz;
	return policies[domain]->cur;
}

/* The table of frequencies, ascending. */
static void describe_domain(unsigned int domain)
{
	const struct wpk_domain *d = &domains[domain];
	struct cpufreq_frequency_table *t = wp_alloc((d->nr_opps + 1) * sizeof(*t), 8);
	unsigned int i;

	for (i = 0; i < d->nr_opps; i++) {
		t[i].driver_data = i;
		t[i].frequency = d->opps[i].khz;
	}
	t[i].frequency = CPUFREQ_TABLE_END;
	freq_tables[domain] = t;
}

/* Registers the driver with this governor, once the CPUs are up. */
static void cpufreq_up(const char *governor)
{
	unsigned int i, cpu;
	int error;

	if (!nr_domains)
		return;
	freq_tables = wp_alloc(nr_domains * sizeof(*freq_tables), 8);
	policies = wp_alloc(nr_domains * sizeof(*policies), 8);
	limits = wp_alloc(nr_domains * sizeof(*limits), 8);
	limited = wp_alloc(nr_domains * sizeof(*limited), 8);
	for (i = 0; i < nr_domains; i++)
		describe_domain(i);
	error = cpufreq_register_driver(&driver);
	if (error)
		wp_fault(WPK_FAULT_SHIM, "the kernel refuses the frequency domains: %d", error);
	if (governor)
		error = kobjects_store("scaling_governor", governor);
	if (error)
		wp_fault(WPK_FAULT_SHIM, "the kernel has no frequency governor %s: %d", governor,
			error);
	for_each_possible_cpu(cpu) {
		unsigned int domain = machine_cpus[cpu].domain;

		if (domain < nr_domains)
			topology_set_freq_scale(cpumask_of(cpu), domain_khz(domain),
				highest(domain));
	}
}

/* As cooling devices ask: a request of its own beside the user's. */
static int frequency_limit(unsigned int domain, u64 khz)
{
	s32 most = khz ? khz : FREQ_QOS_MAX_DEFAULT_VALUE;
	int answer;

	if (domain >= nr_domains || !policies || !policies[domain])
		return -EINVAL;
	if (limited[domain])
		answer = freq_qos_update_request(&limits[domain], most);
	else
		answer = freq_qos_add_request(&policies[domain]->constraints, &limits[domain],
					      FREQ_QOS_MAX, most);
	limited[domain] = true;
	return answer < 0 ? answer : 0;
}

WP_WEAK(void, topology_update_hw_pressure, (const struct cpumask *, unsigned long));
WP_WEAK(void, topology_update_thermal_pressure, (const struct cpumask *, unsigned long));
WP_WEAK(void, topology_set_thermal_pressure, (const struct cpumask *, unsigned long));

/* A limit by warmth, as a cooling device sets it; 0 kHz: none. */
static int heat(unsigned int domain, u64 khz)
{
	const struct cpumask *cpus;
	unsigned int most;

	if (domain >= nr_domains || !policies || !policies[domain])
		return -EINVAL;
	cpus = policies[domain]->related_cpus;
	most = highest(domain);
	if (!khz || khz > most)
		khz = most;
	if (wp_topology_update_hw_pressure) {
		wp_topology_update_hw_pressure(cpus, khz);
	} else if (wp_topology_update_thermal_pressure) {
		wp_topology_update_thermal_pressure(cpus, khz);
	} else if (wp_topology_set_thermal_pressure) {
		unsigned long capacity = arch_scale_cpu_capacity(cpumask_first(cpus));

		wp_topology_set_thermal_pressure(cpus, capacity - div_u64(capacity * khz, most));
	} else {
		return -EOPNOTSUPP;
	}
	return 0;
}
