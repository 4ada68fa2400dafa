//! Calls with paths, and the few others that would show the host's machine
//! (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: nothing that differs between hosts is told; a path that is not answered is
//! refused or harmless. Free: further paths, with an answer or a refusal each.
//!
//! Tests by part: `a_loader_sees_the_modelled_machine` (`path_call`, `uname`),
//! schedulers.rs::`what_a_loader_must_not_do_is_named` (`of_host`, `opens`: /proc/loadavg),
//! schedulers.rs::`a_loader_runs_in_virtual_time` (`path_call` for /proc/stat, "busy 1").
//!
//! Callers: load/serve.rs, for calls that have no answer of their own there.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_loader_sees_the_modelled_machine

use super::calls::{Answer, Call};
use super::clocks;
use super::serve::Session;
use std::mem::{MaybeUninit, size_of};

impl Session<'_> {
    /// Answers a call with a path, if the path is one of the modelled machine's.
    pub(super) fn path_call(&mut self, call: &Call) -> Answer {
        let path = call.path.as_deref().unwrap_or_default();
        if path == "/proc/stat" && opens(call.number) {
            let made = clocks::proc_stat(self);
            return made.map_or(Answer::error(libc::ENOMEM), Answer::File);
        }
        match call.of_tree {
            true => Answer::Tree,
            false => self.of_host(call, path),
        }
    }

    /// A path of the host's. What the host's kernel says of its own machine while the simulation
    /// runs would be an answer about another machine.
    fn of_host(&mut self, call: &Call, path: &str) -> Answer {
        let of_kernel = path.starts_with("/proc/") || path.starts_with("/sys/");
        let own = path.starts_with("/proc/self/") || path.starts_with("/proc/thread-self/");
        if self.sim.is_some() && of_kernel && !own && opens(call.number) {
            self.refuse(format!(
                "to read {path} while the simulation runs is not offered"
            ));
            return Answer::error(libc::ENOENT);
        }
        Answer::Host
    }

    /// `uname`: the kernel whose interface is offered.
    pub(super) fn uname(&self, call: &Call) -> Answer {
        let mut name = MaybeUninit::<libc::utsname>::zeroed();
        // SAFETY: the structure is as large as the call fills.
        let mut name = unsafe {
            libc::uname(name.as_mut_ptr());
            name.assume_init()
        };
        name.release.fill(0);
        let release = self.known.release.bytes().take(name.release.len() - 1);
        for (to, from) in name.release.iter_mut().zip(release) {
            *to = from as libc::c_char;
        }
        // SAFETY: a structure of bytes only, which is read as such.
        let bytes = unsafe {
            let first: *const u8 = (&raw const name).cast();
            std::slice::from_raw_parts(first, size_of::<libc::utsname>())
        };
        match call.write(call.args[0], bytes) {
            true => Answer::Value(0),
            false => Answer::error(libc::EFAULT),
        }
    }
}

/// Does the call open a file?
fn opens(number: libc::c_long) -> bool {
    match number {
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => true,
        number => number == libc::SYS_openat,
    }
}
