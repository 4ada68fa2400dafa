//! The patches of a series, each with the parameter that takes it away, so that its effect can be
//! seen alone (docs/rules/capacity-aware.md#capacity-aware-patches and
//! docs/rules/capacity-aware.md#capacity-aware-switches,
//! docs/rules/power-policy.md#power-placement-cleanup to
//! docs/rules/power-policy.md#power-scheduling, docs/rules/sched-mc.md#sched-mc-patches;
//! docs/rules/capacity-aware.md#patch-by-patch, docs/decisions/032, docs/decisions/033).
//!
//! What must stay: names of patches are typed (`-NAME`) and shown; a patch is one parameter. Free:
//! a patch's line; a new patch is a row with its parameter.
//!
//! Tests by part: asym_switches.rs: `thirteen_patches`, `one_switch_off`; sched_mc.rs:
//! `patches_one_by_one` (`patches`); early_eras.rs: `asym_capacity_is_added_to_4_7`.
//!
//! Callers: `Policy::patches`, for `policy show`.
//!
//! Tests: crates/policy-sys/tests/all/asym_switches.rs, crates/policy-sys/tests/all/early_eras.rs

/// One patch of a feature's series.
pub(crate) struct Patch {
    /// Number in the series, or what else it is.
    pub(crate) number: &'static str,
    pub(crate) doc: &'static str,
    /// The parameter; None: there is nothing to switch.
    pub(crate) key: Option<&'static str>,
    /// What is left without it, or why there is nothing to switch.
    pub(crate) without: &'static str,
}

/// Number, the parameter's key if there is one, what the patch does, what is left without it.
macro_rules! patches {
    (@key) => { None };
    (@key $key:literal) => { Some($key) };
    ($($number:literal $($key:literal)?, $doc:literal, $without:literal;)*) => {
        &[$(Patch {
            number: $number,
            doc: $doc,
            key: patches!(@key $($key)?),
            without: $without,
        }),*]
    };
}

/// The patches of a feature; empty: it is one rule, or a choice of versions.
pub(crate) fn patches(feature: &str) -> &'static [Patch] {
    match feature {
        "asym-capacity" => ASYM_CAPACITY,
        "power-policy" => POWER_POLICY,
        "sched-mc" => SCHED_MC,
        _ => &[],
    }
}

/// "[PATCH v2 00/13] sched: Clean-ups and asymmetric cpu capacity support", June 2016.
const ASYM_CAPACITY: &[Patch] = patches! {
    "1", "a comment says capacity, not power", "nothing runs differently";
    "2", "rules take the previous CPU as an argument",
        "all rules take it from the request: the task's record is the same at a wake-up";
    "3" "idlest_single_cpu", "the CPU of a group of one is taken without a look at it",
        "the same CPU, after a look at it";
    "4" "asym_flag", "domains whose CPUs differ in capacity are marked",
        "no domain is asymmetric: 5, 11 and what later kernels do find none";
    "5" "asym_balance_wake", "wake-ups may take the slow path on asymmetric domains",
        "what 7 and wake_wide divert is searched around the previous CPU";
    "6", "the root domain knows its largest capacity", "a value that only 7 reads";
    "7" "wake_cap", "no fast path if waker's or previous CPU is too small for the task",
        "big tasks are searched an idle CPU near small ones";
    "8" "idlest_without_task", "the waking task's own past does not count on its previous CPU",
        "for 9 the previous CPU looks fuller than it is";
    "9" "idlest_spare", "the slow path prefers the group with most spare capacity",
        "the slow path goes by load alone";
    "10", "groups know the capacity of their biggest (later also smallest) CPU",
        "a value that only 11 reads; asym_no_pull_max says which of the two";
    "11" "asym_no_pull", "no pull from a group of bigger CPUs that is not overloaded",
        "idle small CPUs take running tasks off big ones";
    "12" "asym_flag", "arm declares 4's flag for big.LITTLE",
        "as 4: it is found from the platform's capacities";
    "13", "arm gives CPUs' capacities by another function", "capacities are the platform's";
    "dropped (v1)" "wakee_flips_fix",
        "a wake-up by an interrupt on an idle CPU counts in no wakee_flips",
        "timers make the idle task look like a waker of many";
    "left out (4.20)" "misfit", "a running task that does not fit is moved to a bigger CPU",
        "a task that never sleeps stays on a small CPU";
};

