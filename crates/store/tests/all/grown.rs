//! Stores that go on with other values of what is varied.

use crate::common::{CELLS, Full, definition, of, runs, runs_of, sweep};
use wakeplace_store::{Definition, Store, StoreError};
use wakeplace_study::{RunRecord, Source, Sweep};

/// What the cells come to without a store; points that cannot be made have their reason.
fn alone(sweep: &Sweep) -> Vec<RunRecord> {
    let mut points = wakeplace_study::Points::default();
    let mut one = |cell: usize| {
        let (number, seed) = sweep.cell(cell);
        wakeplace_store::run_cell(&points.get(sweep, number), (cell, number, seed), "a test").record
    };
    (0..sweep.cells()).map(&mut one).collect()
}

/// Goal: of values and seeds that come only their runs are made, of values that go none is lost,
/// and the table is the one of a store that had these values from the start.
#[test]
fn values_come_and_go() {
    let full = Full::new();
    for (vary, seeds, made) in [
        // Two values more; none but in another order; one; a seed of each of four points.
        ("workload.n=1..6:6", vec![1, 2], 4),
        ("workload.n=2,5,1", vec![1, 2], 0),
        ("workload.n=9,2,5", vec![1, 2], 2),
        ("workload.n=1..4:4", vec![2, 3, 1], 4),
        ("workload.n=1..4:4", vec![1, 2], 0),
    ] {
        let sweep = of(&[vary], seeds);
        let (all, own) = runs_of(&full.path(), &sweep).expect(vary);
        assert_eq!(own, made, "{vary}");
        assert!(all == alone(&sweep), "{vary}: other runs");
    }
    // HiKey960 has eight CPUs, Juno six: what cannot be made is known by its number alone.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("two.db");
    for (cpus, made) in [("cpu0,cpu7", 4), ("cpu1,cpu7,cpu0", 3), ("cpu6,cpu0", 2)] {
        let cpus = format!("workload.cal={cpus}");
        let sweep = of(&["platform=hikey960,juno-r0", &cpus], vec![1]);
        let (all, own) = runs_of(&path, &sweep).expect("a store");
        // Those that cannot be made are made anew.
        assert_eq!(own, made, "{cpus}");
        assert!(all == alone(&sweep), "{cpus}: other runs");
    }
}

/// Goal: what is no value of an axis makes another sweep, and damage is found before anything is
/// taken over.
#[test]
fn what_changed_is_refused() {
    let full = Full::new();
    full.refused_for(&of(&["busy_factor=4,5"], vec![1, 2]), "another sweep");
    let mut other = sweep().base.clone();
    other.policies = vec!["linux-5.0".to_owned()];
    let axes = of(&["workload.n=1..5:5"], vec![1]).axes;
    let other = Sweep::new(other, axes, wakeplace_study::Design::Grid).expect("a sweep");
    full.refused_for(&other, "another sweep");
    let more = of(&["workload.n=1..5:5"], vec![1, 2]);
    for (sql, part) in [
        (
            "UPDATE run SET behaviour_hash = 'f' WHERE key = (SELECT MIN(key) FROM run)",
            "table `run`",
        ),
        (
            "UPDATE point SET platform = 'x' WHERE point = 2",
            "table `point`",
        ),
        (
            "UPDATE metric SET name = 'x' WHERE metric = 2",
            "table `metric`",
        ),
        ("UPDATE sweep SET cells = 9", "table `sweep`"),
    ] {
        let full = Full::new();
        full.change(sql);
        full.refused_for(&more, part);
    }
    // A run that no cell has is looked at, too, where a metric is of no other.
    let full = Full::new();
    runs_of(&full.path(), &of(&["workload.n=1,2"], vec![1])).expect("a store");
    full.change("INSERT INTO metric VALUES (9999, 'x', 1)");
    assert!(runs_of(&full.path(), &of(&["workload.n=1,2"], vec![1])).is_err());
}

