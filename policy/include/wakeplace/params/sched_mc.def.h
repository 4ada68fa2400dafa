// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parameters: power saving of 2011, and later. The form is described in params.def.h.
 *
 * What must stay: keys and names of values, which users, study files and eras
 * (crates/policy-sys/src/eras) give; the place of a value is its number. `cargo xtask params` after
 * a change. Tests of the form: those of params.def.h; of what the keys do:
 * crates/policy-sys/tests/all/sched_mc.rs, crates/policy-sys/tests/all/sched_mc_later.rs.
 */

WP_GROUP("sched-mc")

WP_RANGE(sched_mc_power_savings, 0, 2, BOTH, ANYTIME, "0", "docs/rules/sched-mc.md#sched-mc-knob",
	"1: forks and execs fill the lowest CPUs of a cache, 2: wake-ups, too; domain_form=3.1: "
	"1: fill packages one after the other, 2: and push running tasks to newly idle CPUs for "
	"it")
WP_RANGE(sched_smt_power_savings, 0, 2, LIVE_HAS("0"), RUN, "0",
	"docs/rules/sched-mc.md#sched-mc-knob",
	"domain_form=3.1: as sched_mc_power_savings, for the cores of a package")
WP_SWITCH(mc_topology, LIVE_HAS("off"), RUN, "off", "docs/rules/sched-mc.md#mc-topology",
	"patches 1-3: with power saving on, even and odd CPUs count as two packages, for cores "
	"that the platform's table is for")
WP_SWITCH(arch_power, BOTH, ANYTIME, "off", "docs/rules/sched-mc.md#mc-arch-power",
	"patch 4: ARCH_POWER: cpu_power is multiplied by what the architecture's hook answers")
WP_SWITCH(mc_arch_hook, BOTH, ANYTIME, "off", "docs/rules/sched-mc.md#mc-arch-hook",
	"patch 5: the architecture's hook answers a value for each CPU; off: 1024")
WP_SWITCH(mc_freq_table, BOTH, ANYTIME, "off", "docs/rules/sched-mc.md#mc-freq-table",
	"patches 6-7: the hook's value is 1024 x the number of tasks that the platform's table "
	"has for the CPU's frequency")
WP_SWITCH(mc_lowest_first, BOTH, ANYTIME, "off", "docs/rules/sched-mc.md#mc-lowest-first",
	"patch 8: with power saving on, CPUs of lower number are filled first")
WP_AUTO(mc_tasks, 1, 64, BOTH, ANYTIME, "auto", "docs/rules/sched-mc.md#mc-authors-list",
	"number of tasks that a CPU takes at a low frequency; auto = the platform's table, else "
	"(after 3.4) 4")
WP_AUTO(mc_limit_khz, 0, 100000000, BOTH, ANYTIME, "auto", "docs/rules/sched-mc.md#mc-authors-list",
	"below this frequency a CPU takes mc_tasks tasks, else one, kHz; auto = the platform's "
	"table, else (after 3.4) 60 % of the highest")
WP_SWITCH(mc_boot_freq, SIMULATOR, RUN, "off", "docs/rules/sched-mc.md#mc-authors-list",
	"the frequency at boot is known; off: it counts as 0 until the first change")
WP_SWITCH(mc_kick_by_room, BOTH, ANYTIME, "off", "docs/rules/sched-mc.md#mc-authors-list",
	"a CPU kicks an idle one only if it has more tasks than it may take by mc_freq_table")
WP_RANGE(mc_irq_idle_us, 0, 10000000, SIMULATOR, ANYTIME, "0",
	"docs/rules/sched-mc.md#mc-authors-list",
	"with power saving on, movable interrupts (model.irq) leave a CPU after it was idle for "
	"this long, us; 0 = never")
WP_SWITCH(mc_strict, LIVE_HAS("off"), RUN, "off", "docs/rules/sched-mc.md#mc-acceptance",
	"sis_form=levels: no idle search where the target may take one more task by mc_freq_table")
WP_SWITCH(mc_placement, BOTH, ANYTIME, "off", "docs/decisions/033",
	"after 3.4: tasks go to the lowest CPU of the cache that may take one more by "
	"mc_freq_table")
WP_SWITCH(mc_balance, BOTH, ANYTIME, "off", "docs/decisions/033",
	"after 3.4: balancing spreads only from groups with more tasks than they may take by "
	"mc_freq_table")
