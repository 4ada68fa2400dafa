/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: a lock has the number of its owner's CPU and 1, of which shim/fault.c tells a
 * lock that is taken twice. May change: the order of the checks in a lock of readers.
 *
 * Tests by part: every scenario takes them, and a lock that is not given back ends it
 * (`arch_spin_lock`, `arch_spin_unlock`, `arch_spin_trylock`). That a lock taken twice is named has
 * no test of its own; nor have the six of readers and writers.
 *
 * Callers: the tree's lock layer; `wpsim_lock_wait` is in shim/fault.c.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_SPINLOCK_H
#define _ASM_WPSIM_SPINLOCK_H
/*
 * One host thread runs all CPUs, and a CPU gives way only where it waits for another. So a lock is
 * free, or its owner waits for somebody, or it is taken twice: then the run is over.
 */
#include <asm/spinlock_types.h>
extern int wpsim_cpu;
void wpsim_lock_wait(unsigned int owner, void *lock);
#define arch_spin_is_locked(x) ((x)->owner != 0)
#define arch_spin_is_contended(x) 0
#define arch_spin_value_unlocked(x) ((x).owner == 0)

#ifdef WPSIM_COHERENT
/* A lock is a queue on its line (shim/stall.c). */
void wpsim_spin_lock(arch_spinlock_t *l);
int wpsim_spin_trylock(arch_spinlock_t *l);
void wpsim_spin_unlock(arch_spinlock_t *l);
void wpsim_read_lock(arch_rwlock_t *l);
int wpsim_read_trylock(arch_rwlock_t *l);
void wpsim_read_unlock(arch_rwlock_t *l);
void wpsim_write_lock(arch_rwlock_t *l);
int wpsim_write_trylock(arch_rwlock_t *l);
void wpsim_write_unlock(arch_rwlock_t *l);
#define arch_spin_lock wpsim_spin_lock
#define arch_spin_trylock wpsim_spin_trylock
#define arch_spin_unlock wpsim_spin_unlock
#define arch_read_lock wpsim_read_lock
#define arch_read_trylock wpsim_read_trylock
#define arch_read_unlock wpsim_read_unlock
#define arch_write_lock wpsim_write_lock
#define arch_write_trylock wpsim_write_trylock
#define arch_write_unlock wpsim_write_unlock
#else
static __always_inline void arch_spin_lock(arch_spinlock_t *l)
{
	while (__builtin_expect(l->owner, 0))
		wpsim_lock_wait(l->owner, l);
	l->owner = wpsim_cpu + 1;
}

static __always_inline int arch_spin_trylock(arch_spinlock_t *l)
{
	if (l->owner)
		return 0;
	l->owner = wpsim_cpu + 1;
	return 1;
}

static __always_inline void arch_spin_unlock(arch_spinlock_t *l)
{
	l->owner = 0;
}

static inline void arch_read_lock(arch_rwlock_t *l)
{
	while (l->writer)
		wpsim_lock_wait(l->writer, l);
	l->readers++;
}

static inline int arch_read_trylock(arch_rwlock_t *l)
{
	if (l->writer)
		return 0;
	l->readers++;
	return 1;
}

static inline void arch_read_unlock(arch_rwlock_t *l)
{
	l->readers--;
}

static inline void arch_write_lock(arch_rwlock_t *l)
{
	while (l->writer || l->readers)
		wpsim_lock_wait(l->writer, l);
	l->writer = wpsim_cpu + 1;
}

static inline int arch_write_trylock(arch_rwlock_t *l)
{
	if (l->writer || l->readers)
		return 0;
	l->writer = wpsim_cpu + 1;
	return 1;
}

static inline void arch_write_unlock(arch_rwlock_t *l)
{
	l->writer = 0;
}
#endif
#define arch_rwlock_is_contended(l) 0
#endif
