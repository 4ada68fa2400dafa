/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface between a simulator (the host) and a kernel built for it (kernel.so).
 *
 * One kernel per loaded object. The host keeps the time, says when interrupts arrive and when the
 * task that runs makes a system call; the kernel decides who runs where. Each call below enters the
 * kernel on one CPU and comes back when nothing more can happen there without time passing: the CPU
 * is in user mode, waits in the idle loop, waits for another CPU, or does kernel work of a stated
 * length. What changed is in `struct wpk_view`, which both see.
 *
 * No header of the kernel, none of libc. All entries return WPK_DEAD once a run is over.
 * Whose turn it is and balancing are in told.h.
 * What must stay: order, sizes and meaning of fields are those of crates/kernel-abi/src/abi.rs,
 * signals.rs, turns.rs and balances.rs; a change of either needs another WPK_ABI, or old objects
 * would be taken.
 * May change: comments; a field or a call more only with a new WPK_ABI and both sides.
 *
 * Tests by part: crates/kernel-tree/src/kernel/tests.rs:
 * `structs_are_laid_out_as_in_the_header` (sizes, offsets, first and last numbers),
 * `calls_are_what_the_header_says` (fields of `struct wpk_call`),
 * `a_kernel_is_booted_entered_and_left` (entries, against a made-up object);
 * crates/kernel-shim/tests (entries of real ones; `cargo xtask kernel-shim`).
 *
 * Callers: each file of the shim by shim.h; crates/kernel-shim/tests/host.c;
 * crates/kernel-tree/src/kernel/entries.rs calls the entries.
 */
#ifndef WAKEPLACE_H
#define WAKEPLACE_H

#define WPK_ABI 9

typedef unsigned int wpk_u32;
typedef int wpk_s32;
typedef unsigned long long wpk_u64;
typedef long long wpk_s64;

#define WPK_NEVER (~0ULL)
#define WPK_NONE (~0U)
#define WPK_NAME 16

#include "paths.h"

/* Answers of entries: 0, a number, or one of these; an error of the kernel is -errno. */
#define WPK_DEAD (-100000)	/* the run is over: host->fault said why */
#define WPK_PENDING (-100001)	/* under way: host->done will tell */

/* ---- The machine: read during wpk_boot only. ---- */

struct wpk_opp {
	wpk_u32 khz;
	wpk_u32 uw;		/* of one busy CPU */
};

#define WPK_FAST_SWITCH 1	/* from the scheduler's context, \
	else by the governor's deadline thread */
#define WPK_ENERGY_MODEL 2	/* its CPUs are a performance domain of the energy model */
#define WPK_ANY_CPU 4		/* a CPU outside may change it */

struct wpk_domain {
	const struct wpk_opp *opps;	/* ascending */
	wpk_u32 nr_opps;
	wpk_u32 flags;
	wpk_u32 transition_latency_ns;
	wpk_u32 rate_limit_us;	/* 0: the kernel derives it from the latency */
	wpk_u32 switch_ns;	/* how long a slow switch keeps the thread that makes it busy */
	wpk_u32 boot_khz;	/* 0: the lowest */
};

#define WPK_POLLING 1

struct wpk_idle_state {
	char name[WPK_NAME];
	wpk_u64 exit_latency_ns;	/* what the governor is told: way in and out */
	wpk_u64 residency_ns;
	wpk_u32 flags;
	wpk_u32 unused;
};

struct wpk_idle_table {
	const struct wpk_idle_state *states;	/* shallowest first */
	wpk_u32 nr_states;
	wpk_u32 unused;
};

/* CPUs that share a number share the thing. A domain or table of WPK_NONE: there is none. */
struct wpk_machine_cpu {
	wpk_u32 capacity;	/* 1024: the biggest at its highest frequency */
	wpk_u32 core;		/* SMT siblings have the same */
	wpk_u32 cluster;	/* WPK_NONE: no level of clusters */
	wpk_u32 llc;		/* last-level cache; WPK_NONE: not known to the kernel */
	wpk_u32 package;
	wpk_u32 node;
	wpk_u32 domain;
	wpk_u32 idle;
};

