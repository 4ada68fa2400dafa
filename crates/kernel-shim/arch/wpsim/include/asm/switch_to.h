/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The switch of tasks (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: `last` is who ran before, as the scheduler finishes with it. May change: nothing.
 *
 * Tests by part: every scenario switches with it, on x86-64 and by emulation on arm64.
 *
 * Callers: the tree's context_switch(); the function is in shim/switch.c.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_SWITCH_TO_H
#define _ASM_WPSIM_SWITCH_TO_H
struct task_struct;
extern struct task_struct *wpsim_switch_to(struct task_struct *prev, struct task_struct *next);
#define switch_to(prev, next, last) ((last) = wpsim_switch_to((prev), (next)))
#endif