/// "[patch v4 0/18] sched: simplified fork, release load avg and power awareness scheduling",
/// January 2013.
const POWER_POLICY: &[Patch] = patches! {
    "1" "power_level_fewer", "no CPU level over one cache (3.8 only)",
        "one level more, as 3.8 has it";
    "2 to 4" "power_idlest_cases",
        "a local group that the task may not use loses against any other (to 4.9)",
        "a task that only remote groups may have can stay where it must not";
    "5" "power_single_shot",
        "the slow path takes the idlest CPU of one level's idlest group (to 4.9)",
        "each level below is searched again";
    "6 to 8" "power_new_averages", "a new task's load average is its weight (3.8 only)",
        "it begins with none";
    "9" "power_policy", "the policy: performance, balance or powersaving",
        "tasks are spread, and no history is kept";
    "10", "the policy is a file that can be written",
        "it is a parameter that can change: --policy-at, the live scheduler's control";
    "11" "power_full_util", "utilisation per CPU, and from which percent on it is full",
        "(a value, not a switch)";
    "12" "power_placement", "forks, execs and wake-ups join the fullest group with room",
        "only balancing packs";
    "13" "power_small_tasks", "small tasks that wake or exec join a CPU that runs already",
        "the least loaded CPU of the group";
    "14, 17" "power_balance", "balancing packs where nothing is overloaded",
        "balancing spreads what placement packed";
    "15" "power_pull_all", "balancing that packs also moves the only task of a CPU",
        "a group whose CPUs run one task each is not emptied";
    "16" "power_siblings", "SD_PREFER_SIBLING counts only in passes that may spread (to 3.12)",
        "a group with room relieves any other of all but one task";
    "18" "power_lazy", "no packing soon after an attempt that had to spread",
        "tasks go to and fro where their number is at the limit";
    "added" "power_kick", "busy CPUs kick idle ones for what could be packed (3.8 only)",
        "lone endless tasks on different cores stay there";
    "added" "power_freq", "a group's room is what it has at its highest frequency",
        "its present frequency says nothing";
};

/// "[RFC 00/11] sched: sched_mc for dual Cortex-A9", late 2011.
const SCHED_MC: &[Patch] = patches! {
    "1 to 3" "mc_topology",
        "3.1: with power saving on, even and odd CPUs count as two packages",
        "one package, within which the knob saves nothing; later kernels never have it";
    "4" "arch_power", "cpu_power is multiplied by what the architecture's hook answers",
        "every core holds one task";
    "5" "mc_arch_hook", "the hook answers a value for each CPU", "every core holds one task";
    "6, 7" "mc_freq_table", "that value: how many tasks a core takes at its frequency",
        "every core holds one task at any frequency";
    "8" "mc_lowest_first", "CPUs of lower number are filled first",
        "a lone task stays on whichever CPU it began";
    "9", "a debug view of power and frequency per CPU", "it is sim --dump-state";
    "10" "capacity_newidle", "3.1: new-idle balancing refreshes a power that is due",
        "it goes by the power of the last tick; later kernels ask at each decision";
    "11" "ilb_idle_at_tick",
        "3.1, on = without the patch: a kicked CPU goes by what it did at its last tick",
        "kicks get lost; later kernels look at its state";
    "later kernels" "mc_placement",
        "forks and execs, at level 2 wake-ups, take the lowest CPU with room",
        "they spread as in that kernel";
    "later kernels" "mc_balance", "balancing leaves groups alone that have room",
        "it spreads what placement packed";
    "authors' list" "mc_kick_by_room",
        "a CPU kicks an idle one only if it has more tasks than it may take",
        "a second task makes a CPU kick an idle one";
    "authors' list" "mc_irq_idle_us", "interrupts leave a CPU that was idle for so long",
        "they wake it";
    "authors' list" "mc_boot_freq", "3.1: the first frequency is known",
        "it is 0 until it changes; later kernels know it";
};
