//! What the tests share: reference tables, small machines, hand-built situations, a generator.
//!
//! What must stay: `NOW`, machines and tables are shared by nearly all test files of this folder,
//! so a change of a default here changes what they test: add a parameter or a function instead.
//! Platform figures are those of the pages: `hikey960` and `doc_example` of
//! docs/rules/energy-numbers.md, `tc2` of docs/rules/capacity-aware.md#tc2-walk. `freeze` ends all
//! signal changes in time, `sleeper` makes a task asleep with given signals, `queued` one that
//! waits, `put` gives a CPU tasks and sums, `attempt` begins a balancing attempt. Free: new
//! helpers; a name, with all its users. Callers: `core`, `machine`, `cluster`, `freeze`, `sleeper`,
//! `ask`: the test files all through; `Table` (`parse`, `column`, `number`, `text`), `table`: those
//! with tests/data (pelt_vectors.rs, energy_vectors.rs, capacity_vectors.rs); `data_dir`:
//! kernel_truth.rs; `oracle_states`: the two oracles; `Rng` (`next`, `range`, `index`, `one_in`):
//! all random states; `still`, `still_but`, `flat`, `attempt`: the balance files; `runs_at`:
//! frequency.rs and others. It has no tests of its own: what breaks here fails in these. The rest:
//! `policy` by name and settings; `lone_cpu`, `labels` and `level` for machines; `make_busy` and
//! `make_idle` for a CPU; `hold_governor` keeps frequencies still.
#![allow(dead_code, reason = "each test binary uses its part")]

pub(crate) mod wake;

use std::path::PathBuf;
use wakeplace_policy_sys::{
    Balance, Core, FreqFacts, IdleKind, LevelFacts, MachineFacts, PerfFacts, PlaceKind, Policy,
    Request, Step, Task, Waker, sys,
};

/// The moment of every hand-built situation: all signals are up to date then.
pub(crate) const NOW: u64 = 10_000_000_000;

/// A home whose hardware changes frequencies at once.
pub(crate) trait RunsAt {
    /// The domain's request is taken, and the domain runs at `opp`.
    fn runs_at(&mut self, domain: u32, opp: u32);
}

impl RunsAt for Core {
    fn runs_at(&mut self, domain: u32, opp: u32) {
        self.take_freq_request(domain);
        let _ = self.freq_applied(domain, opp);
    }
}

/// The next request of schedutil is an hour away. Returns the rate limit that was.
pub(crate) fn hold_governor(core: &mut Core) -> u32 {
    let state = core.state_mut();
    for domain in &mut state.freq_doms {
        domain.updated_once = 1;
    }
    std::mem::replace(&mut state.params.rate_limit_us, 3_600_000_000)
}

// ------------------------------------------------------------------------------- tables

/// A CSV file: header and rows.
pub(crate) struct Table {
    header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn parse(text: &str) -> Self {
        let mut lines = text.lines().map(split_line);
        let header = lines.next().expect("a header line");
        let rows: Vec<_> = lines.collect();
        assert!(!rows.is_empty(), "a table without rows tests nothing");
        for row in &rows {
            assert_eq!(row.len(), header.len(), "row {row:?}");
        }
        Self { header, rows }
    }

    pub(crate) fn column(&self, name: &str) -> usize {
        let at = self.header.iter().position(|h| h == name);
        at.unwrap_or_else(|| panic!("no column {name} in {:?}", self.header))
    }

    pub(crate) fn number(&self, row: &[String], name: &str) -> u64 {
        row[self.column(name)].parse().expect("a number")
    }

    pub(crate) fn text<'a>(&self, row: &'a [String], name: &str) -> &'a str {
        &row[self.column(name)]
    }
}

/// Splits a CSV line; a field in double quotes may contain commas.
fn split_line(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for ch in line.trim_end().chars() {
        match ch {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().expect("never empty").push(ch),
        }
    }
    fields
}

pub(crate) fn data_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

