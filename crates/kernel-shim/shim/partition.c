// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scheduling domains as exclusive cpusets make them: some CPUs, and the rest. The rules are the
 * tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: domains are built by the tree's own code. May change: how many parts there are.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * `storm` (`change_machine`: `partition`, `build_partition`, and `repartition` when a CPU comes or
 * goes). Which domains come of it is not compared.
 *
 * Callers: control.c (`partition`), hotplug.c (`repartition`).
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
static bool partitioned;
static struct cpumask partition_mask;

/* Tells the tree of the partition, or of none. */
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

/* A mask divides; NULL: no partition. */
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
