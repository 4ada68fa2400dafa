//! Perfetto's trace format, as far as it is used here: prost types of `proto/trace.proto`
//! (docs/rules/traces.md#perfetto).
//!
//! What must stay: numbers are Perfetto's; `generated.rs` is made of `proto/trace.proto` and not
//! edited. Free: what leaves the scripts of recordings as they are (ARCHITECTURE.md, "What a change
//! may touch"). Tests by part: traces.rs::`whole_runs_read_back` (the types),
//! traces.rs::`an_interrupt_is_no_tasks_doing` (`HARDIRQ`).
//!
//! Tests: crates/trace/tests/all/traces.rs

#[rustfmt::skip]
#[allow(missing_docs, clippy::all, reason = "generated: the fields are described in trace.proto")]
mod generated;

pub use generated::*;

/// `FtraceEvent::common_flags`: interrupts were off.
pub const IRQS_OFF: u32 = 0x01;
/// `FtraceEvent::common_flags`: in a hardware interrupt.
pub const HARDIRQ: u32 = 0x08;
/// `FtraceEvent::common_flags`: in a software interrupt.
pub const SOFTIRQ: u32 = 0x10;
/// `TracePacket::sequence_flags`: what was interned before is forgotten.
pub const INCREMENTAL_STATE_CLEARED: u32 = 1;
/// `TracePacket::sequence_flags`: the packet uses interned strings.
pub const NEEDS_INCREMENTAL_STATE: u32 = 2;
