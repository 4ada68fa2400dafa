//! When the step of each CPU's running task ends. That changes more often than it happens: each CPU
//! has one place, which is written anew, instead of an event that is outdated later
//! (docs/rules/README.md#event-order).
//!
//! What must stay: at most one place per CPU, and the order of one sorted list of all ends. Its
//! shape is free: it is for speed. Free: the shape of the tree. Tests by part: `an_end_moves`
//! (`arm`, `disarm`, `move_on`), `ends_at_one_time` and `an_end_armed_twice` (`put`),
//! `the_least_comes_first` (`write`, `take`, `clear`), `what_is_not_in_the_queue_has_its_place`
//! (`peek_due_ns`), `an_end_moves` and the others (`new`, `first`, `of`,
//! `by_first_place`, `lesser`, `cpu_of`, `time_ns`).
//!
//! Callers: mechanics/queue.rs (`disarm`, `time_ns`).
//!
//! Tests: crates/engine/src/mechanics/queue/tests.rs

use crate::ids::CpuId;

/// Of a key, above the CPU's number: how many ends were armed before it. 2^44 are days of
/// computing.
const CPU_BITS: u32 = 12;

/// After everything: nothing is pending.
pub(super) const NEVER: u128 = u128::MAX;

/// The pending ends.
#[derive(Debug)]
pub(super) struct Ends {
    /// A tree of groups of four keys. The last ones have the keys of four CPUs each, those before
    /// what is least in each of four groups. A key is made of the time, the class of the event, how
    /// many were armed before, and the CPU.
    groups: Vec<[u128; 4]>,
    /// The first group of CPUs.
    cpus: usize,
    /// What is least of all.
    first: u128,
    /// When the step ends, which may be later than its place says; `u64::MAX`: it does not.
    due_ns: Vec<u64>,
    /// A place is no farther ahead than this, ns.
    ahead_ns: u64,
    /// The class of these events, where a key has it.
    class: u64,
    armed: u64,
    /// The CPU of the first place, which has been handed out: the nodes above do not know yet.
    taken: Option<CpuId>,
}

impl Ends {
    /// The places of so many CPUs, without an end yet.
    pub(super) fn new(nr_cpus: usize, ahead_ns: u64, class: u8) -> Self {
        assert!(nr_cpus <= 1 << CPU_BITS, "a key has too few bits");
        let (mut cpus, mut of_cpus) = (0, 1);
        while of_cpus * 4 < nr_cpus {
            cpus += of_cpus;
            of_cpus *= 4;
        }
        Self {
            groups: vec![[NEVER; 4]; cpus + of_cpus],
            cpus,
            first: NEVER,
            due_ns: vec![u64::MAX; nr_cpus],
            ahead_ns,
            class: u64::from(class) << 56,
            armed: 0,
            taken: None,
        }
    }

    /// Notes that the step that runs on `cpu` ends at `due_ns`. A place before that stays: it moves
    /// on when its time has come. So of ends at the same time the one goes first that was the first
    /// to stand there.
    #[inline]
    pub(super) fn arm(&mut self, cpu: CpuId, due_ns: u64, now_ns: u64) {
        self.due_ns[cpu.index()] = due_ns;
        let at = due_ns.min(now_ns + self.ahead_ns);
        if at < time_ns(*self.of(cpu)) {
            self.put(cpu, at);
        }
    }

    /// Notes that nothing runs on `cpu` any more: no step of it ends.
    #[inline]
    pub(super) fn disarm(&mut self, cpu: CpuId) {
        self.due_ns[cpu.index()] = u64::MAX;
    }

    /// The key of the first place.
    #[inline]
    pub(super) fn first(&mut self) -> u128 {
        if let Some(cpu) = self.taken.take() {
            self.clear(cpu);
        }
        self.first
    }

    /// When the first end is due, at the latest at `end_ns`.
    pub(super) fn first_due_ns(&mut self, end_ns: u64) -> u64 {
        loop {
            match self.by_first_place(end_ns) {
                Ok(due_ns) => return due_ns,
                Err(key) => self.move_on(cpu_of(key), time_ns(key)),
            }
        }
    }

