//! Two observers of one run.

use crate::observe::{
    CpuPower, Iteration, KernelWork, MigrateCause, Observer, Placement, SchedExtStep, Situation,
    Stop, WakeupCase, Waking,
};
use crate::state::StateView;
use wakeplace_kernel_abi::Decided;

/// Both see everything, the first one first.
#[derive(Debug)]
pub struct Both<'a, A: ?Sized, B: ?Sized>(pub &'a mut A, pub &'a mut B);

impl<A: Observer + ?Sized, B: Observer + ?Sized> Observer for Both<'_, A, B> {
    fn cpu_power(&mut self, time_ns: u64, cpu: u32, power: CpuPower) {
        self.0.cpu_power(time_ns, cpu, power);
        self.1.cpu_power(time_ns, cpu, power);
    }

    fn cluster_power(&mut self, time_ns: u64, cluster: u32, state: Option<u16>) {
        self.0.cluster_power(time_ns, cluster, state);
        self.1.cluster_power(time_ns, cluster, state);
    }

    fn frequency(&mut self, time_ns: u64, domain: u32, opp: u16) {
        self.0.frequency(time_ns, domain, opp);
        self.1.frequency(time_ns, domain, opp);
    }

    fn placement(&mut self, time_ns: u64, placement: &Placement) {
        self.0.placement(time_ns, placement);
        self.1.placement(time_ns, placement);
    }

    fn decided(&mut self, time_ns: u64, decided: &Decided) {
        self.0.decided(time_ns, decided);
        self.1.decided(time_ns, decided);
    }

    fn wakeup_case(&mut self, time_ns: u64, case: WakeupCase) {
        self.0.wakeup_case(time_ns, case);
        self.1.wakeup_case(time_ns, case);
    }

    fn wakeup(&mut self, time_ns: u64, task: u32, cpu: u32, due_ns: u64) {
        self.0.wakeup(time_ns, task, cpu, due_ns);
        self.1.wakeup(time_ns, task, cpu, due_ns);
    }

    fn kernel_work(&mut self, time_ns: u64, cpu: u32, work: KernelWork) {
        self.0.kernel_work(time_ns, cpu, work);
        self.1.kernel_work(time_ns, cpu, work);
    }

    fn timer_armed(&mut self, time_ns: u64, task: u32, cpu: u32, due_ns: u64) {
        self.0.timer_armed(time_ns, task, cpu, due_ns);
        self.1.timer_armed(time_ns, task, cpu, due_ns);
    }

    fn woken(&mut self, time_ns: u64, waking: &Waking) {
        self.0.woken(time_ns, waking);
        self.1.woken(time_ns, waking);
    }

    fn run_start(&mut self, time_ns: u64, cpu: u32, task: u32, wake_latency_ns: Option<u64>) {
        self.0.run_start(time_ns, cpu, task, wake_latency_ns);
        self.1.run_start(time_ns, cpu, task, wake_latency_ns);
    }

    fn run_stop(&mut self, time_ns: u64, cpu: u32, task: u32, ran_ns: u64, stop: Stop) {
        self.0.run_stop(time_ns, cpu, task, ran_ns, stop);
        self.1.run_stop(time_ns, cpu, task, ran_ns, stop);
    }

    fn migrate(
        &mut self,
        time_ns: u64,
        task: u32,
        from_cpu: u32,
        to_cpu: u32,
        cause: MigrateCause,
    ) {
        self.0.migrate(time_ns, task, from_cpu, to_cpu, cause);
        self.1.migrate(time_ns, task, from_cpu, to_cpu, cause);
    }

    fn timer_slack(&mut self, time_ns: u64, task: u32, slack_ns: i64) {
        self.0.timer_slack(time_ns, task, slack_ns);
        self.1.timer_slack(time_ns, task, slack_ns);
    }

    fn iteration(&mut self, time_ns: u64, task: u32, iteration: &Iteration) {
        self.0.iteration(time_ns, task, iteration);
        self.1.iteration(time_ns, task, iteration);
    }

    fn sample(&mut self, time_ns: u64, task: u32, series: u32, value_ns: u64) {
        self.0.sample(time_ns, task, series, value_ns);
        self.1.sample(time_ns, task, series, value_ns);
    }

    fn forked(&mut self, time_ns: u64, task: u32, script: u32) {
        self.0.forked(time_ns, task, script);
        self.1.forked(time_ns, task, script);
    }

    fn task_exit(&mut self, time_ns: u64, task: u32) {
        self.0.task_exit(time_ns, task);
        self.1.task_exit(time_ns, task);
    }

    fn priority(&mut self, time_ns: u64, task: u32, prio: i32) {
        self.0.priority(time_ns, task, prio);
        self.1.priority(time_ns, task, prio);
    }

    fn overutilized(&mut self, time_ns: u64, on: bool) {
        self.0.overutilized(time_ns, on);
        self.1.overutilized(time_ns, on);
    }

    fn thermal(&mut self, time_ns: u64, cluster: u32, millic: i32, steps: u32) {
        self.0.thermal(time_ns, cluster, millic, steps);
        self.1.thermal(time_ns, cluster, millic, steps);
    }

    fn hotplug(&mut self, time_ns: u64, cpu: u32, online: bool) {
        self.0.hotplug(time_ns, cpu, online);
        self.1.hotplug(time_ns, cpu, online);
    }

    fn wants_situation(&self) -> bool {
        self.0.wants_situation() || self.1.wants_situation()
    }

    fn situation(&mut self, time_ns: u64, situation: &Situation<'_>) {
        self.0.situation(time_ns, situation);
        self.1.situation(time_ns, situation);
    }

    fn next_state_ns(&self) -> Option<u64> {
        let times = [self.0.next_state_ns(), self.1.next_state_ns()];
        times.into_iter().flatten().min()
    }

    fn state(&mut self, state: &StateView<'_>) {
        if self.0.next_state_ns() == Some(state.time_ns) {
            self.0.state(state);
        }
        if self.1.next_state_ns() == Some(state.time_ns) {
            self.1.state(state);
        }
    }

    fn wants_sched_ext(&self) -> bool {
        self.0.wants_sched_ext() || self.1.wants_sched_ext()
    }

    fn sched_ext(&mut self, time_ns: u64, step: &SchedExtStep) {
        self.0.sched_ext(time_ns, step);
        self.1.sched_ext(time_ns, step);
    }

    fn is_done(&self) -> bool {
        self.0.is_done() || self.1.is_done()
    }

    fn finish(&mut self, time_ns: u64) {
        self.0.finish(time_ns);
        self.1.finish(time_ns);
    }
}
