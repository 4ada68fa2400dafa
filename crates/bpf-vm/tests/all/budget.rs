//! The budget: bytes and work that programs cause, and how much is compiled.
//! Page: docs/decisions/058.
//!
//! What must stay: what counts and how many bytes is stated by the limits in src/budget.rs; the
//! sums are worked out in the tests. Kernel files named at a test are the rule. Free: sizes of the
//! programs and maps, if they still pass a limit.
//! Tests by part (in crates/bpf-vm/src): budget.rs: `keys_of_maps_count_as_memory` (`ENTRY_BYTES`),
//! `what_is_too_long_is_interpreted` (`COMPILED`, `COMPILED_FUNCTION`), `programs_count_as_memory`
//! (`INSN_BYTES`, `OBJECT_BYTES`); fault.rs: `keys_of_maps_count_as_memory` (`HeapFull`);
//! helpers/maps.rs: `entries_of_storage_count_as_memory` (`storage`),
//! `walks_over_maps_count_as_memory` (`for_each`), `queues_and_stacks_go_round` (`push`, `pop`);
//! helpers/mod.rs: `queues_and_stacks_go_round` (`call`); memory.rs:
//! `what_is_freed_twice_is_free_once` (`free`); arena.rs: `what_was_not_handed_out_is_not_written`
//! (`place`); jit/function.rs: `what_was_not_handed_out_is_not_written` (`reaches`); jit/mod.rs:
//! `what_is_too_long_is_interpreted` (`entry`); vm.rs: `programs_count_as_memory` (`add_program`);
//! map/mod.rs: `the_order_of_a_map_is_that_of_insertion` (`keys`).
//! Helpers, and who fails with them: `spec`, `with`, `call` (most tests,
//! `keys_of_maps_count_as_memory` among them); `leave` (`keys_of_maps_count_as_memory`,
//! `entries_of_storage_count_as_memory`, `walks_over_maps_count_as_memory`,
//! `programs_count_as_memory`); `long` (`what_is_too_long_is_interpreted`,
//! `programs_count_as_memory`).

use crate::small::{Helpers, exit, insn, machine, set};
use wakeplace_bpf_vm::memory::{ARENA, BASE, PAGE};
use wakeplace_bpf_vm::{Arena, Fault, MapKind, MapSpec, Memory, Program, Vm, budget, helpers};

const UPDATE: u32 = 2;
const DELETE: u32 = 3;
const PUSH: u32 = 87;
const POP: u32 = 88;
const STORAGE_GET: u32 = 156;
const FOR_EACH: u32 = 164;
/// `BPF_EXIST` as a flag of a push: the oldest goes.
const FORCE: u64 = 2;
/// `BPF_LOCAL_STORAGE_GET_F_CREATE`.
const CREATE: u64 = 1;

fn spec(kind: MapKind, key_bytes: u32, max_entries: u32) -> MapSpec {
    MapSpec {
        kind,
        name: "counts".to_owned(),
        key_bytes,
        value_bytes: 8,
        max_entries,
        flags: 0,
        extra: 0,
        special: Vec::new(),
    }
}

fn with(spec: MapSpec) -> Vm {
    let mut vm = machine(&[exit()], false);
    vm.add_map(spec, None).expect("a map");
    vm
}

fn call(vm: &mut Vm, number: u32, args: [u64; 4]) -> Result<u64, Fault> {
    let [a, b, c, d] = args;
    helpers::call(vm, &mut Helpers, number, [a, b, c, d, 0])
}

/// Leaves so many bytes.
fn leave(vm: &mut Vm, bytes: u64) {
    let mut step = budget::BYTES;
    while step >= 64 {
        match vm.memory.reserve(step) {
            Ok(()) => {}
            Err(_) => step /= 2,
        }
    }
    vm.memory.give_back(bytes);
}

