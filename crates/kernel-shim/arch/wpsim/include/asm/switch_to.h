/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_SWITCH_TO_H
#define _ASM_WPSIM_SWITCH_TO_H
struct task_struct;
extern struct task_struct *wpsim_switch_to(struct task_struct *prev, struct task_struct *next);
#define switch_to(prev, next, last) ((last) = wpsim_switch_to((prev), (next)))
#endif
