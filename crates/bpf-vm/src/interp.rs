//! The interpreter: slow, plain, and what the compiler is compared with. A change of what an
//! instruction does is one of `jit` as well (docs/decisions/058).
//!
//! What must stay: results, faults and budget to the last bit; registers are 64 bits, register 10
//! is never written, numbers of registers were checked before (insn.rs). Free: how an instruction
//! is dispatched. Tests by part: `compiled_programs_do_what_interpreted_ones_do` (`store`, `load`,
//! `taken`, `arithmetic`, `swapped`, `moved`, `operand`, `sign_extended`, `address`, `get`, `set`:
//! a fault of one differs from compiled code), `division_by_zero_and_by_minus_one_have_results` and
//! `shifts_take_their_count_modulo_the_width` (`wide`, `narrow`), `a_load_goes_by_its_register`
//! (`read`), `the_arena_is_cast_by_its_low_half` (`moved`), `a_frame_begins_zeroed` and
//! `recursion_without_end_is_named` (`run`), `a_loop_without_end_is_named` (`spend`),
//! `recursion_without_end_is_named` (`call`). Callers: vm.rs (`run`), jit/operations.rs has the
//! compiled form.
//!
//! Tests: crates/bpf-vm/tests/all/programs.rs, crates/bpf-vm/tests/all/same.rs

use crate::Fault;
use crate::budget;
use crate::insn::{
    self, ALU, ALU64, ATOMIC, COMPARE_EXCHANGE, EXIT, FETCH, Insn, JMP, JMP32, LDX, LOAD_ACQUIRE,
    MEM_SIGNED, ST, STORE_RELEASE, STX, TO_FUNCTION,
};
use crate::memory::{ARENA, FRAME, Memory, STACK_BOTTOM};
use crate::program::Program;
use crate::vm::{ArenaBases, Env, Vm};

/// How compiled code names its faults.
pub(crate) const FAULT_BUDGET: u64 = 1;
pub(crate) const FAULT_STORE: u64 = 2;
pub(crate) const FAULT_STACK: u64 = 3;
pub(crate) const FAULT_CALL: u64 = 4;

/// A function's registers.
struct Registers([u64; 11]);

impl Registers {
    /// Register 0 to 10; numbers were checked.
    fn get(&self, register: u8) -> u64 {
        self.0[register as usize]
    }

    /// Writes register 0 to 9; nothing writes register 10, which was checked.
    fn set(&mut self, register: u8, value: u64) {
        self.0[register as usize] = value;
    }

    /// The second operand.
    fn operand(&self, insn: Insn) -> u64 {
        match insn.by_register() {
            true => self.get(insn.src),
            false => i64::from(insn.imm).cast_unsigned(),
        }
    }
}

/// Runs the function at `start` of a program (which has a number).
pub(crate) fn run(
    vm: &mut Vm,
    env: &mut dyn Env,
    of: (&Program, usize),
    start: usize,
    args: [u64; 5],
) -> Result<u64, Fault> {
    let (program, number) = of;
    let function = program.function(start).ok_or(Fault::Stack)?;
    spend(vm, (function.end - function.start) as i64)?;
    let top = vm.context.sp;
    if top < STACK_BOTTOM + FRAME {
        return Err(Fault::Stack);
    }
    vm.context.sp = top - FRAME;
    vm.memory
        .bytes_mut(top - function.zeroed, function.zeroed)?
        .fill(0);
    let mut registers = Registers([0; 11]);
    registers.0[1..6].copy_from_slice(&args);
    registers.0[10] = top;
    let mut pc = start;
    loop {
        let insn = program.insns[pc];
        match insn.class() {
            ALU | ALU64 => {
                let value = arithmetic(insn, &registers, vm.context.arena);
                registers.set(insn.dst, value);
            }
            LDX => load(insn, &mut registers, vm),
            ST => {
                let addr = address(registers.get(insn.dst), insn);
                vm.memory
                    .store(addr, insn.bytes(), i64::from(insn.imm).cast_unsigned())?;
            }
            STX => store(insn, &mut registers, vm)?,
            JMP | JMP32 => {
                if insn.code == EXIT {
                    vm.context.sp = top;
                    return Ok(registers.get(0));
                }
                if insn.is_call() {
                    let result = call(vm, env, of, pc, &registers)?;
                    registers.set(0, result);
                } else if taken(insn, &registers)
                    && let Some(to) = insn::jump(insn, pc)
                {
                    let to = to as usize;
                    if to <= pc {
                        spend(vm, (pc - to + 1) as i64)?;
                    }
                    pc = to;
                    continue;
                }
            }
            _ => {
                let value = program.values[pc];
                let value = match insn.src {
                    insn::OF_FUNCTION => Vm::function_handle(number, value as usize),
                    _ => value,
                };
                registers.set(insn.dst, value);
                pc += 1;
            }
        }
        pc += 1;
    }
}

