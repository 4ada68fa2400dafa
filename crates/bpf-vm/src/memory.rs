//! The memory that BPF programs see.
//!
//! It is one region with addresses of its own. A program's address is checked against it before it
//! is used, so a program reaches nothing else. Addresses do not depend on where the host put the
//! region: equal runs see equal pointers.
//!
//! ```text
//! BASE           the first page is never written
//! BASE + 4 KiB   stack of the programs
//! ...            the heap: values of maps, objects of the kernel
//! BASE + 4 GiB   the arena, as far as its map has pages
//! BASE + 8 GiB   end
//! ```
//!
//! An instruction adds at most 32 KiB to a register, either way. The host has so many bytes more
//! before the region, and twice as many behind it, which nobody writes. So a load whose register
//! points into the region needs no other check, and one whose register does not reads the middle of
//! what is behind: 0 (docs/decisions/058).
//!
//! What must stay: addresses by the table above (programs keep them), and that a copy has the same
//! ones; what is not handed out cannot be written. Free: how free blocks are kept, and how the host
//! maps the region. Tests by part: `what_was_not_handed_out_is_not_written` (`is_writable`),
//! `what_is_freed_twice_is_free_once` (`free`, `alloc`, `rounded`), `the_page_of_zeros_stays`
//! (`LOWEST`), `a_load_goes_by_its_register` (`load`, `holds`, `offset`),
//! `keys_of_maps_count_as_memory` (`reserve`), maps.rs::`values_of_queues_count_as_memory` (`copy`,
//! `bump`), maps.rs::`values_with_fields_of_the_kernel_are_given_up` (`retire`, `has_retired`,
//! `take_retired`), programs.rs::`a_load_from_a_wild_address_is_0_and_a_store_is_a_fault` (`store`,
//! `bytes_mut`), crates/cli/tests/all/syscall_programs.rs::`a_program_gives_what_a_kernel_gives`
//! (`string`). `share`, `share_at`, `give_back`, `new`, `set_arena` and `drop` have no test of
//! their own. Callers: vm.rs, map/mod.rs, helpers; crates/foreign (`share`, `share_at`,
//! `give_back`).
//!
//! Tests: crates/bpf-vm/tests/all/programs.rs, crates/bpf-vm/tests/all/budget.rs,
//! crates/bpf-vm/tests/all/maps.rs,
//! crates/bpf-vm/tests/all/same.rs::a_store_at_a_shifted_address_stays_inside

use crate::{Fault, budget};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::os::fd::BorrowedFd;

/// Where programs see the region.
pub const BASE: u64 = 0x6000_0000_0000;
/// Bytes of it.
pub const SIZE: u64 = 8 << 30;
/// Where programs see the arena.
pub const ARENA: u64 = BASE + (4 << 30);
/// A page.
pub const PAGE: u64 = 4096;
/// The first byte that a program may write.
pub(crate) const LOWEST: u64 = BASE + PAGE;
/// What an instruction's offset adds to a register at most.
const REACH: u64 = 1 << 15;
/// Where a load through a wild pointer reads, from `BASE`.
pub(crate) const NOWHERE: u64 = SIZE + REACH;
/// The arena where there is none: programs may write there anyway.
const NO_ARENA: (u64, u64) = (LOWEST, 8);
/// What is before and behind the region, as the host has it.
const BEFORE: u64 = REACH;
const BEHIND: u64 = 2 * REACH + PAGE;

// Compiled code looks at the upper bits of a pointer.
const _: () = assert!(SIZE.is_power_of_two() && BASE.is_multiple_of(SIZE));

/// Bytes of one frame of the stack (`MAX_BPF_STACK`, include/linux/filter.h).
pub(crate) const FRAME: u64 = 512;
/// Bytes of all frames: eight calls, each with a callback in it, twice over. So many frames nest
/// that their own stack must be small, too (`jit::MAX_NATIVE_FRAME`).
const STACK: u64 = 64 << 10;
/// Where the stack begins; it grows downwards.
pub(crate) const STACK_TOP: u64 = LOWEST + STACK;
/// The lowest frame may begin here.
pub(crate) const STACK_BOTTOM: u64 = LOWEST;
/// What the heap may hold.
const HEAP_END: u64 = BASE + budget::BYTES;
/// Objects are aligned to a cache line, as the kernel's slabs are.
const ALIGN: u64 = 64;

