//! Numbers of CPUs and tasks, and tables by them. A CPU's number cannot be taken for a task's,
//! which plain integers could (ARCHITECTURE.md, "The engine's two halves").
//!
//! What must stay: the numbers are those of the platform's file and of `RunReport`; an index out of
//! range is a fault of ours and panics. Whoever needs both kinds names both. Free: what leaves
//! recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `random_runs_obey_the_rules_1` (`PerCpu`, `PerTask`: each table in each run). `index`,
//! `index_mut`, `deref` and `deref_mut` are used by every run.
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs

use std::ops::{Deref, DerefMut, Index, IndexMut};
pub(crate) use wakeplace_kernel_queues::{CpuId, TaskId};

/// One value for each CPU.
#[derive(Debug)]
pub(crate) struct PerCpu<T>(pub(crate) Vec<T>);

/// One value for each task.
#[derive(Debug, Default)]
pub(crate) struct PerTask<T>(pub(crate) Vec<T>);

/// A table that is indexed by such a number, and a slice otherwise.
macro_rules! table {
    ($table:ident, $number:ty) => {
        impl<T> Index<$number> for $table<T> {
            type Output = T;

            #[inline]
            fn index(&self, at: $number) -> &T {
                &self.0[at.index()]
            }
        }

        impl<T> IndexMut<$number> for $table<T> {
            #[inline]
            fn index_mut(&mut self, at: $number) -> &mut T {
                &mut self.0[at.index()]
            }
        }

        impl<T> Deref for $table<T> {
            type Target = [T];

            #[inline]
            fn deref(&self) -> &[T] {
                &self.0
            }
        }

        impl<T> DerefMut for $table<T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut [T] {
                &mut self.0
            }
        }
    };
}

table!(PerCpu, CpuId);
table!(PerTask, TaskId);
