//! What a kernel asks of and tells to its host. What the kernel calls must not unwind into it
//! (docs/guide/kernel.md, "In a run").
//!
//! A C function without a comment is the entry of wpk_host of that name, which hands over to
//! `Host`. What must stay: order of the table's fields, and that none of them unwinds. Free: what
//! is done with words that the kernel says.
//!
//! Tests by part: `a_kernel_is_booted_entered_and_left` (`table`, `context`, `log`, `words`,
//! `warned`, `fault`, `frequency`, `placed`, `list`, `into_host`), `calls_are_what_the_header_says`
//! (`done`), `addresses_have_names` (`FaultEntries`: `backtrace`, `is_in_guard`, `known_address`),
//! `each_kernel_has_its_own_state` (`alloc`, `free`, `stack`, `stack_free`),
//! crates/cli/tests/all/kernel_diff.rs::`the_cores_signals_are_the_kernels` (`signal`, `updated`).
//! `die`, `requested`, `turned`, `balanced` and `number` have no test of their own.
//!
//! Callers: kernel/mod.rs (`table`, `new`), the kernel itself (the C functions),
//! crates/kernel-run/src/faults.rs (`FaultEntries`).
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs, crates/kernel-tree/tests/all/real_tree.rs

use super::Updated;
use super::abi::{ABI, Choice, Energy, Facts, HostTable, Party, RawDecision};
use super::balances::{Balance, RawBalance};
use super::memory::Memory;
use super::signals::{FreqAsked, RawRequest, Signal};
use super::turns::{RawTurn, Turn};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;
use std::slice;

/// Hears what a kernel says, while an entry is under way. The kernel itself cannot be called then.
/// Each function runs on the stack of a task of the kernel, which is small, and must not panic: a
/// panic ends the process.
pub trait Host {
    /// Takes a line of printk for the run's words.
    fn log(&mut self, level: u32, text: &str);
    /// A WARN: the run's outcome is a warning.
    fn warned(&mut self, text: &str);
    /// The run is over. The entry that is under way comes back with [`super::Refused::Dead`].
    fn fault(&mut self, kind: Fault, text: &str);
    /// A frequency domain has another frequency from now on.
    fn frequency(&mut self, domain: u32, khz: u32);
    /// A CPU was chosen for a task.
    fn placed(&mut self, decision: &Decision<'_>);
    /// What was under way is done: with a number, or an error as a negative one.
    fn done(&mut self, ticket: u64, result: i64);
    /// A signal is up to date. Told only if asked for ([`super::Kernel::set_signals`]).
    fn updated(&mut self, updated: Updated) {
        let _ = updated;
    }
}

/// Why a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// BUG or panic.
    Panic,
    /// A CPU took a lock twice.
    Deadlock,
    /// The shim lacks a function, whose name is the text.
    Missing,
    /// CPUs wait for each other for ever.
    Endless,
    /// A rule of the interface was broken.
    Shim,
    /// What the host itself found: wild access, stack overflow, too long.
    Host,
    /// A busy CPU has no tick, or its clock stands.
    Still,
}

impl Fault {
    /// A number that is not known counts as the shim's fault.
    fn of(kind: u32) -> Self {
        match kind {
            1 => Self::Panic,
            2 => Self::Deadlock,
            3 => Self::Missing,
            4 => Self::Endless,
            6 => Self::Host,
            7 => Self::Still,
            _ => Self::Shim,
        }
    }

    /// Gives the number that wakeplace.h has for it.
    fn number(self) -> u32 {
        match self {
            Self::Panic => 1,
            Self::Deadlock => 2,
            Self::Missing => 3,
            Self::Endless => 4,
            Self::Shim => 5,
            Self::Host => 6,
            Self::Still => 7,
        }
    }
}

/// A CPU was chosen for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// Who, where, why, and the answer.
    pub facts: &'a Facts,
    /// The task; like all that follows, if it was asked for.
    pub party: Party,
    /// Who ran where it was decided.
    pub waking: Party,
    /// All CPUs.
    pub choices: &'a [Choice],
    /// All performance domains, where placement was energy-aware.
    pub energies: &'a [Energy],
}

/// What a handler of signals calls within an entry. Valid as long as the kernel is.
#[derive(Clone, Copy, Debug)]
pub struct FaultEntries {
    pub(super) die: unsafe extern "C" fn(u32, *const c_char) -> !,
    pub(super) backtrace: unsafe extern "C" fn(u64, *mut u64, u32) -> u32,
    pub(super) in_guard: unsafe extern "C" fn(u64) -> u32,
    pub(super) abi: unsafe extern "C" fn() -> u32,
}

