//! The simplest scheduler, as `scx_simple` describes itself: an idle CPU gets a waking task at
//! once; else one queue for all CPUs, in the order of arrival or of weighted virtual time.
//!
//! What must stay: it stays the simplest scheduler: what `scx_simple` does and no more, since
//! rules.rs computes what it must lead to. Callers: rules.rs, explained.rs, storms.rs
//! (`Simple::new`); each callback is called by the class. Rule: docs/rules/sched-ext.md.
//! `select_cpu`, `enqueue` and `dispatch` choose; `running`, `stopping`, `enable` and `before` keep
//! virtual time; `info` and `init` are its table and its queue.

use wakeplace_engine::sched_ext::consts::{SCX_DSQ_LOCAL, SCX_SLICE_DFL};
use wakeplace_engine::sched_ext::{Callback, Exit, Kernel, OpsInfo, SchedExtOps, TaskId};

/// The queue of all.
const SHARED: u64 = 0;

/// The scheduler.
#[derive(Debug, Default)]
pub(super) struct Simple {
    fifo: bool,
    vtime_now: u64,
}

impl Simple {
    /// `fifo`: in the order of arrival.
    pub(super) fn new(fifo: bool) -> Self {
        Self {
            fifo,
            ..Self::default()
        }
    }
}

fn before(a: u64, b: u64) -> bool {
    a.wrapping_sub(b).cast_signed() < 0
}

impl SchedExtOps for Simple {
    fn info(&self) -> OpsInfo {
        use Callback::{Dispatch, Enable, Enqueue, Init, Running, SelectCpu, Stopping};
        let all = [
            SelectCpu, Enqueue, Dispatch, Running, Stopping, Enable, Init,
        ];
        OpsInfo {
            name: "simple".to_owned(),
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
        if self.fifo {
            kernel.dsq_insert(task, SHARED, SCX_SLICE_DFL, flags);
            return Ok(());
        }
        // What a sleeper saves is a slice at most.
        let least = self.vtime_now.wrapping_sub(SCX_SLICE_DFL);
        let vtime = kernel.task(task).dsq_vtime;
        let vtime = if before(vtime, least) { least } else { vtime };
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
        let vtime = kernel.task(task).dsq_vtime;
        if before(self.vtime_now, vtime) {
            self.vtime_now = vtime;
        }
        Ok(())
    }

    fn stopping(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        _runnable: bool,
    ) -> Result<(), Exit> {
        let facts = kernel.task(task);
        let used = (SCX_SLICE_DFL - facts.slice_ns) * 100 / u64::from(facts.weight);
        let vtime = facts.dsq_vtime.wrapping_add(used);
        kernel.set_dsq_vtime(task, vtime);
        Ok(())
    }

    fn enable(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        kernel.set_dsq_vtime(task, self.vtime_now);
        Ok(())
    }
}
