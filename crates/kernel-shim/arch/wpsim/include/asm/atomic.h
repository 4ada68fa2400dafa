/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Atomic operations (docs/guide/kernel.md#in-a-run): plain C, as one thread runs all CPUs.
 *
 * What must stay: one name per operation in its three forms; an answer is the value before
 * (`fetch`) or after (`return`). May change: an operation more.
 *
 * Tests by part: none looks at one operation: all that the kernel counts goes through them, and a
 * fault, a WARN or two results that differ fail any scenario.
 *
 * Callers: the tree's generic layer of atomics, by these names.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_ATOMIC_H
#define _ASM_WPSIM_ATOMIC_H
#include <linux/types.h>
#include <asm/cmpxchg.h>
#include <asm/barrier.h>
/* Trees before 5.14 ask whether these are the arch_ forms. */
#define ARCH_ATOMIC
#ifndef ATOMIC64_INIT
#define ATOMIC64_INIT(i) { (i) }
#endif
#define arch_atomic_read(v) READ_ONCE((v)->counter)
#define arch_atomic_set(v, i) WRITE_ONCE((v)->counter, (i))
#define arch_atomic64_read(v) READ_ONCE((v)->counter)
#define arch_atomic64_set(v, i) WRITE_ONCE((v)->counter, (i))

/* One operation in its three forms: no answer, the value before, the value after. */
#ifdef WPSIM_COHERENT
/* As in cmpxchg.h: one access each. */
#define WPSIM_ATOMIC(prefix, type, word, op, builtin, arg, expr)            \
static __always_inline word prefix##_fetch_##op(word i, type *v)            \
{                                                                           \
	return __atomic_fetch_##builtin(&v->counter, arg, __ATOMIC_SEQ_CST); \
}                                                                           \
static __always_inline void prefix##_##op(word i, type *v)                  \
{                                                                           \
	prefix##_fetch_##op(i, v);                                          \
}                                                                           \
static __always_inline word prefix##_##op##_return(word i, type *v)         \
{                                                                           \
	word old = prefix##_fetch_##op(i, v);                               \
	return (expr);                                                      \
}
#else
#define WPSIM_ATOMIC(prefix, type, word, op, builtin, arg, expr)            \
static __always_inline void prefix##_##op(word i, type *v)                  \
{                                                                           \
	word old = v->counter;                                              \
	v->counter = (expr);                                                \
}                                                                           \
static __always_inline word prefix##_fetch_##op(word i, type *v)            \
{                                                                           \
	word old = v->counter;                                              \
	v->counter = (expr);                                                \
	return old;                                                         \
}                                                                           \
static __always_inline word prefix##_##op##_return(word i, type *v)         \
{                                                                           \
	word old = v->counter;                                              \
	return v->counter = (expr);                                         \
}
#endif
#define WPSIM_ATOMICS(prefix, type, word)                                   \
WPSIM_ATOMIC(prefix, type, word, add, add, i, old + i)                      \
WPSIM_ATOMIC(prefix, type, word, sub, sub, i, old - i)                      \
WPSIM_ATOMIC(prefix, type, word, and, and, i, old & i)                      \
WPSIM_ATOMIC(prefix, type, word, or, or, i, old | i)                        \
WPSIM_ATOMIC(prefix, type, word, xor, xor, i, old ^ i)                      \
WPSIM_ATOMIC(prefix, type, word, andnot, and, ~i, old & ~i)
WPSIM_ATOMICS(arch_atomic, atomic_t, int)
WPSIM_ATOMICS(arch_atomic64, atomic64_t, s64)
#define arch_atomic_xchg(v, n) arch_xchg(&(v)->counter, n)
#define arch_atomic_cmpxchg(v, o, n) arch_cmpxchg(&(v)->counter, o, n)
#define arch_atomic64_xchg(v, n) arch_xchg(&(v)->counter, n)
#define arch_atomic64_cmpxchg(v, o, n) arch_cmpxchg(&(v)->counter, o, n)

/* The generic layer fills in what an architecture does not say it has. */
#define arch_atomic_andnot arch_atomic_andnot
#define arch_atomic_add_return arch_atomic_add_return
#define arch_atomic_sub_return arch_atomic_sub_return
#define arch_atomic_fetch_add arch_atomic_fetch_add
#define arch_atomic_fetch_sub arch_atomic_fetch_sub
#define arch_atomic_fetch_and arch_atomic_fetch_and
#define arch_atomic_fetch_andnot arch_atomic_fetch_andnot
#define arch_atomic_fetch_or arch_atomic_fetch_or
#define arch_atomic_fetch_xor arch_atomic_fetch_xor
#define arch_atomic64_andnot arch_atomic64_andnot
#define arch_atomic64_add_return arch_atomic64_add_return
#define arch_atomic64_sub_return arch_atomic64_sub_return
#define arch_atomic64_fetch_add arch_atomic64_fetch_add
#define arch_atomic64_fetch_sub arch_atomic64_fetch_sub
#define arch_atomic64_fetch_and arch_atomic64_fetch_and
#define arch_atomic64_fetch_andnot arch_atomic64_fetch_andnot
#define arch_atomic64_fetch_or arch_atomic64_fetch_or
#define arch_atomic64_fetch_xor arch_atomic64_fetch_xor
#endif
