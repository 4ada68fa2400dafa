/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One call after the other, each with what a kernel answers: the first that differs is named.
 * Rule: docs/rules/sched-ext.md.
 *
 * What must stay: what is expected (`expect`) is a kernel's answer and is never taken from a run.
 * `walk`, `ring_buffer`, `timers_of_elements` and `never` ask one group of calls each;
 * `calls_init`, `calls_enqueue` and `calls_dispatch` call them where a kernel allows it.
 *
 * Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does
 */
#include "small.h"

char _license[] SEC("license") = "GPL";

#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_RINGBUF 27
#define RING_BYTES 4096

/* What the header's own forms of the two do not have. */
struct cgroup_subsys_state___walk {
	int id;
} __attribute__((preserve_access_index));

struct cgroup___walk {
	struct cgroup_subsys_state self;
} __attribute__((preserve_access_index));

struct scx_event_stats {
	s64 SCX_EV_SELECT_CPU_FALLBACK;
	s64 SCX_EV_DISPATCH_LOCAL_DSQ_OFFLINE;
	s64 SCX_EV_DISPATCH_KEEP_LAST;
	s64 SCX_EV_ENQ_SKIP_EXITING;
	s64 SCX_EV_REFILL_SLICE_DFL;
} __attribute__((preserve_access_index));

/* include/linux/preempt.h: the count of interrupts that are being served. */
#define HARDIRQ_OFFSET (1U << 16)
#define HARDIRQ_MASK (0xfU << 16)

struct thread_info___arm64 {
	struct {
		u32 count;
	} preempt;
} __attribute__((preserve_access_index));

struct task_struct___arm64 {
	struct thread_info___arm64 thread_info;
} __attribute__((preserve_access_index));

struct pcpu_hot {
	int preempt_count;
} __attribute__((preserve_access_index));

extern const int __preempt_count __ksym __weak;
extern struct pcpu_hot pcpu_hot __ksym __weak;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

struct due {
	struct bpf_timer timer;
	u64 word;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, struct due);
} timers SEC(".maps");

/* As kernels have it from 6.19 on. */
extern void scx_bpf_reenqueue_local___v2___form(void) __ksym __weak;

static bool held, interrupted;
static u64 kept;

/* `expected` is a rule's, `found` what came. Only the first that differs ends the scheduler. */
static __noinline void expect(const char *what, u64 expected, u64 found)
{
	static const char text[] = "%s: expected %d, found %d";
	u64 data[] = { (u64)what, expected, found };

	if (expected != found)
		scx_bpf_error_bstr((char *)text, data, sizeof(data));
}

#define EXPECT(what, expected, found)              \
	do {                                       \
		static const char name[] = what;   \
		expect(name, expected, found);     \
	} while (0)

/* The ids of a walk from the root, as digits: the first visited is the highest. */
static __noinline u64 walk(unsigned int order)
{
	struct cgroup *root = bpf_cgroup_from_id(1);
	struct cgroup_subsys_state *css;
	struct bpf_iter_css it;
	u64 ids = 0;
	int i;

	if (!root)
		return 0;
	if (bpf_iter_css_new(&it, &((struct cgroup___walk *)root)->self, order))
		return 99;
	for (i = 0; i < 8; i++) {
		css = bpf_iter_css_next(&it);
		if (!css)
			break;
		ids = ids * 10 + ((struct cgroup_subsys_state___walk *)css)->id;
	}
	bpf_iter_css_destroy(&it);
	return ids;
}

/* kernel/bpf/ringbuf.c: a record takes a header of 8 bytes, in whole words. */
static __noinline void ring_buffer(void)
{
	u64 word = 7;
	void *at;

	EXPECT("ring: size", RING_BYTES, bpf_ringbuf_query(&ring, 1));
	EXPECT("ring: nothing is written", 0, bpf_ringbuf_query(&ring, 3));
	EXPECT("ring: a word fits", 0, bpf_ringbuf_output(&ring, &word, sizeof(word), 0));
	EXPECT("ring: a header and a word", 16, bpf_ringbuf_query(&ring, 3));
	at = bpf_ringbuf_reserve(&ring, 3, 0);
	EXPECT("ring: room for 3 bytes", 1, at != 0);
	if (at)
		bpf_ringbuf_submit(at, 0);
	EXPECT("ring: 3 bytes take a word", 32, bpf_ringbuf_query(&ring, 3));
	EXPECT("ring: all is read", 32, bpf_ringbuf_query(&ring, 2));
	EXPECT("ring: no bytes wait", 0, bpf_ringbuf_query(&ring, 0));
	at = bpf_ringbuf_reserve(&ring, RING_BYTES, 0);
	EXPECT("ring: longer than the buffer", 0, at != 0);
	if (at)
		bpf_ringbuf_submit(at, 0);
}

static int never(void *map, u32 *key, struct due *due)
{
	static const char text[] = "timer: that of a deleted element fired, %d";
	u64 data[] = { *key };

	scx_bpf_error_bstr((char *)text, data, sizeof(data));
	return 0;
}

