//! The whole wake-up fast path of Linux 7.3 against an independent evaluation in plain lists, on
//! random states: wake_wide, wake_affine, the nine steps, the limited search, the asymmetric
//! search. Source: docs/rules/wake-ups.md#try-to-wake-up to docs/rules/wake-ups.md#idle-capacity.
//!
//! What must stay: the model (`per_llc` to `place`) calls nothing of the core and names the page's
//! steps; `random_case` makes a question, `ask_core` asks the core. It covers
//! policy/src/placement/select.c and all that a wake-up calls (idle_sibling.c, idle_scan.c,
//! idle_capacity.c). `good`, `free`, `running`, `fits` and `idle` judge a CPU (`cpus`, `llc`,
//! `same_cluster`, `asym`, `core_of` say where it is), `target` is wake_affine, `near` the nine
//! steps, `scan`, `ring` and `asym_search` the searches. Test:
//! `random_states_agree_with_the_model`. Free: seeds and numbers of states; how `random_case`
//! draws.

use crate::common;

use common::{
    NOW, Rng, ask, cluster, core, freeze, labels, machine, make_busy, make_idle, sleeper,
};
use wakeplace_policy_sys::{Core, LevelFacts, MachineFacts, PlaceKind, Reason, Request, Waker};

/// A machine: sizes that multiply, and a capacity per cache.
#[derive(Clone)]
struct Shape {
    capacity: Vec<u32>,
    clusters: usize,
    cores: usize,
    threads: usize,
}

impl Shape {
    fn per_llc(&self) -> usize {
        self.clusters * self.cores * self.threads
    }

    fn cpus(&self) -> usize {
        self.capacity.len() * self.per_llc()
    }

    fn facts(&self) -> MachineFacts {
        let of = |c: &u32| cluster(self.per_llc(), *c);
        let mut facts = machine(&self.capacity.iter().map(of).collect::<Vec<_>>());
        facts.perf_domains.clear();
        let mut below = |size: usize, threads: bool| {
            let count = self.cpus() / size;
            let level = LevelFacts {
                shares_cache: true,
                shares_capacity: threads,
                cluster: !threads,
                group_of: labels(std::iter::repeat_n(size, count)),
                ..LevelFacts::default()
            };
            facts.levels.insert(0, level);
        };
        if self.clusters > 1 {
            below(self.cores * self.threads, false);
        }
        if self.threads > 1 {
            below(self.threads, true);
        }
        facts
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Idle,
    IdlePolicy,
    Busy(u32),
}

#[derive(Debug)]
struct Case {
    cpus: Vec<(State, i64)>,
    this: usize,
    prev: usize,
    recent: usize,
    allowed: Vec<bool>,
    sync: bool,
    kthread: bool,
    waker_load: i64,
    task_load: i64,
    util: u32,
    flips: (u32, u32),
    depth: Vec<u32>,
    has_idle_cores: Vec<bool>,
}

struct Model<'a> {
    shape: &'a Shape,
    case: &'a Case,
}

type Answer = (usize, Reason);

