// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parameters: the queues of a CPU. The form is described in params.def.h.
 *
 * What must stay: keys and names of values, which users, study files and eras
 * (crates/policy-sys/src/eras) give; the place of a value is its number. `cargo xtask params` after
 * a change. Tests of the form: those of params.def.h; of what the keys do:
 * crates/policy-sys/tests/all/queue.rs, crates/policy-sys/tests/all/preempt_lazy.rs.
 */

WP_GROUP("queue")

WP_CHOICE(queue, wp_queue, LIVE_SETS("dsq"), RUN, "cfs",
	"docs/rules/live-queue.md#vq-mean",
	"order of waiting tasks: cfs: kernels to 6.5; eevdf: kernels from 6.6 on; dsq: the live "
	"scheduler's queues",
	WP_VALUE(WP_QUEUE_CFS, "cfs")      /* fair class to 6.5 */
	/* the live scheduler's: weighted virtual time (queue.c) */
	WP_VALUE(WP_QUEUE_LIVE, "dsq")
	WP_VALUE(WP_QUEUE_EEVDF, "eevdf")) /* fair class from 6.6 on */

WP_RANGE(vq_slice_ns, 100000, 1000000000, BOTH, RUN, "700000",
	"docs/rules/live-queue.md#vq-slice",
	"dsq: slice of a task while others wait, ns; times the factor of tunable_scaling")
WP_RANGE(vq_sync_run_ns, 0, 1000000000, BOTH, RUN, "2000000",
	"docs/rules/live-queue.md#vq-sync",
	"dsq: a synchronous wake-up (WF_SYNC) preempts no task that has run for less than this, "
	"ns; and then the turn of that task is over if it has had its share")

WP_GROUP("fair")

WP_RANGE(sched_latency_ns, 100000, 1000000000, SIMULATOR, RUN, "6000000",
	"docs/rules/queues.md#cfs-constants",
	"cfs: period in which each runnable task runs once, ns")
WP_RANGE(min_granularity_ns, 1000, 1000000000, SIMULATOR, RUN, "750000",
	"docs/rules/queues.md#cfs-constants",
	"cfs: shortest slice, ns")
WP_RANGE(wakeup_granularity_ns, 0, 1000000000, SIMULATOR, RUN, "1000000",
	"docs/rules/queues.md#cfs-constants",
	"cfs: lead in vruntime that a woken task needs to preempt, ns")

/* Of wp_get_update_sysctl_factor: kernel times that are longer on larger machines. */
WP_CHOICE(tunable_scaling, wp_tunable_scaling, BOTH, RUN, "none",
	"docs/rules/queues.md#cfs-constants",
	"factor for sched_latency_ns, min_granularity_ns, wakeup_granularity_ns, base_slice_ns "
	"and vq_slice_ns: log: 1 + log2(min(CPUs, 8)); linear: min(CPUs, 8)",
	WP_VALUE(WP_SCALING_NONE, "none")
	WP_VALUE(WP_SCALING_LOG, "log")        /* times 1 + log2(min(cpus, 8)) */
	WP_VALUE(WP_SCALING_LINEAR, "linear")) /* times min(cpus, 8) */

WP_SWITCH(gentle_fair_sleepers, SIMULATOR, RUN, "off", "docs/rules/queues.md#cfs",
	"cfs: a woken task is credited half of sched_latency_ns; off: all of it")
WP_SWITCH(start_debit, SIMULATOR, RUN, "off", "docs/rules/queues.md#cfs",
	"cfs: a new task starts one slice behind")
WP_SWITCH(wakeup_preemption, SIMULATOR, RUN, "off", "docs/rules/queues.md#cfs",
	"cfs, eevdf: a woken task may preempt the running one")
WP_SWITCH(last_buddy, SIMULATOR, RUN, "off", "docs/rules/queues.md#cfs",
	"cfs: prefer to go on with the task that a wake-up preempted")
WP_SWITCH(cfs_base_slice, SIMULATOR, RUN, "off", "docs/rules/queues.md#cfs",
	"cfs: BASE_SLICE: a slice is at least min_granularity_ns (5.13)")
WP_SWITCH(cfs_slice_limit, SIMULATOR, RUN, "off", "docs/rules/queues.md#cfs",
	"cfs: a turn is at most sched_latency_ns long (6.2)")
WP_SWITCH(cfs_idle_credit, SIMULATOR, RUN, "off", "docs/rules/queues.md#cfs",
	"cfs: a woken SCHED_IDLE task is credited min_granularity_ns only (5.16)")
WP_RANGE(base_slice_ns, 100000, 100000000, BOTH, RUN, "700000", "docs/rules/queues.md#eevdf",
	"eevdf: slice of a task that sets none, ns; live: only sis-short reads it, to measure "
	"short tasks by")

WP_CHOICE(eevdf_form, wp_eevdf_form, SIMULATOR, RUN, "6.12", "docs/rules/queues.md#eevdf",
	"eevdf: 6.6: lag of at most two slices, a task that moves begins a slice; 6.12: keeps its "
	"deadline, picked task protected to it; 6.18: protected for the shortest slice; 7.3: until "
	"it is not eligible, if others have shorter slices; lag of at most the longest slice + a "
	"tick",
	WP_VALUE(WP_EEVDF_66, "6.6")
	WP_VALUE(WP_EEVDF_612, "6.12")
	WP_VALUE(WP_EEVDF_618, "6.18")
	WP_VALUE(WP_EEVDF_73, "7.3"))

