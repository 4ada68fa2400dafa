//! What the page calls, and what it is called with: addresses and lengths. The page
//! (`site/playground/worker.js`) calls these by name (docs/guide/playground.md).
//!
//! An address with its length is all that crosses. One thread calls.
//!
//! What must stay: names and types of the exported functions and of `progress`, which
//! `site/playground/worker.js` calls and gives; who takes a room owns it, and each room is given
//! back once. No test of its own (`tell`, `start`, `room`, `taken`, `file`, `ask`, `last_words`,
//! `exhausted`, `said`): `cargo xtask playground-test`, which CI runs, compares the module's
//! answers with the program's in Node.js. Free: how answers are kept until the page has read them.
//!
//! Tests: xtask/src/gives/playground.rs

use crate::answer::{Asked, answer};
use crate::memory::EXHAUSTED;
use std::cell::RefCell;
use std::sync::atomic::Ordering;

/// Largest file that is taken, bytes. The command line takes larger recordings; a browser's memory
/// does not hold them.
const FILE_LIMIT_BYTES: usize = 256 << 20;

thread_local! {
    static ASKED: RefCell<Asked> = RefCell::new(Asked::default());
    static LAST_WORDS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[cfg(target_family = "wasm")]
#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// The page's own function: so many of all runs are done.
    fn progress(done: u32, total: u32);
}

/// Tells the page that so many of all runs are done.
#[cfg(target_family = "wasm")]
pub(crate) fn tell(done: usize, total: usize) {
    // SAFETY: numbers only.
    unsafe { progress(done as u32, total as u32) }
}

/// Does nothing: outside of a browser there is no page.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn tell(_done: usize, _total: usize) {}

/// Keeps what a panic says.
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    std::panic::set_hook(Box::new(|panic| {
        let words = panic.to_string();
        LAST_WORDS.with_borrow_mut(|last| *last = words.into_bytes());
    }));
}

/// Room for so many bytes, or null.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    let mut room = Vec::new();
    if bytes > FILE_LIMIT_BYTES || room.try_reserve_exact(bytes).is_err() {
        return std::ptr::null_mut();
    }
    room.resize(bytes, 0u8);
    Box::into_raw(room.into_boxed_slice()).cast()
}

/// Takes a room back.
///
/// # Safety
/// `at` is from [`room`] with the same length, and was not taken before.
unsafe fn taken(at: *mut u8, bytes: usize) -> Box<[u8]> {
    // SAFETY: see above.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, bytes)) }
}

/// Keeps a file under a name.
///
/// # Safety
/// Both are rooms of these lengths that were not given to this module before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn file(name: *mut u8, name_len: usize, bytes: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    let (name, bytes) = unsafe { (taken(name, name_len), taken(bytes, len)) };
    let name = String::from_utf8_lossy(&name).into_owned();
    ASKED.with_borrow_mut(|asked| asked.keep(name, bytes.into()));
}

/// Answers a question.
///
/// # Safety
/// As for [`file`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ask(text: *mut u8, len: usize) -> *const u8 {
    // SAFETY: the caller's promise.
    let text = unsafe { taken(text, len) };
    ASKED.with_borrow(|asked| said(answer(&text, asked).as_bytes()))
}

/// What a panic said.
#[unsafe(no_mangle)]
pub extern "C" fn last_words() -> *const u8 {
    LAST_WORDS.with_borrow(|words| said(words))
}

/// 1 if memory could not be had.
#[unsafe(no_mangle)]
pub extern "C" fn exhausted() -> u32 {
    u32::from(EXHAUSTED.load(Ordering::Relaxed))
}

/// Length and text. A worker answers a few questions, so the room is not given back.
fn said(text: &[u8]) -> *const u8 {
    let mut whole = (text.len() as u32).to_le_bytes().to_vec();
    whole.extend_from_slice(text);
    Box::into_raw(whole.into_boxed_slice()).cast()
}
