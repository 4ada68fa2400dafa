//! bpf(2) without a loader: the calls are made here. So anything can be handed over, many times a
//! second (`fuzz/`, target `bpf`). See docs/guide/schedulers.md, "What the loader sees". What is
//! answered is what a loader's own calls are answered.
//!
//! What must stay: answers go the way of a loader's calls (load/bpf.rs), or fuzzing would try
//! something else. Free: how a command is handed over.
//!
//! Tests by part: `types_that_are_kept_count_as_memory` (`new`, `put`, `call`, `refused`,
//! `addresses`), load/affinity.rs::`a_bound_thread_is_where_it_may_be` (`session`), mutations.rs
//! (`bpf`: `is_attached`, `attached`, `Memory`). `at` and `drop` have no test of their own.
//!
//! Callers: fuzz/src/bpf.rs; nothing of the program itself.
//!
//! Tests: below, fuzz/tests/all/mutations.rs

use super::calls::{Answer, Call, Calls};
use super::known::Known;
use super::serve::Session;
use super::{Attached, Offered, OfferedKernel, known};
use crate::kernel::{Layout, State};
use crate::{ForeignError, Instance};
use std::io;
use std::sync::Arc;
use wakeplace_bpf_vm::{Mode, Vm};
use wakeplace_platform::Platform;

/// The caller's memory: so many bytes of addresses, of which the first ones are there.
const REACH: usize = 4 << 30;
const ROOM: usize = 1 << 20;
/// Where attributes are: behind all else.
const ATTR: usize = ROOM - 4096;
/// As long as one is read; what is not said is 0.
const ATTR_BYTES: usize = 256;

/// A caller of bpf(2).
#[derive(Debug)]
pub struct OwnCalls {
    known: Known,
    vm: Vm,
    state: State,
    calls: Calls,
    memory: Memory,
    kernel: String,
}

impl OwnCalls {
    /// On a modelled machine with the interface of a kernel.
    ///
    /// # Errors
    /// As for a loader.
    pub fn new(platform: &Platform, kernel: &OfferedKernel) -> Result<Self, ForeignError> {
        let offered = Offered {
            platform: platform.clone(),
            kernel: kernel.clone(),
            layout: Arc::new(Layout::of(&kernel.btf, &kernel.release)?),
        };
        let (known, (vm, state)) = known(&offered, "calls of its own")?;
        Ok(Self {
            known,
            vm,
            state,
            calls: Calls::Own(Default::default()),
            memory: Memory::new().map_err(ForeignError::host("memory"))?,
            kernel: kernel.release.clone(),
        })
    }

    /// Writes to the caller's memory, as far as there is some.
    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        let at = at.min(ATTR);
        let bytes = &bytes[..bytes.len().min(ATTR - at)];
        self.memory.put(at, bytes);
    }

    /// Makes a call. Addresses in the attribute are offsets in the caller's memory, and descriptors
    /// numbers of those that were given, from 1. Returns what a loader would see.
    pub fn call(&mut self, command: u32, attr: &[u8]) -> i64 {
        let mut attr = attr[..attr.len().min(ATTR_BYTES)].to_vec();
        attr.resize(ATTR_BYTES, 0);
        for at in addresses(command) {
            let Some(word) = attr.get_mut(*at..at + 8) else {
                continue;
            };
            let low = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            let addr = match low {
                0 => 0,
                low => self.memory.at(low as usize),
            };
            word.copy_from_slice(&addr.to_le_bytes());
        }
        self.memory.put(ATTR, &attr);
        let args = [
            u64::from(command),
            self.memory.at(ATTR),
            attr.len() as u64,
            0,
            0,
            0,
        ];
        let call = Call::own(libc::SYS_bpf, args);
        match self.session().bpf(&call) {
            Answer::Value(value) => value,
            Answer::File(file) => match self.calls.give(&file) {
                Some(number) => number,
                None => -i64::from(libc::ENOMEM),
            },
            Answer::Host | Answer::Tree => -i64::from(libc::ENOSYS),
        }
    }

    /// Who answers: the same session as for a loader.
    pub(super) fn session(&mut self) -> Session<'_> {
        Session {
            vm: &mut self.vm,
            state: &mut self.state,
            known: &mut self.known,
            calls: &self.calls,
            sim: None,
        }
    }

    /// What was refused, by name.
    #[must_use]
    pub fn refused(&self) -> &[String] {
        &self.known.refused
    }

    /// Has a scheduler been attached?
    #[must_use]
    pub fn is_attached(&self) -> bool {
        self.known.attached.is_some()
    }

    /// The scheduler that was attached.
    ///
    /// # Errors
    /// None was, or it cannot be compiled.
    pub fn attached(mut self, mode: Mode) -> Result<Instance, String> {
        let table = self.known.attached.take();
        let mut attached = Attached {
            vm: self.vm.copy().map_err(|fault| fault.to_string())?,
            state: self.state,
            table: table.ok_or("no scheduler was attached")?,
            uncalled: Vec::new(),
        };
        if mode == Mode::Compiled {
            let called: Vec<_> = attached.table.called().collect();
            let compiled = attached.vm.compile(&called);
            compiled.map_err(|fault| fault.to_string())?;
        }
        Ok(Instance::new(attached, &self.kernel, None))
    }
}

