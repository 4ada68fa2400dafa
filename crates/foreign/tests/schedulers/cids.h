/* SPDX-License-Identifier: GPL-2.0-only */
/* The table whose callbacks have cids, and what belongs to it (7.2 and later). */
#ifndef WAKEPLACE_TEST_CIDS_H
#define WAKEPLACE_TEST_CIDS_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct scx_cmask {
	u32 base;
	u32 nr_cids;
	u32 alloc_words;
	u64 bits[];
};

struct scx_cid_topo {
	s32 core_cid;
	s32 core_idx;
	s32 llc_cid;
	s32 llc_idx;
	s32 node_cid;
	s32 node_idx;
	s32 shard_cid;
	s32 shard_idx;
};

struct sched_ext_entity___cids {
	u64 tid;
};

struct task_struct___cids {
	struct sched_ext_entity___cids scx;
};

struct sched_ext_ops_cid {
	s32 (*select_cid)(struct task_struct *p, s32 prev_cid, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dispatch)(s32 cid, struct task_struct *prev);
	void (*set_cmask)(struct task_struct *p, const struct scx_cmask *cmask);
	void (*update_idle)(s32 cid, bool idle);
	void (*cid_online)(s32 cid);
	void (*cid_offline)(s32 cid);
	s32 (*init_cids)(void);
	s32 (*init)(void);
	u64 flags;
	u32 timeout_ms;
	u32 cid_shard_size;
	char name[128];
};

#pragma clang attribute pop

extern s32 scx_bpf_cid_to_cpu(s32 cid) __ksym __weak;
extern s32 scx_bpf_cpu_to_cid(s32 cpu) __ksym __weak;
extern s32 scx_bpf_this_cid(void) __ksym __weak;
extern s32 scx_bpf_task_cid(const struct task_struct *p) __ksym __weak;
extern u32 scx_bpf_nr_cids(void) __ksym __weak;
extern u32 scx_bpf_nr_online_cids(void) __ksym __weak;
extern const struct scx_cmask __arena *scx_bpf_online_cmask(void) __ksym __weak;
extern struct task_struct *scx_bpf_cid_curr(s32 cid) __ksym __weak;
extern u32 scx_bpf_cidperf_cap(s32 cid) __ksym __weak;
extern u32 scx_bpf_cidperf_cur(s32 cid) __ksym __weak;
extern void scx_bpf_cidperf_set(s32 cid, u32 perf) __ksym __weak;
extern void scx_bpf_kick_cid(s32 cid, u64 flags) __ksym __weak;
extern void scx_bpf_cid_topo(s32 cid, struct scx_cid_topo *out) __ksym __weak;
extern void scx_bpf_cid_override(const s32 __arena *cpu_to_cid, u32 nr_cpus,
				 const s32 __arena *shard_start, u32 nr_shards) __ksym __weak;
extern s32 scx_bpf_sub_caps(u64 cgroup_id, u64 caps, struct scx_cmask __arena *out) __ksym __weak;
extern struct task_struct *scx_bpf_tid_to_task(u64 tid) __ksym __weak;

#endif