pub(crate) fn table(name: &str) -> Table {
    let path = data_dir().join(name);
    let text = std::fs::read_to_string(&path);
    Table::parse(&text.unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

// ------------------------------------------------------------------------------- policies

pub(crate) fn policy(name: &str, overrides: &[(&str, &str)]) -> Policy {
    let mut policy = Policy::parse(name).expect("a known policy");
    for (key, value) in overrides {
        policy.set(key, value).expect("a known parameter");
    }
    policy
}

pub(crate) fn core(facts: &MachineFacts, name: &str, overrides: &[(&str, &str)]) -> Core {
    Core::new(facts, policy(name, overrides).core_params()).expect("a machine the core takes")
}

// ------------------------------------------------------------------------------- machines

/// CPUs of one kind that share a cache, a clock and an energy table.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) cpus: usize,
    pub(crate) capacity: u32,
    /// (kHz, uW) per state.
    pub(crate) states: Vec<(u32, u32)>,
}

pub(crate) fn cluster(cpus: usize, capacity: u32) -> Cluster {
    let states = vec![(1_000_000, u32::from(capacity > 500) * 300_000 + 200_000)];
    Cluster {
        cpus,
        capacity,
        states,
    }
}

/// docs/rules/energy-numbers.md#em-numbers: the documentation's little and big domains.
pub(crate) fn doc_example() -> Vec<Cluster> {
    vec![
        Cluster {
            cpus: 2,
            capacity: 512,
            states: vec![(170_000, 50_000), (341_000, 150_000), (512_000, 300_000)],
        },
        Cluster {
            cpus: 2,
            capacity: 1024,
            states: vec![
                (512_000, 400_000),
                (768_000, 800_000),
                (1_024_000, 1_700_000),
            ],
        },
    ]
}

/// docs/rules/energy-numbers.md#em-numbers: HiKey960, CPUs 0-3 A53, 4-7 A73.
pub(crate) fn hikey960() -> Vec<Cluster> {
    vec![
        Cluster {
            cpus: 4,
            capacity: 462,
            states: vec![
                (533_000, 28_728),
                (999_000, 70_329),
                (1_402_000, 124_918),
                (1_709_000, 187_990),
                (1_844_000, 245_436),
            ],
        },
        Cluster {
            cpus: 4,
            capacity: 1024,
            states: vec![
                (903_000, 243_358),
                (1_421_000, 500_192),
                (1_805_000, 804_127),
                (2_112_000, 1_161_600),
                (2_362_000, 1_571_911),
            ],
        },
    ]
}

/// TC2 in the numbering of docs/rules/capacity-aware.md#tc2-walk: CPUs 0,1 = A15, 2..=4 = A7.
pub(crate) fn tc2() -> Vec<Cluster> {
    vec![cluster(2, 1024), cluster(3, 430)]
}

/// Label per CPU: which of the groups of these sizes it is in.
pub(crate) fn labels(sizes: impl IntoIterator<Item = usize>) -> Vec<u16> {
    let sizes = sizes.into_iter().enumerate();
    sizes
        .flat_map(|(label, n)| std::iter::repeat_n(label as u16, n))
        .collect()
}

/// A cache level per cluster, a package level over all; one clock and energy table per cluster.
pub(crate) fn machine(clusters: &[Cluster]) -> MachineFacts {
    let sizes = || clusters.iter().map(|c| c.cpus);
    let total: usize = sizes().sum();
    let mut first = 0u16;
    let mut ranges = Vec::new();
    for c in clusters {
        let end = first + c.cpus as u16;
        ranges.push((first..end).collect::<Vec<u16>>());
        first = end;
    }
    let capacity = clusters.iter().flat_map(|c| vec![c.capacity; c.cpus]);
    let opps = |c: &Cluster| c.states.iter().map(|s| s.0).collect();
    let level = |shares_cache, group_of| LevelFacts {
        shares_capacity: false,
        shares_cache,
        group_of,
        ..LevelFacts::default()
    };
    MachineFacts {
        tick_ns: 4_000_000,
        scan_cpu_ns: 50,
        capacity: capacity.collect(),
        online: Vec::new(),
        levels: vec![level(true, labels(sizes())), level(false, vec![0; total])],
        freq_domains: clusters
            .iter()
            .zip(&ranges)
            .map(|(c, cpus)| FreqFacts {
                cpus: cpus.clone(),
                opp_khz: opps(c),
                transition_latency_us: 0,
            })
            .collect(),
        perf_domains: clusters
            .iter()
            .zip(&ranges)
            .map(|(c, cpus)| PerfFacts {
                cpus: cpus.clone(),
                states: c.states.clone(),
                costs: Vec::new(),
            })
            .collect(),
        ..MachineFacts::default()
    }
}

/// One CPU of this capacity, alone; at its highest frequency under the performance governor.
pub(crate) fn lone_cpu(capacity: u32) -> MachineFacts {
    let mut facts = machine(&[cluster(1, capacity)]);
    facts.perf_domains.clear();
    facts
}

// ------------------------------------------------------------------------------- situations

/// All signals are of `NOW`, so that nothing decays before a decision.
pub(crate) fn freeze(core: &mut Core) {
    let n = core.state().nr_cpus;
    for cpu in 0..n {
        let c = core.cpu_mut(cpu);
        c.load.avg.last_update_ns = NOW;
        c.load.clock_ns = NOW;
        c.load.clock_task_ns = NOW;
        c.load.clock_pelt_ns = NOW;
    }
}

/// A CPU that runs one fair task.
pub(crate) fn make_busy(core: &mut Core, cpu: u32) {
    let c = core.cpu_mut(cpu);
    c.queue.curr_idle = 0;
    c.queue.curr_fair = 1;
    c.queue.nr_running = 1;
    c.queue.nr_fair = 1;
    c.load.load_weight = 1024;
}

pub(crate) fn make_idle(core: &mut Core, cpu: u32) {
    let c = core.cpu_mut(cpu);
    c.queue.curr_idle = 1;
    c.queue.curr_fair = 0;
    c.queue.nr_running = 0;
    c.queue.nr_fair = 0;
    c.load.load_weight = 0;
}

/// A sleeping task whose signals are of `NOW`; its blocked share in the queue is the caller's work.
pub(crate) fn sleeper(core: &mut Core, id: u32, cpu: u32, util: u32, est: u32) -> Task {
    let mut task = Task::new(id, 1024, cpu, None, core.state().nr_cpus);
    core.task_init(&mut task);
    let raw = task.raw_mut();
    raw.avg.last_update_ns = NOW;
    raw.avg.util_avg = util;
    raw.util_est = est | sys::WP_UTIL_EST_UNCHANGED;
    raw.util_est_ewma = est;
    task
}

/// A CPU with `tasks` fair tasks, one of them running; sums of all its signals.
pub(crate) fn put(core: &mut Core, cpu: u32, tasks: u32, load: u32, util: u32, runnable: u32) {
    let c = core.cpu_mut(cpu);
    c.queue.curr_idle = u32::from(tasks == 0);
    c.queue.curr_fair = u32::from(tasks > 0);
    (c.queue.nr_running, c.queue.nr_fair, c.load.load_weight) = (tasks, tasks, 1024 * tasks);
    (
        c.load.avg.load_avg,
        c.load.avg.util_avg,
        c.load.avg.runnable_avg,
    ) = (load, util, runnable);
}

/// One attempt to balance, up to the offers.
pub(crate) fn attempt(core: &mut Core, dst: u32, level: u32, idle: IdleKind) -> (Step, Balance) {
    let mut bal = Balance::default();
    bal.prepare(NOW, dst, level, idle);
    let step = core.balance_begin(&mut bal);
    (step, bal)
}

/// A queued task that is not cache-hot.
pub(crate) fn queued(core: &mut Core, id: u32, cpu: u32, util: u32) -> Task {
    let mut task = sleeper(core, id, cpu, util, util);
    let raw = task.raw_mut();
    raw.on_rq = 1;
    raw.avg.load_avg = 1024;
    task
}

pub(crate) fn ask(kind: PlaceKind, this_cpu: u32, prev_cpu: u32) -> Request {
    Request {
        now_ns: NOW,
        kind,
        this_cpu,
        prev_cpu,
        sync: false,
        waker: Waker::Idle,
        waker_load: 0,
    }
}

// ------------------------------------------------------------------------------- generator

/// splitmix64: small, seeded, the same everywhere.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in from..=to.
    pub(crate) fn range(&mut self, from: u32, to: u32) -> u32 {
        from + (self.next() % u64::from(to - from + 1)) as u32
    }

    pub(crate) fn index(&mut self, len: usize) -> usize {
        (self.next() % len as u64) as usize
    }

    /// Draws true once in `n`.
    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }
}

