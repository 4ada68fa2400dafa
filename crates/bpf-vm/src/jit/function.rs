//! One function: its frame, its blocks, memory, jumps and calls. What it does to registers and
//! memory is what `interp` does.
//!
//! What must stay: same results, same faults and the same budget as the interpreter, and an address
//! is used as it was checked. Free: which machine code is made, as long as same.rs holds. Tests by
//! part: `compiled_programs_do_what_interpreted_ones_do` (`build`, `leaders`, `body`,
//! `instruction`, `load`, `widened`, `load_into`, `narrowed`, `store_from`, `store`, `jump`,
//! `condition`, `get`, `set`, `constant`, `word`, `on_frame`: a fault of one differs from
//! interpreted code), `shifted_addresses_are_the_same_compiled_as_interpreted` and
//! `a_store_at_a_shifted_address_stays_inside` (`readable`, `writable`), `a_frame_begins_zeroed`
//! (`enter`), `a_loop_without_end_is_named` (`spend`, `go`), `recursion_without_end_is_named`
//! (`fault`, `faults`, `call`, `arguments`, `returned`),
//! maps.rs::`compiled_code_looks_up_as_the_helper_does` (`call_out`, `put_context`),
//! budget.rs::`what_was_not_handed_out_is_not_written` (`reaches`). Callers: jit/mod.rs (`build`);
//! operations.rs and lookup.rs use `get`, `set` and `constant`.
//!
//! Tests: crates/bpf-vm/tests/all/same.rs, crates/bpf-vm/tests/all/programs.rs,
//! crates/bpf-vm/tests/all/budget.rs::what_was_not_handed_out_is_not_written

use crate::helpers::{CPU_ID, MAP_LOOKUP};
use crate::insn::{
    self, ALU, ALU64, ATOMIC, COMPARE_EXCHANGE, EXIT, FETCH, Insn, JMP32, LDX, LOAD_ACQUIRE,
    MEM_SIGNED, ST, STORE_RELEASE, STX, TO_FUNCTION,
};
use crate::interp::{FAULT_BUDGET, FAULT_STACK, FAULT_STORE};
use crate::memory::{BASE, FRAME, LOWEST, NOWHERE, SIZE, STACK_BOTTOM};
use crate::program::Program;
use crate::vm::{Context, Vm, call_out};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I8X16, I16, I32, I64};
use cranelift_codegen::ir::{
    Block, Function, Inst, InstBuilder as _, MemFlags, SigRef, Type, Value,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module as _};
use std::collections::BTreeMap;
use std::mem::offset_of;

/// What is compiled.
pub(super) struct Source<'a> {
    pub(super) program: &'a Program,
    pub(super) number: usize,
    /// Which of its functions.
    pub(super) at: usize,
    pub(super) ids: &'a BTreeMap<(usize, usize), FuncId>,
}

/// A function in the making.
pub(super) struct Making<'a, 'b> {
    pub(super) b: FunctionBuilder<'b>,
    pub(super) registers: [Variable; 11],
    pub(super) context: Value,
    module: &'a mut JITModule,
    of: &'a Source<'a>,
    pub(super) host: Value,
    /// What a pointer's place on the host is more than the pointer.
    to_host: Value,
    /// Where the host has nothing but zeros, as far as an instruction reaches.
    nowhere: Value,
    /// The top of the frame, as the program and as the host see it.
    top: Value,
    host_top: Value,
    blocks: BTreeMap<usize, Block>,
    /// Returns 0, a fault is set.
    out: Block,
    /// A wild store; its parameter is the address.
    wild: Block,
    over_budget: Block,
    call_out: SigRef,
}

/// Offsets in `Context`.
const HOST: i32 = offset_of!(Context, host) as i32;
const BUDGET: i32 = offset_of!(Context, budget) as i32;
const SP: i32 = offset_of!(Context, sp) as i32;
const FAULT: i32 = offset_of!(Context, fault) as i32;
const FAULT_ADDR: i32 = offset_of!(Context, fault_addr) as i32;
const CALL: i32 = offset_of!(Context, call) as i32;

