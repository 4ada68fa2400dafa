/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an interrupt broke into (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: `user` says whether it was user mode: shim/irq.c sets it, the tick counts time by
 * it. May change: macros that nobody reads.
 *
 * Tests by part: every scenario reads user_mode() in each tick; its answer is compared by none.
 *
 * Callers: the tree, by get_irq_regs().
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_PTRACE_H
#define _ASM_WPSIM_PTRACE_H
#ifndef __ASSEMBLY__
/* What an interrupt broke into: all that the kernel asks is whether it was user mode. */
struct pt_regs {
	unsigned long pc, sp, fp, user;
};
#define user_mode(r) ((r)->user)
#define instruction_pointer(r) ((r)->pc)
#define instruction_pointer_set(r, v) ((r)->pc = (v))
#define user_stack_pointer(r) ((r)->sp)
#define kernel_stack_pointer(r) ((r)->sp)
#define frame_pointer(r) ((r)->fp)
#define profile_pc(r) ((r)->pc)
#define regs_return_value(r) ((r)->pc)
static inline int regs_irqs_disabled(struct pt_regs *r)
{
	return 0;
}
#endif
#endif
