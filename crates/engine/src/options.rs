//! What a run can be told besides platform, policy and workload (docs/guide/model.md). A new one is
//! one row of `slots`; its default changes no run.
//!
//! What must stay: the order of `slots` is the order in which settings are listed and recorded in
//! results; keys keep their names. Free: what leaves recorded runs as they are (ARCHITECTURE.md,
//! "What a change may touch"). Tests by part: `settings_are_set_and_listed` (`set`, `keys`,
//! `in_force`, `parse_shares`), crates/engine/src/hardware.rs::`settings_are_read_and_shown` (the
//! texts of devices, caps and scales), `each_model_switch_and_queue_has_a_run` (that a row is
//! tried), the first also `name`, `short_time`, `own_time` and `show_shares`. The figures of
//! `default` are compared with no page: thermal.rs::`off_by_default_and_harmless_while_cool` is of
//! one.
//!
//! Callers: crates/study/src/settings.rs (`set`).
//!
//! Tests: below, crates/engine/src/hardware.rs,
//! crates/cli/tests/all/same_runs.rs::each_model_switch_and_queue_has_a_run

use crate::hardware::{
    EmScale, FreqCap, Interrupts, parse_caps, parse_interrupts, parse_scales, show_caps,
    show_interrupts, show_scales,
};
use crate::hotplug::Hotplug;
use crate::policy_change::PolicyChange;
use thiserror::Error;
use wakeplace_workload::{TaskGroup, shorten};

/// Options of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Simulated time, ns, > 0.
    pub duration_ns: u64,
    /// Idle states deeper than the first are used.
    pub idle_states: bool,
    /// How idle CPUs choose a state and whether their tick stops.
    pub cpuidle: CpuIdle,
    /// Only idle states that are left again within this, microseconds; None: all.
    pub idle_latency_us: Option<u64>,
    /// Context switches, wake-ups, interrupts, ticks, forks and moves cost time.
    pub kernel_costs: bool,
    /// A frequency change takes the hardware's time.
    pub transition_latency: bool,
    /// Each CPU has a cpufreq policy of its own where the platform says so.
    pub policy_per_cpu: bool,
    /// CPU on which the parent of all threads begins; None: where the policy puts it.
    pub parent_cpu: Option<u32>,
    /// CPUs that leave and come back, in any order.
    pub hotplug: Vec<Hotplug>,
    /// Parameters of the policy that change in the run, in any order.
    pub policy_at: Vec<PolicyChange>,
    /// Work to create a thread, ns of the biggest CPU; None: the platform's.
    pub fork_ns: Option<u64>,
    /// Wall times of wake-ups, ns; None: the platform's.
    /// Until an inter-processor interrupt is taken.
    pub ipi_ns: Option<u64>,
    /// Until others see which CPU was chosen.
    pub publish_ns: Option<u64>,
    /// While a run queue's lock is held.
    pub lock_hold_ns: Option<u64>,
    /// To fetch it from a CPU of the same cache.
    pub lock_shared_cache_ns: Option<u64>,
    /// To fetch it from a CPU of another cache.
    pub lock_other_cache_ns: Option<u64>,
    /// While a task that went to sleep is still on its CPU.
    pub switch_out_ns: Option<u64>,
    /// Paths of a tree's kernel take the time of their accesses to memory.
    pub coherence: bool,
    /// So many of the most expensive cache lines are told; 0: none. Changes no run.
    pub lines: usize,
    /// What a callback of a sched_ext scheduler takes, ns of the biggest CPU at its highest
    /// frequency; None: as assumed (docs/rules/sched-ext.md#costs).
    pub scx_callback_ns: Option<u64>,
    /// ... and each kfunc that it calls.
    pub scx_kfunc_ns: Option<u64>,
    /// Devices that interrupt CPUs.
    pub irq: Vec<Interrupts>,
    /// Limits of frequency domains.
    pub freq_cap: Vec<FreqCap>,
    /// New tables of the energy model.
    pub em_scale: Vec<EmScale>,
    /// The kernel threads that the platform states run.
    pub housekeeping: bool,
    /// Clusters get warm, and a governor caps what is too warm.
    pub thermal: bool,
    /// The board draws more while CPUs work, where the platform says how much; changes no run.
    pub work_power: bool,
    /// Shares of task groups, by name, instead of those the workload gives them.
    pub shares: Vec<(String, u32)>,
    /// Observers are told the sizes of task and CPUs of each decision; changes no run.
    pub wakeup_cases: bool,
}

