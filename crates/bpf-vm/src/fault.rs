//! What ends a program before its time.
//!
//! What must stay: a `Fault` ends a program that runs, a `Refusal` comes before it runs; words are
//! the user's, with the place or the name that is wrong, as a run's outcome shows them. Free: how a
//! place is found for a message. Tests by part: `a_loop_without_end_is_named` (`Budget`),
//! `a_load_from_a_wild_address_is_0_and_a_store_is_a_fault` (`WildStore`),
//! `recursion_without_end_is_named` (`Stack`), budget.rs::`keys_of_maps_count_as_memory`
//! (`HeapFull`), `what_is_not_offered_is_refused_by_name` (`Refusal`).
//!
//! Tests: crates/bpf-vm/tests/all/programs.rs,
//! crates/bpf-vm/tests/all/budget.rs::keys_of_maps_count_as_memory

/// Why a program did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// More instructions than one call may take.
    #[error("it took more than {limit} instructions in one call: it loops for ever")]
    Budget {
        /// The most.
        limit: i64,
    },
    /// A write outside the memory of programs.
    #[error("it wrote to the wild address {addr:#x}")]
    WildStore {
        /// Where to.
        addr: u64,
    },
    /// Calls within calls.
    #[error("its stack is full: calls and callbacks nest too deep")]
    Stack,
    /// No room for maps and objects.
    #[error("the memory for maps and objects, 1 GiB, is full")]
    HeapFull,
    /// A helper or kfunc was given something that it cannot use.
    #[error("{0}")]
    Call(String),
    /// The scheduler ended itself or was ended (`scx_bpf_error`, `bpf_throw`).
    #[error("{0}")]
    Exit(String),
    /// The host refused something.
    #[error("the host refused {0}")]
    Host(String),
}

/// Why a program, a map or a command is refused before anything runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// An instruction that is none, or in a place where it cannot be.
    #[error("instruction {pc}: {what}")]
    Instruction {
        /// Its number.
        pc: usize,
        /// What is wrong.
        what: String,
    },
    /// Something that is not offered, by its name.
    #[error("{0}")]
    Unknown(String),
    /// The host refused something, or memory is full.
    #[error("{0}")]
    Fault(#[from] Fault),
}
