//! Sums over CPUs that the core keeps for a home of one thread (`policy/include/wakeplace/kept.h`):
//! which CPUs are to be looked at again. Whoever changes a CPU's state by other ways than an event
//! of the core touches the CPU, or a kept sum is wrong.
//!
//! What must stay: answers are the same with and without kept sums (kept.rs compares them); it is
//! for speed. Free: which entry points touch a CPU: more is slower, fewer is wrong.
//!
//! Tests by part: kept.rs: `kept_sums_change_no_answer` (`keep_sums`, `touch`, `touch_all`),
//! `statistics_that_are_left_out_change_no_answer` (`skip_statistics`).
//!
//! Callers: the engine's model asks for sums as it begins; core.rs touches at each event.
//!
//! Tests: crates/policy-sys/tests/all/kept.rs

use crate::core::{Core, zeroed_box};
use crate::sys;

/// The sums. The context has their address, so they stay where they are.
#[derive(Debug)]
pub(crate) struct Kept(*mut sys::wp_kept);

// SAFETY: the memory is the core's alone, as a box would be.
unsafe impl Send for Kept {}
// SAFETY: a shared core only reads.
unsafe impl Sync for Kept {}

impl Drop for Kept {
    /// Gives the core's memory of sums back.
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw` in `keep_sums`, and dropped once.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl Core {
    /// From now on sums over groups of CPUs are kept from one question to the next. No answer
    /// changes by that; test builds compare each sum with a walk over its CPUs.
    pub fn keep_sums(&mut self) {
        let sums = Box::into_raw(zeroed_box::<sys::wp_kept>());
        self.kept = Some(Kept(sums));
        self.state_mut().kept = sums.expose_provenance() as u64;
    }

    /// From now on a balancing pass may leave out statistics that decide nothing. No answer changes
    /// by that; what the pass notes of groups does.
    pub fn skip_statistics(&mut self) {
        self.state_mut().quick = 1;
    }

    /// Something of this CPU has changed.
    #[inline]
    pub(crate) fn touch(&mut self, cpu: u32) {
        if let Some(kept) = &self.kept {
            let (word, bit) = (cpu as usize / 64 % 16, 1 << (cpu % 64));
            // SAFETY: the memory lives as long as the core, whose exclusive borrow this is.
            let kept = unsafe { &mut *kept.0 };
            kept.sums_due[word] |= bit;
            kept.demand_due[word] |= bit;
            kept.idle_due[word] |= bit;
        }
    }

    /// Anything may have changed.
    pub(crate) fn touch_all(&mut self) {
        if let Some(kept) = &self.kept {
            // SAFETY: as above.
            unsafe { (*kept.0).rebuild = 1 };
        }
    }
}
