//! Plays scripts on as many CPUs as there are threads, at full speed: what a workload's own order
//! of steps allows, without any scheduler. Only what the models of `models/work.rs` use.
//!
//! What must stay: it knows no scheduler, no costs and no queue: it is the bound that the model's
//! own order of steps gives. Caller: played.rs (`play`); `start`, `at`, `go_on`, `lock`, `unlock`,
//! `meet`, `step` and `next` are its parts. Rules: docs/rules/workloads.md.
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use wakeplace_workload::{Event, Loops, TaskScript, Workload};

/// What a play was.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// When the last thread ended, or the time that was allowed, ns.
    pub(crate) end_ns: u64,
    /// All threads ended.
    pub(crate) ended: bool,
    /// All that live wait for each other.
    pub(crate) stuck: bool,
    /// Units counted by each script.
    pub(crate) counted: Vec<u64>,
    /// Each thread: its script, from when to when it lived.
    pub(crate) lives: Vec<(usize, u64, u64)>,
    /// Each execution: script, from when to when.
    pub(crate) ran: Vec<(usize, u64, u64)>,
}

/// Where a thread is: passes, phase, repetitions of the phase, event.
#[derive(Clone, Debug, Default)]
struct Place {
    script: usize,
    pass: u64,
    phase: usize,
    repeat: u64,
    event: usize,
    /// It has been woken to take this mutex again.
    retake: Option<u32>,
}

#[derive(Debug, Default)]
struct Lock {
    held: bool,
    waiters: VecDeque<usize>,
}

struct Play<'a> {
    load: &'a Workload,
    now: u64,
    queue: BinaryHeap<Reverse<(u64, u64, usize)>>,
    sequence: u64,
    threads: Vec<Place>,
    units: Vec<u64>,
    takers: Vec<VecDeque<usize>>,
    locks: BTreeMap<u32, Lock>,
    awaiting: Vec<VecDeque<(usize, Option<u32>)>>,
    barriers: Vec<Vec<usize>>,
    claimed: Vec<u64>,
    played: Played,
}

/// Plays until all have ended, or so long.
pub(crate) fn play(load: &Workload, allowed_ns: u64) -> Played {
    let shared = &load.shared;
    let mut play = Play {
        load,
        now: 0,
        queue: BinaryHeap::new(),
        sequence: 0,
        threads: Vec::new(),
        units: shared
            .channels
            .iter()
            .map(|channel| channel.units)
            .collect(),
        takers: vec![VecDeque::new(); shared.channels.len()],
        locks: BTreeMap::new(),
        awaiting: vec![VecDeque::new(); shared.conditions.len()],
        barriers: vec![Vec::new(); shared.barriers.len()],
        claimed: vec![0; shared.counters.len()],
        played: Played::default(),
    };
    play.played.counted = vec![0; load.tasks.len()];
    for script in 0..load.tasks.len() {
        if load.tasks[script].forks.is_none() {
            play.start(script);
        }
    }
    let mut cut = false;
    while let Some(Reverse((at, _, thread))) = play.queue.pop() {
        cut = at > allowed_ns;
        if cut {
            break;
        }
        play.now = at;
        play.go_on(thread);
    }
    let all = play.played.lives.iter().all(|life| life.2 != u64::MAX);
    play.played.ended = all;
    play.played.stuck = !all && !cut;
    play.played.end_ns = if cut { allowed_ns } else { play.now };
    play.played
}