impl FaultEntries {
    /// Ends the run: the entry that is under way comes back, this call does not.
    ///
    /// # Safety
    /// An entry is under way on this thread, and what is between it and this call has nothing to
    /// give back: its frames are left behind.
    pub unsafe fn die(&self, kind: Fault, text: &CStr) -> ! {
        // SAFETY: the caller's.
        unsafe { (self.die)(kind.number(), text.as_ptr()) }
    }

    /// Return addresses of the kernel's stack that is in use, the innermost first: how many there
    /// are in `to`. `frame` is the frame pointer to start at, or 0.
    #[must_use]
    pub fn backtrace(&self, frame: u64, to: &mut [u64]) -> usize {
        let room = u32::try_from(to.len()).unwrap_or(u32::MAX);
        // SAFETY: room for as many addresses as is said.
        let found = unsafe { (self.backtrace)(frame, to.as_mut_ptr(), room) };
        to.len().min(found as usize)
    }

    /// An address is in the page below the stack that is in use: a stack overflow.
    #[must_use]
    pub fn is_in_guard(&self, address: u64) -> bool {
        // SAFETY: a number.
        unsafe { (self.in_guard)(address) != 0 }
    }

    /// Gives where the object's function `wpk_abi` is: by it addresses become names
    /// ([`super::Symbols::name`]).
    #[must_use]
    pub fn known_address(&self) -> u64 {
        self.abi as usize as u64
    }
}

/// What the kernel's pointer leads to.
pub(super) struct Context<H> {
    pub(super) host: H,
    memory: Memory,
}

impl<H: Host> Context<H> {
    /// With memory of its own.
    pub(super) fn new(host: H) -> Self {
        Self {
            host,
            memory: Memory::default(),
        }
    }

    /// The kernel is gone: whom it told.
    pub(super) fn into_host(self) -> H {
        self.host
    }

    /// The functions of this host, as the kernel calls them.
    pub(super) fn table(this: NonNull<Self>) -> HostTable {
        HostTable {
            abi: ABI,
            unused: 0,
            data: this.as_ptr().cast(),
            alloc: alloc::<H>,
            free: free::<H>,
            stack: stack::<H>,
            stack_free: stack_free::<H>,
            log: log::<H>,
            warned: warned::<H>,
            fault: fault::<H>,
            frequency: frequency::<H>,
            placed: Some(placed::<H>),
            done: done::<H>,
            signal: Some(signal::<H>),
            requested: Some(requested::<H>),
            turned: Some(turned::<H>),
            balanced: Some(balanced::<H>),
        }
    }
}

/// The context of a callback.
///
/// # Safety
/// `data` is the pointer of the table, and no other reference to the context lives: callbacks do
/// not nest, and while an entry is under way its caller has none.
unsafe fn context<'a, H>(data: *mut c_void) -> &'a mut Context<H> {
    // SAFETY: the caller's.
    unsafe { &mut *data.cast::<Context<H>>() }
}

/// # Safety
/// Null, or a text that ends with a zero.
unsafe fn words(text: *const c_char) -> String {
    match text.is_null() {
        true => String::new(),
        // SAFETY: the caller's.
        false => unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned(),
    }
}

unsafe extern "C" fn alloc<H: Host>(data: *mut c_void, size: u64, align: u64) -> *mut c_void {
    // SAFETY: called by the kernel, with the table's pointer; so are all that follow.
    unsafe { context::<H>(data) }.memory.alloc(size, align)
}

unsafe extern "C" fn free<H: Host>(data: *mut c_void, block: *mut c_void) {
    // SAFETY: as in `alloc`.
    unsafe { context::<H>(data) }.memory.free(block);
}

unsafe extern "C" fn stack<H: Host>(data: *mut c_void, size: u64) -> *mut c_void {
    // SAFETY: as in `alloc`.
    unsafe { context::<H>(data) }.memory.stack(size)
}

unsafe extern "C" fn stack_free<H: Host>(data: *mut c_void, stack: *mut c_void, _size: u64) {
    // SAFETY: as in `alloc`.
    unsafe { context::<H>(data) }.memory.stack_free(stack);
}

