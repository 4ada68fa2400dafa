//! Why a CPU was chosen and which part of the policy decided, as the core numbers them.

use crate::sys;
use std::fmt;

macro_rules! reasons {
    ($($name:ident = $symbol:ident, $text:literal, $doc:literal;)*) => {
        /// Why a CPU was chosen: one value per outcome (`policy/include/wakeplace/reasons.h`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum Reason {
            $(#[doc = $doc] $name = sys::$symbol,)*
        }

        impl Reason {
            /// All reasons, in the order of their numbers.
            pub const ALL: &'static [Reason] = &[$(Reason::$name,)*];

            /// Short name, as in results and traces.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Reason::$name => $text,)* }
            }

            /// One line for people.
            #[must_use]
            pub fn doc(self) -> &'static str {
                match self { $(Reason::$name => $doc,)* }
            }
        }
    };
}

reasons! {
    None = WP_REASON_NONE, "none", "no decision yet";
    OneAllowed = WP_REASON_ONE_ALLOWED, "one-allowed", "the task may use one CPU only";
    NotAllowed = WP_REASON_NOT_ALLOWED, "not-allowed",
        "the rule's CPU is not allowed: lowest allowed CPU";
    EnergyBest = WP_REASON_ENERGY_BEST, "energy-best", "least energy, by more than the margin";
    EnergyPrev = WP_REASON_ENERGY_PREV, "energy-prev",
        "no CPU saves more than the margin: previous CPU";
    EnergyPrevUnfit = WP_REASON_ENERGY_PREV_UNFIT, "energy-prev-unfit",
        "previous CPU cannot hold the task: best other";
    EnergyNothingFits = WP_REASON_ENERGY_NOTHING_FITS, "energy-nothing-fits",
        "no CPU can hold the task: previous CPU";
    EnergyZeroUtil = WP_REASON_ENERGY_ZERO_UTIL, "energy-zero-util",
        "task without utilisation: previous CPU";
    EnergyNoDomain = WP_REASON_ENERGY_NO_DOMAIN, "energy-no-domain",
        "previous CPU outside the asymmetric domain";
    IdleTarget = WP_REASON_IDLE_TARGET, "idle-target", "the target CPU is idle";
    IdlePrev = WP_REASON_IDLE_PREV, "idle-prev",
        "the previous CPU is idle and shares the target's cache";
    IdleRecent = WP_REASON_IDLE_RECENT, "idle-recent",
        "the recently used CPU is idle and shares the cache";
    IdleCore = WP_REASON_IDLE_CORE, "idle-core",
        "a core with all threads idle in the target's cache domain";
    IdleCpu = WP_REASON_IDLE_CPU, "idle-cpu", "an idle CPU in the target's cache domain";
    IdleSmt = WP_REASON_IDLE_SMT, "idle-smt", "an idle thread of the target's core";
    TargetNoLlc = WP_REASON_TARGET_NO_LLC, "target-no-llc",
        "the target shares its cache with nobody";
    TargetBusy = WP_REASON_TARGET_BUSY, "target-busy", "no idle CPU found: the target, busy";
    SlowSpare = WP_REASON_SLOW_SPARE, "slow-spare", "group with the CPU of most spare capacity";
    SlowLoad = WP_REASON_SLOW_LOAD, "slow-load", "least loaded group";
    SlowLocal = WP_REASON_SLOW_LOCAL, "slow-local", "the local group is good enough";
}

const _: () = assert!(Reason::ALL.len() == sys::WP_REASON_COUNT as usize);

impl Reason {
    /// Number of reasons.
    pub const COUNT: usize = Self::ALL.len();

    /// Position in `ALL`, for counters.
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// From the core's number; an unknown one is `None` (a core newer than this face).
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        Self::ALL
            .get(number as usize)
            .copied()
            .unwrap_or(Self::None)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which part of the policy decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// No rule ran.
    None,
    /// No choice: affinity.
    Affinity,
    /// Energy-aware wake-up.
    Energy,
    /// Fast path around one target.
    IdleSibling,
    /// Slow path over the domains.
    SlowPath,
}

impl Rule {
    /// From the core's number.
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        match number {
            sys::WP_RULE_AFFINITY => Self::Affinity,
            sys::WP_RULE_ENERGY => Self::Energy,
            sys::WP_RULE_IDLE_SIBLING => Self::IdleSibling,
            sys::WP_RULE_SLOW_PATH => Self::SlowPath,
            _ => Self::None,
        }
    }
}
