//! What can end the process of a run while it is in the tree's code: a fault of the processor, a
//! loop without an end, or the kernel's own words. Each of them is said as the run's outcome.
//!
//! Only the process of a run has these, and it has one thread (docs/guide/kernel.md, "In a run").
//!
//! What must stay: handlers take no lock and no memory; they end the process with words. Times of
//! patience are processor time. Free: words, and how a stack is shown.
//!
//! Tests by part: `no_kind_of_work_makes_it_warn` (`heard`, `end_of_kernel`: a WARN would end the
//! run). `on_fault`, `on_second`, `fatal`, `stack_of`, `read_own`, `names`, `end`, `place` and
//! `take_signals` have no test of their own: a fault of the kernel's shows what they say. `watched`
//! and `booted` run in each run.
//!
//! Callers: runs.rs (`watched`, `booted`), entered.rs (`heard`, `end_of_kernel`), the host's kernel
//! (signals).
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs::no_kind_of_work_makes_it_warn

use crate::process::Said;
use crate::stream::Message;
use std::cell::{Cell, OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use wakeplace_engine::{Ended, RunReport};
use wakeplace_kernel_tree::kernel::{FaultEntries, Symbols};

/// Processor time within which a run must get to another event, s.
const LOOP_S: u32 = 10;
/// Bytes of the stack on which faults are handled: the kernel's own may be full.
const STACK_BYTES: usize = 256 << 10;

/// Where a run is.
pub(crate) struct Place {
    said: Rc<RefCell<Said>>,
    /// Simulated time, ns.
    pub(crate) now_ns: Cell<u64>,
    /// Entries into the tree's code so far.
    pub(crate) entries: Cell<u64>,
    /// The kernel's last words, and what it warned of.
    words: RefCell<Vec<String>>,
    /// Where the names of its functions are.
    object: PathBuf,
    entry: OnceCell<FaultEntries>,
    seen: Cell<(u64, u32)>,
}

thread_local! {
    static PLACE: RefCell<Option<Rc<Place>>> = const { RefCell::new(None) };
}

impl Place {
    /// Of a run that says things by `said`; from now on its faults are outcomes.
    pub(crate) fn watched(said: Rc<RefCell<Said>>, object: &Path) -> Rc<Self> {
        let place = Rc::new(Self {
            said,
            now_ns: Cell::new(0),
            entries: Cell::new(0),
            words: RefCell::default(),
            object: object.to_owned(),
            entry: OnceCell::new(),
            seen: Cell::new((0, 0)),
        });
        PLACE.with(|kept| *kept.borrow_mut() = Some(place.clone()));
        take_signals();
        place
    }

    /// The object is there by now.
    pub(crate) fn booted(&self, entry: FaultEntries) {
        let _ = self.entry.set(entry);
    }

    /// The kernel ends the run by itself: within an entry.
    pub(crate) fn end_of_kernel(&self, why: &str) -> ! {
        let mut stack = [0; FRAMES];
        let found = self
            .entry
            .get()
            .map_or(0, |entry| entry.backtrace(0, &mut stack));
        self.end(why, &stack[..found])
    }

    /// Functions of the kernel's at these addresses, a line each.
    fn names(&self, stack: &[u64]) -> String {
        let Some(entry) = self.entry.get() else {
            return String::new();
        };
        let Ok(symbols) = Symbols::of(&self.object) else {
            return String::new();
        };
        let known = entry.known_address();
        let names = stack
            .iter()
            .filter_map(|address| symbols.name(*address, known));
        names.map(|name| format!("\n    {name}")).collect()
    }

    /// A line of the kernel's log that a reader of a failure wants to see.
    pub(crate) fn heard(&self, line: &str) {
        let mut words = self.words.borrow_mut();
        if words.len() < 32 {
            words.push(line.trim_end().to_owned());
        }
    }

    /// The run ends here with these words; `stack` are addresses, the innermost first.
    pub(crate) fn end(&self, why: &str, stack: &[u64]) -> ! {
        let mut said = why.to_owned();
        if let Ok(words) = self.words.try_borrow() {
            for line in words.iter().filter(|line| !why.contains(line.as_str())) {
                said.push_str("\n  ");
                said.push_str(line);
            }
        }
        let names = self.names(stack);
        if !names.is_empty() {
            said.push_str("\n  in");
            said.push_str(&names);
        }
        if let Ok(mut listener) = self.said.try_borrow_mut() {
            let report = RunReport {
                end_ns: self.now_ns.get(),
                ended: Ended::Kernel { said },
                ..RunReport::default()
            };
            let _ = listener.end(&Message::Ended(Box::new(report)));
        }
        // SAFETY: the process of a run ends without unwinding: there is the tree's code on its
        // stack.
        unsafe { libc::_exit(0) }
    }
}

/// The run of this process, where one is watched. None: none is.
fn place() -> Option<Rc<Place>> {
    PLACE.with(|kept| kept.try_borrow().ok()?.clone())
}

/// The run ends, if it is one.
fn fatal(why: &str, stack: &[u64]) -> ! {
    if let Some(place) = place() {
        place.end(why, stack);
    }
    // SAFETY: as above.
    unsafe { libc::_exit(1) }
}

/// Handlers for faults and for time, on a stack of their own.
fn take_signals() {
    let stack = vec![0u8; STACK_BYTES].leak();
    let alternative = libc::stack_t {
        ss_sp: stack.as_mut_ptr().cast(),
        ss_flags: 0,
        ss_size: STACK_BYTES,
    };
    // SAFETY: memory that lives as long as the process, and handlers of this file.
    unsafe {
        libc::sigaltstack(&raw const alternative, std::ptr::null_mut());
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        for signal in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGILL,
            libc::SIGFPE,
            libc::SIGTRAP,
        ] {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
        action.sa_sigaction = on_second as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigaction(libc::SIGVTALRM, &raw const action, std::ptr::null_mut());
        let second = libc::timeval {
            tv_sec: 1,
            tv_usec: 0,
        };
        let timer = libc::itimerval {
            it_interval: second,
            it_value: second,
        };
        libc::syscall(
            libc::SYS_setitimer,
            libc::ITIMER_VIRTUAL,
            &raw const timer,
            0,
        );
    }
}

/// A fault of the processor in the tree's code: says what, where, and ends the process.
extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let what = match signal {
        libc::SIGSEGV | libc::SIGBUS => "wild access",
        libc::SIGILL => "it came to code that is none (BUG, or a jump to nowhere)",
        libc::SIGFPE => "division by zero",
        _ => "trap",
    };
    // SAFETY: the kernel passes both.
    let (address, stack) = unsafe { ((*info).si_addr() as usize, stack_of(context)) };
    match signal {
        libc::SIGSEGV | libc::SIGBUS => {
            let place = place();
            let entry = place.as_ref().and_then(|place| place.entry.get());
            if entry.is_some_and(|entry| entry.is_in_guard(address as u64)) {
                fatal("its stack is full", &stack);
            }
            fatal(&format!("{what} at {address:#x}"), &stack)
        }
        _ => fatal(what, &stack),
    }
}