unsafe extern "C" fn log<H: Host>(data: *mut c_void, level: u32, text: *const c_char) {
    // SAFETY: as in `alloc`; the kernel's text ends with a zero.
    let (context, text) = unsafe { (context::<H>(data), words(text)) };
    context.host.log(level, text.trim_end_matches('\n'));
}

unsafe extern "C" fn warned<H: Host>(data: *mut c_void, text: *const c_char) {
    // SAFETY: as in `log`.
    let (context, text) = unsafe { (context::<H>(data), words(text)) };
    context.host.warned(text.trim_end_matches('\n'));
}

unsafe extern "C" fn fault<H: Host>(data: *mut c_void, kind: u32, text: *const c_char) {
    // SAFETY: as in `log`.
    let (context, text) = unsafe { (context::<H>(data), words(text)) };
    context
        .host
        .fault(Fault::of(kind), text.trim_end_matches('\n'));
}

unsafe extern "C" fn frequency<H: Host>(data: *mut c_void, domain: u32, khz: u32) {
    // SAFETY: as in `alloc`.
    unsafe { context::<H>(data) }.host.frequency(domain, khz);
}

unsafe extern "C" fn placed<H: Host>(data: *mut c_void, decision: *const RawDecision) {
    // SAFETY: as in `alloc`; the decision lives as long as this call.
    let (context, raw) = unsafe { (context::<H>(data), &*decision) };
    let decision = Decision {
        facts: &raw.facts,
        party: raw.party,
        waking: raw.waking,
        // SAFETY: as many as it says, for as long as this call.
        choices: unsafe { list(raw.choices, raw.nr_choices) },
        // SAFETY: as above.
        energies: unsafe { list(raw.energies, raw.nr_energies) },
    };
    context.host.placed(&decision);
}

unsafe extern "C" fn done<H: Host>(data: *mut c_void, ticket: u64, result: i64) {
    // SAFETY: as in `alloc`.
    unsafe { context::<H>(data) }.host.done(ticket, result);
}

unsafe extern "C" fn signal<H: Host>(data: *mut c_void, signal: *const Signal) {
    // SAFETY: as in `placed`.
    let (context, signal) = unsafe { (context::<H>(data), *signal) };
    context.host.updated(Updated::Signal(signal));
}

unsafe extern "C" fn requested<H: Host>(data: *mut c_void, request: *const RawRequest) {
    // SAFETY: as in `placed`.
    let (context, raw) = unsafe { (context::<H>(data), &*request) };
    let asked = FreqAsked {
        asked: raw.asked,
        // SAFETY: as many as it says, for as long as this call.
        cpus: unsafe { list(raw.cpus, raw.nr_cpus) }.to_vec(),
    };
    context.host.updated(Updated::Freq(asked));
}

unsafe extern "C" fn turned<H: Host>(data: *mut c_void, turn: *const RawTurn) {
    // SAFETY: as in `placed`.
    let (context, raw) = unsafe { (context::<H>(data), &*turn) };
    // SAFETY: as many as it says, for as long as this call.
    let entities = unsafe { list(raw.entities, raw.nr_entities) };
    context
        .host
        .updated(Updated::Turn(Turn::new(raw, entities)));
}

unsafe extern "C" fn balanced<H: Host>(data: *mut c_void, balance: *const RawBalance) {
    // SAFETY: as in `placed`.
    let (context, raw) = unsafe { (context::<H>(data), &*balance) };
    let words = raw.nr_offered * raw.nr_words;
    // SAFETY: as many as it says, for as long as this call.
    let (choices, offered, allowed) = unsafe {
        (
            list(raw.choices, raw.nr_choices),
            list(raw.offered, raw.nr_offered),
            list(raw.allowed, words),
        )
    };
    let told = Balance::new(raw, choices, offered, allowed);
    context.host.updated(Updated::Balance(told));
}

/// # Safety
/// Null, or so many of them, for as long as the list is used.
unsafe fn list<'a, T>(from: *const T, count: u32) -> &'a [T] {
    match from.is_null() {
        true => &[],
        // SAFETY: the caller's.
        false => unsafe { slice::from_raw_parts(from, count as usize) },
    }
}

/// Nobody listens: for tests of what is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deaf;

impl Host for Deaf {
    fn log(&mut self, _: u32, _: &str) {}
    fn warned(&mut self, _: &str) {}
    fn fault(&mut self, _: Fault, _: &str) {}
    fn frequency(&mut self, _: u32, _: u32) {}
    fn placed(&mut self, _: &Decision<'_>) {}
    fn done(&mut self, _: u64, _: i64) {}
}
