//! bpf(2): commands on maps, types and links. Offsets: `union bpf_attr` (include/uapi/linux/bpf.h).
//! Rule: docs/guide/schedulers.md. What must stay: errno are the kernel's (libbpf asks by them);
//! what is not offered is refused by name. Tests by part: `runs_are_the_same_twice_and_interpreted`
//! (all but these), `a_loader_runs_in_virtual_time` (`update`, `look_up`),
//! `what_is_not_offered_is_refused_by_name` (`refuse`), wall.rs (maps' files); none: what is left.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted,
//! fuzz/tests/all/mutations.rs

use super::attr::Attr;
use super::calls::{Answer, Call};
use super::memory_file::{self, memory_file, pages_with_data};
use super::serve::{Object, Session};
use crate::error::said;
use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use wakeplace_bpf_vm::memory::{ARENA, PAGE};
use wakeplace_bpf_vm::{Arena, Btf, MapKind, MapSpec, Refusal, budget, map};
use wakeplace_sched_ext::Kernel;

/// The longest attribute that is read, bytes.
const MAX_ATTR: u64 = 256;
/// `BPF_F_MMAPABLE`.
const MMAPABLE: u32 = 1 << 10;
/// `BPF_STRUCT_OPS`, `BPF_PERF_EVENT`: attach types.
const STRUCT_OPS: u32 = 44;
const PERF_EVENT: u32 = 41;

/// The table of callbacks as the loader has filled it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// Programs by the member's name.
    pub(crate) programs: BTreeMap<String, usize>,
    pub(crate) name: String,
    pub(crate) flags: u64,
    pub(crate) timeout_ms: u32,
    pub(crate) dispatch_max_batch: u32,
    pub(crate) sub_cgroup_id: u64,
    /// Its callbacks have cids where others have CPUs.
    pub(crate) has_cids: bool,
    pub(crate) cid_shard_size: u32,
}

impl Table {
    /// Programs that the simulated kernel calls.
    pub(crate) fn called(&self) -> impl Iterator<Item = usize> {
        let called = self
            .programs
            .iter()
            .filter(|(name, _)| !name.starts_with("dump"));
        called.map(|(_, program)| *program)
    }
}

