//! Helpers on maps. `jit/lookup.rs` does one of these in compiled code: both must agree.
//!
//! What must stay: results are the kernel's errno, and each call is charged by its work, or a
//! program could run for ever. Free: how arguments are fetched and walks are written. Tests by
//! part: `a_wild_key_is_refused` (`update`, `delete`, `for_each`, `over`),
//! `a_program_writes_the_value_of_its_own_cpu` (`lookup`, `update`),
//! `compiled_code_looks_up_as_the_helper_does` (`find`, `lookup`), `queues_and_stacks_go_round`
//! (`push`, `pop`), `entries_of_storage_count_as_memory` (`storage`, `charge`),
//! `walks_over_maps_count_as_memory` (`for_each`),
//! cli/tests/all/schedulers.rs::`calls_answer_as_a_kernel_does` (`produce`, `output`, `query`),
//! cli/tests/all/schedulers.rs::`a_loader_runs_in_virtual_time` (`commit`). `places`, `has_records`
//! and `storage_delete` have no test of their own. Callers: mod.rs (`call`);
//! crates/foreign/src/load/rings.rs (`has_records`).
//!
//! Tests: crates/bpf-vm/tests/all/maps.rs, crates/bpf-vm/tests/all/budget.rs,
//! crates/cli/tests/all/schedulers.rs

use super::EFAULT;
use crate::Fault;
use crate::budget::{ENTRIES_PER_INSN, ENTRY_BYTES};
use crate::map::{EINVAL, ENOENT, Map, MapKind};
use crate::memory::{Memory, PAGE};
use crate::vm::{Env, Vm};

/// The map, or what is wrong.
fn find(vm: &mut Vm, handle: u64) -> Result<(&mut Map, &mut Memory), Fault> {
    let number = vm.map_number(handle);
    let none = || Fault::Call(format!("a map was expected, {handle:#x} is none"));
    number
        .and_then(|number| vm.map_mut(number))
        .ok_or_else(none)
}

/// Charges for a value, and for the entries that move when one goes (`takes`) out of their order.
fn charge(vm: &mut Vm, handle: u64, takes: bool) -> Result<(), Fault> {
    let (map, _) = find(vm, handle)?;
    let kind = map.spec.kind;
    let moves = kind.is_lru() || takes && !kind.is_array();
    let (bytes, entries) = (map.stride(), if moves { map.len() } else { 0 });
    vm.spend_bytes(bytes)?;
    vm.spend(entries / ENTRIES_PER_INSN)
}

/// Bits of a record's length (`BPF_RINGBUF_BUSY_BIT`, `BPF_RINGBUF_DISCARD_BIT`): it is not written
/// yet, or nobody gets it.
const BUSY: u64 = 1 << 31;
const DISCARD: u64 = 1 << 30;

/// Room for a record in a ring buffer: with its header, in whole words (`__bpf_ringbuf_reserve`).
/// `Some`: where it is, or 0 if records are taken at once. `None`: there is no room.
pub(super) fn produce(vm: &mut Vm, ring: u64, bytes: u64) -> Result<Option<u64>, Fault> {
    let keeps = vm.keeps_records;
    let (map, memory) = find(vm, ring)?;
    let (base, size) = (map.base(), u64::from(map.spec.max_entries));
    let taken = bytes.saturating_add(8).next_multiple_of(8);
    if map.spec.kind != MapKind::RingBuffer || taken > size {
        return Ok(None);
    }
    let at = map.produced;
    if !keeps || base == 0 {
        map.produced += taken;
        return Ok(Some(0));
    }
    if (at + taken).wrapping_sub(memory.u64(base)) > size - 1 {
        return Ok(None);
    }
    map.produced += taken;
    memory.store(base + PAGE, 8, map.produced)?;
    let header = base + 2 * PAGE + at % size;
    memory.store(header, 8, bytes | BUSY)?;
    Ok(Some(header + 8))
}

/// A record of a buffer that somebody reads is written, or given up.
pub(super) fn commit(vm: &mut Vm, record: u64, discard: bool) -> Result<(), Fault> {
    let header = record.wrapping_sub(8);
    let word = vm.memory.u64(header);
    if word & BUSY != 0 {
        let word = word & !BUSY | if discard { DISCARD } else { 0 };
        vm.memory.store(header, 8, word)?;
        vm.new_records = true;
    }
    Ok(())
}

