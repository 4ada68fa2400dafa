/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts in pages of an arena, which it allocates itself, how often each task was queued.
 * Page: docs/guide/schedulers.md, "What its programs see".
 *
 * What must stay: counts are in pages that the program has allocated itself, so that the arena is
 * used in each run. `arena_enqueue` and `arena_init` are called by the class, through the loader.
 *
 * Tests: crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted
 */
#include "small.h"

char _license[] SEC("license") = "GPL";

#define BPF_MAP_TYPE_ARENA 33
#define BPF_F_MMAPABLE (1U << 10)
#define PIDS 512

struct {
	__uint(type, BPF_MAP_TYPE_ARENA);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 16);
	__ulong(map_extra, 1ull << 44);
} arena SEC(".maps");

struct cell {
	u64 queued;
	struct cell __arena *last;
};

static struct cell __arena *cells;
static struct cell __arena *last;

OPS(enqueue)
int arena_enqueue(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct cell __arena *cell;
	u64 before = 0;

	if (!cells)
		return 0;
	cell = &cells[(u32)p->pid % PIDS];
	cell->queued++;
	cell->last = last;
	if (cell->last)
		before = cell->last->queued;
	last = cell;
	dsq_insert(p, SCX_DSQ_GLOBAL, SLICE_NS + (before + cell->queued) % 5 * 100000, args[1]);
	return 0;
}

OPS_SLEEPABLE(init)
int arena_init(u64 *args)
{
	cells = bpf_arena_alloc_pages(&arena, 0, 2, -1, 0);
	return cells ? 0 : -12;
}

SEC(".struct_ops.link")
struct sched_ext_ops arena_ops = {
	.enqueue = (void *)arena_enqueue,
	.init = (void *)arena_init,
	.name = "arena",
};
