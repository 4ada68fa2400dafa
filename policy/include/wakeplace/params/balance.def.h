// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parameters: load balancing. The form is described in params.def.h.
 *
 * What must stay: keys and names of values, which users, study files and eras
 * (crates/policy-sys/src/eras) give; the place of a value is its number. `cargo xtask params` after
 * a change. Tests of the form: those of params.def.h; of what the keys do:
 * crates/policy-sys/tests/all/balance_pass_7_3.rs, crates/policy-sys/tests/all/newidle_7_3.rs,
 * crates/policy-sys/tests/all/pulls.rs, crates/policy-sys/tests/all/asym_switches.rs.
 */

WP_GROUP("balance")

WP_SWITCH(balance, BOTH, RUN, "off", "docs/rules/balancing.md#periodic-balancing",
	"periodic load balancing")
WP_SWITCH(newidle_balance, BOTH, RUN, "off", "docs/rules/balancing.md#newidle",
	"a CPU about to go idle pulls a task")
WP_SWITCH(nohz_balance, LIVE_SETS("off"), RUN, "off", "docs/rules/balancing.md#nohz",
	"idle CPUs whose tick is stopped take part in balancing")
WP_RANGE(imbalance_pct, 100, 1000, BOTH, RUN, "125", "docs/rules/domains.md#domain-constants",
	"default imbalance_pct of domains, percent: 125 tolerates 25 % more load in one group "
	"than in another")
WP_RANGE(busy_factor, 1, 1024, BOTH, RUN, "32", "docs/rules/domains.md#domain-constants",
	"a busy CPU balances this many times less often than an idle one")
WP_RANGE(migration_cost_ns, 0, 1000000000, BOTH, ANYTIME, "500000",
	"docs/rules/balancing.md#detach",
	"a task that ran less than this ago is cache-hot, ns")
WP_RANGE(nr_migrate, 1, 4096, BOTH, ANYTIME, "32", "docs/rules/balancing.md#detach",
	"most tasks that one pull looks at")
WP_SWITCH(cache_hot_buddy, SIMULATOR, ANYTIME, "off", "docs/rules/balancing.md#cache-hot",
	"CACHE_HOT_BUDDY: the buddy of a queue counts as cache-hot for a CPU that has a task")
WP_SWITCH(idle_policy_cold, BOTH, ANYTIME, "off", "docs/rules/balancing.md#cache-hot",
	"a SCHED_IDLE task is never cache-hot")
WP_SWITCH(pull_eligible, SIMULATOR, ANYTIME, "off", "docs/rules/balancing.md#pull-eligible",
	"eevdf: a task that is not eligible goes to a CPU with fair tasks only after a failure "
	"(6.18)")
WP_SWITCH(balance_classes, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#group-class",
	"compare groups by class, and move load, utilisation, tasks or a misfit (5.5); off: load "
	"only")
WP_SWITCH(overloaded_if_overutilized, BOTH, RUN, "off",
	"docs/rules/balancing.md#overloaded-with-energy",
	"balance_classes: with energy-aware placement a group is overloaded only if one of its "
	"CPUs is overutilized; none is in the slow path (7.1)")
WP_SWITCH(pull_down_any_class, BOTH, RUN, "off", "docs/rules/balancing.md#pull-down",
	"balance_classes: smaller CPUs never relieve a group that has room for its tasks (7.3, "
	"6.12.117); off: such a group is only not chosen before another of its class")
WP_SWITCH(misfit_core_idle, BOTH, RUN, "off", "docs/rules/balancing.md#pull-down",
	"balance_classes: only a CPU of an idle core takes a misfit (7.3, 6.12.117)")
WP_SWITCH(misfit_if_bigger, BOTH, RUN, "off", "docs/rules/balancing.md#misfit-if-bigger",
	"balance_classes: a misfit counts for its group only where the destination is bigger than "
	"all CPUs of the group (7.3)")
WP_SWITCH(lone_from_core, BOTH, RUN, "off", "docs/rules/balancing.md#lone-task",
	"balance_classes: on CPUs of several sizes a lone task goes to one that is no bigger, too, "
	"if the siblings of its own are busy, or in machines with clusters if both are of one size "
	"(7.3)")
