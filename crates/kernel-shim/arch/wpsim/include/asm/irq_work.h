/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work by an interrupt to oneself (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: the answer is yes: `arch_irq_work_raise` in shim/irq.c sends one. May change:
 * nothing.
 *
 * Tests by part: `SLOW=1` scenarios (schedutil wakes its thread by such a work).
 *
 * Callers: the tree's kernel/irq_work.c.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_IRQ_WORK_H
#define _ASM_WPSIM_IRQ_WORK_H
#include <linux/types.h>
static inline bool arch_irq_work_has_interrupt(void)
{
	return true;
}
void arch_irq_work_raise(void);
#endif
