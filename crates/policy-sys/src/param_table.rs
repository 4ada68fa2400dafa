//! The one table of parameters: key, field, values, meaning.

use crate::sys::{WP_DOMAINS_31, WP_NONE, wp_params};

/// What values a parameter takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// `on` or `off`.
    Switch,
    /// One of these names; the number is the position.
    Choice(&'static [&'static str]),
    /// An integer from..=to.
    Range(u32, u32),
    /// `auto` (the core's `WP_NONE`) or an integer from..=to.
    Auto(u32, u32),
}

/// One parameter.
pub(crate) struct Param {
    pub(crate) key: &'static str,
    pub(crate) group: &'static str,
    pub(crate) kind: Kind,
    pub(crate) doc: &'static str,
    pub(crate) get: fn(&wp_params) -> u32,
    pub(crate) put: fn(&mut wp_params, u32),
}

macro_rules! params {
    ($($group:literal { $($field:ident: $kind:expr, $doc:literal;)* })*) => {
        /// All parameters, in the order in which people see them.
        pub(crate) const PARAMS: &[Param] = &[$($(Param {
            key: stringify!($field),
            group: $group,
            kind: $kind,
            doc: $doc,
            get: |p| p.$field,
            put: |p, v| p.$field = v,
        },)*)*];
    };
}

use Kind::{Auto, Choice, Range, Switch};

