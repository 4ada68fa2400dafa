//! Random programs: the compiler does what the interpreter does, to the last bit of memory.

use crate::small::{Helpers, Random, exit, insn, machine, wide};
use wakeplace_bpf_vm::Insn;
use wakeplace_bpf_vm::memory::{ARENA, BASE, SIZE};

const PROGRAMS: u64 = 400;
const LENGTH: u64 = 60;
/// A place in the arena that programs write to.
const SCRATCH: u64 = ARENA + 0x1_0000;

const OPERATIONS: [u8; 13] = [
    0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xa0, 0xb0, 0xc0,
];
const JUMPS: [u8; 11] = [
    0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0xa0, 0xb0, 0xc0, 0xd0,
];
const SIZES: [u8; 4] = [0x00, 0x08, 0x10, 0x18];

/// A register that may be written.
fn register(random: &mut Random) -> u8 {
    random.below(10) as u8
}

fn constant(random: &mut Random) -> i32 {
    let word = random.next() as i32;
    random.one_of(&[0, 1, -1, 2, 31, 63, i32::MIN, i32::MAX, word])
}

fn arithmetic(random: &mut Random) -> Insn {
    let class = random.one_of(&[4, 7]);
    let (dst, src) = (register(random), random.below(11) as u8);
    match random.below(8) {
        0 => insn(0xd4, dst, 0, 0, random.one_of(&[16, 32, 64])),
        1 => insn(0xd0 | 8 | 4, dst, 0, 0, random.one_of(&[16, 32, 64])),
        2 => insn(0xd7, dst, 0, 0, random.one_of(&[16, 32, 64])),
        3 => insn(0xbf, dst, src, random.one_of(&[8, 16, 32]), 0),
        4 => insn(0xbc, dst, src, random.one_of(&[8, 16]), 0),
        _ => {
            let op = random.one_of(&OPERATIONS);
            let signed = matches!(op, 0x30 | 0x90) && random.below(2) == 1;
            let by = random.one_of(&[0, 8]);
            insn(
                op | by | class,
                dst,
                src,
                i16::from(signed),
                constant(random),
            )
        }
    }
}

/// Loads and stores by r9, which points to memory that is there or not, or by r10.
fn memory(random: &mut Random) -> Insn {
    let size = random.one_of(&SIZES);
    let (dst, src) = (register(random), random.below(10) as u8);
    let base = random.one_of(&[9, 9, 9, 10]);
    let off = random.one_of(&[-8, -16, -512, -504, 0, 8, 24, 0x7ffc, -0x8000]);
    match random.below(6) {
        0 => insn(0x61 & !0x18 | size, dst.min(8), base, off, 0),
        1 if size != 0x18 => insn(0x81 | size, dst.min(8), base, off, 0),
        2 => insn(0x62 & !0x18 | size, base, 0, off, constant(random)),
        3 => insn(0x63 & !0x18 | size, base, src, off, 0),
        4 => {
            let size = random.one_of(&[0x00, 0x18]);
            let op = random.one_of(&[0x00, 0x01, 0x40, 0x41, 0x50, 0x51, 0xa0, 0xa1, 0xe1, 0xf1]);
            insn(0xc3 | size, base, src.min(8), off, op)
        }
        _ => insn(0x79, dst.min(8), base, off, 0),
    }
}

/// A jump forwards, or now and then backwards: the budget ends what does not.
fn jump(random: &mut Random, at: u64) -> Insn {
    let forwards = random.below((LENGTH - at).max(1)) as i16;
    let off = match random.below(30) {
        0 => -(random.below(at + 1) as i16) - 1,
        _ => forwards,
    };
    let class = random.one_of(&[5, 6]);
    let by = random.one_of(&[0, 8]);
    let (dst, src) = (random.below(11) as u8, random.below(11) as u8);
    insn(
        random.one_of(&JUMPS) | by | class,
        dst,
        src,
        off,
        constant(random),
    )
}

fn program(random: &mut Random) -> Vec<Insn> {
    let place = random.one_of(&[
        SCRATCH,
        SCRATCH,
        SCRATCH,
        0,
        BASE + SIZE - 4,
        BASE + SIZE + 8,
        16,
    ]);
    let mut insns: Vec<Insn> = (0..LENGTH)
        .map(|at| match random.below(8) {
            0 => jump(random, at),
            1 | 2 => memory(random),
            _ => arithmetic(random),
        })
        .map(|mut insn| {
            // r9 stays what it is.
            if matches!(insn.code & 7, 4 | 7) && insn.dst == 9 {
                insn.dst = 8;
            }
            insn
        })
        .collect();
    insns.push(exit());
    let mut whole = wide(9, place).to_vec();
    whole.extend(insns);
    whole
}

#[test]
fn compiled_programs_do_what_interpreted_ones_do() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut faults = 0;
    for number in 0..PROGRAMS {
        let insns = program(&mut random);
        let args = std::array::from_fn(|_| random.next());
        let mut outcomes = [false, true].map(|compiled| {
            let mut vm = machine(&insns, compiled);
            let result = vm.run(&mut Helpers, 0, args);
            let memory = vm.memory.bytes(SCRATCH - 1024, 2048).expect("inside");
            (result, memory.to_vec())
        });
        let interpreted = std::mem::replace(&mut outcomes[0], (Ok(0), Vec::new()));
        assert!(interpreted == outcomes[1], "program {number}: {insns:#x?}");
        faults += u64::from(interpreted.0.is_err());
    }
    // Both kinds of ends are there.
    assert!(faults > PROGRAMS / 20 && faults < PROGRAMS, "{faults}");
}
