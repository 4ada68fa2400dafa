//! Columns with workloads of their own, cases with jitter, and studies that ask the oracle.
//! Files: studies/README.md.
//!
//! What must stay: what a column changes counts there alone.
//! Tests by part (in crates/study/src): plan.rs: `a_column_may_change_the_workload` (`load`);
//! file/read.rs: `an_oracle_may_be_asked` (`on_a_machine_that_stays`); oracle.rs:
//! `an_oracle_may_be_asked` (`judge`, `machine`); file/values.rs: `a_case_may_have_jitter`
//! (`jitter`); plan.rs: `a_column_may_change_a_recording`.
//! Helpers, and who fails with them: `shown` (all tests).
use super::{Study, StudyOptions};
use wakeplace_outcome::{Figure as Simulated, Row as StudyRow};

/// Two columns of one policy; a file with everything that the next two tests change.
const TWO: &str = r#"title = "Pinned and free"
source = "a test"
platform = "hikey960"
duration = "100ms"
seeds = 2
oracle = true

[quick]
seeds = 1

[[column]]
name = "pinned"
policy = "linux-7.3"
workload = "pin=on"

[[column]]
name = "free"
policy = "linux-7.3"

[[metric]]
name = "wakeups_big_total"

[[metric]]
name = "energy_over_optimal_pct"

[[case]]
token = "small"
workload = "eas-behaviour:kind=three-small"

[tradeoff]
ours = "free"
rivals = ["pinned"]
energy = "cpu_energy_j"
latency = "wake_latency_us_p99"
time = ["task_run_s"]
energy_pct = 2.0
latency_pct = 10.0
"#;

/// What the runs of a column gave.
fn shown(rows: &[StudyRow], column: &str, metric: &str) -> Simulated {
    let row = |row: &&StudyRow| row.policy == column && row.metric == metric;
    rows.iter().find(row).expect("shown").simulated
}

/// Goal: values of keys that a column gives count there alone, and are checked with every case.
#[test]
fn a_column_may_change_the_workload() {
    let study = Study::from_toml(&TWO.replace("three-small", "two-big"), "t.toml").unwrap();
    let result = study.run(&StudyOptions::default(), 2, &|_| {}).unwrap();
    let of = |column: &str| shown(&result.rows, column, "wakeups_big_total").mean;
    // Both tasks wake each period of 16 ms on the CPUs that they are bound to; free ones begin on a
    // little CPU.
    assert!(
        of("pinned") > of("free"),
        "{:?} {:?}",
        of("pinned"),
        of("free")
    );
    let wrong = TWO.replace("pin=on", "pni=on");
    let error = Study::from_toml(&wrong, "t.toml").unwrap_err().to_string();
    assert!(error.starts_with("t.toml:14:12: "), "{error}");
    assert!(error.contains("did you mean `pin`?"), "{error}");
}

/// Goal: a recording takes a column's own values as a model does, when it is read and when it runs.
#[test]
fn a_column_may_change_a_recording() {
    let folder = std::env::temp_dir().join(format!("wakeplace-column-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("run.txt");
    let text = "cpus=8\n  <idle>-0 [000] 1.0: sched_switch: swapper/0:0 [120] R ==> a:11 [120]\n  \
                a-11 [000] 1.05: sched_switch: a:11 [120] S ==> swapper/0:0 [120]\n";
    std::fs::write(&path, text).expect("written");
    // CPU 0 of the one machine has 462 of the capacity 1024, of the other all: 50 ms there are
    // more work.
    let own = TWO.replace("pin=on", "platform=kunpeng920-2s");
    let own = own
        .replace("oracle = true\n", "")
        .replace("wakeups_big_total", "task_run_s");
    let argument = format!("trace:{}", path.display());
    let own = own.replace("eas-behaviour:kind=three-small", &argument);
    let own = own.replace("\n[[metric]]\nname = \"energy_over_optimal_pct\"\n", "");
    let study = Study::from_toml(&own, "t.toml").unwrap();
    let result = study.run(&StudyOptions::default(), 1, &|_| {}).unwrap();
    let of = |column: &str| shown(&result.rows, column, "task_run_s").mean;
    assert!(
        of("pinned") > of("free"),
        "{:?} {:?}",
        of("pinned"),
        of("free")
    );
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// Goal: with `oracle` runs know their distance from the best placement, and means are shown of it,
/// the base's too; a machine that changes is refused.
#[test]
fn an_oracle_may_be_asked() {
    let study = Study::from_toml(TWO, "t.toml").unwrap();
    let result = study.run(&StudyOptions::default(), 2, &|_| {}).unwrap();
    let means = result.tradeoff.expect("it asks for one").means;
    let columns: Vec<_> = means.iter().map(|mean| mean.column.as_str()).collect();
    assert_eq!(columns, ["pinned", "free"]);
    let of = |column: &str| shown(&result.rows, column, "energy_over_optimal_pct").mean;
    // One case: the mean over cases is that of its runs.
    for mean in &means {
        let distance = mean.over_optimal_pct.expect("known");
        assert!((distance - of(&mean.column)).abs() < 1e-9);
        assert!(distance > 0.0, "schedutil keeps a margin: {distance}");
    }
    let leaves = TWO.replace("seeds = 2", "seeds = 2\nhotplug = \"50ms:1=off\"");
    let error = Study::from_toml(&leaves, "t.toml").unwrap_err().to_string();
    assert!(error.contains("no `hotplug`, or no `oracle`"), "{error}");
    let mut hot = StudyOptions::default();
    hot.set.push(("model.thermal".to_owned(), "on".to_owned()));
    let error = study.run(&hot, 2, &|_| {}).unwrap_err().to_string();
    assert!(error.contains("stays as it is"), "{error}");
    let smt = TWO.replace("hikey960", "zen4-7950x");
    let error = Study::from_toml(&smt, "t.toml").unwrap_err().to_string();
    assert!(error.contains("no `oracle`, or others"), "{error}");
}

/// Goal: a case's jitter changes the runs of an rt-app file; a model draws by its own keys and
/// takes none.
#[test]
fn a_case_may_have_jitter() {
    let file = TWO
        .replace("workload = \"pin=on\"\n", "")
        .replace("eas-behaviour:kind=three-small", "workloads/media.json");
    let spread_pct = |text: &str| {
        let study = Study::from_toml(text, "t.toml").unwrap();
        let result = study.run(&StudyOptions::default(), 2, &|_| {}).unwrap();
        shown(&result.rows, "free", "energy_over_optimal_pct").rsd_pct
    };
    let with = |jitter: &str| {
        let line = format!("media.json\"\njitter = \"{jitter}\"");
        file.replace("media.json\"", &line)
    };
    assert_ne!(spread_pct(&file), spread_pct(&with("start=5ms")));
    let refused = |text: &str| Study::from_toml(text, "t.toml").unwrap_err().to_string();
    let error = refused(&with("start=-5ms"));
    assert!(error.starts_with("t.toml:28:10: "), "{error}");
    let model = with("start=5ms").replace("workloads/media.json", "periodic:n=2");
    assert!(refused(&model).contains("a model draws from the seed"));
}
