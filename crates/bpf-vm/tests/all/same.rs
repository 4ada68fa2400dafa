//! Random programs: the compiler does what the interpreter does, to the last bit of memory.
//! Page: docs/decisions/058.
//!
//! What must stay: compiled and interpreted programs agree to the last bit; a program that once
//! differed stays as a test of its own. Free: seeds, lengths and numbers of programs.
//! Tests by part (in crates/bpf-vm/src): insn.rs: `compiled_programs_do_what_interpreted_ones_do`
//! (`arithmetic`, `atomic`, `jumps`); jit/mod.rs: `compiled_programs_do_what_interpreted_ones_do`
//! (`new`, `compile`); jit/function.rs: `a_store_at_a_shifted_address_stays_inside` (`readable`,
//! `writable`); jit/function.rs: `shifted_addresses_are_the_same_compiled_as_interpreted`.
//! Helpers, and who fails with them: `register`, `constant`, `arithmetic`, `memory`, `access`,
//! `jump`, `program`, `written`, `count`, `compare`
//! (`compiled_programs_do_what_interpreted_ones_do`,
//! `shifted_addresses_are_the_same_compiled_as_interpreted`); `shifted`
//! (`shifted_addresses_are_the_same_compiled_as_interpreted`).

use crate::small::{Helpers, Random, both, exit, insn, machine, set, wide};
use wakeplace_bpf_vm::memory::{ARENA, BASE, SIZE};
use wakeplace_bpf_vm::{Insn, Vm};

/// Programs that are compared; `WAKEPLACE_SAME_PROGRAMS` has another number.
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
    let (dst, src) = (register(random), random.below(10) as u8);
    let base = random.one_of(&[9, 9, 9, 10]);
    let off = random.one_of(&[
        -8, -16, -512, -504, 0, 8, 24, 0x7ffc, -0x8000, 1, -7, 3, 0x7fff, -0x7fff,
    ]);
    access(random, [dst.min(8), src, base], off)
}

