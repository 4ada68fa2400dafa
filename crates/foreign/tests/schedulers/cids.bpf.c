/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs by cids of its own, the last CPU first, in two shards. What a callback is told is compared
 * with what the calls say; a difference is the scheduler's end.
 * Rule: docs/rules/sched-ext.md#cids.
 *
 * What must stay: `expect` and `expect_online` end the scheduler where a callback was told
 * otherwise than the calls say. `CIDS_BAD` and `CIDS_NOWHERE` make an order or a queue that is
 * none.
 *
 * Tests: crates/cli/tests/all/schedulers.rs::cids_leave_and_come_back,
 * crates/cli/tests/all/schedulers.rs::two_cpus_of_one_cid_end_it,
 * crates/cli/tests/all/schedulers.rs::a_queue_of_no_cid_ends_it
 */
#include "small.h"
#include "cids.h"

char _license[] SEC("license") = "GPL";

#define BPF_MAP_TYPE_ARENA 33
#define BPF_F_MMAPABLE (1U << 10)
#define SCX_OPS_TID_TO_TASK (1ULL << 8)
#define SCX_ENQ_REENQ (1ULL << 40)
#define CPUS 8
/* Every cid. */
#define ALL ((1ULL << CPUS) - 1)
/* The big CPUs of a hikey960, as this order has them. */
#define BIG_CIDS 4
/* One of so many tasks that wait is sent back to be queued again. */
#define REENQUEUE_NTH 16
/* After so many dispatches every frequency is what was asked for. */
#define FREQUENCIES_SETTLED 100

struct {
	__uint(type, BPF_MAP_TYPE_ARENA);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 16);
	__ulong(map_extra, 1ull << 44);
} arena SEC(".maps");

struct room {
	s32 cids[CPUS];
	s32 shards[2];
	/* A struct scx_cmask with two words of bits. */
	u64 caps[4];
};

static struct room __arena *room;
static u64 idle_cids = ALL;
static u64 online_cids = ALL;
static u64 waited;
static u64 dispatched;

static void expect(bool right, u64 what)
{
	static char text[] = "cids: check %llu failed";

	if (!right)
		scx_bpf_error_bstr(text, &what, sizeof(what));
}

/* An idle CPU; one that has to stay where it is gets no other. */
static s32 claim(struct task_struct *p, s32 prev)
{
	s32 cid;

	if (prev >= 0 && prev < CPUS && idle_cids >> prev & 1) {
		idle_cids &= ~(1ULL << prev);
		return prev;
	}
	for (cid = 0; p->nr_cpus_allowed == CPUS && cid < CPUS; cid++) {
		if (idle_cids >> cid & 1) {
			idle_cids &= ~(1ULL << cid);
			return cid;
		}
	}
	return -1;
}

SEC("struct_ops/select_cid")
int cids_select_cid(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	s32 prev = args[1], cid;

	expect(prev == scx_bpf_task_cid(p), 1);
	cid = claim(p, prev);
	if (cid < 0)
		return prev;
#ifdef CIDS_NOWHERE
	dsq_insert(p, SCX_DSQ_LOCAL_ON | CPUS, SLICE_NS, 0);
#else
	dsq_insert(p, SCX_DSQ_LOCAL_ON | cid, SLICE_NS, 0);
#endif
	return cid;
}

SEC("struct_ops/enqueue")
int cids_enqueue(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	u64 flags = args[1];
	s32 cid;

	cid = flags & SCX_ENQ_REENQ ? -1 : claim(p, scx_bpf_task_cid(p));
	if (cid >= 0) {
		dsq_insert(p, SCX_DSQ_LOCAL_ON | cid, SLICE_NS, flags);
		scx_bpf_kick_cid(cid, 0);
		return 0;
	}
	dsq_insert(p, SHARED_DSQ, SLICE_NS, flags);
	if (!(flags & SCX_ENQ_REENQ) && ++waited % REENQUEUE_NTH == 0)
		scx_bpf_dsq_reenq(SHARED_DSQ, 0);
	return 0;
}

/* Online are those that the callbacks have left so. */
static void expect_online(void)
{
	const struct scx_cmask __arena *online = scx_bpf_online_cmask();
	u64 bits = online->bits[0];

	asm volatile("" :: "r"(&arena));
	expect(online->nr_cids == CPUS && bits == online_cids, 16);
	expect(scx_bpf_nr_online_cids() == CPUS - !(bits & 1) - !(bits >> 5 & 1), 17);
}

