/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the scheduler asks of the machine (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: capacities, frequencies and pressures are those of drivers/base/arch_topology.c;
 * nodes are the platform's. May change: a question that a new tree asks.
 *
 * Tests by part: crates/kernel-tree/tests/all/real_tree.rs: `a_kernel_of_the_archive_boots`
 * (capacities); `big` and `MACHINE=x86 storm` (nodes).
 *
 * Callers: the tree; shim/topology.c defines what is of wpsim_.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_TOPOLOGY_H
#define _ASM_WPSIM_TOPOLOGY_H
/*
 * What the scheduler asks of the machine is answered by drivers/base/arch_topology.c, as on arm64.
 */
#include <linux/cpumask.h>
#include <linux/arch_topology.h>
#define arch_scale_freq_capacity topology_get_freq_scale
#define arch_scale_freq_invariant topology_scale_freq_invariant
#define arch_scale_cpu_capacity topology_get_cpu_scale
#define arch_update_cpu_topology topology_update_cpu_topology
/* An x86 has no reference frequency, and measures its scale: shim/cpufreq.c sets it. */
#ifndef CONFIG_WPSIM_LIKE_X86
#define arch_set_freq_scale topology_set_freq_scale
#define arch_scale_freq_ref topology_get_freq_ref
#endif
#ifdef CONFIG_SCHED_HW_PRESSURE
#define arch_scale_hw_pressure topology_get_hw_pressure
#define arch_update_hw_pressure topology_update_hw_pressure
#endif
#ifdef CONFIG_SCHED_THERMAL_PRESSURE
#define arch_scale_thermal_pressure topology_get_thermal_pressure
#define arch_update_thermal_pressure topology_update_thermal_pressure
#define arch_set_thermal_pressure topology_set_thermal_pressure
#endif
#ifdef CONFIG_NUMA
extern struct cpumask wpsim_node_mask[];
extern int wpsim_node_distance(int from, int to);
#define cpumask_of_node(n) \
	((n) == NUMA_NO_NODE ? cpu_all_mask : (const struct cpumask *)&wpsim_node_mask[n])
#define node_distance(from, to) wpsim_node_distance(from, to)
#endif
#include <asm-generic/topology.h>
#endif