/// A load or store through a register.
fn access(random: &mut Random, [dst, src, base]: [u8; 3], off: i16) -> Insn {
    let size = random.one_of(&SIZES);
    match random.below(6) {
        0 => insn(0x61 & !0x18 | size, dst, base, off, 0),
        1 if size != 0x18 => insn(0x81 | size, dst, base, off, 0),
        2 => insn(0x62 & !0x18 | size, base, 0, off, constant(random)),
        3 => insn(0x63 & !0x18 | size, base, src, off, 0),
        4 => {
            let size = random.one_of(&[0x00, 0x18]);
            let op = random.one_of(&[0x00, 0x01, 0x40, 0x41, 0x50, 0x51, 0xa0, 0xa1, 0xe1, 0xf1]);
            insn(0xc3 | size, base, src.min(8), off, op)
        }
        _ => insn(0x79, dst, base, off, 0),
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

/// Where the programs of a kind write, and their first argument.
struct Place {
    at: u64,
    argument: u64,
    insns: Vec<Insn>,
}

/// An access whose address is made by a shift of an argument, or by adding an argument of 32 bits
/// that is extended and shifted. Compilers make one instruction of such sums; what was checked must
/// be what is used.
fn shifted(random: &mut Random) -> Place {
    let access = |random: &mut Random, base| {
        let (dst, src) = (random.below(9) as u8, random.below(10) as u8);
        // Too far to be a part of the address in a machine's instruction, mostly.
        let off = random.one_of(&[0x7fff, 0x7ffc, 0x5001, 0x1008, 0, 9]);
        access(random, [dst, src, base], off)
    };
    let shift = 1 + random.below(40);
    if random.below(2) == 0 {
        // The bits that the shift pushes out are anything.
        let multiples = (0x1_0000 >> shift).max(1);
        let at = BASE + (random.below(multiples) << shift);
        let argument = at >> shift | random.next().checked_shl(64 - shift as u32).unwrap_or(0);
        let by_constant = insn(0x67, 1, 0, 0, shift as i32);
        let insns = match random.below(4) {
            1.. => vec![by_constant, access(random, 1)],
            _ => vec![
                set(2, shift as i32),
                insn(0x6f, 1, 2, 0, 0),
                access(random, 1),
            ],
        };
        return Place {
            at,
            argument,
            insns,
        };
    }
    let scale = random.below(4);
    let index = random.below(0x400) as u32;
    let extend = random.one_of(&[
        insn(0xbc, 4, 1, 0, 0),
        insn(0xbf, 4, 1, 32, 0),
        insn(0xbf, 4, 1, 16, 0),
    ]);
    let mut insns = wide(3, SCRATCH).to_vec();
    insns.extend([
        extend,
        insn(0x67, 4, 0, 0, scale as i32),
        insn(0x0f, 3, 4, 0, 0),
        access(random, 3),
    ]);
    Place {
        at: SCRATCH + (u64::from(index) << scale),
        argument: u64::from(index) | random.next() << 32,
        insns,
    }
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

/// The memory that a program may have written, around these places.
fn written(vm: &Vm, places: &[u64]) -> Vec<Vec<u8>> {
    let around = |place: &u64| {
        let from = place.saturating_sub(0x9000).max(BASE);
        let until = (place + 0x9000).min(BASE + SIZE);
        let bytes = vm.memory.bytes(from, until - from).expect("inside");
        bytes.to_vec()
    };
    places.iter().map(around).collect()
}

/// How many programs a test compares.
fn count() -> u64 {
    let asked = std::env::var("WAKEPLACE_SAME_PROGRAMS");
    asked.map_or(PROGRAMS, |count| {
        count.parse().expect("a number of programs")
    })
}

/// Runs both ways and compares results and memory; is there a fault?
fn compare(number: u64, insns: &[Insn], args: [u64; 5], places: &[u64]) -> bool {
    let [interpreted, compiled] = [false, true].map(|compiled| {
        let mut vm = machine(insns, compiled);
        let result = vm.run(&mut Helpers, 0, args);
        (result, written(&vm, places))
    });
    assert!(
        interpreted == compiled,
        "program {number}: {args:#x?} {insns:#x?}"
    );
    interpreted.0.is_err()
}

#[test]
fn compiled_programs_do_what_interpreted_ones_do() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut faults = 0;
    for number in 0..count() {
        let insns = program(&mut random);
        let args = std::array::from_fn(|_| random.next());
        faults += u64::from(compare(number, &insns, args, &[SCRATCH]));
    }
    // Both kinds of ends are there.
    assert!(faults > count() / 20 && faults < count(), "{faults}");
}

/// Goal: compiled code uses the address that it has checked, however it was computed.
#[test]
fn shifted_addresses_are_the_same_compiled_as_interpreted() {
    let mut random = Random(0x0f1e_2d3c_4b5a_6978);
    let mut faults = 0;
    for number in 0..count() {
        let Place {
            at,
            argument,
            mut insns,
        } = shifted(&mut random);
        insns.extend(program(&mut random));
        let args = [
            argument,
            random.next(),
            random.next(),
            random.next(),
            random.next(),
        ];
        faults += u64::from(compare(number, &insns, args, &[SCRATCH, at]));
    }
    assert!(faults > count() / 20 && faults < count(), "{faults}");
}

/// The five instructions of CVE-2026-34971: x <<= 40; *(u8 *)(x + 0x7fff) = 0x41. The low 24 bits
/// of x are 0x60, so that x << 40 is BASE; the upper ones are shifted out. Cranelift 0.130.0
/// checked that address and stored at x << 0 on arm64, outside of the programs' memory.
#[test]
fn a_store_at_a_shifted_address_stays_inside() {
    let x = 0x60 | 0x0001_2345 << 24;
    assert_eq!(x << 40, BASE);
    let insns = [
        insn(0x67, 1, 0, 0, 40),
        set(2, 0x41),
        insn(0x73, 1, 2, 0x7fff, 0),
        set(0, 0),
        exit(),
    ];
    assert_eq!(both(&insns, [x, 0, 0, 0, 0]), Ok(0));
    for compiled in [false, true] {
        let mut vm = machine(&insns, compiled);
        assert_eq!(vm.run(&mut Helpers, 0, [x, 0, 0, 0, 0]), Ok(0));
        assert_eq!(
            vm.memory.load(BASE + 0x7fff, 1),
            0x41,
            "compiled: {compiled}"
        );
    }
}
