// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The only file that knows whether the core is built natively or for BPF.
 *
 * BPF facts behind the macros: a loop must be bounded for the verifier (bpf_for costs the same at
 * any bound); a global (noinline) function is verified once, alone, with at most five arguments;
 * an array index that was read from memory must be masked where the compiler cannot remove the
 * mask.
 *
 * What must stay: what a macro does is the same in both builds, but that natively one thread owns a
 * context; WP_AT masks, so that no index leaves its array; x / 0 is 0. A rule never asks which
 * build it is in. Tests by part, names alone being of crates/policy-sys/tests/all:
 * bounds.rs::`an_index_past_the_end_is_told` (WP_AT),
 * crates/scx/tests/parity/main.rs::`every_event_is_the_same_in_all_builds` (WP_FOR, WP_ADD, WP_CAS,
 * wp_div), crates/scx/tests/parity/main.rs::`what_the_verifier_processes_stays_below_its_ceilings`
 * (WP_FN, WP_LIVE_FN).
 */
#ifndef WAKEPLACE_PORT_H
#define WAKEPLACE_PORT_H

#define WP_ARRAY_SIZE(arr) (sizeof(arr) / sizeof((arr)[0]))

#ifdef __bpf__

#ifndef __VMLINUX_H__
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
#endif

#ifndef bpf_for
struct bpf_iter_num;
struct wp_iter_num {
	u64 opaque[1];
} __attribute__((aligned(8)));
extern int bpf_iter_num_new(struct wp_iter_num *it, int start, int end)
	__attribute__((weak, section(".ksyms")));
extern int *bpf_iter_num_next(struct wp_iter_num *it) __attribute__((weak, section(".ksyms")));
extern void bpf_iter_num_destroy(struct wp_iter_num *it) __attribute__((weak, section(".ksyms")));
#define bpf_for(i, start, end)                                                                     \
	for (struct wp_iter_num wp_it __attribute__((cleanup(bpf_iter_num_destroy))),              \
	     *wp_p __attribute__((unused)) =                                                       \
		     (bpf_iter_num_new(&wp_it, (start), (end)), (struct wp_iter_num *)0);          \
	     ({                                                                                    \
		     int *wp_t = bpf_iter_num_next(&wp_it);                                        \
		     if (wp_t)                                                                     \
			     (i) = (u32)*wp_t;                                                     \
		     wp_t != (int *)0;                                                             \
	     });)
#endif

/* for (i = 0; i < n; i++), never past max. */
#define WP_FOR(i, n, max) bpf_for(i, 0, (int)((n) < (max) ? (n) : (max)))
#define WP_FN __attribute__((noinline))
/* A function of a few instructions: a call would cost as much again. */
#define WP_SMALL_FN WP_INLINE
#define WP_NONNULL __attribute__((btf_decl_tag("arg:nonnull")))
#define WP_BARRIER(var) __asm__ volatile("" : "+r"(var))
/* A sum that other CPUs add to while its owner takes it away whole. */
#define WP_ADD(ptr, value) ((void)__sync_fetch_and_add((ptr), (value)))
/* The same; what is read later is read after other CPUs can see it. BPF orders nothing by an
 * addition whose result is not used. */
#define WP_ADD_ORDERED(ptr, value)                                                                 \
	do {                                                                                       \
		__typeof__(*(ptr)) wp_v = __sync_fetch_and_add((ptr), (value));                    \
		WP_BARRIER(wp_v);                                                                  \
	} while (0)
#define WP_SWAP(ptr, value) __sync_lock_test_and_set((ptr), (value))
#define WP_TAKE(ptr) WP_SWAP(ptr, 0)
/* Returns what was there: `from` if it is `to` now. */
#define WP_CAS(ptr, from, to) __sync_val_compare_and_swap((ptr), (from), (to))

#else /* native */

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;

#define WP_FOR(i, n, max) for ((i) = 0; (i) < (n) && (i) < (max); (i)++)
#define WP_FN
#define WP_SMALL_FN
#define WP_NONNULL
#define WP_BARRIER(var) ((void)0)
/* Natively one thread owns a context. */
#define WP_ADD(ptr, value) ((void)(*(ptr) += (value)))
#define WP_ADD_ORDERED(ptr, value) WP_ADD(ptr, value)
#define WP_SWAP(ptr, value)                                                                        \
	({                                                                                         \
		__typeof__(*(ptr)) wp_v = *(ptr);                                                  \
		*(ptr) = (value);                                                                  \
		wp_v;                                                                              \
	})
