//! Sweeps: cells and their runs (docs/guide/results.md, "Sweeps").
//!
//! What must stay: each point stands once, and a cell is the run that a comparison makes; keys of
//! cells are what stores are of.
//! Tests by part (in crates/study/src): sweep/mod.rs: `cells_are_points_by_seeds` (`cell`, `point`,
//! `chosen`), `each_point_stands_once` (`new`, `labels_of`), `wrong_keys_and_values_are_named`
//! (`name`, `part`, `vary`), `values_that_go_together_sometimes_are_records` (`failed`);
//! sweep/platform.rs: `cells_are_points_by_seeds` (`changed`); pool.rs:
//! `a_cell_is_the_run_of_a_comparison` (`one`, `shrink`); run_table.rs:
//! `a_cell_is_the_run_of_a_comparison` (`records`, `metrics_of`); sweep/point.rs:
//! `what_cannot_run_is_a_record_with_its_reason` (`run`), `options_that_fit_no_point_are_refused`
//! (`check`), `values_that_go_together_sometimes_are_records` (`get`); sweep/check.rs:
//! `options_that_fit_no_point_are_refused` (`check_runs`), `wrong_keys_and_values_are_named`
//! (`check_lists`, `check_values`); sweep/file.rs: `a_file_says_the_same` (`read`, `parts`,
//! `axis`); file/arguments.rs: `a_file_says_the_same` (a sweep's file).
//! Helpers, and who fails with them: `base`, `axes`, `sweep` (most tests).

use super::{Axis, Design, Sweep};
use crate::{Request, Source};

fn base() -> Request {
    Request {
        platforms: vec![Source::named("hikey960")],
        workloads: vec![Source::named("periodic:n=2,duty=5%")],
        policies: vec!["linux-7.3".to_owned(), "linux-4.17".to_owned()],
        seeds: vec![1, 2],
        duration_ns: Some(10_000_000),
        ..Request::default()
    }
}

fn axes(texts: &[&str]) -> Vec<Axis> {
    texts
        .iter()
        .map(|text| Axis::parse(text).expect(text))
        .collect()
}

fn sweep(texts: &[&str]) -> Sweep {
    Sweep::new(base(), axes(texts), Design::Grid).expect("a sweep")
}

/// Goal: what is not varied is combined as in a comparison; every cell has a key of its own.
#[test]
fn cells_are_points_by_seeds() {
    let sweep = sweep(&["workload.n=2,3", "platform.kernel.tick_hz=100,250"]);
    assert_eq!((sweep.points(), sweep.cells()), (8, 16));
    let mut keys = std::collections::BTreeSet::new();
    for cell in 0..sweep.cells() {
        let (point, seed) = sweep.cell(cell);
        let point = sweep.point(point).expect("valid");
        keys.insert(point.key(seed, "p"));
    }
    assert_eq!(keys.len(), 16);
    let last = sweep.point(7).expect("valid");
    assert_eq!(last.record().workload, "periodic:duty=5%,n=3");
    assert_eq!(last.record().policy, "linux-4.17");
    assert_eq!(last.experiment.platform.tick_hz, 250);
    assert_eq!(sweep.point(0).unwrap().experiment.platform.tick_hz, 100);
}

/// Goal: a cell is the run that the same comparison makes.
#[test]
fn a_cell_is_the_run_of_a_comparison() {
    let sweep = sweep(&["busy_factor=5,16"]);
    let mut request = base();
    request.set = vec![("busy_factor".to_owned(), "16".to_owned())];
    let alone = request.resolve().unwrap().run(1, &|_| {}).unwrap();
    let records = alone[0].records();
    // Points 2 and 3 have the second value; seeds change fastest.
    for (at, record) in records.iter().enumerate() {
        let (point, seed) = sweep.cell(4 + at);
        let ours = sweep.point(point).unwrap().run(seed);
        assert_eq!(ours.event_hash, record.event_hash);
        assert_eq!(ours.metrics, record.metrics);
        assert_eq!(ours.settings, record.settings);
        assert_eq!(ours.platform_hash, record.platform_hash);
    }
}

#[test]
fn what_cannot_run_is_a_record_with_its_reason() {
    // Eight CPUs: there is no CPU 99.
    let sweep = sweep(&["model.parent_cpu=0,99"]);
    let record = sweep.point(3).expect("well-formed").run(1);
    assert!(record.error.contains("99"), "{}", record.error);
    assert!(record.metrics.is_empty());
}

/// Goal: what would count a run twice is no sweep, or one with each point once.
#[test]
fn each_point_stands_once() {
    let by_steps = sweep(&["workload.n=1..2:9"]);
    assert_eq!((by_steps.points(), by_steps.cells()), (4, 8));
    let design = |points| Design::LatinHypercube { points, seed: 1 };
    let drawn = |points| Sweep::new(base(), axes(&["workload.n=1..3"]), design(points)).unwrap();
    assert_eq!((drawn(1).points(), drawn(50).points()), (2, 6));
    let cells = drawn(50);
    let keys = (0..cells.cells()).map(|cell| {
        let (point, seed) = cells.cell(cell);
        cells.point(point).expect("valid").key(seed, "p")
    });
    assert_eq!(keys.collect::<std::collections::BTreeSet<_>>().len(), 12);
    let refused = |base: Request| {
        let refused = Sweep::new(base, axes(&["busy_factor=1,2"]), Design::Grid);
        refused.expect_err("twice").to_string()
    };
    let mut twice = base();
    twice.platforms.push(Source::named("hikey960"));
    assert_eq!(refused(twice), "vary platform: `hikey960` stands twice");
    let mut twice = base();
    twice.workloads.push(twice.workloads[0].clone());
    assert!(refused(twice).starts_with("vary workload: "));
    let mut twice = base();
    twice.policies.push("linux-7.3".to_owned());
    assert_eq!(refused(twice), "vary policy: `linux-7.3` stands twice");
}

