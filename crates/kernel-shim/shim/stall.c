// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths of the kernel that take time: a CPU that waits for a cache line or for a lock stops in the
 * middle of its path, and goes on when its time has come. Meanwhile others go on: by order.c, or by
 * the host. So all CPUs do what they do in the order of simulated time
 * (docs/rules/contended-lines.md#coherence). Without WPSIM_COHERENT no path takes time, and what
 * stands here is nothing.
 *
 * What must stay: a CPU stops only where another one is earlier; a lock goes to who has waited for
 * it longest; flags and `current` are the CPU's, whoever runs meanwhile. May change: RELAX_PS.
 *
 * Tests by part: `contended_lines_are_told` (a run whose CPUs wait for lines and locks, the same
 * bytes twice). A lock of readers has no test of its own.
 *
 * Callers: lines.c (`wp_give_way`, `wp_is_key`), the tree's locks (asm/spinlock.h), switch.c
 * (`stall_enter`, `stall_leave`, `relax_priced`), boot.c (`stalls_begin`), irq.c (`stall_sent`).
 *
 * Tests: crates/cli/tests/all/coherence.rs, where a tree is built
 */
#ifdef WPSIM_COHERENT
#include "lines.h"

/* How long a wait looks away from what it waits for (PAUSE of x86: 40 to 140 cycles). */
#define RELAX_PS 50000ULL

static bool coherent;
static u64 local_ps[NR_CPUS];
static unsigned int core_of[NR_CPUS];
static u64 ipi_ps;

/* Now, as the CPU that runs has it, ns. */
static u64 now_ns(void)
{
	return coherent ? wpl_ps / 1000 : view.now_ns;
}

/* Another CPU goes on in its path without the host, as by an entry of its own. */
static void go_on_as(unsigned int cpu)
{
	u64 ns = path_ns(cpu);

	local_ps[wpsim_cpu] = max(local_ps[wpsim_cpu], wpl_ps);
	paths.went[paths.nr_went].cpu = cpu;
	paths.went[paths.nr_went++].ns = ns;
	view.now_ns = ns;
	request.kind = ENTER_CONTINUE;
	request.visit++;
	set_cpu(cpu);
	stall_enter(cpu);
}

/* The CPU that runs waits in its path until then; ps, or WPK_NEVER: until another one says. */
static void stall_until(u64 ps, bool open)
{
	struct task_struct *here = wpsim_current;
	struct wpk_cpu *c = &view.cpus[wpsim_cpu];
	unsigned long flags = wpsim_irq_flags;
	void **sp = &running[wpsim_cpu]->thread.sp;
	unsigned int next;

	local_ps[wpsim_cpu] = ps == WPK_NEVER ? wpl_ps : ps;
	c->state = WPK_STALL;
	c->work_ns = ps == WPK_NEVER ? WPK_NEVER : ps / 1000;
	c->open = open;
	path_frame[wpsim_cpu] = __builtin_frame_address(0);
	changed(wpsim_cpu);
	next = next_path();
	if (next == nr_cpus) {
		wp_swap(sp, host_sp, NULL);
	} else {
		go_on_as(next);
		if (sp != &running[next]->thread.sp)
			wp_swap(sp, running[next]->thread.sp, NULL);
	}
	wpsim_irq_flags = flags;
	wpsim_current = here;
}

/* An earlier CPU goes first. */
void wp_give_way(void)
{
	stall_until(wpl_ps, false);
}

extern unsigned long wp_keys_start[], wp_keys_end[];
/* Static keys, which are code on a real machine, in the order of their addresses. */
int wp_is_key(unsigned long address)
{
	unsigned long *low = wp_keys_start, *high = wp_keys_end;

	while (low < high) {
		unsigned long *mid = low + (high - low) / 2;

		if (*mid <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low > wp_keys_start && address < low[-1] + sizeof(struct static_key);
}

static int compare_keys(const void *a, const void *b)
{
	const unsigned long *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Cores by number from 0, and the cache of each. */
static unsigned int number_cores(unsigned int *cache_of)
{
	unsigned int cpu, other, cores = 0;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		for (other = 0; other < cpu; other++)
			if (machine_cpus[other].core == machine_cpus[cpu].core)
				break;
		core_of[cpu] = other < cpu ? core_of[other] : cores;
		if (other < cpu)
			continue;
		/* Without a known cache: that of its package. */
		cache_of[cores++] = machine_cpus[cpu].llc == WPK_NONE ?
			machine_cpus[cpu].package : machine_cpus[cpu].llc;
	}
	return cores;
}

/* The host's time begins: from now on paths take time, if the machine says what a line costs. */
static void stalls_begin(const struct wpk_coherence *costs)
{
	unsigned int *cache_of;

	if (!costs)
		return;
	cache_of = wp_host_alloc(nr_cpus * sizeof(*cache_of), 64);
	sort(wp_keys_start, wp_keys_end - wp_keys_start, sizeof(*wp_keys_start), compare_keys,
	     NULL);
	wpl_count_at = offsetof(struct task_struct, thread_info.preempt_count);
	ipi_ps = costs->ipi_ns * 1000ULL;
	coherent = true;
	view.paths = &paths;
	wpl_begin(number_cores(cache_of), cache_of, costs->near_ns, costs->far_ns,
		  costs->clean_ns);
}

/* The host enters on a CPU, or does not: then no path takes time, as one by the owner. */
static void stall_enter(unsigned int cpu)
{
	u64 horizon_ns;

	if (!coherent)
		return;
	set_path(cpu, WPK_NEVER);
	fetch_next();
	horizon_ns = min(paths.horizon_ns, first_path_ns());
	paths.looked_ns = max(paths.looked_ns, horizon_ns);
	wpl_on = !owner_waits();
	wpl_core = core_of[cpu];
	wpl_ps = max(local_ps[cpu], view.now_ns * 1000);
	wpl_horizon_ps = min(horizon_ns, WPK_NEVER / 1000) * 1000;
	wpl_access_ps = view.cpus[cpu].access_ps;
	others_follow = wpl_on && view.cpus[cpu].state == WPK_STALL && !view.signals;
	told_host = false;
}

/* The entry is over. */
static void stall_leave(void)
{
	/* What the host asks for besides runs on its own stack. */
	wpl_on = 0;
	if (!coherent)
		return;
	take_order();
	local_ps[wpsim_cpu] = max(local_ps[wpsim_cpu], wpl_ps);
	paths.cpu = wpsim_cpu;
	paths.local_ns = DIV_ROUND_UP_ULL(wpl_ps, 1000);
	paths.horizon_ns = wpl_horizon_ps / 1000;
	paths.next_ns = first_path_ns();
	paths.next_cpu = nr_paths ? path_heap[0] : 0;
}

/* Something happens elsewhere then. */
static void comes_at(u64 ps)
{
	if (ps < wpl_horizon_ps)
		wpl_horizon_ps = ps;
}

/* An interrupt goes to a CPU. */
static void stall_sent(struct wpk_cpu *c)
{
	if (!c->ipi)
		c->sent_ns = now_ns();
	comes_at(wpl_ps + ipi_ps);
}

/* A wait for another CPU: nothing it waits for happens before the next event elsewhere. */
static bool relax_priced(void)
{
	if (!coherent || !wpl_on)
		return false;
	wpl_ps += RELAX_PS;
	stall_until(max(wpl_ps, wpl_horizon_ps), wpsim_irq_flags);
	handle_request();
	return true;
}

/* ---- Locks ---- */

/* In a lock's word beside its owner: somebody waits for it. */
#define LOCK_WAITS 0x80000000U
static arch_spinlock_t *wanted[NR_CPUS];
static u64 ticket[NR_CPUS], next_ticket;

/* Takes it, or waits in its queue: who gives it back hands it over. */
void wpsim_spin_lock(arch_spinlock_t *l)
{
	u64 from;

	wpl_access(l, 1, __builtin_return_address(0));
	if (!l->owner) {
		l->owner = wpsim_cpu + 1;
		return;
	}
	if (!coherent || !wpl_on || (l->owner & ~LOCK_WAITS) == wpsim_cpu + 1) {
		while (l->owner)
			wpsim_lock_wait(l->owner & ~LOCK_WAITS, l);
		l->owner = wpsim_cpu + 1;
		return;
	}
	from = wpl_ps;
	l->owner |= LOCK_WAITS;
	wanted[wpsim_cpu] = l;
	ticket[wpsim_cpu] = ++next_ticket;
	stall_until(WPK_NEVER, false);
	wpl_waited(l, wpl_ps - from, __builtin_return_address(0));
}

/* 1: it has it. */
int wpsim_spin_trylock(arch_spinlock_t *l)
{
	wpl_access(l, 0, __builtin_return_address(0));
	if (l->owner)
		return 0;
	wpl_access(l, 1, __builtin_return_address(0));
	if (l->owner)
		return 0;
	l->owner = wpsim_cpu + 1;
	return 1;
}

/* Hands it to who has waited longest. */
static void hand_over(arch_spinlock_t *l)
{
	unsigned int cpu, to = nr_cpus, nr = 0;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		if (wanted[cpu] != l)
			continue;
		nr++;
		if (to == nr_cpus || ticket[cpu] < ticket[to])
			to = cpu;
	}
	if (to == nr_cpus) {
		l->owner = 0;
		return;
	}
	wanted[to] = NULL;
	l->owner = (to + 1) | (nr > 1 ? LOCK_WAITS : 0);
	local_ps[to] = max(local_ps[to], wpl_ps + wpl_hand_over(l, core_of[to]));
	view.cpus[to].work_ns = local_ps[to] / 1000;
	changed(to);
	comes_at(local_ps[to]);
}

void wpsim_spin_unlock(arch_spinlock_t *l)
{
	wpl_access(l, 1, __builtin_return_address(0));
	if (unlikely(l->owner & LOCK_WAITS))
		hand_over(l);
	else
		l->owner = 0;
}

void wpsim_read_lock(arch_rwlock_t *l)
{
	wpl_access(l, 1, __builtin_return_address(0));
	while (l->writer)
		wpsim_lock_wait(l->writer, l);
	l->readers++;
}

int wpsim_read_trylock(arch_rwlock_t *l)
{
	wpl_access(l, 1, __builtin_return_address(0));
	if (l->writer)
		return 0;
	l->readers++;
	return 1;
}

void wpsim_read_unlock(arch_rwlock_t *l)
{
	wpl_access(l, 1, __builtin_return_address(0));
	l->readers--;
}

void wpsim_write_lock(arch_rwlock_t *l)
{
	wpl_access(l, 1, __builtin_return_address(0));
	while (l->writer || l->readers)
		wpsim_lock_wait(l->writer, l);
	l->writer = wpsim_cpu + 1;
}

int wpsim_write_trylock(arch_rwlock_t *l)
{
	wpl_access(l, 1, __builtin_return_address(0));
	if (l->writer || l->readers)
		return 0;
	l->writer = wpsim_cpu + 1;
	return 1;
}

void wpsim_write_unlock(arch_rwlock_t *l)
{
	wpl_access(l, 1, __builtin_return_address(0));
	l->writer = 0;
}
#else
static u64 now_ns(void)
{
	return view.now_ns;
}

static void stalls_begin(const struct wpk_coherence *costs)
{
}

static void stall_enter(unsigned int cpu)
{
}

static void stall_leave(void)
{
}

static void stall_sent(struct wpk_cpu *c)
{
}

static bool relax_priced(void)
{
	return false;
}

/* Nothing costs anything. */
wpk_u32 wpk_lines(const struct wpk_line_use **uses)
{
	*uses = NULL;
	return 0;
}
#endif
