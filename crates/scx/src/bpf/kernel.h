/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the glue knows of the kernel: the few fields it reads, relocated to the running kernel's
 * layout when it is loaded (CO-RE), and the functions of sched_ext it calls. Hand-written: a
 * generated vmlinux.h has 130,000 lines and belongs to one kernel.
 *
 * What must stay: a field has the kernel's name and type, or it is not found; one that only some
 * kernels have is asked for with bpf_core_field_exists() where it is read.
 *
 * Kernel: struct task_struct, include/linux/sched.h; kfuncs of kernel/sched/ext.c
 * Rule: docs/decisions/011
 * Tests: crates/scx/tests/parity/loaded.rs
 * Covers: loaded.rs compares the object that is loaded; a field that a kernel lacks stops each
 *         guest of xtask/src/live/tests.rs as it loads.
 */
#ifndef SCX_WAKEPLACE_KERNEL_H
#define SCX_WAKEPLACE_KERNEL_H

/* No header of the host is needed: what would come from <linux/bpf.h> is stated here. */
#define __VMLINUX_H__
#include <stdbool.h>

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef signed short __s16;
typedef signed int __s32;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_PERCPU_ARRAY 6
#define BPF_MAP_TYPE_LRU_HASH 9
#define BPF_MAP_TYPE_TASK_STORAGE 29
#define BPF_MAP_TYPE_CGRP_STORAGE 32
#define BPF_F_NO_PREALLOC 1u
#define BPF_NOEXIST 1ull
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1ull
#define CLOCK_MONOTONIC 1

struct bpf_timer {
	__u64 opaque[2];
} __attribute__((aligned(8)));

/* Known to the kernel by name and size, from 6.18 on. */
struct bpf_task_work {
	__u64 opaque;
} __attribute__((aligned(8)));

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct cpumask {
	unsigned long bits[1];
};

struct sched_ext_entity {
	u64 slice;
	u32 flags;
	unsigned long runnable_at; /* jiffies when it became runnable, or stopped running */
};

struct sched_avg {
	u64 last_update_time;
	unsigned long load_avg;
	unsigned long runnable_avg;
	unsigned long util_avg;
	unsigned int util_est;
};

struct sched_entity {
	struct sched_avg avg;
};

struct uclamp_se {
	unsigned int value : 11;
};

struct thread_info {
	u32 cpu;
};

enum vtime_state { VTIME_INACTIVE };

struct vtime {
	enum vtime_state state;
};

struct bpf_map {
	u32 id;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct cgroup {
	int level;
	struct cgroup_subsys_state *subsys[1];
};

struct task_group {
	struct cgroup_subsys_state css;
	int idle;
	struct uclamp_se uclamp[2];
};

/* Its numbers depend on what the kernel was built with. */
enum cgroup_subsys_id { cpu_cgrp_id };

struct rb_root_cached {
	struct rb_node *rb_leftmost;
};

/* Asked for by name: not all kernels have it. Its number is ENQ_IMMED. */
enum scx_enq_flags___immed { SCX_ENQ_IMMED };

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	int pid;
	unsigned int flags;
	unsigned int policy;
	unsigned int wakee_flips;
	int static_prio;
	int nr_cpus_allowed;
	unsigned short migration_disabled;
	const struct cpumask *cpus_ptr;
	u64 utime;
	u64 gtime; /* of utime: in a virtual machine */
	struct vtime vtime;
	struct rb_root_cached pi_waiters; /* who waits for locks of it, with priority inheritance */
	struct sched_entity se;
	struct uclamp_se uclamp_req[2];
	struct task_group *sched_task_group;
	struct sched_ext_entity scx;
};

struct rq {
	unsigned int nr_running;
	unsigned int clock_update_flags;
	u64 clock_pelt;
	unsigned long lost_idle_time;
	struct sched_avg avg_rt;
	struct sched_avg avg_dl;
	struct sched_avg avg_irq;
	struct sched_avg avg_hw;
};

struct scx_init_task_args {
	bool fork;
	struct cgroup *cgroup;
};
struct scx_cgroup_init_args {
	u32 weight;
	u64 bw_period_us;
	u64 bw_quota_us;
	u64 bw_burst_us;
};
struct scx_cpu_release_args {
	struct task_struct *task;
};
struct scx_exit_task_args {
	bool cancelled;
};

enum scx_exit_kind { SCX_EXIT_NONE };

struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	const char *reason;
	char *msg;
};

