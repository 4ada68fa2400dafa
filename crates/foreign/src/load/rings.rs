//! Ring buffers that the loader waits for. The host's kernel knows nothing of their records: in its
//! place a counter of ours is waited for (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: a loader that waits for a ring wakes when records are there, never by the host's
//! timing. Free: how a ring's counter is watched.
//!
//! Tests by part: `a_loader_runs_in_virtual_time` (`watch_ring`, `ring`, `count_records`,
//! `counter`: "late 1" is its record of a ring buffer; `watched`, `found`, `add`, `set`: its timer
//! is polled and read).
//!
//! Callers: load/serve.rs (`watch_ring`, from epoll_ctl), load/waits.rs (`watched`, `found`),
//! load/threads.rs (`count_records`), load/clocks.rs (`add`, `set`, for timers).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_loader_runs_in_virtual_time

use super::calls::{Answer, Call};
use super::known::{Known, Object};
use super::serve::Session;
use super::waits::Watch;
use crate::guard::checked;
use std::collections::btree_map::Entry;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use wakeplace_bpf_vm::{MapKind, Vm};

/// A new counter (eventfd) of this process.
pub(super) fn counter(flags: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: a new descriptor, which nobody else has.
    unsafe {
        match libc::eventfd(0, flags | libc::EFD_CLOEXEC) {
            fd if fd < 0 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// What a descriptor is ready for, of what is asked.
pub(super) fn found(fd: &OwnedFd, events: libc::c_short) -> libc::c_short {
    let mut poll = libc::pollfd {
        fd: fd.as_raw_fd(),
        events,
        revents: 0,
    };
    // SAFETY: one descriptor of ours.
    unsafe { libc::poll(&raw mut poll, 1, 0) };
    poll.revents
}

/// Adds to a counter.
pub(super) fn add(counter: &OwnedFd, count: u64) {
    let word = count.to_ne_bytes();
    // SAFETY: eight bytes of ours to a descriptor of ours.
    unsafe { libc::write(counter.as_raw_fd(), word.as_ptr().cast(), 8) };
}

/// Sets a counter to this, whatever it was: it is ready to be read if that is not 0.
pub(super) fn set(counter: &OwnedFd, count: u64) {
    if found(counter, libc::POLLIN) != 0 {
        let mut word = [0_u8; 8];
        // SAFETY: eight bytes of ours from a descriptor of ours that has them.
        unsafe { libc::read(counter.as_raw_fd(), word.as_mut_ptr().cast(), 8) };
    }
    if count > 0 {
        add(counter, count);
    }
}

impl Known {
    /// The counters say which buffers hold records now.
    pub(super) fn count_records(&self, vm: &Vm) {
        for (number, counter) in &self.rings {
            set(counter, vm.has_records(*number).into());
        }
    }
}

impl Session<'_> {
    /// The counter of a ring buffer.
    fn ring(&mut self, number: usize) -> Option<&OwnedFd> {
        let is_ring = |map: &wakeplace_bpf_vm::Map| map.spec.kind == MapKind::RingBuffer;
        if !self.vm.map(number).is_some_and(is_ring) {
            return None;
        }
        Some(match self.known.rings.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(counter(0).ok()?),
        })
    }

    /// `epoll_ctl(set, operation, ring buffer, event)`: carried out with its counter.
    pub(super) fn watch_ring(&mut self, call: &Call, number: usize) -> Answer {
        let [set, operation, _, at, ..] = call.args;
        let event = match at {
            0 => Some(vec![0; size_of::<libc::epoll_event>()]),
            at => call.read(at, size_of::<libc::epoll_event>() as u64),
        };
        let (Some(mut event), Some(set)) = (event, self.descriptor(call, set as u32)) else {
            return Answer::error(libc::EFAULT);
        };
        let Some(ring) = self.ring(number) else {
            let name = self.vm.map(number).map_or("", |map| map.spec.name.as_str());
            let what = format!("map `{name}`: to wait for it is not offered");
            return self.refuse(what);
        };
        let event = event.as_mut_ptr().cast();
        // SAFETY: descriptors of ours, and an event of that size.
        let done =
            unsafe { libc::epoll_ctl(set.as_raw_fd(), operation as i32, ring.as_raw_fd(), event) };
        Answer::of(checked(done.into()).map(drop))
    }

    /// What stands for a descriptor of the loader's in a wait.
    pub(super) fn watched(&mut self, call: &Call, fd: u32, answer_at: u64) -> Option<Watch> {
        let ring = match self.object(call, fd) {
            Some(Object::Map(number)) => Some(*number),
            _ => None,
        };
        let ring = ring.and_then(|number| self.ring(number)?.try_clone().ok());
        let stands = ring.is_some();
        let fd = match ring {
            Some(counter) => counter,
            None => self.descriptor(call, fd)?,
        };
        Some(Watch {
            fd,
            stands,
            answer_at,
        })
    }
}