WP_SWITCH(run_to_parity, SIMULATOR, RUN, "off", "docs/rules/queues.md#eevdf-features",
	"eevdf: RUN_TO_PARITY: a picked task runs while eligible and protected (see eevdf_form); "
	"off: not protected (6.12), or for base_slice_ns (7.3)")
WP_SWITCH(preempt_short, SIMULATOR, RUN, "off", "docs/rules/queues.md#eevdf-features",
	"eevdf: PREEMPT_SHORT: a woken task with a shorter slice may preempt a protected task")
WP_SWITCH(next_buddy, SIMULATOR, RUN, "off", "docs/rules/queues.md#eevdf-buddies",
	"eevdf: NEXT_BUDDY: who has just been woken is the queue's buddy")
WP_SWITCH(pick_buddy, SIMULATOR, RUN, "off", "docs/rules/queues.md#eevdf-buddies",
	"eevdf: PICK_BUDDY: the buddy of a queue is picked next if it is eligible (6.12)")
WP_SWITCH(delay_dequeue, BOTH, RUN, "off", "docs/rules/queues.md#eevdf-features",
	"eevdf, dsq: DELAY_DEQUEUE: a task that sleeps with negative lag stays queued until it "
	"is eligible, and wakes on its CPU")
/* When a fair task gives way that something has displaced. */
WP_CHOICE(preempt, wp_preempt, SIMULATOR, RUN, "full", "docs/rules/queues.md#lazy-preemption",
	"cfs, eevdf: a fair task that another one displaces gives way: full: at once; lazy: when "
	"its CPU next leaves the kernel (PREEMPT_LAZY, 6.13); auto: lazy where the architecture "
	"has it (7.0)",
	WP_VALUE(WP_PREEMPT_FULL, "full")
	WP_VALUE(WP_PREEMPT_LAZY, "lazy")
	WP_VALUE(WP_PREEMPT_AUTO, "auto"))
WP_CHOICE(hrtick, wp_hrtick, BOTH, RUN, "off", "docs/rules/queues.md#hrtick",
	"eevdf, dsq: HRTICK: a high-resolution timer ends slices; off: the next tick does; auto: "
	"dsq: on; eevdf: on except on Arm (7.3)",
	WP_VALUE(WP_HRTICK_OFF, "off")
	WP_VALUE(WP_HRTICK_ON, "on")
	/* 7.3: where HRTIMER_REARM_DEFERRED is selected; the live queues' is their own */
	WP_VALUE(WP_HRTICK_AUTO, "auto"))
WP_RANGE(tg_write_interval_us, 0, 1000000, SIMULATOR, RUN, "0",
	"docs/rules/contended-lines.md#tg-load-avg",
	"least time between two updates of a task group's load_avg by one CPU, us: 1000 from 6.7 "
	"on, 0 before")
WP_SWITCH(group_burst, SIMULATOR, RUN, "off", "docs/rules/group-bandwidth.md#burst",
	"task groups have cpu.max.burst (5.14)")
WP_SWITCH(group_idle, SIMULATOR, RUN, "off", "docs/rules/group-bandwidth.md#cpu-idle",
	"task groups have cpu.idle (5.15)")
WP_SWITCH(group_timer_offset, SIMULATOR, RUN, "off", "docs/rules/group-bandwidth.md#period",
	"the periods of a group's cpu.max begin at a random moment of 100 ms (6.4); off: with the "
	"run")
WP_SWITCH(throttle_on_return, SIMULATOR, RUN, "off", "docs/rules/group-bandwidth.md#throttle",
	"a task whose group has used up cpu.max stops as it returns to user space (6.18); off: the "
	"group leaves the CPU's queue with all its tasks")

/* Which wake-ups the target's own CPU queues, when an interrupt tells it to (TTWU_QUEUE). */
WP_CHOICE(wake_list, wp_wake_list, SIMULATOR, RUN, "off", "docs/rules/wake-ups.md#wake-list",
	"wake-ups that the target CPU queues itself (TTWU_QUEUE): cache: if it shares no cache "
	"with the waker (to 5.19); idle: also if it has no task (6.0)",
	WP_VALUE(WP_WAKE_LIST_OFF, "off")      /* none: the waker takes the target's lock */
	WP_VALUE(WP_WAKE_LIST_CACHE, "cache")  /* to 5.19: those of another cache */
	/* from 6.0: and those of another CPU that has no task */
	WP_VALUE(WP_WAKE_LIST_IDLE, "idle"))

/* The forms of the teo governor, each named after the kernel that it was read in. */
WP_CHOICE(teo, wp_teo, SIMULATOR, RUN, "none", "docs/rules/cpuidle.md#teo",
	"the form that model.cpuidle=teo has: none (to 5.0); 5.10: hits, misses, early hits "
	"(5.1); 6.1: hits and intercepts (5.14); 6.10: and a CPU's utilisation (6.3); 6.12: "
	"without it (6.11); 6.18: and idle times of an instant (6.14); 7.3: ticks count apart",
	WP_VALUE(WP_TEO_NONE, "none")
	WP_VALUE(WP_TEO_5_10, "5.10")
	WP_VALUE(WP_TEO_6_1, "6.1")
	WP_VALUE(WP_TEO_6_10, "6.10")
	WP_VALUE(WP_TEO_6_12, "6.12")
	WP_VALUE(WP_TEO_6_18, "6.18")
	WP_VALUE(WP_TEO_7_3, "7.3"))
WP_SWITCH(idle_got_tick, SIMULATOR, RUN, "off", "docs/decisions/006",
	"without cpuidle: an idle CPU's tick stops after one idle tick (7.0); off: at once")
