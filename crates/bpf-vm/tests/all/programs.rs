//! What single instructions and faults do, by the instruction set's own words
//! (Documentation/bpf/standardization/instruction-set.rst).
//!
//! What must stay: results are those of the instruction set's own words, the same interpreted and
//! compiled (`both`); faults have their names. Free: registers and constants of a program that its
//! rule does not name.
//! Tests by part (in crates/bpf-vm/src): jit/operations.rs:
//! `division_by_zero_and_by_minus_one_have_results` (`divisor`, `divided`, `remainder`),
//! `shifts_take_their_count_modulo_the_width` (`plain`); interp.rs:
//! `shifts_take_their_count_modulo_the_width` (`wide`, `narrow`), `a_load_goes_by_its_register`
//! (`read`), `recursion_without_end_is_named` (`run`), `the_arena_is_cast_by_its_low_half`
//! (`moved`); fault.rs: `a_load_from_a_wild_address_is_0_and_a_store_is_a_fault` (`WildStore`),
//! `a_loop_without_end_is_named` (`Budget`), `recursion_without_end_is_named` (`Stack`),
//! `what_is_not_offered_is_refused_by_name` (`Refusal`); memory.rs: `a_load_goes_by_its_register`
//! (`load`, `holds`), `the_page_of_zeros_stays` (`LOWEST`); budget.rs:
//! `a_loop_without_end_is_named` (`INSNS`); helpers/mod.rs: `a_loop_of_large_copies_is_named`
//! (`copy`, `bytes_moved`), `what_is_not_offered_is_refused_by_name` (`is_offered`, `name`);
//! jit/mod.rs: `large_functions_nest_within_the_hosts_stack` (`MAX_NATIVE_FRAME`); jit/function.rs:
//! `a_frame_begins_zeroed` (`enter`); program.rs: `a_frame_begins_zeroed` (`frame_used`),
//! `a_wide_constant_is_whole` (`value`); arena.rs: `the_arena_is_cast_by_its_low_half` (`bases`,
//! `mark`); map/mod.rs: `a_hash_map_is_filled_by_a_program` (`insert`),
//! `a_map_that_is_too_large_is_refused` (`new`); vm.rs: `a_hash_map_is_filled_by_a_program`
//! (`add_map`, `copy`).
//! Helpers, and who fails with them: `operation` (`division_by_zero_and_by_minus_one_have_results`,
//! `shifts_take_their_count_modulo_the_width`). Page: docs/decisions/058.

use crate::small::{Helpers, both, exit, insn, machine, set, wide};
use wakeplace_bpf_vm::memory::{ARENA, BASE, PAGE, SIZE};
use wakeplace_bpf_vm::{Fault, MapKind, MapSpec, Program, Refusal};

/// `r0 = r1 OP r2`, in 64 or 32 bits.
fn operation(op: u8, off: i16, a: u64, b: u64, wide: bool) -> u64 {
    let class = if wide { 7 } else { 4 };
    let program = [
        insn(0xbf, 0, 1, 0, 0),
        insn(op | 8 | class, 0, 2, off, 0),
        exit(),
    ];
    both(&program, [a, b, 0, 0, 0]).expect("a number")
}

#[test]
fn division_by_zero_and_by_minus_one_have_results() {
    let minus = |value: i64| value.cast_unsigned();
    assert_eq!(operation(0x30, 0, 7, 0, true), 0);
    assert_eq!(operation(0x90, 0, 7, 0, true), 7);
    assert_eq!(operation(0x30, 1, minus(-7), 2, true), minus(-3));
    assert_eq!(operation(0x90, 1, minus(-7), 2, true), minus(-1));
    let lowest = minus(i64::MIN);
    assert_eq!(operation(0x30, 1, lowest, minus(-1), true), lowest);
    assert_eq!(operation(0x90, 1, lowest, minus(-1), true), 0);
    assert_eq!(
        operation(0x30, 1, 0x8000_0000, 0xffff_ffff, false),
        0x8000_0000
    );
}

