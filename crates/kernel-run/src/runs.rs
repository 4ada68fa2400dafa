//! One run (docs/guide/kernel.md, "In a run").
//!
//! What must stay: parameters are set in the order of the name, after the boot; equal inputs, equal
//! runs. Free: how a machine is handed over.
//!
//! Tests by part: `the_boot_is_forgotten` (`run`, `within`, `booted`),
//! `what_it_does_not_take_is_refused` (`machine`, `text`: parameters),
//! `energy_aware_placement_is_the_kernels_own` (`machine`: powers).
//!
//! Callers: trees.rs.
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs

use crate::entered::{Entered, Heard};
use crate::faults::Place;
use crate::process::{Said, apart};
use crate::stream::Message;
use std::cell::RefCell;
use std::ffi::CString;
use std::path::Path;
use std::rc::Rc;
use wakeplace_engine::{CpuIdle, Observer, Options, RunReport, Teller, run_tree, tree_machine};
use wakeplace_kernel_abi::{Call, Machine, ORDER, Refused, Told, Tree as _};
use wakeplace_kernel_tree::Kernel;
use wakeplace_platform::Platform;
use wakeplace_workload::Workload;

/// The governor of frequencies.
const GOVERNOR: &str = "governor";
/// That of idle states.
const IDLE_GOVERNOR: &str = "idle_governor";

/// What is run.
pub(crate) struct Input<'a> {
    pub(crate) object: &'a Path,
    /// The kernel's own parameters.
    pub(crate) parameters: &'a [(String, String)],
    pub(crate) platform: &'a Platform,
    pub(crate) workload: &'a Workload,
    pub(crate) options: &'a Options,
}

impl Input<'_> {
    /// Runs it in a process of its own.
    pub(crate) fn run(&self, observer: &mut dyn Observer) -> Result<RunReport, String> {
        let machine = self.machine()?;
        apart(|said, copy| self.within(&machine, copy, said), observer)
    }

    /// The machine that the kernel boots on, with the parameters of its name.
    fn machine(&self) -> Result<Machine, String> {
        if self.options.cpuidle == CpuIdle::Ladder {
            let expected = "expected `menu`, `teo` or `none`";
            return Err(format!(
                "model.cpuidle=ladder: trees are built without ladder; {expected}"
            ));
        }
        let mut machine = tree_machine(self.platform, self.workload, self.options);
        for (key, value) in self.parameters {
            let name = || text(key, value);
            match key.as_str() {
                GOVERNOR => machine.governor = Some(name()?),
                IDLE_GOVERNOR => machine.idle_governor = Some(name()?),
                _ => {}
            }
        }
        Ok(machine)
    }

    /// In the process of the run, which has a copy of the observer.
    fn within(&self, machine: &Machine, copy: &mut dyn Observer, said: Said) {
        let said = Rc::new(RefCell::new(said));
        let last = match self.booted(machine, &said) {
            Err(why) => Message::Failed(why),
            Ok(mut entered) => {
                let told = said.clone();
                let mut teller = Teller::new(copy, move |time_ns, what| {
                    let told = told.borrow_mut().tell(time_ns, what);
                    // Nobody listens any more: the run is of no use.
                    // SAFETY: the process of a run ends so.
                    told.unwrap_or_else(|_| unsafe { libc::_exit(1) })
                });
                let (platform, workload, options) = (self.platform, self.workload, self.options);
                let report = run_tree(platform, workload, options, &mut entered, &mut teller);
                Message::Ended(Box::new(report))
            }
        };
        let _ = said.borrow_mut().end(&last);
    }

    /// The kernel, with its machine up and its parameters set.
    fn booted(&self, machine: &Machine, said: &Rc<RefCell<Said>>) -> Result<Entered, String> {
        let place = Place::watched(said.clone(), self.object);
        let heard = Heard {
            place: place.clone(),
            told: Told::default(),
        };
        let booted = Kernel::boot(self.object, machine, heard);
        let kernel = booted.map_err(|(error, _)| error.to_string())?;
        place.booted(kernel.fault_entries());
        let mut entered = Entered { kernel, place };
        for (key, value) in self.parameters {
            if [GOVERNOR, IDLE_GOVERNOR].contains(&key.as_str()) {
                continue;
            }
            let (name, given) = (text(key, key)?, text(key, value)?);
            let set = Call::Set {
                name: &name,
                value: &given,
            };
            match entered.control(&set, ORDER) {
                Ok(_) | Err(Refused::Pending) => {}
                Err(Refused::Dead) => return Err(format!("`{key}={value}` ends it")),
                Err(Refused::Error(errno)) => {
                    return Err(format!(
                        "`{key}={value}`: the kernel does not take it (errno {errno}); expected \
                         one of its sched features, sysctls, debugfs values or governors"
                    ));
                }
            }
        }
        Ok(entered)
    }
}

/// A parameter's text cannot have a zero byte.
fn text(key: &str, text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| format!("`{key}`: a value with a zero in it"))
}