/// Once for each second of processor time: has the run got anywhere?
extern "C" fn on_second(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(place) = place() else { return };
    let (entries, times) = place.seen.get();
    if place.entries.get() != entries {
        return place.seen.set((place.entries.get(), 0));
    }
    place.seen.set((entries, times + 1));
    if times + 1 >= LOOP_S {
        // SAFETY: the kernel passes it.
        let stack = unsafe { stack_of(context) };
        let why = format!("a loop without an end: {LOOP_S} s of processor time at one instant");
        place.end(&why, &stack);
    }
}

/// Most frames of a stack that are named.
const FRAMES: usize = 24;

/// Addresses of the functions that were under way, by their frame pointers, the innermost first.
///
/// # Safety
/// `context` is what a signal handler gets.
unsafe fn stack_of(context: *mut libc::c_void) -> Vec<u64> {
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: by the caller.
    #[cfg(target_arch = "x86_64")]
    let (at, mut frame) = unsafe {
        let registers = &(*context).uc_mcontext.gregs;
        (
            registers[libc::REG_RIP as usize] as u64,
            registers[libc::REG_RBP as usize] as u64,
        )
    };
    // SAFETY: by the caller.
    #[cfg(target_arch = "aarch64")]
    let (at, mut frame) = unsafe {
        let machine = &(*context).uc_mcontext;
        (machine.pc, machine.regs[29])
    };
    let mut stack = vec![at];
    while stack.len() < FRAMES && frame != 0 && frame.is_multiple_of(8) {
        let mut both = [0u64; 2];
        if !read_own(frame, &mut both) || both[0] <= frame {
            break;
        }
        stack.push(both[1]);
        frame = both[0];
    }
    stack
}

/// Reads this process's own memory, which may not be there.
fn read_own(from: u64, to: &mut [u64; 2]) -> bool {
    let length = size_of_val(to);
    let local = libc::iovec {
        iov_base: to.as_mut_ptr().cast(),
        iov_len: length,
    };
    let remote = libc::iovec {
        iov_base: from as usize as *mut libc::c_void,
        iov_len: length,
    };
    // SAFETY: the kernel checks the addresses.
    let read = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0)
    };
    read == length as isize
}
