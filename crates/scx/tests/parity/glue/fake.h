/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel of one thread for the glue: its tasks, dispatch queues and timers, and a record of what
 * it was asked for. Times are set by the tests.
 *
 * What must stay: queues answer as the kernel's do, by order or by virtual time. Free: what is
 * recorded.
 *
 * Tests: crates/scx/tests/parity/glue.rs
 */
#ifndef GLUE_FAKE_H
#define GLUE_FAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS 4000000ull
#define NR_TASKS 8
#define NR_CPUS 2
#define NR_QUEUES 16
#define NR_GROUPS 12

/* A task: what the kernel has of it, what the glue has, and where it waits. */
struct fake {
	struct task_struct task;
	struct task_live live;
	u64 queue; /* 0 and no place: nowhere */
	u64 vtime;
	u32 waits;
	u64 stamp;
};

/* A control group: what the kernel has of it, and what the glue keeps with it. */
struct fake_group {
	struct cgroup cgroup;
	struct task_group tg;
	struct cgroup_number number;
	u32 has_number;
};

static struct {
	struct fake tasks[NR_TASKS];
	struct fake_group groups[NR_GROUPS]; /* each in the one before */
	u64 stamps;
	u64 jiffies;
	u64 now;
	u32 cpu; /* where this runs */
	struct task_struct *current;
	/* what was asked for */
	u32 kicks[NR_CPUS];
	u64 kick_flags;
	u32 returns;
	struct task_struct *returning;
	u32 started;
	u64 started_ns;
	u64 slice;
	struct slice_timer slice_timer[NR_CPUS], unpark_timer[NR_CPUS];
	struct tick_timer tick_timer[NR_TIMERS];
	struct scratch scratch[SCRATCH_COUNT];
	struct return_work return_work;
	u32 has_return_work;
	u32 fails; /* the next move of a task fails */
	u64 enq_flags; /* of the last insertion */
	u32 lengths; /* how often a queue's length was asked for */
	u32 perf_asked;
	struct rq rq[NR_CPUS];
	u32 idle_cpus; /* a bit each: those that the kernel takes for idle */
} fake;

const struct rq runqueues;
const unsigned long arch_freq_scale = 1024;
const unsigned long cpufreq_pressure;

static struct fake *of(const struct task_struct *p)
{
	return (struct fake *)p; /* its first member */
}

void *bpf_task_storage_get(void *map, void *task, void *value, u64 flags)
{
	return task ? &of(task)->live : 0;
}

void *bpf_cgrp_storage_get(void *map, void *cgroup, void *value, u64 flags)
{
	struct fake_group *group = cgroup; /* its first member */

	group->has_number |= flags & BPF_LOCAL_STORAGE_GET_F_CREATE;
	return group->has_number ? &group->number : 0;
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	u32 at = *(const u32 *)key;

	if (map == &slice_timers)
		return &fake.slice_timer[at % NR_CPUS];
	if (map == &unpark_timers)
		return &fake.unpark_timer[at % NR_CPUS];
	if (map == &timers)
		return &fake.tick_timer[at % NR_TIMERS];
	if (map == &return_works)
		return fake.has_return_work ? &fake.return_work : 0;
	return &fake.scratch[at % SCRATCH_COUNT];
}

long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags)
{
	fake.has_return_work = 1;
	return 0;
}

struct task_struct *bpf_get_current_task_btf(void)
{
	return fake.current;
}

u32 bpf_get_smp_processor_id(void)
{
	return fake.cpu;
}

u32 bpf_get_prandom_u32(void)
{
	return 0;
}

u64 bpf_ktime_get_ns(void)
{
	return fake.now;
}

u64 scx_bpf_now(void)
{
	return fake.now;
}

u64 bpf_jiffies64(void)
{
	return fake.jiffies;
}

void *bpf_per_cpu_ptr(const void *variable, u32 cpu)
{
	if (variable == (const void *)&runqueues)
		return &fake.rq[cpu % NR_CPUS];
	return (void *)variable;
}

long bpf_probe_read_kernel(void *to, u32 size, const void *from)
{
	memcpy(to, from, size);
	return 0;
}

long bpf_probe_read_kernel_str(void *to, u32 size, const void *from)
{
	return 0;
}

long bpf_timer_init(struct bpf_timer *timer, void *map, u64 flags)
{
	return 0;
}

long bpf_timer_set_callback(struct bpf_timer *timer, void *callback)
{
	return 0;
}

long bpf_timer_start(struct bpf_timer *timer, u64 ns, u64 flags)
{
	fake.started++;
	fake.started_ns = ns;
	return 0;
}

s32 scx_bpf_create_dsq(u64 queue, s32 node)
{
	return 0;
}

s32 scx_bpf_dsq_nr_queued(u64 queue)
{
	s32 count = 0;
	u32 i;

	fake.lengths++;
	for (i = 0; i < NR_TASKS; i++)
		count += fake.tasks[i].waits && fake.tasks[i].queue == queue;
	return count;
}

