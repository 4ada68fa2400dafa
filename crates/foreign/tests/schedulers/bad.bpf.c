/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a kernel's verifier or watchdog would end; `-DBAD_...` says which.
 * Rule: docs/rules/sched-ext.md#errors.
 *
 * What must stay: each `-DBAD_...` does one wrong thing, in `bad_init`, `bad_enqueue`, `fire` or
 * `deep`, and the tests know the words by which it is named.
 *
 * Tests: crates/cli/tests/all/schedulers.rs::what_a_scheduler_does_wrong_is_named,
 * crates/cli/tests/all/schedulers.rs::what_is_not_offered_is_refused_by_name
 */
#include "small.h"

char _license[] SEC("license") = "GPL";

#define BPF_MAP_TYPE_LPM_TRIE 11

#ifdef BAD_MAP
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8);
	__type(key, u64);
	__type(value, u64);
} trie SEC(".maps");
#endif

#ifdef BAD_ARENA
#define PAGES 16

struct {
	__uint(type, 33); /* BPF_MAP_TYPE_ARENA */
	__uint(map_flags, 1U << 10); /* BPF_F_MMAPABLE */
	__uint(max_entries, PAGES);
	__ulong(map_extra, 1ull << 44);
} arena SEC(".maps");

/* A full arena has no page more; what follows is up to the scheduler. */
OPS_SLEEPABLE(init)
int bad_init(u64 *args)
{
	static const char text[] = "the arena is full, page %d";
	u64 data[] = { 0 };

	while (data[0] < 2 * PAGES && bpf_arena_alloc_pages(&arena, 0, 1, -1, 0))
		data[0]++;
	scx_bpf_error_bstr((char *)text, data, sizeof(data));
	return 0;
}
#endif

#ifdef BAD_TIMERS
struct due {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct due);
} timers SEC(".maps");

static int fire(void *map, u32 *key, struct due *due)
{
	return 0;
}
#endif

static volatile u64 forever = 1;

#ifdef BAD_RUNNING
/* No task, and no CPU that a field of one could name. */
static u64 junk[2048] = { [0 ... 2047] = 0xfffffff0fffffff0ULL };
#endif

static __noinline u64 deep(u64 at)
{
	volatile u64 words[32];

	words[at & 31] = at;
	return at > 1000000 ? 0 : deep(at + 1) + words[at & 31];
}

OPS(enqueue)
int bad_enqueue(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);

#ifdef BAD_LOOP
	while (forever)
		forever++;
#endif
#ifdef BAD_STORE
	*(volatile u64 *)(0x100 + args[1]) = 1;
#endif
#ifdef BAD_READ
	/* As a kernel's load through a pointer that may be bad: 0. */
	if (*(volatile u64 *)(0x100 + args[1]))
		return 0;
#endif
#ifdef BAD_KFUNC
	forever += bpf_of_a_later_kernel(forever);
#endif
#ifdef BAD_STACK
	forever += deep(forever);
#endif
#ifdef BAD_WALKS
	/* Walks that are never ended. */
	struct bpf_iter_scx_dsq it;

	for (u64 at = 0; at < 1000000; at++)
		bpf_iter_scx_dsq_new(&it, 0, 0);
#endif
#ifdef BAD_LISTS
	/* Each at the front of all others: no less than the instructions of a call. */
	for (u64 at = 1; at < 10000000; at++)
		bpf_list_push_front_impl((void *)&forever, (void *)at, 0, 0);
#endif
#ifdef BAD_QUEUES
	for (u64 at = 0; at < 1000000; at++)
		scx_bpf_create_dsq(at, -1);
#endif
#ifdef BAD_TIMERS
	u32 zero = 0;
	struct due *due = bpf_map_lookup_elem(&timers, &zero);

	/* Started anew again and again, long before it is due. */
	if (due && !bpf_timer_init(&due->timer, &timers, 1)) {
		bpf_timer_set_callback(&due->timer, fire);
		for (u64 at = 0; at < 300000; at++)
			bpf_timer_start(&due->timer, 1000000000ULL - at, 0);
	}
#endif
#ifdef BAD_RUNNING
	forever += scx_bpf_task_running((void *)junk);
#endif
#ifdef BAD_HELPER
	forever = bpf_get_socket_cookie(p);
#endif
#ifdef BAD_ERROR
	static const char text[] = "no place for %d";
	u64 data[] = { p->pid };

	scx_bpf_error_bstr((char *)text, data, sizeof(data));
#endif
#ifdef BAD_LOST
	return 0;
#endif
	dsq_insert(p, SCX_DSQ_GLOBAL, SLICE_NS, args[1]);
	return 0;
}

#ifndef BAD_TABLE
SEC(".struct_ops.link")
struct sched_ext_ops bad_ops = {
	.enqueue = (void *)bad_enqueue,
#ifdef BAD_ARENA
	.init = (void *)bad_init,
#endif
	.timeout_ms = 2000,
	.name = "bad",
};
#endif
