//! The same tasks under a sched_ext scheduler in Rust: what the kernel's side of a callback costs
//! without the program behind it.

use crate::time::{Spent, Stopwatch};
use std::hint::black_box;
use wakeplace_engine::observe::NoObserver;
use wakeplace_engine::sched_ext::consts::{SCX_DSQ_LOCAL, SCX_SLICE_DFL};
use wakeplace_engine::sched_ext::{Callback, Exit, Kernel, OpsInfo, SchedExtOps, TaskId};
use wakeplace_engine::{Options, RunReport, run, run_sched_ext};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::Workload;

const SHARED: u64 = 0;

/// Idle CPUs get waking tasks at once; else one queue by virtual time.
#[derive(Default)]
struct ByVtime {
    vtime_now: u64,
}

impl SchedExtOps for ByVtime {
    fn info(&self) -> OpsInfo {
        use Callback::{Dispatch, Enqueue, Init, Running, SelectCpu, Stopping};
        let all = [SelectCpu, Enqueue, Dispatch, Running, Stopping, Init];
        OpsInfo {
            name: "by vtime".to_owned(),
            callbacks: all.into_iter().collect(),
            ..OpsInfo::default()
        }
    }

    fn init(&mut self, kernel: &mut dyn Kernel) -> Result<i32, Exit> {
        Ok(kernel.create_dsq(SHARED, -1))
    }

    fn select_cpu(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        prev_cpu: i32,
        wake_flags: u64,
    ) -> Result<i32, Exit> {
        let (cpu, is_idle) = kernel.select_cpu_dfl(task, prev_cpu, wake_flags);
        if is_idle {
            kernel.dsq_insert(task, SCX_DSQ_LOCAL, SCX_SLICE_DFL, 0);
        }
        Ok(cpu)
    }

    fn enqueue(&mut self, kernel: &mut dyn Kernel, task: TaskId, flags: u64) -> Result<(), Exit> {
        let least = self.vtime_now.saturating_sub(SCX_SLICE_DFL);
        let vtime = kernel.task(task).dsq_vtime.max(least);
        kernel.dsq_insert_vtime(task, SHARED, SCX_SLICE_DFL, vtime, flags);
        Ok(())
    }

    fn dispatch(
        &mut self,
        kernel: &mut dyn Kernel,
        _cpu: i32,
        _prev: Option<TaskId>,
    ) -> Result<(), Exit> {
        kernel.dsq_move_to_local(SHARED, 0);
        Ok(())
    }

    fn running(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        self.vtime_now = self.vtime_now.max(kernel.task(task).dsq_vtime);
        Ok(())
    }

    fn stopping(&mut self, kernel: &mut dyn Kernel, task: TaskId, _: bool) -> Result<(), Exit> {
        let facts = kernel.task(task);
        let used = (SCX_SLICE_DFL - facts.slice_ns) * 100 / u64::from(facts.weight);
        let vtime = facts.dsq_vtime + used;
        kernel.set_dsq_vtime(task, vtime);
        Ok(())
    }
}

fn best(rounds: u32, simulate: &dyn Fn() -> RunReport) -> (Spent, RunReport) {
    let mut best = Spent::MOST;
    let mut report = simulate();
    for _ in 0..rounds {
        let start = Stopwatch::start();
        report = black_box(simulate());
        best = best.least(start.spent());
    }
    (best, report)
}

/// Beside EEVDF on the same kernel, machine and load.
pub(crate) fn measure(platform: &Platform, load: &Workload, seconds: u64, rounds: u32) {
    let policy = Policy::parse("linux-7.3").expect("valid");
    let options = Options {
        duration_ns: seconds * 1_000_000_000,
        ..Options::default()
    };
    let kernel = || run(platform, &policy, load, &options, &mut NoObserver);
    let scheduler = || {
        let mut ops = ByVtime::default();
        run_sched_ext(platform, &policy, load, &options, &mut ops, &mut NoObserver)
    };
    for (name, simulate) in [
        ("linux-7.3", &kernel as &dyn Fn() -> RunReport),
        ("... by a scheduler", &scheduler),
    ] {
        let (spent, report) = best(rounds, simulate);
        let ext = report.sched_ext.iter().flat_map(|ext| &ext.callbacks);
        let callbacks: u64 = ext.map(|c| c.calls).sum();
        println!(
            "{name:<26} {:>7.0} simulated s/s, {:.1} ns/event, {:.2} million callbacks/s",
            seconds as f64 / (spent.processor_ns as f64 / 1e9),
            spent.processor_ns as f64 / report.events as f64,
            callbacks as f64 / (spent.processor_ns as f64 / 1e3)
        );
    }
}
