//! What the engine tells, kept for later: as much of it as a trace needs.

use super::sink::Counter;
use wakeplace_engine::observe::{CpuPower, KernelWork, Placement, Stop, Waking};

/// Something that was told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// When it happened, ns.
    pub(super) time_ns: u64,
    pub(super) what: What,
}

/// As the methods of `Observer` tell it.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    CpuPower {
        cpu: u32,
        power: CpuPower,
    },
    ClusterPower {
        cluster: u32,
        state: Option<u16>,
    },
    Frequency {
        domain: u32,
        opp: u16,
    },
    Placement(Placement),
    KernelWork {
        cpu: u32,
        work: KernelWork,
    },
    TimerArmed {
        task: u32,
        cpu: u32,
        due_ns: u64,
    },
    Woken(Waking),
    Wakeup {
        task: u32,
        target_cpu: u32,
    },
    RunStart {
        cpu: u32,
        task: u32,
    },
    RunStop {
        cpu: u32,
        task: u32,
        stop: Stop,
    },
    /// `by`: the CPU whose doing it is.
    Migrate {
        task: u32,
        to: u32,
        by: u32,
    },
    Forked {
        task: u32,
        script: u32,
    },
    TaskExit {
        task: u32,
    },
    Priority {
        task: u32,
        prio: i32,
    },
    /// A quantity that the engine or the core knows.
    Counter {
        counter: Counter,
        value: u32,
    },
    Temperature {
        cluster: u32,
        millic: i32,
    },
    /// Time to look at quantities.
    Sample,
    /// The run is over.
    End,
}

// A run tells some seven things per wake-up; each goes through the caches of two CPUs.
const _: () = assert!(size_of::<Told>() <= 64, "a line of the cache");