struct wpk_machine {
	wpk_u32 abi;
	wpk_u32 nr_cpus;
	wpk_u32 nr_domains;
	wpk_u32 nr_idle;
	wpk_u32 nr_nodes;
	wpk_u32 unused;
	/* what a cache line costs (an object built with WPSIM_COHERENT only); null: nothing */
	const struct wpk_coherence *coherence;
	const struct wpk_machine_cpu *cpus;
	const struct wpk_domain *domains;
	const struct wpk_idle_table *idle;
	const wpk_u32 *distances;	/* nr_nodes x nr_nodes; null: 10 and 20 */
	/* of frequencies: "schedutil", "performance", ...; null: the default */
	const char *governor;
	const char *idle_governor;	/* "menu", "teo"; null: the tree's choice */
	wpk_u64 seed;			/* of what the kernel draws at random */
	wpk_u64 now_ns;			/* when the machine boots */
};

/* ---- What both see. The kernel writes, the host clears. ---- */

/* Who runs on a CPU: the host's number of a task, or one of these. */
#define WPK_IDLE 0xffffffffU
#define WPK_KTHREAD 0x80000000U	/* and the kernel thread's own number below */

/* What a CPU does when an entry came back. */
enum {
	WPK_OFFLINE,
	WPK_START,	/* comes up: wpk_continue() */
	WPK_USER,	/* in user mode of `running`: time is its own */
	WPK_WAIT,	/* in the idle loop, in `idle_state` */
	WPK_SPIN,	/* waits for another CPU: wpk_continue() when the others had their turn */
	WPK_WORK,	/* kernel work of `work_ns`: wpk_continue() when it is done */
	/*
	 * Inside a path of the kernel, waits for a cache line or a lock: wpk_continue() at the time
	 * `work_ns` and not before; WPK_NEVER: another CPU's doing will say when. Takes nothing
	 * else but, with `open`, interrupts at that time.
	 */
	WPK_STALL,
};

/* Interrupts. */
#define WPK_RESCHED 1
#define WPK_CALL 2
#define WPK_TIMER 4

#define WPK_IDLE_DEFAULT 0xfffffffeU	/* the idle loop without a driver for states */

struct wpk_cpu {
	wpk_u64 next_event_ns;	/* when its clock event device fires; WPK_NEVER */
	wpk_u64 work_ns;
	wpk_u32 state;
	wpk_u32 running;
	wpk_u32 idle_state;
	wpk_u32 ipi;		/* sent to it and not delivered: WPK_RESCHED, WPK_CALL */
	wpk_u32 changed;	/* listed in view->changed */
	wpk_u32 open;		/* of WPK_STALL: interrupts are on */
	wpk_u64 sent_ns;	/* when `ipi` was sent, if paths take time */
	/* the host sets it: what an access takes that needs no transfer, if paths take time */
	wpk_u64 access_ps;
	wpk_u64 switches;	/* context switches since boot */
	wpk_u64 kthread_switches;	/* to kernel threads among them */
	wpk_u64 interrupts;
	wpk_u64 ticks;		/* timer interrupts */
};

struct wpk_view {
	wpk_u64 now_ns;		/* the host sets it before each entry */
	wpk_u32 nr_cpus;
	wpk_u32 nr_changed;	/* the host sets it to 0 when it has read the list */
	wpk_u32 *changed;	/* CPUs whose `changed` is set */
	struct wpk_cpu *cpus;
	wpk_u32 detail;		/* the host sets it: decisions come with all CPUs and energies */
	wpk_u32 dead;
	wpk_u32 signals;	/* the host sets it: updates of signals and requests are told */
	wpk_u32 unused;
	struct wpk_paths *paths;	/* null: none takes time */
	wpk_u64 warnings;
	wpk_u64 decisions;
	wpk_u64 works;		/* deferred work that ran */
	wpk_u64 rcu_callbacks;
};

/* ---- Decisions: a CPU was chosen for a task of the fair class. ---- */

/* Levels of scheduling domains that are told of a CPU, the lowest first. */
#define WPK_LEVELS 8

/* The group of a CPU in a scheduling domain, as balancing last left it. */
struct wpk_group {
	wpk_u32 capacity;
	wpk_u32 min_capacity;
	wpk_u32 max_capacity;
	wpk_u32 imbalanced;
};

