/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of sched_ext that changed between kernels. Each wrapper takes the form the running
 * kernel has, newest first; the loader resolves the weak symbols, so a missing form costs nothing.
 *
 *   insert          void until 6.18, bool as ..._insert___v2 from 7.0
 *   insert by vtime five arguments until 6.18, a struct from 7.0
 *   move_to_local   one argument until 7.0, enqueue flags besides (___v2) from 7.1
 *   set slice       a field write until 6.18, a function from 7.0
 *   now             a function from 6.14, the clock helper before
 *   at a return     from 6.18, with an argument more than from 7.0 on (..._impl); before, none
 *   at once         a flag of insertions into local queues, from 7.1 on; before, none
 *
 * What must stay: forms from the newest to the oldest; names with `___` are the loader's way to try
 * one.
 *
 * Tests by part: each guest calls dsq_insert, dsq_insert_vtime, dsq_move_to_local, task_set_slice
 * and now_ns in the form of its kernel; guest.sh inside calls tells_returns and at_next_return
 * (from 6.18 on); parity/glue.rs `at_once` asks for the flag (at_once) with and without it. The
 * schedulers of crates/foreign/tests call three of them, too.
 *
 * Kernel: scx_bpf_dsq_insert(), scx_bpf_dsq_insert_vtime(), scx_bpf_dsq_move_to_local(),
 *         kernel/sched/ext.c, 6.12 to 7.3; bpf_task_work_schedule_resume(), kernel/bpf/helpers.c
 * Rule: docs/decisions/011
 * Tests: xtask/src/live/tests.rs
 * Covers: a guest for each of the three interfaces (6.x, 7.0, later) loads and runs all forms.
 */
#ifndef SCX_WAKEPLACE_COMPAT_H
#define SCX_WAKEPLACE_COMPAT_H

struct scx_bpf_dsq_insert_vtime_args {
	u64 dsq_id;
	u64 slice;
	u64 vtime;
	u64 enq_flags;
};

extern void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice,
			       u64 enq_flags) __ksym __weak;
extern bool scx_bpf_dsq_insert___v2___form(struct task_struct *p, u64 dsq_id, u64 slice,
				    u64 enq_flags) __ksym __weak;
extern void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime,
				     u64 enq_flags) __ksym __weak;
extern bool __scx_bpf_dsq_insert_vtime(struct task_struct *p,
				       struct scx_bpf_dsq_insert_vtime_args *args) __ksym __weak;
extern bool scx_bpf_dsq_move_to_local(u64 dsq_id) __ksym __weak;
extern bool scx_bpf_dsq_move_to_local___v2___form(u64 dsq_id, u64 enq_flags) __ksym __weak;
extern bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice) __ksym __weak;
extern u64 scx_bpf_now(void) __ksym __weak;

typedef int (*at_return_fn)(struct bpf_map *map, void *key, void *value);

extern int bpf_task_work_schedule_resume(struct task_struct *task, struct bpf_task_work *tw,
					 void *map__map, at_return_fn callback) __ksym __weak;
extern int bpf_task_work_schedule_resume_impl(struct task_struct *task, struct bpf_task_work *tw,
					      void *map__map, at_return_fn callback,
					      void *aux__prog) __ksym __weak;

/* At the end of a queue; the slice is in ns. What the form from 7.0 on answers nobody needs. */
static __always_inline void dsq_insert(struct task_struct *p, u64 dsq, u64 slice, u64 flags)
{
	if (bpf_ksym_exists(scx_bpf_dsq_insert___v2___form))
		scx_bpf_dsq_insert___v2___form(p, dsq, slice, flags);
	else
		scx_bpf_dsq_insert(p, dsq, slice, flags);
}

/*
 * A flag for dsq_insert into a local queue: the task runs at once, or comes back to enqueue. It
 * does not wait behind a task of a higher class that the CPU has got meanwhile. 0 where the kernel
 * does not know it.
 */
static __always_inline u64 at_once(void)
{
	if (!bpf_core_enum_value_exists(enum scx_enq_flags___immed, SCX_ENQ_IMMED))
		return 0;
	return ENQ_IMMED;
}

/* By virtual deadline. */
static __always_inline void dsq_insert_vtime(struct task_struct *p, u64 dsq, u64 slice, u64 vtime,
					     u64 flags)
{
	if (bpf_ksym_exists(__scx_bpf_dsq_insert_vtime)) {
		struct scx_bpf_dsq_insert_vtime_args args = {
			.dsq_id = dsq,
			.slice = slice,
			.vtime = vtime,
			.enq_flags = flags,
		};

		__scx_bpf_dsq_insert_vtime(p, &args);
	} else {
		scx_bpf_dsq_insert_vtime(p, dsq, slice, vtime, flags);
	}
}

/* The first task of a queue that may run here. False: there is none. */
static __always_inline bool dsq_move_to_local(u64 dsq)
{
	if (bpf_ksym_exists(scx_bpf_dsq_move_to_local___v2___form))
		return scx_bpf_dsq_move_to_local___v2___form(dsq, 0);
	return scx_bpf_dsq_move_to_local(dsq);
}

/* Of the running task, ns. */
static __always_inline void task_set_slice(struct task_struct *p, u64 slice)
{
	if (bpf_ksym_exists(scx_bpf_task_set_slice))
		scx_bpf_task_set_slice(p, slice);
	else
		p->scx.slice = slice;
}

/* Does the kernel call us where a task returns to user space? */
static __always_inline bool tells_returns(void)
{
	bool tells = bpf_ksym_exists(bpf_task_work_schedule_resume);

	barrier_var(tells); /* addresses that are joined into one are refused by the verifier */
	return tells || bpf_ksym_exists(bpf_task_work_schedule_resume_impl);
}

/* `callback` is called as the task next returns to user space, once. Nothing if it has been asked
 * for already. A macro: the kernel wants the map itself. */
#define at_next_return(p, work, map, callback)                                                     \
	do {                                                                                       \
		if (bpf_ksym_exists(bpf_task_work_schedule_resume))                                \
			bpf_task_work_schedule_resume(p, work, map, callback);                     \
		else if (bpf_ksym_exists(bpf_task_work_schedule_resume_impl))                      \
			bpf_task_work_schedule_resume_impl(p, work, map, callback, 0);             \
	} while (0)

/* The clock that all signals of the core count by. */
static __always_inline u64 now_ns(void)
{
	return bpf_ksym_exists(scx_bpf_now) ? scx_bpf_now() : bpf_ktime_get_ns();
}

#endif