params! {
    "load-tracking" {
        pelt_scale: Choice(&["contrib", "clock", "ratio", "none"]),
            "frequency and capacity scale each contribution (4.3 to 5.0) or the clock (from 5.1); \
             ratio: share of time runnable (3.8); none (to 3.7)";
        weight_is_load: Switch, "load is the weight of what is queued now (to 3.10), no average";
        runnable_is_load: Switch, "third signal is the weight of the queued tasks (to 5.6)";
        util_est: Choice(&["off", "pair", "pair-fastup", "single"]),
            "estimate of a task's demand: 4.17, 5.5 or 6.8 form";
        util_est_after_freq: Switch,
            "a queue event asks for the frequency before util_est moves";
        util_est_faster: Choice(&["off", "doubled", "scaled"]),
            "a CPU's utilisation is at least what twice its task's run since the wake-up would \
             reach from 0, or that run scaled by speed (RFC 2022)";
        util_est_before_update: Switch,
            "at sleep the estimate takes the value before the dequeue's update (6.12)";
        runnable_boost: Switch, "time in the queue counts for speed like time on the CPU (6.5)";
        post_init_util: Switch, "a new task starts with half of what its CPU has to spare";
        post_init_capacity: Switch, "... of the CPU's own capacity (4.20), else of 1024";
        migrate_pelt_lag: Switch,
            "a sleeper that moves fades for the time its old CPU was idle, too (6.0)";
        uclamp: Switch, "tasks' wishes for performance count (uclamp, 5.3)";
    }
    "wake-up" {
        wake_wide: Switch, "spread M:N wakers and wakees that exceed a cache";
        wake_affine_idle: Switch, "decide between waker's and previous CPU by who is idle";
        wake_affine_prev_idle: Switch, "take an idle previous CPU at once (5.x)";
        wake_affine_weight: Switch, "decide between waker's and previous CPU by load";
        wake_affine_form: Choice(&["4.14", "3.18", "3.1"]),
            "how that load compares: each CPU's with the task; the waker's with it and the other's \
             as it is (3.18); so or both hardly loaded (3.1)";
        wakee_flips_fix: Switch, "an interrupt on an idle CPU records no wakee flip";
        sis_form: Choice(&["scan", "groups", "levels"]),
            "idle search: cores and CPUs (4.9), fully idle groups (3.8), level by level (3.1)";
        sis_always: Switch,
            "search near the previous CPU if no domain joins it and the waker (4.3), else stay";
        sis_recent_used: Switch, "try the recently used CPU";
        sis_prop: Switch, "limit the idle search by its cost and the idle time to expect";
        sis_single_pass: Switch, "look for an idle core and CPU in one search (5.12), else in two";
        sis_util: Switch, "limit the idle search by the domain's utilisation (6.0)";
        sis_asym: Choice(&["off", "all", "limited"]),
            "asymmetric: search all of the domain for a CPU that fits (5.12), or to a limit (7.3)";
        sis_cluster: Switch, "the idle search knows clusters within a cache (6.8)";
        idlest_classes: Switch, "fork and exec compare how busy groups are (5.5), else their loads";
        idlest_load: Choice(&["4.10", "3.18", "3.1"]),
            "loads they compare: queued and recent; queued only (3.18), of CPUs, too (3.1)";
    }
    "machine" {
        domain_form: Choice(&["5.16", "4.7", "3.8", "3.1"]),
            "domain tables: as the topology says (5.16), no clusters (4.7), 3.x with a CPU level";
        capacity_form: Choice(&["signals", "window", "power"]),
            "a CPU's capacity: less the signals of other classes (4.19), less their time in an \
             aged window (3.19), likewise with all CPUs alike (before)";
        capacity_newidle: Switch, "new-idle balancing refreshes a capacity that is due (3.3)";
    }
    "asym-capacity" {
        asym_flag: Switch, "domains whose CPUs differ in capacity are marked as asymmetric";
        idlest_single_cpu: Switch,
            "slow path: the CPU of a group of one is taken without a look at it";
        asym_balance_wake: Switch, "wake-ups may take the slow path on asymmetric domains";
        wake_cap: Switch, "leave the fast path if waker's or previous CPU is too small";
        wake_cap_est: Switch, "... by its estimate; an exact 80 % of the CPU is too much (4.20)";
        idlest_spare: Switch, "the slow path prefers spare capacity over load";
        idlest_spare_fork: Switch, "... for new tasks, too (not from 4.10 on)";
        idlest_without_task: Switch,
            "... by what CPUs do without the waking task's own share of the past";
        asym_no_pull: Switch, "do not pull from a bigger CPU group that is not overloaded";
        asym_no_pull_max: Switch,
            "... tell bigger groups by their biggest CPU (2016), else by their smallest (4.10)";
        misfit: Switch, "mark a running task that its CPU cannot serve, for balancing (4.20)";
        misfit_form: Choice(&["4.20", "6.1", "6.12"]),
            "not marked: 6.1: pinned, or on a biggest CPU; 6.12: on the biggest it may use, and \
             failed pulls of one count for nothing";
        pressure_form: Choice(&["none", "thermal", "limits"]),
            "limits that lower a CPU's capacity: thermal (5.7), or of hardware and policy (6.10)";
    }
    "energy-aware" {
        energy_aware: Choice(&["off", "v3", "5.0", "6.1", "6.12", "7.3"]),
            "form of the energy-aware wake-up";
        energy_margin_shift: Range(1, 31),
            "v3, 5.0: leave the previous CPU for more than energy >> this";
        energy_max_complexity: Range(0, u32::MAX),
            "most domains x (states + CPUs) the estimate is used for, 0 = any";
    }
    "sis-short" {
        sis_short_affine: Choice(&["off", "first", "after-prev", "last"]),
            "a waker that runs briefly makes its CPU the target: before an idle previous CPU (v1), \
             after it if it is alone there (v2), after the loads by the tests below (v7)";
        sis_short_stack: Switch,
            "instead of a search: the target, if its task runs briefly and the tests below hold";
        sis_short_dur: Choice(&["sleep", "put", "put-coarse", "switches"]),
            "how long a task runs: average between sleeps (v4); not next to another fair task \
             (v3), and only large changes (v2); all it ran by its sleeps (v1)";
        sis_short_test: Choice(&[
            "below-eighth", "up-to-eighth", "up-to-whole", "migration-cost", "scan-cost",
        ]),
            "that is briefly: 8 x run < granularity (v5), or equal (v4); run up to the granularity \
             (v1); below migration_cost_ns (v8); below the cost of a search";
        sis_short_gate: Switch,
            "... only where sis_util lets a search look at less than 60 % of the cache's CPUs";
        sis_short_no_core: Switch, "... not if a core of the cache may be idle";
        sis_short_this: Switch, "... only if the target is the waking CPU (v5)";
        sis_short_alone: Choice(&["at-most-one", "one", "any"]), "... tasks the target may have";
        sis_short_wakee: Switch, "... the woken task runs briefly, too";
        sis_short_flips: Switch, "who changes its partners does not run briefly (v6)";
        sis_short_mutual: Switch, "... waker and woken task woke each other last (v7)";
        sis_short_min_llc: Range(0, 1024), "... not where fewer CPUs share the last-level cache";
    }
    "mode" {
        mode: Choice(&["auto", "performance", "balanced", "powersave"]),
            "what to favour: speed, and energy where a model says what it costs; speed alone; \
             energy where tasks keep CPUs of their own; energy alone";
    }
    "power-policy" {
        power_policy: Choice(&["off", "performance", "balance", "powersaving", "by-mode"]),
            "spread tasks (performance), or fill a group up to its compute power (balance) or its \
             number of CPUs (powersaving) before the next one gets any; by-mode: as `mode` says";
        power_level_fewer: Switch, "no CPU level over one cache (P1; 3.8)";
        power_idlest_cases: Switch,
            "a fork's idlest group: first who is allowed, then loads (P2 to P4; to 4.9)";
        power_single_shot: Switch, "one level decides on a fork, on any CPU of it (P5; to 4.9)";
        power_new_averages: Switch, "a new task's load is its weight (P6 to P8; 3.8)";
        power_full_util: Range(1, 100), "a CPU is full, percent of its time (P11)";
        power_placement: Switch, "forks, execs and wake-ups pack (P12)";
        power_placement_util: Choice(&["nr-running", "pelt"]),
            "... by numbers of tasks (v4), or by utilisation but in bursts (v6)";
        power_burst_ns: Range(0, 1_000_000_000),
            "... pelt: a CPU that is never idle for longer has a burst of wake-ups, ns";
        power_small_tasks: Switch, "small tasks that wake or exec join running ones (P13)";
        power_small_factor: Range(0, 1000), "... and count so many times there";
        power_small_room_powersaving: Auto(0, 100),
            "... up to so much of a CPU, percent; auto = power_full_util";
        power_small_room_balance: Auto(0, 100), "... under balance";
        power_prev_first: Switch,
            "of groups equally full the previous CPU's, after the waker's; in its own that CPU";
        power_new_spread: Switch,
            "mode balanced: forks and execs are spread while energy-aware decides wake-ups";
        power_balance: Switch, "balancing packs where nothing is overloaded (P14, P17)";
        power_pull_all: Switch, "... a lone task of a CPU, too (P15)";
        power_kick: Switch, "... and idle CPUs are kicked for it (3.8)";
        power_siblings: Switch,
            "siblings spread only in attempts that spread anyway (P16; to 3.12)";
        power_lazy: Switch, "... not soon after an attempt that had to spread (P18)";
        power_lazy_clean: Range(0, 63), "... none of so many last attempts";
        power_lazy_old_max: Range(0, 64), "... and so few of those before, of 64 in all";
        power_lazy_quiet: Range(0, 1_000_000),
            "... or nothing for so many longest intervals of the level";
        power_freq: Switch,
            "a group has the room that it has at its highest frequency, not at its present one";
        smt_gain: Range(1, 8192), "a core whose threads are all busy, in 1024ths of one thread";
    }
    "balance" {
        balance: Switch, "periodic load balancing";
        newidle_balance: Switch, "a CPU about to go idle pulls a task";
        nohz_balance: Switch, "idle CPUs with a stopped tick take part";
        imbalance_pct: Range(100, 1000), "default imbalance tolerated between groups, percent";
        busy_factor: Range(1, 1024), "a busy CPU balances this much less often";
        migration_cost_ns: Range(0, 1_000_000_000), "a task that ran within this is cache-hot, ns";
        nr_migrate: Range(1, 4096), "most tasks looked at per pull";
        balance_classes: Switch, "compare groups by class, move by four kinds of imbalance (5.5)";
        balance_smt: Switch, "... that know cores: two tasks of one core, unequal groups (6.6)";
        newidle_keeps_interval: Switch, "new-idle passes change no interval (5.0)";
        prefer_sibling: Choice(&["not-cache", "not-asym", "all"]),
            "levels whose tasks are spread over siblings: form to 4.18, to 6.12, 7.3";
        newidle_first_cost: Switch,
            "pull if the first level's cost is worth it (5.16), else by migration_cost_ns";
        newidle_random: Switch, "try to pull as often as it succeeded lately";
        load_idx: Switch, "balancing sees the history of loads at ticks (to 5.1)";
        asym_packing: Switch,
            "fill CPUs of higher priority first (ASYM_PACKING), before 5.5 those of lower number";
        reclaim_distance: Auto(10, 255),
            "forks, execs and affine wake-ups stay within this node distance; auto = machine's";
        group_form: Choice(&["types", "counts", "counts-3.1"]),
            "groups without classes: by type (4.1), by room for tasks (3.8, 3.1)";
        nohz_form: Choice(&["blocked", "4.7", "3.8", "3.1"]),
            "who kicks which idle CPU to balance: form since 4.17, or an earlier one";
        sibling_beyond_local: Switch,
            "siblings give up tasks beyond the local group's number (4.12), else beyond one";
        idle_pulls_overload: Switch,
            "an idle CPU pulls from a group without room (4.15), else only a newly idle one";
        pinned_retry: Switch, "another CPU of the group takes what this one may not (3.6)";
        newidle_push: Switch, "a newly idle CPU may get a running task pushed (3.5)";
        newidle_by_cost: Switch,
            "new-idle looks at the cost of levels and at overload (3.13), else at idle time only";
        ilb_idle_at_tick: Switch,
            "nohz_form=3.1: a kicked CPU believes its last tick, not its state (to 3.1)";
    }
    "sched-mc" {
        sched_mc_power_savings: Range(0, 2),
            "domain_form=3.1: pack packages instead of spreading over them (1), and newly idle \
             CPUs may get running tasks for it (2); later: fill the lowest CPUs of a cache with \
             forks and execs (1), and with wake-ups (2)";
        sched_smt_power_savings: Range(0, 2), "... and cores within a package";
        mc_topology: Switch,
            "patches 1-3: power saving takes CPUs of equal parity for a package, on cores of the \
             kind that the platform names";
        arch_power: Switch, "patch 4: the architecture has a say in cpu power";
        mc_arch_hook: Switch, "patch 5: ... and answers what is noted per CPU, else 1024";
        mc_freq_table: Switch,
            "patches 6-7: noted is how many tasks a core holds at its frequency, by the platform's \
             table";
        mc_lowest_first: Switch, "patch 8: power saving fills CPUs of lower number first";
        mc_tasks: Auto(1, 64),
            "tasks of the lowest frequencies; auto = platform's table, without one 4";
        mc_limit_khz: Auto(0, 100_000_000),
            "below it so many, else one, kHz; auto = platform's table, without one (later than \
             3.4) 60 % of the highest";
        mc_boot_freq: Switch, "the first frequency is known; off: 0 until it changes";
        mc_kick_by_room: Switch,
            "nohz_balance: only a CPU with more tasks than it has room for kicks an idle one";
        mc_irq_idle_us: Range(0, 10_000_000),
            "movable interrupts (model.irq) leave a CPU that was idle for so long, us; 0 = never";
        mc_strict: Switch, "sis_form=levels: no search where the target has room for the task";
        mc_placement: Switch,
            "later than 3.4: tasks join the lowest CPU of the cache that has room for one more";
        mc_balance: Switch,
            "later than 3.4: balancing spreads only from groups that have more than they hold";
    }
    "frequency" {
        governor: Choice(&["schedutil", "performance", "powersave", "ondemand"]),
            "cpufreq governor";
        rate_limit_us: Auto(0, 10_000_000),
            "least time between frequency changes, us; auto = the era's rule";
        rate_limit_multiplier: Range(1, 1_000_000), "the era's rule: transition latency x this";
        rate_limit_extra_percent: Range(0, 1000),
            "the era's rule: plus this much of the latency, percent";
        rate_limit_cap_us: Range(1, 10_000_000), "the era's rule: at most this, us";
        freq_perf_form: Switch,
            "headroom on the demand only, limits after it (6.8); else on all of it";
        freq_other_classes: Switch,
            "before that form: RT, deadline and interrupt time and wishes count (4.19)";
        freq_skip_inefficient: Switch,
            "leave out states that cost no less than a faster one (5.16)";
        freq_headroom: Switch, "ask for 25 % more than the demand; off: fuller and slower CPUs";
        blocked_util_in_freq: Switch, "sleeping tasks' decaying share counts for the frequency";
        iowait_boost: Choice(&["off", "freq", "util"]),
            "help CPUs whose tasks wait for I/O: from the lowest frequency (4.17), from 128 (5.0)";
        freq_pressure: Switch, "a limit of the frequency range is lost capacity (6.10)";
    }
    "rt-deadline" {
        class_capacity: Choice(&["aged", "signals"]),
            "what other classes take: run time halved every 500 ms (to 4.18), or their averages";
        rt_fits: Switch, "RT and deadline tasks prefer CPUs big enough for them (5.7)";
        rt_period_us: Range(1_000, 10_000_000), "RT tasks get rt_runtime_us of a CPU in each, us";
        rt_runtime_us: Range(1, 10_000_000), "... this much; not less than the period: all of it";
        rt_server: Switch, "... and give way only while fair tasks wait (6.8), else in any case";
        rr_slice_us: Range(1_000, 1_000_000), "a SCHED_RR task runs this long if its like wait, us";
    }
    "ondemand" {
        sampling_rate_us: Auto(1_000, 10_000_000),
            "time between samples, us; auto = transition latency x 1000, at least 10 ms";
        up_threshold: Range(11, 100), "the highest frequency above this load, percent";
        down_differential: Range(0, 10), "a lower frequency so much below the threshold, percent";
        sampling_down_factor: Range(1, 100_000),
            "at the highest frequency samples are so much rarer";
    }
    "queue" {
        queue: Choice(&["cfs", "dsq", "eevdf"]),
            "order of waiting tasks: to 6.5 cfs, from 6.6 eevdf; the live scheduler's: dsq";
        vq_slice_ns: Range(100_000, 1_000_000_000),
            "dsq: a task runs this long if others wait, ns, times a factor by tunable_scaling";
        vq_sync_run_ns: Range(0, 1_000_000_000),
            "dsq: a wake-up by one that will sleep preempts no task before it ran this long, ns";
    }
    "fair" {
        sched_latency_ns: Range(100_000, 1_000_000_000),
            "cfs: period in which each task runs once, ns";
        min_granularity_ns: Range(1_000, 1_000_000_000), "cfs: least slice, ns";
        wakeup_granularity_ns: Range(0, 1_000_000_000),
            "cfs: lead a woken task needs to preempt, ns";
        tunable_scaling: Choice(&["none", "log", "linear"]),
            "scale the three, base_slice_ns and vq_slice_ns by 1 + log2(min(CPUs, 8)), or by \
             min(CPUs, 8)";
        gentle_fair_sleepers: Switch, "cfs: a sleeper is credited half a period, not a whole one";
        start_debit: Switch, "cfs: a new task starts one slice behind";
        wakeup_preemption: Switch, "cfs and eevdf: a woken task may preempt";
        last_buddy: Switch, "cfs: prefer the task that was preempted by a wake-up";
        base_slice_ns: Range(100_000, 100_000_000),
            "eevdf: slice of a task that has none of its own, ns";
        eevdf_form: Choice(&["6.12", "7.3"]),
            "eevdf: 6.12: lag up to two slices, protected to its deadline; 7.3: up to the longest \
             slice + a tick, protected for the shortest slice";
        run_to_parity: Switch,
            "eevdf: a picked task runs its slice while eligible, else at least base_slice_ns (7.3)";
        preempt_short: Switch, "eevdf: a woken task with a shorter slice may preempt before that";
        delay_dequeue: Switch,
            "eevdf: a sleeper stays queued until it is owed time again; dsq: it wakes on its CPU";
        hrtick: Switch,
            "eevdf, dsq: a high-resolution timer ends a slice, not the next tick (7.3)";
        tg_write_interval_us: Range(0, 1_000_000),
            "a CPU's queue of a task group adds to the group's load no sooner after the last time \
             (1000: from 6.7; 0: whenever it changed)";
        wake_list: Choice(&["off", "cache", "idle"]),
            "cfs and eevdf: wake-ups that the target queues itself: of another cache (to 5.19), \
             and of an idle CPU (6.0)";
        idle_got_tick: Switch,
            "without cpuidle: the tick of a CPU that idles stops after one idle tick, not at once \
             (7.0)";
    }
}