impl Play<'_> {
    fn start(&mut self, script: usize) {
        let thread = self.threads.len();
        self.threads.push(Place {
            script,
            ..Place::default()
        });
        self.played.lives.push((script, self.now, u64::MAX));
        self.at(self.now, thread);
    }

    fn at(&mut self, time: u64, thread: usize) {
        self.sequence += 1;
        self.queue.push(Reverse((time, self.sequence, thread)));
    }

    /// Steps until one takes time or waits.
    fn go_on(&mut self, thread: usize) {
        if let Some(mutex) = self.threads[thread].retake.take()
            && !self.lock(thread, mutex)
        {
            self.threads[thread].retake = Some(mutex);
            return;
        }
        loop {
            let script = &self.load.tasks[self.threads[thread].script];
            let Some(event) = self.threads[thread].next(script) else {
                self.played.lives[thread].2 = self.now;
                return;
            };
            if !self.step(thread, event) {
                return;
            }
        }
    }

    /// Takes a mutex, or waits to try again.
    fn lock(&mut self, thread: usize, mutex: u32) -> bool {
        let lock = self.locks.entry(mutex).or_default();
        if lock.held {
            lock.waiters.push_back(thread);
            return false;
        }
        lock.held = true;
        true
    }

    fn unlock(&mut self, mutex: u32) {
        let lock = self.locks.entry(mutex).or_default();
        lock.held = false;
        let Some(next) = lock.waiters.pop_front() else {
            return;
        };
        if self.load.shared.mutexes[mutex as usize].inherit {
            lock.held = true;
            self.threads[next].retake = None;
        } else {
            self.threads[next].retake = Some(mutex);
        }
        self.at(self.now, next);
    }

    /// What threads wait for together. True if the thread goes on at once.
    fn meet(&mut self, thread: usize, event: Event) -> bool {
        match event {
            Event::Await { condition, mutex } => {
                self.awaiting[condition as usize].push_back((thread, mutex));
                if let Some(mutex) = mutex {
                    self.unlock(mutex);
                }
                false
            }
            Event::Signal { condition, all } => {
                let waiters = &mut self.awaiting[condition as usize];
                let most = if all {
                    waiters.len()
                } else {
                    1.min(waiters.len())
                };
                for (waiter, mutex) in waiters.drain(..most).collect::<Vec<_>>() {
                    self.threads[waiter].retake = mutex;
                    self.at(self.now, waiter);
                }
                true
            }
            Event::Barrier { barrier } => {
                let there = &mut self.barriers[barrier as usize];
                if there.len() as u64 + 1 < self.load.shared.barriers[barrier as usize].parties {
                    there.push(thread);
                    return false;
                }
                for other in std::mem::take(there) {
                    self.at(self.now, other);
                }
                true
            }
            _ => true,
        }
    }

    /// True if the thread goes on at once.
    fn step(&mut self, thread: usize, event: Event) -> bool {
        let script = self.threads[thread].script;
        match event {
            Event::Run { work_ns: ns } | Event::Stall { cpu_ns: ns } => {
                self.played.ran.push((script, self.now, self.now + ns));
                self.at(self.now + ns, thread);
                return false;
            }
            Event::Io { duration_ns } | Event::Sleep { duration_ns } => {
                self.at(self.now + duration_ns, thread);
                return false;
            }
            Event::Post { channel, .. } => {
                match self.takers[channel as usize].pop_front() {
                    Some(taker) => self.at(self.now, taker),
                    None => self.units[channel as usize] += 1,
                };
            }
            Event::Wait { channel } => {
                let units = &mut self.units[channel as usize];
                if *units == 0 {
                    self.takers[channel as usize].push_back(thread);
                    return false;
                }
                *units -= 1;
            }
            Event::Lock { mutex, .. } => return self.lock(thread, mutex),
            Event::Unlock { mutex, .. } => self.unlock(mutex),
            Event::Await { .. } | Event::Signal { .. } | Event::Barrier { .. } => {
                return self.meet(thread, event);
            }
            Event::Fork { task } => self.start(task as usize),
            Event::Claim { counter } => {
                let claimed = &mut self.claimed[counter as usize];
                let limit = self.load.shared.counters[counter as usize].limit;
                if limit.is_some_and(|limit| *claimed >= limit) {
                    self.played.lives[thread].2 = self.now;
                    return false;
                }
                *claimed += 1;
            }
            Event::ExitAfter { since_start_ns } => {
                if self.now >= since_start_ns {
                    self.played.lives[thread].2 = self.now;
                    return false;
                }
            }
            Event::Count { units } => self.played.counted[script] += units,
            Event::Exec | Event::Mark | Event::Sample { .. } => {}
            _ => panic!("no model uses {event:?}"),
        }
        true
    }
}

impl Place {
    /// The next step; None at the end.
    fn next(&mut self, script: &TaskScript) -> Option<Event> {
        let over = |loops: Loops, done: u64| match loops {
            Loops::Times(times) => done >= times,
            Loops::Forever => false,
        };
        loop {
            if over(script.loops, self.pass) {
                return None;
            }
            let Some(phase) = script.phases.get(self.phase) else {
                (self.pass, self.phase) = (self.pass + 1, 0);
                continue;
            };
            if over(phase.loops, self.repeat) {
                (self.phase, self.repeat) = (self.phase + 1, 0);
                continue;
            }
            let Some(event) = phase.events.get(self.event) else {
                (self.repeat, self.event) = (self.repeat + 1, 0);
                continue;
            };
            self.event += 1;
            return Some(*event);
        }
    }
}
