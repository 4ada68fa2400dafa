//! Helpers on maps, called as programs call them.
//! Rule: the kernel's kernel/bpf, by the file named at each test.
//!
//! What must stay: results and errors are the kernel's; compiled code and helper agree. Free: sizes
//! of maps and values, and how programs are put together.
//! Tests by part (in crates/bpf-vm/src): helpers/maps.rs: `a_wild_key_is_refused` (`update`,
//! `delete`, `for_each`), `a_program_writes_the_value_of_its_own_cpu` (`lookup`, `update`),
//! `compiled_code_looks_up_as_the_helper_does` (`find`, `lookup`); map/mod.rs:
//! `a_wild_key_is_refused` (`key_at`), `values_with_fields_of_the_kernel_are_given_up`
//! (`give_back`, `storage`, `storage_delete`); map/kind.rs: `an_array_with_other_keys_is_refused`
//! (`is_array`), `a_program_writes_the_value_of_its_own_cpu` (`per_cpu`),
//! `values_with_fields_of_the_kernel_are_given_up` (`is_lru`); budget.rs:
//! `values_of_queues_count_as_memory` (`BYTES`); memory.rs: `values_of_queues_count_as_memory`
//! (`copy`); jit/lookup.rs: `compiled_code_looks_up_as_the_helper_does` (`look_up`, `map_and_key`).
//! Helpers, and who fails with them: `spec` (all tests, `an_array_with_other_keys_is_refused` among
//! them); `with` (`a_wild_key_is_refused`, `a_program_writes_the_value_of_its_own_cpu`); `call`
//! (`a_wild_key_is_refused`, `a_program_writes_the_value_of_its_own_cpu`,
//! `compiled_code_looks_up_as_the_helper_does`). Page: docs/decisions/058.

use crate::small::{Helpers, exit, insn, machine};
use wakeplace_bpf_vm::memory::BASE;
use wakeplace_bpf_vm::{MapKind, MapSpec, Retired, Vm, helpers};

const UPDATE: u32 = 2;
const DELETE: u32 = 3;
const LOOKUP_PERCPU: u32 = 195;
const FOR_EACH: u32 = 164;
const EFAULT: i64 = -14;
const EEXIST: i64 = -17;
/// `BPF_NOEXIST`.
const NOEXIST: u64 = 1;

fn spec(kind: MapKind, key_bytes: u32) -> MapSpec {
    MapSpec {
        kind,
        name: "counts".to_owned(),
        key_bytes,
        value_bytes: 8,
        max_entries: 4,
        flags: 0,
        extra: 0,
        special: Vec::new(),
    }
}

/// A machine with one map, which is map 0, and room for a key and a value.
fn with(kind: MapKind, key_bytes: u32) -> (Vm, u64, u64) {
    let mut vm = machine(&[exit()], false);
    vm.add_map(spec(kind, key_bytes), None).expect("a map");
    let [key, value] = [0; 2].map(|_| vm.memory.alloc(8).expect("room"));
    (vm, key, value)
}

fn call(vm: &mut Vm, number: u32, args: [u64; 4]) -> i64 {
    let [a, b, c, d] = args;
    let result = helpers::call(vm, &mut Helpers, number, [a, b, c, d, 0]);
    result.expect("no fault").cast_signed()
}

/// Goal: a wild key is -EFAULT, and no walk over the map meets it later.
#[test]
fn a_wild_key_is_refused() {
    for wild in [0, BASE - 4, u64::MAX - 7] {
        let (mut vm, _, value) = with(MapKind::Hash, 8);
        let map = Vm::map_handle(0);
        assert_eq!(call(&mut vm, UPDATE, [map, wild, value, 0]), EFAULT);
        assert_eq!(call(&mut vm, DELETE, [map, wild, 0, 0]), EFAULT);
        assert_eq!(call(&mut vm, FOR_EACH, [map, 0, 0, 0]), 0);
    }
}

