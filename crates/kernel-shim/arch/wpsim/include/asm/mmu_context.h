/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address spaces: there are none (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: all of it does nothing. May change: a name that a new tree asks for.
 *
 * Tests by part: none: there is nothing to see.
 *
 * Callers: the tree's context_switch() and fork code.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_MMU_CONTEXT_H
#define _ASM_WPSIM_MMU_CONTEXT_H
/* No address spaces: all tasks share init_mm or have none. */
#include <asm-generic/mm_hooks.h>
struct mm_struct;
struct task_struct;
static inline int init_new_context(struct task_struct *t, struct mm_struct *m)
{
	return 0;
}
#define init_new_context init_new_context
static inline void destroy_context(struct mm_struct *m)
{
}
#define destroy_context destroy_context
static inline void enter_lazy_tlb(struct mm_struct *m, struct task_struct *t)
{
}
#define enter_lazy_tlb enter_lazy_tlb
static inline void deactivate_mm(struct task_struct *t, struct mm_struct *m)
{
}
#define deactivate_mm deactivate_mm
static inline void activate_mm(struct mm_struct *prev, struct mm_struct *next)
{
}
#define activate_mm activate_mm
static inline void switch_mm(struct mm_struct *prev, struct mm_struct *next,
			     struct task_struct *t)
{
}
#endif
