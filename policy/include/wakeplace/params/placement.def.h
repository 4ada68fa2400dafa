// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parameters: where a task is placed. The form is described in params.def.h.
 *
 * What must stay: keys and names of values, which users, study files and eras
 * (crates/policy-sys/src/eras) give; the place of a value is its number. `cargo xtask params` after
 * a change. Tests of the form: those of params.def.h; of what the keys do:
 * crates/policy-sys/tests/all/wake_7_3.rs, crates/policy-sys/tests/all/fast_path.rs,
 * crates/policy-sys/tests/all/short_wake.rs, crates/policy-sys/tests/all/energy_7_3.rs.
 */

WP_GROUP("wake-up")

WP_SWITCH(wake_wide, BOTH, RUN, "off", "docs/rules/wake-ups.md#wake-wide",
	"wake_wide(): tasks that wake many others (M:N, more than a cache has CPUs) do not pull "
	"them to the waking CPU")
WP_SWITCH(wake_affine_idle, BOTH, RUN, "off", "docs/rules/wake-ups.md#wake-affine",
	"wake_affine(): choose between the waking and the previous CPU by which is idle (WA_IDLE)")
WP_SWITCH(wake_affine_prev_idle, BOTH, RUN, "off", "docs/rules/wake-ups.md#wake-affine",
	"wake_affine_idle: an idle previous CPU is chosen if the waking CPU is busy (5.x)")
WP_SWITCH(wake_affine_weight, BOTH, RUN, "off", "docs/rules/wake-ups.md#wake-affine",
	"wake_affine(): choose between the waking and the previous CPU by load (WA_WEIGHT)")

/* How waker's and previous CPU compare by load. */
WP_CHOICE(wake_affine_form, wp_wake_affine_form, LIVE_HAS("4.14"), RUN, "4.14",
	"docs/rules/linux-3-8.md#wake-affine-3-8",
	"wake_affine_weight: 4.14: the waking CPU's load with the task against the previous "
	"CPU's without it; 3.18: against the previous CPU's as it is; 3.1: as 3.18, or the "
	"waking CPU if both are lightly loaded",
	WP_VALUE(WP_AFFINE_414, "4.14")  /* the waking CPU's with the task, the other's without */
	WP_VALUE(WP_AFFINE_318, "3.18")  /* as 4.14, the other's as it is */
	WP_VALUE(WP_AFFINE_31, "3.1"))   /* as 3.18, or both lightly loaded */

WP_SWITCH(wakee_flips_fix, BOTH, RUN, "off", "docs/rules/capacity-aware.md#wakee-flips-fix",
	"a wake-up by an interrupt on an idle CPU does not count in wakee_flips")
WP_RANGE(cache_rent_lines, 0, 4096, BOTH, RUN, "0", "docs/rules/cache-rent.md#rent",
	"cache lines that a wake-up brings from waker to wakee (a pipe's: 60); a task goes to its "
	"waker's last-level cache once they have cost it as much as the move; 0: no such rule")

/* How the fast path looks for an idle CPU. */
WP_CHOICE(sis_form, wp_sis_form, LIVE_HAS("scan"), RUN, "scan",
	"docs/rules/linux-3-8.md#idle-search-3-8",
	"fast path's search for an idle CPU: scan: for cores, then CPUs (4.9); groups: for fully "
	"idle groups (3.8); levels: level by level (3.1)",
	/* 4.9: cores and CPUs of the cache domain, as sis_* say */
	WP_VALUE(WP_SIS_SCAN, "scan")
	WP_VALUE(WP_SIS_GROUPS, "groups")  /* 3.8: fully idle groups, from the cache domain down */
	WP_VALUE(WP_SIS_LEVELS, "levels")) /* 3.1: first idle CPU, level by level */

WP_SWITCH(sis_always, LIVE_HAS("on"), RUN, "off", "docs/rules/linux-3-8.md#idle-search-3-8",
	"no domain joins the waking and the previous CPU: search for an idle CPU near the "
	"previous one (4.3); off: take the previous one, idle or not")
WP_SWITCH(sis_recent_used, BOTH, RUN, "off", "docs/rules/wake-ups.md#idle-sibling",
	"the fast path tries the recently used CPU (recent_used_cpu)")
WP_SWITCH(sis_prop, LIVE_HAS("off"), RUN, "off", "docs/rules/wake-ups.md#sis-prop",
	"SIS_PROP: limit the idle search by its average cost and the CPU's average idle time")
