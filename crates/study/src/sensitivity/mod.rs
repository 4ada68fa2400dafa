//! Whether conclusions depend on what nobody published: each assumed cost is halved and doubled.

mod arguments;
mod costs;
mod judge;
mod plan;

pub(crate) use arguments::{arguments, value as argument};
pub(crate) use costs::{changed_workload, cost_names};
pub(crate) use judge::sensitivity;

pub(crate) use plan::{Tried, tried};
