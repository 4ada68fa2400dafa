/* SPDX-License-Identifier: GPL-2.0-only */
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