/// Takes instructions off the budget. Both ways of running count the same: a function when it is
/// entered, a loop when it goes back.
pub(crate) fn spend(vm: &mut Vm, insns: i64) -> Result<(), Fault> {
    vm.context.budget = vm.context.budget.saturating_sub(insns);
    match vm.context.budget < 0 {
        true => Err(Fault::Budget {
            limit: budget::INSNS,
        }),
        false => Ok(()),
    }
}

/// A call of a function, a helper or a kfunc.
fn call(
    vm: &mut Vm,
    env: &mut dyn Env,
    of: (&Program, usize),
    pc: usize,
    registers: &Registers,
) -> Result<u64, Fault> {
    let (insn, value) = (of.0.insns[pc], of.0.values[pc]);
    let [_, a, b, c, d, e, ..] = registers.0;
    match insn.src {
        TO_FUNCTION => run(vm, env, of, value as usize, [a, b, c, d, e]),
        _ => env.call(vm, value as u32, [a, b, c, d, e]),
    }
}

/// Base and offset, wrapping.
fn address(base: u64, insn: Insn) -> u64 {
    base.wrapping_add_signed(i64::from(insn.off))
}

/// From 1, 2 or 4 bytes to 64 bits.
fn sign_extended(value: u64, bytes: u64) -> u64 {
    let unused = 64 - 8 * bytes;
    ((value << unused).cast_signed() >> unused).cast_unsigned()
}

/// What is there; 0 if the register points outside the memory, wherever the offset leads to. At the
/// end of the memory, as much as is there.
fn read(insn: Insn, base: u64, vm: &Vm) -> u64 {
    let (addr, bytes) = (address(base, insn), insn.bytes());
    if !Memory::holds(base) {
        return 0;
    }
    if vm.memory.bytes(addr, bytes).is_some() {
        return vm.memory.load(addr, bytes);
    }
    let byte = |at: u64| vm.memory.load(addr.wrapping_add(at), 1) << (8 * at);
    (0..bytes).map(byte).sum()
}

/// A load widens by zeros or, `MEM_SIGNED`, by the sign.
fn load(insn: Insn, registers: &mut Registers, vm: &Vm) {
    let value = read(insn, registers.get(insn.src), vm);
    let value = match insn.mode() {
        MEM_SIGNED => sign_extended(value, insn.bytes()),
        _ => value,
    };
    registers.set(insn.dst, value);
}

/// A store or an atomic operation.
fn store(insn: Insn, registers: &mut Registers, vm: &mut Vm) -> Result<(), Fault> {
    let (bytes, value) = (insn.bytes(), registers.get(insn.src));
    let addr = address(registers.get(insn.dst), insn);
    if insn.mode() != ATOMIC || insn.imm == STORE_RELEASE {
        return vm.memory.store(addr, bytes, value);
    }
    if insn.imm == LOAD_ACQUIRE {
        registers.set(insn.dst, read(insn, value, vm));
        return Ok(());
    }
    let old = vm.memory.load(addr, bytes);
    let expected = match bytes {
        8 => registers.get(0),
        _ => u64::from(registers.get(0) as u32),
    };
    let new = match insn.imm & !FETCH {
        0x00 => old.wrapping_add(value),
        0x40 => old | value,
        0x50 => old & value,
        0xa0 => old ^ value,
        0xf0 if old != expected => old,
        _ => value,
    };
    vm.memory.store(addr, bytes, new)?;
    match insn.imm {
        COMPARE_EXCHANGE => registers.set(0, old),
        imm if imm & FETCH != 0 => registers.set(insn.src, old),
        _ => {}
    }
    Ok(())
}

