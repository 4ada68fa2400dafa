// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parameters: load balancing. The form is described in params.def.h. */

WP_GROUP("balance")

WP_SWITCH(balance, BOTH, RUN, "off", "docs/rules/balancing.md#periodic-balancing",
	"periodic load balancing")
WP_SWITCH(newidle_balance, BOTH, RUN, "off", "docs/rules/balancing.md#newidle",
	"a CPU about to go idle pulls a task")
WP_SWITCH(nohz_balance, LIVE_SETS("off"), RUN, "off", "docs/rules/balancing.md#nohz",
	"idle CPUs with a stopped tick take part")
WP_RANGE(imbalance_pct, 100, 1000, BOTH, RUN, "125", "docs/rules/domains.md#domain-constants",
	"default imbalance tolerated between groups, percent")
WP_RANGE(busy_factor, 1, 1024, BOTH, RUN, "32", "docs/rules/domains.md#domain-constants",
	"a busy CPU balances this much less often")
WP_RANGE(migration_cost_ns, 0, 1000000000, BOTH, ANYTIME, "500000",
	"docs/rules/balancing.md#detach",
	"a task that ran within this is cache-hot, ns")
WP_RANGE(nr_migrate, 1, 4096, BOTH, ANYTIME, "32", "docs/rules/balancing.md#detach",
	"most tasks looked at per pull")
WP_SWITCH(balance_classes, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#group-class",
	"compare groups by class, move by four kinds of imbalance (5.5)")
WP_SWITCH(balance_smt, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#busiest-group",
	"... that know cores: two tasks of one core, unequal groups (6.6)")
WP_SWITCH(newidle_keeps_interval, BOTH, RUN, "off", "docs/rules/balancing.md#balance-interval",
	"new-idle passes change no interval (5.0)")

WP_CHOICE(prefer_sibling, wp_prefer_sibling, BOTH, RUN, "not-cache",
	"docs/rules/balancing.md#sibling-difference",
	"levels whose tasks are spread over siblings: form to 4.18, to 6.12, 7.3",
	/* up to 4.18: children that share a cache do not ask to be spread */
	WP_VALUE(WP_SIBLING_NOT_CACHE, "not-cache")
	/* to 6.12: all do but children of an asymmetric domain */
	WP_VALUE(WP_SIBLING_NOT_ASYM, "not-asym")
	WP_VALUE(WP_SIBLING_ALL, "all"))             /* 7.3 */

WP_SWITCH(newidle_first_cost, BOTH, RUN, "off", "docs/rules/balancing.md#newidle-cost",
	"pull if the first level's cost is worth it (5.16), else by migration_cost_ns")
WP_SWITCH(newidle_random, BOTH, RUN, "off", "docs/rules/balancing.md#newidle-ratio",
	"try to pull as often as it succeeded lately")
WP_SWITCH(load_idx, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#load-for-balancing",
	"balancing sees the history of loads at ticks (to 5.1)")
WP_SWITCH(asym_packing, BOTH, RUN, "off", "docs/rules/balancing.md#class-order",
	"fill CPUs of higher priority first (ASYM_PACKING), before 5.5 those of lower number")
WP_AUTO(reclaim_distance, 10, 255, BOTH, RUN, "30", "docs/rules/domains.md#domain-constants",
	"forks, execs and affine wake-ups stay within this node distance; auto = machine's")

/* How groups are compared before balance_classes. */
WP_CHOICE(group_form, wp_group_form, LIVE_HAS("types"), RUN, "types",
	"docs/rules/linux-3-8.md#balance-3-8",
	"groups without classes: by type (4.1), by room for tasks (3.8, 3.1)",
	/* 4.1 to 5.4: other < imbalanced < overloaded */
	WP_VALUE(WP_GROUPS_TYPES, "types")
	/* 3.8: more tasks than the group's compute power has room for */
	WP_VALUE(WP_GROUPS_COUNTS, "counts")
	/* 3.1: an uneven group is told by its fullest queue alone */
	WP_VALUE(WP_GROUPS_COUNTS_31, "counts-3.1"))

/* Who kicks which idle CPU to balance for all of them. */
WP_CHOICE(nohz_form, wp_nohz_form, LIVE_HAS("blocked"), RUN, "blocked",
	"docs/rules/linux-3-8.md#nohz-3-8",
	"who kicks which idle CPU to balance: form since 4.17, or an earlier one",
	WP_VALUE(WP_NOHZ_BLOCKED, "blocked")  /* 4.17: with kicks that only decay signals */
	/* without them; busy caches count only beside others */
	WP_VALUE(WP_NOHZ_47, "4.7")
	/* busy groups below the cache; the kicked CPU serves itself first */
	WP_VALUE(WP_NOHZ_38, "3.8")
	WP_VALUE(WP_NOHZ_31, "3.1"))          /* two CPUs may kick, one idle CPU is the owner */

WP_SWITCH(sibling_beyond_local, LIVE_HAS("on"), RUN, "off",
	"docs/rules/balancing.md#sibling-difference",
	"siblings give up tasks beyond the local group's number (4.12), else beyond one")
WP_SWITCH(idle_pulls_overload, LIVE_HAS("on"), RUN, "off", "docs/rules/linux-3-8.md#imbalance-3-8",
	"an idle CPU pulls from a group without room (4.15), else only a newly idle one")
WP_SWITCH(pinned_retry, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#detach",
	"another CPU of the group takes what this one may not (3.6)")
WP_SWITCH(newidle_push, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#active-balance",
	"a newly idle CPU may get a running task pushed (3.5)")
WP_SWITCH(newidle_by_cost, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#newidle-cost",
	"new-idle looks at the cost of levels and at overload (3.13), else at idle time only")
WP_SWITCH(ilb_idle_at_tick, LIVE_HAS("off"), RUN, "off", "docs/rules/sched-mc.md#mc-ilb-fix",
	"nohz_form=3.1: a kicked CPU believes its last tick, not its state (to 3.1)")