WP_SWITCH(sis_single_pass, LIVE_HAS("on"), RUN, "off", "docs/rules/wake-ups.md#idle-scan",
	"one pass over the cache looks for an idle core and an idle CPU (5.12); off: two passes")
WP_SWITCH(sis_util, BOTH, RUN, "off", "docs/rules/wake-ups.md#sis-util",
	"SIS_UTIL: limit the idle search by the utilisation of the cache domain (6.0)")

/* The idle search on asymmetric domains. */
WP_CHOICE(sis_asym, wp_sis_asym, BOTH, RUN, "off", "docs/rules/wake-ups.md#idle-capacity",
	"search asymmetric domains for an idle CPU that fits the task: plain: all of the domain, "
	"else the largest idle one (5.7); all: all of it, else the one that comes nearest (6.2); "
	"limited: as far as sis_util allows (7.3)",
	WP_VALUE(WP_SIS_ASYM_OFF, "off")
	WP_VALUE(WP_SIS_ASYM_PLAIN, "plain")      /* 5.7: a CPU fits or does not */
	WP_VALUE(WP_SIS_ASYM_ALL, "all")          /* 6.2: one that lacks only the hint is nearer */
	/* 7.3: as far as sis_util allows; SMT: idle cores first */
	WP_VALUE(WP_SIS_ASYM_LIMITED, "limited"))

WP_SWITCH(sis_cluster, LIVE_HAS("on"), RUN, "off", "docs/rules/wake-ups.md#idle-sibling",
	"the idle search looks at the target's cluster before the rest of the cache (6.8)")
WP_SWITCH(idlest_classes, LIVE_HAS("on"), RUN, "off", "docs/rules/wake-ups.md#idlest-group",
	"the slow path compares groups by class, as balancing does (5.5); off: by load")
WP_SWITCH(idlest_allowed, LIVE_HAS("on"), RUN, "off", "docs/rules/wake-ups.md#idlest-group",
	"idlest_classes: a group is seen by those of its CPUs that the task may use (6.12)")
WP_SWITCH(idlest_numa_idle, LIVE_HAS("off"), RUN, "off", "docs/rules/wake-ups.md#idlest-group",
	"idlest_classes: on NUMA a group that has an idle CPU is not left for one that has more "
	"(5.5 to 5.10)")
WP_SWITCH(idle_policy_free, LIVE_HAS("on"), RUN, "off", "docs/rules/wake-ups.md#idle-sibling",
	"a CPU that runs only SCHED_IDLE tasks is as good as an idle one for others (5.7)")
WP_SWITCH(sis_kthread, LIVE_HAS("on"), RUN, "off", "docs/rules/wake-ups.md#idle-sibling",
	"the fast path takes the previous CPU if a kernel thread bound to it wakes the task and is "
	"alone there (5.6)")
WP_SWITCH(sis_prop_allowed, LIVE_HAS("on"), RUN, "off",
	"docs/rules/linux-5-0-to-6-12.md#sis-prop-forms",
	"sis_single_pass=off, sis_prop: CPUs that the task may not use do not count (5.5)")
WP_SWITCH(idle_policy_apart, BOTH, RUN, "off", "docs/rules/wake-ups.md#idle-policy-apart",
	"a SCHED_IDLE task does not take a CPU that runs only such tasks for a free one (7.3)")

/* What the slow path compares where it compares loads. */
WP_CHOICE(idlest_load, wp_idlest_load, SIMULATOR, RUN, "4.10",
	"docs/rules/linux-3-8.md#idlest-group-3-8",
	"idlest_classes=off: 4.10: compare groups by runnable and average load; 3.18: by one "
	"load; 3.1: by one load, and in the group take the least loaded CPU, not an idle one",
	WP_VALUE(WP_IDLEST_410, "4.10")  /* queued and recent loads; an idle CPU by its state */
	WP_VALUE(WP_IDLEST_318, "3.18")  /* one load; an idle CPU by its state */
	WP_VALUE(WP_IDLEST_31, "3.1"))   /* one load, of groups and of CPUs */

WP_GROUP("machine")

