//! Small programs, and random numbers.
//!
//! What must stay: `both` demands the same of interpreter and compiler, so nothing may be asked of
//! one alone through it. Free: how programs are put together; a new helper beside these. Callers:
//! programs.rs, maps.rs, budget.rs, hostile.rs, same.rs; a fault here fails there. `insn`, `exit`,
//! `set` and `wide` make instructions; `machine` and `both` run them; `constant`, `helper`, `kfunc`
//! and `call` link them as a loader would; `Random` (`next`, `below`, `one_of`) follows from its
//! seed.

use wakeplace_bpf_vm::memory::PAGE;
use wakeplace_bpf_vm::{Arena, Env, Fault, Insn, Linker, Program, Vm};

/// An instruction.
pub(crate) fn insn(code: u8, dst: u8, src: u8, off: i16, imm: i32) -> Insn {
    Insn {
        code,
        dst,
        src,
        off,
        imm,
    }
}

/// `exit`.
pub(crate) fn exit() -> Insn {
    insn(0x95, 0, 0, 0, 0)
}

/// `dst = imm`, in 64 bits.
pub(crate) fn set(dst: u8, imm: i32) -> Insn {
    insn(0xb7, dst, 0, 0, imm)
}

/// A constant of 64 bits, in two instructions.
pub(crate) fn wide(dst: u8, value: u64) -> [Insn; 2] {
    let half = |word: u64| (word as u32).cast_signed();
    [
        insn(0x18, dst, 0, 0, half(value)),
        insn(0, 0, 0, 0, half(value >> 32)),
    ]
}

/// Calls are the numbers of helpers, if `bpf-vm` has them.
pub(crate) struct Helpers;

impl Linker for Helpers {
    fn constant(&mut self, source: u8, low: u32, _: u32) -> Result<u64, String> {
        match source {
            1 => Ok(Vm::map_handle(low as usize)),
            other => Err(format!("a constant of kind {other}")),
        }
    }

    fn helper(&mut self, number: u32) -> Result<u32, String> {
        match wakeplace_bpf_vm::helpers::is_offered(number) {
            true => Ok(number),
            false => Err(wakeplace_bpf_vm::helpers::name(number)),
        }
    }

    fn kfunc(&mut self, number: u32, _: i16) -> Result<u32, String> {
        Err(format!("kfunc {number}"))
    }
}

impl Env for Helpers {
    fn call(&mut self, vm: &mut Vm, call: u32, args: [u64; 5]) -> Result<u64, Fault> {
        wakeplace_bpf_vm::helpers::call(vm, self, call, args)
    }
}

/// A machine with one program, compiled or not.
pub(crate) fn machine(insns: &[Insn], compiled: bool) -> Vm {
    let mut vm = Vm::new(4).expect("room");
    vm.arena = Arena::of(0, (4 << 30) / PAGE);
    let program = Program::link("test", insns.to_vec(), &mut Helpers).expect("a program");
    let number = vm.add_program(program).expect("room");
    if compiled {
        vm.compile(&[number]).expect("compiled");
    }
    vm
}

/// What a program returns, interpreted and compiled: the same.
#[track_caller]
pub(crate) fn both(insns: &[Insn], args: [u64; 5]) -> Result<u64, Fault> {
    let run = |compiled| machine(insns, compiled).run(&mut Helpers, 0, args);
    let (interpreted, compiled) = (run(false), run(true));
    assert_eq!(interpreted, compiled, "{insns:#x?}");
    interpreted
}

/// A fixed sequence of numbers (xorshift64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}