WP_SWITCH(balance_smt, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#busiest-group",
	"balance_classes: part two busy threads of a core, and compare groups with different "
	"numbers of cores (6.6)")
WP_SWITCH(busy_interval_apart, LIVE_HAS("on"), RUN, "off",
	"docs/rules/balancing.md#balance-interval",
	"a busy CPU balances a tick before its interval ends, so that levels come due apart (5.10)")
WP_SWITCH(newidle_keeps_interval, BOTH, RUN, "off", "docs/rules/balancing.md#balance-interval",
	"new-idle balancing leaves the balance interval as it is (5.0)")

WP_CHOICE(prefer_sibling, wp_prefer_sibling, BOTH, RUN, "not-cache",
	"docs/rules/balancing.md#sibling-difference",
	"levels with SD_PREFER_SIBLING: not-cache: SMT, and those wider than a cache (to 4.18); "
	"not-asym: all but those below an asymmetric domain (to 6.12); all: all (7.3); never "
	"nodes",
	/* up to 4.18: children that share a cache do not ask to be spread */
	WP_VALUE(WP_SIBLING_NOT_CACHE, "not-cache")
	/* to 6.12: all do but children of an asymmetric domain */
	WP_VALUE(WP_SIBLING_NOT_ASYM, "not-asym")
	WP_VALUE(WP_SIBLING_ALL, "all"))             /* 7.3 */

WP_SWITCH(newidle_first_cost, BOTH, RUN, "off", "docs/rules/balancing.md#newidle-cost",
	"new-idle balancing starts if avg_idle covers the lowest domain's cost (5.16); off: if "
	"it covers migration_cost_ns")
WP_SWITCH(avg_idle_truncates, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#newidle-cost",
	"avg_idle moves by an eighth of the difference, rounded towards 0 (5.11); off: rounded "
	"down")
WP_SWITCH(newidle_random, BOTH, RUN, "off", "docs/rules/balancing.md#newidle-ratio",
	"NI_RANDOM: new-idle balancing is tried at random, as often as it succeeded lately")
WP_SWITCH(newidle_rate, BOTH, RUN, "off", "docs/rules/balancing.md#newidle-rate",
	"NI_RATE: newidle_random: the longer 1024 attempts took, the more of the next are made "
	"(7.3)")
WP_SWITCH(load_idx, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#load-for-balancing",
	"balancing compares loads smoothed over ticks, too (cpu_load[], to 5.1)")
WP_SWITCH(asym_packing, BOTH, RUN, "off", "docs/rules/balancing.md#class-order",
	"SD_ASYM_PACKING: fill CPUs of higher priority first; before 5.5: of lower number")
/* Cache-aware scheduling, with the names of /sys/kernel/debug/sched/llc_balancing. */
WP_SWITCH(sched_cache, SIMULATOR, ANYTIME, "off", "docs/rules/cache-aware.md#preferred-llc",
	"the threads of a process prefer one last-level cache, and balancing brings them there "
	"(SCHED_CACHE, 7.2)")
WP_RANGE(llc_aggr_tolerance, 0, 100, SIMULATOR, ANYTIME, "1",
	"docs/rules/cache-aware.md#tolerance",
	"sched_cache: how far a process may exceed a cache; 0: no aggregation; 1: as many "
	"running threads as cores, a footprint of its size; 100: any")
WP_AUTO(llc_epoch_period, 1, 100000, SIMULATOR, ANYTIME, "auto",
	"docs/rules/cache-aware.md#occupancy",
	"sched_cache: ticks after which run times count half; auto: HZ / 100")
WP_RANGE(llc_epoch_affinity_timeout, 0, 100000, SIMULATOR, ANYTIME, "5",
	"docs/rules/cache-aware.md#preferred-llc",
	"sched_cache: a process that was not scanned for more epochs prefers no cache")
WP_RANGE(llc_imb_pct, 0, 1000, SIMULATOR, ANYTIME, "20", "docs/rules/cache-aware.md#llc-mig",
	"sched_cache: the preferred cache may be so much busier than another, percent")
WP_RANGE(llc_overaggr_pct, 0, 100, SIMULATOR, ANYTIME, "50",
	"docs/rules/cache-aware.md#llc-mig",
	"sched_cache: a cache is busy from this utilisation on, percent; half as much again "
	"without SMT")
