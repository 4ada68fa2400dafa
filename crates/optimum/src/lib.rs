//! The static placement of least energy for steady loads (`--oracle`): what is left to gain.
//!
//! It reads the platform's power tables and the loads, nothing else: no policy, no estimate of the
//! policy core. docs/decisions/036 says what "optimal" means here; in short:
//!
//! - each task stays on one CPU and asks for its mean demand, and no CPU gets more than it can do;
//! - each frequency domain stays at one operating point that serves its fullest CPU, the one of
//!   least power (with tables that are convex the lowest such point);
//! - a CPU is busy for its share of the time, else in the idle state that draws least; the CPUs of
//!   a cluster are busy at the same time as far as they can be, and else it is in its best state.
//!
//! Integers only: demand is in 1/1024 of a capacity unit, power in 2^-20 of the platform's unit.
//!
//! What must stay: what "optimal" means is docs/decisions/036's. No policy and no estimate of the
//! core is asked, or the optimum is no judge of them. Both scales are those of the tests. Tests by
//! part: `agrees_with_every_placement_looked_at` (`search` beside every placement),
//! `one_small_task_by_hand` (`DEMAND_SCALE`, `POWER_SCALE`).
//!
//! Tests: crates/optimum/tests/brute_force.rs

mod machine;
mod search;
mod state;

pub use machine::{Machine, Refusal};
pub use search::{Found, Limits, Verdict, search};

/// Parts of a capacity unit (1024 of them are the biggest CPU at its highest frequency).
pub const DEMAND_SCALE: u64 = 1024;
/// Parts of the platform's unit of power.
pub const POWER_SCALE: u64 = 1 << 20;

/// One task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Mean demand, `DEMAND_SCALE` per capacity unit.
    pub demand: u64,
    /// CPUs it may use, ascending; None: all.
    pub cpus: Option<Vec<u32>>,
}
