// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of memory that simulated CPUs share. The compiler calls a hook for each access
 * (-fsanitize=thread); each line has an owner, sharers and a time until which it is on its way. A
 * hit takes the time of an access, a miss waits for its turn and takes a transfer
 * (docs/rules/contended-lines.md#coherence). No header of the kernel, and not instrumented itself.
 *
 * What must stay: what an access costs depends on the order of accesses in simulated time alone,
 * never on addresses of the host; a miss lets earlier CPUs go first. May change: how lines and
 * blocks are found.
 *
 * Tests by part: `contended_lines_are_told` (all hooks, `miss`, `record`, `wpk_lines`), with the
 * same bytes twice (`wpl_alloc`, `wpl_free`: places repeat); every figure of studies/sis-short.
 * Which line pays how much has no test of its own.
 *
 * Callers: code that the compiler has instrumented (the __tsan_ functions), stall.c, memory.c,
 * stub.c; crates/kernel-tree/src/kernel/entries.rs (`wpk_lines`).
 *
 * Tests: crates/cli/tests/all/coherence.rs, where a tree is built
 */
#include "lines.h"
#include "wakeplace.h"
typedef wpl_u64 u64;
#define CODE __builtin_return_address(0)
#define unlikely(x) __builtin_expect(!!(x), 0)

int wpl_on;
u64 wpl_ps, wpl_horizon_ps, wpl_access_ps = 500;
unsigned int wpl_core;
unsigned long wpl_percpu, wpl_percpu_size, wpl_percpu_copies;

/*
 * A line: a bit for each core that has it. The last bit says that it was written since it was last
 * read; then one core has it, which may write.
 */
#define WRITTEN (1ULL << 63)
/* Nobody else has it. */
#define NO_LINE (~0UL)

/* What was allocated: its size, and who asked for it. */
struct block {
	unsigned long size;
	const void *site;
	const char *name;
	unsigned int next_free, first_line;
};

/* Two stretches of memory have lines: the object's own data, and what is allocated. */
#define ARENA_LINES (1UL << 23)
#define BLOCKS (1U << 20)
#define CLASSES 1024
#define RECORDS (1UL << 16)
/* A huge page of the host's. */
#define ROOM_ALIGN (1UL << 21)
extern char __ehdr_start[], _end[], __per_cpu_start[];
extern char __start_wp_registers[], __stop_wp_registers[];
extern char *wpsim_current;
unsigned long wpl_count_at;
/* `data` is where the object begins: its addresses count from there. */
static unsigned long arena, arena_next, data, data_size, registers, registers_size;
/* The object's lines, then the arena's: `words` for each, and until when it is on its way, ps. */
static unsigned long data_lines;
static u64 *lines, *busy_ps;
static unsigned int words;
static unsigned int *block_of;
static struct block *blocks;
static unsigned int nr_blocks = 1, free_of[CLASSES];
/* Per core its cache, and the cores of each. */
static const unsigned int *cache_of;
static u64 *cores_of;
static u64 near_ps, far_ps, clean_ps;
static struct wpk_line_use *records;
static unsigned int nr_records;

/* ---- Memory ---- */

/* The host writes zeros to what is aligned more than its words are: this it only maps. */
static void *room(unsigned long size)
{
	unsigned long at = (unsigned long)wp_host_alloc(size + ROOM_ALIGN, 16);

	return (void *)((at + ROOM_ALIGN - 1) & ~(ROOM_ALIGN - 1));
}

static void arena_begin(void)
{
	arena = (unsigned long)room(ARENA_LINES * 64);
	block_of = room(ARENA_LINES * sizeof(*block_of));
	blocks = room(BLOCKS * sizeof(*blocks));
	arena_next = 0;
}

/* A freed place of this size, or 0. */
static unsigned int reuse(unsigned long lines, unsigned long align)
{
	unsigned int b = lines < CLASSES ? free_of[lines] : 0;

	if (b && (arena + blocks[b].first_line * 64UL) % align == 0)
		free_of[lines] = blocks[b].next_free;
	else
		b = 0;
	return b;
}

/* Whole lines, zeroed; the same calls give the same places. NULL: none is left. */
void *wpl_alloc(unsigned long size, unsigned long align, const void *site, const char *name)
{
	unsigned long lines = (size + 63) / 64, i;
	unsigned int b;

	if (!arena)
		arena_begin();
	align = align < 64 ? 64 : align;
	lines = lines ? lines : 1;
	b = reuse(lines, align);
	if (!b) {
		arena_next = (arena_next + align / 64 - 1) / (align / 64) * (align / 64);
		if (nr_blocks == BLOCKS || arena_next + lines > ARENA_LINES)
			return 0;
		b = nr_blocks++;
		blocks[b].first_line = arena_next;
		for (i = 0; i < lines; i++)
			block_of[arena_next + i] = b;
		arena_next += lines;
	} else {
		__builtin_memset((void *)(arena + blocks[b].first_line * 64UL), 0, lines * 64);
	}
	blocks[b].size = size;
	blocks[b].site = site;
	blocks[b].name = name;
	return (void *)(arena + blocks[b].first_line * 64UL);
}

/* Its place comes again for what has as many lines. */
void wpl_free(void *p)
{
	unsigned int b = block_of[((unsigned long)p - arena) / 64];
	unsigned long lines = (blocks[b].size + 63) / 64;

	lines = lines ? lines : 1;
	if (lines >= CLASSES)
		return;
	blocks[b].next_free = free_of[lines];
	free_of[lines] = b;
}

/* The machine is up: from now on accesses can be priced. */
void wpl_begin(unsigned int cores, const unsigned int *cache_of_core, unsigned int near_ns,
	       unsigned int far_ns, unsigned int clean_ns)
{
	unsigned int core, caches = 0;

	words = cores / 64 + 1;
	cache_of = cache_of_core;
	for (core = 0; core < cores; core++)
		if (cache_of[core] >= caches)
			caches = cache_of[core] + 1;
	cores_of = room((unsigned long)caches * words * sizeof(u64));
	for (core = 0; core < cores; core++)
		cores_of[cache_of[core] * words + core / 64] |= 1ULL << core % 64;
	data = (unsigned long)__ehdr_start;
	data_size = (unsigned long)_end - data;
	registers = (unsigned long)__start_wp_registers;
	registers_size = (unsigned long)__stop_wp_registers - registers;
	data_lines = data_size / 64 + 1;
	lines = room((data_lines + ARENA_LINES) * words * sizeof(u64));
	busy_ps = room((data_lines + ARENA_LINES) * sizeof(u64));
	records = room(RECORDS * sizeof(*records));
	near_ps = near_ns * 1000ULL;
	far_ps = far_ns * 1000ULL;
	clean_ps = clean_ns * 1000ULL;
}

/* NO_LINE: stacks, the host's memory, what stands for registers. */
static inline unsigned long line_of(unsigned long a)
{
	if (unlikely(a == (unsigned long)wpsim_current + wpl_count_at))
		return NO_LINE;
	if (a - arena < ARENA_LINES * 64)
		return data_lines + (a - arena) / 64;
	if (a - data < data_size && a - registers >= registers_size)
		return (a - data) / 64;
	return NO_LINE;
}

/* ---- Who pays for what ---- */

/* The word as one of all CPUs', or of all blocks of one kind. */
static void place(struct wpk_line_use *u, unsigned long a)
{
	unsigned long off = a - wpl_percpu;
	struct block *b;

	if (off < wpl_percpu_size * wpl_percpu_copies) {
		u->address = (unsigned long)__per_cpu_start - data + off % wpl_percpu_size;
		u->per_cpu = 1;
	} else if (a - arena < ARENA_LINES * 64) {
		b = &blocks[block_of[(a - arena) / 64]];
		u->site = b->site ? (unsigned long)b->site - data : 0;
		u->name = b->name;
		u->size = b->size;
		u->offset = a - arena - b->first_line * 64UL;
	} else {
		u->address = a - data;
	}
}

/* A place for it in the table; NULL: it is full, and this use is not told. */
static struct wpk_line_use *record_of(unsigned long a, const void *code)
{
	struct wpk_line_use u = { .code = (unsigned long)code - data };
	u64 h;
	unsigned int tries;

	a &= ~3UL;
	place(&u, a);
	h = u.name ? (unsigned long)u.name - data : 0;
	h = (u.address ^ u.site * 31 ^ u.offset << 20 ^ h) * 0x9e3779b97f4a7c15ULL ^
	    u.code * 0xc2b2ae3d27d4eb4fULL;
	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL >> 48;
	for (tries = 0; tries < 256; tries++, h = (h + 1) % RECORDS) {
		struct wpk_line_use *r = &records[h];

		if (!r->code) {
			*r = u;
			r->several = a & ~63UL;
			nr_records++;
			return r;
		}
		if (r->code != u.code || r->address != u.address || r->site != u.site ||
		    r->offset != u.offset || r->name != u.name)
			continue;
		if (r->several != 1 && r->several != (a & ~63UL))
			r->several = 1;
		return r;
	}
	return 0;
}

/* The uses without the holes of the table, which is of no use after it. */
wpk_u32 wpk_lines(const struct wpk_line_use **uses)
{
	unsigned long i, n = 0;

	for (i = 0; records && i < RECORDS; i++) {
		if (!records[i].code)
			continue;
		records[i].several = records[i].several == 1;
		records[n++] = records[i];
	}
	*uses = records;
	return n;
}

/* A wait for a lock, beside what its line costs. */
void wpl_waited(const volatile void *p, u64 ps, const void *code)
{
	struct wpk_line_use *r = record_of((unsigned long)p, code);

	if (r)
		r->lock_ps += ps;
}

/* ---- The price ---- */

static inline int has(const u64 *l, int write)
{
	return l[wpl_core / 64] >> wpl_core % 64 & (!write || l[words - 1] & WRITTEN);
}

/* Whether another core of the same cache, or of another one, has the line. */
static void others(const u64 *l, int *near, int *far)
{
	const u64 *mine = &cores_of[cache_of[wpl_core] * words];
	unsigned int i;
	u64 n = 0, f = 0;

	for (i = 0; i < words; i++) {
		u64 s = l[i];

		if (i == wpl_core / 64)
			s &= ~(1ULL << wpl_core % 64);
		if (i == words - 1)
			s &= ~WRITTEN;
		n |= s & mine[i];
		f |= s & ~mine[i];
	}
	*near = n != 0;
	*far = f != 0;
}

/* From now on this core has it; after a write nobody else. */
static inline void take(u64 *l, unsigned int core, int write)
{
	unsigned int i;

	for (i = 0; write && i < words; i++)
		l[i] = 0;
	l[words - 1] &= ~WRITTEN;
	if (write)
		l[words - 1] |= WRITTEN;
	l[core / 64] |= 1ULL << core % 64;
}

/* A line that the core does not have, or not for itself. */
static __attribute__((noinline)) void miss(unsigned long line, unsigned long a, int write,
					   const void *code)
{
	u64 *l = &lines[line * words], *busy = &busy_ps[line];
	struct wpk_line_use *r;
	u64 cost, wait = 0;
	int near, far;

	if (wp_is_key(a))
		return;
	if (wpl_ps > wpl_horizon_ps) {
		wp_give_way();
		if (!wpl_on || has(l, write))
			return;
	}
	others(l, &near, &far);
	cost = write ? (far ? far_ps : near_ps) : (near ? near_ps : far_ps);
	if (near || far) {
		if (*busy > wpl_ps)
			wait = *busy - wpl_ps;
		wpl_ps += wait + cost;
		*busy = wpl_ps;
		if (!write && !(l[words - 1] & WRITTEN) && clean_ps < cost)
			*busy -= cost - clean_ps;
		r = record_of(a, code);
		if (r) {
			r->transfers++;
			r->writes += write;
			r->far += cost == far_ps;
			r->cost_ps += cost;
			r->wait_ps += wait;
		}
	}
	take(l, wpl_core, write);
}

static inline __attribute__((always_inline)) void access(unsigned long a, int write,
							 const void *code)
{
	unsigned long line;

	if (!wpl_on)
		return;
	line = line_of(a);
	if (line == NO_LINE)
		return;
	wpl_ps += wpl_access_ps;
	if (unlikely(!has(&lines[line * words], write)))
		miss(line, a, write, code);
}

/* For the files of the shim. */
void wpl_access(const volatile void *p, int write, const void *code)
{
	access((unsigned long)p, write, code);
}

/* Each line of a stretch once. */
void wpl_range(const volatile void *p, unsigned long n, int write, const void *code)
{
	unsigned long a = (unsigned long)p, end = a + n;

	for (; a < end; a = (a & ~63UL) + 64)
		access(a, write, code);
}

/* The line of a lock, which its holder gives away. */
u64 wpl_hand_over(const volatile void *p, unsigned int core)
{
	unsigned long line = line_of((unsigned long)p);

	if (!wpl_on || line == NO_LINE)
		return 0;
	take(&lines[line * words], core, 1);
	if (core == wpl_core)
		return 0;
	return cache_of[core] == cache_of[wpl_core] ? near_ps : far_ps;
}

/* ---- What the compiler calls ---- */

#define PLAIN(kind, size, write)                             \
	void __tsan_##kind##size(void *p)                    \
	{                                                    \
		access((unsigned long)p, write, CODE);       \
	}
#define PLAIN_OF(size)                                       \
	PLAIN(read, size, 0)                                 \
	PLAIN(write, size, 1)                                \
	PLAIN(unaligned_read, size, 0)                       \
	PLAIN(unaligned_write, size, 1)                      \
	PLAIN(volatile_read, size, 0)                        \
	PLAIN(volatile_write, size, 1)                       \
	PLAIN(unaligned_volatile_read, size, 0)              \
	PLAIN(unaligned_volatile_write, size, 1)
PLAIN_OF(1)
PLAIN_OF(2)
PLAIN_OF(4)
PLAIN_OF(8)
PLAIN_OF(16)

void __tsan_read_range(void *p, unsigned long n)
{
	wpl_range(p, n, 0, CODE);
}

void __tsan_write_range(void *p, unsigned long n)
{
	wpl_range(p, n, 1, CODE);
}

void __tsan_init(void)
{
}

#define ATOMIC_DO(bits, type, name, expr)                                    \
	type __tsan_atomic##bits##_##name(volatile type *p, type v, int order) \
	{                                                                    \
		type old;                                                    \
                                                                             \
		access((unsigned long)p, 1, CODE);                           \
		old = *p;                                                    \
		*p = (expr);                                                 \
		return old;                                                  \
	}
#define ATOMIC_OF(bits, type)                                                \
	ATOMIC_DO(bits, type, exchange, v)                                   \
	ATOMIC_DO(bits, type, fetch_add, old + v)                            \
	ATOMIC_DO(bits, type, fetch_sub, old - v)                            \
	ATOMIC_DO(bits, type, fetch_and, old & v)                            \
	ATOMIC_DO(bits, type, fetch_or, old | v)                             \
	ATOMIC_DO(bits, type, fetch_xor, old ^ v)                            \
	type __tsan_atomic##bits##_load(const volatile type *p, int order)   \
	{                                                                    \
		access((unsigned long)p, 0, CODE);                           \
		return *p;                                                   \
	}                                                                    \
	void __tsan_atomic##bits##_store(volatile type *p, type v, int order) \
	{                                                                    \
		access((unsigned long)p, 1, CODE);                           \
		*p = v;                                                      \
	}                                                                    \
	static inline int compare_exchange##bits(volatile type *p,           \
		type *expected, type v, const void *code)                    \
	{                                                                    \
		type old;                                                    \
                                                                             \
		access((unsigned long)p, 1, code);                           \
		old = *p;                                                    \
		if (old == *expected) {                                      \
			*p = v;                                              \
			return 1;                                            \
		}                                                            \
		*expected = old;                                             \
		return 0;                                                    \
	}                                                                    \
	int __tsan_atomic##bits##_compare_exchange_strong(volatile type *p,  \
		type *expected, type v, int order, int failed)               \
	{                                                                    \
		return compare_exchange##bits(p, expected, v, CODE);         \
	}                                                                    \
	int __tsan_atomic##bits##_compare_exchange_weak(volatile type *p,    \
		type *expected, type v, int order, int failed)               \
	{                                                                    \
		return compare_exchange##bits(p, expected, v, CODE);         \
	}
ATOMIC_OF(8, unsigned char)
ATOMIC_OF(16, unsigned short)
ATOMIC_OF(32, unsigned int)
ATOMIC_OF(64, unsigned long)

void __tsan_atomic_thread_fence(int order)
{
}

void __tsan_atomic_signal_fence(int order)
{
}
