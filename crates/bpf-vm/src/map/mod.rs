//! Maps.
//!
//! Values are in the memory of the programs, which hold pointers to them. Keys are outside. The
//! order of a hash map is that of insertion: equal runs walk it in the same order. A change here is
//! one of `jit/lookup.rs`, where arrays are looked up.
//!
//! What must stay: the order of keys, errno values, and addresses of values as long as their
//! element lives. Free: how keys are kept and found. Tests by part:
//! `an_array_with_other_keys_is_refused` and programs.rs::`a_map_that_is_too_large_is_refused`
//! (`new`), `a_program_writes_the_value_of_its_own_cpu` (`update`, `lookup`, `write`, `delete`),
//! `a_hash_map_is_filled_by_a_program` (`insert`, `find`, `lookup_at`), `a_wild_key_is_refused`
//! (`key_at`), `queues_and_stacks_go_round` (`push`, `pop`, `slot`, `is_queue`),
//! `the_order_of_a_map_is_that_of_insertion` (`keys`), `keys_of_maps_count_as_memory` (`pay`),
//! `values_with_fields_of_the_kernel_are_given_up` (`give_back`, `storage`, `storage_delete`,
//! `copies`), `compiled_code_looks_up_as_the_helper_does` (`view`, `stride`, `array_bytes`).
//! `set_inner`, `next_key` and `key_of` have no test of their own here; `len` and `base` are looks.
//! Callers: helpers/maps.rs (programs), crates/foreign/src/load/bpf.rs (the loader), vm.rs (`new`).
//!
//! Tests: crates/bpf-vm/tests/all/maps.rs, crates/bpf-vm/tests/all/budget.rs,
//! crates/bpf-vm/tests/all/programs.rs

mod kind;
mod special;

use crate::memory::{Memory, Retired};
use crate::{Fault, Refusal, budget};
use indexmap::IndexMap;
use std::hash::RandomState;
use std::ops::Range;

pub use kind::MapKind;
pub use special::special_fields;

/// Errors that programs see, negative as helpers return them.
pub const ENOENT: i64 = -2;
/// The map is full, or the index is beyond it.
pub const E2BIG: i64 = -7;
/// No memory.
pub const ENOMEM: i64 = -12;
/// The key is there already.
pub const EEXIST: i64 = -17;
/// What was asked makes no sense.
pub const EINVAL: i64 = -22;

/// Most bytes of all values of one map.
const MAX_BYTES: u64 = 512 << 20;
/// Bytes of a pointer to an object. Locks are shorter, timers and heads of lists longer.
const POINTER: u64 = 8;
/// `BPF_NOEXIST`, `BPF_EXIST`.
const NOEXIST: u64 = 1;
const EXIST: u64 = 2;

/// A table with keys in the order of insertion. No hash changes that order, so the hasher has a
/// seed of this process: nobody can choose keys that collide.
type Table<K> = IndexMap<K, u64, RandomState>;

/// How a map is to be.
#[derive(Clone, Debug)]
pub struct MapSpec {
    /// Its type.
    pub kind: MapKind,
    /// Its name.
    pub name: String,
    /// Bytes of a key.
    pub key_bytes: u32,
    /// Bytes of a value.
    pub value_bytes: u32,
    /// Most entries; of an arena its pages.
    pub max_entries: u32,
    /// `BPF_F_*`.
    pub flags: u32,
    /// `map_extra`.
    pub extra: u64,
    /// Fields of values that an update leaves alone.
    pub special: Vec<Range<u64>>,
}

/// A map.
#[derive(Clone, Debug)]
pub struct Map {
    /// How it was made.
    pub spec: MapSpec,
    nr_cpus: u64,
    /// Values of an array, one after the other; of one per CPU, CPU by CPU.
    base: u64,
    table: Table<Vec<u8>>,
    /// Of a queue or stack: the place of the oldest value, and how many there are.
    oldest: u64,
    queued: u64,
    /// Of storage: the value of each object, by the object's address.
    storage: Table<u64>,
    /// Most entries that there were at a time: so many are paid for.
    paid: usize,
    /// Of a ring buffer: bytes that records have taken so far.
    pub(crate) produced: u64,
}

/// Where an array's values are.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct ArrayView {
    pub(crate) base: u64,
    /// Bytes from one value to the next.
    pub(crate) stride: u64,
    /// Bytes from one CPU's values to the next one's; 0: they are of all CPUs.
    pub(crate) per_cpu: u64,
    /// 0: the map is no array of values.
    pub(crate) entries: u64,
}