/// `array_map_alloc_check`: keys of arrays are of 4 bytes.
#[test]
fn an_array_with_other_keys_is_refused() {
    for kind in [
        MapKind::Array,
        MapKind::PercpuArray,
        MapKind::ArrayOfMaps,
        MapKind::PerfEventArray,
    ] {
        let mut vm = machine(&[exit()], false);
        for bytes in [0, 2, 8] {
            let refused = vm.add_map(spec(kind, bytes), None).expect_err("refused");
            assert!(refused.to_string().contains("4 bytes"), "{refused}");
        }
        vm.add_map(spec(kind, 4), None).expect("a map");
    }
}

/// `pcpu_init_value` and `check_flags`, kernel/bpf/hashtab.c: a program writes its own CPU's value,
/// a new entry's others are zero; BPF_NOEXIST refuses what is there.
#[test]
fn a_program_writes_the_value_of_its_own_cpu() {
    let (mut vm, key, value) = with(MapKind::PercpuHash, 8);
    let map = Vm::map_handle(0);
    let values = |vm: &mut Vm| {
        [0, 1, 2, 3].map(|cpu| {
            let at = call(vm, LOOKUP_PERCPU, [map, key, cpu, 0]);
            vm.memory.u64(at.cast_unsigned())
        })
    };
    vm.cpu = 2;
    vm.memory.set_u64(value, 55);
    assert_eq!(call(&mut vm, UPDATE, [map, key, value, NOEXIST]), 0);
    assert_eq!(values(&mut vm), [0, 0, 55, 0]);
    vm.cpu = 1;
    vm.memory.set_u64(value, 66);
    assert_eq!(call(&mut vm, UPDATE, [map, key, value, NOEXIST]), EEXIST);
    assert_eq!(values(&mut vm), [0, 0, 55, 0]);
    assert_eq!(call(&mut vm, UPDATE, [map, key, value, 0]), 0);
    assert_eq!(values(&mut vm), [0, 66, 55, 0]);
    // What the freed entry held is not in the next one.
    assert_eq!(call(&mut vm, DELETE, [map, key, 0, 0]), 0);
    vm.cpu = 3;
    assert_eq!(call(&mut vm, UPDATE, [map, key, value, 0]), 0);
    assert_eq!(values(&mut vm), [0, 0, 0, 66]);
}

/// `queue_stack_map_alloc` makes room for all values at once: queues share the heap's 1 GiB.
#[test]
fn values_of_queues_count_as_memory() {
    let mut vm = machine(&[exit()], false);
    let queue = |mib: u32| MapSpec {
        value_bytes: 1 << 20,
        max_entries: mib,
        ..spec(MapKind::Queue, 0)
    };
    assert!(vm.add_map(queue(513), None).is_err());
    vm.add_map(queue(512), None).expect("half of it");
    assert!(vm.add_map(queue(512), None).is_err());
    vm.add_map(queue(500), None).expect("nearly the rest");
    assert!(vm.memory.alloc(32 << 20).is_err());
    assert!(vm.copy().expect("room").memory.alloc(32 << 20).is_err());
}