impl Default for Options {
    /// The options that the handbook's table of settings has: 30 s, all costs on.
    fn default() -> Self {
        Self {
            duration_ns: 30_000_000_000,
            idle_states: true,
            cpuidle: CpuIdle::Menu,
            idle_latency_us: None,
            kernel_costs: true,
            transition_latency: true,
            policy_per_cpu: true,
            parent_cpu: None,
            hotplug: Vec::new(),
            policy_at: Vec::new(),
            fork_ns: None,
            ipi_ns: None,
            publish_ns: None,
            lock_hold_ns: None,
            lock_shared_cache_ns: None,
            lock_other_cache_ns: None,
            switch_out_ns: None,
            coherence: false,
            lines: 0,
            scx_callback_ns: None,
            scx_kfunc_ns: None,
            irq: Vec::new(),
            freq_cap: Vec::new(),
            em_scale: Vec::new(),
            housekeeping: true,
            thermal: false,
            work_power: true,
            shares: Vec::new(),
            wakeup_cases: false,
        }
    }
}

/// What chooses the state of a CPU that idles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CpuIdle {
    /// Nobody, as where no cpuidle driver is: the first state, and the policy's era says when the
    /// tick stops.
    None,
    /// The menu governor.
    #[default]
    Menu,
    /// The timer events oriented governor, as the policy's kernel has it.
    Teo,
    /// The ladder governor, which kernels without NO_HZ choose.
    Ladder,
}

impl CpuIdle {
    const NAMES: [(Self, &'static str); 4] = [
        (Self::Menu, "menu"),
        (Self::Teo, "teo"),
        (Self::Ladder, "ladder"),
        (Self::None, "none"),
    ];

    /// The name that settings have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        let known = Self::NAMES.iter().find(|known| known.0 == self);
        known.expect("each has a name").1
    }
}

/// A model setting that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct OptionError(pub String);