/// Goal: keys count. Each is 512 bytes long, its entry 64, and its value 64 (a line of the cache):
/// of 64 KiB there is room for 102.
#[test]
fn keys_of_maps_count_as_memory() {
    let mut vm = with(spec(MapKind::Hash, 512, u32::MAX));
    let [key, value] = [512, 8].map(|bytes| vm.memory.alloc(bytes).expect("room"));
    leave(&mut vm, 64 << 10);
    let map = Vm::map_handle(0);
    let put = |vm: &mut Vm, number: u64| {
        vm.memory.set_u64(key, number);
        call(vm, UPDATE, [map, key, value, 0])
    };
    let full = (0..200).find(|number| put(&mut vm, *number) == Err(Fault::HeapFull));
    let most = (64 << 10) / (512 + 64 + 64);
    assert!(
        full.is_some_and(|full| most - 1 <= full && full <= most),
        "{full:?}"
    );
    // What is deleted makes room for as many.
    vm.memory.set_u64(key, 0);
    assert_eq!(call(&mut vm, DELETE, [map, key, 0, 0]), Ok(0));
    assert_eq!(put(&mut vm, 1000), Ok(0));
}

/// Goal: so do the entries of storage, whatever the objects are: 64 bytes beside the value's 64.
#[test]
fn entries_of_storage_count_as_memory() {
    let mut vm = with(spec(MapKind::TaskStorage, 4, 0));
    leave(&mut vm, 64 << 10);
    let map = Vm::map_handle(0);
    let mut get = |object: u64| call(&mut vm, STORAGE_GET, [map, object, 0, CREATE]);
    let full = (1..2000).find(|object| get(*object) == Err(Fault::HeapFull));
    let most = (64 << 10) / (64 + 64);
    assert!(
        full.is_some_and(|full| most <= full && full <= most + 1),
        "{full:?}"
    );
}

/// Goal: a walk over a table has copies of its keys, which count; one over an array has none.
#[test]
fn walks_over_maps_count_as_memory() {
    for (kind, full) in [(MapKind::Hash, true), (MapKind::Array, false)] {
        let mut vm = with(spec(kind, 4, 1 << 16));
        let [key, value] = [8, 8].map(|bytes| vm.memory.alloc(bytes).expect("room"));
        let map = Vm::map_handle(0);
        for number in 0..100 {
            vm.memory.set_u32(key, number);
            assert_eq!(call(&mut vm, UPDATE, [map, key, value, 0]), Ok(0));
        }
        leave(&mut vm, 64);
        let walked = call(&mut vm, FOR_EACH, [map, 0, 0, 0]);
        assert_eq!(walked == Err(Fault::HeapFull), full, "{walked:?}");
    }
}

/// `queue_stack_map_push_elem`, kernel/bpf/queue_stack_maps.c: a full one refuses, or loses its
/// oldest value; a queue gives the oldest first, a stack the newest.
#[test]
fn queues_and_stacks_go_round() {
    for (kind, expected) in [
        (MapKind::Queue, [2, 3, 4, 5]),
        (MapKind::Stack, [5, 4, 3, 2]),
    ] {
        let mut vm = with(spec(kind, 0, 4));
        let map = Vm::map_handle(0);
        let value = vm.memory.alloc(8).expect("room");
        for round in 0..3 {
            for number in 1..=5 {
                vm.memory.set_u64(value, number);
                let full = (-7_i64).cast_unsigned();
                let answer = if number == 5 { full } else { 0 };
                assert_eq!(
                    call(&mut vm, PUSH, [map, value, 0, 0]),
                    Ok(answer),
                    "{round}"
                );
            }
            assert_eq!(call(&mut vm, PUSH, [map, value, FORCE, 0]), Ok(0));
            let mut pop = || {
                assert_eq!(call(&mut vm, POP, [map, value, 0, 0]), Ok(0));
                vm.memory.u64(value)
            };
            assert_eq!([(); 4].map(|()| pop()), expected);
            assert_eq!(
                call(&mut vm, POP, [map, value, 0, 0]),
                Ok((-2_i64).cast_unsigned())
            );
        }
    }
}

/// Goal: no program makes more free than there is by saying so twice.
#[test]
fn what_is_freed_twice_is_free_once() {
    let mut memory = Memory::new().expect("room");
    let object = memory.alloc(64).expect("room");
    memory.free(object, 64);
    memory.free(object, 64);
    let [one, other] = [(); 2].map(|()| memory.alloc(64).expect("room"));
    assert_eq!(one, object);
    assert_ne!(other, object);
}