/* Which domain tables (domains_3_9.c). */
WP_CHOICE(domain_form, wp_domain_form, LIVE_HAS("5.16"), RUN, "5.16",
	"docs/rules/linux-3-8.md#domains-3-8",
	"sched domains: 5.16: every level of the topology; 4.7: all but clusters; 3.8: SMT, MC, "
	"CPU, nodes by distance; 3.1: SMT, MC, CPU, NODE, ALLNODES",
	WP_VALUE(WP_DOMAINS_516, "5.16")  /* any level that the topology has */
	WP_VALUE(WP_DOMAINS_47, "4.7")    /* no clusters yet */
	WP_VALUE(WP_DOMAINS_38, "3.8")    /* 3.7 to 3.9: SMT, MC, CPU, NUMA by distance */
	WP_VALUE(WP_DOMAINS_31, "3.1"))   /* to 3.6: SMT, MC, CPU, NODE, ALLNODES */

/* What a CPU's capacity is made of. */
WP_CHOICE(capacity_form, wp_capacity_form, LIVE_HAS("signals"), RUN, "signals",
	"docs/rules/linux-3-8.md#cpu-power",
	"what lowers a CPU's capacity: signals: averages of RT, deadline and interrupt time "
	"(4.19); window: that time in an ageing window (3.19); power: as window, and all CPUs "
	"start at 1024 (to 3.18)",
	/* full capacity less the signals of other classes and interrupts */
	WP_VALUE(WP_CAPACITY_SIGNALS, "signals")
	/* 3.19 to 4.18: full capacity, less their time in an aged window */
	WP_VALUE(WP_CAPACITY_WINDOW, "window")
	/* before ("cpu power"): all CPUs alike, less that time */
	WP_VALUE(WP_CAPACITY_POWER, "power"))

WP_SWITCH(capacity_newidle, SIMULATOR, RUN, "off", "docs/rules/sched-mc.md#mc-power-refresh",
	"new-idle balancing refreshes the local group's capacity if that is due (3.3)")

WP_GROUP("asym-capacity")

WP_SWITCH(asym_flag, BOTH, RUN, "off", "docs/rules/capacity-aware.md#asym-flag",
	"domains whose CPUs differ in capacity have SD_ASYM_CPUCAPACITY")
WP_SWITCH(idlest_single_cpu, BOTH, RUN, "off", "docs/rules/capacity-aware.md#idlest-cpu",
	"slow path: in a group of one CPU take that CPU without further tests")
WP_SWITCH(asym_balance_wake, BOTH, RUN, "off", "docs/rules/capacity-aware.md#balance-wake",
	"asymmetric domains have SD_BALANCE_WAKE, so that wake-ups may take the slow path")
WP_SWITCH(wake_cap, BOTH, RUN, "off", "docs/rules/capacity-aware.md#wake-cap",
	"wake_cap(): take the slow path if the task does not fit the waking or the previous CPU")
WP_SWITCH(wake_cap_est, LIVE_HAS("off"), RUN, "off", "docs/rules/capacity-aware.md#wake-cap",
	"wake_cap: the larger of util_avg and util_est must be below 80 % of the CPU (4.20); "
	"off: util_avg, at most 80 %")
WP_SWITCH(idlest_spare, SIMULATOR, RUN, "off", "docs/rules/capacity-aware.md#spare-capacity",
	"slow path of wake-ups and execs: the group with the most spare capacity, if it is "
	"enough; else compare loads")
WP_SWITCH(idlest_spare_fork, SIMULATOR, RUN, "off", "docs/rules/capacity-aware.md#spare-capacity",
	"idlest_spare holds for forks, too (to 4.9)")
WP_SWITCH(idlest_without_task, BOTH, RUN, "off", "docs/rules/capacity-aware.md#util-without-task",
	"slow path: the waking task's own blocked utilisation is taken off its previous CPU")
WP_SWITCH(idlest_without_running, LIVE_HAS("on"), RUN, "off",
	"docs/rules/capacity-aware.md#util-without-task",
	"idlest_without_task: the estimate of a task that is queued there comes off, too, as an "
	"exec's does (4.20)")
WP_SWITCH(asym_no_pull, SIMULATOR, RUN, "off", "docs/rules/capacity-aware.md#asym-no-pull",
	"do not pull from a group of bigger CPUs that is not overloaded")
WP_SWITCH(asym_no_pull_max, LIVE_HAS("off"), RUN, "off",
	"docs/rules/capacity-aware.md#group-extremes",
	"asym_no_pull: groups compare by their biggest CPU (2016); off: by their smallest (4.10)")
WP_SWITCH(misfit, BOTH, RUN, "off", "docs/rules/capacity.md#misfit",
	"mark a running task that does not fit its CPU, so that balancing moves it (4.20)")

