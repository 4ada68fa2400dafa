/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_CMPXCHG_H
#define _ASM_WPSIM_CMPXCHG_H
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
#define arch_cmpxchg_local arch_cmpxchg
#define arch_cmpxchg_relaxed arch_cmpxchg
#define arch_cmpxchg64 arch_cmpxchg
#define arch_cmpxchg64_local arch_cmpxchg
#define arch_cmpxchg64_relaxed arch_cmpxchg
#define arch_xchg_relaxed arch_xchg
#endif
