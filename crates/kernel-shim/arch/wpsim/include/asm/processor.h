/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a task keeps for the processor, and how a CPU waits (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: `number` is the host's; cpu_relax() lets other CPUs run, or a wait would never
 * end. May change: the functions that do nothing.
 *
 * Tests by part: `storm` (cpu_relax(): CPUs that wait for each other when one goes), every scenario
 * (`struct thread_struct`, of which shim/switch.c takes stacks).
 *
 * Callers: the tree; shim/switch.c, shim/task.c and shim/fault.c read the fields.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_PROCESSOR_H
#define _ASM_WPSIM_PROCESSOR_H
#include <linux/types.h>
#include <asm/ptrace.h>
struct task_struct;
/* Where a task that does not run left its stack, and who it is for the host. */
struct thread_struct {
	void *sp;
	void *stack;
	unsigned int number;
#ifdef WPSIM_COHERENT
	unsigned int readers;	/* of RCU, nested */
	void *kept;		/* what it was last called for */
#endif
};
#define INIT_THREAD { .number = ~0U }
#define TASK_SIZE (1UL << 46)
#define TASK_UNMAPPED_BASE 0
#define STACK_TOP TASK_SIZE
#define STACK_TOP_MAX TASK_SIZE
/* A wait for another CPU: lets the others run. */
extern void wpsim_relax(void);
#define cpu_relax() wpsim_relax()
#define task_pt_regs(t) ((struct pt_regs *)0)
#define KSTK_EIP(t) 0UL
#define KSTK_ESP(t) 0UL
static inline unsigned long thread_saved_pc(struct task_struct *t)
{
	return 0;
}
/* Trees before 5.16 ask the architecture for the whole of it. */
static inline unsigned long __get_wchan(struct task_struct *t)
{
	return 0;
}
#ifndef WPK_HAS_GENERIC_WCHAN
static inline unsigned long get_wchan(struct task_struct *t)
{
	return 0;
}
#endif
static inline void flush_thread(void)
{
}
static inline void start_thread(struct pt_regs *r, unsigned long pc, unsigned long sp)
{
}
static inline void prefetch(const void *x)
{
}
static inline void prefetchw(const void *x)
{
}
#define ARCH_HAS_PREFETCH
#define ARCH_HAS_PREFETCHW
#define ARCH_HAS_SPINLOCK_PREFETCH
#define spin_lock_prefetch(x) do { } while (0)
#endif
