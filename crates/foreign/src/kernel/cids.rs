//! Topological numbers of CPUs (7.1 and later; docs/rules/sched-ext.md#cids).
//!
//! What must stay: the order is the kernel's, and so are the texts of errors. Shards hold whole
//! cores. Free: how the order is computed.
//!
//! Tests by part: `threads_of_a_core_stand_together` (`of`, `number`, `places`, `place`),
//! `cores_are_spread_over_shards` (`divide`, `cores`), `an_order_of_its_own` (`replace`,
//! `check_shards`), schedulers.rs::`cids_leave_and_come_back` (`cpu`, `cid`, `told`, `cmask`,
//! `words`, `in_arena`: cids.bpf.c compares them with what callbacks say).
//!
//! Callers: kfuncs/cids.rs for programs, crates/foreign/src/instance.rs for callbacks (`divide`,
//! `told`, `cmask`), kernel/state.rs (`of`).
//!
//! Tests: below

use super::running::write_mask;
use crate::topology::last_level;
use wakeplace_bpf_vm::memory::{ARENA, PAGE};
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_platform::{CpuId, Platform};

/// CPUs of a shard where the scheduler does not say (`SCX_CID_SHARD_SIZE_DFL`).
const SHARD_SIZE: u32 = 24;
/// Most CPUs of a shard (`SCX_CID_SHARD_MAX_CPUS`).
const MOST_OF_SHARD: u32 = 512;

/// Before the bits of `struct scx_cmask`: the first cid, how many, words of room.
pub(crate) const CMASK_HEADER: u64 = 16;

/// Where a CPU is (`struct scx_cid_topo`): the first cid and the number of its core, cache, node
/// and shard; -1: not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    core: [i32; 2],
    cache: [i32; 2],
    node: [i32; 2],
    shard: [i32; 2],
}

impl Place {
    /// What is told of a CPU that is nowhere.
    pub(crate) const NONE: Self = Self {
        core: [-1; 2],
        cache: [-1; 2],
        node: [-1; 2],
        shard: [-1; 2],
    };

    /// Gives core, cache, node and shard of a place, as programs have them.
    pub(crate) fn words(self) -> impl Iterator<Item = i32> {
        [self.core, self.cache, self.node, self.shard]
            .into_iter()
            .flatten()
    }
}

/// The numbers.
#[derive(Clone, Debug)]
pub(crate) struct Cids {
    /// The scheduler's callbacks and queues have cids where others have CPUs.
    pub(crate) in_callbacks: bool,
    /// `init_cids` is under way.
    pub(crate) may_be_replaced: bool,
    cpus: Vec<u32>,
    cids: Vec<u32>,
    places: Vec<Place>,
}

impl Cids {
    /// What shares a node, in it a cache, in it a core, stands together (`scx_cid_init`).
    pub(crate) fn of(platform: &Platform) -> Self {
        let count = platform.cpus.len() as u32;
        let node = |cpu: u32| platform.cpus[cpu as usize].node;
        let cache = |cpu: u32| last_level(platform, CpuId(cpu)).map_or(cpu, |(at, _)| at as u32);
        let core = |cpu: u32| platform.cpus[cpu as usize].core;
        let first = |is: &dyn Fn(u32) -> bool| (0..count).find(|other| is(*other)).unwrap_or(0);
        // Of each: the first CPU of its node, of its cache there, of its core there.
        let key = |cpu: u32| {
            let of_node = |other: u32| node(other) == node(cpu);
            let of_cache = |other: u32| of_node(other) && cache(other) == cache(cpu);
            let of_core = |other: u32| of_cache(other) && core(other) == core(cpu);
            [first(&of_node), first(&of_cache), first(&of_core), cpu]
        };
        let mut keys: Vec<_> = (0..count).map(key).collect();
        keys.sort_unstable();
        let mut all = Self {
            in_callbacks: false,
            may_be_replaced: false,
            cpus: keys.iter().map(|key| key[3]).collect(),
            cids: Vec::new(),
            places: places(&keys),
        };
        all.number();
        all.divide(0);
        all
    }

    /// The other direction.
    fn number(&mut self) {
        self.cids = vec![0; self.cpus.len()];
        for (cid, cpu) in self.cpus.iter().enumerate() {
            self.cids[*cpu as usize] = cid as u32;
        }
    }

