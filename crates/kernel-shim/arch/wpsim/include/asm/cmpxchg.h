/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exchanges of a word (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: each answers what was there before. May change: a name more.
 *
 * Tests by part: none looks at one exchange: locks and counts of the kernel go through them, and a
 * fault, a WARN or two results that differ fail any scenario.
 *
 * Callers: the tree, and atomic.h.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#ifndef _ASM_WPSIM_CMPXCHG_H
#define _ASM_WPSIM_CMPXCHG_H
#ifdef WPSIM_COHERENT
/* Other CPUs go on where an access waits for its line: one access each, by the compiler's hooks. */
#define arch_xchg(p, n)                                                          \
	((__typeof__(*(p)))__atomic_exchange_n((p), (__typeof__(*(p)))(n),       \
					       __ATOMIC_SEQ_CST))
#define arch_cmpxchg(p, o, n)                                                    \
	({                                                                       \
		__typeof__(*(p)) __wx_old = (__typeof__(*(p)))(o);               \
		__atomic_compare_exchange_n((p), &__wx_old, (__typeof__(*(p)))(n), 0, \
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
		__wx_old;                                                        \
	})
#else
/* One thread runs all CPUs: plain C is atomic. */
#define arch_xchg(p, n)                                     \
	({                                                  \
		__typeof__(*(p)) __wx_old = *(p);           \
		*(p) = (__typeof__(*(p)))(n);               \
		__wx_old;                                   \
	})
#define arch_cmpxchg(p, o, n)                                       \
	({                                                          \
		__typeof__(*(p)) __wx_old = *(p);                   \
		if (__wx_old == (__typeof__(*(p)))(o))              \
			*(p) = (__typeof__(*(p)))(n);               \
		__wx_old;                                           \
	})
#endif
#define arch_cmpxchg_local arch_cmpxchg
#define arch_cmpxchg_relaxed arch_cmpxchg
#define arch_cmpxchg64 arch_cmpxchg
#define arch_cmpxchg64_local arch_cmpxchg
#define arch_cmpxchg64_relaxed arch_cmpxchg
#define arch_xchg_relaxed arch_xchg
#endif
