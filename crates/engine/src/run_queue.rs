//! The queue of one CPU under either discipline.

use crate::dsq::VtimeQueue;
use crate::fair::FairQueue;

/// Which tasks wait on a CPU, and in what order. One kind for all CPUs of a run.
#[derive(Debug)]
pub(crate) enum RunQueue {
    /// A kernel's own fair class.
    Fair(FairQueue),
    /// The live scheduler's.
    Vtime(VtimeQueue),
}

impl Default for RunQueue {
    fn default() -> Self {
        Self::Fair(FairQueue::default())
    }
}

impl RunQueue {
    /// Tasks, the running one included.
    pub(crate) fn nr(&self) -> usize {
        match self {
            Self::Fair(queue) => queue.nr,
            Self::Vtime(queue) => queue.nr(),
        }
    }

    /// Tasks that wait.
    pub(crate) fn nr_waiting(&self) -> usize {
        match self {
            Self::Fair(queue) => queue.waiting().count(),
            Self::Vtime(queue) => queue.waiting().count(),
        }
    }
}
