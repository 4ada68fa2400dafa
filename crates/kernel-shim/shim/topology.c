// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's levels, as drivers/base/arch_topology.c keeps them, and its nodes. The rules are
 * the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: levels and distances are the platform's; domains are built by the tree of them.
 * May change: a level that a new tree has.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * crates/kernel-tree/tests/all/real_tree.rs: `a_kernel_of_the_archive_boots` (`topology_init`:
 * capacities); `big` and `MACHINE=x86 storm` (`siblings_init` with threads, `nodes_init`,
 * `wpsim_node_distance`). Which domains come of it is not compared with a real machine here. The
 * rest by every boot.
 *
 * Callers: boot.c (`topology_init`); the rest the tree.
 *
 * Tests: crates/kernel-tree/tests/all/real_tree.rs, crates/kernel-shim/tests
 */

/* Does the kernel know the CPU's last-level cache? */
bool last_level_cache_is_valid(unsigned int cpu)
{
	return machine_cpus[cpu].llc != WPK_NONE;
}

/* Do the two CPUs share one? */
bool last_level_cache_is_shared(unsigned int a, unsigned int b)
{
	return last_level_cache_is_valid(a) && machine_cpus[a].llc == machine_cpus[b].llc;
}

#ifdef CONFIG_NUMA
struct cpumask wpsim_node_mask[MAX_NUMNODES];
DEFINE_PER_CPU(int, numa_node);
nodemask_t node_states[NR_NODE_STATES];
unsigned int nr_node_ids = 1, nr_online_nodes = 1;

/* 10 and 20 where the platform says nothing, as the kernel assumes. */
int wpsim_node_distance(int from, int to)
{
	if (distances && from < nr_nodes && to < nr_nodes)
		return distances[from * nr_nodes + to];
	return from == to ? LOCAL_DISTANCE : REMOTE_DISTANCE;
}

static void nodes_init(void)
{
	unsigned int cpu, node;

	for (node = 0; node < nr_nodes; node++) {
		node_set_state(node, N_POSSIBLE);
		node_set_state(node, N_ONLINE);
		node_set_state(node, N_CPU);
		node_set_state(node, N_MEMORY);
	}
	nr_node_ids = nr_online_nodes = nr_nodes;
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		per_cpu(numa_node, cpu) = machine_cpus[cpu].node;
		cpumask_set_cpu(cpu, &wpsim_node_mask[machine_cpus[cpu].node]);
	}
}
#else
static void nodes_init(void)
{
}
#endif

/* Masks of threads, cores, clusters and caches of a CPU. */
static void siblings_init(unsigned int cpu)
{
	const struct wpk_machine_cpu *m = &machine_cpus[cpu];
	struct cpu_topology *t = &cpu_topology[cpu];
	unsigned int other;

	for (other = 0; other < nr_cpus; other++) {
		const struct wpk_machine_cpu *o = &machine_cpus[other];

		if (o->package == m->package)
			cpumask_set_cpu(other, &t->core_sibling);
		if (o->llc == m->llc && m->llc != WPK_NONE)
			cpumask_set_cpu(other, &t->llc_sibling);
		if (o->core == m->core)
			cpumask_set_cpu(other, &t->thread_sibling);
#ifdef WPK_HAS_CLUSTER
		if (o->core == m->core || (o->cluster == m->cluster && m->cluster != WPK_NONE))
			cpumask_set_cpu(other, &t->cluster_sibling);
#endif
	}
}

/* Before domains are built; capacities are of 1024. */
static void topology_init(void)
{
	unsigned int cpu;

	nodes_init();
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		const struct wpk_machine_cpu *m = &machine_cpus[cpu];
		struct cpu_topology *t = &cpu_topology[cpu];

		topology_set_cpu_scale(cpu, m->capacity);
#ifdef WPK_HAS_CAPACITY_FREQ_REF
		if (m->domain != WPK_NONE)
			per_cpu(capacity_freq_ref, cpu) =
				domains[m->domain].opps[domains[m->domain].nr_opps - 1].khz;
#endif
		t->thread_id = -1;
		t->core_id = m->core;
#ifdef WPK_HAS_CLUSTER
		t->cluster_id = m->cluster == WPK_NONE ? -1 : (int)m->cluster;
#endif
#ifdef WPK_HAS_LLC_ID
		t->llc_id = m->llc == WPK_NONE ? -1 : (int)m->llc;
#endif
		t->package_id = m->package;
		siblings_init(cpu);
	}
}