/// Compiles one function of a program.
pub(super) fn build(
    module: &mut JITModule,
    function: &mut Function,
    scratch: &mut FunctionBuilderContext,
    of: &Source<'_>,
) {
    let mut b = FunctionBuilder::new(function, scratch);
    let registers = std::array::from_fn(|_| b.declare_var(I64));
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let params: Vec<Value> = b.block_params(entry).to_vec();
    let trusted = MemFlags::trusted();
    let context = params[0];
    let host = b.ins().load(I64, trusted, context, HOST);
    let top = b.ins().load(I64, trusted, context, SP);
    let to_host = b.ins().iadd_imm(host, (BASE as i64).wrapping_neg());
    let nowhere = b.ins().iadd_imm(host, NOWHERE as i64);
    let host_top = b.ins().iadd(top, to_host);
    let [out, wild, over_budget] = [(); 3].map(|()| b.create_block());
    b.append_block_param(wild, I64);
    for block in [out, wild, over_budget] {
        b.set_cold_block(block);
    }
    let call_out = b.import_signature(super::signature(module));
    let mut making = Making {
        b,
        registers,
        context,
        module,
        of,
        host,
        to_host,
        nowhere,
        top,
        host_top,
        blocks: BTreeMap::new(),
        out,
        wild,
        over_budget,
        call_out,
    };
    making.enter(&params);
    making.body();
    making.faults();
    making.b.seal_all_blocks();
    making.b.finalize();
}

/// The compiler's type of 1, 2, 4 or 8 bytes.
fn word(bytes: u64) -> Type {
    match bytes {
        1 => I8,
        2 => I16,
        4 => I32,
        _ => I64,
    }
}

impl Making<'_, '_> {
    /// Register 10 is the frame's top.
    pub(super) fn get(&mut self, register: u8) -> Value {
        match register {
            10 => self.top,
            _ => self.b.use_var(self.registers[register as usize]),
        }
    }

    /// Never register 10.
    pub(super) fn set(&mut self, register: u8, value: Value) {
        self.b.def_var(self.registers[register as usize], value);
    }

    /// Makes a constant of 64 bits.
    pub(super) fn constant(&mut self, value: u64) -> Value {
        self.b.ins().iconst(I64, value.cast_signed())
    }

    /// Stores to the context that compiled code and Rust share.
    fn put_context(&mut self, value: Value, offset: i32) {
        self.b
            .ins()
            .store(MemFlags::trusted(), value, self.context, offset);
    }

