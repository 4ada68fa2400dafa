//! Instructions (Documentation/bpf/standardization/instruction-set.rst), and what is checked of a
//! program before it may run: after that no register, jump or call of it can be out of range.
//!
//! What must stay: whatever passes `check` neither interpreter nor compiler may panic on
//! (hostile.rs). Free: how checks are ordered and worded, but for words that programs.rs quotes.
//! Tests by part: `what_is_not_offered_is_refused_by_name` (`check`, `check_function`, `known`:
//! each message), `any_bytes_are_refused_or_run` (`check`, `decode`),
//! same.rs::`compiled_programs_do_what_interpreted_ones_do` (`arithmetic`, `atomic`, `jumps`: what
//! is taken; `class`, `op`, `by_register`, `bytes`, `mode`: fields that both ways of running read).
//! `is_wide`, `is_call`, `function` and `jump` are parts of `check`. Callers: program.rs (`check`),
//! interp.rs and jit/function.rs (the fields).
//!
//! Tests: crates/bpf-vm/tests/all/programs.rs,
//! crates/bpf-vm/tests/all/hostile.rs::any_bytes_are_refused_or_run,
//! crates/bpf-vm/tests/all/same.rs

use crate::fault::Refusal;

/// One instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Insn {
    /// Class, operation and source or size.
    pub code: u8,
    /// Destination register.
    pub dst: u8,
    /// Source register, or what a wide load or a call means.
    pub src: u8,
    /// Offset of an address or a jump.
    pub off: i16,
    /// The constant.
    pub imm: i32,
}

impl Insn {
    /// From the eight bytes of memory.
    #[must_use]
    pub fn decode(bytes: [u8; 8]) -> Self {
        let [code, regs, o0, o1, i0, i1, i2, i3] = bytes;
        Self {
            code,
            dst: regs & 15,
            src: regs >> 4,
            off: i16::from_le_bytes([o0, o1]),
            imm: i32::from_le_bytes([i0, i1, i2, i3]),
        }
    }

    /// The class, `BPF_CLASS`.
    pub(crate) fn class(self) -> u8 {
        self.code & 7
    }

    /// The operation of arithmetic and jumps, `BPF_OP`.
    pub(crate) fn op(self) -> u8 {
        self.code & 0xf0
    }

    /// The second operand is a register.
    pub(crate) fn by_register(self) -> bool {
        self.code & 8 != 0
    }

    /// Bytes of a load or store.
    pub(crate) fn bytes(self) -> u64 {
        match self.code & 0x18 {
            0x00 => 4,
            0x08 => 2,
            0x10 => 1,
            _ => 8,
        }
    }

    /// The mode of a load or store, `BPF_MODE`.
    pub(crate) fn mode(self) -> u8 {
        self.code & 0xe0
    }

    /// It is the first half of a 64-bit constant.
    #[must_use]
    pub fn is_wide(self) -> bool {
        self.code == WIDE
    }

    /// Is the instruction a call?
    #[must_use]
    pub fn is_call(self) -> bool {
        self.code == CALL
    }
}

/// Classes.
pub(crate) const LD: u8 = 0;
pub(crate) const LDX: u8 = 1;
pub(crate) const ST: u8 = 2;
pub(crate) const STX: u8 = 3;
pub(crate) const ALU: u8 = 4;
pub(crate) const JMP: u8 = 5;
pub(crate) const JMP32: u8 = 6;
pub(crate) const ALU64: u8 = 7;
/// `BPF_LD | BPF_IMM | BPF_DW`.
pub(crate) const WIDE: u8 = 0x18;
pub(crate) const CALL: u8 = 0x85;
pub(crate) const EXIT: u8 = 0x95;
/// `BPF_JCOND`: may_goto.
pub(crate) const MAY_GOTO: u8 = 0xe5;
/// A jump by the constant, of 32 bits.
pub(crate) const LONG_JUMP: u8 = 0x06;
/// Modes.
pub(crate) const MEM: u8 = 0x60;
pub(crate) const MEM_SIGNED: u8 = 0x80;
pub(crate) const ATOMIC: u8 = 0xc0;
/// What `src` of a call means.
pub(crate) const TO_HELPER: u8 = 0;
pub(crate) const TO_FUNCTION: u8 = 1;
pub(crate) const TO_KFUNC: u8 = 2;
/// What `src` of a wide load means.
pub(crate) const OF_FUNCTION: u8 = 4;
/// `imm` of atomic instructions beside the arithmetic ones.
pub(crate) const LOAD_ACQUIRE: i32 = 0x100;
pub(crate) const STORE_RELEASE: i32 = 0x110;
pub(crate) const EXCHANGE: i32 = 0xe1;
pub(crate) const COMPARE_EXCHANGE: i32 = 0xf1;
/// Set where an atomic instruction returns what was there.
pub(crate) const FETCH: i32 = 1;

/// Where a jump goes, or None for what is no jump.
pub(crate) fn jump(insn: Insn, pc: usize) -> Option<i64> {
    let class = insn.class();
    if !matches!(class, JMP | JMP32) || matches!(insn.op(), 0x80 | 0x90) {
        return None;
    }
    let by = match insn.code {
        LONG_JUMP => i64::from(insn.imm),
        _ => i64::from(insn.off),
    };
    Some(pc as i64 + 1 + by)
}

/// Gives where a call to another function of the program, or a reference to one, goes. None: it is
/// neither.
pub(crate) fn function(insn: Insn, pc: usize) -> Option<i64> {
    let is_call = insn.is_call() && insn.src == TO_FUNCTION;
    let is_reference = insn.is_wide() && insn.src == OF_FUNCTION;
    (is_call || is_reference).then_some(pc as i64 + 1 + i64::from(insn.imm))
}