/* A subset: libbpf matches members by name. */
struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*tick)(struct task_struct *p);
	bool (*yield)(struct task_struct *from, struct task_struct *to);
	void (*runnable)(struct task_struct *p, u64 enq_flags);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	void (*quiescent)(struct task_struct *p, u64 deq_flags);
	void (*set_weight)(struct task_struct *p, u32 weight);
	void (*set_cpumask)(struct task_struct *p, const struct cpumask *cpumask);
	void (*update_idle)(s32 cpu, bool idle);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*exit_task)(struct task_struct *p, struct scx_exit_task_args *args);
	void (*enable)(struct task_struct *p);
	void (*disable)(struct task_struct *p);
	void (*cpu_release)(s32 cpu, struct scx_cpu_release_args *args);
	void (*cpu_online)(s32 cpu);
	void (*cpu_offline)(s32 cpu);
	s32 (*cgroup_init)(struct cgroup *cgrp, struct scx_cgroup_init_args *args);
	void (*cgroup_exit)(struct cgroup *cgrp);
	void (*cgroup_move)(struct task_struct *p, struct cgroup *from, struct cgroup *to);
	void (*cgroup_set_weight)(struct cgroup *cgrp, u32 weight);
	void (*cgroup_set_bandwidth)(struct cgroup *cgrp, u64 period_us, u64 quota_us,
				     u64 burst_us);
	void (*cgroup_set_idle)(struct cgroup *cgrp, bool idle);
	s32 (*init)(void);
	void (*exit)(struct scx_exit_info *info);
	u64 flags;
	u32 timeout_ms;
	char name[128];
};

#pragma clang attribute pop

struct bpf_iter_num {
	__u64 opaque[1];
} __attribute__((aligned(8)));

struct bpf_iter_scx_dsq {
	__u64 opaque[6];
} __attribute__((aligned(8)));

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/* A sched_ext callback: the kernel hands the arguments over as an array of 64-bit words. */
#define OPS(name) SEC("struct_ops/" #name)
#define OPS_SLEEPABLE(name) SEC("struct_ops.s/" #name)
#define ARG_TASK(args, n) ((struct task_struct *)(args)[n])

#define PF_IDLE 0x00000002
#define PF_EXITING 0x00000004
#define TASK_DEAD 0x00000080
#define PF_KTHREAD 0x00200000
#define SCHED_IDLE 5
#define MAX_RT_PRIO 100
#define DEFAULT_PRIO 120

#define SCX_OPS_KEEP_BUILTIN_IDLE (1ULL << 0)
#define SCX_OPS_ENQ_LAST (1ULL << 1)

#define SCX_TASK_QUEUED 1u

#define SCX_DSQ_FLAG_BUILTIN (1ULL << 63)
#define SCX_DSQ_FLAG_LOCAL_ON (1ULL << 62)
#define SCX_DSQ_GLOBAL (SCX_DSQ_FLAG_BUILTIN | 1)
#define SCX_DSQ_LOCAL (SCX_DSQ_FLAG_BUILTIN | 2)
#define SCX_DSQ_LOCAL_ON (SCX_DSQ_FLAG_BUILTIN | SCX_DSQ_FLAG_LOCAL_ON)

#define SCX_WAKE_FORK 4ULL
#define SCX_WAKE_SYNC 16ULL
#define SCX_ENQ_WAKEUP 1ULL
#define SCX_ENQ_PREEMPT (1ULL << 32)
#define ENQ_IMMED (1ULL << 33)
#define SCX_ENQ_LAST (1ULL << 41)
#define SCX_DEQ_SLEEP 1ULL
#define SCX_KICK_IDLE 1ULL
#define SCX_KICK_PREEMPT 2ULL

/* The iterator that bpf_for_each declares: a move takes the task from where it stands. */
#define BPF_FOR_EACH_ITER (&___it)

extern s32 scx_bpf_create_dsq(u64 dsq_id, s32 node) __ksym;
extern s32 scx_bpf_dsq_nr_queued(u64 dsq_id) __ksym;
extern bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it__iter, struct task_struct *p, u64 dsq_id,
			     u64 enq_flags) __ksym __weak;
extern bool scx_bpf_dsq_move_vtime(struct bpf_iter_scx_dsq *it__iter, struct task_struct *p,
				   u64 dsq_id, u64 enq_flags) __ksym __weak;
extern void scx_bpf_dsq_move_set_vtime(struct bpf_iter_scx_dsq *it__iter, u64 vtime) __ksym __weak;
extern void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
extern bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym;
extern void scx_bpf_cpuperf_set(s32 cpu, u32 perf) __ksym;
extern u32 scx_bpf_reenqueue_local(void) __ksym;
extern s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym;
extern void scx_bpf_error_bstr(char *fmt, unsigned long long *data, u32 data__sz) __ksym;
extern int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq_id, u64 flags) __ksym __weak;
extern struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym __weak;
extern void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym __weak;
extern struct cgroup *bpf_cgroup_ancestor(struct cgroup *cgrp, int level) __ksym __weak;
extern void bpf_cgroup_release(struct cgroup *cgrp) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym;
extern void bpf_rcu_read_unlock(void) __ksym;
extern const struct cpumask *scx_bpf_get_online_cpumask(void) __ksym;
extern void scx_bpf_put_cpumask(const struct cpumask *cpumask) __ksym;
extern bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *cpumask) __ksym;
extern const struct rq runqueues __ksym;
/* What scx_bpf_cpuperf_cur returns, without the call. */
extern const unsigned long arch_freq_scale __ksym;
/* Capacity that the frequency limits in force take away; not there without cpufreq. */
extern const unsigned long cpufreq_pressure __ksym __weak;

#endif
