/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-CPU data (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: `wpsim_my_offset` is set by set_cpu() in shim/switch.c alone, but for CPU 0 at
 * the boot (shim/memory.c). May change: nothing.
 *
 * Tests by part: every scenario: a wrong copy is another CPU's queue.
 *
 * Callers: the tree, by this_cpu_ptr() and its like.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_PERCPU_H
#define _ASM_WPSIM_PERCPU_H
/* The copy of the CPU that runs: the host's visit to a CPU sets it. */
extern unsigned long wpsim_my_offset;
#define __my_cpu_offset wpsim_my_offset
#include <asm-generic/percpu.h>
#endif