/*
 * Which running tasks are marked as too big for their CPU, and how balancing counts them: one
 * choice, since no era has one without the other (docs/rules/linux-5-0-to-6-12.md#misfit-forms).
 */
WP_CHOICE(misfit_form, wp_misfit_form, LIVE_HAS("6.12"), RUN, "4.20",
	"docs/rules/capacity.md#misfit",
	"tasks that are not marked as misfit: 4.20: none; 6.1: pinned ones, and any on a CPU of "
	"the largest capacity; 6.12: any on the largest CPU that it may use, and misfit pulls "
	"change neither interval nor failures",
	WP_VALUE(WP_MISFIT_420, "4.20")  /* 4.20: any that does not fit, with its load */
	/* 5.12: none that is pinned or on a CPU of the machine's largest size */
	WP_VALUE(WP_MISFIT_61, "6.1")
	/* 6.9: nor on the largest it may use; its failures count for nothing */
	WP_VALUE(WP_MISFIT_612, "6.12"))

/* What is taken off a CPU's capacity beside the time of other classes. */
WP_CHOICE(pressure_form, wp_pressure_form, LIVE_HAS("limits"), RUN, "none",
	"docs/rules/capacity.md#capacity-of",
	"limits that lower a CPU's capacity: thermal: thermal ones (5.7); limits: those of the "
	"hardware and of cpufreq (6.10)",
	WP_VALUE(WP_PRESSURE_NONE, "none")
	WP_VALUE(WP_PRESSURE_THERMAL, "thermal")  /* 5.7: thermal limits */
	/* 6.10: the larger of hardware's and the frequency policy's limits */
	WP_VALUE(WP_PRESSURE_LIMITS, "limits"))

WP_GROUP("energy-aware")

WP_CHOICE(energy_aware, wp_energy_version, LIVE_HAS("off", "7.3"), RUN, "off",
	"docs/rules/energy-aware.md#energy-versions",
	"energy-aware wake-up (find_energy_efficient_cpu()) as in that kernel; v3: as in the RFC "
	"of May 2018",
	WP_VALUE(WP_ENERGY_OFF, "off")
	WP_VALUE(WP_ENERGY_V3, "v3")     /* RFC v3, May 2018 */
	WP_VALUE(WP_ENERGY_50, "5.0")    /* Linux 5.0 */
	WP_VALUE(WP_ENERGY_510, "5.10")  /* Linux 5.10 */
	WP_VALUE(WP_ENERGY_61, "6.1")    /* Linux 6.1 */
	WP_VALUE(WP_ENERGY_612, "6.12")  /* Linux 6.12 */
	WP_VALUE(WP_ENERGY_73, "7.3"))   /* Linux 7.3 */

WP_SWITCH(energy_hints_carried, BOTH, RUN, "off",
	"docs/rules/energy-aware.md#energy-hints-carried",
	"energy-aware wake-up: an idle CPU is judged by the hints of the busy CPU before it in its "
	"performance domain, too, as the kernels' loop keeps them (5.10.223, 6.1)")
WP_CHOICE(energy_rework, wp_energy_rework, LIVE_HAS("off"), RUN, "off",
	"docs/rules/energy-push.md#cost",
	"proposed in 2025: energy_aware=6.12, 7.3: cost: of a performance domain the CPU that "
	"needs the cheapest state, then the one with fewest tasks; push: and a task that its CPU "
	"cannot serve is moved without a wake-up; misfit: and any that does not fit",
	WP_VALUE(WP_REWORK_OFF, "off")
	WP_VALUE(WP_REWORK_COST, "cost")      /* patches 2 to 4 */
	WP_VALUE(WP_REWORK_PUSH, "push")      /* and 5 */
	WP_VALUE(WP_REWORK_MISFIT, "misfit")) /* and 6 */
WP_CHOICE(em_powers, wp_em_powers, SIMULATOR, RUN, "believed",
	"docs/decisions/056",
	"powers in the energy model: what the kernel of the machine believes, or what the hardware "
	"draws",
	WP_VALUE(WP_EM_BELIEVED, "believed")
	WP_VALUE(WP_EM_DRAWN, "drawn"))