static void put(struct task_struct *p, u64 queue, u64 vtime)
{
	of(p)->queue = queue;
	of(p)->vtime = vtime;
	of(p)->waits = 1;
	of(p)->stamp = ++fake.stamps;
}

void scx_bpf_dsq_insert(struct task_struct *p, u64 queue, u64 slice, u64 flags)
{
	fake.enq_flags = flags;
	put(p, queue, 0);
}

bool scx_bpf_dsq_insert___v2___form(struct task_struct *p, u64 queue, u64 slice, u64 flags)
{
	scx_bpf_dsq_insert(p, queue, slice, flags);
	return true;
}

void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 queue, u64 slice, u64 vtime, u64 flags)
{
	fake.enq_flags = flags;
	put(p, queue, vtime);
}

bool __scx_bpf_dsq_insert_vtime(struct task_struct *p, struct scx_bpf_dsq_insert_vtime_args *args)
{
	scx_bpf_dsq_insert_vtime(p, args->dsq_id, args->slice, args->vtime, args->enq_flags);
	return true;
}

/* Queue, virtual time and stamp of the last one that the walk has had; opaque[5]: for a move. */
int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 queue, u64 flags)
{
	memset(it, 0, sizeof(*it));
	it->opaque[0] = queue;
	it->opaque[3] = fake.stamps;
	return 0;
}

struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it)
{
	struct fake *best = 0;
	u32 i;

	for (i = 0; i < NR_TASKS; i++) {
		struct fake *f = &fake.tasks[i];
		bool after = f->vtime > it->opaque[1] ||
			     (f->vtime == it->opaque[1] && f->stamp > it->opaque[2]);

		if (!f->waits || f->queue != it->opaque[0] || f->stamp > it->opaque[3] || !after)
			continue;
		if (!best || f->vtime < best->vtime ||
		    (f->vtime == best->vtime && f->stamp < best->stamp))
			best = f;
	}
	if (!best)
		return 0;
	it->opaque[1] = best->vtime;
	it->opaque[2] = best->stamp;
	return &best->task;
}

void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it)
{
}

bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 queue, u64 flags)
{
	if (fake.fails) {
		fake.fails--;
		return false;
	}
	put(p, queue, 0);
	return true;
}

void scx_bpf_dsq_move_set_vtime(struct bpf_iter_scx_dsq *it, u64 vtime)
{
	it->opaque[5] = vtime;
}

bool scx_bpf_dsq_move_vtime(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 queue,
			    u64 flags)
{
	if (!scx_bpf_dsq_move(it, p, queue, flags))
		return false;
	of(p)->vtime = it->opaque[5];
	return true;
}

bool scx_bpf_dsq_move_to_local(u64 queue)
{
	struct bpf_iter_scx_dsq it;
	struct task_struct *first;

	bpf_iter_scx_dsq_new(&it, queue, 0);
	first = bpf_iter_scx_dsq_next(&it);
	if (first)
		put(first, SCX_DSQ_LOCAL, 0);
	return first != 0;
}

bool scx_bpf_dsq_move_to_local___v2___form(u64 queue, u64 flags)
{
	return scx_bpf_dsq_move_to_local(queue);
}

void scx_bpf_kick_cpu(s32 cpu, u64 flags)
{
	fake.kicks[cpu % NR_CPUS]++;
	fake.kick_flags = flags;
}

bool scx_bpf_test_and_clear_cpu_idle(s32 cpu)
{
	bool was = fake.idle_cpus >> cpu & 1;

	fake.idle_cpus &= ~(1u << cpu);
	return was;
}

void scx_bpf_cpuperf_set(s32 cpu, u32 perf)
{
	fake.perf_asked++;
}

u32 scx_bpf_reenqueue_local(void)
{
	return 0;
}

s32 scx_bpf_task_cpu(const struct task_struct *p)
{
	return (s32)p->thread_info.cpu;
}

void scx_bpf_error_bstr(char *format, unsigned long long *data, u32 size)
{
	printf("the scheduler has ended itself: %s\n", format);
	exit(1);
}

struct cgroup *bpf_cgroup_ancestor(struct cgroup *cgroup, int level)
{
	return &fake.groups[level % NR_GROUPS].cgroup;
}

void bpf_cgroup_release(struct cgroup *cgroup)
{
}

void bpf_rcu_read_lock(void)
{
}

void bpf_rcu_read_unlock(void)
{
}

const struct cpumask *scx_bpf_get_online_cpumask(void)
{
	return 0;
}

void scx_bpf_put_cpumask(const struct cpumask *mask)
{
}

bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *mask)
{
	return mask->bits[0] >> cpu & 1;
}

bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice)
{
	fake.slice = slice;
	return true;
}

int bpf_task_work_schedule_resume(struct task_struct *p, struct bpf_task_work *work, void *map,
				  at_return_fn callback)
{
	fake.returns++;
	fake.returning = p;
	return 0;
}

int bpf_task_work_schedule_resume_impl(struct task_struct *p, struct bpf_task_work *work, void *map,
				       at_return_fn callback, void *aux)
{
	return -1;
}

#endif