/// Checks all that the interpreter and the compiler rely on, and returns where functions begin.
pub(crate) fn check(insns: &[Insn]) -> Result<Vec<usize>, Refusal> {
    let bad = |pc: usize, what: &str| Refusal::Instruction {
        pc,
        what: what.to_owned(),
    };
    let count = insns.len();
    if count == 0 {
        return Err(bad(0, "an empty program"));
    }
    let mut second = vec![false; count];
    let mut starts = vec![0];
    let mut pc = 0;
    while pc < count {
        let insn = insns[pc];
        known(insn).map_err(|what| bad(pc, what))?;
        if let Some(to) = function(insn, pc) {
            let to = usize::try_from(to).ok().filter(|to| *to < count);
            starts.push(to.ok_or_else(|| bad(pc, "a call out of the program"))?);
        }
        if insn.is_wide() {
            match insns.get(pc + 1) {
                Some(next) if next.code == 0 => second[pc + 1] = true,
                _ => return Err(bad(pc, "a 64-bit constant without its second half")),
            }
            pc += 1;
        }
        pc += 1;
    }
    starts.sort_unstable();
    starts.dedup();
    if let Some(at) = starts.iter().find(|at| second[**at]) {
        return Err(bad(*at, "a call into a 64-bit constant"));
    }
    for (at, from) in starts.iter().enumerate() {
        let to = starts.get(at + 1).copied().unwrap_or(count);
        check_function(insns, &second, *from, to)?;
    }
    Ok(starts)
}

/// No jump of a function leaves it or lands within an instruction.
fn check_function(insns: &[Insn], second: &[bool], from: usize, to: usize) -> Result<(), Refusal> {
    let bad = |pc: usize, what: &str| Refusal::Instruction {
        pc,
        what: what.to_owned(),
    };
    for pc in (from..to).filter(|pc| !second[*pc]) {
        let Some(target) = jump(insns[pc], pc) else {
            continue;
        };
        let inside =
            usize::try_from(target).is_ok_and(|at| (from..to).contains(&at) && !second[at]);
        if !inside {
            return Err(bad(pc, "a jump out of its function"));
        }
    }
    let last = match second[to - 1] {
        true => to.saturating_sub(2),
        false => to - 1,
    };
    let ends = matches!(insns[last].code, EXIT | 0x05 | LONG_JUMP);
    if ends {
        Ok(())
    } else {
        Err(bad(last, "a function without an end"))
    }
}

/// Is there such an instruction, and are its registers?
fn known(insn: Insn) -> Result<(), &'static str> {
    if insn.dst > 10 || insn.src > 10 {
        return Err("a register above r10");
    }
    let writes_dst = match insn.class() {
        ALU | ALU64 | LDX | LD => true,
        STX => insn.mode() == ATOMIC && insn.imm == LOAD_ACQUIRE,
        _ => false,
    };
    let writes_src = insn.class() == STX
        && insn.mode() == ATOMIC
        && insn.imm & FETCH != 0
        && insn.imm != COMPARE_EXCHANGE;
    if writes_dst && insn.dst == 10 || writes_src && insn.src == 10 {
        return Err("a write to r10");
    }
    let is_known = match insn.class() {
        ALU | ALU64 => arithmetic(insn),
        LD => insn.is_wide() && insn.src <= 6,
        LDX => matches!(insn.mode(), MEM) || insn.mode() == MEM_SIGNED && insn.bytes() < 8,
        ST => insn.mode() == MEM,
        STX => insn.mode() == MEM || insn.mode() == ATOMIC && atomic(insn),
        _ => jumps(insn),
    };
    if is_known {
        Ok(())
    } else {
        Err("an unknown instruction")
    }
}

/// Only the forms that the instruction set defines.
fn arithmetic(insn: Insn) -> bool {
    match insn.op() {
        0xd0 => matches!(insn.imm, 16 | 32 | 64),
        0xb0 => match (insn.by_register(), insn.off) {
            (_, 0) => true,
            (true, 8 | 16) => true,
            (true, 32) => insn.class() == ALU64,
            // The two directions between the arena's and the program's own addresses.
            (true, 1) => insn.class() == ALU64 && matches!(insn.imm, 1 | 0x1_0000),
            _ => false,
        },
        0x30 | 0x90 => matches!(insn.off, 0 | 1),
        op => op < 0xe0,
    }
}

/// Only the operations that the instruction set defines, of 4 or 8 bytes.
fn atomic(insn: Insn) -> bool {
    match insn.imm {
        LOAD_ACQUIRE | STORE_RELEASE => true,
        EXCHANGE | COMPARE_EXCHANGE => insn.bytes() >= 4,
        imm => insn.bytes() >= 4 && matches!(imm & !FETCH, 0x00 | 0x40 | 0x50 | 0xa0),
    }
}

/// Only jumps, calls and exits that the instruction set defines.
fn jumps(insn: Insn) -> bool {
    match (insn.class(), insn.op()) {
        (JMP, 0x80) => insn.code == CALL && insn.src <= TO_KFUNC,
        (JMP, 0x90) => insn.code == EXIT,
        (JMP, 0xe0) => insn.code == MAY_GOTO,
        (_, 0x00) => matches!(insn.code, 0x05 | LONG_JUMP),
        (_, op) => op <= 0xd0 && !matches!(op, 0x80 | 0x90),
    }
}