WP_CHOICE(energy_no_watts, wp_no_watts, BOTH, RUN, "off",
	"docs/rules/energy-no-watts.md#no-watts",
	"an energy model made of the CPUs' capacities and clocks: missing: where the machine has "
	"no model; always: in place of the machine's, too",
	WP_VALUE(WP_NO_WATTS_OFF, "off")
	WP_VALUE(WP_NO_WATTS_MISSING, "missing")
	WP_VALUE(WP_NO_WATTS_ALWAYS, "always"))

WP_SWITCH(overutilized_new, LIVE_HAS("off"), RUN, "off", "docs/rules/energy-aware.md#overutilized",
	"a new task's enqueue may set the overutilized flag (5.0 to 5.9)")

/* What was proposed in the place of the tipping point. */
WP_CHOICE(overutilized_margin, wp_over_margin, LIVE_HAS("fifth"), RUN, "fifth",
	"docs/rules/overutilized.md#by-tick",
	"proposed in 2025: a CPU is overutilized where less than this is left: fifth: 20 % of its "
	"capacity; tick: what a task reaches within a tick",
	WP_VALUE(WP_OVER_BY_FIFTH, "fifth")
	WP_VALUE(WP_OVER_BY_TICK, "tick"))
WP_SWITCH(overutilized_not_lone, LIVE_HAS("off"), RUN, "off", "docs/rules/overutilized.md#lone",
	"proposed in 2025: a task alone on a CPU of the largest size does not make it "
	"overutilized, unless 5 % of that are taken away")
WP_CHOICE(overutilized_scope, wp_over_scope, LIVE_HAS("any"), RUN, "any",
	"docs/rules/overutilized.md#all",
	"proposed in 2026: the root domain is overutilized if: any: some CPU is; all: each CPU of "
	"a domain that is balanced is, as balancing finds it",
	WP_VALUE(WP_OVER_ANY, "any")
	WP_VALUE(WP_OVER_ALL, "all"))
WP_SWITCH(overutilized_linger, LIVE_HAS("off"), RUN, "off", "docs/rules/overutilized.md#linger",
	"proposed in 2025: the overutilized flag stays for a tick after a CPU was last beyond the "
	"tipping point")

WP_RANGE(energy_margin_shift, 1, 31, SIMULATOR, ANYTIME, "6",
	"docs/rules/energy-aware.md#energy-5-0",
	"energy_aware=v3, 5.0: another CPU must save more than the machine's energy with the "
	"task on the previous CPU, >> this")
WP_RANGE(energy_max_complexity, 0, 4294967295, BOTH, RUN, "0",
	"docs/rules/energy-aware.md#energy-5-0",
	"energy-aware placement is off where performance domains x (states + CPUs) exceed this; "
	"0 = no limit")

WP_SWITCH(energy_idle, BOTH, ANYTIME, "off", "docs/rules/energy-idle.md#energy-idle-order",
	"each performance domain's best idle CPU is estimated, too; at equal energy an idle CPU "
	"goes before a busy one")
WP_SWITCH(energy_idle_free, BOTH, ANYTIME, "off", "docs/rules/energy-idle.md#energy-idle-free",
	"a task that raises a frequency is not charged for the past work of CPUs that are idle "
	"now")
WP_SWITCH(energy_wait, BOTH, ANYTIME, "off", "docs/rules/energy-idle.md#energy-wait",
	"the estimate for a busy CPU includes that a waiting task raises its frequency")
WP_RANGE(energy_stay_pct, 0, 100, BOTH, ANYTIME, "45", "docs/rules/energy-idle.md#energy-stay",
	"energy_idle: an idle previous CPU is left for another one of its performance domain "
	"only if that saves more than this, percent")
WP_RANGE(energy_stay_domain_pct, 0, 100, BOTH, ANYTIME, "4",
	"docs/rules/energy-idle.md#energy-stay",
	"energy_idle: an idle previous CPU is left for another performance domain only if that "
	"saves more than this, percent")

WP_GROUP("sis-short")

/* Where a short waker makes its own CPU the target (short_wake.c). */
WP_CHOICE(sis_short_affine, wp_short_affine, BOTH, ANYTIME, "off",
	"docs/rules/short-wakes.md#short-versions",
	"wake_affine() takes the waking CPU if its task is short: first: even if the previous "
	"CPU is idle (v1); after-prev: if that is busy and no other task is queued here (v2); "
	"last: after the loads, by the tests of sis_short_stack (v7)",
	WP_VALUE(WP_SHORT_AFFINE_OFF, "off")
	/* v1: before an idle previous CPU, whoever else is queued */
	WP_VALUE(WP_SHORT_AFFINE_FIRST, "first")
	/* v2 to v6: after it, if the waker is alone */
	WP_VALUE(WP_SHORT_AFFINE_AFTER_PREV, "after-prev")
	/* v7, v8: after the loads, by all tests of sis_short_stack */
	WP_VALUE(WP_SHORT_AFFINE_LAST, "last"))