#[test]
fn shifts_take_their_count_modulo_the_width() {
    assert_eq!(operation(0x60, 0, 1, 65, true), 2);
    assert_eq!(operation(0x60, 0, 1, 33, false), 2);
    assert_eq!(operation(0xc0, 0, 0x8000_0000, 4, false), 0xf800_0000);
}

#[test]
fn a_load_from_a_wild_address_is_0_and_a_store_is_a_fault() {
    for addr in [0, 8, BASE - 8, BASE + SIZE, BASE + SIZE - 4, u64::MAX - 3] {
        let load = [insn(0x79, 0, 1, 0, 0), exit()];
        assert_eq!(both(&load, [addr, 0, 0, 0, 0]), Ok(0), "{addr:#x}");
        let store = [insn(0x7b, 1, 2, 0, 0), set(0, 0), exit()];
        let fault = Err(Fault::WildStore { addr });
        assert_eq!(both(&store, [addr, 5, 0, 0, 0]), fault, "{addr:#x}");
    }
}

/// Goal: a load whose register points nowhere reads 0, wherever its offset leads to; one at the end
/// of the memory reads what is there. The first word stored is where they would lead.
#[test]
fn a_load_goes_by_its_register() {
    let loaded = |at: u64, register: u64, off: i16| {
        let program = [insn(0x7b, 3, 2, 0, 0), insn(0x79, 0, 1, off, 0), exit()];
        both(&program, [register, 0x55, at, 0, 0])
    };
    let last = BASE + SIZE - 8;
    assert_eq!(loaded(last, last + 8, -8), Ok(0));
    assert_eq!(loaded(last, last + 4, 4), Ok(0), "nothing is there");
    assert_eq!(loaded(last, last, 0), Ok(0x55));
    assert_eq!(loaded(last, last - 4, 0), Ok(0x55 << 32));
    assert_eq!(loaded(last, last - 4, 4), Ok(0x55));
    assert_eq!(loaded(last, last - 0x7ff8, 0x7ff8), Ok(0x55));
    assert_eq!(loaded(BASE + 0x7000, BASE - 8, 0x7008), Ok(0));
    assert_eq!(loaded(BASE + 0x7000, 0, 0x7000), Ok(0));
    assert_eq!(loaded(BASE + 0x7000, BASE, 0x7000), Ok(0x55));
}

/// Goal: the first page cannot be written.
#[test]
fn the_page_of_zeros_stays() {
    let store = [insn(0x7b, 1, 2, 0, 0), exit()];
    let fault = Err(Fault::WildStore { addr: BASE + 8 });
    assert_eq!(both(&store, [BASE + 8, 5, 0, 0, 0]), fault);
}

#[test]
fn a_loop_without_end_is_named() {
    let program = [
        set(0, 0),
        insn(0x07, 0, 0, 0, 1),
        insn(0x05, 0, 0, -2, 0),
        exit(),
    ];
    let error = both(&program, [0; 5]).expect_err("a fault");
    assert!(error.to_string().contains("loops for ever"), "{error}");
}

/// Goal: what helpers copy counts, so a loop of large copies ends as soon as one of instructions.
#[test]
fn a_loop_of_large_copies_is_named() {
    let program = [
        insn(0xbf, 6, 1, 0, 0),
        insn(0xbf, 7, 2, 0, 0),
        insn(0xbf, 1, 6, 0, 0),
        set(2, 1 << 20),
        insn(0xbf, 3, 7, 0, 0),
        insn(0x85, 0, 0, 0, 113),
        insn(0x05, 0, 0, -5, 0),
        exit(),
    ];
    let [to, from] = [64, 128].map(|mib| ARENA + (mib << 20));
    let fault = both(&program, [to, from, 0, 0, 0]);
    assert!(matches!(fault, Err(Fault::Budget { .. })), "{fault:?}");
}

#[test]
fn recursion_without_end_is_named() {
    let program = [
        insn(0x85, 0, 1, 0, 1),
        exit(),
        insn(0x85, 0, 1, 0, -1),
        exit(),
    ];
    assert_eq!(both(&program, [0; 5]), Err(Fault::Stack));
}

