// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parameters: frequencies, RT and deadline tasks. The form is described in params.def.h.
 *
 * What must stay: keys and names of values, which users, study files and eras
 * (crates/policy-sys/src/eras) give; the place of a value is its number. `cargo xtask params` after
 * a change. Tests of the form: those of params.def.h; of what the keys do:
 * crates/policy-sys/tests/all/frequency.rs, crates/policy-sys/tests/all/classes.rs,
 * crates/policy-sys/tests/all/response_time.rs, crates/policy-sys/tests/all/ondemand.rs.
 */

WP_GROUP("frequency")

WP_CHOICE(governor, wp_governor, LIVE_HAS("schedutil", "performance", "powersave"),
	RUN, "schedutil", "docs/rules/capacity.md#schedutil",
	"cpufreq governor; powersave is the lowest clock, or the hardware's own choice where the "
	"platform's driver is intel_pstate or amd-pstate, whose passive mode schedutil is "
	"(docs/decisions/059)",
	WP_VALUE(WP_GOV_SCHEDUTIL, "schedutil")
	WP_VALUE(WP_GOV_PERFORMANCE, "performance")
	WP_VALUE(WP_GOV_POWERSAVE, "powersave")
	WP_VALUE(WP_GOV_ONDEMAND, "ondemand"))       /* 2011 */

WP_AUTO(rate_limit_us, 0, 10000000, BOTH, RUN, "auto", "docs/rules/capacity.md#rate-limit",
	"least time between two frequency changes, us; auto = by the transition latency and the "
	"other rate_limit_* parameters")
WP_RANGE(rate_limit_multiplier, 1, 1000000, BOTH, RUN, "1000", "docs/rules/capacity.md#rate-limit",
	"rate_limit_us=auto: the transition latency times this")
WP_RANGE(rate_limit_extra_percent, 0, 1000, BOTH, RUN, "0", "docs/rules/capacity.md#rate-limit",
	"rate_limit_us=auto: plus this part of the transition latency, percent")
WP_RANGE(rate_limit_cap_us, 1, 10000000, BOTH, RUN, "10000", "docs/rules/capacity.md#rate-limit",
	"rate_limit_us=auto: at most this, us")
WP_SWITCH(freq_perf_form, LIVE_HAS("on"), RUN, "off", "docs/rules/capacity.md#schedutil",
	"schedutil adds its headroom to the utilisation, then applies uclamp (6.8); off: it adds "
	"it to the clamped utilisation")
WP_SWITCH(freq_headroom_on_util, LIVE_HAS("on"), RUN, "off", "docs/rules/capacity.md#schedutil",
	"freq_headroom is added to the utilisation, in whole units (5.14); off: to the frequency")
WP_SWITCH(freq_other_classes, SIMULATOR, RUN, "off", "docs/rules/capacity.md#schedutil",
	"freq_perf_form=off: RT, deadline and interrupt time and uclamp count for the frequency "
	"(4.19)")
WP_SWITCH(freq_update_in_progress, SIMULATOR, RUN, "off", "docs/rules/capacity.md#work-in-progress",
	"schedutil takes requests while its thread works on one (4.18); off: until that change is "
	"made it looks at nothing")
WP_SWITCH(freq_skip_inefficient, LIVE_HAS("on"), RUN, "off",
	"docs/rules/energy-aware.md#inefficient-states",
	"leave out operating points that cost no less than a faster one (5.16)")
WP_SWITCH(freq_headroom, BOTH, RUN, "off", "docs/rules/capacity.md#schedutil",
	"schedutil asks for 25 % more than the utilisation; off: for no more, so that CPUs are "
	"slower and fuller")
WP_SWITCH(freq_headroom_growth, LIVE_HAS("off"), RUN, "off",
	"docs/rules/response-time.md#headroom-growth",
	"RFC of 2024: freq_perf_form, freq_headroom: schedutil adds what the utilisation can grow "
	"by until it looks again, not 25 %")
WP_AUTO(response_time_ms, 1, 10000, LIVE_HAS("auto"), RUN, "auto",
	"docs/rules/response-time.md#response-time-ms",
	"RFC of 2024: freq_perf_form: schedutil goes from the lowest to the highest frequency in "
	"this time, ms; auto = as PELT does")
WP_SWITCH(blocked_util_in_freq, BOTH, RUN, "off", "docs/rules/capacity.md#schedutil",
	"what sleeping tasks left in the utilisation (blocked) counts for the frequency of a CPU "
	"without fair tasks")