WP_SWITCH(sis_short_stack, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#hunk-b",
	"take the target without a search for an idle CPU if its running task is short and the "
	"other sis_short_* tests hold")

/* How long a task runs at a time (duration.c). */
WP_CHOICE(sis_short_dur, wp_short_dur, BOTH, RUN, "sleep",
	"docs/rules/short-wakes.md#dur-avg-series",
	"a task's run time: sleep: average between two sleeps (v4); put: sleeps with a fair task "
	"waiting do not count (v3); put-coarse: nor do changes below a granularity (v2); "
	"switches: total run time / sleeps (v1)",
	/* v4: average of the runs between two sleeps */
	WP_VALUE(WP_SHORT_DUR_SLEEP, "sleep")
	/* v3: the same; not where another fair task is next */
	WP_VALUE(WP_SHORT_DUR_PUT, "put")
	/* v2: as v3, and only changes by a granularity or more count */
	WP_VALUE(WP_SHORT_DUR_COARSE, "put-coarse")
	/* v1: all it ever ran, by its number of sleeps */
	WP_VALUE(WP_SHORT_DUR_SWITCHES, "switches"))

/* What is short, g = granularity. */
WP_CHOICE(sis_short_test, wp_short_test, BOTH, ANYTIME, "below-eighth",
	"docs/rules/short-wakes.md#is-short",
	"short is: below-eighth: 8 x run < granularity (v5); up-to-eighth: 8 x run <= "
	"granularity (v4); up-to-whole: run <= granularity (v1); migration-cost: run < "
	"migration_cost_ns (v8); scan-cost: run < a search's average cost",
	WP_VALUE(WP_SHORT_BELOW_EIGHTH, "below-eighth")  /* v5 to v7: known, 8 * run < g */
	WP_VALUE(WP_SHORT_UP_TO_EIGHTH, "up-to-eighth")  /* v4: known, 8 * run <= g */
	WP_VALUE(WP_SHORT_UP_TO_WHOLE, "up-to-whole")    /* v1 to v3: run <= g */
	WP_VALUE(WP_SHORT_MIGRATION, "migration-cost")   /* v8: known, run < migration_cost_ns */
	/* prototype: known, run < what a search costs on average */
	WP_VALUE(WP_SHORT_SCAN_COST, "scan-cost"))

WP_SWITCH(sis_short_gate, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#scan-gate",
	"sis_short_stack only where sis_util lets a search look at less than 60 % of the cache's "
	"CPUs")
WP_SWITCH(sis_short_no_core, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#hunk-b",
	"sis_short_stack only while no idle core is known in the cache (has_idle_cores)")
WP_SWITCH(sis_short_this, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#hunk-b",
	"sis_short_stack only if the target is the waking CPU (v5)")

/* Tasks that the CPU to be taken may have. */
WP_CHOICE(sis_short_alone, wp_short_alone, BOTH, ANYTIME, "at-most-one",
	"docs/rules/short-wakes.md#hunk-b",
	"sis_short_stack: runnable tasks that the target may have: at-most-one (v5), one (v2), "
	"any (v1)",
	WP_VALUE(WP_SHORT_AT_MOST_ONE, "at-most-one")  /* v5 to v8 */
	WP_VALUE(WP_SHORT_ONE, "one")                  /* v2 to v4 */
	WP_VALUE(WP_SHORT_ANY, "any"))                 /* v1 */

WP_SWITCH(sis_short_wakee, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#hunk-b",
	"sis_short_stack only if the woken task is short, too")
WP_SWITCH(sis_short_flips, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#short-versions",
	"a task that wakes different tasks in turn (wakee_flips not 0) is not short (v6)")
WP_SWITCH(sis_short_mutual, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#short-versions",
	"sis_short_stack only if waker and woken task are each other's last wakee (v7)")
WP_RANGE(sis_short_min_llc, 0, 1024, BOTH, ANYTIME, "0",
	"docs/rules/short-wakes.md#short-elsewhere",
	"no task is short where fewer CPUs than this share the last-level cache")
