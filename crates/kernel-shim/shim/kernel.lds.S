/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections that the kernel walks, in a shared object that is linked as usual otherwise. */
#include <asm-generic/vmlinux.lds.h>
SECTIONS
{
	.wp_percpu : ALIGN(4096) { PERCPU_INPUT(64) }
	.wp_sched : ALIGN(64) { SCHED_DATA }
	.wp_init : ALIGN(64) { INIT_CALLS }
	jiffies = jiffies_64;
}
INSERT AFTER .data;
