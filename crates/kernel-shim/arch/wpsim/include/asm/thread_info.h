/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flags and stack size of a task (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: numbers of flags are equal in the tree's and in shim/irq.c, whose USER_WORK is
 * made of them. May change: THREAD_SIZE_ORDER, upwards.
 *
 * Tests by part: every scenario (a flag that is not seen reschedules nobody).
 *
 * Callers: the tree; shim/irq.c and shim/switch.c.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_THREAD_INFO_H
#define _ASM_WPSIM_THREAD_INFO_H
#define THREAD_SIZE_ORDER 4
#define THREAD_SIZE (4096UL << THREAD_SIZE_ORDER)
#ifndef __ASSEMBLY__
struct thread_info {
	unsigned long flags;
	unsigned long syscall_work;
	int preempt_count;
	unsigned int cpu;
};
#define INIT_THREAD_INFO(tsk) { .flags = 0, .preempt_count = INIT_PREEMPT_COUNT }
#endif
#ifdef CONFIG_HAVE_GENERIC_TIF_BITS
#define HAVE_TIF_NEED_RESCHED_LAZY
#define HAVE_TIF_RESTORE_SIGMASK
#include <asm-generic/thread_info_tif.h>
#else
#define TIF_SIGPENDING 0
#define TIF_NEED_RESCHED 1
#define TIF_NEED_RESCHED_LAZY 2
#define TIF_NOTIFY_RESUME 3
#define TIF_NOTIFY_SIGNAL 4
#define TIF_UPROBE 5
#define TIF_MEMDIE 7
#define TIF_RESTORE_SIGMASK 8
#define TIF_PATCH_PENDING 9
#define _TIF_SIGPENDING (1UL << TIF_SIGPENDING)
#define _TIF_NEED_RESCHED (1UL << TIF_NEED_RESCHED)
#define _TIF_NEED_RESCHED_LAZY (1UL << TIF_NEED_RESCHED_LAZY)
#define _TIF_NOTIFY_RESUME (1UL << TIF_NOTIFY_RESUME)
#define _TIF_NOTIFY_SIGNAL (1UL << TIF_NOTIFY_SIGNAL)
#define _TIF_UPROBE (1UL << TIF_UPROBE)
#define _TIF_PATCH_PENDING (1UL << TIF_PATCH_PENDING)
#endif
#ifndef TIF_SYSCALL_TRACE
#define TIF_SYSCALL_TRACE 20
#endif
#endif
