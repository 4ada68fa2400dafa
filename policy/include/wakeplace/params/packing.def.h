// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters: modes, and packing by power policy. The form is described in params.def.h. */

WP_GROUP("mode")

/* What the user favours (mode.c). */
WP_CHOICE(mode, wp_mode, BOTH, ANYTIME, "auto", "docs/decisions/042",
	"what to favour: speed, and energy where a model says what it costs; speed alone; "
	"energy where tasks keep CPUs of their own; energy alone",
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
	"spread tasks (performance), or fill a group up to its compute power (balance) or its "
	"number of CPUs (powersaving) before the next one gets any; by-mode: as `mode` says",
	WP_VALUE(WP_POWER_OFF, "off")                  /* nobody asks */
	/* spread; only the history of balancing is kept */
	WP_VALUE(WP_POWER_PERFORMANCE, "performance")
	WP_VALUE(WP_POWER_BALANCE, "balance")          /* fill a group up to its compute power */
	WP_VALUE(WP_POWER_POWERSAVING, "powersaving")  /* ... to its number of CPUs */
	/* one of these, by the mode and the machine (mode.c) */
	WP_VALUE(WP_POWER_BY_MODE, "by-mode"))

WP_SWITCH(power_level_fewer, LIVE_HAS("off"), RUN, "off",
	"docs/rules/power-policy.md#p1-domain-level",
	"no CPU level over one cache (P1; 3.8)")
WP_SWITCH(power_idlest_cases, LIVE_HAS("off"), ANYTIME, "off",
	"docs/rules/power-policy.md#p3-idlest-group",
	"a fork's idlest group: first who is allowed, then loads (P2 to P4; to 4.9)")
WP_SWITCH(power_single_shot, LIVE_HAS("off"), ANYTIME, "off",
	"docs/rules/power-policy.md#p5-single-shot",
	"one level decides on a fork, on any CPU of it (P5; to 4.9)")
WP_SWITCH(power_new_averages, LIVE_HAS("off"), ANYTIME, "off",
	"docs/rules/power-policy.md#p6-new-entities",
	"a new task's load is its weight (P6 to P8; 3.8)")
WP_RANGE(power_full_util, 1, 100, BOTH, ANYTIME, "99", "docs/rules/power-policy.md#p11-utilisation",
	"a CPU is full, percent of its time (P11)")
WP_SWITCH(power_placement, BOTH, ANYTIME, "on", "docs/rules/power-policy.md#p12-placement",
	"forks, execs and wake-ups pack (P12)")

/* What placement takes for a CPU's use. */
WP_CHOICE(power_placement_util, wp_power_util, BOTH, ANYTIME, "nr-running",
	"docs/rules/power-policy.md#p12-placement",
	"... by numbers of tasks (v4), or by utilisation but in bursts (v6)",
	WP_VALUE(WP_POWER_UTIL_NR, "nr-running")  /* v4: its number of tasks */
	/* v6: its utilisation; wake-ups: tasks, if it is never idle for long */
	WP_VALUE(WP_POWER_UTIL_PELT, "pelt"))

WP_RANGE(power_burst_ns, 0, 1000000000, BOTH, ANYTIME, "100000",
	"docs/rules/power-policy.md#p12-placement",
	"... pelt: a CPU that is never idle for longer has a burst of wake-ups, ns")
WP_SWITCH(power_small_tasks, BOTH, ANYTIME, "on", "docs/rules/power-policy.md#p13-small-tasks",
	"small tasks that wake or exec join running ones (P13)")
WP_RANGE(power_small_factor, 0, 1000, BOTH, ANYTIME, "4",
	"docs/rules/power-policy.md#p13-small-tasks",
	"... and count so many times there")
WP_AUTO(power_small_room_powersaving, 0, 100, BOTH, ANYTIME, "auto",
	"docs/rules/power-policy.md#p13-small-tasks",
	"... up to so much of a CPU, percent; auto = power_full_util")
WP_AUTO(power_small_room_balance, 0, 100, BOTH, ANYTIME, "60",
	"docs/rules/power-policy.md#p13-small-tasks",
	"... under balance")
WP_SWITCH(power_prev_first, BOTH, ANYTIME, "off", "docs/decisions/042",
	"of groups equally full the previous CPU's, after the waker's; in its own that CPU")
WP_SWITCH(power_new_spread, BOTH, ANYTIME, "off", "docs/decisions/042",
	"mode balanced: forks and execs are spread while energy-aware decides wake-ups")
WP_SWITCH(power_balance, BOTH, ANYTIME, "on", "docs/rules/power-policy.md#p14-permission",
	"balancing packs where nothing is overloaded (P14, P17)")
WP_SWITCH(power_pull_all, BOTH, ANYTIME, "on", "docs/rules/power-policy.md#p15-pull-all",
	"... a lone task of a CPU, too (P15)")
WP_SWITCH(power_kick, SIMULATOR, ANYTIME, "on", "docs/decisions/037",
	"... and idle CPUs are kicked for it (3.8)")
WP_SWITCH(power_siblings, SIMULATOR, ANYTIME, "on", "docs/rules/power-policy.md#p16-clamp",
	"siblings spread only in attempts that spread anyway (P16; to 3.12)")
WP_SWITCH(power_lazy, BOTH, ANYTIME, "on", "docs/rules/power-policy.md#p18-lazy",
	"... not soon after an attempt that had to spread (P18)")
WP_RANGE(power_lazy_clean, 0, 63, BOTH, ANYTIME, "32", "docs/rules/power-policy.md#p18-lazy",
	"... none of so many last attempts")
WP_RANGE(power_lazy_old_max, 0, 64, BOTH, ANYTIME, "4", "docs/rules/power-policy.md#p18-lazy",
	"... and so few of those before, of 64 in all")
WP_RANGE(power_lazy_quiet, 0, 1000000, BOTH, ANYTIME, "8", "docs/rules/power-policy.md#p18-lazy",
	"... or nothing for so many longest intervals of the level")
WP_SWITCH(power_freq, BOTH, ANYTIME, "off", "docs/decisions/042",
	"a group has the room that it has at its highest frequency, not at its present one")
WP_RANGE(smt_gain, 1, 8192, BOTH, RUN, "1178", "docs/rules/power-policy.md#p11-utilisation",
	"a core whose threads are all busy, in 1024ths of one thread")