    /// The same, and no place moves.
    pub(super) fn peek_due_ns(&mut self, end_ns: u64) -> u64 {
        self.by_first_place(end_ns).unwrap_or_else(|_| {
            let due = self.due_ns.iter();
            due.fold(end_ns, |least, due| least.min(*due))
        })
    }

    /// The same, if the first place says it; else its key: its step ends later than it says.
    #[inline]
    fn by_first_place(&mut self, end_ns: u64) -> Result<u64, u128> {
        let key = self.first();
        if time_ns(key) >= end_ns {
            return Ok(end_ns);
        }
        match self.due_ns[cpu_of(key).index()] <= time_ns(key) {
            true => Ok(time_ns(key)),
            false => Err(key),
        }
    }

    /// The place of `cpu`.
    #[inline]
    fn of(&mut self, cpu: CpuId) -> &mut u128 {
        &mut self.groups[self.cpus + cpu.index() / 4][cpu.index() % 4]
    }

    /// Takes the first place, whose key this is. None: the step does not end yet, or there is none;
    /// its place is another one now.
    #[inline]
    pub(super) fn take(&mut self, key: u128) -> Option<CpuId> {
        let cpu = cpu_of(key);
        let due_ns = self.due_ns[cpu.index()];
        let now_ns = time_ns(key);
        if due_ns <= now_ns {
            // Mostly the next step of this CPU takes the place at once.
            *self.of(cpu) = NEVER;
            self.taken = Some(cpu);
            return Some(cpu);
        }
        self.move_on(cpu, now_ns);
        None
    }

    /// Moves on the place of `cpu`, which has come before its step ends.
    #[inline(never)]
    fn move_on(&mut self, cpu: CpuId, now_ns: u64) {
        let due_ns = self.due_ns[cpu.index()];
        if due_ns == u64::MAX {
            self.write(cpu, NEVER);
        } else {
            self.put(cpu, due_ns.min(now_ns + self.ahead_ns));
        }
    }

    /// Empties the place of `cpu`, the first one, which was handed out and not taken again.
    #[inline(never)]
    fn clear(&mut self, cpu: CpuId) {
        self.write(cpu, NEVER);
    }

    /// Writes the CPU's place anew with the next number: of equal times the one armed first comes
    /// first.
    #[inline]
    fn put(&mut self, cpu: CpuId, at_ns: u64) {
        self.armed += 1;
        let order = self.class | self.armed << CPU_BITS | u64::from(cpu.0);
        self.write(cpu, u128::from(at_ns) << 64 | u128::from(order));
        if self.taken == Some(cpu) {
            self.taken = None;
        }
    }

    /// Writes a place, and what is least above it.
    #[inline]
    fn write(&mut self, cpu: CpuId, key: u128) {
        let (mut group, mut of_four) = (self.cpus + cpu.index() / 4, cpu.index() % 4);
        let mut least = key;
        loop {
            let keys = &mut self.groups[group];
            keys[of_four] = least;
            let [a, b, c, d] = *keys;
            least = lesser(lesser(a, b), lesser(c, d));
            let Some(above) = group.checked_sub(1) else {
                break;
            };
            (group, of_four) = (above / 4, above % 4);
        }
        self.first = least;
    }
}

/// The lesser of two keys. Which it is cannot be predicted: no jump.
#[inline]
fn lesser(a: u128, b: u128) -> u128 {
    let other = 0_u128.wrapping_sub(u128::from(b < a));
    a ^ (a ^ b) & other
}

/// The CPU of a key.
#[inline]
fn cpu_of(key: u128) -> CpuId {
    CpuId(key as u32 & ((1 << CPU_BITS) - 1))
}

/// The time of a key.
#[inline]
pub(super) fn time_ns(key: u128) -> u64 {
    (key >> 64) as u64
}
