//! The patches of a series, each with the parameter that takes it away, so that its effect can be
//! seen alone (capacity-aware 0 and 3; docs/decisions/031).

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

const fn switch(
    number: &'static str,
    key: &'static str,
    doc: &'static str,
    without: &'static str,
) -> Patch {
    Patch {
        number,
        doc,
        key: Some(key),
        without,
    }
}

const fn none(number: &'static str, doc: &'static str, why: &'static str) -> Patch {
    Patch {
        number,
        doc,
        key: None,
        without: why,
    }
}

/// The patches of a feature; empty: it is one rule, or a choice of versions.
pub(crate) fn patches(feature: &str) -> &'static [Patch] {
    match feature {
        "asym-capacity" => ASYM_CAPACITY,
        _ => &[],
    }
}

/// "[PATCH v2 00/13] sched: Clean-ups and asymmetric cpu capacity support", June 2016.
const ASYM_CAPACITY: &[Patch] = &[
    none(
        "1",
        "a comment says capacity, not power",
        "nothing runs differently",
    ),
    none(
        "2",
        "rules take the previous CPU as an argument",
        "all rules take it from the request: the task's record is the same at a wake-up",
    ),
    switch(
        "3",
        "idlest_single_cpu",
        "the CPU of a group of one is taken without a look at it",
        "the same CPU, after a look at it",
    ),
    switch(
        "4",
        "asym_flag",
        "domains whose CPUs differ in capacity are marked",
        "no domain is asymmetric: 5, 11 and what later kernels do find none",
    ),
    switch(
        "5",
        "asym_balance_wake",
        "wake-ups may take the slow path on asymmetric domains",
        "what 7 and wake_wide divert is searched around the previous CPU",
    ),
    none(
        "6",
        "the root domain knows its largest capacity",
        "a value that only 7 reads",
    ),
    switch(
        "7",
        "wake_cap",
        "no fast path if waker's or previous CPU is too small for the task",
        "big tasks are searched an idle CPU near small ones",
    ),
    switch(
        "8",
        "idlest_without_task",
        "the waking task's own past does not count on its previous CPU",
        "for 9 the previous CPU looks fuller than it is",
    ),
    switch(
        "9",
        "idlest_spare",
        "the slow path prefers the group with most spare capacity",
        "the slow path goes by load alone",
    ),
    none(
        "10",
        "groups know the capacity of their biggest (later also smallest) CPU",
        "a value that only 11 reads; asym_no_pull_max says which of the two",
    ),
    switch(
        "11",
        "asym_no_pull",
        "no pull from a group of bigger CPUs that is not overloaded",
        "idle small CPUs take running tasks off big ones",
    ),
    switch(
        "12",
        "asym_flag",
        "arm declares 4's flag for big.LITTLE",
        "as 4: it is found from the platform's capacities",
    ),
    none(
        "13",
        "arm gives CPUs' capacities by another function",
        "capacities are the platform's",
    ),
    switch(
        "dropped (v1)",
        "wakee_flips_fix",
        "an interrupt on an idle CPU records no wakee flip",
        "timers make the idle task look like a waker of many",
    ),
    switch(
        "left out (4.20)",
        "misfit",
        "a running task that does not fit is moved to a bigger CPU",
        "a task that never sleeps stays on a small CPU",
    ),
];