impl Map {
    /// Makes a map. `base`: where its values are, if they are shared with a process.
    ///
    /// # Errors
    /// Sizes that make no sense, or a full memory.
    pub fn new(
        spec: MapSpec,
        nr_cpus: u32,
        memory: &mut Memory,
        base: Option<u64>,
    ) -> Result<Self, Refusal> {
        let mut map = Self {
            nr_cpus: u64::from(nr_cpus),
            base: base.unwrap_or(0),
            table: Table::default(),
            oldest: 0,
            queued: 0,
            storage: Table::default(),
            paid: 0,
            produced: 0,
            spec,
        };
        // `array_map_alloc_check`, kernel/bpf/arraymap.c.
        if map.spec.kind.is_array() && map.spec.key_bytes != 4 {
            return Err(Refusal::Unknown(format!(
                "map `{}`: keys of an array have 4 bytes, not {}",
                map.spec.name, map.spec.key_bytes
            )));
        }
        if (map.is_queue() || map.spec.kind.is_array()) && base.is_none() {
            let bytes = map.array_bytes();
            let bytes = bytes.filter(|bytes| *bytes <= MAX_BYTES).ok_or_else(|| {
                Refusal::Unknown(format!("map `{}`: more than 512 MiB", map.spec.name))
            })?;
            map.base = memory.alloc(bytes)?;
        }
        Ok(map)
    }

    /// Says whether it is a queue or a stack, which have no keys.
    fn is_queue(&self) -> bool {
        matches!(self.spec.kind, MapKind::Queue | MapKind::Stack)
    }

    /// Room outside of the heap for one more entry than the map ever had.
    fn pay(&mut self, memory: &mut Memory, entries: usize, key_bytes: u64) -> Result<(), Fault> {
        if entries >= self.paid {
            memory.reserve(budget::ENTRY_BYTES + key_bytes.next_multiple_of(16))?;
            self.paid = entries + 1;
        }
        Ok(())
    }

    /// What compiled programs look up by (jit/lookup.rs): the same layout there.
    pub(crate) fn view(&self) -> ArrayView {
        let plain = matches!(self.spec.kind, MapKind::Array | MapKind::PercpuArray);
        let per_cpu = self.stride() * u64::from(self.spec.max_entries);
        ArrayView {
            base: self.base,
            stride: self.stride(),
            per_cpu: if self.spec.kind.per_cpu() { per_cpu } else { 0 },
            entries: if plain {
                self.spec.max_entries.into()
            } else {
                0
            },
        }
    }

    /// Bytes of an array's values. None: it is no array.
    #[must_use]
    pub fn array_bytes(&self) -> Option<u64> {
        let one = self
            .stride()
            .checked_mul(u64::from(self.spec.max_entries))?;
        one.checked_mul(self.copies())
    }

    /// Bytes from one value to the next.
    #[must_use]
    pub fn stride(&self) -> u64 {
        u64::from(self.spec.value_bytes).next_multiple_of(8).max(8)
    }