/// `n` CPUs under one cache, ticks of 1 ms, every CPU idle, all signals of `NOW`.
pub(crate) fn flat(n: usize) -> Core {
    let mut facts = machine(&[cluster(n, 1024)]);
    facts.tick_ns = 1_000_000;
    still(&facts)
}

/// A machine under `linux-7.3`, every CPU idle, all signals of `NOW`.
pub(crate) fn still(facts: &MachineFacts) -> Core {
    still_but(facts, &[])
}

/// Gives the machine of `still` with other parameters.
pub(crate) fn still_but(facts: &MachineFacts, overrides: &[(&str, &str)]) -> Core {
    let mut core = core(facts, "linux-7.3", overrides);
    freeze(&mut core);
    core
}

/// A level over groups of these sizes.
pub(crate) fn level(sizes: &[usize]) -> LevelFacts {
    LevelFacts {
        group_of: labels(sizes.iter().copied()),
        ..LevelFacts::default()
    }
}

// ------------------------------------------------------------------------------- random states

/// Random states that a comparison with an independent evaluation looks at: 100,000, or as many as
/// WAKEPLACE_ORACLE_STATES says (1000000 is the full size).
pub(crate) fn oracle_states() -> u64 {
    const QUICK: u64 = 100_000;
    match std::env::var("WAKEPLACE_ORACLE_STATES") {
        Ok(text) => text.parse().expect("WAKEPLACE_ORACLE_STATES is a number"),
        Err(_) => QUICK,
    }
}
