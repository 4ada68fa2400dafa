//! Why a CPU was chosen and which part of the policy decided, as the core numbers them. The numbers
//! are the C enum's (`reasons.h`).
//!
//! What must stay: names of reasons, which results, CSV and traces have. `cargo xtask reasons`
//! writes the page. Free: a reason's line for people; a new reason comes with a fixture that
//! pins it.
//!
//! Tests by part: fixtures.rs: `every_fixture_holds` (counts which reasons fixtures pin), `index`
//! and `from` by the same: a fixture names its reason.
//!
//! Callers: `Core::select_cpu` and `select_class`; reports show the names.
//!
//! Tests: crates/policy-sys/tests/all/fixtures.rs, crates/policy-sys/tests/all/explain.rs

use crate::sys;
use crate::words::words;

words! {
    /// Why a CPU was chosen: one value per outcome (`policy/include/wakeplace/reasons.h`).
    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(into = "u32", from = "u32")]
    Reason {
        None = WP_REASON_NONE, "none", "no decision yet";
        OneAllowed = WP_REASON_ONE_ALLOWED, "one-allowed", "the task may use one CPU only";
        NotAllowed = WP_REASON_NOT_ALLOWED, "not-allowed",
            "the rule's CPU is offline or not allowed: lowest allowed CPU";
        EnergyBest = WP_REASON_ENERGY_BEST, "energy-best",
            "it costs least energy, by more than the margin, if there is one";
        EnergyPrev = WP_REASON_ENERGY_PREV, "energy-prev",
            "the previous CPU: no other meets the task's uclamp better or saves enough energy";
        EnergyPrevUnfit = WP_REASON_ENERGY_PREV_UNFIT, "energy-prev-unfit",
            "the task does not fit the previous CPU: best other CPU";
        EnergyNothingFits = WP_REASON_ENERGY_NOTHING_FITS, "energy-nothing-fits",
            "the task fits no CPU: the previous CPU";
        EnergyZeroUtil = WP_REASON_ENERGY_ZERO_UTIL, "energy-zero-util",
            "the task has no utilisation: the previous CPU";
        EnergyNoDomain = WP_REASON_ENERGY_NO_DOMAIN, "energy-no-domain",
            "the previous CPU is outside the asymmetric domain: it stays there";
        IdleTarget = WP_REASON_IDLE_TARGET, "idle-target", "the target CPU is idle";
        IdlePrev = WP_REASON_IDLE_PREV, "idle-prev",
            "the previous CPU is idle and shares the target's cache";
        IdleRecent = WP_REASON_IDLE_RECENT, "idle-recent",
            "the recently used CPU is idle and shares the target's cache";
        IdleCore = WP_REASON_IDLE_CORE, "idle-core",
            "a CPU of an idle core in the target's cache domain";
        IdleCpu = WP_REASON_IDLE_CPU, "idle-cpu", "an idle CPU in the target's cache domain";
        IdleSmt = WP_REASON_IDLE_SMT, "idle-smt", "an idle thread of the target's core";
        TargetNoLlc = WP_REASON_TARGET_NO_LLC, "target-no-llc",
            "no other CPU shares the target's cache: the target";
        TargetBusy = WP_REASON_TARGET_BUSY, "target-busy", "no idle CPU found: the target, busy";
        SlowSpare = WP_REASON_SLOW_SPARE, "slow-spare",
            "the group that has the CPU with most spare capacity";
        SlowLoad = WP_REASON_SLOW_LOAD, "slow-load", "the group with the least load";
        SlowLocal = WP_REASON_SLOW_LOCAL, "slow-local",
            "the local group: no other one is better by enough";
        EnergyHint = WP_REASON_ENERGY_HINT, "energy-hint",
            "it meets the task's uclamp_min, and the previous CPU does not";
        EnergyBiggest = WP_REASON_ENERGY_BIGGEST, "energy-biggest",
            "no CPU meets the task's uclamp_min: the one with most capacity";
        EnergyUnclear = WP_REASON_ENERGY_UNCLEAR, "energy-unclear",
            "the estimate is lower with the task than without it: the previous CPU";
        KthreadPrev = WP_REASON_KTHREAD_PREV, "kthread-prev",
            "the waker is a kernel thread of the previous CPU, alone there: the previous CPU";
        IdleSmtPrev = WP_REASON_IDLE_SMT_PREV, "idle-smt-prev",
            "an idle thread of the previous CPU's core";
        IdleCluster = WP_REASON_IDLE_CLUSTER, "idle-cluster", "an idle CPU in the target's cluster";
        IdlePrevFar = WP_REASON_IDLE_PREV_FAR, "idle-prev-far",
            "no nearer CPU is idle: the previous CPU, idle in another cluster of the cache";
        IdleRecentFar = WP_REASON_IDLE_RECENT_FAR, "idle-recent-far",
            "no nearer CPU is idle: the recently used CPU, idle in another cluster of the cache";
        IdleCapacity = WP_REASON_IDLE_CAPACITY, "idle-capacity",
            "asymmetric domain: the first idle CPU that fits the task, from the target on";
        IdleCapacityBest = WP_REASON_IDLE_CAPACITY_BEST, "idle-capacity-best",
            "asymmetric domain: no idle CPU fits the task: the one that comes nearest";
        TargetNoScan = WP_REASON_TARGET_NO_SCAN, "target-no-scan",
            "the domain is too busy to be searched (SIS_UTIL): the target, busy";
        SlowIdle = WP_REASON_SLOW_IDLE, "slow-idle", "a group with more idle CPUs";
        SlowClass = WP_REASON_SLOW_CLASS, "slow-class", "a group of a less busy class";
        SlowMisfit = WP_REASON_SLOW_MISFIT, "slow-misfit",
            "the task fits no CPU: the group with the biggest CPU";
        SlowRemote = WP_REASON_SLOW_REMOTE, "slow-remote",
            "the task may not use the local group: the best other one";
        PrevNoDomain = WP_REASON_PREV_NO_DOMAIN, "prev-no-domain",
            "no domain joins the waking and the previous CPU: the previous CPU, idle or not";
        CurrentCpu = WP_REASON_CURRENT_CPU, "current-cpu",
            "the waker asked for its own CPU (WF_CURRENT_CPU)";
        ClassPrev = WP_REASON_CLASS_PREV, "class-prev",
            "RT, deadline: the previous CPU, where no task has as high a priority";
        ClassLowest = WP_REASON_CLASS_LOWEST, "class-lowest",
            "RT, deadline: the CPU whose tasks have the lowest priority";
        ClassWaits = WP_REASON_CLASS_WAITS, "class-waits",
            "RT, deadline: no CPU has tasks of lower priority: it waits on the previous CPU";
        ShortStack = WP_REASON_SHORT_STACK, "short-stack",
            "the task is short, and so is the one on the target CPU: the target, without a search";
        ShortTarget = WP_REASON_SHORT_TARGET, "short-target",
            "no idle CPU near the waking CPU, whose task is short: the waking CPU";
        ShortNoScan = WP_REASON_SHORT_NO_SCAN, "short-no-scan",
            "the target's task runs shorter than a search takes: the target, without a search";
        SavesPower = WP_REASON_SAVES_POWER, "saves-power",
            "sched-mc: tasks are packed, and this CPU may take one more";
        PowerLeader = WP_REASON_POWER_LEADER, "power-leader",
            "power-policy: the least loaded CPU of the fullest group that is not full";
        PowerSmallHere = WP_REASON_POWER_SMALL_HERE, "power-small-here",
            "power-policy: a small task, which the waking CPU can take";
        PowerSmallRunning = WP_REASON_POWER_SMALL_RUNNING, "power-small-running",
            "power-policy: a small task: of the fullest group that is not full, the fullest CPU \
             that can take it";
        QueueHolds = WP_REASON_QUEUE_HOLDS, "queue-holds",
            "the queue of the previous CPU still holds the task (DELAY_DEQUEUE): the previous CPU";
        EnergyIdle = WP_REASON_ENERGY_IDLE, "energy-idle",
            "it is idle, and costs as little energy as the previous CPU, which is busy";
        Scheduler = WP_REASON_SCHEDULER, "scheduler", "the sched_ext scheduler's answer";
        Kernel = WP_REASON_KERNEL, "kernel", "the answer of the tree's own kernel/sched";
    }
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
}