#define WP_TAKE(ptr) WP_SWAP(ptr, 0)
#define WP_CAS(ptr, from, to)                                                                      \
	({                                                                                         \
		__typeof__(*(ptr)) wp_v = *(ptr);                                                  \
		if (wp_v == (from))                                                                \
			*(ptr) = (to);                                                             \
		wp_v;                                                                              \
	})

#endif

/* Forms of a rule that only older kernels had: the live build does not hold them. */
#ifdef WP_LIVE
#define WP_NOT_LIVE(condition) 0
#else
#define WP_NOT_LIVE(condition) (condition)
#endif

/* One thread owns the context: sums over CPUs can be kept (kept.h). */
#if !defined(__bpf__) && !defined(WP_LIVE)
#define WP_KEEPS
#endif

/* Processes and the caches they prefer: natively alone (sched_cache.h). */
#if !defined(__bpf__) && !defined(WP_LIVE)
#define WP_SCHED_CACHE
#endif

/* Hints that add up: natively alone (uclamp_sum.c). */
#if !defined(__bpf__) && !defined(WP_LIVE)
#define WP_UCLAMP_SUM
#endif
#ifdef WP_UCLAMP_SUM
#define WP_IF_SUMS(value) (value)
#else
#define WP_IF_SUMS(value) 0
#endif

/* The energy-aware wake-up as reworked in 2025, and its push: natively alone (energy_rework.c). */
#if !defined(__bpf__) && !defined(WP_LIVE)
#define WP_EAS_REWORK
#endif
#ifdef WP_EAS_REWORK
#define WP_IF_REWORK(value) (value)
#else
#define WP_IF_REWORK(value) 0
#endif

/* Something to note for `explain` (explain_notes.c): natively, while a home asks for it. */
#if defined(__bpf__) || defined(WP_LIVE)
#define WP_EXPLAIN(ctx, note) ((void)0)
#else
#define WP_EXPLAINS /* the record is there */
#define WP_EXPLAIN(ctx, note)                                                                      \
	do {                                                                                       \
		if (__builtin_expect((ctx)->explain != 0, 0))                                      \
			note;                                                                      \
	} while (0)
#endif

/* What only a home without a kernel beneath has to do: keep the other classes' signals, interrupt
 * time, limits of the frequency range (rt_dl_irq.h). The kernel does that for the live build. */
#define WP_SIM(condition) WP_NOT_LIVE(condition)

#define WP_INLINE static inline __attribute__((always_inline))

/* Part of its caller. In the live build the verifier looks at it once, alone. In the whole core,
 * which has older forms besides, that would be more than a program may have. */
#if defined(__bpf__) && defined(WP_LIVE)
#define WP_LIVE_FN WP_FN
#else
#define WP_LIVE_FN WP_INLINE
#endif

/* Element i of an array whose size is a power of two; safe for any i. An i that is too large is
 * masked, which hides the mistake that made it: test builds (WP_CHECK_BOUNDS, native only) stop. */
#ifdef WP_CHECK_BOUNDS
/* From the home: says where and what. */
__attribute__((cold)) void wp_bounds_failed(const char *file, u32 line, u32 i, u32 size);
#define WP_CHECK_INDEX(i, size)                                                                    \
	((i) < (size) ? (void)0                                                                    \
		      : (wp_bounds_failed(__FILE__, __LINE__, (i), (size)), __builtin_trap()))
#else
#define WP_CHECK_INDEX(i, size) ((void)0)
#endif

#define WP_AT(arr, i)                                                                              \
	({                                                                                         \
		u32 wp_i = (u32)(i);                                                               \
		_Static_assert((WP_ARRAY_SIZE(arr) & (WP_ARRAY_SIZE(arr) - 1)) == 0, "size");      \
		WP_CHECK_INDEX(wp_i, WP_ARRAY_SIZE(arr));                                          \
		WP_BARRIER(wp_i);                                                                  \
		&(arr)[wp_i & (WP_ARRAY_SIZE(arr) - 1)];                                           \
	})

WP_INLINE u32 wp_min(u32 a, u32 b) { return a < b ? a : b; }
WP_INLINE u32 wp_max(u32 a, u32 b) { return a > b ? a : b; }
WP_INLINE u64 wp_min64(u64 a, u64 b) { return a < b ? a : b; }
WP_INLINE u64 wp_max64(u64 a, u64 b) { return a > b ? a : b; }
/* a - b, never below 0: averages of two signals may cross by rounding. */
WP_INLINE u64 wp_sub(u64 a, u64 b) { return a > b ? a - b : 0; }
/* x/0 is 0, as in BPF; natively it would trap. */
WP_INLINE u64 wp_div(u64 a, u64 b) { return b ? a / b : 0; }

#endif
