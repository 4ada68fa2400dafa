//! The CPUs that threads of the loader are bound to: modelled ones. The host's do not matter. A
//! program that a bound thread runs is executed on a CPU of the thread's (docs/guide/schedulers.md,
//! "What the loader sees").
//!
//! What must stay: the host's own affinity is never changed or told. Free: how masks are kept.
//!
//! Tests by part: `a_bound_thread_is_where_it_may_be` (`affinity`, `set_affinity`, `cpu_of`,
//! `all_cpus`, EINVAL). It calls for the caller itself: another thread's number (`thread_meant`)
//! has no test.
//!
//! Callers: load/serve.rs for the two calls, load/program.rs (`cpu_of`, BPF_PROG_TEST_RUN).
//!
//! Tests: below

use super::calls::{Answer, Call};
use super::fixed::PID;
use super::serve::Session;

/// Words of 64 CPUs.
type Mask = Vec<u64>;

impl Session<'_> {
    /// A mask of all modelled CPUs.
    fn all_cpus(&self) -> Mask {
        let mut mask = vec![0; (self.vm.nr_cpus() as usize).div_ceil(64)];
        for cpu in 0..self.vm.nr_cpus() as usize {
            mask[cpu / 64] |= 1 << (cpu % 64);
        }
        mask
    }

    /// The thread that a call is about, as the host numbers it. None: it is not the loader's.
    fn thread_meant(&self, call: &Call) -> Option<u32> {
        let asked = call.args[0] as u32;
        if asked == 0 {
            return Some(call.pid);
        }
        if i64::from(asked) == PID {
            return Some(self.known.loader);
        }
        let threads = self.calls.threads();
        threads.contains(&asked).then_some(asked)
    }

    /// `sched_getaffinity(pid, bytes, mask)`.
    pub(super) fn affinity(&self, call: &Call) -> Answer {
        let Some(thread) = self.thread_meant(call) else {
            return Answer::error(libc::ESRCH);
        };
        let bound = self.known.affinity.get(&thread).cloned();
        let mask = bound.unwrap_or_else(|| self.all_cpus());
        if (call.args[1] as usize) < mask.len() * 8 {
            return Answer::error(libc::EINVAL);
        }
        let bytes: Vec<u8> = mask.iter().flat_map(|word| word.to_le_bytes()).collect();
        match call.write(call.args[2], &bytes) {
            true => Answer::Value(bytes.len() as i64),
            false => Answer::error(libc::EFAULT),
        }
    }

    /// `sched_setaffinity(pid, bytes, mask)`: CPUs that there are not count for nothing; of others
    /// there must be one.
    pub(super) fn set_affinity(&mut self, call: &Call) -> Answer {
        let Some(thread) = self.thread_meant(call) else {
            return Answer::error(libc::ESRCH);
        };
        let mut mask = self.all_cpus();
        let bytes = call.args[1].min(8 * mask.len() as u64);
        let Some(mut given) = call.read(call.args[2], bytes) else {
            return Answer::error(libc::EFAULT);
        };
        given.resize(8 * mask.len(), 0);
        for (word, bytes) in mask.iter_mut().zip(given.as_chunks::<8>().0) {
            *word &= u64::from_le_bytes(*bytes);
        }
        if mask.iter().all(|word| *word == 0) {
            return Answer::error(libc::EINVAL);
        }
        self.known.affinity.insert(thread, mask);
        Answer::Value(0)
    }

    /// Gives the CPU on which a program is executed that the caller runs: here, if its thread may
    /// be here.
    pub(super) fn cpu_of(&self, call: &Call, here: u32) -> u32 {
        let Some(mask) = self.known.affinity.get(&call.pid) else {
            return here;
        };
        let mut cpus =
            (0..self.vm.nr_cpus()).filter(|cpu| wakeplace_sched_ext::test_cpu(mask, *cpu));
        let first = cpus.next().unwrap_or(here);
        match wakeplace_sched_ext::test_cpu(mask, here) {
            true => here,
            false => first,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Call};
    use crate::load::{OfferedKernel, OwnCalls};
    use wakeplace_platform::Platform;

    /// sched_setaffinity(2): CPUs that are not there count for nothing, and a set without one that
    /// is there is EINVAL. hikey960 has eight.
    #[test]
    fn a_bound_thread_is_where_it_may_be() {
        let types = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/kernel.btf");
        let types = std::fs::read(types).expect("a kernel's types");
        let kernel = OfferedKernel::new("7.3.0-small", types).expect("a kernel's types");
        let platform = Platform::load("hikey960").expect("a platform");
        let mut own = OwnCalls::new(&platform, &kernel).expect("a caller");
        let mut session = own.session();
        let mut mask = [0_u64];
        let mut with = |word: u64, set: bool| {
            mask[0] = word;
            let call = Call::own(0, [0, 8, mask.as_mut_ptr().addr() as u64, 0, 0, 0]);
            let answer = match set {
                true => session.set_affinity(&call),
                false => session.affinity(&call),
            };
            let Answer::Value(value) = answer else {
                panic!("{answer:?}");
            };
            (value, mask[0], session.cpu_of(&call, 2))
        };
        assert_eq!(with(0, false), (8, 0xff, 2), "not bound");
        assert_eq!(
            with(0b1010_1000, true),
            (0, 0b1010_1000, 3),
            "its first CPU"
        );
        assert_eq!(with(0, false), (8, 0b1010_1000, 3));
        assert_eq!(
            with(0b0100 | 1 << 40, true),
            (0, 0b0100 | 1 << 40, 2),
            "this very CPU"
        );
        assert_eq!(with(0, false), (8, 0b0100, 2));
        let none = -i64::from(libc::EINVAL);
        assert_eq!(with(1 << 40, true), (none, 1 << 40, 2));
    }
}