/// Goal: options with which no point can run are refused as for one run; those that fit some
/// points are none of the sweep's business.
#[test]
fn options_that_fit_no_point_are_refused() {
    let try_with = |change: &dyn Fn(&mut Request), texts: &[&str]| {
        let mut base = base();
        change(&mut base);
        let made = Sweep::new(base, axes(texts), Design::Grid);
        made.map_or_else(|error| error.to_string(), |_| String::new())
    };
    let hotplug = |base: &mut Request| {
        base.options.hotplug = crate::parse_hotplug("0s:7=off").expect("a step");
    };
    // HiKey960 has eight CPUs, Juno six.
    assert_eq!(try_with(&hotplug, &["platform=hikey960,juno-r0"]), "");
    let said = try_with(&hotplug, &["platform=juno-r0"]);
    assert!(said.contains("has no CPU 7"), "{said}");
    let parent = |base: &mut Request| {
        base.set = vec![("model.parent_cpu".to_owned(), "99".to_owned())];
    };
    let said = try_with(&parent, &["busy_factor=1,2"]);
    assert!(said.contains("model.parent_cpu is 99"), "{said}");
}

#[test]
fn wrong_keys_and_values_are_named() {
    let error = |texts: &[&str]| {
        let refused = Sweep::new(base(), axes(texts), Design::Grid);
        refused.expect_err(texts[0]).to_string()
    };
    for (text, said) in [
        ("busy_facter=1,2", "did you mean `busy_factor`"),
        ("platform=hikey960,hikey961", "hikey961"),
        ("policy=linux-7.3,linux-7.4", "linux-7.4"),
        ("workload.m=1,2", "`m`"),
        ("platform.kernel.tick_h=1,2", "did you mean `tick_hz`"),
        ("platform.kernel.tick_hz=x,y", "`x` is no integer"),
        ("duration=1,2", "no unit"),
        ("jitter=run=-1%", "expected a percentage"),
        // Of a range, as of a list: boosts are 0 to 100 %.
        ("runnable_boost_pct=0,100,200", "200"),
        ("runnable_boost_pct=0..200:3", "200"),
        ("workload.n=0..2:3", "`n=0`"),
        // Not the first of its list.
        ("busy_factor=16,x", "`x`"),
        ("workload.n=2,x", "`n=x`"),
        ("model.ipi_ns=1000,x", "`x`"),
        ("platform.kernel.tick_hz=100,x", "`x` is no integer"),
        (
            "platform.kernel.tick_hz=100,0",
            "vary platform.kernel.tick_hz=0: `tick_hz` is 0; expected 1 to 10000 Hz",
        ),
    ] {
        let really = error(&[text]);
        assert!(really.contains(said), "{text}: {really}");
    }
    assert!(error(&["busy_factor=1,2", "busy_factor=3"]).contains("twice"));
    let file = error(&["workload=phone.json,other.json", "workload.n=1,2"]);
    assert!(file.contains("`phone.json` is a file"), "{file}");
}

/// Goal: a value that goes with some values of another list only is no mistake. The points that
/// cannot be made say what they are.
#[test]
fn values_that_go_together_sometimes_are_records() {
    // Juno has six CPUs, HiKey960 eight.
    let sweep = sweep(&["platform=hikey960,juno-r0", "workload.cal=cpu0,cpu7"]);
    let mut points = super::Points::default();
    let last = points.get(&sweep, sweep.points() - 1);
    let record = match last.as_ref() {
        Ok(point) => point.run(1),
        Err(record) => record.clone(),
    };
    assert!(record.error.contains("CPU 7"), "{}", record.error);
    assert_eq!(
        (&*record.platform, &*record.workload, &*record.policy),
        ("juno-r0", "periodic:n=2,duty=5%,cal=cpu7", "linux-4.17")
    );
    assert!(last.is_err(), "it is no point that runs");
}

#[test]
fn a_file_says_the_same() {
    let text = r#"
        title = "Two of everything"
        platform = "hikey960"
        workload = ["periodic:n=2,duty=5%", "periodic:n=3"]
        policies = ["linux-7.3"]
        duration = "10ms"
        seeds = 3
        [vary]
        busy_factor = [5, 16]
        "platform.kernel.tick_hz" = "100,250"
        [base]
        busy_factor = 16
    "#;
    let sweep = Sweep::from_toml(text, "f.toml").expect("valid");
    assert_eq!((sweep.points(), sweep.cells()), (8, 24));
    let base = sweep.base_point().expect("a base").expect("one");
    assert_eq!(base.values(), [("busy_factor".to_owned(), "16".to_owned())]);
    assert!(super::is_sweep(text) && !super::is_sweep("title = 'x'"));
    let error = |from: &str, to: &str| {
        let text = text.replace(from, to);
        Sweep::from_toml(&text, "f.toml").expect_err(to).to_string()
    };
    assert!(error("policies", "polices").contains("did you mean `policies`"));
    assert!(error("seeds = 3", "seeds = 0").contains("f.toml:7:17: 0 seeds"));
    assert!(error("100,250", "100,,250").contains("a value is empty"));
    let base = error("busy_factor = 16", "busy_facter = 4");
    let said = "f.toml:11:9: base busy_facter=4: `busy_facter` is not varied; expected one of ";
    assert!(base.starts_with(said), "{base}");
    assert!(base.ends_with("did you mean `busy_factor`?"), "{base}");
    let unknown = error("busy_factor = [", "busy_facter = [");
    assert!(unknown.starts_with("f.toml: unknown setting"), "{unknown}");
}
