/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPU it is, and interrupts between CPUs (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: `wpsim_cpu` is set by set_cpu() in shim/switch.c alone. May change: nothing but
 * names.
 *
 * Tests by part: every scenario (interrupts between CPUs are counted in its report); the functions
 * are in shim/irq.c and shim/hotplug.c.
 *
 * Callers: the tree.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_SMP_H
#define _ASM_WPSIM_SMP_H
#include <linux/cpumask.h>
extern int wpsim_cpu;
#define raw_smp_processor_id() (wpsim_cpu)
void arch_smp_send_reschedule(int cpu);
#define arch_smp_send_reschedule arch_smp_send_reschedule
void smp_send_reschedule(int cpu);
void arch_send_call_function_single_ipi(int cpu);
void arch_send_call_function_ipi_mask(const struct cpumask *mask);
int __cpu_disable(void);
void __cpu_die(unsigned int cpu);
#endif