    /// Entries that there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> u64 {
        match self.spec.kind.is_array() {
            true => self.spec.max_entries.into(),
            false => self.table.len() as u64,
        }
    }

    /// Values per key: one, or one per CPU.
    #[must_use]
    pub fn copies(&self) -> u64 {
        if self.spec.kind.per_cpu() {
            self.nr_cpus
        } else {
            1
        }
    }

    /// Gives the address where an array's values begin.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Where the first CPU's value of a key is, and how far the next CPU's. None: the key is not
    /// there.
    fn find(&self, key: &[u8]) -> Option<(u64, u64)> {
        if !self.spec.kind.is_array() {
            return self.table.get(key).map(|at| (*at, self.stride()));
        }
        let index = u32::from_le_bytes(*key.first_chunk::<4>()?);
        let inside = index < self.spec.max_entries;
        let per_cpu = self.stride() * u64::from(self.spec.max_entries);
        inside.then(|| (self.base + u64::from(index) * self.stride(), per_cpu))
    }

    /// The address of a value as a CPU has it, or 0. Of a map of maps: the inner map.
    #[must_use]
    pub fn lookup(&self, memory: &Memory, key: &[u8], cpu: u32) -> u64 {
        let Some((at, step)) = self.find(key) else {
            return 0;
        };
        match self.spec.kind {
            kind if kind.of_maps() => memory.u64(at),
            kind if kind.per_cpu() => at + step * u64::from(cpu),
            _ => at,
        }
    }

    /// `lookup` with a key in memory.
    #[must_use]
    pub fn lookup_at(&self, memory: &Memory, key: u64, cpu: u32) -> u64 {
        match memory.bytes(key, u64::from(self.spec.key_bytes)) {
            Some(key) => self.lookup(memory, key, cpu),
            None => 0,
        }
    }

    /// Writes a value. Of a map with a value per CPU: that of `cpu` alone, and zero on the others
    /// of a new entry (`pcpu_init_value`, kernel/bpf/hashtab.c), or without one the values of all
    /// CPUs, one after the other.
    ///
    /// # Errors
    /// A full memory, or a broken map.
    pub fn update(
        &mut self,
        memory: &mut Memory,
        key: &[u8],
        value: &[u8],
        flags: u64,
        cpu: Option<u32>,
    ) -> Result<i64, Fault> {
        let there = self.find(key);
        match (there, flags & 3) {
            (Some(_), NOEXIST) => return Ok(EEXIST),
            (None, _) if self.spec.kind.is_array() => return Ok(E2BIG),
            (None, EXIST) => return Ok(ENOENT),
            _ => {}
        }
        if key.len() != self.spec.key_bytes as usize {
            return Ok(EINVAL);
        }
        let (at, step) = match there {
            Some(found) => found,
            None => match self.insert(memory, key)? {
                Some(at) => (at, self.stride()),
                None => return Ok(E2BIG),
            },
        };
        let size = u64::from(self.spec.value_bytes);
        for copy in 0..self.copies() {
            let from = match cpu {
                Some(cpu) if self.spec.kind.per_cpu() && copy != u64::from(cpu) => continue,
                Some(_) => 0,
                None => (copy * self.stride()) as usize,
            };
            let one = value.get(from..from + size as usize).unwrap_or_default();
            self.write(memory, at + copy * step, one)?;
        }
        Ok(0)
    }

    /// A value without its special fields.
    fn write(&self, memory: &mut Memory, at: u64, value: &[u8]) -> Result<(), Fault> {
        let to = memory.bytes_mut(at, value.len() as u64)?;
        let mut from = 0;
        for special in &self.spec.special {
            let (begin, end) = (special.start as usize, special.end as usize);
            if begin < from || end > value.len() {
                continue;
            }
            to[from..begin].copy_from_slice(&value[from..begin]);
            from = end;
        }
        to[from..].copy_from_slice(&value[from..]);
        Ok(())
    }

    /// A new key of a hash map; None: there is no room, or the budget has none.
    fn insert(&mut self, memory: &mut Memory, key: &[u8]) -> Result<Option<u64>, Fault> {
        if self.table.len() >= self.spec.max_entries as usize {
            if !self.spec.kind.is_lru() {
                return Ok(None);
            }
            if let Some((_, at)) = self.table.shift_remove_index(0) {
                self.give_back(memory, at, self.copies());
            }
        }
        self.pay(memory, self.table.len(), key.len() as u64)?;
        let at = memory.alloc(self.stride() * self.copies())?;
        self.table.insert(key.to_vec(), at);
        Ok(Some(at))
    }

    /// The room of a deleted element's values. Where the kernel has fields in them it is free once
    /// these were looked at (`bpf_obj_free_fields`); a lock alone holds nothing.
    fn give_back(&self, memory: &mut Memory, at: u64, copies: u64) {
        let bytes = self.stride() * copies;
        let inside = |field: &&Range<u64>| field.end <= self.spec.value_bytes.into();
        let length = |field: &Range<u64>| field.end - field.start;
        let fields = self.spec.special.iter().filter(inside);
        let fields: Vec<_> = fields.filter(|field| length(field) >= POINTER).collect();
        if fields.is_empty() {
            return memory.free(at, bytes);
        }
        let mut pointers = Vec::new();
        for copy in 0..copies {
            let value = at + copy * self.stride();
            let of_value = fields.iter().filter(|field| length(field) == POINTER);
            pointers.extend(of_value.map(|field| value + field.start));
        }
        memory.retire(Retired {
            at,
            bytes,
            pointers,
        });
    }

    /// Makes an entry of a map of maps.
    ///
    /// # Errors
    /// As `update`.
    pub fn set_inner(&mut self, memory: &mut Memory, key: &[u8], map: u64) -> Result<i64, Fault> {
        if key.len() != self.spec.key_bytes as usize {
            return Ok(EINVAL);
        }
        let found = match self.find(key) {
            Some((at, _)) => Some(at),
            None if self.spec.kind.is_array() => None,
            None => self.insert(memory, key)?,
        };
        let Some(at) = found else {
            return Ok(E2BIG);
        };
        memory.store(at, 8, map)?;
        Ok(0)
    }

    /// Removes an entry; 0, or a negative errno. Its value's room is given up later (`give_back`).
    pub fn delete(&mut self, memory: &mut Memory, key: &[u8]) -> i64 {
        if self.spec.kind.is_array() {
            return EINVAL;
        }
        match self.table.shift_remove(key) {
            Some(at) => {
                self.give_back(memory, at, self.copies());
                0
            }
            None => ENOENT,
        }
    }

    /// The key after `key`; the first one if that is not there.
    #[must_use]
    pub fn next_key(&self, key: Option<&[u8]>) -> Option<Vec<u8>> {
        if self.spec.kind.is_array() {
            let index = key.and_then(|key| Some(u32::from_le_bytes(*key.first_chunk::<4>()?)));
            let next = index.map_or(0, |index| index.wrapping_add(1));
            return (next < self.spec.max_entries).then(|| next.to_le_bytes().to_vec());
        }
        let at = key.and_then(|key| self.table.get_index_of(key));
        let next = at.map_or(0, |at| at + 1);
        self.table.get_index(next).map(|(key, _)| key.clone())
    }

    /// All keys of a table, in their order.
    #[must_use]
    pub fn keys(&self) -> Vec<Vec<u8>> {
        self.table.keys().cloned().collect()
    }

    /// The key whose value holds an address, and where the value begins. None: no value of the map
    /// is there.
    #[must_use]
    pub fn key_of(&self, addr: u64) -> Option<(Vec<u8>, u64)> {
        if self.spec.kind.is_array() {
            let at = addr.checked_sub(self.base)? / self.stride();
            let value = self.base + at * self.stride();
            let index = u32::try_from(at)
                .ok()
                .filter(|at| *at < self.spec.max_entries)?;
            return Some((index.to_le_bytes().to_vec(), value));
        }
        let holds = |at: u64| (at..at + self.stride()).contains(&addr);
        let found = self.table.iter().find(|(_, at)| holds(**at));
        found.map(|(key, at)| (key.clone(), *at))
    }

    /// Gives the address where a queue has its value of this number, the oldest being 0: values go
    /// round in an array.
    fn slot(&self, number: u64) -> u64 {
        let places = u64::from(self.spec.max_entries).max(1);
        self.base + (self.oldest + number) % places * self.stride()
    }

    /// Puts a value into a queue or on a stack. `force`: the oldest goes if it is full.
    ///
    /// # Errors
    /// A broken map.
    pub fn push(&mut self, memory: &mut Memory, value: &[u8], force: bool) -> Result<i64, Fault> {
        let places = u64::from(self.spec.max_entries);
        if self.queued >= places {
            if !force || places == 0 {
                return Ok(E2BIG);
            }
            self.oldest = (self.oldest + 1) % places;
            self.queued -= 1;
        }
        let at = self.slot(self.queued);
        memory
            .bytes_mut(at, value.len() as u64)?
            .copy_from_slice(value);
        self.queued += 1;
        Ok(0)
    }

    /// Takes the next value out of a queue or from a stack, or (`stays`) looks at it.
    pub fn pop(&mut self, memory: &Memory, stays: bool) -> Option<Vec<u8>> {
        let last = self.queued.checked_sub(1)?;
        let is_stack = self.spec.kind == MapKind::Stack;
        let at = self.slot(if is_stack { last } else { 0 });
        let value = memory.bytes(at, u64::from(self.spec.value_bytes))?.to_vec();
        if !stays {
            self.queued = last;
            self.oldest += u64::from(!is_stack);
        }
        Some(value)
    }

    /// The value that belongs to an object, made if (`create`) there is none; 0: none.
    ///
    /// # Errors
    /// A full memory.
    pub fn storage(
        &mut self,
        memory: &mut Memory,
        object: u64,
        create: bool,
        first: u64,
    ) -> Result<u64, Fault> {
        if let Some(at) = self.storage.get(&object) {
            return Ok(*at);
        }
        if object == 0 || !create {
            return Ok(0);
        }
        self.pay(memory, self.storage.len(), 0)?;
        let at = memory.alloc(self.stride())?;
        if first != 0 {
            let size = u64::from(self.spec.value_bytes);
            let value = memory.bytes(first, size).unwrap_or_default().to_vec();
            self.write(memory, at, &value)?;
        }
        self.storage.insert(object, at);
        Ok(at)
    }

    /// Removes an object's value: 0, or -ENOENT.
    pub fn storage_delete(&mut self, memory: &mut Memory, object: u64) -> i64 {
        match self.storage.swap_remove(&object) {
            Some(at) => {
                self.give_back(memory, at, 1);
                0
            }
            None => ENOENT,
        }
    }

    /// The key at an address of the programs' memory; None: it is outside.
    #[must_use]
    pub fn key_at(&self, memory: &Memory, at: u64) -> Option<Vec<u8>> {
        let found = memory.bytes(at, u64::from(self.spec.key_bytes));
        found.map(<[u8]>::to_vec)
    }
}