/* A CPU as the decision found it: what the rules for fair tasks look at. */
struct wpk_choice {
	wpk_u32 cpu;
	wpk_u32 util;		/* cfs_rq's util_avg */
	wpk_u32 util_est;
	wpk_u32 runnable;
	wpk_u32 capacity;	/* what is left for fair tasks */
	wpk_u32 capacity_orig;
	wpk_u32 nr_running;
	wpk_u32 idle_state;	/* WPK_NONE: busy, or awake */
	wpk_u32 idle;		/* its idle task runs; it may be awake for an interrupt */
	wpk_u32 allowed;	/* the task may use it; balancing may look at it */
	wpk_u32 online;
	wpk_u32 load;		/* cfs_rq's load_avg */
	wpk_u32 weight;		/* of the queued fair tasks */
	wpk_u32 nr_fair;
	wpk_u32 nr_idle_policy;	/* of SCHED_IDLE among them */
	wpk_u32 curr_fair;	/* a fair task runs */
	wpk_u32 pending;	/* a wake-up is on its way */
	wpk_u32 util_rt, util_dl, util_irq;
	wpk_u32 uclamp_min, uclamp_max;		/* of the queued tasks */
	/* of its last-level cache, or of the domain that idle searches look at */
	wpk_u32 nr_busy_cpus, has_idle_cores, nr_idle_scan;
	wpk_u32 nr_delayed;	/* sleepers that its queue keeps, in nr_running */
	wpk_u32 pressure;	/* what limits of hardware or cpufreq take of capacity_orig */
	wpk_u32 uclamp_idle;	/* no task is queued that its hints could come from */
	wpk_u32 nr_levels;
	wpk_u32 misfit_load;	/* of a task that is too big for the CPU */
	struct wpk_group groups[WPK_LEVELS];
	wpk_u64 avg_idle_ns;
	wpk_u64 idle_stamp_ns;	/* when it last became idle; 0: it is not, or nobody noted it */
	wpk_u64 scan_cost_ns;	/* what an idle search of its cache takes on average, to 6.5 */
};

/* What the rules remember of a task, or of who wakes it. */
struct wpk_party {
	wpk_u32 load;
	wpk_u32 h_load;		/* of the whole CPU, as balancing counts it */
	wpk_u32 weight;
	wpk_u32 idle_policy;	/* SCHED_IDLE */
	wpk_u32 wakee_flips;
	wpk_u32 last_wakee;	/* a task, or WPK_NONE */
	wpk_u32 recent_used_cpu;
	wpk_u32 unused;
	wpk_u64 flip_age_ns;	/* since wakee_flips were last halved */
};

struct wpk_energy {
	wpk_u32 first_cpu;	/* of the performance domain */
	/* with the task: the allowed CPU with the most capacity left; or WPK_NONE */
	wpk_u32 best_cpu;
	wpk_u64 without;	/* em_cpu_energy() of the domain without the task */
	wpk_u64 with;		/* with the task on best_cpu */
};

enum { WPK_WHY_WAKE, WPK_WHY_FORK, WPK_WHY_EXEC, WPK_WHY_OTHER };

struct wpk_decision {
	wpk_u32 task;
	/* who ran where it was decided: a task, WPK_KTHREAD | n, WPK_IDLE */
	wpk_u32 waker;
	wpk_u32 cpu;		/* where it was decided */
	wpk_u32 prev;
	wpk_u32 answer;
	wpk_u32 why;
	wpk_u32 flags;		/* the kernel's own */
	wpk_u32 overutilized;
	wpk_u32 util;		/* of the task */
	wpk_u32 util_est;
	wpk_u32 uclamp_min;	/* both with view->detail */
	wpk_u32 uclamp_max;
	/* the root domain has performance domains and is not overutilized */
	wpk_u32 energy_aware;
	wpk_u32 in_interrupt;
	wpk_u32 sync;		/* the waker is about to sleep */
	wpk_u32 waker_pinned;	/* a kernel thread that may use this CPU only */
	wpk_u32 runnable;	/* of the task */
	wpk_u32 is_new;		/* the task has not been on a queue yet */
	/* with view->detail: all CPUs, and the performance domains where it was energy-aware */
	wpk_u32 nr_choices;
	wpk_u32 nr_energies;
	struct wpk_party party;
	struct wpk_party waking;	/* who ran where it was decided */
	const struct wpk_choice *choices;
	const struct wpk_energy *energies;
};

