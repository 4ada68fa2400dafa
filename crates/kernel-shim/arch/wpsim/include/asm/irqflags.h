/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Are interrupts on? (docs/guide/kernel.md#in-a-run)
 *
 * What must stay: switching them on takes what has arrived at once; the flag is kept for each CPU
 * by to_host() in shim/switch.c. May change: nothing but names.
 *
 * Tests by part: `probes` (`arch_local_irq_restore`: tasks come to CPUs with interrupts off, and
 * none may be lost), every scenario (`arch_local_save_flags`).
 *
 * Callers: the tree, by local_irq_save() and its like; shim/irq.c defines `wpsim_take_irq`.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_IRQFLAGS_H
#define _ASM_WPSIM_IRQFLAGS_H
/*
 * The flag of the CPU that runs. What came in while interrupts were off is taken as soon as they
 * are on again, as hardware does.
 */
#define ARCH_IRQ_DISABLED 0
#define ARCH_IRQ_ENABLED 1
extern unsigned long wpsim_irq_flags;
extern int wpsim_irq_pending;
extern void wpsim_take_irq(void);

static inline unsigned long arch_local_save_flags(void)
{
	return wpsim_irq_flags;
}
#define arch_local_save_flags arch_local_save_flags

static inline void arch_local_irq_restore(unsigned long flags)
{
	wpsim_irq_flags = flags;
	if (flags && __builtin_expect(wpsim_irq_pending, 0))
		wpsim_take_irq();
}
#define arch_local_irq_restore arch_local_irq_restore
#include <asm-generic/irqflags.h>
#endif
