//! Runs of which everything is drawn: the machine among all built-in ones, the policy with its
//! features, parameters and queue, the workload, what happens to the machine meanwhile. The rules
//! of `checker` hold, and the core neither leaves its memory nor computes what C leaves undefined:
//! this is what cargo xtask sanitize runs with sanitizers.
//!
//! Seeds are WAKEPLACE_RANDOM_SEED (1) and the following, WAKEPLACE_RANDOM_RUNS (22) in all. Each
//! seed is a run of its own, whatever the first was.
//!
//! What must stay: each seed is a run of its own, drawn from the seed alone; what `check` refuses
//! is drawn again, nothing else is. Add a new feature to what is drawn; leave no failing run out.
//! Tests by part (in crates/engine/src): the whole engine and core:
//! `random_runs_on_all_machines_obey_the_rules`. `drawn` makes a run of `random_policy`,
//! `random_load` and `happenings`, `said` shows it; a fault of theirs is one of the only test.
//! `random_name`, `random_setting` and `one_of` make a policy's parts; `number` reads the
//! environment. Page: docs/internals/checks.md.

use crate::common::checker::check_log_with;
use crate::common::*;
use crate::invariants::{Random, random_options};
use crate::storm::{comings_and_goings, storm};
use wakeplace_engine::{
    Asked, EmScale, Ended, FreqCap, Options, PolicyChange, Which, check, explain,
};
use wakeplace_platform::{Platform, builtin_names};
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec, Workload};

/// One of a list.
fn one_of<T: Clone>(random: &mut Random, list: &[T]) -> T {
    list[random.below(list.len() as u64) as usize].clone()
}

/// An era, some features added and taken away; what does not go together is left out.
fn random_name(random: &mut Random) -> String {
    let (features, eras): (Vec<String>, Vec<String>) = (Policy::catalogue().into_iter())
        .map(|(name, _)| name)
        .partition(|name| name.starts_with('+'));
    let mut name = if random.one_in(3) {
        "wakeplace".to_owned()
    } else {
        one_of(random, &eras)
    };
    for _ in 0..random.below(4) {
        let feature = one_of(random, &features);
        let bare = &feature[1..];
        let views = Policy::parse(&name).expect("parsed before").features();
        let view = views.iter().find(|view| view.name == bare);
        let longer = match view.map_or(&[][..], |view| view.versions) {
            _ if random.one_in(4) => format!("{name}-{bare}"),
            [] => format!("{name}{feature}"),
            versions => format!("{name}{feature}={}", one_of(random, versions)),
        };
        if Policy::parse(&longer).is_ok() {
            name = longer;
        }
    }
    name
}

/// A parameter with the value that it has in another policy.
fn random_setting(random: &mut Random) -> (&'static str, String) {
    let other = Policy::parse(&random_name(random)).expect("a policy");
    let view = one_of(random, &other.params());
    (view.key, view.value)
}

fn random_policy(random: &mut Random) -> Policy {
    let mut policy = Policy::parse(&random_name(random)).expect("a policy");
    let queue = one_of(random, &["cfs", "eevdf", "dsq"]);
    let mut settings = vec![("queue", queue.to_owned())];
    for _ in 0..random.below(4) {
        settings.push(random_setting(random));
    }
    for (key, value) in settings {
        let mut longer = policy.clone();
        if longer.set(key, &value).is_ok() && longer.check().is_ok() {
            policy = longer;
        }
    }
    policy
}

/// A model of a benchmark, or scripts of random steps in all classes.
fn random_load(random: &mut Random, nr_cpus: u32) -> Workload {
    if random.one_in(2) {
        let models: Vec<_> = Spec::catalogue().map(|info| info.name).collect();
        let name = one_of(random, &models);
        // Some models want an argument.
        if let Ok(spec) = Spec::parse(&format!("{name}:"), &LoadOptions::default())
            .or_else(|_| Spec::parse(name, &LoadOptions::default()))
            && let Ok(load) = spec.expand(random.below(1000), MachineFacts::alike(nr_cpus))
        {
            return load;
        }
    }
    let groups = random.below(2) * 3;
    storm(random, nr_cpus, groups as u32)
}

