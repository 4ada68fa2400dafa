// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters: where a task is placed. The form is described in params.def.h. */

WP_GROUP("wake-up")

WP_SWITCH(wake_wide, BOTH, RUN, "off", "docs/rules/wake-ups.md#wake-wide",
	"spread M:N wakers and wakees that exceed a cache")
WP_SWITCH(wake_affine_idle, BOTH, RUN, "off", "docs/rules/wake-ups.md#wake-affine",
	"decide between waker's and previous CPU by who is idle")
WP_SWITCH(wake_affine_prev_idle, BOTH, RUN, "off", "docs/rules/wake-ups.md#wake-affine",
	"take an idle previous CPU at once (5.x)")
WP_SWITCH(wake_affine_weight, BOTH, RUN, "off", "docs/rules/wake-ups.md#wake-affine",
	"decide between waker's and previous CPU by load")

/* How waker's and previous CPU compare by load. */
WP_CHOICE(wake_affine_form, wp_wake_affine_form, LIVE_HAS("4.14"), RUN, "4.14",
	"docs/rules/linux-3-8.md#wake-affine-3-8",
	"how that load compares: each CPU's with the task; the waker's with it and the other's "
	"as it is (3.18); so or both hardly loaded (3.1)",
	WP_VALUE(WP_AFFINE_414, "4.14")  /* what each would have with the task */
	WP_VALUE(WP_AFFINE_318, "3.18")  /* the waker's with the task, the other's as it is */
	WP_VALUE(WP_AFFINE_31, "3.1"))   /* likewise; or both hardly loaded */

WP_SWITCH(wakee_flips_fix, BOTH, RUN, "off", "docs/rules/capacity-aware.md#wakee-flips-fix",
	"an interrupt on an idle CPU records no wakee flip")

/* How the fast path looks for an idle CPU. */
WP_CHOICE(sis_form, wp_sis_form, LIVE_HAS("scan"), RUN, "scan",
	"docs/rules/linux-3-8.md#idle-search-3-8",
	"idle search: cores and CPUs (4.9), fully idle groups (3.8), level by level (3.1)",
	/* 4.9: cores and CPUs of the cache domain, as sis_* say */
	WP_VALUE(WP_SIS_SCAN, "scan")
	WP_VALUE(WP_SIS_GROUPS, "groups")  /* 3.8: fully idle groups, from the cache domain down */
	WP_VALUE(WP_SIS_LEVELS, "levels")) /* 3.1: first idle CPU, level by level */

WP_SWITCH(sis_always, LIVE_HAS("on"), RUN, "off", "docs/rules/linux-3-8.md#idle-search-3-8",
	"search near the previous CPU if no domain joins it and the waker (4.3), else stay")
WP_SWITCH(sis_recent_used, BOTH, RUN, "off", "docs/rules/wake-ups.md#idle-sibling",
	"try the recently used CPU")
WP_SWITCH(sis_prop, LIVE_HAS("off"), RUN, "off", "docs/rules/wake-ups.md#sis-prop",
	"limit the idle search by its cost and the idle time to expect")
WP_SWITCH(sis_single_pass, LIVE_HAS("on"), RUN, "off", "docs/rules/wake-ups.md#idle-scan",
	"look for an idle core and CPU in one search (5.12), else in two")
WP_SWITCH(sis_util, BOTH, RUN, "off", "docs/rules/wake-ups.md#sis-util",
	"limit the idle search by the domain's utilisation (6.0)")

/* The idle search on asymmetric domains. */
WP_CHOICE(sis_asym, wp_sis_asym, BOTH, RUN, "off", "docs/rules/wake-ups.md#idle-capacity",
	"asymmetric: search all of the domain for a CPU that fits (5.12), or to a limit (7.3)",
	WP_VALUE(WP_SIS_ASYM_OFF, "off")
	WP_VALUE(WP_SIS_ASYM_ALL, "all")          /* 5.12: the whole domain */
	/* 7.3: as far as sis_util allows; SMT: idle cores first */
	WP_VALUE(WP_SIS_ASYM_LIMITED, "limited"))

WP_SWITCH(sis_cluster, LIVE_HAS("on"), RUN, "off", "docs/rules/wake-ups.md#idle-sibling",
	"the idle search knows clusters within a cache (6.8)")