/* ---- Signals: what the tree made of its averages, and what it was before. ---- */

/* struct sched_avg. */
struct wpk_avg {
	wpk_u64 last_update_ns;
	wpk_u64 load_sum, runnable_sum, util_sum;
	wpk_u32 load_avg, runnable_avg, util_avg, period_contrib;
	wpk_u32 util_est;	/* with WPK_UNCHANGED */
	wpk_u32 util_est_ewma;	/* of a task, to 6.7 */
};

/* No average of the task was written since its estimate. */
#define WPK_UNCHANGED 0x80000000U

enum {
	WPK_SIGNAL_TASK,	/* __update_load_avg_se() */
	WPK_SIGNAL_BLOCKED,	/* __update_load_avg_blocked_se() */
	WPK_SIGNAL_QUEUE,	/* __update_load_avg_cfs_rq() */
	WPK_SIGNAL_ENQUEUE,	/* enqueue_task_fair() */
	WPK_SIGNAL_DEQUEUE,	/* dequeue_task_fair() */
};

#define WPK_SIGNAL_WAKEUP 1
#define WPK_SIGNAL_SLEEP 2
#define WPK_SIGNAL_DELAY 4	/* the queue keeps the sleeper */
#define WPK_SIGNAL_DETACH 8	/* its averages leave the queue, too */

/* A fair queue of a CPU. */
struct wpk_queue {
	struct wpk_avg avg;
	wpk_u32 weight;		/* of what is queued */
	wpk_u32 nr_fair;	/* what of it can run */
	wpk_u32 curr_fair;	/* a fair task runs */
	wpk_u32 nr_removed;	/* tasks that left asleep, whose averages are still in `avg` */
	wpk_u64 removed_load, removed_util, removed_runnable;
};

/* A task of the root group or the queue of a CPU, before and after. */
struct wpk_signal {
	wpk_u32 kind;
	wpk_u32 cpu;
	wpk_u32 task;		/* or WPK_NONE */
	wpk_u32 flags;		/* of what is queued and dequeued */
	wpk_u64 now_ns;		/* up to when: by the PELT clock of the queue */
	wpk_u64 clock_ns, clock_task_ns, clock_pelt_ns, lost_idle_ns;	/* of the CPU */
	wpk_u32 capacity_orig;
	/* of the task */
	wpk_u32 on_rq, delayed, running, weight, unused;
	struct wpk_avg before;
	struct wpk_queue queue;
	struct wpk_avg after;
	struct wpk_avg queue_after;
};

/* A CPU of a frequency domain, as schedutil finds it, and its own note of it. */
struct wpk_demand {
	wpk_u32 cpu;
	wpk_u32 util, util_est, runnable, nr_fair;
	wpk_u32 capacity_orig;
	wpk_u32 util_rt, util_dl, util_irq, bw_dl, rt_runnable;
	wpk_u32 uclamp_min, uclamp_max, uclamp_idle;
	wpk_u32 iowait_boost, iowait_pending;
	wpk_u64 last_update_ns;
	wpk_u32 idle_calls, saved_idle_calls;
	/* after it */
	wpk_u32 iowait_boost_after, iowait_pending_after;
};

/* A frequency domain: struct sugov_policy. */
struct wpk_governor {
	wpk_u64 last_update_ns;
	wpk_u32 next_khz;
	wpk_u32 raw_khz;	/* of which next_khz was made */
	wpk_u32 forced;		/* limits have changed */
	wpk_u32 in_progress;	/* its thread is at work */
};

/* The scheduler has called schedutil. */
struct wpk_request {
	wpk_u32 cpu;		/* for which */
	wpk_u32 iowait;		/* a task joins that has waited for a device */
	wpk_u64 now_ns;
	wpk_u64 rate_limit_ns;
	wpk_u64 tick_ns;
	wpk_u32 khz;		/* that the domain has now */
	wpk_u32 max_khz;	/* that it may have */
	struct wpk_governor before, after;
	wpk_u32 nr_cpus, unused;
	const struct wpk_demand *cpus;	/* of the domain */
};

#include "told.h"

/* ---- The host. The first argument of each function is `data`. ---- */

