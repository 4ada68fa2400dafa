//! Arithmetic.
//!
//! What must stay: results to the last bit as `interp` has them; no division of the host traps.
//! Free: which machine code is made, as long as same.rs holds. Tests by part:
//! `compiled_programs_do_what_interpreted_ones_do` (`arithmetic`, `swapped`, `moved`,
//! `context_word`), `division_by_zero_and_by_minus_one_have_results` (`divisor`, `divided`,
//! `remainder`), programs.rs::`shifts_take_their_count_modulo_the_width` (`plain`),
//! programs.rs::`the_arena_is_cast_by_its_low_half` (`cast`).
//!
//! Tests: crates/bpf-vm/tests/all/same.rs, crates/bpf-vm/tests/all/programs.rs

use super::function::Making;
use crate::insn::{ALU64, Insn};
use crate::memory::ARENA;
use crate::vm::{ArenaBases, Context};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I64};
use cranelift_codegen::ir::{InstBuilder as _, MemFlags, Type, Value};
use std::mem::offset_of;

impl Making<'_, '_> {
    /// An arithmetic instruction of either width.
    pub(super) fn arithmetic(&mut self, insn: Insn) {
        let result = match insn.op() {
            0xd0 => self.swapped(insn),
            0xb0 if insn.by_register() && insn.off != 0 => self.moved(insn),
            _ => {
                let result = self.plain(insn);
                match insn.class() {
                    ALU64 => result,
                    _ => self.b.ins().uextend(I64, result),
                }
            }
        };
        self.set(insn.dst, result);
    }

    /// A change of byte order.
    fn swapped(&mut self, insn: Insn) -> Value {
        let value = self.get(insn.dst);
        let swaps = insn.class() == ALU64 || insn.by_register();
        let ty = match insn.imm {
            16 => I16,
            32 => I32,
            _ => I64,
        };
        let narrow = if ty == I64 {
            value
        } else {
            self.b.ins().ireduce(ty, value)
        };
        let swapped = if swaps {
            self.b.ins().bswap(narrow)
        } else {
            narrow
        };
        if ty == I64 {
            swapped
        } else {
            self.b.ins().uextend(I64, swapped)
        }
    }

    /// Moves that extend the sign, or go between the arena's addresses.
    fn moved(&mut self, insn: Insn) -> Value {
        let value = self.get(insn.src);
        if insn.off == 1 {
            return self.cast(value, insn.imm == 1);
        }
        let ty = match insn.off {
            8 => I8,
            16 => I16,
            _ => I32,
        };
        let narrow = self.b.ins().ireduce(ty, value);
        let wide = self.b.ins().sextend(I64, narrow);
        if insn.class() == ALU64 {
            return wide;
        }
        let low = self.b.ins().ireduce(I32, wide);
        self.b.ins().uextend(I64, low)
    }

    /// An address of the arena, from the program's form to the loader's or back.
    fn cast(&mut self, value: Value, to_program: bool) -> Value {
        let low = self.b.ins().ireduce(I32, value);
        let low = self.b.ins().uextend(I64, low);
        let arena = offset_of!(Context, arena);
        let (high, of_null) = match to_program {
            true => {
                let first = arena + offset_of!(ArenaBases, first);
                (self.constant(ARENA), self.context_word(first))
            }
            false => {
                let user = arena + offset_of!(ArenaBases, user);
                (self.context_word(user), low)
            }
        };
        let whole = self.b.ins().bor(low, high);
        let is_null = self.b.ins().icmp_imm(IntCC::Equal, low, 0);
        self.b.ins().select(is_null, of_null, whole)
    }

    /// A word of the context that compiled code and Rust share.
    pub(super) fn context_word(&mut self, offset: usize) -> Value {
        let trusted = MemFlags::trusted();
        self.b.ins().load(I64, trusted, self.context, offset as i32)
    }

    /// In 64 bits, or in 32 bits without the widening.
    fn plain(&mut self, insn: Insn) -> Value {
        let ty = if insn.class() == ALU64 { I64 } else { I32 };
        let mut a = self.get(insn.dst);
        let mut b = match insn.by_register() {
            true => self.get(insn.src),
            false => self.constant(i64::from(insn.imm).cast_unsigned()),
        };
        if ty == I32 {
            a = self.b.ins().ireduce(I32, a);
            b = self.b.ins().ireduce(I32, b);
        }
        match insn.op() {
            0x00 => self.b.ins().iadd(a, b),
            0x10 => self.b.ins().isub(a, b),
            0x20 => self.b.ins().imul(a, b),
            0x30 => self.divided(ty, a, b, insn.off == 1),
            0x40 => self.b.ins().bor(a, b),
            0x50 => self.b.ins().band(a, b),
            0x60 => self.b.ins().ishl(a, b),
            0x70 => self.b.ins().ushr(a, b),
            0x80 => self.b.ins().ineg(a),
            0x90 => self.remainder(ty, a, b, insn.off == 1),
            0xa0 => self.b.ins().bxor(a, b),
            0xb0 => b,
            _ => self.b.ins().sshr(a, b),
        }
    }

    /// A divisor that never traps, and when the result is another: by 0, and signed by -1.
    fn divisor(&mut self, ty: Type, b: Value, signed: bool) -> (Value, Value, Option<Value>) {
        let one = self.b.ins().iconst(ty, 1);
        let is_zero = self.b.ins().icmp_imm(IntCC::Equal, b, 0);
        let safe = self.b.ins().select(is_zero, one, b);
        if !signed {
            return (safe, is_zero, None);
        }
        let is_minus_one = self.b.ins().icmp_imm(IntCC::Equal, b, -1);
        let safe = self.b.ins().select(is_minus_one, one, safe);
        (safe, is_zero, Some(is_minus_one))
    }

    /// A quotient, without the cases in which the host's division traps.
    fn divided(&mut self, ty: Type, a: Value, b: Value, signed: bool) -> Value {
        let (safe, is_zero, is_minus_one) = self.divisor(ty, b, signed);
        let quotient = match is_minus_one {
            None => self.b.ins().udiv(a, safe),
            Some(is_minus_one) => {
                let quotient = self.b.ins().sdiv(a, safe);
                let negated = self.b.ins().ineg(a);
                self.b.ins().select(is_minus_one, negated, quotient)
            }
        };
        let zero = self.b.ins().iconst(ty, 0);
        self.b.ins().select(is_zero, zero, quotient)
    }

    /// By 0 the dividend stays; by -1 the rest is 0.
    fn remainder(&mut self, ty: Type, a: Value, b: Value, signed: bool) -> Value {
        let (safe, is_zero, is_minus_one) = self.divisor(ty, b, signed);
        let rest = match is_minus_one {
            None => self.b.ins().urem(a, safe),
            // By 1 instead of by -1 the rest is 0, too.
            Some(_) => self.b.ins().srem(a, safe),
        };
        self.b.ins().select(is_zero, a, rest)
    }
}
