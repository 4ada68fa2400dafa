//! The budget: what a program and its loader may cause, all in one place (docs/decisions/058).
//!
//! **Work** is counted in instructions. A call from outside has `INSNS`. Programs pay by the
//! length of what they execute; what is done for them beside instructions has a price in
//! instructions, so that no call takes long without paying. **Bytes** are counted as the heap's, of
//! which there are `BYTES`: what programs see, and what is kept for them elsewhere. **Compilation**
//! ends at a number of instructions; programs beyond it are interpreted.
//!
//! Nothing here asks a clock or the host, and both ways of running pay the same: equal runs end at
//! the same place.
//!
//! What must stay: nothing here asks a clock or the host, so that a run ends at one place on every
//! machine; both ways of running pay the same; a call of the host is never free. A change of a
//! price may end schedulers that ran. Free: how a price is explained; the sizes of limits only with
//! docs/decisions/058. Tests by part: `keys_of_maps_count_as_memory` (`ENTRY_BYTES`),
//! `programs_count_as_memory` (`INSN_BYTES`, `OBJECT_BYTES`), `what_is_too_long_is_interpreted`
//! (`COMPILED`, `COMPILED_FUNCTION`), programs.rs::`a_loop_without_end_is_named` (`INSNS`),
//! maps.rs::`values_of_queues_count_as_memory` (`BYTES`), crates/foreign (prices of its calls).
//!
//! Tests: crates/bpf-vm/tests/all/budget.rs,
//! crates/bpf-vm/tests/all/programs.rs::a_loop_without_end_is_named,
//! crates/bpf-vm/tests/all/maps.rs::values_of_queues_count_as_memory

/// Most instructions of one call from outside. A kernel ends `may_goto` loops after 8 million
/// iterations and refuses programs that it cannot prove to end.
pub const INSNS: i64 = 64 << 20;
/// Most bytes of a machine: its heap, and what counts as that. The arena has room of its own.
pub const BYTES: u64 = 1 << 30;

/// A call of the kernel, whatever it does.
pub const CALL: u64 = 8;
/// A call that leaves something behind: a timer that is started, a frequency, a queue, a walk.
pub const LATER: u64 = 64;
/// Starts of timers that have not come due. One that is started anew counts twice until then.
pub const TIMER_EVENTS: u32 = 1 << 18;
/// Entries of a list, a queue or a table that are passed or moved in the time of an instruction.
pub const ENTRIES_PER_INSN: u64 = 64;
/// A page of the arena that is handed out, zeroed, or taken back: a scheduler may fill its arena
/// when it begins.
pub const PAGE: u64 = 16;

/// What an entry of a table takes beside its key and its value, bytes.
pub const ENTRY_BYTES: u64 = 64;
/// What a queue of tasks takes, bytes.
pub const QUEUE_BYTES: u64 = 2048;
/// What a map, a program or an object of a loader takes beside its content: descriptors
/// and files of the host's are among it.
pub const OBJECT_BYTES: u64 = 4096;
/// What an instruction of a program takes that waits to be run.
pub(crate) const INSN_BYTES: u64 = 64;

/// Most instructions of a function that is compiled: the compiler's time and memory grow faster
/// than a function's length.
pub const COMPILED_FUNCTION: usize = 16 << 10;
/// Most instructions of all programs that are compiled.
pub const COMPILED: usize = 256 << 10;
