/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_CURRENT_H
#define _ASM_WPSIM_CURRENT_H
struct task_struct;
extern struct task_struct *wpsim_current;
#define get_current() (wpsim_current)
#define current get_current()
#endif