WP_SWITCH(idlest_classes, LIVE_HAS("on"), RUN, "off", "docs/rules/wake-ups.md#idlest-group",
	"fork and exec compare how busy groups are (5.5), else their loads")

/* What the slow path compares where it compares loads. */
WP_CHOICE(idlest_load, wp_idlest_load, SIMULATOR, RUN, "4.10",
	"docs/rules/linux-3-8.md#idlest-group-3-8",
	"loads they compare: queued and recent; queued only (3.18), of CPUs, too (3.1)",
	WP_VALUE(WP_IDLEST_410, "4.10")  /* queued and recent loads; an idle CPU by its state */
	WP_VALUE(WP_IDLEST_318, "3.18")  /* one load; an idle CPU by its state */
	WP_VALUE(WP_IDLEST_31, "3.1"))   /* one load, of groups and of CPUs */

WP_GROUP("machine")

/* Which domain tables (domains_3_9.c). */
WP_CHOICE(domain_form, wp_domain_form, LIVE_HAS("5.16"), RUN, "5.16",
	"docs/rules/linux-3-8.md#domains-3-8",
	"domain tables: as the topology says (5.16), no clusters (4.7), 3.x with a CPU level",
	WP_VALUE(WP_DOMAINS_516, "5.16")  /* any level that the topology has */
	WP_VALUE(WP_DOMAINS_47, "4.7")    /* no clusters yet */
	WP_VALUE(WP_DOMAINS_38, "3.8")    /* 3.7 to 3.9: SMT, MC, CPU, NUMA by distance */
	WP_VALUE(WP_DOMAINS_31, "3.1"))   /* to 3.6: SMT, MC, CPU, NODE, ALLNODES */

/* What a CPU's capacity is made of. */
WP_CHOICE(capacity_form, wp_capacity_form, LIVE_HAS("signals"), RUN, "signals",
	"docs/rules/linux-3-8.md#cpu-power",
	"a CPU's capacity: less the signals of other classes (4.19), less their time in an "
	"aged window (3.19), likewise with all CPUs alike (before)",
	/* full capacity less the signals of other classes and interrupts */
	WP_VALUE(WP_CAPACITY_SIGNALS, "signals")
	/* 3.19 to 4.18: full capacity, less their time in an aged window */
	WP_VALUE(WP_CAPACITY_WINDOW, "window")
	/* before ("cpu power"): all CPUs alike, less that time */
	WP_VALUE(WP_CAPACITY_POWER, "power"))

WP_SWITCH(capacity_newidle, SIMULATOR, RUN, "off", "docs/rules/sched-mc.md#mc-power-refresh",
	"new-idle balancing refreshes a capacity that is due (3.3)")

WP_GROUP("asym-capacity")

WP_SWITCH(asym_flag, BOTH, RUN, "off", "docs/rules/capacity-aware.md#asym-flag",
	"domains whose CPUs differ in capacity are marked as asymmetric")
WP_SWITCH(idlest_single_cpu, BOTH, RUN, "off", "docs/rules/capacity-aware.md#idlest-cpu",
	"slow path: the CPU of a group of one is taken without a look at it")
WP_SWITCH(asym_balance_wake, BOTH, RUN, "off", "docs/rules/capacity-aware.md#balance-wake",
	"wake-ups may take the slow path on asymmetric domains")
WP_SWITCH(wake_cap, BOTH, RUN, "off", "docs/rules/capacity-aware.md#wake-cap",
	"leave the fast path if waker's or previous CPU is too small")
WP_SWITCH(wake_cap_est, LIVE_HAS("off"), RUN, "off", "docs/rules/capacity-aware.md#wake-cap",
	"... by its estimate; an exact 80 % of the CPU is too much (4.20)")
WP_SWITCH(idlest_spare, SIMULATOR, RUN, "off", "docs/rules/capacity-aware.md#spare-capacity",
	"the slow path prefers spare capacity over load")
WP_SWITCH(idlest_spare_fork, SIMULATOR, RUN, "off", "docs/rules/capacity-aware.md#spare-capacity",
	"... for new tasks, too (not from 4.10 on)")