/// What happens to the machine: CPUs that go and come, limits, new energy tables, heat, devices,
/// parameters that change.
fn happenings(random: &mut Random, platform: &Platform, options: &mut Options) {
    let at = |random: &mut Random| random.below(options.duration_ns);
    if random.one_in(2) {
        options.hotplug = comings_and_goings(random, platform.cpus.len() as u64);
    }
    if random.one_in(4) {
        let domain = random.below(platform.freq_domains.len() as u64) as u32;
        let opps = &platform.freq_domains[domain as usize].opps;
        let khz = random.one_in(2).then(|| one_of(random, opps).khz);
        let at_ns = at(random);
        options.freq_cap = vec![FreqCap { domain, khz, at_ns }];
    }
    if random.one_in(4) {
        options.em_scale = vec![EmScale {
            domain: random.below(platform.freq_domains.len() as u64) as u32,
            percent: 50 + random.below(200) as u32,
            at_ns: at(random),
        }];
    }
    if random.one_in(3) {
        let (key, value) = random_setting(random);
        options.policy_at = vec![PolicyChange {
            at_ns: at(random),
            key: key.to_owned(),
            value,
        }];
    }
    options.thermal = random.one_in(3);
    options.wakeup_cases = random.one_in(4);
    if random.one_in(4) {
        options.set("model.irq", "0:3ms:200us").expect("a setting");
    }
}

/// One run of each seed; what `check` refuses is drawn again.
fn drawn(seed: u64) -> (Platform, Policy, Workload, Options) {
    let mut random = Random(seed);
    // In turn, so that a run of 43 seeds has been on every machine.
    let names: Vec<_> = builtin_names().collect();
    let platform = builtin(names[(seed % names.len() as u64) as usize]);
    let nr_cpus = platform.cpus.len() as u32;
    for _ in 0..100 {
        let policy = random_policy(&mut random);
        let load = random_load(&mut random, nr_cpus);
        let mut options = random_options(&mut random);
        // A run of 256 CPUs takes no longer than one of 8.
        options.duration_ns = (options.duration_ns / u64::from(nr_cpus.div_ceil(8))).max(5 * MS);
        happenings(&mut random, &platform, &mut options);
        if check(&platform, &policy, &load, &options).is_ok() {
            return (platform, policy, load, options);
        }
    }
    panic!(
        "seed {seed}: nothing that was drawn can run on {}",
        platform.name
    );
}

fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().expect(name))
}

/// Shown if the test fails; at once with --nocapture, which is how a run that aborts is found.
#[allow(clippy::print_stderr, reason = "the seed of a failure")]
fn said(seed: u64, platform: &Platform, policy: &Policy, load: &Workload) {
    let settings: Vec<_> = (policy.overrides().iter())
        .map(|(key, value)| format!(" {key}={value}"))
        .collect();
    eprintln!(
        "WAKEPLACE_RANDOM_SEED={seed} WAKEPLACE_RANDOM_RUNS=1: {}, {}{}, {}",
        platform.name,
        policy.name(),
        settings.concat(),
        load.name
    );
}

/// Goal: no run that can be asked for breaks a rule, and an explanation of one of its decisions
/// repeats the decision (which `explain` itself checks).
#[test]
fn random_runs_on_all_machines_obey_the_rules() {
    let first = number("WAKEPLACE_RANDOM_SEED", 1);
    for seed in first..first + number("WAKEPLACE_RANDOM_RUNS", 22) {
        let (platform, policy, load, options) = drawn(seed);
        said(seed, &platform, &policy, &load);
        let (report, log) = simulate(&platform, &policy, &load, &options);
        let params = policy.params();
        let queue = params.iter().find(|view| view.key == "queue");
        let eevdf = queue.is_some_and(|view| view.value == "eevdf");
        let allows = (eevdf, !options.irq.is_empty());
        check_log_with(&platform, &load, &log, &report, allows);
        assert!(!matches!(report.ended, Ended::ZeroTimeLoop { .. }));
        if seed % 4 == 0 {
            let asked = Asked {
                scripts: None,
                fork: None,
                which: Which::Wakeup(1 + seed % 50),
            };
            let others = [Policy::parse("linux-7.3").expect("an era")];
            let _ = explain(&platform, &policy, &load, &options, &asked, &others);
        }
    }
}
