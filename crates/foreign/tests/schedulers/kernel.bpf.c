/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The types of a small kernel, for tests that must not need a real one's: what an object file holds
 * of them stands in the place of /sys/kernel/btf/vmlinux. Only what the schedulers of this folder
 * and wakeplace's mirrors use is in it; the order of fields is nobody's.
 * Page: docs/guide/schedulers.md.
 *
 * What must stay: `keep_calls` and `keep_cids` are never run: they keep the declarations of all
 * calls in the object's types. A call that a scheduler here uses is added there.
 *
 * Tests: crates/cli/tests/all/schedulers.rs, by `made` (the object in the place of a kernel's
 * types)
 */
/* The header has what scx_wakeplace reads of these; a kernel has more. */
#define task_struct task_struct_of_header
#define thread_info thread_info_of_header
#define sched_ext_entity sched_ext_entity_of_header
#define cgroup cgroup_of_header
#define cgroup_subsys_state cgroup_subsys_state_of_header
#include "small.h"
#include "cids.h"
#undef task_struct
#undef thread_info
#undef sched_ext_entity
#undef cgroup
#undef cgroup_subsys_state

char _license[] SEC("license") = "GPL";

/* The preemption count as x86-64 has it, and below as arm64 does. */
#ifdef KERNEL_OLD
/* Before 6.15. */
struct pcpu_hot {
	struct task_struct *current_task;
	int preempt_count;
	int cpu_number;
} pcpu_hot SEC(".data..percpu");
#else
int __preempt_count SEC(".data..percpu");
#endif

struct thread_info {
	u32 cpu;
	union {
		u64 preempt_count;
		struct {
			u32 count;
			u32 need_resched;
		} preempt;
	};
};

struct sched_ext_entity {
	bool disallow;
	u32 weight;
	u32 flags;
	u64 dsq_vtime;
	u64 slice;
	u64 tid;
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	struct thread_info thread_info;
	struct sched_ext_entity scx;
	const struct cpumask *cpus_ptr;
	int nr_cpus_allowed;
	struct cpumask cpus_mask;
	int pid;
	int tgid;
	char comm[16];
	struct css_set *cgroups;
};

struct bpf_struct_ops_common_value {
	u64 refcnt;
	u32 state;
};

struct bpf_struct_ops_sched_ext_ops {
	struct bpf_struct_ops_common_value common;
	struct sched_ext_ops data __attribute__((aligned(64)));
};

struct bpf_struct_ops_sched_ext_ops_cid {
	struct bpf_struct_ops_common_value common;
	struct sched_ext_ops_cid data __attribute__((aligned(64)));
};

enum scx_enq_flags {
	SCX_ENQ_HEAD = 0x10,
	SCX_ENQ_CPU_SELECTED = 0x400,
};

struct kernfs_node {
	u64 id;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
	int id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	int level;
};

struct scx_event_stats {
	s64 SCX_EV_SELECT_CPU_FALLBACK;
	s64 SCX_EV_DISPATCH_LOCAL_DSQ_OFFLINE;
	s64 SCX_EV_DISPATCH_KEEP_LAST;
	s64 SCX_EV_ENQ_SKIP_EXITING;
	s64 SCX_EV_REFILL_SLICE_DFL;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct cpufreq_policy {
	unsigned int cpu;
	unsigned int min;
	unsigned int max;
	unsigned int cur;
};

#define KEEP(type) struct type keep_##type

KEEP(bpf_struct_ops_sched_ext_ops);
KEEP(bpf_struct_ops_sched_ext_ops_cid);
KEEP(cgroup);
KEEP(css_set);
KEEP(scx_event_stats);
KEEP(cpufreq_policy);
KEEP(scx_init_task_args);
KEEP(scx_exit_task_args);
KEEP(scx_cpu_release_args);
enum scx_enq_flags keep_flags;
KEEP(rq);
KEEP(cpumask);
KEEP(task_struct);
KEEP(kernfs_node);
KEEP(cgroup_subsys_state);
KEEP(scx_exit_info);

/* By the names that kernels have from 7.0 and 7.1 on. */
extern bool scx_bpf_dsq_insert___v2(struct task_struct_of_header *p, u64 dsq_id, u64 slice,
				    u64 enq_flags) __ksym;
extern bool scx_bpf_dsq_move_to_local___v2(u64 dsq_id, u64 enq_flags) __ksym;
/* ... and from 6.19 on. */
extern void scx_bpf_reenqueue_local___v2(void) __ksym;

/* Functions are in the types only if they are called. */
SEC("struct_ops/keep_calls")
int keep_calls(u64 *args)
{
	struct task_struct_of_header *p = (void *)args[0];
	struct scx_bpf_dsq_insert_vtime_args by_vtime = {};
	struct bpf_iter_scx_dsq it;
	struct bpf_iter_css css;
	bool is_idle;

	bpf_cgroup_from_id(1);
	bpf_iter_css_new(&css, 0, 0);
	bpf_iter_css_next(&css);
	bpf_iter_css_destroy(&css);
	scx_bpf_events(0, 0);
	scx_bpf_create_dsq(args[1], -1);
	scx_bpf_select_cpu_dfl(p, 0, 0, &is_idle);
	scx_bpf_dsq_insert___v2(p, 0, 0, 0);
	__scx_bpf_dsq_insert_vtime(p, &by_vtime);
	scx_bpf_dsq_move_to_local___v2(0, 0);
	scx_bpf_kick_cpu(0, 0);
	scx_bpf_error_bstr(0, 0, 0);
	bpf_iter_scx_dsq_new(&it, 0, 0);
	bpf_iter_scx_dsq_next(&it);
	bpf_iter_scx_dsq_destroy(&it);
	scx_bpf_dsq_move(&it, p, 0, 0);
	bpf_cpumask_test_cpu(0, p->cpus_ptr);
	bpf_arena_alloc_pages(0, 0, 0, 0, 0);
	bpf_list_push_front_impl(0, 0, 0, 0);
	bpf_of_a_later_kernel(0);
	scx_bpf_cpu_curr(0);
	scx_bpf_task_running(p);
	scx_bpf_cpu_rq(0);
	scx_bpf_locked_rq();
	scx_bpf_reenqueue_local___v2();
	return scx_bpf_task_cpu(p);
}

SEC("struct_ops/keep_cids")
int keep_cids(u64 *args)
{
	struct task_struct_of_header *p = (void *)args[0];
	struct scx_cid_topo topo;

	scx_bpf_cid_to_cpu(0);
	scx_bpf_cpu_to_cid(0);
	scx_bpf_this_cid();
	scx_bpf_kick_cid(0, 0);
	scx_bpf_cid_topo(0, &topo);
	scx_bpf_cid_override(0, 0, 0, 0);
	scx_bpf_sub_caps(0, 0, 0);
	scx_bpf_tid_to_task(0);
	scx_bpf_dsq_reenq(0, 0);
	scx_bpf_nr_cids();
	scx_bpf_nr_online_cids();
	scx_bpf_online_cmask();
	scx_bpf_cid_curr(0);
	scx_bpf_cidperf_cap(0);
	scx_bpf_cidperf_cur(0);
	scx_bpf_cidperf_set(0, 0);
	return scx_bpf_task_cid(p);
}