/// Goal: functions that keep thousands of values across a call do not leave the host's stack,
/// however deep they nest. Each adds up its loads before and after the call, so that a compiler
/// keeps their addresses: 12 KiB for each of 110 calls, on a stack of 1 MiB.
#[test]
fn large_functions_nest_within_the_hosts_stack() {
    const LOADS: i32 = 1500;
    const DEPTH: i32 = 110;
    let loads = || {
        (1..=LOADS).flat_map(|at| {
            [
                insn(0xbf, 3, 6, 0, 0),           // r3 = r6
                insn(0x07, 3, 0, 0, at * 40_000), // r3 += ...
                insn(0x71, 4, 3, 0, 0),           // r4 = *(u8 *)r3
                insn(0x0f, 8, 4, 0, 0),           // r8 += r4
            ]
        })
    };
    let mut insns = vec![insn(0xbf, 6, 2, 0, 0), insn(0xbf, 7, 1, 0, 0), set(8, 1)];
    insns.extend(loads());
    let call_at = insns.len() as i32 + 4;
    insns.extend([
        insn(0x35, 7, 0, 5, DEPTH), // if r7 >= DEPTH goto +5
        insn(0xbf, 1, 7, 0, 0),
        insn(0x07, 1, 0, 0, 1),
        insn(0xbf, 2, 6, 0, 0),
        insn(0x85, 0, 1, 0, -(call_at + 1)), // itself
        insn(0x0f, 8, 0, 0, 0),
    ]);
    insns.extend(loads());
    insns.extend([insn(0xbf, 0, 8, 0, 0), exit()]);
    let machines = [false, true].map(|compiled| machine(&insns, compiled));
    let args = [0, BASE + 64 * PAGE, 0, 0, 0];
    let run = move || machines.map(|mut vm| vm.run(&mut Helpers, 0, args));
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    let results = thread.spawn(run).expect("a thread").join();
    assert_eq!(results.expect("no panic"), [Ok(111), Ok(111)]);
}

/// Goal: what a frame held before is not seen, so that runs do not depend on it.
#[test]
fn a_frame_begins_zeroed() {
    let program = [
        insn(0x85, 0, 1, 0, 2),
        insn(0x85, 0, 1, 0, 4),
        exit(),
        // Writes its frame.
        set(1, 77),
        insn(0x7b, 10, 1, -16, 0),
        exit(),
        // Reads the same place.
        insn(0x79, 0, 10, -16, 0),
        exit(),
    ];
    assert_eq!(both(&program, [0; 5]), Ok(0));
}

#[test]
fn the_arena_is_cast_by_its_low_half() {
    let cast = |imm| vec![insn(0xbf, 0, 1, 1, imm), exit()];
    assert_eq!(
        both(&cast(1), [0x1_0000_1000, 0, 0, 0, 0]),
        Ok(ARENA | 0x1000)
    );
    assert_eq!(both(&cast(1), [0x1_0000_0000, 0, 0, 0, 0]), Ok(0));
    // Variables may be in its first page: then the low half 0 is an address like others.
    for compiled in [false, true] {
        let mut vm = machine(&cast(1), compiled);
        vm.arena.pages = 4;
        vm.arena.mark([0].into_iter());
        let cast = vm.run(&mut Helpers, 0, [0x1_0000_0000, 0, 0, 0, 0]);
        assert_eq!(cast, Ok(ARENA));
    }
    for compiled in [false, true] {
        let mut vm = machine(&cast(0x1_0000), compiled);
        vm.arena.user = 0x1000_0000_0000;
        let cast = vm.run(&mut Helpers, 0, [ARENA | 0x2000, 0, 0, 0, 0]);
        assert_eq!(cast, Ok(0x1000_0000_2000));
    }
}