SEC("struct_ops/dispatch")
int cids_dispatch(u64 *args)
{
	s32 cid = args[0];

	expect(cid == scx_bpf_this_cid(), 2);
	expect(scx_bpf_cid_to_cpu(cid) == (s32)bpf_get_smp_processor_id(), 3);
	expect_online();
	if (args[1])
		expect((u64)scx_bpf_cid_curr(cid) == args[1], 14);
	if (++dispatched > FREQUENCIES_SETTLED)
		expect((scx_bpf_cidperf_cur(cid) < 1024) == (cid < BIG_CIDS), 15);
	if (!dsq_move_to_local(SHARED_DSQ) && !args[1])
		idle_cids |= 1ULL << (cid & 63);
	return 0;
}

SEC("struct_ops/set_cmask")
int cids_set_cmask(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct scx_cmask __arena *cmask = (struct scx_cmask __arena *)args[1];

	asm volatile("" :: "r"(&arena));
	expect(cmask->base == 0 && cmask->nr_cids == CPUS && cmask->alloc_words == 2, 4);
	/* A task that may use one CPU only: its cid. */
	if (p->nr_cpus_allowed == 1)
		expect(cmask->bits[0] && !(cmask->bits[0] & (cmask->bits[0] - 1)), 5);
	else
		expect(cmask->bits[0] == (1 << CPUS) - 1, 6);
	expect(scx_bpf_tid_to_task(((struct task_struct___cids *)p)->scx.tid) == p, 7);
	return 0;
}

SEC("struct_ops/update_idle")
int cids_update_idle(u64 *args)
{
	u64 bit = 1ULL << (args[0] & 63);

	expect((s32)args[0] == scx_bpf_this_cid(), 13);

	if (args[1] & 1)
		idle_cids |= bit;
	else
		idle_cids &= ~bit;
	return 0;
}

SEC("struct_ops.s/cid_online")
int cids_cid_online(u64 *args)
{
	u64 bit = 1ULL << (args[0] & 63);

	expect(!(online_cids & bit), 18);
	online_cids |= bit;
	expect_online();
	return 0;
}

SEC("struct_ops.s/cid_offline")
int cids_cid_offline(u64 *args)
{
	u64 bit = 1ULL << (args[0] & 63);

	expect(online_cids & bit, 19);
	expect_online();
	online_cids &= ~bit;
	idle_cids &= ~bit;
	return 0;
}

SEC("struct_ops.s/init_cids")
int cids_init_cids(u64 *args)
{
	s32 cpu;

	room = bpf_arena_alloc_pages(&arena, 0, 1, -1, 0);
	if (!room)
		return -12;
	for (cpu = 0; cpu < CPUS; cpu++)
		room->cids[cpu] = CPUS - 1 - cpu;
	room->shards[1] = CPUS / 2;
#ifdef CIDS_BAD
	room->cids[1] = room->cids[0];
#endif
	scx_bpf_cid_override(room->cids, CPUS, room->shards, 2);
	return 0;
}

SEC("struct_ops.s/init")
int cids_init(u64 *args)
{
	struct scx_cid_topo topo = {};
	s32 cid;

	expect(scx_bpf_cid_to_cpu(0) == CPUS - 1 && scx_bpf_cpu_to_cid(0) == CPUS - 1, 8);
	scx_bpf_cid_topo(5, &topo);
	expect(topo.core_cid == -1 && topo.node_idx == -1, 9);
	expect(topo.shard_cid == CPUS / 2 && topo.shard_idx == 1, 10);
	if (room) {
		struct scx_cmask __arena *caps = (struct scx_cmask __arena *)room->caps;

		caps->nr_cids = CPUS;
		caps->alloc_words = 2;
		expect(scx_bpf_sub_caps(0, 2, caps) == 0, 11);
		expect(caps->bits[0] == (1 << CPUS) - 1, 12);
	}
	expect(scx_bpf_nr_cids() == CPUS, 20);
	expect(scx_bpf_cidperf_cap(0) == 1024 && scx_bpf_cidperf_cap(CPUS - 1) < 1024, 21);
	for (cid = 0; cid < BIG_CIDS; cid++)
		scx_bpf_cidperf_set(cid, 0);
	return scx_bpf_create_dsq(SHARED_DSQ, -1);
}

SEC(".struct_ops.link")
struct sched_ext_ops_cid cids_ops = {
	.select_cid = (void *)cids_select_cid,
	.enqueue = (void *)cids_enqueue,
	.dispatch = (void *)cids_dispatch,
	.set_cmask = (void *)cids_set_cmask,
	.update_idle = (void *)cids_update_idle,
	.cid_online = (void *)cids_cid_online,
	.cid_offline = (void *)cids_cid_offline,
	.init_cids = (void *)cids_init_cids,
	.init = (void *)cids_init,
	.flags = SCX_OPS_TID_TO_TASK,
	.name = "cids",
};