impl Model<'_> {
    fn llc(&self, cpu: usize) -> usize {
        cpu / self.shape.per_llc()
    }

    fn same_cluster(&self, a: usize, b: usize) -> bool {
        let size = self.shape.cores * self.shape.threads;
        a / size == b / size
    }

    fn asym(&self) -> bool {
        self.shape
            .capacity
            .iter()
            .any(|c| *c != self.shape.capacity[0])
    }

    fn idle(&self, cpu: usize) -> bool {
        self.case.cpus[cpu].0 == State::Idle
    }

    fn free(&self, cpu: usize) -> bool {
        self.idle(cpu) || self.case.cpus[cpu].0 == State::IdlePolicy
    }

    fn running(&self, cpu: usize) -> u32 {
        match self.case.cpus[cpu].0 {
            State::Idle => 0,
            State::IdlePolicy => 1,
            State::Busy(n) => n,
        }
    }

    fn fits(&self, cpu: usize) -> bool {
        self.case.util * 1280 < self.shape.capacity[self.llc(cpu)] * 1024
    }

    fn good(&self, cpu: usize) -> bool {
        self.free(cpu) && (!self.asym() || self.fits(cpu))
    }

    fn target(&self) -> usize {
        let c = self.case;
        let size = self.shape.per_llc() as u32;
        let (m, s) = (c.flips.0.max(c.flips.1), c.flips.0.min(c.flips.1));
        let wide = s >= size && m >= s * size;
        let (t, q) = (c.this, c.prev);
        if wide || !c.allowed[t] || t == q {
            return q;
        }
        if self.idle(t) && self.llc(t) == self.llc(q) {
            return if self.idle(q) { q } else { t };
        }
        if c.sync && self.running(t) == 1 {
            return t;
        }
        if self.idle(q) {
            return q;
        }
        let load = c.task_load * c.cpus[q].1 / (c.cpus[q].1 + 1);
        let mut a = c.cpus[t].1;
        if c.sync {
            if c.waker_load > a {
                return t;
            }
            a -= c.waker_load;
        }
        let cap = |cpu: usize| i64::from(self.shape.capacity[self.llc(cpu)]);
        let a = (a + load) * 100 * cap(q);
        // imbalance_pct of the lowest common domain: 110 for threads of a core, else 117.
        let scale = if self.core_of(t).contains(&q) {
            105
        } else {
            108
        };
        let b = (c.cpus[q].1 - load) * scale * cap(t) + i64::from(c.sync);
        if a < b { t } else { q }
    }

    /// CPUs of a list from `start` on, wrapping.
    fn ring(list: &[usize], start: usize) -> impl Iterator<Item = usize> + '_ {
        let (low, high): (Vec<usize>, Vec<usize>) = list.iter().partition(|c| **c < start);
        high.into_iter().chain(low)
    }

    fn core_of(&self, cpu: usize) -> Vec<usize> {
        let first = cpu / self.shape.threads * self.shape.threads;
        (first..first + self.shape.threads).collect()
    }

    fn scan(&self, target: usize) -> Option<Answer> {
        let llc = self.llc(target);
        let size = self.shape.per_llc();
        let all: Vec<usize> = (llc * size..(llc + 1) * size).collect();
        let depth = self.case.depth[llc] as usize;
        if depth == 0 {
            return None;
        }
        let (near, far): (Vec<usize>, Vec<usize>) =
            all.iter().partition(|c| self.same_cluster(**c, target));
        let mut order: Vec<usize> = Self::ring(&near, target + 1).collect();
        order.extend(Self::ring(&far, target + 1));
        order.retain(|c| self.case.allowed[*c]);
        let clustered = self.shape.clusters > 1;
        if self.shape.threads > 1 && self.case.has_idle_cores[llc] {
            let whole = |c: &&usize| self.core_of(**c).iter().all(|t| self.idle(*t));
            if let Some(cpu) = order.iter().find(whole) {
                return Some((*cpu, Reason::IdleCore));
            }
            // The first free thread of the first core that has one.
            return order.iter().find_map(|c| {
                let usable = |t: &&usize| self.free(**t) && self.case.allowed[**t];
                let core = self.core_of(*c);
                core.iter().find(usable).map(|t| (*t, Reason::IdleCpu))
            });
        }
        let found = order.iter().take(depth).find(|c| self.free(**c))?;
        if clustered && self.same_cluster(*found, target) {
            Some((*found, Reason::IdleCluster))
        } else {
            Some((*found, Reason::IdleCpu))
        }
    }

    fn asym_search(&self, target: usize) -> Answer {
        let all: Vec<usize> = (0..self.shape.cpus()).collect();
        let depth = self.case.depth[0] as usize;
        if depth == 0 {
            return (target, Reason::TargetNoScan);
        }
        let seen: Vec<usize> = Self::ring(&all, target)
            .filter(|c| self.case.allowed[*c])
            .take(depth)
            .filter(|c| self.free(*c))
            .collect();
        if let Some(cpu) = seen.iter().find(|c| self.fits(**c)) {
            return (*cpu, Reason::IdleCapacity);
        }
        let mut best: Option<usize> = None;
        let cap = |cpu: usize| self.shape.capacity[self.llc(cpu)];
        for cpu in seen {
            if best.is_none_or(|b| cap(cpu) > cap(b)) {
                best = Some(cpu);
            }
        }
        best.map_or((target, Reason::TargetBusy), |cpu| {
            (cpu, Reason::IdleCapacityBest)
        })
    }

    fn near(&self, target: usize) -> Answer {
        let c = self.case;
        let mut prev_far = None;
        if self.good(target) {
            return (target, Reason::IdleTarget);
        }
        let near = |cpu: usize| self.shape.clusters == 1 || self.same_cluster(cpu, target);
        let shares = |cpu: usize| self.llc(cpu) == self.llc(target);
        if c.prev != target && shares(c.prev) && self.good(c.prev) {
            if near(c.prev) {
                return (c.prev, Reason::IdlePrev);
            }
            prev_far = Some((c.prev, Reason::IdlePrevFar));
        }
        let prev_fits = !self.asym() || self.fits(c.prev);
        if c.kthread && c.prev == c.this && self.running(c.this) <= 1 && prev_fits {
            return (c.prev, Reason::KthreadPrev);
        }
        let mut recent_far = None;
        let usable = c.recent != c.prev && c.recent != target && shares(c.recent);
        if usable && c.allowed[c.recent] && self.good(c.recent) {
            if near(c.recent) {
                return (c.recent, Reason::IdleRecent);
            }
            recent_far = Some((c.recent, Reason::IdleRecentFar));
        }
        if self.asym() {
            return self.asym_search(target);
        }
        let llc = self.llc(target);
        if self.shape.threads > 1 && !c.has_idle_cores[llc] && shares(c.prev) {
            let core = self.core_of(c.prev);
            let ok = |t: &&usize| **t != c.prev && c.allowed[**t] && self.free(**t);
            if let Some(cpu) = core.iter().find(ok) {
                return (*cpu, Reason::IdleSmtPrev);
            }
        }
        let found = self.scan(target).or(prev_far).or(recent_far);
        let why = if c.depth[llc] == 0 {
            Reason::TargetNoScan
        } else {
            Reason::TargetBusy
        };
        found.unwrap_or((target, why))
    }

    fn place(&self) -> Answer {
        let (cpu, reason) = self.near(self.target());
        if self.case.allowed[cpu] {
            return (cpu, reason);
        }
        let first = self.case.allowed.iter().position(|a| *a);
        (first.expect("an allowed CPU"), Reason::NotAllowed)
    }
}

