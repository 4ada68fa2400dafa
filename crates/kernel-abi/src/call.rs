//! What tasks and the machine's owner ask of a kernel (docs/guide/kernel.md, "In a run").
//!
//! What must stay: numbers of calls and layouts are those of wakeplace.h; pointers live as long as
//! the call. May change: words of `what`; a call only together with the header and the shim's
//! call.c.
//!
//! Tests by part: crates/kernel-tree/src/kernel/tests.rs: `calls_are_what_the_header_says` (`raw`,
//! `op`, `mask`); `what` has no test of its own: errors of a run show it.
//!
//! Callers: the engine makes calls (kernel/tree/tasks.rs), crates/kernel-tree hands them over.
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs::calls_are_what_the_header_says

use crate::abi::{Attr, RawCall, SELF};
use std::ffi::CStr;
use std::ptr;

/// CPUs, 64 a word.
pub type Mask = [u64];

/// A new task.
#[derive(Clone, Copy, Debug)]
pub struct Fork<'a> {
    /// Its number: the caller's choice.
    pub task: u32,
    /// Its group.
    pub group: u32,
    /// Its name.
    pub name: &'a CStr,
    /// How it is scheduled; none: as its creator.
    pub attr: Option<&'a Attr>,
    /// Where it may run; none: as its creator. As many words as the machine needs.
    pub mask: Option<&'a Mask>,
}

/// A system call of the task that runs, or an order of the machine's owner.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// In and out again.
    Nop,
    /// Sleeps until woken.
    Sleep {
        /// In iowait: what it waits for is a device.
        io: bool,
    },
    /// Sleeps until a time, which the timer may be late by.
    SleepUntil {
        /// When.
        at: u64,
        /// How late it may be, ns.
        slack: u64,
        /// In iowait.
        io: bool,
    },
    /// Gives the CPU away.
    Yield,
    /// Ends.
    Exit,
    /// The moment of exec: it may move.
    Exec,
    /// Wakes a task.
    Wake {
        /// Which.
        task: u32,
        /// The waker is about to sleep.
        sync: bool,
    },
    /// Creates a task.
    Fork(Fork<'a>),
    /// Changes how a task is scheduled.
    SetAttr {
        /// Which; none: the caller.
        task: Option<u32>,
        /// How.
        attr: &'a Attr,
    },
    /// Changes where a task may run.
    Affinity {
        /// Which; none: the caller.
        task: Option<u32>,
        /// Where.
        mask: &'a Mask,
    },
    /// Moves a task to a group.
    Move {
        /// Which; none: the caller.
        task: Option<u32>,
        /// Where to.
        group: u32,
    },
    /// Makes a group in another one; the answer is its number.
    Group {
        /// The one that it is in.
        within: u32,
    },
    /// Removes an empty group.
    GroupRemove {
        /// Which.
        group: u32,
    },
    /// Writes a group's file.
    GroupSet {
        /// Which.
        group: u32,
        /// As `cpu.max`.
        name: &'a CStr,
        /// What is written.
        value: &'a CStr,
    },
    /// Sets a parameter of the kernel.
    Set {
        /// Its name.
        name: &'a CStr,
        /// Its value.
        value: &'a CStr,
    },
    /// A CPU comes or goes.
    Hotplug {
        /// Which.
        cpu: u32,
        /// It comes.
        up: bool,
    },
    /// The most that a frequency domain may be asked for; 0: no limit.
    Limit {
        /// Which.
        domain: u32,
        /// How much.
        khz: u64,
    },
    /// Heat slows a domain's CPUs, and the scheduler sees it.
    Pressure {
        /// Which.
        domain: u32,
        /// To how much.
        khz: u64,
    },
    /// A scheduling domain of these CPUs and another of the rest; none: one of all.
    Partition(Option<&'a Mask>),
}

impl Call<'_> {
    /// The mask that it has, whose length the machine gives. None: it has none.
    pub fn mask(&self) -> Option<&Mask> {
        match self {
            Self::Affinity { mask, .. } => Some(mask),
            Self::Fork(fork) => fork.mask,
            Self::Partition(mask) => *mask,
            _ => None,
        }
    }

    /// In the interface's form; what it points to is the caller's.
    pub fn raw(&self, ticket: u64) -> RawCall {
        let mut raw = RawCall {
            op: self.op(),
            task: SELF,
            cpu: 0,
            group: 0,
            number: 0,
            sync: 0,
            at: 0,
            slack: 0,
            attr: ptr::null(),
            mask: self.mask().map_or(ptr::null(), <[u64]>::as_ptr),
            name: ptr::null(),
            value: ptr::null(),
            ticket,
        };
        match *self {
            Self::Sleep { io } => raw.number = io.into(),
            Self::SleepUntil { at, slack, io } => {
                (raw.at, raw.slack, raw.number) = (at, slack, io.into());
            }
            Self::Wake { task, sync } => (raw.task, raw.sync) = (task, sync.into()),
            Self::Fork(fork) => {
                (raw.task, raw.group, raw.name) = (fork.task, fork.group, fork.name.as_ptr());
                raw.attr = fork.attr.map_or(ptr::null(), ptr::from_ref);
            }
            Self::SetAttr { task, attr } => {
                (raw.task, raw.attr) = (task.unwrap_or(SELF), ptr::from_ref(attr));
            }
            Self::Affinity { task, .. } => raw.task = task.unwrap_or(SELF),
            Self::Move { task, group } => (raw.task, raw.group) = (task.unwrap_or(SELF), group),
            Self::Group { within: group } | Self::GroupRemove { group } => raw.group = group,
            Self::GroupSet { group, name, value } => {
                (raw.group, raw.name, raw.value) = (group, name.as_ptr(), value.as_ptr());
            }
            Self::Set { name, value } => (raw.name, raw.value) = (name.as_ptr(), value.as_ptr()),
            Self::Hotplug { cpu, up } => (raw.cpu, raw.number) = (cpu, up.into()),
            Self::Limit { domain, khz } | Self::Pressure { domain, khz } => {
                (raw.number, raw.at) = (domain, khz);
            }
            Self::Nop | Self::Yield | Self::Exit | Self::Exec | Self::Partition(_) => {}
        }
        raw
    }

    /// What a message calls that which has this number.
    #[must_use]
    pub fn what(op: u32) -> &'static str {
        match op {
            1 | 2 => "a sleep",
            3 => "a yield",
            5 => "an exec",
            6 => "a wake-up",
            7 => "a fork",
            8 => "new attributes",
            9 => "other CPUs",
            10 => "another group",
            _ => "a call",
        }
    }

    /// The interface's number of it.
    pub fn op(&self) -> u32 {
        match self {
            Self::Nop => 0,
            Self::Sleep { .. } => 1,
            Self::SleepUntil { .. } => 2,
            Self::Yield => 3,
            Self::Exit => 4,
            Self::Exec => 5,
            Self::Wake { .. } => 6,
            Self::Fork(_) => 7,
            Self::SetAttr { .. } => 8,
            Self::Affinity { .. } => 9,
            Self::Move { .. } => 10,
            Self::Group { .. } => 11,
            Self::GroupRemove { .. } => 12,
            Self::GroupSet { .. } => 13,
            Self::Set { .. } => 14,
            Self::Hotplug { .. } => 15,
            Self::Limit { .. } => 16,
            Self::Pressure { .. } => 17,
            Self::Partition(_) => 18,
        }
    }
}
