// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of CPUs that wait in the middle of a path: the earliest goes on first, of equal ns the
 * one that said so first. Where nothing that a CPU did is the host's to see, the next one goes on
 * at once: that is most of them (docs/rules/contended-lines.md#coherence).
 *
 * What must stay: the order, which is that of the host's events; a CPU goes on without the host
 * only before the host's next event. May change: how the order is kept.
 *
 * Tests by part: `contended_lines_are_told` (all of it: a run whose CPUs wait for lines and locks,
 * the same bytes twice).
 *
 * Callers: stall.c.
 *
 * Tests: crates/cli/tests/all/coherence.rs, where a tree is built
 */
#ifdef WPSIM_COHERENT
static struct wpk_paths paths = { .next_ns = WPK_NEVER };

/* When a CPU goes on, and the number of who said so. */
static struct {
	u64 ns, number;
} path_due[NR_CPUS];
static u64 path_numbers;
/* A heap of them, and the place of each in it from 1; 0: none. */
static unsigned int path_heap[NR_CPUS], path_place[NR_CPUS], nr_paths;
/* Where each one's stack is in use. */
static char *path_frame[NR_CPUS];
/* The timer of each, as the host knows it. */
static u64 host_event_ns[NR_CPUS];
/* The entry is of a CPU in a path: others may follow. */
static bool others_follow;

static bool goes_before(unsigned int a, unsigned int b)
{
	if (path_due[a].ns != path_due[b].ns)
		return path_due[a].ns < path_due[b].ns;
	return path_due[a].number < path_due[b].number;
}

static void heap_put(unsigned int i, unsigned int cpu)
{
	path_heap[i] = cpu;
	path_place[cpu] = i + 1;
}

static void heap_rise(unsigned int i, unsigned int cpu)
{
	for (; i && goes_before(cpu, path_heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap_put(i, path_heap[(i - 1) / 2]);
	heap_put(i, cpu);
}

static void heap_sink(unsigned int i, unsigned int cpu)
{
	for (;;) {
		unsigned int child = 2 * i + 1;

		if (child + 1 < nr_paths && goes_before(path_heap[child + 1], path_heap[child]))
			child++;
		if (child >= nr_paths || !goes_before(path_heap[child], cpu))
			break;
		heap_put(i, path_heap[child]);
		i = child;
	}
	heap_put(i, cpu);
}

/* When a CPU goes on, ns; WPK_NEVER: nobody knows, or it is in no path. */
static u64 path_ns(unsigned int cpu)
{
	return path_place[cpu] ? path_due[cpu].ns : WPK_NEVER;
}

/* It goes on then, behind all that go on at that time. */
static void set_path(unsigned int cpu, u64 ns)
{
	unsigned int place = path_place[cpu], last;

	if (place) {
		path_place[cpu] = 0;
		last = path_heap[--nr_paths];
		if (last != cpu) {
			heap_sink(place - 1, last);
			heap_rise(path_place[last] - 1, last);
		}
	}
	if (ns == WPK_NEVER)
		return;
	path_due[cpu].ns = ns;
	path_due[cpu].number = ++path_numbers;
	heap_rise(nr_paths++, cpu);
}

/* The first one's time. */
static u64 first_path_ns(void)
{
	return nr_paths ? path_due[path_heap[0]].ns : WPK_NEVER;
}

/* A part of a path is over: who goes on when. True: the host has something to see. */
static bool take_order(void)
{
	bool seen = told_host;
	unsigned int i;

	for (i = 0; i < view.nr_changed; i++) {
		unsigned int cpu = view.changed[i];
		struct wpk_cpu *c = &view.cpus[cpu];
		u64 ns = c->state == WPK_STALL ? c->work_ns : WPK_NEVER;

		if (ns != path_ns(cpu))
			set_path(cpu, ns);
		if (c->ipi || c->next_event_ns != host_event_ns[cpu])
			seen = true;
		host_event_ns[cpu] = c->next_event_ns;
	}
	return seen;
}

/* Who goes on without the host; nr_cpus: the host is next. */
static unsigned int next_path(void)
{
	bool seen = take_order();
	unsigned int cpu = nr_paths ? path_heap[0] : nr_cpus, i;
	struct wpk_cpu *c = &view.cpus[cpu];
	u64 ns = first_path_ns();

	if (seen || !others_follow || cpu == nr_cpus || ns > paths.until_ns ||
	    paths.nr_went == WPK_WENT || (c->open && (c->ipi || c->next_event_ns <= ns)))
		return nr_cpus;
	for (i = 0; i < view.nr_changed; i++)
		view.cpus[view.changed[i]].changed = 0;
	view.nr_changed = 0;
	return cpu;
}

/* What a CPU needs first when it goes on is far from the host's caches: its stack. */
static void fetch_next(void)
{
	unsigned int i, cpu = path_heap[0];

	if (!nr_paths)
		return;
	__builtin_prefetch(&running[cpu]->thread.sp);
	for (i = 0; i < 6; i++)
		__builtin_prefetch(path_frame[cpu] - 128 + 64 * i);
}
#endif