enum {
	WPK_FAULT_PANIC = 1,	/* BUG, panic */
	WPK_FAULT_DEADLOCK,	/* a lock taken twice by a CPU */
	WPK_FAULT_MISSING,	/* a function that the shim does not have: its name */
	WPK_FAULT_ENDLESS,	/* CPUs wait for each other for ever */
	WPK_FAULT_SHIM,		/* a rule of this interface was broken */
	WPK_FAULT_HOST,		/* the host's own finding: wild access, stack overflow, too long */
	WPK_FAULT_STILL,	/* a busy CPU without a tick, or whose clock stands */
};

struct wpk_host {
	wpk_u32 abi;
	wpk_u32 unused;
	void *data;
	void *(*alloc)(void *data, wpk_u64 size, wpk_u64 align);	/* zeroed */
	void (*free)(void *data, void *p);
	void *(*stack)(void *data, wpk_u64 size);	/* lowest address; a guard page below */
	void (*stack_free)(void *data, void *stack, wpk_u64 size);
	void (*log)(void *data, wpk_u32 level, const char *text);
	void (*warned)(void *data, const char *text);	/* WARN: the run's outcome is a warning */
	/* the run is over; then WPK_DEAD */
	void (*fault)(void *data, wpk_u32 kind, const char *text);
	void (*frequency)(void *data, wpk_u32 domain, wpk_u32 khz);
	void (*placed)(void *data, const struct wpk_decision *d);	/* may be null */
	/* of what was WPK_PENDING; of a call that was refused after it had lost the CPU */
	void (*done)(void *data, wpk_u64 ticket, wpk_s64 result);
	/* with view->signals; may be null */
	void (*signal)(void *data, const struct wpk_signal *s);
	void (*requested)(void *data, const struct wpk_request *r);
	void (*turned)(void *data, const struct wpk_turn *t);
	void (*balanced)(void *data, const struct wpk_balance *b);
};

/* ---- Entries. ---- */

#define WPK_EXPORT __attribute__((visibility("default")))

WPK_EXPORT wpk_u32 wpk_abi(void);
WPK_EXPORT const char *wpk_release(void);
WPK_EXPORT wpk_u32 wpk_hz(void);
WPK_EXPORT wpk_u32 wpk_max_cpus(void);
WPK_EXPORT struct wpk_view *wpk_view(void);

/* Boots the machine: all CPUs are up and idle when it comes back. */
WPK_EXPORT wpk_s32 wpk_boot(const struct wpk_host *host, const struct wpk_machine *machine);

/* Interrupts arrive at a CPU: bits of `what`. The kernel clears the bits of cpu->ipi. */
WPK_EXPORT wpk_s32 wpk_interrupt(wpk_u32 cpu, wpk_u32 what);
/* A device's interrupt arrives, whose handler wakes tasks. */
WPK_EXPORT wpk_s32 wpk_device(wpk_u32 cpu, const wpk_u32 *tasks, wpk_u32 nr);
/* After WPK_START, WPK_SPIN, WPK_WORK. */
WPK_EXPORT wpk_s32 wpk_continue(wpk_u32 cpu);

enum {
	/* of the task itself: `call->task` is not read */
	WPK_NOP,
	WPK_SLEEP,		/* until woken; `number`: 1, in iowait */
	WPK_SLEEP_UNTIL,	/* `at`, with `slack` and `number`; a wake-up ends it, too */
	WPK_YIELD,
	WPK_EXIT,
	WPK_EXEC,		/* the moment of exec: may move */
	/* of the task, or of the machine's owner (wpk_control) */
	WPK_WAKE,		/* `task`; `sync`: the waker is about to sleep */
	/* `task`: the new one's number; `group`; `attr` and `mask` or null; `name` */
	WPK_FORK,
	WPK_SETATTR,		/* `task`, `attr` */
	WPK_AFFINITY,		/* `task`, `mask` */
	WPK_MOVE,		/* `task` to `group` */
	/* of the machine's owner only */
	WPK_GROUP,		/* a new group in `group`: its number */
	WPK_GROUP_REMOVE,
	/* `group`'s file `name` ("cpu.weight", "cpu.max", "cpu.uclamp.min") to `value` */
	WPK_GROUP_SET,
	WPK_SET,		/* a parameter of the kernel: see parameters.c */
	WPK_HOTPLUG,		/* `cpu`; `number`: 1 up, 0 down */
	/* the most that `number` (a domain) may be asked for: `at` kHz; 0: no limit */
	WPK_LIMIT,
	/* heat: the domain's CPUs are slowed to `at` kHz, which the scheduler sees */
	WPK_PRESSURE,
	/* `mask`: a scheduling domain of these, another of the rest; null: one */
	WPK_PARTITION,
};