/// Lists the offsets at which the attribute of a command has addresses.
fn addresses(command: u32) -> &'static [usize] {
    match command {
        1..=4 | 21 => &[8, 16],
        5 | 15 => &[8],
        10 => &[48],
        18 => &[0],
        _ => &[],
    }
}

/// A stretch of addresses; behind its first bytes there is nothing.
#[derive(Debug)]
struct Memory(*mut u8);

impl Memory {
    /// Room for the caller's memory, with a part that cannot be read behind it.
    fn new() -> io::Result<Self> {
        // SAFETY: a new mapping at a place that the host chooses, and a part of it.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let start = libc::mmap(std::ptr::null_mut(), REACH, libc::PROT_NONE, flags, -1, 0);
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let memory = Self(start.cast());
            match libc::mprotect(start, ROOM, libc::PROT_READ | libc::PROT_WRITE) {
                0 => Ok(memory),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }

    /// The address of an offset.
    fn at(&self, offset: usize) -> u64 {
        self.0.addr() as u64 + offset as u64
    }

    /// `at` and the bytes behind it are there.
    fn put(&mut self, at: usize, bytes: &[u8]) {
        assert!(at <= ROOM && bytes.len() <= ROOM - at);
        // SAFETY: inside the part that is there; nobody else has a reference to it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.add(at), bytes.len()) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` has made.
        unsafe { libc::munmap(self.0.cast(), REACH) };
    }
}

#[cfg(test)]
mod tests {
    use super::OwnCalls;
    use crate::load::OfferedKernel;
    use wakeplace_bpf_vm::budget;
    use wakeplace_platform::Platform;

    /// `BPF_BTF_LOAD`.
    const BTF_LOAD: u32 = 18;

    /// Goal: types that a loader has handed over count, whatever becomes of their descriptors. A
    /// blob of 256 KiB counts twice, and an object 4 KiB: 4 MiB have room for seven.
    #[test]
    fn types_that_are_kept_count_as_memory() {
        let types = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/kernel.btf");
        let types = std::fs::read(types).expect("a kernel's types");
        let kernel = OfferedKernel::new("7.3.0-small", types).expect("a kernel's types");
        let platform = Platform::load("hikey960").expect("a platform");
        let mut own = OwnCalls::new(&platform, &kernel).expect("a caller");
        let strings = (256_u32 << 10) - 24;
        let mut blob = vec![0x9f, 0xeb, 1, 0];
        for word in [24, 0, 0, 0, strings] {
            blob.extend(word.to_le_bytes());
        }
        blob.resize(256 << 10, 0);
        own.put(4096, &blob);
        let memory = &mut own.vm.memory;
        let mut step = budget::BYTES;
        while step >= 64 {
            step = if memory.reserve(step).is_ok() {
                step
            } else {
                step / 2
            };
        }
        memory.give_back(4 << 20);
        let mut attr = [0; 20];
        attr[..8].copy_from_slice(&4096_u64.to_le_bytes());
        attr[16..].copy_from_slice(&(256_u32 << 10).to_le_bytes());
        let loaded = (0..20).take_while(|_| own.call(BTF_LOAD, &attr) > 0);
        assert_eq!(loaded.count(), 7);
        let refused = own.refused().join("; ");
        assert!(refused.contains("1 GiB, is full"), "{refused}");
    }
}
