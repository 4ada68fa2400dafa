/* SPDX-License-Identifier: GPL-2.0-only */
/* What the schedulers for tests share, beside the interface as scx_wakeplace declares it. */
#ifndef WAKEPLACE_TEST_SMALL_H
#define WAKEPLACE_TEST_SMALL_H

#include "kernel.h"
#include "compat.h"

#define SHARED_DSQ 7
#define SLICE_NS 5000000ULL

extern s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 prev_cpu, u64 wake_flags,
				  bool *is_idle) __ksym;

extern struct task_struct *scx_bpf_cpu_curr(s32 cpu) __ksym __weak;
extern bool scx_bpf_task_running(const struct task_struct *p) __ksym;
extern struct rq *scx_bpf_cpu_rq(s32 cpu) __ksym __weak;
extern struct rq *scx_bpf_locked_rq(void) __ksym __weak;
extern void scx_bpf_dsq_reenq(u64 dsq_id, u64 reenq_flags) __ksym __weak;

struct cgroup;
struct cgroup_subsys_state;
struct scx_event_stats;

struct bpf_iter_css {
	u64 opaque[3];
};

extern struct cgroup *bpf_cgroup_from_id(u64 id) __ksym __weak;
extern int bpf_iter_css_new(struct bpf_iter_css *it, struct cgroup_subsys_state *start,
			    unsigned int flags) __ksym __weak;
extern struct cgroup_subsys_state *bpf_iter_css_next(struct bpf_iter_css *it) __ksym __weak;
extern void bpf_iter_css_destroy(struct bpf_iter_css *it) __ksym __weak;
extern void scx_bpf_events(struct scx_event_stats *events, unsigned long events__sz) __ksym __weak;

#define __arena __attribute__((address_space(1)))

extern void __arena *bpf_arena_alloc_pages(void *map, void __arena *addr, u32 page_cnt, int node_id,
					   u64 flags) __ksym __weak;

extern int bpf_list_push_front_impl(void *head, void *node, void *meta, u64 off) __ksym __weak;

/* In the types of the small kernel, and offered by nobody. */
extern int bpf_of_a_later_kernel(u64 value) __ksym __weak;

#endif
