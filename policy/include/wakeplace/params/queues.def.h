// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters: the queues of a CPU. The form is described in params.def.h. */

WP_GROUP("queue")

WP_CHOICE(queue, wp_queue, LIVE_SETS("dsq"), RUN, "cfs",
	"docs/rules/live-queue.md#vq-mean",
	"order of waiting tasks: to 6.5 cfs, from 6.6 eevdf; the live scheduler's: dsq",
	WP_VALUE(WP_QUEUE_CFS, "cfs")      /* fair class to 6.5 */
	/* the live scheduler's: weighted virtual time (queue.c) */
	WP_VALUE(WP_QUEUE_LIVE, "dsq")
	WP_VALUE(WP_QUEUE_EEVDF, "eevdf")) /* fair class from 6.6 on */

WP_RANGE(vq_slice_ns, 100000, 1000000000, BOTH, RUN, "700000",
	"docs/rules/live-queue.md#vq-slice",
	"dsq: a task runs this long if others wait, ns, times a factor by tunable_scaling")
WP_RANGE(vq_sync_run_ns, 0, 1000000000, BOTH, RUN, "500000",
	"docs/rules/live-queue.md#vq-sync",
	"dsq: a wake-up by one that will sleep preempts no task before it ran this long, ns")

WP_GROUP("fair")

WP_RANGE(sched_latency_ns, 100000, 1000000000, SIMULATOR, RUN, "6000000",
	"docs/rules/queues.md#cfs-constants",
	"cfs: period in which each task runs once, ns")
WP_RANGE(min_granularity_ns, 1000, 1000000000, SIMULATOR, RUN, "750000",
	"docs/rules/queues.md#cfs-constants",
	"cfs: least slice, ns")
WP_RANGE(wakeup_granularity_ns, 0, 1000000000, SIMULATOR, RUN, "1000000",
	"docs/rules/queues.md#cfs-constants",
	"cfs: lead a woken task needs to preempt, ns")

/* Of wp_get_update_sysctl_factor: kernel times that are longer on larger machines. */
WP_CHOICE(tunable_scaling, wp_tunable_scaling, BOTH, RUN, "none",
	"docs/rules/queues.md#cfs-constants",
	"scale the three, base_slice_ns and vq_slice_ns by 1 + log2(min(CPUs, 8)), or by "
	"min(CPUs, 8)",
	WP_VALUE(WP_SCALING_NONE, "none")
	WP_VALUE(WP_SCALING_LOG, "log")        /* times 1 + log2(min(cpus, 8)) */
	WP_VALUE(WP_SCALING_LINEAR, "linear")) /* times min(cpus, 8) */

WP_SWITCH(gentle_fair_sleepers, SIMULATOR, RUN, "off", "docs/rules/queues.md#cfs",
	"cfs: a sleeper is credited half a period, not a whole one")
WP_SWITCH(start_debit, SIMULATOR, RUN, "off", "docs/rules/queues.md#cfs",
	"cfs: a new task starts one slice behind")
WP_SWITCH(wakeup_preemption, SIMULATOR, RUN, "off", "docs/rules/queues.md#cfs",
	"cfs and eevdf: a woken task may preempt")
WP_SWITCH(last_buddy, SIMULATOR, RUN, "off", "docs/rules/queues.md#cfs",
	"cfs: prefer the task that was preempted by a wake-up")
WP_RANGE(base_slice_ns, 100000, 100000000, BOTH, RUN, "700000", "docs/rules/queues.md#eevdf",
	"eevdf: slice of a task that has none of its own, ns; live: with sis-short only, which "
	"measures short tasks by it")

WP_CHOICE(eevdf_form, wp_eevdf_form, SIMULATOR, RUN, "6.12", "docs/rules/queues.md#eevdf",
	"eevdf: 6.12: lag up to two slices, protected to its deadline; 7.3: up to the longest "
	"slice + a tick, protected for the shortest slice",
	WP_VALUE(WP_EEVDF_612, "6.12")
	WP_VALUE(WP_EEVDF_73, "7.3"))

WP_SWITCH(run_to_parity, SIMULATOR, RUN, "off", "docs/rules/queues.md#eevdf-features",
	"eevdf: a picked task runs its slice while eligible, else at least base_slice_ns (7.3)")
WP_SWITCH(preempt_short, SIMULATOR, RUN, "off", "docs/rules/queues.md#eevdf-features",
	"eevdf: a woken task with a shorter slice may preempt before that")
WP_SWITCH(delay_dequeue, BOTH, RUN, "off", "docs/rules/queues.md#eevdf-features",
	"eevdf: a sleeper stays queued until it is owed time again; dsq: it wakes on its CPU")
WP_SWITCH(hrtick, BOTH, RUN, "off", "docs/rules/queues.md#eevdf-features",
	"eevdf, dsq: a high-resolution timer ends a slice, not the next tick (7.3)")
WP_RANGE(tg_write_interval_us, 0, 1000000, SIMULATOR, RUN, "0",
	"docs/rules/contended-lines.md#tg-load-avg",
	"a CPU's queue of a task group adds to the group's load no sooner after the last time "
	"(1000: from 6.7; 0: whenever it changed)")

/* Which wake-ups the target's own CPU queues, when an interrupt tells it to (TTWU_QUEUE). */
WP_CHOICE(wake_list, wp_wake_list, SIMULATOR, RUN, "off", "docs/rules/wake-ups.md#wake-list",
	"cfs and eevdf: wake-ups that the target queues itself: of another cache (to 5.19), "
	"and of an idle CPU (6.0)",
	WP_VALUE(WP_WAKE_LIST_OFF, "off")      /* none: the waker takes the target's lock */
	WP_VALUE(WP_WAKE_LIST_CACHE, "cache")  /* to 5.19: those of another cache */
	/* from 6.0: and those of another CPU that has no task */
	WP_VALUE(WP_WAKE_LIST_IDLE, "idle"))

WP_SWITCH(idle_got_tick, SIMULATOR, RUN, "off", "docs/decisions/006",
	"without cpuidle: the tick of a CPU that idles stops after one idle tick, not at once "
	"(7.0)")
