/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_PERCPU_H
#define _ASM_WPSIM_PERCPU_H
/* The copy of the CPU that runs: the host's visit to a CPU sets it. */
extern unsigned long wpsim_my_offset;
#define __my_cpu_offset wpsim_my_offset
#include <asm-generic/percpu.h>
#endif