/// Goal: cells keep their numbers while somebody works on them; who comes back later is told.
#[test]
fn nobody_is_disturbed() {
    let full = Full::new();
    // The lease is over: its owner, this process, is still there.
    let open = "UPDATE lease SET done = 0, until_ms = 0 WHERE chunk = 7";
    full.change(&format!("DELETE FROM cell WHERE cell = 7; {open}"));
    let mut first = Store::open(&full.path(), &definition(sweep())).expect("a store");
    let (chunk, cells) = first.claim().expect("a claim").expect("a chunk");
    assert_eq!((chunk, cells), (7, vec![7]));
    let more = of(&["workload.n=1..5:5"], vec![1, 2]);
    let opened = |sweep| Store::open(&full.path(), &definition(sweep)).map(drop);
    let refused = |found: Result<(), StoreError>, part: &str| {
        let said = found.expect_err(part).to_string();
        assert!(said.contains(part), "{said}");
    };
    refused(opened(&more), "another command works on it now");
    first.release().expect("given back");
    opened(&more).expect("nobody works on it");
    refused(first.claim().map(drop), "other values meanwhile");
    refused(first.commit(&[], &[7]), "other values meanwhile");
    let read = first.parts(|_| -> Result<(), StoreError> { Ok(()) });
    refused(read, "other values meanwhile");
    drop(first);
    assert_eq!(runs(&full.path()).expect("a store").0.len(), CELLS);
}

/// Goal: a refusal says what differs, the program first.
#[test]
fn a_refusal_names_what_differs() {
    let full = Full::new();
    let with = |change: &dyn Fn(&mut wakeplace_study::Request), vary: &[&str]| {
        let axes = of(vary, vec![1]).axes;
        let mut base = sweep().base.clone();
        change(&mut base);
        Sweep::new(base, axes, wakeplace_study::Design::Grid).expect("a sweep")
    };
    let own = ["workload.n=1..4:4"];
    for (other, said) in [
        (
            with(&|_| (), &["busy_factor=4,5"]),
            "it varies `workload.n`, and this one `busy_factor`",
        ),
        (
            with(&|base| base.policies = vec!["linux-5.0".to_owned()], &own),
            "its policy is `linux-7.3`, and this one's `linux-5.0`",
        ),
        (
            with(
                &|base| base.platforms = vec![Source::named("juno-r0")],
                &own,
            ),
            "its platform is `hikey960`, and this one's `juno-r0`",
        ),
        (
            with(
                &|base| base.workloads = vec![Source::named("messaging:groups=1")],
                &["busy_factor=4,5"],
            ),
            "it varies `workload.n`, and this one `busy_factor`",
        ),
        (
            with(&|base| base.duration_ns = Some(20_000_000), &own),
            "its duration is `30 ms`, and this one's `20 ms`",
        ),
        (
            with(
                &|base| base.set = vec![("busy_factor".to_owned(), "5".to_owned())],
                &own,
            ),
            "and this one's 5",
        ),
        (
            with(
                &|base| base.set = vec![("model.ipi_ns".to_owned(), "1234".to_owned())],
                &own,
            ),
            "ipi_ns is ",
        ),
    ] {
        full.refused_for(&other, said);
    }
    let newer = Definition {
        program: "another test",
        ..definition(sweep())
    };
    let refused = Store::open(&full.path(), &newer)
        .expect_err("another program")
        .to_string();
    let said = "another version of the program: a test, and this is another test; it was made by: \
                a test; expected";
    assert!(refused.contains(said), "{refused}");
}

/// Goal: a refusal stays short, whatever is varied. By hand: three of five keys are told.
#[test]
fn of_many_keys_a_refusal_names_the_first() {
    let vary = [
        "busy_factor=4,5",
        "runnable_boost_pct=0,50",
        "workload.duty=5%",
        "workload.period=16ms",
        "runnable_boost=on",
    ];
    let said = "it varies `workload.n`, and this one `busy_factor`, `runnable_boost_pct`, \
                `workload.duty`, and 2 more";
    Full::new().refused_for(&of(&vary, vec![1]), said);
}
