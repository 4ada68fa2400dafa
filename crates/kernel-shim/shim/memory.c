// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory is the host's. Per-CPU data: a copy for each CPU, one stride apart. The rules are the
 * tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: blocks are zeroed; addresses may differ from run to run and decide nothing.
 * Random numbers are of the machine's seed. May change: how places are found again.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) every
 * scenario (`wp_alloc`, `percpu_init`, `memory_init`), again with GUARD=1 and sanitizers (an access
 * behind a block ends it), `storm` (domains are rebuilt: `wp_percpu_alloc`, `wp_percpu_free`); two
 * runs of each must not differ (`seed_random`, `wp_random`).
 *
 * Callers: boot.c the beginnings; stub.c the tree's many names of `wp_alloc` and `wp_free`.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */

/* Zeroed memory of the host's. */
void *wp_host_alloc(unsigned long size, unsigned long align)
{
	return host->alloc(host->data, size, align);
}

#ifdef WPSIM_COHERENT
/* Where lines have a price, places must repeat: they are of lines.c's own. */
void *wp_alloc_for(unsigned long size, unsigned long align, const void *site, const char *name)
{
	void *p = wpl_alloc(size, align, site, name);

	if (!p)
		wp_fault(WPK_FAULT_SHIM, "no memory is left for %lu bytes", size);
	return p;
}

/* NULL is nothing. */
void wp_free(void *p)
{
	if (p)
		wpl_free(p);
}
#else
/* Who asks does not matter. */
void *wp_alloc_for(unsigned long size, unsigned long align, const void *site, const char *name)
{
	return wp_host_alloc(size, align);
}

/* NULL is nothing. */
void wp_free(void *p)
{
	if (p)
		host->free(host->data, p);
}
#endif

/* For the shim itself. */
void *wp_alloc(unsigned long size, unsigned long align)
{
	return wp_alloc_for(size, align, __builtin_return_address(0), NULL);
}

int wpsim_cpu WP_REGISTER;
unsigned long wpsim_my_offset WP_REGISTER;
unsigned long __per_cpu_offset[NR_CPUS];
extern char __per_cpu_start[], __per_cpu_end[];

/*
 * Room for what is allocated at run time, all CPUs' pointers of scheduling domains and groups among
 * it.
 */
#define PERCPU_DYNAMIC (256UL << 10)
static unsigned long percpu_used, percpu_size;

/*
 * One copy of the per-CPU section for each CPU, with room for more behind it. The distance is a
 * line more than whole pages: else all copies of a variable share few sets of the host's caches.
 */
static void percpu_init(void)
{
	unsigned long length = __per_cpu_end - __per_cpu_start;
	char *all;
	unsigned int cpu;

	percpu_used = ALIGN(length, 64);
	percpu_size = ALIGN(percpu_used + PERCPU_DYNAMIC, PAGE_SIZE) + 64;
	all = wp_alloc(percpu_size * nr_cpus, PAGE_SIZE);
#ifdef WPSIM_COHERENT
	wpl_percpu = (unsigned long)all;
	wpl_percpu_size = percpu_size;
	wpl_percpu_copies = nr_cpus;
#endif
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		char *copy = all + percpu_size * cpu;

		memcpy(copy, __per_cpu_start, length);
		__per_cpu_offset[cpu] = copy - __per_cpu_start;
	}
	wpsim_my_offset = __per_cpu_offset[0];
}

/*
 * What was freed is kept by its size: the same sizes come again with each rebuild of the domains.
 */
struct percpu_free {
	struct percpu_free *next;
	unsigned long at, size, align;
	bool used;
};
static struct percpu_free *percpu_blocks;

/* A freed place of this size, else the next one. */
void *wp_percpu_alloc(unsigned long size, unsigned long align)
{
	struct percpu_free *b;
	unsigned int cpu;

	size = ALIGN(size, 8);
	align = max(align, 8UL);
	for (b = percpu_blocks; b; b = b->next)
		if (!b->used && b->size == size && b->align >= align)
			break;
	if (!b) {
		b = wp_alloc(sizeof(*b), 8);
		b->at = ALIGN(percpu_used, align);
		b->size = size;
		b->align = align;
		percpu_used = b->at + size;
		if (percpu_used > percpu_size)
			wp_fault(WPK_FAULT_SHIM, "no per-CPU memory is left for %lu bytes", size);
		b->next = percpu_blocks;
		percpu_blocks = b;
	}
	b->used = true;
	for (cpu = 0; cpu < nr_cpus; cpu++)
		memset(__per_cpu_start + __per_cpu_offset[cpu] + b->at, 0, size);
	return __per_cpu_start + b->at;
}

/* The place may be given again. */
void wp_percpu_free(void *p)
{
	struct percpu_free *b;

	for (b = percpu_blocks; b; b = b->next)
		if (__per_cpu_start + b->at == (char *)p)
			b->used = false;
}

/* Trees whose kmalloc() of a constant size takes a cache: ours knows nothing but its size. */
struct wp_cache {
	unsigned long size;
	const char *name;
};
__typeof__(kmalloc_caches) kmalloc_caches;
/* Caches of sizes, which the kernel's headers index. */
static void memory_init(void)
{
	void **slot = (void **)kmalloc_caches;
	unsigned int i, rows = sizeof(kmalloc_caches) / sizeof(void *);

	for (i = 0; i < rows; i++) {
		unsigned int order = i % (KMALLOC_SHIFT_HIGH + 1);
		struct wp_cache *c = wp_alloc(sizeof(*c), 8);

		c->size = order == 1 ? 96 : order == 2 ? 192 : 1UL << order;
		slot[i] = c;
	}
}

/* Random numbers: a fixed series of the run's seed (xorshift64*). */
static u64 random_state = 1;
/* Once, from what the machine says. */
static void seed_random(u64 seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ULL | 1;
}

/* xorshift: equal seeds, equal numbers. */
unsigned int wp_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1dULL) >> 32;
}
