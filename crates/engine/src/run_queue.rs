//! The queue of one CPU under any discipline.

use crate::eevdf::EevdfQueue;
use crate::fair::FairQueue;
use crate::grouped::GroupedQueue;
use crate::live_queue::LiveQueue;

/// Which tasks wait on a CPU, and in what order. One kind for all CPUs of a run.
#[derive(Debug)]
pub(crate) enum RunQueue {
    /// The fair class of the kernels before 6.6.
    Fair(FairQueue),
    /// The fair class of the kernels from 6.6 on.
    Eevdf(EevdfQueue),
    /// The live scheduler's.
    Live(LiveQueue),
    /// One of the fair ones, with task groups.
    Grouped(GroupedQueue),
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
            Self::Eevdf(queue) => queue.nr(),
            Self::Live(queue) => queue.nr(),
            Self::Grouped(queue) => queue.nr(),
        }
    }

    /// ... and sleepers that the queue keeps, as the core counts them: none with groups.
    pub(crate) fn nr_queued(&self) -> usize {
        match self {
            Self::Eevdf(queue) => queue.nr_queued(),
            Self::Fair(_) | Self::Live(_) | Self::Grouped(_) => self.nr(),
        }
    }

    /// Tasks that wait.
    pub(crate) fn nr_waiting(&self) -> usize {
        match self {
            Self::Fair(queue) => queue.waiting().count(),
            Self::Eevdf(queue) => queue.waiting().count(),
            Self::Live(queue) => queue.waiting().count(),
            Self::Grouped(queue) => queue.waiting().len(),
        }
    }
}
