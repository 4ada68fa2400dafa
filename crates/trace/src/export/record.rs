//! Takes down what the engine tells.

use super::Traces;
use super::sink::Counter;
use super::told::{Told, What};
use wakeplace_engine::StateView;
use wakeplace_engine::observe::{
    CpuPower, KernelWork, MigrateCause, Observer, Placement, Stop, Waking,
};

/// Things told that are handed over at once.
const BATCH: usize = 1 << 12;
/// Time between two looks at signals: a tick at 250 Hz, and more often than they are brought up to
/// date where nothing happens.
const SAMPLE_NS: u64 = 4_000_000;

/// Signals of a CPU; None: nothing was told of them yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    util: Option<u32>,
    capacity: Option<u32>,
}

impl Traces {
    #[inline]
    fn tell(&mut self, time_ns: u64, what: What) {
        self.batch.push(Told { time_ns, what });
        if self.batch.len() >= BATCH {
            self.scribe.hand_over(&mut self.batch);
        }
    }

    fn count(&mut self, time_ns: u64, counter: Counter, value: u32) {
        self.tell(time_ns, What::Counter { counter, value });
    }
}

impl Observer for Traces {
    fn cpu_power(&mut self, time_ns: u64, cpu: u32, power: CpuPower) {
        self.tell(time_ns, What::CpuPower { cpu, power });
    }

    fn cluster_power(&mut self, time_ns: u64, cluster: u32, state: Option<u16>) {
        self.tell(time_ns, What::ClusterPower { cluster, state });
    }

    fn frequency(&mut self, time_ns: u64, domain: u32, opp: u16) {
        self.tell(time_ns, What::Frequency { domain, opp });
    }

    fn placement(&mut self, time_ns: u64, placement: &Placement) {
        self.tell(time_ns, What::Placement(*placement));
    }

    fn kernel_work(&mut self, time_ns: u64, cpu: u32, work: KernelWork) {
        self.tell(time_ns, What::KernelWork { cpu, work });
    }

    fn timer_armed(&mut self, time_ns: u64, task: u32, cpu: u32, due_ns: u64) {
        self.tell(time_ns, What::TimerArmed { task, cpu, due_ns });
    }

    fn woken(&mut self, time_ns: u64, waking: &Waking) {
        self.tell(time_ns, What::Woken(*waking));
    }

    fn wakeup(&mut self, time_ns: u64, task: u32, target_cpu: u32, _due_ns: u64) {
        self.tell(time_ns, What::Wakeup { task, target_cpu });
    }

    fn run_start(&mut self, time_ns: u64, cpu: u32, task: u32, _wake_latency_ns: Option<u64>) {
        self.tell(time_ns, What::RunStart { cpu, task });
    }

    fn run_stop(&mut self, time_ns: u64, cpu: u32, task: u32, _ran_ns: u64, stop: Stop) {
        self.tell(time_ns, What::RunStop { cpu, task, stop });
    }

    fn migrate(&mut self, time_ns: u64, task: u32, from: u32, to: u32, cause: MigrateCause) {
        // Who pulls does so on its own CPU, who pushes on the task's.
        let by = match cause {
            MigrateCause::Balance | MigrateCause::NewIdle => to,
            _ => from,
        };
        self.tell(time_ns, What::Migrate { task, to, by });
    }

    fn forked(&mut self, time_ns: u64, task: u32, script: u32) {
        self.tell(time_ns, What::Forked { task, script });
    }

    fn task_exit(&mut self, time_ns: u64, task: u32) {
        self.tell(time_ns, What::TaskExit { task });
    }

    fn priority(&mut self, time_ns: u64, task: u32, prio: i32) {
        self.tell(time_ns, What::Priority { task, prio });
    }

    fn hotplug(&mut self, time_ns: u64, cpu: u32, online: bool) {
        self.count(time_ns, Counter::Online(cpu), online.into());
    }

    fn overutilized(&mut self, time_ns: u64, on: bool) {
        self.count(time_ns, Counter::Overutilized, on.into());
    }

    fn thermal(&mut self, time_ns: u64, cluster: u32, millic: i32, _steps: u32) {
        self.tell(time_ns, What::Temperature { cluster, millic });
    }

    fn next_state_ns(&self) -> Option<u64> {
        Some(self.sample_ns)
    }

    fn state(&mut self, state: &StateView<'_>) {
        let time_ns = state.time_ns;
        self.sample_ns = time_ns + SAMPLE_NS;
        self.tell(time_ns, What::Sample);
        for cpu in 0..self.signals.len() as u32 {
            let last = &mut self.signals[cpu as usize];
            let (util, capacity) = state.signals(cpu);
            let util_is_new = last.util.replace(util) != Some(util);
            let capacity_is_new = last.capacity.replace(capacity) != Some(capacity);
            if util_is_new {
                self.count(time_ns, Counter::Util(cpu), util);
            }
            if capacity_is_new {
                self.count(time_ns, Counter::Capacity(cpu), capacity);
            }
        }
    }

    fn is_done(&self) -> bool {
        self.scribe.has_failed()
    }

    fn finish(&mut self, time_ns: u64) {
        self.tell(time_ns, What::End);
        self.scribe.last(&mut self.batch);
    }
}
