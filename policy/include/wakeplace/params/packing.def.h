// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parameters: modes, and packing by power policy. The form is described in params.def.h.
 *
 * What must stay: keys and names of values, which users, study files and eras
 * (crates/policy-sys/src/eras) give; the place of a value is its number. `cargo xtask params` after
 * a change. Tests of the form: those of params.def.h; of what the keys do:
 * crates/policy-sys/tests/all/power_policy.rs, crates/policy-sys/tests/all/policy_matrix.rs.
 */

WP_GROUP("mode")

/* What the user favours (mode.c). */
WP_CHOICE(mode, wp_mode, BOTH, ANYTIME, "auto", "docs/decisions/042",
	"what to favour: auto: speed, and energy where an energy model says what it costs; "
	"performance: speed; balanced: energy as long as each task has a CPU of its own; "
	"powersave: energy",
	/* speed; energy where a model says what it costs */
	WP_VALUE(WP_MODE_AUTO, "auto")
	WP_VALUE(WP_MODE_PERFORMANCE, "performance")  /* speed, whatever it costs */
	/* energy where each task keeps a CPU of its own */
	WP_VALUE(WP_MODE_BALANCED, "balanced")
	WP_VALUE(WP_MODE_POWERSAVE, "powersave"))     /* energy, whatever it costs */

/* Initial values: docs/rules/power-policy.md#power-parameters. Nothing reads them while the policy
 * is off. What only the kernels have that the series was made for, P1 to P8, is off. */
WP_GROUP("power-policy")

/* Spread tasks, or fill groups one after the other (power_policy.c)? */
WP_CHOICE(power_policy, wp_power_policy, BOTH, ANYTIME, "off",
	"docs/rules/power-policy.md#p9-policies",
	"performance: spread tasks; balance: fill a group of CPUs up to its compute power before "
	"the next one; powersaving: up to its number of CPUs; by-mode: one of these by `mode`; "
	"off: spread",
	WP_VALUE(WP_POWER_OFF, "off")                  /* nobody asks */
	/* spread; only the history of balancing is kept */
	WP_VALUE(WP_POWER_PERFORMANCE, "performance")
	WP_VALUE(WP_POWER_BALANCE, "balance")          /* fill a group up to its compute power */
	WP_VALUE(WP_POWER_POWERSAVING, "powersaving")  /* ... to its number of CPUs */
	/* one of these, by the mode and the machine (mode.c) */
	WP_VALUE(WP_POWER_BY_MODE, "by-mode"))

WP_SWITCH(power_level_fewer, LIVE_HAS("off"), RUN, "off",
	"docs/rules/power-policy.md#p1-domain-level",
	"domain_form=3.8: no CPU level if its CPUs share one cache (P1)")
WP_SWITCH(power_idlest_cases, LIVE_HAS("off"), ANYTIME, "off",
	"docs/rules/power-policy.md#p3-idlest-group",
	"slow path to 4.9: if the task may not use the local group, the best other group wins, "
	"and a local group that wins is searched for its idlest CPU; off: the local one counts "
	"as empty, and a local group that wins leaves the CPU as it is (P2 to P4)")
WP_SWITCH(power_single_shot, LIVE_HAS("off"), ANYTIME, "off",
	"docs/rules/power-policy.md#p5-single-shot",
	"slow path to 4.9: take the idlest CPU of the idlest group at the highest level, and do "
	"not search lower levels (P5)")
WP_SWITCH(power_new_averages, LIVE_HAS("off"), ANYTIME, "off",
	"docs/rules/power-policy.md#p6-new-entities",
	"a new task's load average starts at its weight; off: at 0 (P6 to P8; 3.8)")
WP_RANGE(power_full_util, 1, 100, BOTH, ANYTIME, "99", "docs/rules/power-policy.md#p11-utilisation",
	"utilisation from which a CPU counts as full, percent (P11)")
WP_SWITCH(power_placement, BOTH, ANYTIME, "on", "docs/rules/power-policy.md#p12-placement",
	"forks, execs and wake-ups join the fullest group that is not full (P12)")

