// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters: load tracking. The form is described in params.def.h. */

WP_GROUP("load-tracking")

WP_CHOICE(pelt_scale, wp_pelt_scale, LIVE_HAS("clock"), RUN, "contrib",
	"docs/rules/signals.md#pelt-clock",
	"frequency and capacity scale each contribution (4.3 to 5.0) or the clock (from 5.1); "
	"ratio: share of time runnable (3.8); none (to 3.7)",
	/* up to 5.0: each contribution times frequency and capacity */
	WP_VALUE(WP_PELT_CONTRIB, "contrib")
	WP_VALUE(WP_PELT_CLOCK, "clock")      /* from 5.1: the clock runs slower on slow CPUs */
	/* 3.8: share of time runnable, of tasks and queues (runnable_avg_3_8.c) */
	WP_VALUE(WP_PELT_RATIO, "ratio")
	WP_VALUE(WP_PELT_NONE, "none"))       /* to 3.7: no averages */

WP_SWITCH(weight_is_load, LIVE_HAS("off"), RUN, "off",
	"docs/rules/linux-3-8.md#runnable-average-3-8",
	"load is the weight of what is queued now (to 3.10), no average")
WP_SWITCH(runnable_is_load, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#load-for-balancing",
	"third signal is the weight of the queued tasks (to 5.6)")

WP_CHOICE(util_est, wp_util_est_mode, LIVE_HAS("off", "single"), RUN, "off",
	"docs/rules/signals.md#util-est",
	"estimate of a task's demand: 4.17, 5.5 or 6.8 form",
	WP_VALUE(WP_UTIL_EST_OFF, "off")
	/* 4.17: {enqueued, ewma}, the ewma rises and falls by 1/4 */
	WP_VALUE(WP_UTIL_EST_PAIR, "pair")
	WP_VALUE(WP_UTIL_EST_PAIR_FASTUP, "pair-fastup")  /* 5.5: the ewma rises at once */
	/* 6.8: one value, rises at once, falls by 1/4 */
	WP_VALUE(WP_UTIL_EST_SINGLE, "single"))

WP_SWITCH(util_est_after_freq, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#util-est",
	"a queue event asks for the frequency before util_est moves")

/* A floor for the utilisation of a CPU while its task runs. */
WP_CHOICE(util_est_faster, wp_util_est_faster, LIVE_HAS("off"), RUN, "off",
	"docs/rules/signals.md#util-est-faster",
	"a CPU's utilisation is at least what twice its task's run since the wake-up would "
	"reach from 0, or that run scaled by speed (RFC 2022)",
	WP_VALUE(WP_UTIL_EST_FASTER_OFF, "off")
	/* what twice the run since it was woken reaches from 0 */
	WP_VALUE(WP_UTIL_EST_FASTER_DOUBLED, "doubled")
	/* what that run reaches, scaled by capacity and frequency */
	WP_VALUE(WP_UTIL_EST_FASTER_SCALED, "scaled"))

WP_SWITCH(util_est_before_update, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#util-est",
	"at sleep the estimate takes the value before the dequeue's update (6.12)")
WP_SWITCH(runnable_boost, LIVE_HAS("on"), RUN, "off", "docs/rules/capacity.md#schedutil",
	"time in the queue counts for speed like time on the CPU (6.5)")
WP_RANGE(runnable_boost_pct, 0, 100, BOTH, RUN, "100", "docs/rules/energy-idle.md#boost-part",
	"... so much of it")
WP_SWITCH(post_init_util, BOTH, RUN, "off", "docs/rules/signals.md#new-task",
	"a new task starts with half of what its CPU has to spare")
WP_SWITCH(post_init_capacity, BOTH, RUN, "off", "docs/rules/signals.md#new-task",
	"... of the CPU's own capacity (4.20), else of 1024")
WP_SWITCH(migrate_pelt_lag, BOTH, RUN, "off", "docs/rules/signals.md#attach-detach",
	"a sleeper that moves fades for the time its old CPU was idle, too (6.0)")
WP_SWITCH(uclamp, BOTH, RUN, "off", "docs/rules/capacity.md#util-fits-cpu",
	"tasks' wishes for performance count (uclamp, 5.3)")
