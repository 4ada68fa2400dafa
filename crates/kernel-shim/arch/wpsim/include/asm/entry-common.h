/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_ENTRY_COMMON_H
#define _ASM_WPSIM_ENTRY_COMMON_H
/* The way back to user mode is the shim's (shim/irq.c, `exit_to_user`): nothing to add. */
#endif
