//! How schedulers end themselves, and what they print (docs/rules/sched-ext.md#errors).
//!
//! What must stay: texts are cut and formatted as the kernel does it; the first end counts. Free:
//! how a format's arguments are gathered.
//!
//! Tests by part: `what_a_scheduler_does_wrong_is_named` with ERROR (`error`, `text`),
//! schedulers.rs::`calls_answer_as_a_kernel_does` (`events`, `error`). `exit` and `throw` have no
//! test of their own.
//!
//! Callers: kfuncs/mod.rs, by its `TABLES`.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::what_a_scheduler_does_wrong_is_named

use super::{Named, nothing};
use crate::kernel::Running;
use wakeplace_bpf_vm::helpers::formatted;
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_sched_ext::ExitKind;

pub(super) const TABLE: &[Named] = &[
    ("scx_bpf_error_bstr", error),
    ("scx_bpf_exit_bstr", exit),
    ("scx_bpf_dump_bstr", nothing),
    ("bpf_throw", throw),
    ("bpf_stream_vprintk", nothing),
    ("scx_bpf_events", events),
];

type Result = std::result::Result<u64, Fault>;

/// The text of `format, data, bytes`.
fn text(vm: &mut Vm, format: u64, data: u64, bytes: u64) -> std::result::Result<String, Fault> {
    let words = (0..(bytes & 0xffff_ffff) / 8)
        .take(12)
        .map(|at| vm.memory.u64(data.wrapping_add(8 * at)));
    let words: Vec<u64> = words.collect();
    let format = vm.memory.string(format, 1024);
    let text = formatted(&vm.memory, &format, &words).unwrap_or(format);
    vm.spend(text.len() as u64)?;
    Ok(text)
}

/// scx_bpf_error_bstr(): the scheduler ends with an error.
fn error(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let message = text(vm, args[0], args[1], args[2])?;
    match &mut running.kernel {
        Some(kernel) => {
            kernel.exit(ExitKind::ErrorBpf, 0, &message);
            Ok(0)
        }
        None => Err(Fault::Exit(message)),
    }
}

/// scx_bpf_exit_bstr(): the scheduler ends as it wants to.
fn exit(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let message = text(vm, args[1], args[2], args[3])?;
    match &mut running.kernel {
        Some(kernel) => {
            kernel.exit(ExitKind::UnregBpf, args[0].cast_signed(), &message);
            Ok(0)
        }
        None => Err(Fault::Exit(message)),
    }
}

/// An exception that nothing catches ends the scheduler.
fn throw(_: &mut Running<'_>, _: &mut Vm, args: [u64; 5]) -> Result {
    Err(Fault::Exit(format!("bpf_throw({:#x})", args[0])))
}

/// `scx_bpf_events(events, size)`. What is not in `Events` never happens here.
fn events(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let room = (args[1] & 0xffff_ffff).min(4096);
    vm.memory.bytes_mut(args[0], room)?.fill(0);
    let counts = running.kernel.as_ref().map(|kernel| kernel.events());
    let counts = counts.unwrap_or_default();
    let Some(fields) = &running.state.layout.events else {
        return Ok(0);
    };
    for (place, count) in [
        (fields.select_cpu_fallback, counts.select_cpu_fallback),
        (fields.local_offline, counts.dispatch_local_dsq_offline),
        (fields.keep_last, counts.dispatch_keep_last),
        (fields.skip_exiting, counts.enq_skip_exiting),
        (fields.skip_fixed, counts.enq_skip_migration_disabled),
        (fields.refill, counts.refill_slice_dfl),
        (fields.reenq_immed, counts.reenq_immed),
        (fields.reenq_repeat, counts.reenq_repeat),
    ] {
        if let Some(field) = place.filter(|field| field.offset + 8 <= room) {
            vm.memory.store(args[0] + field.offset, 8, count)?;
        }
    }
    Ok(0)
}