#define WPK_SELF 0xffffffffU
#define WPK_ROOT_GROUP 0

struct wpk_attr {
	wpk_u32 policy;		/* SCHED_* */
	wpk_s32 nice;
	wpk_u32 priority;
	wpk_u32 flags;		/* SCHED_FLAG_* */
	wpk_u64 runtime, deadline, period;
	wpk_u32 util_min, util_max;	/* used with SCHED_FLAG_UTIL_CLAMP_MIN, _MAX */
};

struct wpk_call {
	wpk_u32 op;
	wpk_u32 task;
	wpk_u32 cpu;
	wpk_u32 group;
	wpk_u32 number;
	wpk_u32 sync;
	wpk_u64 at;
	wpk_u64 slack;
	const struct wpk_attr *attr;
	const wpk_u64 *mask;	/* 64 CPUs a word, as many words as the machine needs */
	const char *name;
	const char *value;
	wpk_u64 ticket;		/* of the host's own, for host->done */
};

/*
 * A system call of the task that runs on `cpu`. The answer of one that loses the CPU is 0; if it is
 * refused after that, host->done tells the error.
 */
WPK_EXPORT wpk_s64 wpk_call(wpk_u32 cpu, const struct wpk_call *call);
/*
 * Creates a task as an interrupt on `cpu` would: for tasks that no simulated task creates.
 * WPK_PENDING if the CPU takes no interrupts now.
 */
WPK_EXPORT wpk_s64 wpk_spawn(wpk_u32 cpu, const struct wpk_call *fork);
/* By the machine's owner. What waits for other CPUs runs them; what needs time is WPK_PENDING. */
WPK_EXPORT wpk_s64 wpk_control(const struct wpk_call *call);

/* ---- For observers: no entry, nothing changes. ---- */

struct wpk_cpu_state {
	wpk_u32 util, util_est, runnable, capacity, capacity_orig, nr_running;
	wpk_u32 util_rt, util_dl, util_irq, overutilized, online, khz, tick_stopped;
};

struct wpk_task_state {
	wpk_u32 util, util_est, runnable, cpu, on_rq, state, policy, priority;
	wpk_s32 nice;
	wpk_u32 uclamp_min, uclamp_max, group;
	wpk_u64 vruntime, deadline, runtime_ns, slice_ns;
};

WPK_EXPORT wpk_s32 wpk_cpu_state(wpk_u32 cpu, struct wpk_cpu_state *state);
/* The CPU that a task is on, or was last, or -errno. */
WPK_EXPORT wpk_s32 wpk_task_cpu(wpk_u32 task);
/* Whether a task is queued or runs, and is not on its way there. */
WPK_EXPORT wpk_u32 wpk_is_awake(wpk_u32 task);
WPK_EXPORT wpk_s32 wpk_task_state(wpk_u32 task, struct wpk_task_state *state);
WPK_EXPORT const char *wpk_kthread_name(wpk_u32 running);

/* All uses of lines that cost something, in no order; how many. */
WPK_EXPORT wpk_u32 wpk_lines(const struct wpk_line_use **uses);
/* The value of a parameter as the kernel's files would show it: bytes written, or -errno. */
WPK_EXPORT wpk_s32 wpk_get(const char *name, char *text, wpk_u32 size);

/* ---- Faults that the host finds (signal handlers, budgets). ---- */

/* Ends the run from within an entry: does not come back, the entry returns WPK_DEAD. */
WPK_EXPORT void wpk_die(wpk_u32 kind, const char *text) __attribute__((noreturn));
/*
 * Return addresses of the kernel stack in use, innermost first. `frame` is the frame pointer to
 * start at (of a signal's context), or 0: of the caller. Names are in the object's symbol table.
 */
WPK_EXPORT wpk_u32 wpk_backtrace(wpk_u64 frame, wpk_u64 *addresses, wpk_u32 nr);
/* Whether an address lies in the guard page of the stack in use: a stack overflow. */
WPK_EXPORT wpk_u32 wpk_in_guard(wpk_u64 address);

#endif
