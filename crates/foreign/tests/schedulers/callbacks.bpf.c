/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One queue, and a record of every callback about a task whose name begins with `tell`: what a
 * kernel and the simulator are compared by. The loader takes the records when it likes.
 *
 * CALLBACKS_IMMED: a task that wakes is to run at once (SCX_ENQ_IMMED, from 7.1), on a CPU that
 * idles or not. If it cannot it comes back, and then waits in the queue.
 * CALLBACKS_CURRENT: `dispatch`, too, of the task that ran until then, and whether it is the
 * current one still, there and when it is enqueued again.
 * Rule: docs/rules/sched-ext.md#tasks.
 *
 * What must stay: it decides as any simple queue does, and records (`record`) in the order of the
 * calls; a record's form is read by crates/bpf-load/examples/callbacks.rs.
 *
 * Tests: crates/cli/tests/all/callbacks.rs
 */
#include "small.h"

#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_RB_NO_WAKEUP 1
/* Flags that depend on nothing but what happens to the task. */
#define SCX_ENQ_WAKEUP 1ULL
#define SCX_ENQ_LAST (1ULL << 41)
#define SCX_ENQ_IMMED (1ULL << 33)
#define SCX_ENQ_REENQ (1ULL << 40)
#define SCX_DEQ_SLEEP 1ULL
/* scx.flags: why a task comes back. */
#define SCX_TASK_REENQ_REASON_MASK (7 << 12)

#ifdef CALLBACKS_IMMED
#define AT_ONCE SCX_ENQ_IMMED
#else
#define AT_ONCE 0
#endif

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} records SEC(".maps");

struct record {
	char comm[16];
	char what[16];
	u64 flags;
};

struct task_struct___named {
	char comm[16];
} __attribute__((preserve_access_index));

static void record(struct task_struct *p, const char *what, u32 bytes, u64 flags)
{
	struct record r = {};

	BPF_CORE_READ_STR_INTO(&r.comm, (struct task_struct___named *)p, comm);
	if (r.comm[0] != 't' || r.comm[1] != 'e' || r.comm[2] != 'l' || r.comm[3] != 'l')
		return;
	__builtin_memcpy(r.what, what, bytes);
	r.flags = flags;
	bpf_ringbuf_output(&records, &r, sizeof(r), BPF_RB_NO_WAKEUP);
}

#define SAY(p, what, flags)                                            \
	do {                                                           \
		static const char name[16] = what;                     \
		record(p, name, sizeof(name), flags);                  \
	} while (0)

OPS(select_cpu)
int callbacks_select_cpu(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	bool is_idle = false;
	s32 cpu;

	SAY(p, "select_cpu", args[2] & 0xf);
	cpu = scx_bpf_select_cpu_dfl(p, args[1], args[2], &is_idle);
	if (is_idle)
		dsq_insert(p, SCX_DSQ_LOCAL, SLICE_NS, AT_ONCE);
	return cpu;
}

OPS(enqueue)
int callbacks_enqueue(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);

	SAY(p, "enqueue", args[1] & (SCX_ENQ_WAKEUP | SCX_ENQ_LAST));
#ifdef CALLBACKS_CURRENT
	SAY(p, "current", (bpf_get_current_task() == (u64)p) | scx_bpf_task_running(p) << 1);
#endif
	if (args[1] & SCX_ENQ_REENQ)
		SAY(p, "again", p->scx.flags & SCX_TASK_REENQ_REASON_MASK);
	else if (AT_ONCE != 0 && (args[1] & SCX_ENQ_WAKEUP)) {
		dsq_insert(p, SCX_DSQ_LOCAL, SLICE_NS, args[1] | AT_ONCE);
		return 0;
	}
	dsq_insert(p, SHARED_DSQ, SLICE_NS, args[1]);
	return 0;
}

OPS(dispatch)
int callbacks_dispatch(u64 *args)
{
#ifdef CALLBACKS_CURRENT
	struct task_struct *prev = ARG_TASK(args, 1);

	if (prev)
		SAY(prev, "dispatch", (bpf_get_current_task() == (u64)prev) |
				      (scx_bpf_cpu_curr(args[0]) == prev) << 1);
#endif
	dsq_move_to_local(SHARED_DSQ);
	return 0;
}

OPS(runnable)
int callbacks_runnable(u64 *args)
{
	SAY(ARG_TASK(args, 0), "runnable", args[1] & SCX_ENQ_WAKEUP);
	return 0;
}

OPS(running)
int callbacks_running(u64 *args)
{
	SAY(ARG_TASK(args, 0), "running", 0);
	return 0;
}

OPS(stopping)
int callbacks_stopping(u64 *args)
{
	SAY(ARG_TASK(args, 0), "stopping", args[1] & 1);
	return 0;
}

OPS(quiescent)
int callbacks_quiescent(u64 *args)
{
	SAY(ARG_TASK(args, 0), "quiescent", args[1] & SCX_DEQ_SLEEP);
	return 0;
}

OPS(set_cpumask)
int callbacks_set_cpumask(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);

	SAY(p, "set_cpumask", p->nr_cpus_allowed);
	return 0;
}

OPS_SLEEPABLE(init)
int callbacks_init(u64 *args)
{
	return scx_bpf_create_dsq(SHARED_DSQ, -1);
}

SEC(".struct_ops.link")
struct sched_ext_ops callbacks_ops = {
	.select_cpu = (void *)callbacks_select_cpu,
	.enqueue = (void *)callbacks_enqueue,
	.dispatch = (void *)callbacks_dispatch,
	.runnable = (void *)callbacks_runnable,
	.running = (void *)callbacks_running,
	.stopping = (void *)callbacks_stopping,
	.quiescent = (void *)callbacks_quiescent,
	.set_cpumask = (void *)callbacks_set_cpumask,
	.init = (void *)callbacks_init,
	.name = "callbacks",
};