fn random_case(rng: &mut Rng, shape: &Shape) -> Case {
    let n = shape.cpus();
    let rate = u64::from(rng.range(1, 7));
    let cpus = (0..n).map(|_| {
        let state = match rng.one_in(rate) {
            true => State::Idle,
            false if rng.one_in(12) => State::IdlePolicy,
            false => State::Busy(rng.range(1, 3)),
        };
        (state, i64::from(rng.range(0, 3000)))
    });
    let cpus = cpus.collect();
    let all = rng.one_in(2);
    let mut allowed: Vec<bool> = (0..n).map(|_| all || rng.one_in(2)).collect();
    let prev = rng.index(n);
    let this = if rng.one_in(3) { prev } else { rng.index(n) };
    allowed[prev] |= !rng.one_in(10);
    allowed[(prev + 1) % n] = true;
    allowed[(prev + 2) % n] = true; // at least two: a choice
    let size = shape.per_llc() as u32;
    let flips = (rng.range(0, 2 * size), rng.range(0, 2 * size * size));
    Case {
        cpus,
        this,
        prev,
        recent: rng.index(n),
        allowed,
        sync: rng.one_in(2),
        kthread: rng.one_in(3),
        waker_load: i64::from(rng.range(0, 1500)),
        task_load: i64::from(rng.range(0, 1500)),
        util: rng.range(0, 1024),
        flips: if rng.one_in(2) {
            (flips.1, flips.0)
        } else {
            flips
        },
        depth: (0..shape.capacity.len())
            .map(|_| rng.range(0, n as u32))
            .collect(),
        has_idle_cores: (0..shape.capacity.len()).map(|_| rng.one_in(2)).collect(),
    }
}