WP_SWITCH(llc_price, SIMULATOR, RUN, "off", "docs/rules/cache-aware.md#llc-price",
	"sched_cache: a process whose working sets take longer together in one cache than in two "
	"prefers none; the simulator's live queues know processes only with it")
WP_AUTO(reclaim_distance, 10, 255, BOTH, RUN, "30", "docs/rules/domains.md#domain-constants",
	"largest node distance for forks, execs and wake_affine(); auto = the machine's")

/* How groups are compared before balance_classes. */
WP_CHOICE(group_form, wp_group_form, LIVE_HAS("types"), RUN, "types",
	"docs/rules/linux-3-8.md#balance-3-8",
	"balance_classes=off: types: a group is overloaded, imbalanced or neither (4.1); counts: "
	"overloaded means more tasks than fit (3.8); counts-3.1: as counts, and one queue of 2 "
	"tasks can make it imbalanced (3.1)",
	/* 4.1 to 5.4: other < imbalanced < overloaded */
	WP_VALUE(WP_GROUPS_TYPES, "types")
	/* 3.8: more tasks than the group's compute power has room for */
	WP_VALUE(WP_GROUPS_COUNTS, "counts")
	/* 3.1: an uneven group is told by its fullest queue alone */
	WP_VALUE(WP_GROUPS_COUNTS_31, "counts-3.1"))

/* Who kicks which idle CPU to balance for all of them. */
WP_CHOICE(nohz_form, wp_nohz_form, LIVE_HAS("blocked"), RUN, "blocked",
	"docs/rules/linux-3-8.md#nohz-3-8",
	"when a busy CPU kicks an idle one to balance: blocked: as from 4.17 on, where some "
	"kicks only decay blocked load; 4.7, 3.8, 3.1: as in that kernel",
	WP_VALUE(WP_NOHZ_BLOCKED, "blocked")  /* 4.17: with kicks that only decay signals */
	/* without them; busy caches count only beside others */
	WP_VALUE(WP_NOHZ_47, "4.7")
	/* busy groups below the cache; the kicked CPU serves itself first */
	WP_VALUE(WP_NOHZ_38, "3.8")
	WP_VALUE(WP_NOHZ_31, "3.1"))          /* two CPUs may kick, one idle CPU is the owner */

WP_SWITCH(sibling_beyond_local, LIVE_HAS("on"), RUN, "off",
	"docs/rules/balancing.md#sibling-difference",
	"SD_PREFER_SIBLING: a group is relieved if it has at least two tasks more than the local "
	"one (4.12); off: if it has at least two")
WP_SWITCH(idle_pulls_overload, LIVE_HAS("on"), RUN, "off", "docs/rules/linux-3-8.md#imbalance-3-8",
	"an idle CPU whose group has spare capacity pulls from one that has none, whatever the "
	"loads (4.15); off: only a newly idle CPU does")
WP_SWITCH(pinned_retry, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#detach",
	"a task that the pulling CPU may not run can go to another CPU of its group (3.6)")
WP_SWITCH(pinned_unless_found, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#detach",
	"a lone task counts as pinned until one is found that may move (5.12)")
WP_SWITCH(newidle_push, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#active-balance",
	"active balancing may push a running task to a newly idle CPU (3.5)")
WP_SWITCH(newidle_by_cost, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#newidle-cost",
	"new-idle balancing asks whether avg_idle covers each level's cost and whether a CPU is "
	"overloaded (3.13); off: only whether avg_idle covers migration_cost_ns")
WP_SWITCH(ilb_looks_on, LIVE_HAS("on"), RUN, "off", "docs/rules/balancing.md#nohz",
	"a kick goes to the first CPU without tick that is idle (5.2); off: if the first one "
	"without tick is not idle any more, nobody is kicked")
WP_SWITCH(ilb_idle_at_tick, LIVE_HAS("off"), RUN, "off", "docs/rules/sched-mc.md#mc-ilb-fix",
	"nohz_form=3.1: a kicked CPU balances only if it was idle at its last tick (to 3.1); "
	"off: if it is idle now")
