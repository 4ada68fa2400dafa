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
    EnergyBest = WP_REASON_ENERGY_BEST, "energy-best",
        "least energy, by more than the margin where there is one";
    EnergyPrev = WP_REASON_ENERGY_PREV, "energy-prev",
        "no other CPU is better by its hint, then by energy (beyond the margin, if any): \
         previous CPU";
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
    EnergyHint = WP_REASON_ENERGY_HINT, "energy-hint",
        "another CPU meets its wish for performance, the previous one does not";
    EnergyBiggest = WP_REASON_ENERGY_BIGGEST, "energy-biggest",
        "no CPU meets its wish for performance: the one with most capacity";
    EnergyUnclear = WP_REASON_ENERGY_UNCLEAR, "energy-unclear",
        "the estimate is lower with the task than without: previous CPU";
    KthreadPrev = WP_REASON_KTHREAD_PREV, "kthread-prev",
        "the waker is a kernel thread of the previous CPU, alone there: previous CPU";
    IdleSmtPrev = WP_REASON_IDLE_SMT_PREV, "idle-smt-prev",
        "an idle thread of the previous CPU's core";
    IdleCluster = WP_REASON_IDLE_CLUSTER, "idle-cluster", "an idle CPU in the target's cluster";
    IdlePrevFar = WP_REASON_IDLE_PREV_FAR, "idle-prev-far",
        "no idle CPU near: the previous one, idle in another cluster of the cache";
    IdleRecentFar = WP_REASON_IDLE_RECENT_FAR, "idle-recent-far",
        "no idle CPU near: the recently used one, idle in another cluster of the cache";
    IdleCapacity = WP_REASON_IDLE_CAPACITY, "idle-capacity",
        "first idle CPU that fits the task, from the target on";
    IdleCapacityBest = WP_REASON_IDLE_CAPACITY_BEST, "idle-capacity-best",
        "no idle CPU fits the task: the one that comes nearest";
    TargetNoScan = WP_REASON_TARGET_NO_SCAN, "target-no-scan",
        "the domain is too busy to be searched: the target, busy";
    SlowIdle = WP_REASON_SLOW_IDLE, "slow-idle", "group with more idle CPUs";
    SlowClass = WP_REASON_SLOW_CLASS, "slow-class", "less busy kind of group";
    SlowMisfit = WP_REASON_SLOW_MISFIT, "slow-misfit",
        "no group has a CPU that fits: the one with the biggest CPU";
    SlowRemote = WP_REASON_SLOW_REMOTE, "slow-remote", "the local group is not allowed";
    PrevNoDomain = WP_REASON_PREV_NO_DOMAIN, "prev-no-domain",
        "no domain joins the waking CPU and the previous one: previous CPU, idle or not";
    CurrentCpu = WP_REASON_CURRENT_CPU, "current-cpu", "the waker asked for its own CPU";
    ClassPrev = WP_REASON_CLASS_PREV, "class-prev",
        "RT, deadline: nobody on the previous CPU goes before it";
    ClassLowest = WP_REASON_CLASS_LOWEST, "class-lowest",
        "RT, deadline: the CPU whose tasks matter least";
    ClassWaits = WP_REASON_CLASS_WAITS, "class-waits",
        "RT, deadline: no CPU would let it run: the previous one";
    ShortStack = WP_REASON_SHORT_STACK, "short-stack",
        "the task is short, so is the one on the target CPU: there, without a search";
    ShortTarget = WP_REASON_SHORT_TARGET, "short-target",
        "no idle CPU near the waking CPU, whose task is short: the waking CPU";
    ShortNoScan = WP_REASON_SHORT_NO_SCAN, "short-no-scan",
        "the task on the target CPU runs shorter than a search takes: there, without a search";
    SavesPower = WP_REASON_SAVES_POWER, "saves-power",
        "power is saved and there is room where the task or its parent is: it stays";
    PowerLeader = WP_REASON_POWER_LEADER, "power-leader",
        "power-policy: least loaded CPU of the fullest group that has room";
    PowerSmallHere = WP_REASON_POWER_SMALL_HERE, "power-small-here",
        "power-policy: a small task, and the waking CPU has room for it";
    PowerSmallRunning = WP_REASON_POWER_SMALL_RUNNING, "power-small-running",
        "power-policy: a small task: the fullest CPU of that group that has room for it";
    QueueHolds = WP_REASON_QUEUE_HOLDS, "queue-holds",
        "it fell asleep having had more than its share, and others want its previous CPU: there";
    EnergyIdle = WP_REASON_ENERGY_IDLE, "energy-idle",
        "it costs as little energy as the previous CPU, which is busy, and is idle";
    Scheduler = WP_REASON_SCHEDULER, "scheduler", "the sched_ext scheduler's answer";
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

macro_rules! rules {
    ($($name:ident = $symbol:ident, $text:literal, $doc:literal;)*) => {
        impl Rule {
            /// All rules, in the order of their numbers.
            pub const ALL: &'static [Rule] = &[$(Rule::$name,)*];

            /// Short name, as in results.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Rule::$name => $text,)* }
            }

            /// One line for people.
            #[must_use]
            pub fn doc(self) -> &'static str {
                match self { $(Rule::$name => $doc,)* }
            }

            /// From the core's number.
            #[must_use]
            pub fn from_number(number: u32) -> Self {
                match number { $(sys::$symbol => Rule::$name,)* _ => Rule::None }
            }
        }
    };
}

rules! {
    None = WP_RULE_NONE, "none", "no rule ran";
    Affinity = WP_RULE_AFFINITY, "affinity", "the task has no choice";
    Energy = WP_RULE_ENERGY, "energy", "the CPU that costs least energy";
    IdleSibling = WP_RULE_IDLE_SIBLING, "idle-sibling",
        "an idle CPU near the waker's or the previous one (the fast path)";
    SlowPath = WP_RULE_SLOW_PATH, "slow-path",
        "the idlest group of CPUs, then the idlest CPU in it";
    Request = WP_RULE_REQUEST, "request", "who asks names the CPU";
    Class = WP_RULE_CLASS, "class", "RT and deadline tasks: the CPU whose tasks matter least";
    Power = WP_RULE_POWER, "power", "power-policy: groups are filled one after the other";
    Queue = WP_RULE_QUEUE, "queue", "what the task owes its previous CPU's queue";
    Scheduler = WP_RULE_SCHEDULER, "scheduler", "a sched_ext scheduler in the policy's place";
}

const _: () = assert!(Rule::ALL.len() == sys::WP_RULE_COUNT as usize);

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
    /// The request names the CPU.
    Request,
    /// RT and deadline tasks.
    Class,
    /// Power-aware packing.
    Power,
    /// What the task owes its previous CPU's queue.
    Queue,
    /// A sched_ext scheduler in the policy's place.
    Scheduler,
}