/// Says whether a conditional jump is taken, by its operation and both operands.
fn taken(insn: Insn, registers: &Registers) -> bool {
    let (mut a, mut b) = (registers.get(insn.dst), registers.operand(insn));
    if insn.class() == JMP32 {
        (a, b) = (sign_extended(a, 4), sign_extended(b, 4));
    }
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    // Of sign-extended halves the unsigned order is that of the halves.
    match insn.op() {
        0x00 => true,
        0x10 => a == b,
        0x20 => a > b,
        0x30 => a >= b,
        0x40 => a & b != 0,
        0x50 => a != b,
        0x60 => sa > sb,
        0x70 => sa >= sb,
        0xa0 => a < b,
        0xb0 => a <= b,
        0xc0 => sa < sb,
        0xd0 => sa <= sb,
        _ => false, // may_goto: the budget ends what loops for ever
    }
}

/// The result of an arithmetic instruction of either width.
fn arithmetic(insn: Insn, registers: &Registers, arena: ArenaBases) -> u64 {
    let (a, b) = (registers.get(insn.dst), registers.operand(insn));
    if insn.op() == 0xd0 {
        return swapped(insn, a);
    }
    if insn.op() == 0xb0 && insn.by_register() && insn.off != 0 {
        let moved = moved(insn, b, arena);
        return match insn.class() {
            ALU64 => moved,
            _ => u64::from(moved as u32),
        };
    }
    match insn.class() {
        ALU64 => wide(insn, a, b),
        _ => u64::from(narrow(insn, a as u32, b as u32)),
    }
}

/// The bytes of a register in another order.
fn swapped(insn: Insn, a: u64) -> u64 {
    let swaps = insn.class() == ALU64 || insn.by_register();
    match (insn.imm, swaps) {
        (16, true) => u64::from((a as u16).swap_bytes()),
        (32, true) => u64::from((a as u32).swap_bytes()),
        (64, true) => a.swap_bytes(),
        (16, false) => u64::from(a as u16),
        (32, false) => u64::from(a as u32),
        _ => a,
    }
}

/// Moves that extend the sign, or go between the arena's addresses.
fn moved(insn: Insn, b: u64, arena: ArenaBases) -> u64 {
    match (insn.off, insn.imm) {
        (1, 1) if b as u32 == 0 => arena.first,
        (1, _) if b as u32 == 0 => 0,
        (1, 1) => ARENA | u64::from(b as u32),
        (1, _) => arena.user | u64::from(b as u32),
        (bits, _) => sign_extended(b, u64::from(bits.unsigned_abs()) / 8),
    }
}

/// Arithmetic of 64 bits; dividing by 0 gives 0, and a remainder leaves the number.
fn wide(insn: Insn, a: u64, b: u64) -> u64 {
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    match (insn.op(), insn.off) {
        (0x00, _) => a.wrapping_add(b),
        (0x10, _) => a.wrapping_sub(b),
        (0x20, _) => a.wrapping_mul(b),
        (0x30, _) if b == 0 => 0,
        (0x30, 1) => sa.wrapping_div(sb).cast_unsigned(),
        (0x30, _) => a / b,
        (0x40, _) => a | b,
        (0x50, _) => a & b,
        (0x60, _) => a.wrapping_shl(b as u32),
        (0x70, _) => a.wrapping_shr(b as u32),
        (0x80, _) => a.wrapping_neg(),
        (0x90, _) if b == 0 => a,
        (0x90, 1) => sa.wrapping_rem(sb).cast_unsigned(),
        (0x90, _) => a % b,
        (0xa0, _) => a ^ b,
        (0xb0, _) => b,
        _ => sa.wrapping_shr(b as u32).cast_unsigned(),
    }
}

/// Arithmetic of 32 bits, by the same rules.
fn narrow(insn: Insn, a: u32, b: u32) -> u32 {
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    match (insn.op(), insn.off) {
        (0x00, _) => a.wrapping_add(b),
        (0x10, _) => a.wrapping_sub(b),
        (0x20, _) => a.wrapping_mul(b),
        (0x30, _) if b == 0 => 0,
        (0x30, 1) => sa.wrapping_div(sb).cast_unsigned(),
        (0x30, _) => a / b,
        (0x40, _) => a | b,
        (0x50, _) => a & b,
        (0x60, _) => a.wrapping_shl(b),
        (0x70, _) => a.wrapping_shr(b),
        (0x80, _) => a.wrapping_neg(),
        (0x90, _) if b == 0 => a,
        (0x90, 1) => sa.wrapping_rem(sb).cast_unsigned(),
        (0x90, _) => a % b,
        (0xa0, _) => a ^ b,
        (0xb0, _) => b,
        _ => sa.wrapping_shr(b).cast_unsigned(),
    }
}