/// `bpf_ringbuf_output(ring, data, bytes, flags)`: 0, or a negative errno where there is no room.
pub(super) fn output(vm: &mut Vm, ring: u64, from: u64, bytes: u64) -> Result<i64, Fault> {
    let bytes = bytes & 0xffff_ffff;
    match produce(vm, ring, bytes)? {
        None => Ok(EAGAIN),
        Some(0) => Ok(0),
        Some(record) => {
            let data = vm.memory.bytes(from, bytes).unwrap_or_default().to_vec();
            let to = vm.memory.bytes_mut(record, bytes)?;
            to[..data.len()].copy_from_slice(&data);
            commit(vm, record, false)?;
            Ok(0)
        }
    }
}

/// Bytes that the reader of a ring buffer has taken, and those that were written.
fn places(map: &Map, memory: &Memory, keeps: bool) -> (u64, u64) {
    match keeps && map.base() != 0 {
        true => (memory.u64(map.base()), map.produced),
        false => (map.produced, map.produced),
    }
}

/// `bpf_ringbuf_query(ring, what)`: unread bytes, the size, the reader's and the writer's place.
pub(super) fn query(vm: &mut Vm, ring: u64, what: u64) -> Result<u64, Fault> {
    let keeps = vm.keeps_records;
    let (map, memory) = find(vm, ring)?;
    let (consumed, produced) = places(map, memory, keeps);
    Ok(match what {
        0 => produced.wrapping_sub(consumed),
        1 => map.spec.max_entries.into(),
        2 => consumed,
        3 => produced,
        _ => 0,
    })
}

impl Vm {
    /// Does a record wait in a ring buffer?
    #[must_use]
    pub fn has_records(&self, number: usize) -> bool {
        self.map(number).is_some_and(|map| {
            let (consumed, produced) = places(map, &self.memory, self.keeps_records);
            consumed != produced
        })
    }
}

/// `-EAGAIN`.
const EAGAIN: i64 = -11;

/// `cpu`: of another CPU than the program's.
pub(super) fn lookup(vm: &mut Vm, map: u64, key: u64, cpu: Option<u64>) -> Result<u64, Fault> {
    let (own, nr_cpus) = (vm.cpu, u64::from(vm.nr_cpus()));
    let (map, memory) = find(vm, map)?;
    match cpu.map(|cpu| cpu & 0xffff_ffff) {
        Some(cpu) if cpu >= nr_cpus => Ok(0),
        cpu => Ok(map.lookup_at(memory, key, cpu.map_or(own, |cpu| cpu as u32))),
    }
}

/// bpf_map_update_elem(): 0, or the kernel's negative errno; `cpu`'s own value where each has one.
pub(super) fn update(
    vm: &mut Vm,
    map: u64,
    key: u64,
    value: u64,
    flags: u64,
) -> Result<i64, Fault> {
    let cpu = vm.cpu;
    charge(vm, map, false)?;
    let (map, memory) = find(vm, map)?;
    let Some(key) = map.key_at(memory, key) else {
        return Ok(EFAULT);
    };
    let size = u64::from(map.spec.value_bytes);
    let value = memory.bytes(value, size).unwrap_or_default().to_vec();
    if map.spec.kind.of_maps() || value.len() as u64 != size {
        return Ok(EINVAL);
    }
    map.update(memory, &key, &value, flags, Some(cpu))
}

/// 0, or the kernel's negative errno; a key outside of memory is EFAULT.
pub(super) fn delete(vm: &mut Vm, map: u64, key: u64) -> Result<i64, Fault> {
    charge(vm, map, true)?;
    let (map, memory) = find(vm, map)?;
    let Some(key) = map.key_at(memory, key) else {
        return Ok(EFAULT);
    };
    Ok(map.delete(memory, &key))
}

/// `BPF_EXIST` as a flag of a push: the oldest goes if it is full.
const FORCE: u64 = 2;

/// Puts a value into a queue or on a stack, as bpf_map_push_elem(); `FORCE` lets the oldest go.
pub(super) fn push(vm: &mut Vm, map: u64, value: u64, flags: u64) -> Result<i64, Fault> {
    charge(vm, map, false)?;
    let (map, memory) = find(vm, map)?;
    let size = u64::from(map.spec.value_bytes);
    let Some(value) = memory.bytes(value, size).map(<[u8]>::to_vec) else {
        return Ok(EFAULT);
    };
    map.push(memory, &value, flags & FORCE != 0)
}