impl Session<'_> {
    /// The answer to bpf(2): an attribute that cannot be read is EFAULT.
    pub(super) fn bpf(&mut self, call: &Call) -> Answer {
        let [command, attr, size, ..] = call.args;
        let Some(attr) = call.read(attr, size.min(MAX_ATTR)).map(Attr) else {
            return Answer::error(libc::EFAULT);
        };
        self.place_arena(call);
        let answer = self.command(call, command, &attr);
        self.give_up_retired();
        answer
    }

    /// Elements of maps that the loader has deleted.
    fn give_up_retired(&mut self) {
        let sim: Option<&mut dyn Kernel> = match &mut self.sim {
            Some(sim) => Some(&mut **sim),
            None => None,
        };
        if let Err(fault) = self.state.give_up_retired(self.vm, sim) {
            self.known.refuse(fault.to_string());
        }
    }

    /// bpf(2) by its command; what is not offered is refused by name.
    fn command(&mut self, call: &Call, command: u64, attr: &Attr) -> Answer {
        match command {
            0 => self.map_create(call, attr),
            1..=4 | 21 => self.element(call, command, attr),
            5 => self.program_load(call, attr),
            10 => self.program_run(call, attr),
            15 => self.info(call, attr),
            17 => self.trace(call, attr.u32(8)),
            18 => self.btf_load(call, attr),
            28 => self.link_create(call, attr),
            6 => self.refuse("pinning an object in a file system (BPF_OBJ_PIN) is not offered"),
            8 => match self.trace(call, attr.u32(4)) {
                Answer::File(_) => Answer::Value(0),
                error => error,
            },
            // Detach, freeze, bind: nothing here depends on them.
            9 | 22 | 29 | 34 | 35 | 37 | 38 => Answer::Value(0),
            // Numbers of objects: there are none beside those that the loader has.
            7 | 11..=14 | 19 | 20 | 23 | 30 | 31 => Answer::error(libc::ENOENT),
            32 => self.give(Object::Link, PAGE),
            36 => Answer::error(libc::EPERM),
            other => self.refuse(format!("bpf(2) command {other} is not offered")),
        }
    }

    /// A new descriptor for the loader.
    pub(super) fn give(&mut self, object: Object, bytes: u64) -> Answer {
        if let Err(fault) = self.vm.memory.reserve(budget::OBJECT_BYTES) {
            self.known.refuse(fault.to_string());
            return Answer::error(libc::ENOMEM);
        }
        let made = memory_file(bytes).and_then(|file| {
            let id = memory_file::file_id(file.as_fd())?;
            Ok((file.try_clone()?, id, file))
        });
        match made {
            Ok((ours, id, theirs)) => {
                self.known.objects.insert(id, (object, ours));
                Answer::File(theirs)
            }
            Err(error) => {
                let what = format!("a file for the loader: {}", said(&error));
                self.known.refuse(what);
                Answer::failed(&error)
            }
        }
    }

    /// EINVAL for the loader; the user reads what was refused.
    pub(super) fn refuse(&mut self, what: impl Into<String>) -> Answer {
        self.known.refuse(what.into());
        Answer::error(libc::EINVAL)
    }

    /// BPF_MAP_CREATE: a descriptor, or the kernel's errno.
    fn map_create(&mut self, call: &Call, attr: &Attr) -> Answer {
        let name = attr.name(28);
        let kind = match MapKind::from_number(attr.u32(0)) {
            Ok(kind) => kind,
            Err(other) => {
                return self.refuse(format!("map `{name}`: type {other} is not offered"));
            }
        };
        if kind == MapKind::StructOps {
            let of = self.known.kernel.name(attr.u32(60)).to_owned();
            let of = of.trim_start_matches("bpf_struct_ops_");
            if !["sched_ext_ops", "sched_ext_ops_cid"].contains(&of) {
                return self.refuse(format!(
                    "map `{name}`: callbacks of struct {of} are not offered; expected \
                     sched_ext_ops or sched_ext_ops_cid"
                ));
            }
            // The map that is made next.
            if of == "sched_ext_ops_cid" {
                self.known.tables_with_cids.insert(self.vm.maps().len());
            }
        }
        let special = match self.object(call, attr.u32(48)) {
            Some(Object::Btf(btf)) if attr.u32(56) != 0 => map::special_fields(btf, attr.u32(56)),
            _ => Some(Vec::new()),
        };
        let Some(special) = special else {
            return self.refuse(format!("map `{name}`: a value with too many members"));
        };
        let spec = MapSpec {
            kind,
            name: name.clone(),
            key_bytes: attr.u32(4),
            value_bytes: attr.u32(8),
            max_entries: attr.u32(12),
            flags: attr.u32(16),
            extra: attr.u64(64),
            special,
        };
        match self.add_map(spec) {
            Ok(answer) => answer,
            Err(refusal) => self.refuse(format!("map `{name}`: {refusal}")),
        }
    }

    /// Makes a map, if the budget has room for it.
    fn add_map(&mut self, spec: MapSpec) -> Result<Answer, Refusal> {
        let limit = |bytes: Option<u64>| {
            let bytes = bytes.filter(|bytes| *bytes <= 4 << 30);
            bytes.ok_or_else(|| Refusal::Unknown("larger than 4 GiB".to_owned()))
        };
        let entries = u64::from(spec.max_entries);
        let stride = u64::from(spec.value_bytes).next_multiple_of(8);
        let bytes = match spec.kind {
            MapKind::Array if spec.flags & MMAPABLE != 0 => limit(stride.checked_mul(entries))?,
            MapKind::Arena => limit(entries.checked_mul(PAGE))?,
            MapKind::RingBuffer => limit(Some(2 * entries + 2 * PAGE))?,
            _ => PAGE,
        };
        let (longest_key, longest_value) = longest(spec.kind);
        let of_key = ("key", spec.key_bytes, longest_key);
        for (what, bytes, most) in [of_key, ("value", spec.value_bytes, longest_value)] {
            if bytes > most {
                let text = format!("a {what} of {bytes} bytes; a kernel takes {most} at most");
                return Err(Refusal::Unknown(text));
            }
        }
        let host = |error: std::io::Error| Refusal::Unknown(said(&error));
        let file = memory_file(bytes.next_multiple_of(PAGE)).map_err(host)?;
        let array = spec.kind == MapKind::Array && spec.flags & MMAPABLE != 0;
        let shared = array || spec.kind == MapKind::RingBuffer;
        let base = match shared {
            true => Some(self.vm.memory.share(file.as_fd(), bytes)?),
            false => None,
        };
        let (kind, entries) = (spec.kind, spec.max_entries);
        let number = self.vm.add_map(spec, base)?;
        if kind == MapKind::Arena {
            self.vm.arena = Arena::of(number, u64::from(entries));
        }
        let id = memory_file::file_id(file.as_fd()).map_err(host)?;
        let theirs = file.try_clone().map_err(host)?;
        self.known.objects.insert(id, (Object::Map(number), file));
        Ok(Answer::File(theirs))
    }

    /// Puts the arena's pages where programs see them, once the loader has mapped it, and takes
    /// note of those that it has written.
    fn place_arena(&mut self, call: &Call) {
        let Some(number) = self.vm.arena.map.filter(|_| self.sim.is_none()) else {
            return;
        };
        let is_it = |object: &Object| matches!(object, Object::Map(map) if *map == number);
        let found = self
            .known
            .objects
            .iter()
            .find(|(_, (object, _))| is_it(object));
        let Some((id, (_, file))) = found else {
            return;
        };
        if self.vm.arena.user == 0 {
            let Some(user) = call.mapped(*id) else {
                return;
            };
            let (low, bytes) = (user & 0xffff_ffff, self.vm.arena.pages * PAGE);
            if low + bytes > 1 << 32 {
                self.known
                    .refuse("an arena across a border of 4 GiB".to_owned());
                return;
            }
            if let Err(fault) = self.vm.memory.share_at(file.as_fd(), ARENA + low, bytes) {
                self.known.refuse(fault.to_string());
                return;
            }
            self.vm.arena.user = user;
        }
        let pages = pages_with_data(file.as_fd(), PAGE);
        self.vm.arena.mark(pages.into_iter());
    }

    /// Commands on one element of a map.
    fn element(&mut self, call: &Call, command: u64, attr: &Attr) -> Answer {
        let Some(Object::Map(number)) = self.object(call, attr.u32(0)) else {
            return Answer::error(libc::EBADF);
        };
        let number = *number;
        let Some((map, _)) = self.vm.map_mut(number) else {
            return Answer::error(libc::EBADF);
        };
        let (key_at, value_at, flags) = (attr.u64(8), attr.u64(16), attr.u64(24));
        let key = match key_at {
            0 => None,
            at => call.read(at, u64::from(map.spec.key_bytes)),
        };
        let kind = map.spec.kind;
        // Queues and stacks have none; "the first key" of command 4 needs none.
        let needs_key = command != 4 && map.spec.key_bytes > 0 && kind != MapKind::StructOps;
        if key.is_none() && (needs_key || key_at != 0) {
            return Answer::error(libc::EFAULT);
        }
        match (command, kind) {
            (2, MapKind::StructOps) => self.fill_table(call, number, value_at),
            (2, _) if kind.of_maps() => self.set_inner(call, number, key, value_at),
            // Counters of the host's are not counted here.
            (2, MapKind::PerfEventArray) => Answer::Value(0),
            (2, MapKind::TaskStorage | MapKind::CgroupStorage) => {
                let name = map.spec.name.clone();
                self.refuse(format!(
                    "map `{name}`: a loader's update of task or cgroup storage is not offered"
                ))
            }
            // The kernel has none for these either.
            (2, MapKind::RingBuffer | MapKind::Arena) => Answer::error(libc::EOPNOTSUPP),
            (2, _) => self.update(call, number, key, value_at, flags),
            (3, _) => match self.vm.map_mut(number) {
                Some((map, memory)) => Answer::Value(map.delete(memory, &key.unwrap_or_default())),
                None => Answer::error(libc::EBADF),
            },
            (4, _) => {
                let next = self
                    .vm
                    .map(number)
                    .and_then(|map| map.next_key(key.as_deref()));
                match next {
                    Some(next) if call.write(value_at, &next) => Answer::Value(0),
                    Some(_) => Answer::error(libc::EFAULT),
                    None => Answer::error(libc::ENOENT),
                }
            }
            _ => self.look_up(call, number, key, value_at, command == 21),
        }
    }

    /// BPF_MAP_UPDATE_ELEM; the table of callbacks and maps of maps have ways of their own.
    fn update(
        &mut self,
        call: &Call,
        number: usize,
        key: Option<Vec<u8>>,
        value_at: u64,
        flags: u64,
    ) -> Answer {
        let Some((map, memory)) = self.vm.map_mut(number) else {
            return Answer::error(libc::EBADF);
        };
        let size = match map.spec.kind.per_cpu() {
            true => map.stride() * map.copies(),
            false => u64::from(map.spec.value_bytes),
        };
        let Some(value) = call.read_value(value_at, size) else {
            return Answer::error(libc::EFAULT);
        };
        if matches!(map.spec.kind, MapKind::Queue | MapKind::Stack) {
            return match map.push(memory, &value, flags & 2 != 0) {
                Ok(result) => Answer::Value(result),
                Err(fault) => self.refuse(fault.to_string()),
            };
        }
        match map.update(memory, &key.unwrap_or_default(), &value, flags, None) {
            Ok(result) => Answer::Value(result),
            Err(fault) => self.refuse(fault.to_string()),
        }
    }

    /// BPF_MAP_LOOKUP_ELEM, and with `takes` also the deletion.
    fn look_up(
        &mut self,
        call: &Call,
        number: usize,
        key: Option<Vec<u8>>,
        value_at: u64,
        takes: bool,
    ) -> Answer {
        let Some((map, memory)) = self.vm.map_mut(number) else {
            return Answer::error(libc::EBADF);
        };
        let key = key.unwrap_or_default();
        let size = u64::from(map.spec.value_bytes);
        let value = if matches!(map.spec.kind, MapKind::Queue | MapKind::Stack) {
            map.pop(memory, !takes)
        } else if map.spec.kind.per_cpu() {
            let of = |cpu| {
                let at = map.lookup(memory, &key, cpu);
                memory.bytes(at, map.stride()).map(<[u8]>::to_vec)
            };
            let all: Option<Vec<_>> = (0..map.copies() as u32).map(of).collect();
            all.map(|all| all.concat())
        } else {
            let at = map.lookup(memory, &key, 0);
            memory.bytes(at, size).map(<[u8]>::to_vec)
        };
        if takes {
            map.delete(memory, &key);
        }
        match value {
            Some(value) if call.write(value_at, &value) => Answer::Value(0),
            Some(_) => Answer::error(libc::EFAULT),
            None => Answer::error(libc::ENOENT),
        }
    }

    /// An element of a map of maps.
    fn set_inner(
        &mut self,
        call: &Call,
        number: usize,
        key: Option<Vec<u8>>,
        value_at: u64,
    ) -> Answer {
        let fd = call
            .read(value_at, 4)
            .and_then(|fd| fd.first_chunk().copied());
        let inner = match fd.and_then(|fd| self.object(call, u32::from_le_bytes(fd))) {
            Some(Object::Map(inner)) => wakeplace_bpf_vm::Vm::map_handle(*inner),
            _ => return Answer::error(libc::EBADF),
        };
        let Some((map, memory)) = self.vm.map_mut(number) else {
            return Answer::error(libc::EBADF);
        };
        match map.set_inner(memory, &key.unwrap_or_default(), inner) {
            Ok(result) => Answer::Value(result),
            Err(fault) => self.refuse(fault.to_string()),
        }
    }

    /// The table of callbacks is written.
    fn fill_table(&mut self, call: &Call, number: usize, value_at: u64) -> Answer {
        let size = self
            .vm
            .map(number)
            .map_or(0, |map| u64::from(map.spec.value_bytes));
        let Some(value) = call.read(value_at, size) else {
            return Answer::error(libc::EFAULT);
        };
        let word = |at: u64, bytes: u64| {
            let mut word = [0; 8];
            let found = value
                .get(at as usize..(at + bytes) as usize)
                .unwrap_or_default();
            word[..found.len()].copy_from_slice(found);
            u64::from_le_bytes(word)
        };
        let has_cids = self.known.tables_with_cids.contains(&number);
        let ops = match has_cids {
            true => self.known.layout.ops_cid.clone(),
            false => Some(self.known.layout.ops.clone()),
        };
        let Some(ops) = ops else {
            return Answer::error(libc::EINVAL);
        };
        let mut table = Table {
            has_cids,
            cid_shard_size: ops.cid_shard_size.map_or(0, |at| word(at, 4) as u32),
            flags: word(ops.flags, 8),
            timeout_ms: word(ops.timeout_ms, 4) as u32,
            dispatch_max_batch: ops.dispatch_max_batch.map_or(0, |at| word(at, 4) as u32),
            sub_cgroup_id: ops.sub_cgroup_id.map_or(0, |at| word(at, 8)),
            ..Table::default()
        };
        let name = value.get(ops.name as usize..).unwrap_or_default();
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        table.name = String::from_utf8_lossy(name).into_owned();
        for (member, at) in &ops.callbacks {
            let fd = word(*at, 8);
            if fd == 0 {
                continue;
            }
            match self.object(call, fd as u32) {
                Some(Object::Program(program)) => {
                    table.programs.insert(member.clone(), *program);
                }
                _ => return Answer::error(libc::EBADF),
            }
        }
        self.known.tables.insert(number, table);
        // Without a link the update attaches (`BPF_F_LINK` is 1 << 13).
        let flags = self.vm.map(number).map_or(0, |map| map.spec.flags);
        if flags & (1 << 13) == 0 {
            return self.attach(number, false);
        }
        Answer::Value(0)
    }

    /// What the loader has made is taken over. `link`: it gets a descriptor.
    fn attach(&mut self, number: usize, link: bool) -> Answer {
        if self.sim.is_some() {
            return self.refuse("to attach a second scheduler is not offered");
        }
        let Some(table) = self.known.tables.remove(&number) else {
            return Answer::error(libc::EINVAL);
        };
        // Libraries try whether there are arenas: only those of the scheduler count.
        let arena = self.vm.arena.map;
        let other = table.programs.values().find_map(|program| {
            self.known
                .arena_of
                .get(program)
                .filter(|map| Some(**map) != arena)
        });
        if other.is_some() {
            return self.refuse("programs with two arenas are not offered");
        }
        let answer = match link {
            true => self.give(Object::Link, PAGE),
            false => Answer::Value(0),
        };
        self.known.attached = Some(table);
        answer
    }

    /// BPF_LINK_CREATE: the scheduler's table, or a program that nothing here calls.
    fn link_create(&mut self, call: &Call, attr: &Attr) -> Answer {
        let (of, target, kind) = (attr.u32(0), attr.u32(4), attr.u32(8));
        if kind == STRUCT_OPS {
            return match self.object(call, of) {
                Some(Object::Map(number)) => {
                    let number = *number;
                    self.attach(number, true)
                }
                _ => Answer::error(libc::EBADF),
            };
        }
        // So libraries find out whether there are such links.
        if kind == PERF_EVENT && target == u32::MAX {
            return Answer::error(libc::EBADF);
        }
        self.trace(call, of)
    }

    /// A tracing program is attached: it is named in results, since nothing calls it.
    fn trace(&mut self, call: &Call, program: u32) -> Answer {
        match self.object(call, program) {
            Some(Object::Uncalled(name)) => {
                let name = name.clone();
                self.known.uncalled.push(name);
                self.give(Object::Link, PAGE)
            }
            Some(_) => self.give(Object::Link, PAGE),
            None => Answer::error(libc::EBADF),
        }
    }

    /// BPF_BTF_LOAD: types that a loader describes its programs by, bounded.
    fn btf_load(&mut self, call: &Call, attr: &Attr) -> Answer {
        let Some(bytes) = call.read(attr.u64(0), u64::from(attr.u32(16))) else {
            return Answer::error(libc::EFAULT);
        };
        // With where its types begin, and their order by name.
        let kept = 2 * bytes.len() as u64;
        let parsed = match self.vm.memory.reserve(kept) {
            Ok(()) => Btf::parse(bytes, None).map_err(|error| error.to_string()),
            Err(fault) => return self.refuse(format!("type information: {fault}")),
        };
        match parsed {
            Ok(btf) => self.give(Object::Btf(Arc::new(btf)), PAGE),
            Err(error) => {
                self.vm.memory.give_back(kept);
                self.refuse(error)
            }
        }
    }

    /// BPF_OBJ_GET_INFO_BY_FD: as much as the caller has room for.
    fn info(&mut self, call: &Call, attr: &Attr) -> Answer {
        let (fd, room, at) = (attr.u32(0), attr.u32(4) as usize, attr.u64(8));
        let mut info = vec![0_u8; 256];
        let mut put = |at: usize, word: u32| {
            info[at..at + 4].copy_from_slice(&word.to_le_bytes());
        };
        match self.object(call, fd) {
            Some(Object::Map(number)) => {
                let Some(map) = self.vm.map(*number) else {
                    return Answer::error(libc::EBADF);
                };
                let spec = &map.spec;
                put(0, kind_number(spec.kind));
                put(4, *number as u32 + 1);
                put(8, spec.key_bytes);
                put(12, spec.value_bytes);
                put(16, spec.max_entries);
                put(20, spec.flags);
                let name = spec.name.as_bytes();
                let name = &name[..name.len().min(15)];
                info[24..24 + name.len()].copy_from_slice(name);
                info[80..88].copy_from_slice(&spec.extra.to_le_bytes());
            }
            Some(Object::Program(number)) => {
                put(0, self.known.types.get(*number).copied().unwrap_or(0));
                put(4, *number as u32 + 1);
            }
            Some(_) => {}
            None => return Answer::error(libc::EBADF),
        }
        match call.write(at, &info[..room.min(88)]) {
            true => Answer::Value(0),
            false => Answer::error(libc::EFAULT),
        }
    }
}

/// The longest key and value that a kernel takes (`*_alloc_check`, kernel/bpf).
fn longest(kind: MapKind) -> (u32, u32) {
    // `MAX_BPF_STACK`: programs have keys on their stacks.
    const KEY: u32 = 512;
    // `KMALLOC_MAX_SIZE` of machines with pages of 4 KiB.
    const KMALLOC: u32 = 4 << 20;
    // `PCPU_MIN_UNIT_SIZE`.
    const PER_CPU: u32 = 32 << 10;
    let value = match kind {
        MapKind::Array => i32::MAX.cast_unsigned(),
        kind if kind.per_cpu() => PER_CPU,
        // `BPF_LOCAL_STORAGE_MAX_VALUE_SIZE`, but for what stands around the value.
        MapKind::TaskStorage | MapKind::CgroupStorage => u16::MAX.into(),
        _ => KMALLOC,
    };
    (KEY, value)
}

/// The kernel's number of a type of maps.
fn kind_number(kind: MapKind) -> u32 {
    (0..64)
        .find(|number| MapKind::from_number(*number) == Ok(kind))
        .unwrap_or(0)
}
