//! A small sweep, its right runs, and what a store says.
//!
//! What must stay: the sweep is small so that all its runs can be made without a store (`right`);
//! callers are all files of this folder. A fault here fails there. `sweep` and `definition` are
//! that sweep, `runs` all that a store ends with; `Full` is a store with all cells (`new`, `path`,
//! `bytes`), which `change` alters and `refused` judges. Page: docs/guide/cluster.md.

use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use wakeplace_store::{Definition, Store, StoreError, run};
use wakeplace_study::{Axis, Design, Request, RunRecord, Source, Sweep};

/// Four points with two seeds each.
pub(crate) const CELLS: usize = 8;

pub(crate) fn sweep() -> &'static Sweep {
    static SWEEP: OnceLock<Sweep> = OnceLock::new();
    SWEEP.get_or_init(made)
}

fn made() -> Sweep {
    let base = Request {
        platforms: vec![Source::named("hikey960")],
        workloads: vec![Source::named("periodic:n=2")],
        policies: vec!["linux-7.3".to_owned()],
        seeds: vec![1, 2],
        duration_ns: Some(30_000_000),
        ..Request::default()
    };
    let axes = vec![Axis::parse("workload.n=1..4:4").expect("an axis")];
    Sweep::new(base, axes, Design::Grid).expect("a sweep")
}

pub(crate) fn definition(sweep: &Sweep) -> Definition<'_> {
    Definition {
        sweep,
        program: "a test",
        said: "a test".to_owned(),
        workers: 1,
    }
}

/// All runs that a store ends with, and how many of them it lacked.
pub(crate) fn runs(path: &Path) -> Result<(Vec<RunRecord>, usize), StoreError> {
    let sweep = sweep();
    let mut store = Store::open(path, &definition(sweep))?;
    let summary = run(sweep, &mut store, (1, "a test"), &|_| {})?;
    let mut all = Vec::new();
    store.parts(|part| -> Result<(), StoreError> {
        all.extend_from_slice(part);
        Ok(())
    })?;
    Ok((all, summary.made))
}

/// A folder with a store that has all cells.
pub(crate) struct Full {
    pub(crate) folder: tempfile::TempDir,
}

impl Full {
    pub(crate) fn new() -> Self {
        static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
        let folder = tempfile::tempdir().expect("a folder");
        let bytes = BYTES.get_or_init(|| {
            let path = folder.path().join("first.db");
            let (_, made) = runs(&path).expect("a store");
            assert_eq!(made, CELLS);
            std::fs::read(path).expect("the store")
        });
        std::fs::write(folder.path().join("runs.db"), bytes).expect("a copy");
        Self { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("runs.db")
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.path()).expect("the store")
    }

    /// As somebody else would change it.
    pub(crate) fn change(&self, sql: &str) {
        let store = Connection::open(self.path()).expect("the store");
        store.execute_batch(sql).expect(sql);
    }

    /// It is bad input, whose message has this; and the file is as it was.
    pub(crate) fn refused(&self, part: &str) {
        let before = self.bytes();
        let Err(error) = runs(&self.path()) else {
            panic!("not refused, though: {part}");
        };
        assert!(matches!(error, StoreError::Refused { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains(part), "{said}");
        assert_eq!(self.bytes(), before, "{said}");
    }
}

/// What the cells come to without a store.
pub(crate) fn right() -> &'static [RunRecord] {
    static RIGHT: OnceLock<Vec<RunRecord>> = OnceLock::new();
    RIGHT.get_or_init(|| {
        let sweep = sweep();
        let one = |cell: usize| {
            let (point, seed) = sweep.cell(cell);
            sweep.point(point).expect("a point").run(seed)
        };
        (0..CELLS).map(one).collect()
    })
}
