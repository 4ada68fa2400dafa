//! Limits and hints of groups, from files and from keys of models (docs/guide/workloads.md#groups).
//!
//! What must stay: forms and roundings of each file are the kernel's; a refusal has its place.
//! Tests by part (in crates/workload/src): limits.rs: `files_of_groups_are_read` (`group`,
//! `bandwidth`, `shares`), `what_cannot_be_is_refused` (`declared`, `object_of`, `wrong`),
//! `models_have_keys` (`cpuset`); script/group.rs: `files_of_groups_are_read` (`is_empty`);
//! models/groups.rs: `what_cannot_be_is_refused` (`check`, `set_shares`); models/limits.rs:
//! `models_have_keys` (`each`, `max`, `bandwidth`).
//! Helpers, and who fails with them: `file` (`files_of_groups_are_read`,
//! `what_cannot_be_is_refused`); `model` (`models_have_keys`).

use wakeplace_workload::{Bandwidth, GroupLimits, LoadOptions, MachineFacts, Spec, Workload};

const FOUR_CPUS: MachineFacts = MachineFacts::alike(4);

/// Two tasks in /a and /a/b, and what is said of groups.
fn file(groups: &str) -> Result<Workload, String> {
    let text = format!(
        r#"{{"tasks":{{"outer":{{"taskgroup":"/a","run":1}},
                      "inner":{{"taskgroup":"/a/b","run":1}}}},
            "_groups":{groups}}}"#
    );
    let spec = Spec::parse_rtapp(text.as_bytes(), "f.json", &LoadOptions::default());
    let spec = spec.map_err(|error| error.to_string())?;
    spec.expand(0, FOUR_CPUS).map_err(|error| error.to_string())
}

fn model(argument: &str) -> Result<Workload, String> {
    let spec = Spec::parse(argument, &LoadOptions::default());
    let spec = spec.map_err(|error| error.to_string())?;
    spec.expand(1, FOUR_CPUS).map_err(|error| error.to_string())
}

