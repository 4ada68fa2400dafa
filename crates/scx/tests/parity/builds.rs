// SPDX-License-Identifier: GPL-2.0-only
//! The native build beside the builds for BPF, all with the same bytes.
//!
//! What must stay: all builds begin with the same bytes, and what a call may touch is compared
//! after each. `load`, `install`, `all`, `renew`, `run` and `compare_all` are called by main.rs,
//! events.rs and arguments.rs; what differs is told by `report`. `native`, `live` and `large` say
//! what is there. Page: docs/internals/checks.md; docs/decisions/011. Free: how a build's memory is
//! reached.

use crate::kernel::{self, Object, say};
use crate::machines::Machine;
use crate::ops::Op;
use crate::state::{State, TASKS, differences, same_near, same_touched, same_whole, zeroed};
use wakeplace_policy_sys::sys;

/// On machines of at most so many CPUs everything that a call may touch is compared after it: one
/// word of every bitmask. On larger ones that would be a megabyte per call.
pub(crate) const SMALL_CPUS: u32 = 64;
/// Calls on a large machine between two such comparisons. Between them: the answer, the tasks and
/// the CPUs that the call was about; and before the test overwrites a CPU, that CPU.
const WIDE_EVERY: u64 = 64;

/// The builds of the core: one native, and in the kernel the whole and the live one.
pub(crate) struct Builds {
    native: Box<State>,
    objects: Vec<Object>,
    /// So many of `objects` take part: without the last if the policy is not in the live build.
    active: usize,
    calls: u64,
    /// Where the run is, for the report of a difference.
    pub(crate) place: String,
}

/// Loads the objects. `None`, said loudly, where this user or kernel cannot; with
/// WAKEPLACE_REQUIRE_BPF=1 that is a failure. A program that the verifier refuses always is one.
pub(crate) fn load(test: &str) -> Option<Builds> {
    let Some(why) = kernel::why_not() else {
        return Some(Builds {
            native: zeroed(),
            objects: kernel::load(),
            active: 1,
            calls: 0,
            place: String::new(),
        });
    };
    let required = std::env::var_os("WAKEPLACE_REQUIRE_BPF").is_some_and(|v| v == "1");
    assert!(!required, "{test}: WAKEPLACE_REQUIRE_BPF=1, but {why}");
    say(&format!("**** SKIPPED {test}: {why}"));
    None
}

impl Builds {
    /// A machine under a policy goes to all builds, with nothing running. The live build takes part
    /// only if `live`: it must hold the policy.
    pub(crate) fn install(&mut self, machine: &Machine, live: bool, place: &str) {
        assert!(
            machine.live || !live,
            "the live build does not hold the policy"
        );
        self.active = if live { 2 } else { 1 };
        self.place = format!("{place}\n{}", machine.words);
        // SAFETY: both are whole live contexts; a copy through a value would go over the stack.
        unsafe {
            std::ptr::copy_nonoverlapping(machine.core.state(), &raw mut self.native.ctx, 1);
        }
        self.native.tasks = [sys::wp_task::default(); TASKS];
        for object in &mut self.objects[..self.active] {
            // SAFETY: both are one State each and do not overlap.
            unsafe {
                std::ptr::copy_nonoverlapping(&raw const *self.native, object.state_mut(), 1);
            }
        }
    }

    /// The native state, to read.
    pub(crate) fn native(&self) -> &State {
        &self.native
    }

    /// Does the live build take part?
    pub(crate) fn live(&self) -> bool {
        self.active == self.objects.len()
    }

    /// Has the machine CPUs beyond the first word of a bitmask?
    pub(crate) fn large(&self) -> bool {
        self.native.ctx.nr_cpus > SMALL_CPUS
    }

    /// The same change in all builds.
    pub(crate) fn all(&mut self, change: impl Fn(&mut State)) {
        change(&mut self.native);
        for object in &mut self.objects[..self.active] {
            change(object.state_mut());
        }
    }

    /// A change of the native state goes to the others: of what a situation consists of, and of
    /// no CPU but those `touched`.
    pub(crate) fn renew(&mut self, touched: &[usize], change: impl FnOnce(&mut State)) {
        if self.large() {
            self.compare(|a, b| {
                let mut touched = touched.iter();
                touched.all(|cpu| a.same_cpu(b, *cpu))
            });
        }
        change(&mut self.native);
        let from = &self.native;
        for object in &mut self.objects[..self.active] {
            let to = object.state_mut();
            for cpu in touched {
                let one = *cpu..cpu + 1;
                to.ctx.cpus[one.clone()].copy_from_slice(&from.ctx.cpus[one]);
            }
            to.ctx.overutilized = from.ctx.overutilized;
            to.tasks = from.tasks;
            to.request = from.request;
            to.args = from.args;
        }
    }

    /// Runs an entry point in all builds and compares what it may touch.
    pub(crate) fn run(&mut self, op: Op) -> u64 {
        op.call_native(&mut self.native);
        let wide = !self.large() || self.calls.is_multiple_of(WIDE_EVERY);
        self.calls += 1;
        for object in &mut self.objects[..self.active] {
            object.run(op);
            let same = if wide { same_touched } else { same_near };
            if !same(&self.native, object.state()) {
                let near = same_near(&self.native, object.state());
                let before = if near && wide {
                    ", or since the last whole look"
                } else {
                    ""
                };
                let what = format!("{}{before}", op.program());
                report(&self.native, object, &self.place, &what);
            }
        }
        self.native.result
    }

    /// Compares every byte of all builds.
    pub(crate) fn compare_all(&self) {
        self.compare(same_whole);
    }

    fn compare(&self, same: impl Fn(&State, &State) -> bool) {
        for object in &self.objects[..self.active] {
            if !same(&self.native, object.state()) {
                report(&self.native, object, &self.place, "what calls left behind");
            }
        }
    }

    /// Verified instructions of each build for BPF.
    pub(crate) fn processed_insns(&self, op: Op) -> Vec<u32> {
        let objects = self.objects.iter();
        objects.map(|object| object.processed_insns(op)).collect()
    }
}

#[cold]
fn report(native: &State, object: &Object, place: &str, what: &str) {
    let found = differences(native, object.state(), 40);
    // Padding between fields is nobody's state.
    assert!(
        found.is_empty(),
        "the native core and {} differ in {what}\n{place}\n{:?}\n{:?}\n  {}",
        object.name,
        native.args,
        native.request,
        found.join("\n  ")
    );
}
