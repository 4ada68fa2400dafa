/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_IRQ_WORK_H
#define _ASM_WPSIM_IRQ_WORK_H
#include <linux/types.h>
static inline bool arch_irq_work_has_interrupt(void)
{
	return true;
}
void arch_irq_work_raise(void);
#endif