impl From<Reason> for u32 {
    /// The core's number; one that it does not have is the first reason.
    fn from(reason: Reason) -> Self {
        reason as Self
    }
}

impl From<u32> for Reason {
    fn from(number: u32) -> Self {
        Self::from_number(number)
    }
}

words! {
    /// Which part of the policy decided.
    Rule {
        None = WP_RULE_NONE, "none", "no rule ran";
        Affinity = WP_RULE_AFFINITY, "affinity", "the allowed CPUs leave no choice";
        Energy = WP_RULE_ENERGY, "energy", "energy-aware wake-up: the CPU that costs least energy";
        IdleSibling = WP_RULE_IDLE_SIBLING, "idle-sibling",
            "fast path: an idle CPU near the waking or the previous one";
        SlowPath = WP_RULE_SLOW_PATH, "slow-path",
            "slow path: the idlest group of CPUs, then the idlest CPU in it";
        Request = WP_RULE_REQUEST, "request", "the waker names the CPU (WF_CURRENT_CPU)";
        Class = WP_RULE_CLASS, "class",
            "RT and deadline tasks: the CPU whose tasks have the lowest priority";
        Power = WP_RULE_POWER, "power",
            "packing: groups, or CPUs, are filled one after the other (power-policy, sched-mc)";
        Queue = WP_RULE_QUEUE, "queue",
            "the live scheduler's queue still holds the task (DELAY_DEQUEUE)";
        Scheduler = WP_RULE_SCHEDULER, "scheduler", "a sched_ext scheduler in the policy's place";
        Kernel = WP_RULE_KERNEL, "kernel", "a tree's own kernel/sched in the policy's place";
    }
}

const _: () = assert!(Rule::ALL.len() == sys::WP_RULE_COUNT as usize);