fn ask_core(core: &mut Core, shape: &Shape, case: &Case) -> Answer {
    let n = case.allowed.len() as u32;
    for (cpu, (state, load)) in case.cpus.iter().enumerate() {
        let index = cpu as u32;
        make_busy(core, index);
        match state {
            State::Idle => make_idle(core, index),
            State::IdlePolicy => core.cpu_mut(index).queue.nr_running = 1,
            State::Busy(running) => core.cpu_mut(index).queue.nr_running = *running,
        }
        let c = core.cpu_mut(index);
        c.queue.nr_idle_policy = u32::from(*state == State::IdlePolicy);
        c.load.avg.load_avg = *load as u32;
        let llc = cpu / shape.per_llc();
        c.idle.nr_idle_scan = case.depth[llc];
        c.idle.has_idle_cores = u32::from(case.has_idle_cores[llc]);
    }
    let mut task = sleeper(core, 1, case.prev as u32, case.util, case.util);
    let list: Vec<u32> = (0..n).filter(|c| case.allowed[*c as usize]).collect();
    task.set_allowed(Some(&list), n);
    let raw = task.raw_mut();
    raw.avg.load_avg = case.task_load as u32;
    raw.waker.wakee_flips = case.flips.1;
    raw.waker.recent_used_cpu = case.recent as u32;
    let mut waker = sleeper(core, 2, case.this as u32, 0, 0);
    let w = &mut waker.raw_mut().waker;
    (w.wakee_flips, w.last_wakee, w.flip_decay_ns) = (case.flips.0, 1, NOW);
    let request = Request {
        sync: case.sync,
        waker: if case.kthread {
            Waker::Kthread(1)
        } else {
            Waker::Task(1)
        },
        waker_load: case.waker_load as u32,
        ..ask(PlaceKind::Wake, case.this as u32, case.prev as u32)
    };
    let got = core.select_cpu(&mut [task, waker], 0, &request);
    (got.cpu as usize, got.reason)
}

/// Goal: CPU and reason equal the model's on 10,000 random states of each machine. Source:
/// docs/rules/wake-ups.md#try-to-wake-up to docs/rules/wake-ups.md#idle-capacity.
#[test]
fn random_states_agree_with_the_model() {
    let shape = |capacity: &[u32], clusters, cores, threads| Shape {
        capacity: capacity.to_vec(),
        clusters,
        cores,
        threads,
    };
    let shapes = [
        shape(&[1024], 1, 4, 1),
        shape(&[1024, 1024], 1, 3, 2),
        shape(&[1024, 1024], 2, 3, 1),
        shape(&[1024], 3, 2, 2),
        shape(&[462, 1024], 1, 4, 1),
        shape(&[300, 1024, 600], 1, 3, 1),
    ];
    let mut reasons = [0u32; Reason::COUNT];
    for (at, shape) in shapes.iter().enumerate() {
        let mut core = core(&shape.facts(), "linux-7.3", &[]);
        freeze(&mut core);
        let mut rng = Rng(at as u64);
        for round in 0..10_000 {
            let case = random_case(&mut rng, shape);
            let model = Model { shape, case: &case };
            let got = ask_core(&mut core, shape, &case);
            assert_eq!(got, model.place(), "machine {at} round {round}: {case:?}");
            reasons[got.1.index()] += 1;
        }
    }
    for reason in [
        Reason::IdleTarget,
        Reason::IdlePrev,
        Reason::KthreadPrev,
        Reason::IdleRecent,
        Reason::IdleSmtPrev,
        Reason::IdleCore,
        Reason::IdleCluster,
        Reason::IdleCpu,
        Reason::IdlePrevFar,
        Reason::IdleRecentFar,
        Reason::IdleCapacity,
        Reason::IdleCapacityBest,
        Reason::TargetBusy,
        Reason::TargetNoScan,
        Reason::NotAllowed,
    ] {
        let count = reasons[reason.index()];
        assert!(count > 20, "{reason} is exercised: {count}");
    }
}
