//! The memory of a kernel: what it asked for and did not give back goes with it
//! (docs/guide/kernel.md, "In a run").
//!
//! What must stay: blocks are zeroed, and where the host put them decides nothing. Free: how blocks
//! are taken from the host.
//!
//! Tests by part: `memory_is_zeroed_and_given_back_once` (`alloc`, `free`),
//! `a_stack_can_be_written_to_its_end` (`stack`, `stack_free`). `drop` has no test of its own.
//!
//! Callers: kernel/host.rs.
//!
//! Tests: below

use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap,
};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;

/// Below each stack: an access there is a stack overflow, and ends the run.
const GUARD: usize = 4096;

/// What is bigger lies in huge pages where the system has them: a kernel's accesses are spread over
/// all of it, and most would miss the TLB.
const HUGE: usize = 4 << 20;

/// What a kernel has of its host's memory.
#[derive(Debug, Default)]
pub(super) struct Memory {
    blocks: BTreeMap<usize, Layout>,
    /// Mappings with their guards: address and length.
    stacks: BTreeMap<usize, usize>,
}

impl Memory {
    /// Zeroed; null if there is no more.
    pub(super) fn alloc(&mut self, size: u64, align: u64) -> *mut c_void {
        let size = usize::try_from(size).unwrap_or(usize::MAX).max(1);
        let align = usize::try_from(align).unwrap_or(usize::MAX).max(16);
        let Ok(layout) = Layout::from_size_align(size, align) else {
            return ptr::null_mut();
        };
        // SAFETY: the layout has a size.
        let block = unsafe { alloc_zeroed(layout) };
        if !block.is_null() {
            self.blocks.insert(block.expose_provenance(), layout);
        }
        if size >= HUGE && !block.is_null() {
            let before = block.addr().next_multiple_of(GUARD) - block.addr();
            let whole = (size - before) / GUARD * GUARD;
            let start = block.wrapping_add(before).cast();
            // SAFETY: whole pages of the block. Advice changes nothing that is in them.
            let _ = unsafe { madvise(start, whole, Advice::LinuxHugepage) };
        }
        block.cast()
    }

    /// What was not given out is left alone.
    pub(super) fn free(&mut self, block: *mut c_void) {
        if let Some(layout) = self.blocks.remove(&block.addr()) {
            // SAFETY: `alloc` gave it out with this layout, and nobody has given it back.
            unsafe { dealloc(block.cast(), layout) };
        }
    }

    /// The lowest address of a stack above a guard page; null if there is no more.
    pub(super) fn stack(&mut self, size: u64) -> *mut c_void {
        let size = usize::try_from(size).unwrap_or(0).next_multiple_of(GUARD);
        let Some(length) = size.checked_add(GUARD).filter(|_| size > 0) else {
            return ptr::null_mut();
        };
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at a place of the system's choice.
        let mapped = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                length,
                access,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        };
        let Ok(start) = mapped else {
            return ptr::null_mut();
        };
        // SAFETY: the first page of that mapping, which nobody uses yet.
        if unsafe { mprotect(start, GUARD, MprotectFlags::empty()) }.is_err() {
            // SAFETY: as above.
            let _ = unsafe { munmap(start, length) };
            return ptr::null_mut();
        }
        self.stacks.insert(start.expose_provenance(), length);
        start.wrapping_byte_add(GUARD)
    }

    /// What was not given out is left alone.
    pub(super) fn stack_free(&mut self, stack: *mut c_void) {
        let start = stack.wrapping_byte_sub(GUARD);
        if let Some(length) = self.stacks.remove(&start.addr()) {
            // SAFETY: `stack` gave it out with this length, and nobody has given it back.
            let _ = unsafe { munmap(start, length) };
        }
    }
}

impl Drop for Memory {
    /// What the kernel did not give back goes with it.
    fn drop(&mut self) {
        for (address, layout) in std::mem::take(&mut self.blocks) {
            let block = ptr::with_exposed_provenance_mut::<u8>(address);
            // SAFETY: as in `free`.
            unsafe { dealloc(block, layout) };
        }
        for (address, length) in std::mem::take(&mut self.stacks) {
            let start = ptr::with_exposed_provenance_mut::<c_void>(address);
            // SAFETY: as in `stack_free`.
            let _ = unsafe { munmap(start, length) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_and_given_back_once() {
        let mut memory = Memory::default();
        let block = memory.alloc(100, 64);
        assert_eq!(block.addr() % 64, 0);
        // SAFETY: 100 bytes that were just given out.
        let bytes = unsafe { std::slice::from_raw_parts(block.cast::<u8>(), 100) };
        assert!(bytes.iter().all(|byte| *byte == 0));
        memory.free(block);
        memory.free(block);
        memory.free(ptr::null_mut());
        assert!(memory.alloc(u64::MAX, 16).is_null());
        assert!(memory.alloc(8, 24).is_null());
    }

    #[test]
    fn a_stack_can_be_written_to_its_end() {
        let mut memory = Memory::default();
        let stack = memory.stack(10_000);
        // SAFETY: three pages that were just given out.
        unsafe {
            stack.cast::<u8>().write(1);
            stack.cast::<u8>().add(10_000).write(1);
        }
        memory.stack_free(stack);
        memory.stack_free(stack);
        assert!(memory.stack(0).is_null());
        memory.stack(4096);
    }
}
