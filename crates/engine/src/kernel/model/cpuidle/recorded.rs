//! Our governors beside those of kernel trees. `recorded/NAME-VERSION.txt` is what the tree's own
//! source chose, one character per choice, a line per table of states
//! (crates/kernel-shim/tests/governors, cargo xtask idle-governors); here the same questions are
//! asked of ours (docs/rules/cpuidle.md#recorded).
//!
//! What must stay: questions and their order are those of the recorder, draw by draw. A changed
//! question needs new recordings (`cargo xtask idle-governors`). Free: what leaves recorded runs as
//! they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `teo_and_ladder_choose_as_the_kernels_own` (all of it). `states`, `below`, `between`, `ask`,
//! `step` and `compare` are that test's parts.
//!
//! Tests: below

use super::teo::Form;
use super::{Governor, Kind, Sleep, Slept, poll_limit_ns};
use crate::machine::CpuIdleState;

const TICK_NS: u64 = 4_000_000;
const STEPS: usize = 4_000;

/// Exit latency and residency, ns, per table; the second has the polling state.
const TABLES: [&[(u64, u64)]; 4] = [
    &[(1_000, 1_000), (370_000, 900_000), (900_000, 2_000_000)],
    &[
        (0, 0),
        (2_000, 4_000),
        (220_000, 600_000),
        (280_000, 800_000),
        (680_000, 2_000_000),
    ],
    &[(1_000, 1_000), (100_000, 500_000), (2_000_000, 10_000_000)],
    &[(1_000, 1_000), (1_050_000, 1_500_000)],
];

/// A table of states as the kernel's governor had it; table 1 begins with one that polls.
fn states(table: usize) -> Vec<CpuIdleState> {
    let state = |(at, (exit_ns, residency_ns)): (usize, &(u64, u64))| CpuIdleState {
        index: at as u16,
        cluster: false,
        entry_ns: 0,
        exit_ns: *exit_ns,
        wake_latency_ns: *exit_ns,
        residency_ns: *residency_ns,
        polling: table == 1 && at == 0,
    };
    TABLES[table].iter().enumerate().map(state).collect()
}

/// The generator of governor.c.
struct Questions(u64);

impl Questions {
    /// A number below `limit`. The generator is the recorder's own
    /// (crates/kernel-shim/tests/governors): both must draw alike.
    fn below(&mut self, limit: u64) -> u64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Spread over powers of two: short and long times come equally often.
    fn between(&mut self, from: u64, to: u64) -> u64 {
        let power = from + self.below(to - from);
        (1 << power) + self.below(1 << power)
    }

    /// To the timer, and to what else wakes the CPU.
    fn ask(&mut self, kind: u64) -> (u64, u64) {
        match kind {
            0 => (50_000_000, 50_000_000),
            1 => (self.between(24, 31), self.between(9, 15)),
            2 => (self.between(24, 31), self.between(16, 22)),
            3 => {
                let timer = self.between(17, 23);
                (timer, timer)
            }
            4 => (self.between(26, 31), self.between(20, 26)),
            _ => (self.between(10, 31), self.between(9, 31)),
        }
    }

    /// One choice, as the recordings write it.
    fn step(&mut self, governor: &mut Governor, states: &[CpuIdleState], kind: u64) -> char {
        let (to_timer_ns, wake) = self.ask(kind);
        let tick_stopped = self.below(4) == 0;
        let to_tick = 1 + self.below(TICK_NS);
        let utilized = self.below(4) == 0;
        let sleep = Sleep {
            states,
            to_timer_ns,
            to_tick_ns: (!tick_stopped).then_some(to_tick),
            tick_ns: TICK_NS,
            utilized,
        };
        let choice = governor.select(&sleep).expect("a governor");
        let state = states[choice.state];
        let mut wake = wake.min(to_timer_ns);
        let mut by_tick = !choice.stop_tick && !tick_stopped && wake > to_tick;
        if by_tick {
            wake = to_tick;
        }
        let limit = poll_limit_ns(states, TICK_NS);
        let by_poll_limit = state.polling && wake > limit;
        if by_poll_limit {
            (by_tick, wake) = (false, limit);
        }
        let slept = Slept {
            idle_ns: wake + state.wake_latency_ns,
            wake_latency_ns: state.wake_latency_ns,
            by_tick,
            by_poll_limit,
            tick_ns: TICK_NS,
        };
        governor.reflect(states, &slept);
        let first = if choice.stop_tick { b'a' } else { b'0' };
        char::from(first + choice.state as u8)
    }
}

/// Choices of ours, and how many of them are the recorded ones.
fn compare(kind: Kind, recorded: &str) -> (usize, Vec<String>) {
    let (mut same, mut others) = (0, Vec::new());
    let mut questions = Questions(1);
    assert_eq!(recorded.lines().count(), TABLES.len());
    for (table, line) in recorded.lines().enumerate() {
        assert_eq!(line.len(), STEPS);
        let states = states(table);
        let mut governor = Governor::new(kind, &states);
        let mut of_kind = 0;
        for (nth, theirs) in line.chars().enumerate() {
            if nth % 40 == 0 {
                of_kind = questions.below(6);
            }
            let ours = questions.step(&mut governor, &states, of_kind);
            if ours == theirs {
                same += 1;
            } else {
                let what = format!("table {table} choice {nth}: {ours}, recorded {theirs}");
                others.push(what);
            }
        }
    }
    (same, others)
}

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("recorded/", $name, ".txt"))
    };
}

/// Goal: each form chooses as the source of its kernel, every time.
#[test]
fn teo_and_ladder_choose_as_the_kernels_own() {
    let all = [
        (Kind::TeoByHits, recorded!("teo-5.10.223")),
        (Kind::Teo(Form::V6_1), recorded!("teo-6.1.176")),
        (Kind::Teo(Form::V6_10), recorded!("teo-6.10")),
        (Kind::Teo(Form::V6_12), recorded!("teo-6.12.117")),
        (Kind::Teo(Form::V6_18), recorded!("teo-6.18.15")),
        (Kind::Teo(Form::V7_3), recorded!("teo-7.3.4")),
        (Kind::Ladder, recorded!("ladder-7.3.4")),
    ];
    for (kind, text) in all {
        let (same, others) = compare(kind, text);
        let first = others.first().map_or("", |other| other);
        assert_eq!(same, TABLES.len() * STEPS, "{kind:?}: {first}");
    }
}
