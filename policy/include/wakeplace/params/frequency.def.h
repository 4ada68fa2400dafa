// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters: frequencies, RT and deadline tasks. The form is described in params.def.h. */

WP_GROUP("frequency")

WP_CHOICE(governor, wp_governor, LIVE_HAS("schedutil", "performance", "powersave"),
	RUN, "schedutil", "docs/rules/capacity.md#schedutil",
	"cpufreq governor",
	WP_VALUE(WP_GOV_SCHEDUTIL, "schedutil")
	WP_VALUE(WP_GOV_PERFORMANCE, "performance")
	WP_VALUE(WP_GOV_POWERSAVE, "powersave")
	WP_VALUE(WP_GOV_ONDEMAND, "ondemand"))       /* 2011 */

WP_AUTO(rate_limit_us, 0, 10000000, BOTH, RUN, "auto", "docs/rules/capacity.md#rate-limit",
	"least time between frequency changes, us; auto = the era's rule")
WP_RANGE(rate_limit_multiplier, 1, 1000000, BOTH, RUN, "1000", "docs/rules/capacity.md#rate-limit",
	"the era's rule: transition latency x this")
WP_RANGE(rate_limit_extra_percent, 0, 1000, BOTH, RUN, "0", "docs/rules/capacity.md#rate-limit",
	"the era's rule: plus this much of the latency, percent")
WP_RANGE(rate_limit_cap_us, 1, 10000000, BOTH, RUN, "10000", "docs/rules/capacity.md#rate-limit",
	"the era's rule: at most this, us")
WP_SWITCH(freq_perf_form, LIVE_HAS("on"), RUN, "off", "docs/rules/capacity.md#schedutil",
	"headroom on the demand only, limits after it (6.8); else on all of it")
WP_SWITCH(freq_other_classes, SIMULATOR, RUN, "off", "docs/rules/capacity.md#schedutil",
	"before that form: RT, deadline and interrupt time and wishes count (4.19)")
WP_SWITCH(freq_skip_inefficient, LIVE_HAS("on"), RUN, "off",
	"docs/rules/energy-aware.md#inefficient-states",
	"leave out states that cost no less than a faster one (5.16)")
WP_SWITCH(freq_headroom, BOTH, RUN, "off", "docs/rules/capacity.md#schedutil",
	"ask for 25 % more than the demand; off: fuller and slower CPUs")
WP_SWITCH(blocked_util_in_freq, BOTH, RUN, "off", "docs/rules/capacity.md#schedutil",
	"sleeping tasks' decaying share counts for the frequency")

WP_CHOICE(iowait_boost, wp_iowait_boost, SIMULATOR, RUN, "off",
	"docs/rules/capacity.md#iowait-boost",
	"help CPUs whose tasks wait for I/O: from the lowest frequency (4.17), from 128 (5.0)",
	WP_VALUE(WP_IOWAIT_OFF, "off")
	WP_VALUE(WP_IOWAIT_FREQ, "freq")  /* 4.17: from the lowest frequency to the highest */
	WP_VALUE(WP_IOWAIT_UTIL, "util")) /* 5.0: from 128 to 1024 */

WP_SWITCH(freq_pressure, SIMULATOR, RUN, "off", "docs/rules/capacity.md#capacity-of",
	"a limit of the frequency range is lost capacity (6.10)")

WP_GROUP("rt-deadline")

/* How what other classes take of a CPU is known. */
WP_CHOICE(class_capacity, wp_class_capacity, SIMULATOR, RUN, "aged",
	"docs/rules/capacity.md#capacity-of",
	"what other classes take: run time halved every 500 ms (to 4.18), or their averages",
	WP_VALUE(WP_CLASS_AGED, "aged")        /* to 4.18: their run time, halved every 500 ms */
	WP_VALUE(WP_CLASS_SIGNALS, "signals")) /* from 4.19: averages like those of fair tasks */

WP_SWITCH(rt_fits, SIMULATOR, RUN, "off", "docs/rules/rt-and-deadline.md#rt-placement",
	"RT and deadline tasks prefer CPUs big enough for them (5.7)")
WP_RANGE(rt_period_us, 1000, 10000000, SIMULATOR, RUN, "1000000",
	 "docs/rules/rt-and-deadline.md#rt-budgets",
	"RT tasks get rt_runtime_us of a CPU in each, us")
WP_RANGE(rt_runtime_us, 1, 10000000, SIMULATOR, RUN, "950000",
	 "docs/rules/rt-and-deadline.md#rt-budgets",
	"... this much; not less than the period: all of it")
WP_SWITCH(rt_server, SIMULATOR, RUN, "off", "docs/rules/rt-and-deadline.md#rt-budgets",
	"... and give way only while fair tasks wait (6.8), else in any case")
WP_RANGE(rr_slice_us, 1000, 1000000, SIMULATOR, RUN, "100000",
	 "docs/rules/rt-and-deadline.md#rt-budgets",
	"a SCHED_RR task runs this long if its like wait, us")

WP_GROUP("ondemand")

WP_AUTO(sampling_rate_us, 1000, 10000000, SIMULATOR, RUN, "auto", "docs/rules/ondemand.md#ondemand",
	"time between samples, us; auto = transition latency x 1000, at least 10 ms")
WP_RANGE(up_threshold, 11, 100, SIMULATOR, RUN, "95", "docs/rules/ondemand.md#ondemand",
	"the highest frequency above this load, percent")
WP_RANGE(down_differential, 0, 10, SIMULATOR, RUN, "3", "docs/rules/ondemand.md#ondemand",
	"a lower frequency so much below the threshold, percent")
WP_RANGE(sampling_down_factor, 1, 100000, SIMULATOR, RUN, "1", "docs/rules/ondemand.md#ondemand",
	"at the highest frequency samples are so much rarer")