/// Features by whose names a parameter is written, too: they are one parameter's values.
pub(crate) const ALIASES: [(&str, &str); 1] = [("power-policy", "power_policy")];

/// The parameter of this key, or of a feature that it is the versions of.
pub(crate) fn find(key: &str) -> Option<&'static Param> {
    let alias = ALIASES.iter().find(|(feature, _)| *feature == key);
    let key = alias.map_or(key, |(_, parameter)| parameter);
    PARAMS.iter().find(|p| p.key == key)
}

/// Of the groups whose parameters may change while tasks run: built into the machine's domains.
const BUILT_IN: [&str; 2] = ["power_level_fewer", "smt_gain"];

/// What only kernels to 3.4 read of sched-mc.
pub(crate) const OF_THE_KNOB: [&str; 4] = [
    "sched_smt_power_savings",
    "mc_topology",
    "mc_boot_freq",
    "mc_strict",
];

impl Param {
    /// Is it read by each decision anew, and by nothing that was built or queued before?
    pub(crate) fn changes_in_force(&self, params: &wp_params) -> bool {
        match self.group {
            "power-policy" => !BUILT_IN.contains(&self.key),
            // to 3.4 domains are built by it; mc_boot_freq, mc_strict and the like are of then
            "sched-mc" => params.domain_form != WP_DOMAINS_31 && !OF_THE_KNOB.contains(&self.key),
            "mode" => true,
            "sis-short" => self.key != "sis_short_dur",
            _ => ["migration_cost_ns", "nr_migrate", "energy_margin_shift"].contains(&self.key),
        }
    }