/* What placement takes for a CPU's use. */
WP_CHOICE(power_placement_util, wp_power_util, BOTH, ANYTIME, "nr-running",
	"docs/rules/power-policy.md#p12-placement",
	"power_placement measures how full a CPU is: nr-running: by its number of tasks (v4); "
	"pelt: by utilisation, but by tasks in a burst of wake-ups (v6)",
	WP_VALUE(WP_POWER_UTIL_NR, "nr-running")  /* v4: its number of tasks */
	/* v6: its utilisation; wake-ups: tasks, if it is never idle for long */
	WP_VALUE(WP_POWER_UTIL_PELT, "pelt"))

WP_RANGE(power_burst_ns, 0, 1000000000, BOTH, ANYTIME, "100000",
	"docs/rules/power-policy.md#p12-placement",
	"power_placement_util=pelt: an average idle time (avg_idle) below this means a burst of "
	"wake-ups, ns")
WP_SWITCH(power_small_tasks, BOTH, ANYTIME, "on", "docs/rules/power-policy.md#p13-small-tasks",
	"a small task that wakes or execs goes to the waking CPU, else to the fullest CPU of the "
	"chosen group that can take it (P13)")
WP_RANGE(power_small_factor, 0, 1000, BOTH, ANYTIME, "4",
	"docs/rules/power-policy.md#p13-small-tasks",
	"power_small_tasks: a CPU takes a small task if its utilisation plus this x the task's "
	"is below the limit (power_small_room_*)")
WP_AUTO(power_small_room_powersaving, 0, 100, BOTH, ANYTIME, "auto",
	"docs/rules/power-policy.md#p13-small-tasks",
	"power_small_tasks under powersaving: utilisation up to which a CPU takes small tasks, "
	"percent; auto = power_full_util")
WP_AUTO(power_small_room_balance, 0, 100, BOTH, ANYTIME, "60",
	"docs/rules/power-policy.md#p13-small-tasks",
	"power_small_tasks under balance: utilisation up to which a CPU takes small tasks, "
	"percent; auto = power_full_util")
WP_SWITCH(power_prev_first, BOTH, ANYTIME, "off", "docs/decisions/042",
	"power_placement of wake-ups: of equally full groups the waking CPU's goes first, then "
	"the previous CPU's; in that group, at equal load, the previous CPU")
WP_SWITCH(power_new_spread, BOTH, ANYTIME, "off", "docs/decisions/042",
	"mode=balanced: forks and execs are spread while energy-aware placement decides wake-ups")
WP_SWITCH(power_balance, BOTH, ANYTIME, "on", "docs/rules/power-policy.md#p14-permission",
	"load balancing packs tasks while no group is overloaded (P14, P17)")
WP_SWITCH(power_pull_all, BOTH, ANYTIME, "on", "docs/rules/power-policy.md#p15-pull-all",
	"power_balance also moves the only task of a CPU (P15)")
WP_SWITCH(power_kick, SIMULATOR, ANYTIME, "on", "docs/decisions/037",
	"power_balance: a busy CPU kicks an idle one if tasks could be packed (3.8)")
WP_SWITCH(power_siblings, SIMULATOR, ANYTIME, "on", "docs/rules/power-policy.md#p16-clamp",
	"SD_PREFER_SIBLING counts only in balancing passes that may spread tasks (P16; to 3.12)")
WP_SWITCH(power_lazy, BOTH, ANYTIME, "on", "docs/rules/power-policy.md#p18-lazy",
	"power_balance waits until enough balancing attempts have gone by that did not spread "
	"tasks (P18)")
WP_RANGE(power_lazy_clean, 0, 63, BOTH, ANYTIME, "32", "docs/rules/power-policy.md#p18-lazy",
	"power_lazy: none of this many last attempts may have spread tasks")
WP_RANGE(power_lazy_old_max, 0, 64, BOTH, ANYTIME, "4", "docs/rules/power-policy.md#p18-lazy",
	"power_lazy: of the last 64 attempts at most this many may have spread tasks")
WP_RANGE(power_lazy_quiet, 0, 1000000, BOTH, ANYTIME, "8", "docs/rules/power-policy.md#p18-lazy",
	"power_lazy: all attempts are forgotten after a pause of this many maximal balance "
	"intervals of the level")
WP_SWITCH(power_freq, BOTH, ANYTIME, "off", "docs/decisions/042",
	"a group is full when it would be full at its highest frequency; off: at its present one")
WP_RANGE(smt_gain, 1, 8192, BOTH, RUN, "1178", "docs/rules/power-policy.md#p11-utilisation",
	"compute power of a core whose threads are all busy; 1024 = one thread that runs alone")