    /// Divides caches into shards of about as many cores each (`calc_shard_layout`). `size`: most
    /// CPUs of one; 0: the kernel's.
    pub(crate) fn divide(&mut self, size: u32) {
        let size = if size == 0 { SHARD_SIZE } else { size };
        let most = size.min(MOST_OF_SHARD);
        let (mut from, mut number) = (0, -1);
        while from < self.places.len() {
            let same = |place: &&Place| place.cache == self.places[from].cache;
            let end = from + self.places[from..].iter().take_while(same).count();
            let cores = cores(&self.places[from..end]);
            let cpus = (end - from) as u32;
            let shards = cpus.div_ceil(size).max(cpus.div_ceil(MOST_OF_SHARD)).max(1) as usize;
            let (each, larger) = (cores.len() / shards, cores.len() % shards);
            let (mut local, mut in_shard, mut cids) = (0, 0, 0);
            let mut shard = [from as i32, number + 1];
            number += 1;
            let mut at = from;
            for core in cores {
                let room = each + usize::from(local < larger);
                if in_shard > 0 && (in_shard >= room || cids + core > most) {
                    (local, in_shard, cids) = (local + 1, 0, 0);
                    number += 1;
                    shard = [at as i32, number];
                }
                (in_shard, cids) = (in_shard + 1, cids + core);
                let places = self.places[at..].iter_mut().take(core as usize);
                places.for_each(|place| place.shard = shard);
                at += core as usize;
            }
            from = end;
        }
    }

    /// The CPU of a cid. None: there is no such cid.
    pub(crate) fn cpu(&self, cid: i32) -> Option<u32> {
        self.cpus.get(usize::try_from(cid).ok()?).copied()
    }

    /// The cid of a CPU. None: there is no such CPU.
    pub(crate) fn cid(&self, cpu: i32) -> Option<u32> {
        self.cids.get(usize::try_from(cpu).ok()?).copied()
    }

    /// Gives where a cid's CPU is. None: there is no such cid.
    pub(crate) fn place(&self, cid: i32) -> Option<Place> {
        self.places.get(usize::try_from(cid).ok()?).copied()
    }

    /// A CPU as the scheduler's callbacks have it (`scx_cpu_arg`).
    pub(crate) fn told(&self, cpu: i32) -> i32 {
        match self.in_callbacks {
            true => self.cid(cpu).map_or(cpu, u32::cast_signed),
            false => cpu,
        }
    }

    /// A mask of cids in the arena, for CPUs: at `at`, or (0) where there is room for it.
    pub(crate) fn cmask(&self, vm: &mut Vm, at: u64, cpus: &[u64]) -> Result<u64, Fault> {
        let nr_cids = u64::from(vm.nr_cpus());
        let words = nr_cids.div_ceil(64) + 1;
        let at = match at {
            0 => {
                let pages = (CMASK_HEADER + 8 * words).div_ceil(PAGE);
                match vm.arena.alloc(&mut vm.memory, 0, pages) {
                    0 => {
                        return Err(Fault::Call(
                            "its arena is full, or there is none".to_owned(),
                        ));
                    }
                    user => in_arena(user),
                }
            }
            at => at,
        };
        vm.memory.store(at, 8, nr_cids << 32)?;
        vm.memory.store(at + 8, 4, words)?;
        let mut bits = vec![0_u64; words as usize];
        for cid in 0..vm.nr_cpus() {
            let cpu = self.cpu(cid.cast_signed()).unwrap_or(cid);
            let set = cpus
                .get(cpu as usize / 64)
                .map_or(0, |word| word >> (cpu % 64) & 1);
            bits[cid as usize / 64] |= set << (cid % 64);
        }
        write_mask(vm, at + CMASK_HEADER, &bits);
        Ok(at)
    }

    /// Others, and where shards begin (`scx_bpf_cid_override`). Nodes, caches and cores are not
    /// told any more.
    ///
    /// # Errors
    /// What is wrong with them, as the kernel says it.
    pub(crate) fn replace(&mut self, cids: &[i32], shards: &[i32]) -> Result<(), String> {
        let count = self.cpus.len();
        if cids.len() != count {
            return Err(format!(
                "scx_bpf_cid_override: cpu_to_cid expected {count} entries, got {}",
                cids.len()
            ));
        }
        check_shards(shards, count as i32)?;
        let mut cpus = vec![None; count];
        for (cpu, cid) in cids.iter().enumerate() {
            let place = usize::try_from(*cid).ok().and_then(|at| cpus.get_mut(at));
            let place = place.ok_or_else(|| format!("invalid cid {cid}"))?;
            if place.replace(cpu as u32).is_some() {
                return Err(format!("cid {cid} assigned to multiple cpus"));
            }
        }
        self.cpus = cpus.into_iter().flatten().collect();
        self.number();
        for (cid, place) in self.places.iter_mut().enumerate() {
            let at = shards.partition_point(|first| *first <= cid as i32) - 1;
            *place = Place::NONE;
            place.shard = [shards[at], at as i32];
        }
        Ok(())
    }
}

/// Where programs see an address of the arena, whichever form it has.
pub(crate) fn in_arena(at: u64) -> u64 {
    ARENA + (at & 0xffff_ffff)
}

