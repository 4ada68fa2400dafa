// SPDX-License-Identifier: GPL-2.0-only
/* Scheduling domains as exclusive cpusets make them: some CPUs, and the rest. */
static bool partitioned;
static struct cpumask partition_mask;

static void build_partition(void)
{
	cpumask_var_t *doms;
	int n = 0;

	if (!partitioned) {
		rebuild_sched_domains();
		return;
	}
	doms = alloc_sched_domains(2);
	if (!doms)
		return;
	cpumask_and(doms[n], &partition_mask, cpu_active_mask);
	if (!cpumask_empty(doms[n]))
		n++;
	cpumask_andnot(doms[n], cpu_active_mask, &partition_mask);
	if (!cpumask_empty(doms[n]))
		n++;
	cpus_read_lock();
	partition_sched_domains(n, doms, NULL);
	cpus_read_unlock();
}

static int partition(const wpk_u64 *mask)
{
	partitioned = mask != NULL;
	if (mask)
		mask_of(&partition_mask, mask);
	build_partition();
	return 0;
}

/* A CPU that went or came made one domain of all. */
static void repartition(void)
{
	if (partitioned)
		build_partition();
}