/* kernel/bpf/helpers.c: a value has one timer, which goes with its element. */
static __noinline void timers_of_elements(void)
{
	struct due zero = {}, *due;
	u32 first = 1, second = 2;

	bpf_map_update_elem(&timers, &first, &zero, 0);
	due = bpf_map_lookup_elem(&timers, &first);
	if (!due)
		return;
	EXPECT("timer: init", 0, bpf_timer_init(&due->timer, &timers, CLOCK_MONOTONIC));
	EXPECT("timer: init again", -16, bpf_timer_init(&due->timer, &timers, CLOCK_MONOTONIC));
	EXPECT("timer: callback", 0, bpf_timer_set_callback(&due->timer, never));
	EXPECT("timer: start", 0, bpf_timer_start(&due->timer, 1000, 0));
	EXPECT("timer: its element goes", 0, bpf_map_delete_elem(&timers, &first));
	bpf_map_update_elem(&timers, &second, &zero, 0);
	due = bpf_map_lookup_elem(&timers, &second);
	if (!due)
		return;
	EXPECT("timer: a new element has none", -22, bpf_timer_start(&due->timer, 1000, 0));
	EXPECT("timer: init anew", 0, bpf_timer_init(&due->timer, &timers, CLOCK_MONOTONIC));
}

/* kernel/sched/ext.c: the run queue that a callback has locked, wherever it is executed. */
#define EXPECT_LOCKED(where, cpu)                                                    \
	EXPECT(where ", locked run queue", (u64)scx_bpf_cpu_rq(cpu), (u64)scx_bpf_locked_rq())

/* x86-64's way to learn where it is called, since 6.15 and before. */
static __always_inline u32 preempt_count(void)
{
	const int *count;

	if (&__preempt_count) {
		count = bpf_this_cpu_ptr(&__preempt_count);
		return *count;
	}
	return ((struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count;
}

/* By x86-64's way, and by arm64's. */
#define EXPECT_CONTEXT(where, interrupts)                                                    \
	do {                                                                                 \
		struct task_struct___arm64 *task = (void *)bpf_get_current_task_btf();       \
                                                                                             \
		EXPECT(where ", x86-64", interrupts, preempt_count() & HARDIRQ_MASK);        \
		EXPECT(where ", arm64", interrupts,                                          \
		       task->thread_info.preempt.count & HARDIRQ_MASK);                      \
	} while (0)

OPS(enqueue)
int calls_enqueue(u64 *args)
{
	/* The workload's tasks wake by timers; what is queued again has run until now. */
	if (args[1] & SCX_ENQ_WAKEUP) {
		EXPECT_CONTEXT("a timer wakes", HARDIRQ_OFFSET);
		interrupted |= bpf_get_current_task_btf()->pid != 0;
	}
	EXPECT_LOCKED("enqueue", scx_bpf_task_cpu(ARG_TASK(args, 0)));
	dsq_insert(ARG_TASK(args, 0), SHARED_DSQ, SLICE_NS, args[1]);
	return 0;
}

OPS(dispatch)
int calls_dispatch(u64 *args)
{
	/* Kernels count more than is declared here. */
	u64 room[40];
	struct scx_event_stats *events = (void *)room;

	EXPECT_CONTEXT("dispatch", 0);
	EXPECT_LOCKED("dispatch", args[0]);
	scx_bpf_events(events, sizeof(room));
	/* A kept task is one that the last look found nothing beside. */
	EXPECT("events: kept tasks never get fewer", 1,
	       (u64)events->SCX_EV_DISPATCH_KEEP_LAST >= kept);
	kept = events->SCX_EV_DISPATCH_KEEP_LAST;
	EXPECT("events: each kept task has a new slice", 1,
	       events->SCX_EV_REFILL_SLICE_DFL >= events->SCX_EV_DISPATCH_KEEP_LAST);
	EXPECT("events: no CPU is offline", 0, events->SCX_EV_DISPATCH_LOCAL_DSQ_OFFLINE);
	if (kept && interrupted && !held) {
		static const char text[] = "calls: all as expected, %d";
		u64 data[] = { 1 };

		held = true;
		scx_bpf_error_bstr((char *)text, data, sizeof(data));
	}
	/* The task that comes is chosen before the local queue is looked at: it runs, once. */
	if (dsq_move_to_local(SHARED_DSQ)) {
		scx_bpf_reenqueue_local___v2___form();
		scx_bpf_dsq_reenq(SCX_DSQ_LOCAL, 0);
	}
	return 0;
}

OPS_SLEEPABLE(init)
int calls_init(u64 *args)
{
	u64 now = bpf_ktime_get_ns();

	/* The root, 2 and 3 below it, as the workload has them. */
	EXPECT("css: root, then children", 123, walk(2));
	EXPECT("css: children, then root", 231, walk(3));
	EXPECT("css: up from the root", 1, walk(4));
	EXPECT("css: children alone", 23, walk(5));
	EXPECT("css: an unknown order", 99, walk(1));
	EXPECT("clock: it has been up for long", 1, now >= 1000000000000ULL);
	ring_buffer();
	timers_of_elements();
	return scx_bpf_create_dsq(SHARED_DSQ, -1);
}

SEC(".struct_ops.link")
struct sched_ext_ops calls_ops = {
	.enqueue = (void *)calls_enqueue,
	.dispatch = (void *)calls_dispatch,
	.init = (void *)calls_init,
	.name = "calls",
};