    /// The value as `--set` takes it.
    pub(crate) fn show(&self, params: &wp_params) -> String {
        let value = (self.get)(params);
        match self.kind {
            Switch => if value != 0 { "on" } else { "off" }.to_owned(),
            Choice(names) => names[value as usize].to_owned(),
            Auto(..) if value == WP_NONE => "auto".to_owned(),
            Range(..) | Auto(..) => value.to_string(),
        }
    }

    /// Parses a value; the error says what is expected.
    pub(crate) fn parse(&self, text: &str) -> Result<u32, String> {
        match self.kind {
            Switch => match text {
                "on" | "1" | "true" => Ok(1),
                "off" | "0" | "false" => Ok(0),
                _ => Err("expected `on` or `off`".to_owned()),
            },
            Choice(names) => names
                .iter()
                .position(|n| *n == text)
                .map(|at| at as u32)
                .ok_or_else(|| format!("expected one of {}", names.join(", "))),
            Auto(..) if text == "auto" => Ok(WP_NONE),
            Range(from, to) | Auto(from, to) => text
                .parse::<u32>()
                .ok()
                .filter(|v| (from..=to).contains(v))
                .ok_or_else(|| {
                    let auto = if matches!(self.kind, Auto(..)) {
                        "`auto` or "
                    } else {
                        ""
                    };
                    format!("expected {auto}an integer from {from} to {to}")
                }),
        }
    }
}
