//! How a scheduler ends. The words are the kernel's own (docs/rules/sched-ext.md#errors).
//!
//! What must stay: reasons and their words are the kernel's; results have them. Free: how an end is
//! kept.
//!
//! Tests by part: `what_a_program_says_itself` (`new`, `fault`, `fmt`, code),
//! `a_forgotten_task_is_found` (`reason`: "runnable task stall"), `hotplug_needs_callbacks`
//! (`UnregKern`).
//!
//! Callers: class/mod.rs (`end`, `error`), crates/foreign/src/instance.rs (`fault`); results have
//! `fmt`'s text.
//!
//! Tests: crates/engine/tests/behaviour/sched_ext/errors.rs

use std::fmt;

/// Why (`enum scx_exit_kind`), with the kernel's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitKind {
    /// The program itself did what it must not: a wild address, a loop without end, a stack too
    /// small. A kernel's verifier would have refused it, so a kernel has no number for it.
    Fault = 1,
    /// Unregistered by its loader.
    Unreg = 64,
    /// `scx_bpf_exit`.
    UnregBpf = 65,
    /// By the kernel, hotplug without callbacks for it among others.
    UnregKern = 66,
    /// The kernel found an error.
    Error = 1024,
    /// `scx_bpf_error`.
    ErrorBpf = 1025,
    /// A runnable task was not run for too long.
    ErrorStall = 1026,
}

impl ExitKind {
    /// Gives the reason as the kernel says it (`scx_exit_reason`).
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Fault => "program fault",
            Self::Unreg => "unregistered from user space",
            Self::UnregBpf => "unregistered from BPF",
            Self::UnregKern => "unregistered from the main kernel",
            Self::Error => "runtime error",
            Self::ErrorBpf => "scx_bpf_error",
            Self::ErrorStall => "runnable task stall",
        }
    }
}

/// A scheduler's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Why.
    pub kind: ExitKind,
    /// `exit_code`.
    pub code: i64,
    /// What exactly.
    pub message: String,
}

impl Exit {
    /// Makes an end of code 0.
    #[must_use]
    pub fn new(kind: ExitKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            code: 0,
            message: message.into(),
        }
    }

    /// What a program did that it must not.
    #[must_use]
    pub fn fault(message: impl Into<String>) -> Self {
        Self::new(ExitKind::Fault, message)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.reason())?;
        if !self.message.is_empty() {
            write!(f, " ({})", self.message)?;
        }
        Ok(())
    }
}