/// Where a setting lives.
enum Slot<'a> {
    Switch(&'a mut bool),
    CpuIdle(&'a mut CpuIdle),
    Cpu(&'a mut Option<u32>),
    Time(&'a mut Option<u64>),
    Longest(&'a mut Option<u64>),
    Cost(&'a mut Option<u64>),
    Irq(&'a mut Vec<Interrupts>),
    Caps(&'a mut Vec<FreqCap>),
    Scales(&'a mut Vec<EmScale>),
    Shares(&'a mut Vec<(String, u32)>),
}

/// `NAME:SHARES`, joined by `+`, as the setting is given. None: it is of another form.
fn parse_shares(text: &str) -> Option<Vec<(String, u32)>> {
    let one = |part: &str| {
        let (name, shares) = part.split_once(':')?;
        let number = shares
            .parse()
            .ok()
            .filter(|n| TaskGroup::SHARES.contains(n))?;
        (!name.is_empty()).then(|| (name.to_owned(), number))
    };
    text.split('+').map(one).collect()
}

/// A number of ns or us that a setting takes. None: it is none, or too long.
fn short_time(text: &str) -> Option<u64> {
    let number = text.parse().ok();
    number.filter(|number| *number <= Options::MAX_TIME_NS)
}

/// A time of a setting's own, or None for `word`.
fn own_time(text: &str, word: &str) -> Option<Option<u64>> {
    match text {
        _ if text == word => Some(None),
        "off" => Some(Some(0)),
        _ => short_time(text).map(Some),
    }
}

/// Writes shares as the text that `parse_shares` reads.
fn show_shares(shares: &[(String, u32)]) -> String {
    let parts: Vec<_> = shares
        .iter()
        .map(|(name, n)| format!("{name}:{n}"))
        .collect();
    parts.join("+")
}

const COSTS_DOC: &str = "time for switches, wake-ups, interrupts, ticks, forks and moves (on, off)";
const TRANSITION_DOC: &str = "time a frequency change takes (on, off)";
const HOLD_DOC: &str = "while a run queue's lock is held (platform, off, ns)";
const SHARED_DOC: &str = "to fetch that lock from a CPU of the same cache (platform, off, ns)";
const OTHER_DOC: &str = "to fetch that lock from a CPU of another cache (platform, off, ns)";
const SWITCH_DOC: &str = "while a task that sleeps is still on its CPU (platform, off, ns)";
const POLICY_DOC: &str = "a cpufreq policy for each CPU where the platform says so; off: one for \
     each clock (on, off)";
const STATES_DOC: &str = "idle states deeper than the first (on, off)";
const IDLE_DOC: &str = "what chooses the states of idle CPUs (menu; teo: in the era's form, or \
     that of the parameter teo; ladder; none: no cpuidle driver, as in most guests; then the era's \
     idle_got_tick says when the tick stops)";
const LATENCY_DOC: &str = "idle states that take longer to leave are disabled, as by cpupower \
     idle-set -D (off, us)";
const SEEN_DOC: &str = "until others see which CPU a waking task goes to (platform, off, ns)";
const FORK_DOC: &str = "work to create a thread, on the biggest CPU (platform, off, ns)";
const IPI_DOC: &str = "until an inter-processor interrupt is taken (platform, off, ns)";
const COHERENCE_DOC: &str = "time of a kernel tree's own accesses to memory: hits, transfers of \
     cache lines, locks (on, off)";
const CALLBACK_DOC: &str = "what a callback of a sched_ext scheduler takes, on the biggest CPU \
     (assumed: 100 ns, off, ns)";
const KFUNC_DOC: &str = "what each kfunc takes that it calls, on the biggest CPU (assumed: 10 ns, \
     off, ns)";
const IRQ_DOC: &str = "devices that interrupt a CPU (off, CPU:PERIOD:RUN[:movable] such as \
     0:1ms:100us, joined with +; movable: the policy may send them elsewhere)";
const CAP_DOC: &str = "limits of frequency domains (off, DOMAIN:KHZ[@TIME] such as 1:1805000@2s, \
     KHZ may be max; joined with +)";
const EM_DOC: &str = "energy model tables that change (off, DOMAIN:PERCENT[@TIME] such as \
     1:150@2s, of the platform's powers; joined with +)";
const HEAT_DOC: &str = "clusters get warm and are capped at a trip point (on, off)";
const WORK_DOC: &str = "power of the board that grows with work, as the platform states (on, off)";
const SHARES_DOC: &str = "cpu.shares of task groups (NAME:SHARES+NAME:SHARES..., 2..=262144)";

impl Options {
    /// Longest time of a wake-up's part, as a platform's costs.
    pub const MAX_TIME_NS: u64 = 1_000_000;

    /// All settings `model.*`: name, place and help. A new one is one row here.
    fn slots(&mut self) -> [(&'static str, Slot<'_>, &'static str); 24] {
        let o = self;
        let (switch, time, cost) = (Slot::Switch, Slot::Time, Slot::Cost);
        [
            ("model.idle_states", switch(&mut o.idle_states), STATES_DOC),
            ("model.cpuidle", Slot::CpuIdle(&mut o.cpuidle), IDLE_DOC),
            (
                "model.idle_latency_us",
                Slot::Longest(&mut o.idle_latency_us),
                LATENCY_DOC,
            ),
            ("model.kernel_costs", switch(&mut o.kernel_costs), COSTS_DOC),
            (
                "model.transition_latency",
                switch(&mut o.transition_latency),
                TRANSITION_DOC,
            ),
            (
                "model.policy_per_cpu",
                switch(&mut o.policy_per_cpu),
                POLICY_DOC,
            ),
            (
                "model.parent_cpu",
                Slot::Cpu(&mut o.parent_cpu),
                "CPU on which the thread begins that creates all others (policy, a CPU number)",
            ),
            ("model.fork_ns", time(&mut o.fork_ns), FORK_DOC),
            ("model.ipi_ns", time(&mut o.ipi_ns), IPI_DOC),
            ("model.publish_ns", time(&mut o.publish_ns), SEEN_DOC),
            ("model.lock_hold_ns", time(&mut o.lock_hold_ns), HOLD_DOC),
            (
                "model.lock_shared_cache_ns",
                time(&mut o.lock_shared_cache_ns),
                SHARED_DOC,
            ),
            (
                "model.lock_other_cache_ns",
                time(&mut o.lock_other_cache_ns),
                OTHER_DOC,
            ),
            (
                "model.switch_out_ns",
                time(&mut o.switch_out_ns),
                SWITCH_DOC,
            ),
            ("model.coherence", switch(&mut o.coherence), COHERENCE_DOC),
            (
                "model.scx_callback_ns",
                cost(&mut o.scx_callback_ns),
                CALLBACK_DOC,
            ),
            ("model.scx_kfunc_ns", cost(&mut o.scx_kfunc_ns), KFUNC_DOC),
            ("model.irq", Slot::Irq(&mut o.irq), IRQ_DOC),
            ("model.freq_cap", Slot::Caps(&mut o.freq_cap), CAP_DOC),
            ("model.em_scale", Slot::Scales(&mut o.em_scale), EM_DOC),
            (
                "model.housekeeping",
                switch(&mut o.housekeeping),
                "kernel threads that the platform states (on, off)",
            ),
            ("model.thermal", switch(&mut o.thermal), HEAT_DOC),
            ("model.work_power", switch(&mut o.work_power), WORK_DOC),
            ("model.shares", Slot::Shares(&mut o.shares), SHARES_DOC),
        ]
    }

    /// Keys `--set` takes for the machine's model, `(key, value now, doc)`; all begin with
    /// `model.`.
    #[must_use]
    pub fn keys(&self) -> Vec<(&'static str, String, &'static str)> {
        let show = |slot: &Slot<'_>| match slot {
            Slot::Switch(on) => if **on { "on" } else { "off" }.to_owned(),
            Slot::CpuIdle(cpuidle) => cpuidle.name().to_owned(),
            Slot::Cpu(None) => "policy".to_owned(),
            Slot::Cpu(Some(cpu)) => cpu.to_string(),
            Slot::Time(None) => "platform".to_owned(),
            Slot::Longest(None) => "off".to_owned(),
            Slot::Longest(Some(us)) => us.to_string(),
            Slot::Cost(None) => "assumed".to_owned(),
            Slot::Time(Some(0)) | Slot::Cost(Some(0)) => "off".to_owned(),
            Slot::Cost(Some(ns)) => ns.to_string(),
            Slot::Time(Some(ns)) => ns.to_string(),
            Slot::Irq(sources) => show_interrupts(sources),
            Slot::Caps(caps) => show_caps(caps),
            Slot::Scales(scales) => show_scales(scales),
            Slot::Shares(shares) => show_shares(shares),
        };
        self.clone()
            .slots()
            .iter()
            .map(|(key, slot, doc)| (*key, show(slot), *doc))
            .collect()
    }

    /// The options that were in force, as results record them: without devices, caps and shares
    /// where there are none.
    #[must_use]
    pub fn in_force(&self) -> Vec<(&'static str, String, &'static str)> {
        let mut keys = self.keys();
        keys.retain(|(key, ..)| match *key {
            "model.irq" => !self.irq.is_empty(),
            "model.policy_per_cpu" => !self.policy_per_cpu,
            "model.coherence" => self.coherence,
            "model.scx_callback_ns" => self.scx_callback_ns.is_some(),
            "model.scx_kfunc_ns" => self.scx_kfunc_ns.is_some(),
            "model.freq_cap" => !self.freq_cap.is_empty(),
            "model.em_scale" => !self.em_scale.is_empty(),
            "model.housekeeping" => !self.housekeeping,
            "model.thermal" => self.thermal,
            "model.work_power" => !self.work_power,
            "model.cpuidle" => self.cpuidle != CpuIdle::Menu,
            "model.idle_latency_us" => self.idle_latency_us.is_some(),
            "model.fork_ns" => self.fork_ns.is_some(),
            "model.ipi_ns" => self.ipi_ns.is_some(),
            "model.publish_ns" => self.publish_ns.is_some(),
            "model.lock_hold_ns" => self.lock_hold_ns.is_some(),
            "model.lock_shared_cache_ns" => self.lock_shared_cache_ns.is_some(),
            "model.lock_other_cache_ns" => self.lock_other_cache_ns.is_some(),
            "model.switch_out_ns" => self.switch_out_ns.is_some(),
            "model.shares" => !self.shares.is_empty(),
            _ => true,
        });
        keys
    }

    /// Sets a `model.*` key.
    ///
    /// # Errors
    /// Unknown key (the known ones named) or a value of the wrong kind.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), OptionError> {
        let slots = self.slots();
        let known = slots.iter().map(|(k, ..)| *k);
        let known = known.collect::<Vec<_>>().join(", ");
        let Some((_, slot, _)) = slots.into_iter().find(|(k, ..)| *k == key) else {
            return Err(OptionError(format!(
                "unknown model setting `{}`; known: {known}",
                shorten(key)
            )));
        };
        let wrong = |expected: &str| {
            OptionError(format!(
                "`{key}`: `{}`: expected {expected}",
                shorten(value)
            ))
        };
        match (slot, value) {
            (Slot::Switch(on), "on") => *on = true,
            (Slot::Switch(on), "off") => *on = false,
            (Slot::Switch(_), _) => return Err(wrong("`on` or `off`")),
            (Slot::CpuIdle(cpuidle), text) => {
                let known = CpuIdle::NAMES.iter().find(|known| known.1 == text);
                let known = known.ok_or_else(|| wrong("`menu`, `teo`, `ladder` or `none`"))?;
                *cpuidle = known.0;
            }
            (Slot::Time(time), text) => {
                let expected = "`platform`, `off` or ns from 0 to 1000000";
                *time = own_time(text, "platform").ok_or_else(|| wrong(expected))?;
            }
            (Slot::Longest(limit), "off") => *limit = None,
            (Slot::Longest(limit), text) => {
                let expected = "`off` or us from 0 to 1000000";
                *limit = Some(short_time(text).ok_or_else(|| wrong(expected))?);
            }
            (Slot::Cost(cost), text) => {
                let expected = "`assumed`, `off` or ns from 0 to 1000000";
                *cost = own_time(text, "assumed").ok_or_else(|| wrong(expected))?;
            }
            (Slot::Cpu(cpu), "policy") => *cpu = None,
            (Slot::Cpu(cpu), text) => {
                let number = text
                    .parse()
                    .map_err(|_| wrong("`policy` or a CPU number"))?;
                *cpu = Some(number);
            }
            (Slot::Irq(sources), text) => {
                *sources = parse_interrupts(text).ok_or_else(|| {
                    wrong(
                        "off, or CPU:PERIOD:RUN[:movable] such as 0:1ms:100us, a period of at \
                         least 10us, less run than that; several joined with +",
                    )
                })?;
            }
            (Slot::Caps(caps), text) => {
                *caps = parse_caps(text).ok_or_else(|| {
                    wrong("off, or DOMAIN:KHZ[@TIME], KHZ a number or max; several joined with +")
                })?;
            }
            (Slot::Scales(scales), text) => {
                let expected = "off, or DOMAIN:PERCENT[@TIME] with 1 to 10000 percent; several \
                                joined with +";
                *scales = parse_scales(text).ok_or_else(|| wrong(expected))?;
            }
            (Slot::Shares(shares), text) => {
                *shares = parse_shares(text)
                    .ok_or_else(|| wrong("NAME:SHARES, joined by `+`, with shares 2 to 262144"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{CpuIdle, Options};

    #[test]
    fn settings_are_set_and_listed() {
        let mut options = Options::default();
        options.set("model.idle_states", "off").unwrap();
        options.set("model.parent_cpu", "4").unwrap();
        assert!(!options.idle_states);
        assert_eq!(options.keys()[0].1, "off");
        let parent = options
            .keys()
            .into_iter()
            .find(|key| key.0 == "model.parent_cpu");
        assert_eq!(parent.expect("a setting").1, "4");
        options.set("model.cpuidle", "none").unwrap();
        assert_eq!(options.cpuidle, CpuIdle::None);
        options.set("model.cpuidle", "teo").unwrap();
        assert_eq!(options.cpuidle.name(), "teo");
        let error = options.set("model.cpuidle", "haltpoll").unwrap_err().0;
        assert!(
            error.contains("`menu`, `teo`, `ladder` or `none`"),
            "{error}"
        );
        assert!(
            options
                .set("model.idle", "off")
                .unwrap_err()
                .0
                .contains("model.idle_states")
        );
        assert!(options.set("model.kernel_costs", "no").is_err());
        assert!(options.set("model.parent_cpu", "big").is_err());
        options.set("model.shares", "fg:2048+bg:2").unwrap();
        assert_eq!(options.shares[1], ("bg".to_owned(), 2));
        assert_eq!(options.in_force()[5].1, "fg:2048+bg:2");
        for text in ["fg", ":5", "fg:1", "fg:262145", "fg:4+", ""] {
            let error = options.set("model.shares", text).unwrap_err().0;
            assert!(error.contains("2 to 262144"), "{error}");
        }
        let told = |options: &Options| {
            let mut keys = options.in_force().into_iter();
            keys.find(|key| key.0 == "model.work_power")
                .map(|key| key.1)
        };
        assert!(options.work_power && told(&options).is_none());
        options.set("model.work_power", "off").unwrap();
        assert_eq!(told(&options).as_deref(), Some("off"));
    }
}