#[test]
fn what_is_not_offered_is_refused_by_name() {
    let refused = |insns: Vec<_>| match Program::link("x", insns, &mut Helpers) {
        Err(refusal) => refusal.to_string(),
        Ok(_) => panic!("linked"),
    };
    let helper = refused(vec![insn(0x85, 0, 0, 0, 46), exit()]);
    assert_eq!(helper, "bpf_get_socket_cookie");
    for (insns, word) in [
        (vec![], "an empty program"),
        (vec![set(0, 1)], "without an end"),
        (
            vec![insn(0x05, 0, 0, 5, 0), exit()],
            "a jump out of its function",
        ),
        (
            vec![insn(0xff, 0, 0, 0, 0), exit()],
            "an unknown instruction",
        ),
        (vec![set(10, 1), exit()], "a write to r10"),
        (
            vec![insn(0xbf, 0, 11, 0, 0), exit()],
            "a register above r10",
        ),
        (vec![insn(0x18, 0, 0, 0, 0)], "without its second half"),
        (
            vec![insn(0x85, 0, 1, 0, 9), exit()],
            "a call out of the program",
        ),
    ] {
        assert!(refused(insns).contains(word), "{word}");
    }
    let kinds = MapKind::from_number(11);
    assert_eq!(kinds, Err("lpm_trie".to_owned()));
}

/// Goal: helpers on a map see what a program wrote, and a full map says so.
#[test]
fn a_hash_map_is_filled_by_a_program() {
    let spec = |entries| MapSpec {
        kind: MapKind::Hash,
        name: "counts".to_owned(),
        key_bytes: 8,
        value_bytes: 8,
        max_entries: entries,
        flags: 0,
        extra: 0,
        special: Vec::new(),
    };
    // key and value on the frame; update; look up; return what is there.
    let mut program = vec![insn(0x7b, 10, 1, -8, 0), insn(0x7b, 10, 2, -16, 0)];
    let map = insn(0x18, 1, 1, 0, 0);
    let second = insn(0, 0, 0, 0, 0);
    let keys = [insn(0xbf, 2, 10, 0, 0), insn(0x07, 2, 0, 0, -8)];
    program.extend([map, second]);
    program.extend(keys);
    program.extend([insn(0xbf, 3, 10, 0, 0), insn(0x07, 3, 0, 0, -16), set(4, 0)]);
    program.extend([insn(0x85, 0, 0, 0, 2), map, second]);
    program.extend(keys);
    program.extend([insn(0x85, 0, 0, 0, 1), insn(0x79, 0, 0, 0, 0), exit()]);
    for compiled in [false, true] {
        let mut vm = machine(&program, compiled);
        vm.add_map(spec(1), None).expect("a map");
        assert_eq!(vm.run(&mut Helpers, 0, [5, 55, 0, 0, 0]), Ok(55));
        assert_eq!(vm.run(&mut Helpers, 0, [5, 66, 0, 0, 0]), Ok(66));
        // The map is full: nothing is there, and a load through NULL is 0.
        assert_eq!(vm.run(&mut Helpers, 0, [6, 77, 0, 0, 0]), Ok(0));
        let copy = vm.copy().expect("room");
        assert_eq!(copy.maps()[0].keys(), [5_u64.to_le_bytes().to_vec()]);
    }
}

#[test]
fn a_wide_constant_is_whole() {
    let mut program = wide(0, 0x1234_5678_9abc_def0).to_vec();
    program.push(exit());
    assert_eq!(both(&program, [0; 5]), Ok(0x1234_5678_9abc_def0));
}

#[test]
fn a_map_that_is_too_large_is_refused() {
    let mut vm = machine(&[exit()], false);
    let spec = MapSpec {
        kind: MapKind::Array,
        name: "huge".to_owned(),
        key_bytes: 4,
        value_bytes: u32::MAX,
        max_entries: u32::MAX,
        flags: 0,
        extra: 0,
        special: Vec::new(),
    };
    let refused = vm.add_map(spec, None);
    assert!(matches!(refused, Err(Refusal::Unknown(_))), "{refused:?}");
}
