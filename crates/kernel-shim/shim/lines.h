/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lines.c, which reads no header of the kernel, and the unit of the shim share: the price of
 * an access to memory (docs/rules/contended-lines.md#coherence).
 *
 * What must stay: no type of the kernel stands here. May change: a name more. `wp_give_way`
 * and `wp_is_key` are in stall.c, `wp_host_alloc` is in memory.c; the rest is in lines.c.
 *
 * Tests: crates/cli/tests/all/coherence.rs, where a tree is built
 */
#ifndef WP_LINES_H
#define WP_LINES_H
typedef unsigned long long wpl_u64;

/* Accesses are priced. Off: at the boot, and while the machine's owner has an order. */
extern int wpl_on;
/* The time of the CPU that runs, and that of the next event elsewhere; ps. */
extern wpl_u64 wpl_ps, wpl_horizon_ps;
/* What an access takes that needs no transfer, ps. */
extern wpl_u64 wpl_access_ps;
/* The core that runs, as threads of one share their cache. */
extern unsigned int wpl_core;
/* What a per-CPU copy is of: the first one, their distance, how many. */
extern unsigned long wpl_percpu, wpl_percpu_size, wpl_percpu_copies;

void wpl_begin(unsigned int cores, const unsigned int *cache_of_core, unsigned int near_ns,
	       unsigned int far_ns, unsigned int clean_ns);
void *wpl_alloc(unsigned long size, unsigned long align, const void *site, const char *name);
void wpl_free(void *p);
void wpl_access(const volatile void *p, int write, const void *code);
void wpl_range(const volatile void *p, unsigned long n, int write, const void *code);
/* The line goes to another core, and nobody else has it: what that takes, ps. */
wpl_u64 wpl_hand_over(const volatile void *p, unsigned int core);
/* A wait for the lock at an address. */
void wpl_waited(const volatile void *p, wpl_u64 ps, const void *code);

/* Memory of the host's, zeroed, which is not used before it is touched. */
void *wp_host_alloc(unsigned long size, unsigned long align);
/* Other CPUs go first: they are earlier. */
void wp_give_way(void);
/* It stands for patched code: a static key. */
int wp_is_key(unsigned long address);
/* Of the running task, where its count of preemption is, which stands for a register. */
extern unsigned long wpl_count_at;
#endif
