//! What programs call: the kfuncs by name, and the helpers that need a kernel by number. A name
//! that is in no table is refused as the program is loaded (docs/rules/sched-ext.md#kfuncs).
//!
//! What must stay: a program that loads calls nothing else than what is listed. A new kfunc is one
//! row of a table, with its answer in the file of its kind. Free: how the tables are searched.
//!
//! Tests by part: `what_is_not_offered_is_refused_by_name` (`by_name`, `helper`),
//! `calls_answer_as_a_kernel_does` (`call`, `signed`, `int`, `nothing`, `same`). `refuse_cpus` has
//! no test of its own.
//!
//! Callers: load/program.rs (`by_name`, `helper`, while a program is linked), kernel/running.rs
//! (`call`, while it runs).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::what_is_not_offered_is_refused_by_name,
//! crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does

mod cgroups;
mod cids;
mod cpumask;
mod cpus;
mod ends;
mod helper;
mod iterators;
mod nodes;
mod objects;
mod queues;
mod tasks;
mod timers;

use crate::kernel::Running;
use wakeplace_bpf_vm::{Fault, Vm, budget, helpers};

/// A call's code.
pub(crate) type Code = fn(&mut Running<'_>, &mut Vm, [u64; 5]) -> Result<u64, Fault>;
/// A call by its name.
pub(crate) type Named = (&'static str, Code);

/// Calls up to this are helpers, by the kernel's numbers; beyond it kfuncs follow.
const FIRST_KFUNC: u32 = 1000;
/// A call in code that the kernel would have removed, since it lacks what is called.
pub(crate) const DEAD_CODE: u32 = FIRST_KFUNC - 1;

/// All kfuncs.
const TABLES: [&[Named]; 11] = [
    queues::TABLE,
    cpus::TABLE,
    tasks::TABLE,
    cpumask::TABLE,
    iterators::TABLE,
    nodes::TABLE,
    objects::TABLE,
    timers::TABLE,
    ends::TABLE,
    cids::TABLE,
    cgroups::TABLE,
];
/// Calls of one table have numbers from a multiple of this on: a power of two.
const PER_TABLE: u32 = 64;
const _: () = {
    let mut at = 0;
    while at < TABLES.len() {
        assert!(TABLES[at].len() <= PER_TABLE as usize);
        at += 1;
    }
};

/// The same by their numbers: what is called all the time is one look away.
static CODES: [Option<Code>; TABLES.len() * PER_TABLE as usize] = {
    let mut codes = [None; TABLES.len() * PER_TABLE as usize];
    let mut table = 0;
    while table < TABLES.len() {
        let mut at = 0;
        while at < TABLES[table].len() {
            codes[table * PER_TABLE as usize + at] = Some(TABLES[table][at].1);
            at += 1;
        }
        table += 1;
    }
    codes
};

/// A scheduler whose callbacks have cids may not call what takes CPUs.
#[cold]
fn refuse_cpus(call: u32) -> Result<(), Fault> {
    let at = call - FIRST_KFUNC;
    let table = TABLES.get((at / PER_TABLE) as usize);
    let named = table.and_then(|table| table.get((at % PER_TABLE) as usize));
    match named.filter(|(name, _)| cids::TAKES_CPUS.contains(name)) {
        Some((name, _)) => Err(Fault::Call(format!(
            "{name}() is not for a scheduler whose callbacks have cids"
        ))),
        None => Ok(()),
    }
}

/// The call that stands for a kfunc. Names end in `_impl` or a version after three underscores
/// where the kernel had to change a signature; the end is left out if it changes nothing here.
pub(crate) fn by_name(name: &str) -> Option<u32> {
    let exactly = |name: &str| {
        TABLES
            .iter()
            .zip(0..)
            .find_map(|(table, number): (_, u32)| {
                let at = table.iter().position(|(known, _)| *known == name)?;
                Some(FIRST_KFUNC + number * PER_TABLE + at as u32)
            })
    };
    let plain = || name.strip_suffix("_impl").and_then(exactly);
    exactly(name).or_else(plain)
}

/// A helper that needs the kernel. None: it is no such helper.
pub(crate) fn helper(number: u32) -> Option<Code> {
    helper::code(number)
}

/// Carries out the call that `by_name` or `helper` has numbered.
pub(crate) fn call(
    running: &mut Running<'_>,
    vm: &mut Vm,
    call: u32,
    args: [u64; 5],
) -> Result<u64, Fault> {
    if call >= FIRST_KFUNC {
        if running.state.cids.in_callbacks {
            refuse_cpus(call)?;
        }
        running.kfuncs += 1;
        vm.spend(budget::CALL)?;
        return match CODES.get((call - FIRST_KFUNC) as usize) {
            Some(Some(code)) => code(running, vm, args),
            _ => Err(Fault::Call(format!("no call {call}"))),
        };
    }
    // The one that programs call most.
    if call == helpers::MAP_LOOKUP {
        return helpers::call(vm, running, call, args);
    }
    if let Some(code) = helper::code(call) {
        return code(running, vm, args);
    }
    if call == DEAD_CODE {
        let what = "it calls something that the offered kernel does not have";
        return Err(Fault::Call(what.to_owned()));
    }
    let result = helpers::call(vm, running, call, args);
    if vm.memory.has_retired() {
        running.give_up_retired(vm)?;
    }
    result
}

/// A negative errno or a number, as programs get it.
fn signed(value: i32) -> u64 {
    i64::from(value).cast_unsigned()
}

/// A CPU or a node from an argument.
fn int(argument: u64) -> i32 {
    (argument as u32).cast_signed()
}

/// Does nothing: there is nothing to lock, to count or to wait for.
fn nothing(_: &mut Running<'_>, _: &mut Vm, _: [u64; 5]) -> Result<u64, Fault> {
    Ok(0)
}

/// Its first argument.
fn same(_: &mut Running<'_>, _: &mut Vm, args: [u64; 5]) -> Result<u64, Fault> {
    Ok(args[0])
}
