// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters: power saving of 2011, and later. The form is described in params.def.h. */

WP_GROUP("sched-mc")

WP_RANGE(sched_mc_power_savings, 0, 2, BOTH, ANYTIME, "0", "docs/rules/sched-mc.md#sched-mc-knob",
	"domain_form=3.1: pack packages instead of spreading over them (1), and newly idle "
	"CPUs may get running tasks for it (2); later: fill the lowest CPUs of a cache with "
	"forks and execs (1), and with wake-ups (2)")
WP_RANGE(sched_smt_power_savings, 0, 2, LIVE_HAS("0"), RUN, "0",
	"docs/rules/sched-mc.md#sched-mc-knob",
	"... and cores within a package")
WP_SWITCH(mc_topology, LIVE_HAS("off"), RUN, "off", "docs/rules/sched-mc.md#mc-topology",
	"patches 1-3: power saving takes CPUs of equal parity for a package, on cores of the "
	"kind that the platform names")
WP_SWITCH(arch_power, BOTH, ANYTIME, "off", "docs/rules/sched-mc.md#mc-arch-power",
	"patch 4: the architecture has a say in cpu power")
WP_SWITCH(mc_arch_hook, BOTH, ANYTIME, "off", "docs/rules/sched-mc.md#mc-arch-hook",
	"patch 5: ... and answers what is noted per CPU, else 1024")
WP_SWITCH(mc_freq_table, BOTH, ANYTIME, "off", "docs/rules/sched-mc.md#mc-freq-table",
	"patches 6-7: noted is how many tasks a core holds at its frequency, by the platform's "
	"table")
WP_SWITCH(mc_lowest_first, BOTH, ANYTIME, "off", "docs/rules/sched-mc.md#mc-lowest-first",
	"patch 8: power saving fills CPUs of lower number first")
WP_AUTO(mc_tasks, 1, 64, BOTH, ANYTIME, "auto", "docs/rules/sched-mc.md#mc-authors-list",
	"tasks of the lowest frequencies; auto = platform's table, without one 4")
WP_AUTO(mc_limit_khz, 0, 100000000, BOTH, ANYTIME, "auto", "docs/rules/sched-mc.md#mc-authors-list",
	"below it so many, else one, kHz; auto = platform's table, without one (later than "
	"3.4) 60 % of the highest")
WP_SWITCH(mc_boot_freq, SIMULATOR, RUN, "off", "docs/rules/sched-mc.md#mc-authors-list",
	"the first frequency is known; off: 0 until it changes")
WP_SWITCH(mc_kick_by_room, BOTH, ANYTIME, "off", "docs/rules/sched-mc.md#mc-authors-list",
	"nohz_balance: only a CPU with more tasks than it has room for kicks an idle one")
WP_RANGE(mc_irq_idle_us, 0, 10000000, SIMULATOR, ANYTIME, "0",
	"docs/rules/sched-mc.md#mc-authors-list",
	"movable interrupts (model.irq) leave a CPU that was idle for so long, us; 0 = never")
WP_SWITCH(mc_strict, LIVE_HAS("off"), RUN, "off", "docs/rules/sched-mc.md#mc-acceptance",
	"sis_form=levels: no search where the target has room for the task")
WP_SWITCH(mc_placement, BOTH, ANYTIME, "off", "docs/decisions/033",
	"later than 3.4: tasks join the lowest CPU of the cache that has room for one more")
WP_SWITCH(mc_balance, BOTH, ANYTIME, "off", "docs/decisions/033",
	"later than 3.4: balancing spreads only from groups that have more than they hold")