WP_CHOICE(iowait_boost, wp_iowait_boost, SIMULATOR, RUN, "off",
	"docs/rules/capacity.md#iowait-boost",
	"raise the frequency while tasks wake from I/O: freq: from the lowest frequency, doubled "
	"each time (4.17); freq-restart: and from the start after a tick without an update (4.19); "
	"util: from utilisation 128, doubled each time (5.2)",
	WP_VALUE(WP_IOWAIT_OFF, "off")
	WP_VALUE(WP_IOWAIT_FREQ, "freq")  /* 4.17: from the lowest frequency to the highest */
	/* 4.19: and from the start after a tick without an update */
	WP_VALUE(WP_IOWAIT_FREQ_RESTART, "freq-restart")
	WP_VALUE(WP_IOWAIT_UTIL, "util")) /* 5.2: from 128 to 1024 */

WP_SWITCH(freq_pressure, SIMULATOR, RUN, "off", "docs/rules/capacity.md#capacity-of",
	"a cap on the frequency lowers the CPU's capacity (6.10); off: it bounds the frequency "
	"only")

WP_GROUP("rt-deadline")

/* How what other classes take of a CPU is known. */
WP_CHOICE(class_capacity, wp_class_capacity, SIMULATOR, RUN, "aged",
	"docs/rules/capacity.md#capacity-of",
	"how RT, deadline and interrupt time lower a CPU's capacity: aged: by run time that is "
	"halved every 500 ms (to 4.18); signals: by PELT averages",
	WP_VALUE(WP_CLASS_AGED, "aged")        /* to 4.18: their run time, halved every 500 ms */
	WP_VALUE(WP_CLASS_SIGNALS, "signals")) /* from 4.19: averages like those of fair tasks */

WP_SWITCH(dl_constrained, SIMULATOR, RUN, "off", "docs/rules/rt-and-deadline.md#rt-budgets",
	"a deadline before the end of the period gives no more bandwidth than the period (4.13)")
WP_SWITCH(dl_scaled, SIMULATOR, RUN, "off", "docs/rules/rt-and-deadline.md#dl-scaled",
	"a deadline task uses up its runtime by its CPU's capacity and frequency (4.16); off: by "
	"time")
WP_SWITCH(rt_fits, SIMULATOR, RUN, "off", "docs/rules/rt-and-deadline.md#rt-placement",
	"RT and deadline tasks prefer CPUs big enough for them (5.7); deadline tasks are admitted "
	"by the CPUs' capacities (5.9)")
WP_RANGE(rt_period_us, 1000, 10000000, SIMULATOR, RUN, "1000000",
	 "docs/rules/rt-and-deadline.md#rt-budgets",
	"RT throttling: period of the budget rt_runtime_us, us")
WP_RANGE(rt_runtime_us, 1, 10000000, SIMULATOR, RUN, "950000",
	 "docs/rules/rt-and-deadline.md#rt-budgets",
	"RT throttling: time that RT tasks may take of each CPU in rt_period_us, us; not less "
	"than the period = no limit")
WP_SWITCH(rt_server, SIMULATOR, RUN, "off", "docs/rules/rt-and-deadline.md#rt-budgets",
	"RT throttling acts only while fair tasks wait (fair server, 6.8); off: always")
WP_RANGE(rr_slice_us, 1000, 1000000, SIMULATOR, RUN, "100000",
	 "docs/rules/rt-and-deadline.md#rt-budgets",
	"a SCHED_RR task runs this long if another of its priority waits, us")

WP_GROUP("ondemand")

WP_AUTO(sampling_rate_us, 1000, 10000000, SIMULATOR, RUN, "auto", "docs/rules/ondemand.md#ondemand",
	"ondemand: time between samples, us; auto = transition latency x 1000, at least 10 ms")
WP_RANGE(up_threshold, 11, 100, SIMULATOR, RUN, "95", "docs/rules/ondemand.md#ondemand",
	"ondemand: above this load the frequency is the highest, percent")
WP_RANGE(down_differential, 0, 10, SIMULATOR, RUN, "3", "docs/rules/ondemand.md#ondemand",
	"ondemand: the frequency falls if the load is this far below up_threshold, percentage "
	"points")
WP_RANGE(sampling_down_factor, 1, 100000, SIMULATOR, RUN, "1", "docs/rules/ondemand.md#ondemand",
	"ondemand: time between samples at the highest frequency is this many times longer")