/// Goal: paths make groups in groups, each file of a group has the kernel's form and rounding: a
/// weight of 50 is 512 shares, 37.5 % is 384 of 1024, and CPUs are those of all groups around.
#[test]
fn files_of_groups_are_read() {
    let load = file(
        r#"{"/a": {"cpu.max": "30000 100000", "cpuset.cpus": "0-2"},
            "/a/b": {"cpu.max": 15000, "cpu.max.burst": 5000, "cpu.weight": 50,
                     "cpu.uclamp.min": "37.5", "cpu.uclamp.max": "max", "cpuset.cpus": "2,3"}}"#,
    )
    .expect("valid");
    let [a, b] = &load.groups[..] else {
        panic!("two groups: {:?}", load.groups);
    };
    assert_eq!((&*a.name, a.parent, a.shares), ("a", None, 1024));
    assert_eq!((&*b.name, b.parent, b.shares), ("a/b", Some(0), 512));
    assert_eq!((&a.tasks[..], &b.tasks[..]), (&[0][..], &[1][..]));
    let max = |quota_ms: u64, burst_ms: u64| {
        Bandwidth::new(quota_ms * 1_000_000, 100_000_000, burst_ms * 1_000_000).ok()
    };
    assert_eq!(a.limits.bandwidth, max(30, 0));
    assert_eq!(b.limits.bandwidth, max(15, 5));
    assert_eq!(
        (b.limits.uclamp_min, b.limits.uclamp_max),
        (Some(384), Some(1024))
    );
    assert_eq!(load.tasks[0].cpus, Some(vec![0, 1, 2]));
    assert_eq!(load.tasks[1].cpus, Some(vec![2]));
    let idle = file(r#"{"/a/b": {"cpu.idle": 1}}"#).expect("valid");
    assert!(idle.groups[1].limits.idle && !idle.groups[0].limits.idle);
    let none = file(r#"{"/a": {"cpu.max": "max 100000"}}"#).expect("valid");
    assert!(none.groups[0].limits.is_empty());
}

/// Goal: what a kernel does not take is refused in a sentence with its place and what was expected.
#[test]
fn what_cannot_be_is_refused() {
    for (groups, said) in [
        (
            r#"{"/a": {"cpu.max": "500 100000"}}"#,
            "a quota of 500 us; expected 1000 us or more",
        ),
        (
            r#"{"/a": {"cpu.max": "2000 500"}}"#,
            "a period of 500 us; expected 1000 to 1000000",
        ),
        (
            r#"{"/a": {"cpu.max": "2000 2000000"}}"#,
            "a period of 2000000 us",
        ),
        (
            r#"{"/a": {"cpu.max": "2000", "cpu.max.burst": 3000}}"#,
            "a burst of 3000 us above",
        ),
        (
            r#"{"/a": {"cpu.max": "fast"}}"#,
            "expected \"QUOTA PERIOD\" in microseconds",
        ),
        (
            r#"{"/a": {"cpu.max": "1 2 3"}}"#,
            "expected \"QUOTA PERIOD\" in microseconds",
        ),
        (
            r#"{"/a": {"cpu.max.burst": 3000}}"#,
            "`cpu.max.burst` without a quota",
        ),
        (
            r#"{"/a": {"cpu.uclamp.min": "100.01"}}"#,
            "expected a percentage",
        ),
        (r#"{"/a": {"cpu.uclamp.max": -1}}"#, "expected a percentage"),
        (
            r#"{"/a": {"cpu.weight": 0}}"#,
            "`cpu.weight` is 0; expected 1 to 10000",
        ),
        (
            r#"{"/a": {"cpu.idle": 2}}"#,
            "`cpu.idle` is 2; expected 0 or 1",
        ),
        (
            r#"{"/a": {"cpu.idle": 1, "cpu.weight": 5}}"#,
            "`cpu.weight` of a group with",
        ),
        (r#"{"/a": {"cpu.maxx": 1}}"#, "did you mean `cpu.max`?"),
        (r#"{"/a/c": {"cpu.idle": 1}}"#, "no task is in group `/a/c`"),
        (
            r#"{"a": {"cpu.idle": 1}}"#,
            "`a` is no group; expected a path",
        ),
        (
            r#"{"/a": {"cpuset.cpus": "0-4"}}"#,
            "there is no CPU 4; expected CPUs 0 to 3",
        ),
        (
            r#"{"/a": {"cpuset.cpus": "0"}, "/a/b": {"cpuset.cpus": "1"}}"#,
            "task `inner-1` and its group `/a/b` have no CPU in common",
        ),
        ("7", "`_groups` is 7; expected an object of groups"),
    ] {
        let refused = file(groups).expect_err(groups);
        assert!(refused.contains(said), "{groups}: {refused}");
    }
}

/// Goal: models have the same by keys, one value for all groups or one for each.
#[test]
fn models_have_keys() {
    let load =
        model("periodic:n=4,groups=a+a/b,cpu_max=20ms/50ms+max,cpu_uclamp_max=50%").expect("valid");
    let [a, b] = &load.groups[..] else {
        panic!("two groups: {:?}", load.groups);
    };
    assert_eq!(b.parent, Some(0));
    assert_eq!(
        a.limits.bandwidth,
        Bandwidth::new(20_000_000, 50_000_000, 0).ok()
    );
    let hinted = GroupLimits {
        uclamp_max: Some(512),
        ..GroupLimits::default()
    };
    assert_eq!(b.limits, hinted);
    let load = model("tbench:clients=2,grouping=one,cpu_max=150ms").expect("valid");
    let max = load.groups[0].limits.bandwidth.expect("a budget");
    assert_eq!((max.quota_ns, max.period_ns), (150_000_000, 100_000_000));
    for (argument, said) in [
        ("periodic:cpu_max=20ms", "`cpu_max` without a group"),
        (
            "periodic:groups=a+b,cpu_max=2ms+3ms+4ms",
            "has 3 values for 2 groups",
        ),
        ("periodic:groups=a,cpu_max=2ms/3s", "a period of 3000000 us"),
        (
            "periodic:groups=a,cpu_burst=2ms",
            "`cpu_burst` without a quota",
        ),
        ("periodic:groups=a,group_cpus=9", "there is no CPU 9"),
        ("tbench:cpu_max=20ms", "`cpu_max` without a group"),
    ] {
        let refused = model(argument).expect_err(argument);
        assert!(refused.contains(said), "{argument}: {refused}");
    }
}