/// A value whose element has left its map. What its fields hold is the kernel's around the programs
/// to give up (timers, objects in lists and behind pointers), so its room is not free yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retired {
    /// Where it is; of a map with a value per CPU, all of them.
    pub at: u64,
    /// Bytes of it.
    pub bytes: u64,
    /// Where it may have pointers to objects (`__kptr`).
    pub pointers: Vec<u64>,
}

/// The region.
#[derive(Debug)]
pub struct Memory {
    host: *mut u8,
    /// The end of what the heap has handed out.
    next: u64,
    /// Bytes outside the region that count as the heap's.
    reserved: u64,
    /// Bytes that are handed out and not free.
    in_use: u64,
    /// Freed objects by size.
    free: BTreeMap<u64, Vec<u64>>,
    /// What deleted elements have left behind.
    retired: Vec<Retired>,
    /// The arena: where it begins, and its bytes.
    arena: (u64, u64),
    /// Shared with the process that loads: (offset, bytes).
    shared: Vec<(u64, u64)>,
}

// SAFETY: the mapping belongs to this value alone; nothing in it is tied to a thread.
unsafe impl Send for Memory {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for Memory {}

impl Memory {
    /// An empty region.
    ///
    /// # Errors
    /// When the host has no room for it.
    pub fn new() -> Result<Self, Fault> {
        let length = (BEFORE + SIZE + BEHIND) as usize;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place that the host chooses.
        let host = unsafe { mmap_anonymous(std::ptr::null_mut(), length, prot, flags) };
        let host = host.map_err(|error| Fault::Host(format!("8 GiB of address space: {error}")))?;
        // SAFETY: the mapping goes on behind it.
        let host = unsafe { host.cast::<u8>().add(BEFORE as usize) };
        Ok(Self {
            host,
            next: STACK_TOP,
            reserved: 0,
            in_use: 0,
            free: BTreeMap::new(),
            retired: Vec::new(),
            arena: NO_ARENA,
            shared: Vec::new(),
        })
    }

    /// Gives where the host has the region; compiled programs use it.
    pub(crate) fn host(&self) -> *mut u8 {
        self.host
    }

    /// Where an address is within the region; None: not all of it is inside.
    #[inline]
    fn offset(addr: u64, len: u64) -> Option<usize> {
        let at = addr.wrapping_sub(BASE);
        (at < SIZE && len <= SIZE - at).then_some(at as usize)
    }

    /// Does a pointer point into the region?
    #[inline]
    pub(crate) fn holds(addr: u64) -> bool {
        Self::offset(addr, 0).is_some()
    }

    /// Bytes of the region, if they are in it.
    #[inline]
    #[must_use]
    pub fn bytes(&self, addr: u64, len: u64) -> Option<&[u8]> {
        let at = Self::offset(addr, len)?;
        // SAFETY: inside the mapping; whoever shares it waits for our answer meanwhile.
        Some(unsafe { std::slice::from_raw_parts(self.host.add(at), len as usize) })
    }

    /// Bytes of the stack and the heap from `LOWEST` on: what is behind has not been handed out.
    pub(crate) fn heap(&self) -> u64 {
        self.next - LOWEST
    }

    /// Where the arena is; without one a place in the stack.
    pub(crate) fn arena(&self) -> (u64, u64) {
        self.arena
    }

    /// From now on the arena is there. None: there is none.
    pub(crate) fn set_arena(&mut self, arena: Option<(u64, u64)>) {
        self.arena = arena.unwrap_or(NO_ARENA);
    }

    /// May so many bytes be written? What was not handed out may not: it takes no room of the
    /// host's, and is zero when it is.
    #[inline]
    fn is_writable(&self, addr: u64, len: u64) -> bool {
        let inside =
            |(from, bytes): (u64, u64)| len <= bytes && addr.wrapping_sub(from) <= bytes - len;
        inside((LOWEST, self.heap())) || inside(self.arena)
    }

