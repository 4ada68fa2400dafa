/* SPDX-License-Identifier: GPL-2.0-only */
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