/// Goal: what was not handed out is no program's: a store there is wild, both ways, and takes no
/// memory of the host's.
#[test]
fn what_was_not_handed_out_is_not_written() {
    // *(u64 *)r1 = 1
    let insns = [insn(0x7a, 1, 0, 0, 1), set(0, 0), exit()];
    for compiled in [false, true] {
        let store = |pages: u64, addr: Option<u64>| {
            let mut vm = machine(&insns, compiled);
            vm.arena = match pages {
                0 => Arena::default(),
                pages => Arena::of(0, pages),
            };
            let last = vm.memory.alloc(64).expect("room") + 56;
            let addr = addr.unwrap_or(last + 1);
            assert_eq!(vm.run(&mut Helpers, 0, [last, 0, 0, 0, 0]), Ok(0));
            match vm.run(&mut Helpers, 0, [addr, 0, 0, 0, 0]) {
                Ok(_) => false,
                Err(fault) => fault == Fault::WildStore { addr },
            }
        };
        for (pages, addr, is_wild) in [
            (0, None, true),
            (0, Some(BASE + budget::BYTES - 8), true),
            (0, Some(ARENA), true),
            (4, Some(ARENA + 4 * PAGE - 8), false),
            (4, Some(ARENA + 4 * PAGE - 7), true),
            (1 << 20, Some(ARENA + (4 << 30) - 8), false),
        ] {
            assert_eq!(store(pages, addr), is_wild, "{pages} pages, {addr:x?}");
        }
    }
}

/// A program of so many instructions, of which the first two are executed.
fn long(insns: usize) -> Program {
    let mut program = vec![exit(); insns];
    program[0] = set(0, insns as i32);
    Program::link("long", program, &mut Helpers).expect("a program")
}

/// Goal: how much is compiled is said by numbers of instructions, and programs beyond it give the
/// same, interpreted.
#[test]
fn what_is_too_long_is_interpreted() {
    let most = budget::COMPILED_FUNCTION;
    let whole = budget::COMPILED / most;
    let mut vm = machine(&[exit()], false);
    let lengths = [most + 1].into_iter().chain(vec![most; whole]).chain([2]);
    let lengths: Vec<_> = lengths.collect();
    let numbers: Vec<_> = lengths
        .iter()
        .map(|length| vm.add_program(long(*length)).expect("room"))
        .collect();
    vm.compile(&numbers).expect("compiled");
    let compiled: Vec<_> = numbers.iter().map(|at| vm.is_compiled(*at)).collect();
    let mut expected = vec![true; whole + 2];
    (expected[0], expected[whole + 1]) = (false, false);
    assert_eq!(compiled, expected);
    for (number, length) in numbers.into_iter().zip(lengths) {
        let result = vm.run(&mut Helpers, number, [0; 5]);
        assert_eq!(result, Ok(length as u64));
    }
}

/// Goal: programs count, too: of a million instructions each, few are taken.
#[test]
fn programs_count_as_memory() {
    let mut vm = machine(&[exit()], false);
    leave(&mut vm, 1 << 20);
    let taken = (0..20)
        .take_while(|_| vm.add_program(long(1000)).is_ok())
        .count();
    // 64 bytes for each instruction, and 4096.
    assert_eq!(taken, (1 << 20) / (64 * 1000 + 4096));
}

/// Goal: a hash has a seed, and no order hangs on it: keys come as they were put in.
#[test]
fn the_order_of_a_map_is_that_of_insertion() {
    let mut vm = with(spec(MapKind::Hash, 4, 1000));
    let [key, value] = [8, 8].map(|bytes| vm.memory.alloc(bytes).expect("room"));
    let map = Vm::map_handle(0);
    let numbers = || (0..1000_u32).map(|number| number.wrapping_mul(2_654_435_761));
    for number in numbers() {
        vm.memory.set_u32(key, number);
        assert_eq!(call(&mut vm, UPDATE, [map, key, value, 0]), Ok(0));
    }
    let keys = vm.map(0).expect("a map").keys();
    let expected: Vec<_> = numbers()
        .map(|number| number.to_le_bytes().to_vec())
        .collect();
    assert_eq!(keys, expected);
}