    /// Gives bytes at an address to be written; the first page is not, nor what has not been handed
    /// out.
    ///
    /// # Errors
    /// When they are outside.
    #[inline]
    pub fn bytes_mut(&mut self, addr: u64, len: u64) -> Result<&mut [u8], Fault> {
        match Self::offset(addr, len) {
            Some(at) if self.is_writable(addr, len) => {
                // SAFETY: inside the mapping, and `self` is borrowed for as long.
                Ok(unsafe { std::slice::from_raw_parts_mut(self.host.add(at), len as usize) })
            }
            _ => Err(Fault::WildStore { addr }),
        }
    }

    /// Reads a word of 1, 2, 4 or 8 bytes. Outside the region it reads 0, as the kernel's loads
    /// through pointers that may be bad do (`BPF_PROBE_MEM`).
    #[inline]
    #[must_use]
    pub fn load(&self, addr: u64, bytes: u64) -> u64 {
        let Some(found) = self.bytes(addr, bytes) else {
            return 0;
        };
        // One instruction each: a copy of so many bytes as a variable says is a call.
        match *found {
            [a] => u64::from(a),
            [a, b] => u64::from(u16::from_le_bytes([a, b])),
            [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => {
                let mut word = [0; 8];
                word[..found.len()].copy_from_slice(found);
                u64::from_le_bytes(word)
            }
        }
    }

    /// Writes the low bytes of a word.
    ///
    /// # Errors
    /// Outside the region.
    #[inline]
    pub fn store(&mut self, addr: u64, bytes: u64, value: u64) -> Result<(), Fault> {
        let to = self.bytes_mut(addr, bytes)?;
        let word = value.to_le_bytes();
        // As for `load`.
        match to {
            [a] => *a = word[0],
            [_, _] => to.copy_from_slice(&word[..2]),
            [_, _, _, _] => to.copy_from_slice(&word[..4]),
            [_, _, _, _, _, _, _, _] => to.copy_from_slice(&word),
            _ => to.copy_from_slice(&word[..bytes as usize]),
        }
        Ok(())
    }

    /// Loads four bytes.
    #[inline]
    #[must_use]
    pub fn u32(&self, addr: u64) -> u32 {
        self.load(addr, 4) as u32
    }

    /// Loads eight bytes.
    #[inline]
    #[must_use]
    pub fn u64(&self, addr: u64) -> u64 {
        self.load(addr, 8)
    }

    /// Writes eight bytes of an object of the kernel; a program's own address goes to `store`.
    #[inline]
    pub fn set_u64(&mut self, addr: u64, value: u64) {
        let inside = self.store(addr, 8, value);
        debug_assert!(inside.is_ok(), "an object of the kernel at {addr:#x}");
    }

    /// Writes four bytes of an object of the kernel.
    #[inline]
    pub fn set_u32(&mut self, addr: u64, value: u32) {
        let inside = self.store(addr, 4, u64::from(value));
        debug_assert!(inside.is_ok(), "an object of the kernel at {addr:#x}");
    }

    /// A C string, up to `most` bytes.
    #[must_use]
    pub fn string(&self, addr: u64, most: u64) -> String {
        let end = BASE + SIZE;
        let room = most.min(end.saturating_sub(addr));
        let Some(at) = Self::offset(addr, room) else {
            return String::new();
        };
        let mut text = Vec::new();
        for index in 0..room as usize {
            // SAFETY: inside the mapping. A thread of a loader may write here meanwhile: each byte
            // is read once, and what is looked at is our copy.
            let byte = unsafe { self.host.add(at + index).read_volatile() };
            if byte == 0 {
                break;
            }
            text.push(byte);
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Blocks have multiples of `ALIGN`.
    fn rounded(bytes: u64) -> u64 {
        bytes.max(1).next_multiple_of(ALIGN)
    }

    /// Zeroed room on the heap.
    ///
    /// # Errors
    /// When the heap is full.
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, Fault> {
        let size = Self::rounded(bytes);
        self.in_use += size;
        if let Some(addr) = self.free.get_mut(&size).and_then(Vec::pop) {
            self.bytes_mut(addr, size)?.fill(0);
            return Ok(addr);
        }
        self.bump(size, ALIGN)
    }

    /// Fresh room at the end of the heap, below what is reserved.
    fn bump(&mut self, size: u64, align: u64) -> Result<u64, Fault> {
        let addr = self.next.next_multiple_of(align);
        let last = HEAP_END - self.reserved;
        let end = addr.checked_add(size).filter(|end| *end <= last);
        self.next = end.ok_or(Fault::HeapFull)?;
        Ok(addr)
    }

    /// Counts bytes as the heap's that are kept elsewhere.
    ///
    /// # Errors
    /// When the heap is full.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), Fault> {
        match bytes <= HEAP_END - self.reserved - self.next {
            true => {
                self.reserved += bytes;
                Ok(())
            }
            false => Err(Fault::HeapFull),
        }
    }

    /// Such bytes are no longer kept.
    pub fn give_back(&mut self, bytes: u64) {
        self.reserved = self.reserved.saturating_sub(bytes);
    }

    /// Gives room back that `alloc` handed out for so many bytes. A program can say so of the same
    /// object again and again: never is more free than was handed out.
    pub fn free(&mut self, addr: u64, bytes: u64) {
        let size = Self::rounded(bytes);
        if let Some(left) = self.in_use.checked_sub(size) {
            self.in_use = left;
            self.free.entry(size).or_default().push(addr);
        }
    }

    /// The value of a deleted element is to be looked at before its room is free.
    pub(crate) fn retire(&mut self, value: Retired) {
        self.retired.push(value);
    }

    /// Is there such a value?
    #[inline]
    #[must_use]
    pub fn has_retired(&self) -> bool {
        !self.retired.is_empty()
    }

    /// Values of elements deleted since the last question. Who asks gives their room back (`free`).
    pub fn take_retired(&mut self) -> Vec<Retired> {
        std::mem::take(&mut self.retired)
    }

    /// Whole pages on the heap that are those of `file`, as far as the file goes.
    ///
    /// # Errors
    /// When the heap is full, or the host refuses.
    pub fn share(&mut self, file: BorrowedFd<'_>, bytes: u64) -> Result<u64, Fault> {
        let size = bytes.next_multiple_of(PAGE);
        let addr = self.bump(size, PAGE)?;
        self.share_at(file, addr, size)?;
        Ok(addr)
    }

    /// Maps a file as `share` does, at a given place: the arena's.
    ///
    /// # Errors
    /// When it does not fit, or the host refuses.
    pub fn share_at(&mut self, file: BorrowedFd<'_>, addr: u64, size: u64) -> Result<(), Fault> {
        let outside = || Fault::Host("pages of a file outside the region".to_owned());
        let at = Self::offset(addr, size).ok_or_else(outside)?;
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: the place is inside our own mapping, which nothing borrows now.
        let mapped = unsafe {
            let place: *mut c_void = self.host.add(at).cast();
            mmap(place, size as usize, prot, flags, file, 0)
        };
        mapped.map_err(|error| Fault::Host(format!("pages of a map: {error}")))?;
        self.shared.push((at as u64, size));
        Ok(())
    }

    /// A copy of what is in it, shared with nobody. `arena`: those pages of the arena that have
    /// something in them.
    ///
    /// # Errors
    /// When the host has no room.
    pub fn copy(&self, arena: &[u64]) -> Result<Self, Fault> {
        let mut copy = Self::new()?;
        copy.next = self.next;
        copy.reserved = self.reserved;
        copy.in_use = self.in_use;
        copy.free.clone_from(&self.free);
        copy.retired.clone_from(&self.retired);
        copy.arena = self.arena;
        let heap = self.heap();
        let from = self.bytes(LOWEST, heap).unwrap_or_default();
        let to = copy.bytes_mut(LOWEST, heap)?;
        // What was never written takes no room in the copy, either.
        let pages = from.chunks(PAGE as usize).zip(to.chunks_mut(PAGE as usize));
        for (from, to) in pages.filter(|(from, _)| from.iter().any(|byte| *byte != 0)) {
            to.copy_from_slice(from);
        }
        for page in arena {
            let addr = ARENA + page * PAGE;
            let from = self.bytes(addr, PAGE).unwrap_or_default();
            copy.bytes_mut(addr, PAGE)?.copy_from_slice(from);
        }
        Ok(copy)
    }
}

impl Drop for Memory {
    /// Unmaps region and guard spaces.
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length, and nothing points into it.
        let unmapped = unsafe {
            let start = self.host.sub(BEFORE as usize).cast();
            munmap(start, (BEFORE + SIZE + BEHIND) as usize)
        };
        debug_assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}