/// Goal: a value is found by compiled code as the helper finds it: in an array, of each CPU, beyond
/// its end; by a wild key and a wild map, and in a map that is no array.
#[test]
fn compiled_code_looks_up_as_the_helper_does() {
    let look_up = [insn(0x85, 0, 0, 0, 1), exit()];
    let result = |compiled: bool, kind: MapKind, cpu: u32, map: u64, key: Option<u32>| {
        let mut vm = machine(&look_up, compiled);
        vm.add_map(spec(kind, 4), None).expect("a map");
        vm.cpu = cpu;
        let at = vm.memory.alloc(8).expect("room");
        let value = vm.memory.alloc(8).expect("room");
        vm.memory.set_u32(at, 2);
        vm.memory.set_u64(value, 77);
        let _ = helpers::call(&mut vm, &mut Helpers, UPDATE, [map, at, value, 0, 0]);
        let key_at = match key {
            Some(key) => {
                vm.memory.set_u32(at, key);
                at
            }
            None => BASE + wakeplace_bpf_vm::memory::SIZE - 3,
        };
        vm.run(&mut Helpers, 0, [map, key_at, 0, 0, 0])
    };
    for kind in [MapKind::Array, MapKind::PercpuArray, MapKind::Hash] {
        for cpu in [0, 1] {
            for key in [Some(0), Some(2), Some(3), Some(4), Some(u32::MAX), None] {
                let map = Vm::map_handle(0);
                for map in [map, map + 1, map + 256, 0] {
                    let [interpreted, compiled] =
                        [false, true].map(|compiled| result(compiled, kind, cpu, map, key));
                    assert_eq!(interpreted, compiled, "{kind:?} {cpu} {key:?} {map:#x}");
                }
            }
        }
    }
    // Four values of 8 bytes, then those of the next CPU.
    let found = |kind: MapKind, cpu: u32, key: u32| {
        let found = result(true, kind, cpu, Vm::map_handle(0), Some(key));
        found.expect("no fault")
    };
    for (kind, cpu, key, bytes) in [
        (MapKind::Array, 1, 3, 3 * 8),
        (MapKind::PercpuArray, 0, 2, 2 * 8),
        (MapKind::PercpuArray, 1, 2, 4 * 8 + 2 * 8),
    ] {
        assert_eq!(found(kind, cpu, key) - found(kind, 0, 0), bytes);
        assert_eq!(found(kind, cpu, 4), 0);
    }
}

/// Goal: the value of a deleted element is told of, whichever way it goes, and its room is not used
/// anew before it is given back: a timer or a list in it would be the next element's.
/// `check_and_free_fields`, kernel/bpf/hashtab.c.
#[test]
fn values_with_fields_of_the_kernel_are_given_up() {
    let with_fields = |kind, max_entries| MapSpec {
        value_bytes: 32,
        max_entries,
        // A timer and a pointer to an object; the last one is beyond the value.
        special: vec![0..16, 16..24, 32..40],
        ..spec(kind, 8)
    };
    let mut vm = machine(&[exit()], false);
    for (kind, max_entries) in [
        (MapKind::Hash, 4),
        (MapKind::LruHash, 1),
        (MapKind::TaskStorage, 4),
        (MapKind::PercpuHash, 4),
    ] {
        let number = vm.add_map(with_fields(kind, max_entries), None);
        let number = number.expect("a map");
        let (map, memory) = vm.map_mut(number).expect("a map");
        let first = match kind {
            MapKind::TaskStorage => {
                let at = map.storage(memory, 7, true, 0).expect("room");
                assert_eq!(map.storage_delete(memory, 7), 0);
                at
            }
            _ => {
                let key = [1; 8];
                assert_eq!(map.update(memory, &key, &[0; 32], 0, Some(0)), Ok(0));
                let at = map.lookup(memory, &key, 0);
                if kind != MapKind::LruHash {
                    assert_eq!(map.delete(memory, &key), 0);
                }
                at
            }
        };
        let other = match kind {
            MapKind::TaskStorage => map.storage(memory, 8, true, 0).expect("room"),
            _ => {
                assert_eq!(map.update(memory, &[2; 8], &[0; 32], 0, Some(0)), Ok(0));
                map.lookup(memory, &[2; 8], 0)
            }
        };
        assert_ne!(other, first, "{kind:?}");
        let copies = if kind == MapKind::PercpuHash { 4 } else { 1 };
        let pointers: Vec<_> = (0..copies).map(|copy| first + 32 * copy + 16).collect();
        let expected = Retired {
            at: first,
            bytes: 32 * copies,
            pointers,
        };
        assert!(memory.has_retired());
        assert_eq!(memory.take_retired(), [expected], "{kind:?}");
        assert!(!memory.has_retired());
    }
}
