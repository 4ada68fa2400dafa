//! The module's memory is bounded; a run that wants more ends in a trap, and the page says why
//! (docs/guide/playground.md, "Limits").
//!
//! Callers: Rust's allocator interface (`alloc` to `realloc`), door.rs (`exhausted` reads the
//! flag).
//!
//! What must stay: nothing is changed but that a refusal is noted: the flag is what `exhausted()`
//! gives the page after a trap. No test of its own (`alloc`, `dealloc`, `alloc_zeroed`, `realloc`,
//! `noted`): `cargo xtask playground-test`, which CI runs, lets a run want more than there is
//! (scripts/playground/drive.mjs). Free: where the flag is.
//!
//! Tests: xtask/src/gives/playground.rs

use std::sync::atomic::AtomicBool;
#[cfg(target_family = "wasm")]
use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::Ordering,
};

/// Memory could not be had.
pub(crate) static EXHAUSTED: AtomicBool = AtomicBool::new(false);

/// Notes that memory could not be had: the failure itself ends in a trap without words.
#[cfg(target_family = "wasm")]
struct Noting;

// SAFETY: all is handed to the system's allocator as it is.
#[cfg(target_family = "wasm")]
unsafe impl GlobalAlloc for Noting {
    /// Allocates as the system does; a refusal is noted.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of `alloc`, which are the same there.
        noted(unsafe { System.alloc(layout) })
    }

    /// Frees as the system does.
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the block is from the same allocator.
        unsafe { System.dealloc(at, layout) }
    }

    /// Allocates zeroed memory as the system does; a refusal is noted.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for `alloc`.
        noted(unsafe { System.alloc_zeroed(layout) })
    }

    /// Reallocates as the system does; a refusal is noted.
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for `dealloc`.
        noted(unsafe { System.realloc(at, layout, size) })
    }
}

/// Notes that memory could not be had, and hands the address on.
#[cfg(target_family = "wasm")]
fn noted(at: *mut u8) -> *mut u8 {
    if at.is_null() {
        EXHAUSTED.store(true, Ordering::Relaxed);
    }
    at
}

#[cfg(target_family = "wasm")]
#[global_allocator]
static MEMORY: Noting = Noting;
