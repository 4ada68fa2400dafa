//! A program that has been checked, with all that it refers to found (docs/decisions/058).
//!
//! What must stay: after `link` no reference of a program is open; an error names what is not
//! offered. Free: how references are resolved, and in which order. Tests by part:
//! `what_is_not_offered_is_refused_by_name` (`link`, `value`), `a_wide_constant_is_whole`
//! (`value`), `a_frame_begins_zeroed` (`frame_used`), `any_bytes_are_refused_or_run` (`link`),
//! budget.rs::`what_is_too_long_is_interpreted` (`longest_function`, `nr_insns`),
//! `recursion_without_end_is_named` (`function`). `Linker` (`constant`, `helper`, `kfunc`) is
//! implemented by crates/foreign/src/load/program.rs and tests/all/small.rs. Callers:
//! crates/foreign/src/load/program.rs (`link`), vm.rs.
//!
//! Tests: crates/bpf-vm/tests/all/programs.rs, crates/bpf-vm/tests/all/hostile.rs,
//! crates/bpf-vm/tests/all/budget.rs::what_is_too_long_is_interpreted

use crate::fault::Refusal;
use crate::insn::{self, Insn, STX, TO_FUNCTION, TO_HELPER};
use crate::memory::FRAME;

/// Finds what instructions refer to. Each answers with a name in its error.
pub trait Linker {
    /// The value of a 64-bit constant: `source` is what the kernel calls `BPF_PSEUDO_*`.
    ///
    /// # Errors
    /// What it refers to is not there.
    fn constant(&mut self, source: u8, low: u32, high: u32) -> Result<u64, String>;
    /// The call that stands for a helper.
    ///
    /// # Errors
    /// It is not offered.
    fn helper(&mut self, number: u32) -> Result<u32, String>;
    /// The call that stands for a kfunc, by its number in the type information of `module`.
    ///
    /// # Errors
    /// It is not offered.
    fn kfunc(&mut self, number: u32, module: i16) -> Result<u32, String>;
}

/// One function of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its first instruction.
    pub(crate) start: usize,
    /// One past its last.
    pub(crate) end: usize,
    /// So much of its frame may be read, bytes: it is zeroed.
    pub(crate) zeroed: u64,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: String,
    pub(crate) insns: Vec<Insn>,
    /// Per instruction: the value of a wide constant, the number of a call, the start of the
    /// function that is called or referred to.
    pub(crate) values: Vec<u64>,
    pub(crate) functions: Vec<Function>,
}

impl Program {
    /// Checks the instructions and finds what they refer to. References to functions become
    /// relative: the machine makes addresses of them.
    ///
    /// # Errors
    /// The first thing that is wrong or not offered.
    pub fn link(name: &str, insns: Vec<Insn>, linker: &mut dyn Linker) -> Result<Self, Refusal> {
        let starts = insn::check(&insns)?;
        let mut values = vec![0; insns.len()];
        let mut pc = 0;
        while pc < insns.len() {
            values[pc] = value(&insns, pc, linker).map_err(Refusal::Unknown)?;
            pc += if insns[pc].is_wide() { 2 } else { 1 };
        }
        let ends = starts.iter().skip(1).copied().chain([insns.len()]);
        let functions = starts.iter().zip(ends).map(|(start, end)| Function {
            start: *start,
            end,
            zeroed: frame_used(&insns[*start..end]),
        });
        Ok(Self {
            name: name.to_owned(),
            functions: functions.collect(),
            insns,
            values,
        })
    }

    /// The function that begins there. None: none begins there.
    pub(crate) fn function(&self, start: usize) -> Option<&Function> {
        let at = self
            .functions
            .binary_search_by_key(&start, |function| function.start);
        at.ok().map(|at| &self.functions[at])
    }

    /// Instructions of its longest function.
    pub(crate) fn longest_function(&self) -> usize {
        let lengths = self.functions.iter().map(|of| of.end - of.start);
        lengths.max().unwrap_or(0)
    }

    /// Instructions of the program.
    #[must_use]
    pub fn nr_insns(&self) -> usize {
        self.insns.len()
    }
}

/// What an instruction refers to: a function, a map, a variable, a helper.
fn value(insns: &[Insn], pc: usize, linker: &mut dyn Linker) -> Result<u64, String> {
    let insn = insns[pc];
    if let Some(to) = insn::function(insn, pc) {
        return Ok(to as u64);
    }
    if insn.is_wide() {
        let (low, high) = (insn.imm.cast_unsigned(), insns[pc + 1].imm.cast_unsigned());
        return match insn.src {
            0 => Ok(u64::from(low) | u64::from(high) << 32),
            source => linker.constant(source, low, high),
        };
    }
    if insn.is_call() && insn.src != TO_FUNCTION {
        let number = insn.imm.cast_unsigned();
        return match insn.src {
            TO_HELPER => linker.helper(number).map(u64::from),
            _ => linker.kfunc(number, insn.off).map(u64::from),
        };
    }
    Ok(0)
}

/// How much of its frame a function may use: by offsets of r10, and by sums, since every address
/// on the frame is r10 plus a negative constant.
fn frame_used(insns: &[Insn]) -> u64 {
    let mut lowest = 0_i64;
    for insn in insns {
        let through_r10 = match insn.class() {
            insn::LDX => insn.src == 10,
            insn::ST | STX => insn.dst == 10,
            _ => false,
        };
        let below = match insn.class() {
            _ if through_r10 => i64::from(insn.off),
            insn::ALU64 if insn.op() == 0 && !insn.by_register() => i64::from(insn.imm),
            // By a register: it can be anywhere.
            insn::ALU64 if insn.op() == 0 && insn.src == 10 => -(FRAME as i64),
            _ => 0,
        };
        if below >= -(FRAME as i64) {
            lowest = lowest.min(below);
        }
    }
    lowest.unsigned_abs().next_multiple_of(16).min(FRAME)
}
