//! Helpers that need no kernel: maps, memory, loops, strings.
//!
//! What must stay: numbers are the kernel's (include/uapi/linux/bpf.h). What needs a kernel is
//! crates/foreign's. Free: how a helper does its work; new ones by the kernel's number. Tests by
//! part: `a_program_gives_what_a_kernel_gives` (`call`, `repeat`),
//! programs.rs::`a_loop_of_large_copies_is_named` (`copy`, `bytes_moved`),
//! cli/tests/all/schedulers.rs::`calls_answer_as_a_kernel_does` (`reserve`, `release`),
//! programs.rs::`what_is_not_offered_is_refused_by_name` (`is_offered`, `name`),
//! budget.rs::`queues_and_stacks_go_round` (`call`). `exchange` has no test of its own here.
//!
//! Tests: crates/cli/tests/all/syscall_programs.rs::a_program_gives_what_a_kernel_gives,
//! crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does,
//! crates/bpf-vm/tests/all/programs.rs, crates/bpf-vm/tests/all/budget.rs

mod maps;
mod names;
mod text;

pub use text::formatted;

use crate::vm::{Env, Vm};
use crate::{Fault, memory::PAGE};
use names::NAMES;

/// `-EFAULT`.
const EFAULT: i64 = -14;
/// Most iterations of `bpf_loop` (`BPF_MAX_LOOPS`).
const MAX_LOOPS: u64 = 8 << 20;
/// Most bytes that one copy moves.
const MAX_COPY: u64 = 1 << 20;

/// The name of a helper, by its number.
#[must_use]
pub fn name(number: u32) -> String {
    let known = NAMES.split(' ').nth(number as usize);
    known.map_or(format!("helper number {number}"), |name| {
        format!("bpf_{name}")
    })
}

/// Is it one of these?
#[must_use]
pub fn is_offered(number: u32) -> bool {
    matches!(
        number,
        1..=4 | 6 | 22 | 25 | 45 | 55 | 87..=89 | 93 | 94 | 112..=115 | 130..=134 | 156 | 157
            | 164 | 165 | 177 | 181 | 182 | 194 | 195 | 210 | 211
    )
}

/// `bpf_map_lookup_elem`.
pub const MAP_LOOKUP: u32 = 1;
/// `bpf_get_smp_processor_id`: `Vm::cpu`. Compiled programs do not call it.
pub const CPU_ID: u32 = 8;

/// Carries one out.
///
/// # Errors
/// What ends the program.
pub fn call(vm: &mut Vm, env: &mut dyn Env, number: u32, args: [u64; 5]) -> Result<u64, Fault> {
    let [a, b, c, d, _] = args;
    let signed = |value: i64| value.cast_unsigned();
    if number == MAP_LOOKUP {
        return maps::lookup(vm, a, b, None);
    }
    vm.spend_bytes(bytes_moved(number, args))?;
    match number {
        195 => maps::lookup(vm, a, b, Some(c)),
        2 => maps::update(vm, a, b, c, d).map(signed),
        3 => maps::delete(vm, a, b).map(signed),
        87 => maps::push(vm, a, b, c).map(signed),
        88 | 89 => maps::pop(vm, a, b, number == 89).map(signed),
        156 | 210 => maps::storage(vm, a, b, c, d),
        157 | 211 => maps::storage_delete(vm, a, b).map(signed),
        164 => maps::for_each(vm, env, a, b, c).map(signed),
        // A printed line goes nowhere.
        6 | 177 | 25 | 132 | 133 => release(vm, number, a),
        130 => maps::output(vm, a, b, c).map(signed),
        131 => reserve(vm, a, b),
        134 => maps::query(vm, a, b),
        // No counter is open.
        22 | 55 => Ok(signed(crate::map::ENOENT)),
        // Programs run one after the other.
        93 | 94 => Ok(0),
        4 | 112 | 113 => copy(vm, a, b, c, number == 112),
        45 | 114 | 115 => text::copy(vm, a, b, c, number == 114).map(signed),
        165 => text::format(vm, args).map(signed),
        182 => Ok(signed(text::compare(vm, a, b, c))),
        181 => repeat(vm, env, a, b, c),
        194 => exchange(vm, a, b),
        _ => Err(Fault::Call(format!("{} is not offered", name(number)))),
    }
}

/// Most bytes that a helper reads and writes, as far as its arguments say so.
fn bytes_moved(number: u32, args: [u64; 5]) -> u64 {
    let low = |word: u64| word & 0xffff_ffff;
    match number {
        // What is beyond `MAX_COPY` is refused.
        4 | 45 | 112..=115 => low(args[1]).min(MAX_COPY),
        130 => low(args[2]),
        131 => args[1].min(64 * PAGE),
        182 => low(args[1]).min(text::MAX_TEXT),
        165 => text::MAX_TEXT,
        _ => 0,
    }
}

/// Room for a record: its size is kept before it.
fn reserve(vm: &mut Vm, ring: u64, bytes: u64) -> Result<u64, Fault> {
    if bytes == 0 || bytes > 64 * PAGE {
        return Ok(0);
    }
    match maps::produce(vm, ring, bytes)? {
        None => return Ok(0),
        Some(0) => {}
        Some(record) => return Ok(record),
    }
    let at = vm.memory.alloc(bytes + 64)?;
    vm.memory.set_u64(at, bytes);
    Ok(at + 64)
}

/// Gives a reserved record up or hands it to a reader; a wild address does nothing.
fn release(vm: &mut Vm, number: u32, record: u64) -> Result<u64, Fault> {
    if matches!(number, 132 | 133) && vm.keeps_records {
        maps::commit(vm, record, number == 133)?;
    } else if matches!(number, 132 | 133) && record >= 64 {
        let bytes = vm.memory.u64(record - 64);
        if bytes > 0 && bytes <= 64 * PAGE {
            vm.memory.store(record - 64, 8, 0)?;
            vm.memory.free(record - 64, bytes + 64);
        }
    }
    Ok(0)
}

/// bpf_probe_read_kernel() and its kind: what cannot be read gives zeros and an error.
fn copy(vm: &mut Vm, to: u64, bytes: u64, from: u64, user: bool) -> Result<u64, Fault> {
    let bytes = bytes & 0xffff_ffff;
    if bytes > MAX_COPY {
        return Err(Fault::WildStore { addr: to });
    }
    let found = vm
        .memory
        .bytes(from, bytes)
        .filter(|_| !user)
        .map(<[u8]>::to_vec);
    let into = vm.memory.bytes_mut(to, bytes)?;
    match found {
        Some(found) => {
            into.copy_from_slice(&found);
            Ok(0)
        }
        None => {
            into.fill(0);
            Ok(EFAULT.cast_unsigned())
        }
    }
}

/// `bpf_loop`: how many passes there were; each pays, so that none goes on for ever.
fn repeat(
    vm: &mut Vm,
    env: &mut dyn Env,
    count: u64,
    callback: u64,
    argument: u64,
) -> Result<u64, Fault> {
    let count = count & 0xffff_ffff;
    if count > MAX_LOOPS {
        return Ok(crate::map::E2BIG.cast_unsigned());
    }
    for at in 0..count {
        if vm.call(env, callback, [at, argument, 0, 0, 0])? != 0 {
            return Ok(at + 1);
        }
    }
    Ok(count)
}

/// Puts a pointer into a map's value and gives the one that was there (`bpf_kptr_xchg`).
fn exchange(vm: &mut Vm, at: u64, new: u64) -> Result<u64, Fault> {
    let old = vm.memory.u64(at);
    vm.memory.store(at, 8, new)?;
    Ok(old)
}
