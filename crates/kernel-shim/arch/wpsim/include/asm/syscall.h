/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_SYSCALL_H
#define _ASM_WPSIM_SYSCALL_H
/* System calls come as calls of the shim: there are no registers to look into. */
#endif