/// Finds where each CPU of the order is, but for its shard.
fn places(keys: &[[u32; 4]]) -> Vec<Place> {
    let mut all: Vec<Place> = Vec::with_capacity(keys.len());
    for (at, key) in keys.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| (&keys[before], all[before]));
        // The same as before, or the next one, which begins here.
        let next = |depth: usize, of: fn(&Place) -> [i32; 2]| match before {
            Some((other, place)) if other[..=depth] == key[..=depth] => of(&place),
            Some((_, place)) => [at as i32, of(&place)[1] + 1],
            None => [0, 0],
        };
        all.push(Place {
            node: next(0, |place| place.node),
            cache: next(1, |place| place.cache),
            core: next(2, |place| place.core),
            shard: [-1; 2],
        });
    }
    all
}

/// How many CPUs each core has.
fn cores(places: &[Place]) -> Vec<u32> {
    let of = |core: &[Place]| core.len() as u32;
    places.chunk_by(|a, b| a.core == b.core).map(of).collect()
}

/// The kernel's own rules for shards, in its words.
fn check_shards(shards: &[i32], count: i32) -> Result<(), String> {
    let wrong = |text: String| Err(format!("scx_bpf_cid_override: {text}"));
    match shards.first() {
        None => return wrong("invalid shard_start size 0".to_owned()),
        Some(0) => {}
        Some(first) => return wrong(format!("shard_start[0] must be 0, got {first}")),
    }
    let ends = shards.iter().skip(1).chain([&count]);
    for (at, (from, end)) in shards.iter().zip(ends).enumerate() {
        let (next, most) = (at + 1, MOST_OF_SHARD.cast_signed());
        if next < shards.len() && end <= from {
            return wrong(format!("shard_start not increasing at [{next}]"));
        }
        if next < shards.len() && *end >= count {
            return wrong(format!("shard_start[{next}]={end} >= {count}"));
        }
        if end - from > most {
            let span = end - from;
            return wrong(format!("shard[{at}] span {span} exceeds max {most}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Cids;
    use wakeplace_platform::Platform;

    fn cids(platform: &str) -> Cids {
        Cids::of(&Platform::builtin(platform).expect("there is such a platform"))
    }

    /// Goal: threads of a core have neighbouring cids, and a cache of 8 cores is one shard
    /// (docs/rules/sched-ext.md#cids).
    #[test]
    fn threads_of_a_core_stand_together() {
        let all = cids("zen4-7950x");
        let siblings = [all.cpu(0), all.cpu(1)].map(|cpu| cpu.expect("it is there"));
        assert_eq!(siblings, [0, 16]);
        let place = all.place(17).expect("it is there");
        let words: Vec<_> = place.words().collect();
        // core: the second of the second cache (cids 16, 17); cache: from 16 on, the second; one
        // node; the second shard.
        assert_eq!(words, [16, 8, 16, 1, 0, 0, 16, 1]);
    }

    /// Goal: shards of 6 CPUs: 8 cores in 3 shards are 3, 3 and 2 (docs/rules/sched-ext.md#cids).
    #[test]
    fn cores_are_spread_over_shards() {
        let mut all = cids("zen4-7950x");
        all.divide(6);
        let shard = |cid: i32| all.place(cid).expect("it is there").shard;
        assert_eq!(shard(5), [0, 0]);
        assert_eq!(shard(6), [6, 1]);
        assert_eq!(shard(15), [12, 2]);
        assert_eq!(shard(16), [16, 3]);
    }

    /// Goal: what a kernel refuses is refused in its words; what it takes replaces the order
    /// (docs/rules/sched-ext.md#cids).
    #[test]
    fn an_order_of_its_own() {
        let mut all = cids("hikey960");
        let reversed: Vec<_> = (0..8).rev().collect();
        all.replace(&reversed, &[0, 4]).expect("it is a good one");
        assert_eq!((all.cpu(0), all.cid(0)), (Some(7), Some(7)));
        let words: Vec<_> = all.place(5).expect("it is there").words().collect();
        assert_eq!(words, [-1, -1, -1, -1, -1, -1, 4, 1]);
        for (cids, shards, text) in [
            (
                &[0, 0, 2, 3, 4, 5, 6, 7],
                &[0][..],
                "cid 0 assigned to multiple cpus",
            ),
            (&[8, 1, 2, 3, 4, 5, 6, 7], &[0], "invalid cid 8"),
            (
                &[0, 1, 2, 3, 4, 5, 6, 7],
                &[1],
                "scx_bpf_cid_override: shard_start[0] must be 0, got 1",
            ),
            (
                &[0, 1, 2, 3, 4, 5, 6, 7],
                &[0, 5, 3],
                "scx_bpf_cid_override: shard_start not increasing at [2]",
            ),
            (
                &[0, 1, 2, 3, 4, 5, 6, 7],
                &[0, 8],
                "scx_bpf_cid_override: shard_start[1]=8 >= 8",
            ),
        ] {
            assert_eq!(all.replace(cids, shards), Err(text.to_owned()));
        }
        assert_eq!(all.cpu(0), Some(7), "it is as it was");
    }
}