WP_SWITCH(idlest_without_task, BOTH, RUN, "off", "docs/rules/capacity-aware.md#util-without-task",
	"... by what CPUs do without the waking task's own share of the past")
WP_SWITCH(asym_no_pull, SIMULATOR, RUN, "off", "docs/rules/capacity-aware.md#asym-no-pull",
	"do not pull from a bigger CPU group that is not overloaded")
WP_SWITCH(asym_no_pull_max, LIVE_HAS("off"), RUN, "off",
	"docs/rules/capacity-aware.md#group-extremes",
	"... tell bigger groups by their biggest CPU (2016), else by their smallest (4.10)")
WP_SWITCH(misfit, BOTH, RUN, "off", "docs/rules/capacity.md#misfit",
	"mark a running task that its CPU cannot serve, for balancing (4.20)")

/* Which running tasks are marked as too big for their CPU, and how balancing counts them. */
WP_CHOICE(misfit_form, wp_misfit_form, LIVE_HAS("6.12"), RUN, "4.20",
	"docs/rules/capacity.md#misfit",
	"not marked: 6.1: pinned, or on a biggest CPU; 6.12: on the biggest it may use, and "
	"failed pulls of one count for nothing",
	WP_VALUE(WP_MISFIT_420, "4.20")  /* 4.20: any that does not fit, with its load */
	/* 5.12: none that is pinned or on a CPU of the machine's largest size */
	WP_VALUE(WP_MISFIT_61, "6.1")
	/* 6.9: nor on the largest it may use; its failures count for nothing */
	WP_VALUE(WP_MISFIT_612, "6.12"))

/* What is taken off a CPU's capacity beside the time of other classes. */
WP_CHOICE(pressure_form, wp_pressure_form, LIVE_HAS("limits"), RUN, "none",
	"docs/rules/capacity.md#capacity-of",
	"limits that lower a CPU's capacity: thermal (5.7), or of hardware and policy (6.10)",
	WP_VALUE(WP_PRESSURE_NONE, "none")
	WP_VALUE(WP_PRESSURE_THERMAL, "thermal")  /* 5.7: thermal limits */
	/* 6.10: the larger of hardware's and the frequency policy's limits */
	WP_VALUE(WP_PRESSURE_LIMITS, "limits"))

WP_GROUP("energy-aware")

WP_CHOICE(energy_aware, wp_energy_version, LIVE_HAS("off", "7.3"), RUN, "off",
	"docs/rules/energy-aware.md#energy-versions",
	"form of the energy-aware wake-up",
	WP_VALUE(WP_ENERGY_OFF, "off")
	WP_VALUE(WP_ENERGY_V3, "v3")     /* RFC v3, May 2018 */
	WP_VALUE(WP_ENERGY_50, "5.0")    /* Linux 5.0 */
	WP_VALUE(WP_ENERGY_61, "6.1")    /* Linux 6.1 */
	WP_VALUE(WP_ENERGY_612, "6.12")  /* Linux 6.12 */
	WP_VALUE(WP_ENERGY_73, "7.3"))   /* Linux 7.3 */

WP_RANGE(energy_margin_shift, 1, 31, SIMULATOR, ANYTIME, "6",
	"docs/rules/energy-aware.md#energy-5-0",
	"v3, 5.0: leave the previous CPU for more than energy >> this")
WP_RANGE(energy_max_complexity, 0, 4294967295, BOTH, RUN, "0",
	"docs/rules/energy-aware.md#energy-5-0",
	"most domains x (states + CPUs) the estimate is used for, 0 = any")

WP_SWITCH(energy_idle, BOTH, ANYTIME, "off", "docs/rules/energy-idle.md#energy-idle-order",
	"the best idle CPU of each domain is compared, too; of equal energy idle before busy")
WP_SWITCH(energy_idle_free, BOTH, ANYTIME, "off", "docs/rules/energy-idle.md#energy-idle-free",
	"a higher frequency is not charged for what idle CPUs did")
WP_SWITCH(energy_wait, BOTH, ANYTIME, "off", "docs/rules/energy-idle.md#energy-wait",
	"the estimate for a busy CPU includes the frequency that waiting asks for")