    /// Makes the frame and sets the registers.
    fn enter(&mut self, params: &[Value]) {
        let function = self.of.program.functions[self.of.at];
        self.spend((function.end - function.start) as i64);
        let (top, room) = (self.top, (STACK_BOTTOM + FRAME) as i64);
        let full = self.b.ins().icmp_imm(IntCC::UnsignedLessThan, top, room);
        let (full_block, go_on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(full_block);
        self.b.ins().brif(full, full_block, &[], go_on, &[]);
        self.b.switch_to_block(full_block);
        self.fault(FAULT_STACK);
        self.b.switch_to_block(go_on);
        let next = self.b.ins().iadd_imm(top, -(FRAME as i64));
        self.put_context(next, SP);
        let zero = self.b.ins().iconst(I8, 0);
        let zeros = self.b.ins().splat(I8X16, zero);
        for chunk in 1..=function.zeroed / 16 {
            let offset = -(16 * chunk as i32);
            self.b
                .ins()
                .store(MemFlags::trusted(), zeros, self.host_top, offset);
        }
        let zero = self.constant(0);
        for register in 0..10 {
            let value = match register {
                1..=5 => params[register as usize],
                _ => zero,
            };
            self.set(register, value);
        }
    }

    /// Sets a fault and leaves; ends the block.
    fn fault(&mut self, number: u64) {
        let number = self.constant(number);
        self.put_context(number, FAULT);
        let out = self.out;
        self.b.ins().jump(out, &[]);
    }

    /// The places to which instructions go whose check failed.
    fn faults(&mut self) {
        self.b.switch_to_block(self.wild);
        let addr = self.b.block_params(self.wild)[0];
        self.put_context(addr, FAULT_ADDR);
        self.fault(FAULT_STORE);
        self.b.switch_to_block(self.over_budget);
        self.fault(FAULT_BUDGET);
        self.b.switch_to_block(self.out);
        let zero = self.constant(0);
        self.b.ins().return_(&[zero]);
    }

    /// Takes instructions off the budget.
    fn spend(&mut self, insns: i64) {
        let trusted = MemFlags::trusted();
        let left = self.b.ins().load(I64, trusted, self.context, BUDGET);
        let left = self.b.ins().iadd_imm(left, -insns);
        self.put_context(left, BUDGET);
        let over = self.b.ins().icmp_imm(IntCC::SignedLessThan, left, 0);
        let (over_budget, go_on) = (self.over_budget, self.b.create_block());
        self.b.ins().brif(over, over_budget, &[], go_on, &[]);
        self.b.switch_to_block(go_on);
    }

    /// Begins a block at every place that a jump goes to or leaves from.
    fn leaders(&mut self, start: usize, end: usize) {
        let insns = &self.of.program.insns;
        let mut leaders = vec![start];
        let mut pc = start;
        while pc < end {
            if let Some(to) = insn::jump(insns[pc], pc) {
                leaders.extend([to as usize, pc + 1]);
            }
            pc += if insns[pc].is_wide() { 2 } else { 1 };
        }
        for leader in leaders.into_iter().filter(|leader| *leader < end) {
            if !self.blocks.contains_key(&leader) {
                let block = self.b.create_block();
                self.blocks.insert(leader, block);
            }
        }
    }

    /// All instructions, block by block.
    fn body(&mut self) {
        let function = self.of.program.functions[self.of.at];
        self.leaders(function.start, function.end);
        let first = self.blocks[&function.start];
        self.b.ins().jump(first, &[]);
        let mut open = false;
        let mut pc = function.start;
        while pc < function.end {
            let insn = self.of.program.insns[pc];
            if let Some(block) = self.blocks.get(&pc).copied() {
                if open {
                    self.b.ins().jump(block, &[]);
                }
                self.b.switch_to_block(block);
                open = true;
            }
            if open {
                open = self.instruction(insn, pc);
            }
            pc += if insn.is_wide() { 2 } else { 1 };
        }
    }

    /// Returns true if the next instruction follows it.
    fn instruction(&mut self, insn: Insn, pc: usize) -> bool {
        match insn.class() {
            ALU | ALU64 => self.arithmetic(insn),
            LDX => self.load_into(insn),
            ST => {
                let value = self.constant(i64::from(insn.imm).cast_unsigned());
                self.store_from(insn, value);
            }
            STX => self.store(insn),
            insn::LD => {
                let value = self.of.program.values[pc];
                let value = match insn.src {
                    insn::OF_FUNCTION => Vm::function_handle(self.of.number, value as usize),
                    _ => value,
                };
                let value = self.constant(value);
                self.set(insn.dst, value);
            }
            _ => return self.jump(insn, pc),
        }
        true
    }

    /// Where the host has the address of a load, or its page of zeros.
    fn readable(&mut self, register: u8, insn: Insn) -> (Value, i32) {
        if let Some(offset) = on_frame(register, insn) {
            return (self.host_top, offset);
        }
        let base = self.get(register);
        // The same for all loads by this pointer: the compiler makes it once.
        let place = self.b.ins().ushr_imm(base, SIZE.trailing_zeros() as i64);
        let inside = (BASE >> SIZE.trailing_zeros()) as i64;
        let inside = self.b.ins().icmp_imm(IntCC::Equal, place, inside);
        let there = self.b.ins().iadd(base, self.to_host);
        let there = self.b.ins().select(inside, there, self.nowhere);
        (there, i32::from(insn.off))
    }

    /// Where the host has the address of a store; a wild one leaves the function.
    fn writable(&mut self, insn: Insn) -> (Value, i32) {
        if let Some(offset) = on_frame(insn.dst, insn) {
            return (self.host_top, offset);
        }
        let base = self.get(insn.dst);
        let addr = self.b.ins().iadd_imm(base, i64::from(insn.off));
        let offset = self.b.ins().iadd_imm(addr, (LOWEST as i64).wrapping_neg());
        let heap = self.context_word(offset_of!(Context, heap));
        let in_heap = self.reaches(offset, heap, insn.bytes());
        let [elsewhere, go_on] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(elsewhere);
        self.b.ins().brif(in_heap, go_on, &[], elsewhere, &[]);
        self.b.switch_to_block(elsewhere);
        let from = self.context_word(offset_of!(Context, arena_from));
        let offset = self.b.ins().isub(addr, from);
        let arena = self.context_word(offset_of!(Context, arena_bytes));
        let in_arena = self.reaches(offset, arena, insn.bytes());
        let wild = self.wild;
        self.b
            .ins()
            .brif(in_arena, go_on, &[], wild, &[addr.into()]);
        self.b.switch_to_block(go_on);
        let there = self.b.ins().iadd(base, self.to_host);
        (there, i32::from(insn.off))
    }

    /// Are so many bytes at this offset in a room of `room` bytes, which is longer than they are?
    fn reaches(&mut self, offset: Value, room: Value, bytes: u64) -> Value {
        let last = self.b.ins().iadd_imm(room, -(bytes as i64));
        let order = IntCC::UnsignedLessThanOrEqual;
        self.b.ins().icmp(order, offset, last)
    }

    /// A value of memory, not widened.
    fn load(&mut self, register: u8, insn: Insn) -> Value {
        let (base, offset) = self.readable(register, insn);
        let ty = word(insn.bytes());
        self.b.ins().load(ty, MemFlags::new(), base, offset)
    }

    /// To 64 bits, by zeros or by the sign.
    fn widened(&mut self, value: Value, bytes: u64, signed: bool) -> Value {
        match (bytes, signed) {
            (8, _) => value,
            (_, true) => self.b.ins().sextend(I64, value),
            (_, false) => self.b.ins().uextend(I64, value),
        }
    }

    /// A whole load instruction.
    fn load_into(&mut self, insn: Insn) {
        let value = self.load(insn.src, insn);
        let value = self.widened(value, insn.bytes(), insn.mode() == MEM_SIGNED);
        self.set(insn.dst, value);
    }

    /// To the width of a store.
    fn narrowed(&mut self, value: Value, bytes: u64) -> Value {
        match bytes {
            8 => value,
            _ => self.b.ins().ireduce(word(bytes), value),
        }
    }

    /// A whole store instruction, with its check.
    fn store_from(&mut self, insn: Insn, value: Value) {
        let value = self.narrowed(value, insn.bytes());
        let (base, offset) = self.writable(insn);
        self.b.ins().store(MemFlags::new(), value, base, offset);
    }

    /// Stores and atomic instructions; programs run one after the other, so plain ones do.
    fn store(&mut self, insn: Insn) {
        let value = self.get(insn.src);
        if insn.mode() != ATOMIC || insn.imm == STORE_RELEASE {
            return self.store_from(insn, value);
        }
        if insn.imm == LOAD_ACQUIRE {
            return self.load_into(insn);
        }
        let bytes = insn.bytes();
        let (base, offset) = self.writable(insn);
        let flags = MemFlags::new();
        let old = self.b.ins().load(word(bytes), flags, base, offset);
        let operand = self.narrowed(value, bytes);
        let new = match insn.imm & !FETCH {
            0x00 => self.b.ins().iadd(old, operand),
            0x40 => self.b.ins().bor(old, operand),
            0x50 => self.b.ins().band(old, operand),
            0xa0 => self.b.ins().bxor(old, operand),
            0xf0 => {
                let expected = self.get(0);
                let expected = self.narrowed(expected, bytes);
                let equal = self.b.ins().icmp(IntCC::Equal, old, expected);
                self.b.ins().select(equal, operand, old)
            }
            _ => operand,
        };
        self.b.ins().store(flags, new, base, offset);
        let old = self.widened(old, bytes, false);
        match insn.imm {
            COMPARE_EXCHANGE => self.set(0, old),
            imm if imm & FETCH != 0 => self.set(insn.src, old),
            _ => {}
        }
    }

    /// A jump, call or exit; false: what follows is not reached from here.
    fn jump(&mut self, insn: Insn, pc: usize) -> bool {
        if insn.code == EXIT {
            let top = self.top;
            self.put_context(top, SP);
            let result = self.get(0);
            self.b.ins().return_(&[result]);
            return false;
        }
        if insn.is_call() {
            self.call(insn, pc);
            return true;
        }
        let to = insn::jump(insn, pc).map_or(pc, |to| to as usize);
        let target = self.blocks[&to];
        match insn.op() {
            0x00 => self.go(pc, to, target),
            // may_goto: the budget ends what loops for ever.
            0xe0 => {
                let next = self.blocks[&(pc + 1)];
                self.b.ins().jump(next, &[]);
            }
            _ => {
                let taken = self.condition(insn);
                let next = self.blocks[&(pc + 1)];
                if to > pc {
                    self.b.ins().brif(taken, target, &[], next, &[]);
                } else {
                    let back = self.b.create_block();
                    self.b.ins().brif(taken, back, &[], next, &[]);
                    self.b.switch_to_block(back);
                    self.go(pc, to, target);
                }
            }
        }
        false
    }

    /// A jump backwards pays for the instructions that it repeats.
    fn go(&mut self, pc: usize, to: usize, target: Block) {
        if to <= pc {
            self.spend((pc - to + 1) as i64);
        }
        self.b.ins().jump(target, &[]);
    }

    /// The value that a conditional jump tests.
    fn condition(&mut self, insn: Insn) -> Value {
        let mut a = self.get(insn.dst);
        let mut b = match insn.by_register() {
            true => self.get(insn.src),
            false => self.constant(i64::from(insn.imm).cast_unsigned()),
        };
        if insn.class() == JMP32 {
            a = self.b.ins().ireduce(I32, a);
            b = self.b.ins().ireduce(I32, b);
        }
        let order = match insn.op() {
            0x10 => IntCC::Equal,
            0x20 => IntCC::UnsignedGreaterThan,
            0x30 => IntCC::UnsignedGreaterThanOrEqual,
            0x40 => {
                let both = self.b.ins().band(a, b);
                return self.b.ins().icmp_imm(IntCC::NotEqual, both, 0);
            }
            0x50 => IntCC::NotEqual,
            0x60 => IntCC::SignedGreaterThan,
            0x70 => IntCC::SignedGreaterThanOrEqual,
            0xa0 => IntCC::UnsignedLessThan,
            0xb0 => IntCC::UnsignedLessThanOrEqual,
            0xc0 => IntCC::SignedLessThan,
            _ => IntCC::SignedLessThanOrEqual,
        };
        self.b.ins().icmp(order, a, b)
    }

    /// A call of a function or a helper.
    fn call(&mut self, insn: Insn, pc: usize) {
        let value = self.of.program.values[pc];
        let result = match insn.src {
            TO_FUNCTION => {
                let id = self.of.ids[&(self.of.number, value as usize)];
                let function = self.module.declare_func_in_func(id, self.b.func);
                let args = self.arguments();
                let call = self.b.ins().call(function, &args);
                self.returned(call)
            }
            _ if value == u64::from(CPU_ID) => self.context_word(offset_of!(Context, cpu)),
            _ if value == u64::from(MAP_LOOKUP) => self.look_up(|making| making.call_out(value)),
            _ => self.call_out(value),
        };
        self.set(0, result);
    }

    /// The context and registers 1 to 5.
    fn arguments(&mut self) -> Vec<Value> {
        let mut args = vec![self.context];
        args.extend((1..=5).map(|register| self.get(register)));
        args
    }

    /// A call that Rust carries out.
    fn call_out(&mut self, number: u64) -> Value {
        let number = self.constant(number);
        self.put_context(number, CALL);
        let target = self.constant(call_out as *const () as u64);
        let args = self.arguments();
        let call = self.b.ins().call_indirect(self.call_out, target, &args);
        self.returned(call)
    }

    /// A call's result, if it has left no fault.
    fn returned(&mut self, call: Inst) -> Value {
        let result = self.b.inst_results(call)[0];
        let fault = self
            .b
            .ins()
            .load(I64, MemFlags::trusted(), self.context, FAULT);
        let (out, go_on) = (self.out, self.b.create_block());
        self.b.ins().brif(fault, out, &[], go_on, &[]);
        self.b.switch_to_block(go_on);
        result
    }
}

/// The offset from the top of the frame, if the address is on it for certain.
fn on_frame(register: u8, insn: Insn) -> Option<i32> {
    let offset = i64::from(insn.off);
    let inside = offset >= -(FRAME as i64) && offset + insn.bytes() as i64 <= 0;
    (register == 10 && inside).then_some(i32::from(insn.off))
}
