/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_SPINLOCK_TYPES_H
#define _ASM_WPSIM_SPINLOCK_TYPES_H
/* The owner is its CPU's number and 1. */
typedef struct {
	volatile unsigned int owner;
} arch_spinlock_t;
#define __ARCH_SPIN_LOCK_UNLOCKED { 0 }

typedef struct {
	volatile unsigned int writer;
	volatile int readers;
} arch_rwlock_t;
#define __ARCH_RW_LOCK_UNLOCKED { 0, 0 }
#endif