WP_RANGE(energy_stay_pct, 0, 100, BOTH, ANYTIME, "60", "docs/rules/energy-idle.md#energy-stay",
	"energy_idle: an idle previous CPU is left within its domain for more than this saving")
WP_RANGE(energy_stay_domain_pct, 0, 100, BOTH, ANYTIME, "6",
	"docs/rules/energy-idle.md#energy-stay", "... for another domain")

WP_GROUP("sis-short")

/* Where a short waker makes its own CPU the target (short_wake.c). */
WP_CHOICE(sis_short_affine, wp_short_affine, BOTH, ANYTIME, "off",
	"docs/rules/short-wakes.md#short-versions",
	"a waker that runs briefly makes its CPU the target: before an idle previous CPU (v1), "
	"after it if it is alone there (v2), after the loads by the tests below (v7)",
	WP_VALUE(WP_SHORT_AFFINE_OFF, "off")
	/* v1: before an idle previous CPU, whoever else is queued */
	WP_VALUE(WP_SHORT_AFFINE_FIRST, "first")
	/* v2 to v6: after it, if the waker is alone */
	WP_VALUE(WP_SHORT_AFFINE_AFTER_PREV, "after-prev")
	/* v7, v8: after the loads, by all tests of sis_short_stack */
	WP_VALUE(WP_SHORT_AFFINE_LAST, "last"))

WP_SWITCH(sis_short_stack, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#hunk-b",
	"instead of a search: the target, if its task runs briefly and the tests below hold")

/* How long a task runs at a time (duration.c). */
WP_CHOICE(sis_short_dur, wp_short_dur, BOTH, RUN, "sleep",
	"docs/rules/short-wakes.md#dur-avg-series",
	"how long a task runs: average between sleeps (v4); not next to another fair task "
	"(v3), and only large changes (v2); all it ran by its sleeps (v1)",
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
	"that is briefly: 8 x run < granularity (v5), or equal (v4); run up to the granularity "
	"(v1); below migration_cost_ns (v8); below the cost of a search",
	WP_VALUE(WP_SHORT_BELOW_EIGHTH, "below-eighth")  /* v5 to v7: known, 8 * run < g */
	WP_VALUE(WP_SHORT_UP_TO_EIGHTH, "up-to-eighth")  /* v4: known, 8 * run <= g */
	WP_VALUE(WP_SHORT_UP_TO_WHOLE, "up-to-whole")    /* v1 to v3: run <= g */
	WP_VALUE(WP_SHORT_MIGRATION, "migration-cost")   /* v8: known, run < migration_cost_ns */
	/* prototype: known, run < what a search costs on average */
	WP_VALUE(WP_SHORT_SCAN_COST, "scan-cost"))

WP_SWITCH(sis_short_gate, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#scan-gate",
	"... only where sis_util lets a search look at less than 60 % of the cache's CPUs")
WP_SWITCH(sis_short_no_core, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#hunk-b",
	"... not if a core of the cache may be idle")
WP_SWITCH(sis_short_this, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#hunk-b",
	"... only if the target is the waking CPU (v5)")

/* Tasks that the CPU to be taken may have. */
WP_CHOICE(sis_short_alone, wp_short_alone, BOTH, ANYTIME, "at-most-one",
	"docs/rules/short-wakes.md#hunk-b",
	"... tasks the target may have",
	WP_VALUE(WP_SHORT_AT_MOST_ONE, "at-most-one")  /* v5 to v8 */
	WP_VALUE(WP_SHORT_ONE, "one")                  /* v2 to v4 */
	WP_VALUE(WP_SHORT_ANY, "any"))                 /* v1 */

WP_SWITCH(sis_short_wakee, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#hunk-b",
	"... the woken task runs briefly, too")
WP_SWITCH(sis_short_flips, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#short-versions",
	"who changes its partners does not run briefly (v6)")
WP_SWITCH(sis_short_mutual, BOTH, ANYTIME, "off", "docs/rules/short-wakes.md#short-versions",
	"... waker and woken task woke each other last (v7)")
WP_RANGE(sis_short_min_llc, 0, 1024, BOTH, ANYTIME, "0",
	"docs/rules/short-wakes.md#short-elsewhere",
	"... not where fewer CPUs share the last-level cache")