/// bpf_map_pop_elem(), or with `stays` bpf_map_peek_elem().
pub(super) fn pop(vm: &mut Vm, map: u64, into: u64, stays: bool) -> Result<i64, Fault> {
    charge(vm, map, false)?;
    let (map, memory) = find(vm, map)?;
    let size = u64::from(map.spec.value_bytes);
    let found = map.pop(memory, stays);
    let into = memory.bytes_mut(into, size)?;
    match found {
        Some(value) if value.len() == into.len() => {
            into.copy_from_slice(&value);
            Ok(0)
        }
        _ => {
            into.fill(0);
            Ok(ENOENT)
        }
    }
}

/// `BPF_LOCAL_STORAGE_GET_F_CREATE`.
const CREATE: u64 = 1;

/// The storage of a task or cgroup in a map, made if it is asked for.
pub(super) fn storage(
    vm: &mut Vm,
    map: u64,
    object: u64,
    first: u64,
    flags: u64,
) -> Result<u64, Fault> {
    charge(vm, map, false)?;
    let (map, memory) = find(vm, map)?;
    map.storage(memory, object, flags & CREATE != 0, first)
}

/// -ENOENT: the object has nothing in this map.
pub(super) fn storage_delete(vm: &mut Vm, map: u64, object: u64) -> Result<i64, Fault> {
    let (map, memory) = find(vm, map)?;
    Ok(map.storage_delete(memory, object))
}

/// `bpf_for_each_map_elem`: how many elements the callback saw; each call pays.
pub(super) fn for_each(
    vm: &mut Vm,
    env: &mut dyn Env,
    handle: u64,
    callback: u64,
    argument: u64,
) -> Result<i64, Fault> {
    let (map, _) = find(vm, handle)?;
    if !matches!(
        map.spec.kind,
        MapKind::Array
            | MapKind::PercpuArray
            | MapKind::Hash
            | MapKind::LruHash
            | MapKind::PercpuHash
            | MapKind::LruPercpuHash
    ) {
        return Ok(EINVAL);
    }
    let (entries, room) = (map.len(), u64::from(map.spec.key_bytes));
    let is_array = map.spec.kind.is_array();
    vm.spend(entries)?;
    // The keys of a table are copied: the callback may change it.
    let copied = if is_array {
        0
    } else {
        entries * (ENTRY_BYTES + room)
    };
    vm.memory.reserve(copied)?;
    let (map, memory) = find(vm, handle)?;
    let keys = map.keys();
    let key_at = memory.alloc(room)?;
    let mut walk = Walk {
        handle,
        key_at,
        callback,
        argument,
        seen: 0,
    };
    let result = match is_array {
        true => walk.over(vm, env, (0..entries as u32).map(u32::to_le_bytes)),
        false => walk.over(vm, env, keys.iter()),
    };
    vm.memory.give_back(copied);
    vm.memory.free(key_at, room);
    result.map(|()| walk.seen)
}

/// `bpf_for_each_map_elem` on its way.
struct Walk {
    handle: u64,
    /// Where the callback finds the key.
    key_at: u64,
    callback: u64,
    argument: u64,
    /// Elements so far.
    seen: i64,
}

impl Walk {
    /// Calls the program for each of these keys, until it says that it is enough.
    fn over<K: AsRef<[u8]>>(
        &mut self,
        vm: &mut Vm,
        env: &mut dyn Env,
        keys: impl Iterator<Item = K>,
    ) -> Result<(), Fault> {
        let cpu = vm.cpu;
        for key in keys {
            let key = key.as_ref();
            let (map, memory) = find(vm, self.handle)?;
            let value = map.lookup(memory, key, cpu);
            if value == 0 {
                continue;
            }
            let to = memory.bytes_mut(self.key_at, key.len() as u64)?;
            to.copy_from_slice(key);
            self.seen += 1;
            let args = [self.handle, self.key_at, value, self.argument, 0];
            if vm.call(env, self.callback, args)? != 0 {
                break;
            }
        }
        Ok(())
    }
}
