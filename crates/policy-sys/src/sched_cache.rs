//! Processes with several threads, for cache-aware scheduling
//! (`policy/include/wakeplace/sched_cache.h`): their memory, and how many threads they have.
//!
//! What must stay: addresses stay while the core lives, since `wp_ctx.sched_cache` points there.
//! Free: how memory is laid out, with sched_cache.h.
//!
//! Tests by part: sched_cache.rs: `one_scan_an_epoch` (`add_processes`, `process_mut`,
//! `process_raw`, `layout`), `an_epoch_halves` (`sched_cache_raw`), `a_cpu_counts_all_processes`
//! (`process_of`), `a_task_stays_in_its_cache` (`prefers_llc_of`, by the core);
//! crates/engine/tests/behaviour/sched_cache.rs (`thread_begins`, `thread_ends`, `ProcessFacts`).
//! `new` and `drop` have no test of their own.
//!
//! Callers: the engine's processes.rs and fork.rs.
//!
//! Tests: crates/policy-sys/tests/all/sched_cache.rs

use crate::core::{Core, zeroed_box};
use crate::sys;
use crate::task::Task;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// What is kept of processes. The context has its address, so it stays where it is.
#[derive(Debug)]
pub(crate) struct Processes {
    all: *mut sys::wp_sched_cache,
    first: NonNull<sys::wp_mm>,
    nr: usize,
}

// SAFETY: the memory is the core's alone, as a box would be.
unsafe impl Send for Processes {}
// SAFETY: a shared core only reads.
unsafe impl Sync for Processes {}

impl Drop for Processes {
    /// Gives back what C and Rust share.
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw` and `alloc_zeroed` in `new`, and dropped once.
        unsafe {
            drop(Box::from_raw(self.all));
            dealloc(self.first.as_ptr().cast(), layout(self.nr));
        }
    }
}

/// Of so many processes.
fn layout(nr: usize) -> Layout {
    Layout::array::<sys::wp_mm>(nr).expect("as many processes as tasks")
}

impl Processes {
    /// `nr`: at least one.
    fn new(nr: usize) -> Self {
        // SAFETY: the layout has a size; all-zero bytes are a valid process.
        let first = unsafe { alloc_zeroed(layout(nr)) }.cast::<sys::wp_mm>();
        let Some(first) = NonNull::new(first) else {
            handle_alloc_error(layout(nr));
        };
        let mut all = zeroed_box::<sys::wp_sched_cache>();
        all.mms = first.as_ptr().expose_provenance() as u64;
        all.nr_mms = nr as u32;
        Self {
            all: Box::into_raw(all),
            first,
            nr,
        }
    }

    /// Panics beyond the number of processes.
    fn process_mut(&mut self, index: usize) -> &mut sys::wp_mm {
        assert!(index < self.nr, "no such process");
        // SAFETY: within the allocation, whose exclusive borrow this is.
        unsafe { self.first.add(index).as_mut() }
    }
}

/// What is known of the data of a process. All 0: nothing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessFacts {
    /// Bytes that NUMA balancing counts for it.
    pub footprint: u64,
    /// Bytes of the working sets that one thread each has.
    pub own_bytes: u64,
    /// Threads with such a set.
    pub nr_own: u32,
    /// Bytes of the working sets that several threads have, each set once.
    pub shared_bytes: u64,
    /// Threads that share one.
    pub nr_sharing: u32,
}

impl Core {
    /// The run has processes with several threads (`Task::set_process`), each with a main thread
    /// that waits for the others. `llc_bytes`: size of a last-level cache, 0 = unknown. Before the
    /// first event.
    pub fn add_processes(&mut self, facts: &[ProcessFacts], llc_bytes: u64) {
        if facts.is_empty() {
            return;
        }
        let mut processes = Processes::new(facts.len());
        for (index, known) in facts.iter().enumerate() {
            let process = processes.process_mut(index);
            process.footprint = known.footprint;
            (process.own_bytes, process.nr_own) = (known.own_bytes, known.nr_own);
            (process.shared_bytes, process.nr_sharing) = (known.shared_bytes, known.nr_sharing);
            process.nr_threads = 1;
        }
        // SAFETY: the memory is live and exclusive.
        for cache in unsafe { &mut (*processes.all).llc } {
            cache.bytes = llc_bytes;
        }
        self.state_mut().sched_cache = processes.all.expose_provenance() as u64;
        self.processes = Some(processes);
        // SAFETY: the context and the memory that it has the address of are live and exclusive.
        unsafe { sys::wp_sched_cache_init(self.ctx_mut()) };
    }

    /// None: the task is of no process with several threads.
    fn process_of(&mut self, task: &Task) -> Option<&mut sys::wp_mm> {
        let index = (task.0.mm as usize).checked_sub(1)?;
        let processes = self.processes.as_mut()?;
        (index < processes.nr).then(|| processes.process_mut(index))
    }

    /// A thread of a process exists from now on.
    pub fn thread_begins(&mut self, task: &Task) {
        if let Some(process) = self.process_of(task) {
            process.nr_threads += 1;
        }
    }

    /// It is gone for good.
    pub fn thread_ends(&mut self, task: &Task) {
        if let Some(process) = self.process_of(task) {
            process.nr_threads -= 1;
        }
    }

    /// A process, to look at or to build a situation by hand.
    ///
    /// # Panics
    /// If there is no such process.
    pub fn process_raw(&mut self, index: usize) -> &mut sys::wp_mm {
        (self.processes.as_mut().expect("added")).process_mut(index)
    }

    /// What is kept of caches and CPUs, likewise.
    ///
    /// # Panics
    /// Without processes.
    pub fn sched_cache_raw(&mut self) -> &mut sys::wp_sched_cache {
        // SAFETY: live, and exclusive by the borrow of the core.
        unsafe { &mut *self.processes.as_ref().expect("added").all }
    }

    /// Does the task prefer the last-level cache of a CPU, or does nobody ask?
    #[must_use]
    pub fn prefers_llc_of(&self, task: &Task, cpu: u32) -> bool {
        // SAFETY: reads both only.
        unsafe { sys::wp_prefers_llc_of(self.state(), &raw const task.0, cpu) != 0 }
    }
}
