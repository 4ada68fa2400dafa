//! CPUs that leave and come back, and the state that a run begins with
//! (docs/rules/hotplug.md#hotplug).
//!
//! What must stay: signals and clocks of CPUs that stay online go on; only topology is built anew.
//! Free: the order within a rebuild, as long as signals stay.
//!
//! Tests by part: `domains_are_of_the_cpus_that_are_there` (`hotplug`, `leave_out_offline`),
//! `clocks_follow_who_is_there` (`keep_speed`, `keep_limit`, `follow_clock`),
//! `signals_stay_and_lessons_go`, `a_task_stays_in_its_node_if_it_can` (`fallback_cpu`); `settle`
//! is called before the questions of many tests.
//!
//! Callers: the engine as CPUs leave and come back; `settle` as a run begins.
//!
//! Tests: crates/policy-sys/tests/all/hotplug.rs

use crate::core::Core;
use crate::machine::{MachineError, MachineFacts};
use crate::sys;
use crate::task::Task;

impl Core {
    /// The machine has been up and idle for long: what balancing leaves for idle searches says so.
    pub fn settle(&mut self) {
        // SAFETY: the context is live and exclusive.
        unsafe { sys::wp_settled(self.state_mut()) };
    }

    /// CPUs came or went: `facts` is the machine with who is online now. Domains, what is active
    /// and what clocks are shared are found anew; signals, frequencies and queues stay, what was
    /// learnt of the old domains goes.
    ///
    /// # Errors
    /// As `Core::new`; nothing has changed then.
    ///
    /// # Panics
    /// If the facts are of another machine.
    pub fn hotplug(&mut self, facts: &MachineFacts, now_ns: u64) -> Result<(), MachineError> {
        let fresh = Self::new(facts, &self.state().params)?;
        let old = self.state();
        assert_eq!(
            old.nr_cpus,
            fresh.state().nr_cpus,
            "CPUs come and go, but their number is the machine's"
        );
        let clocks: Vec<_> = old.freq_doms[..old.nr_freq_doms as usize].to_vec();
        let power = fresh.state().cpus.iter().map(|cpu| cpu.load.power_orig);
        let power: Vec<_> = power.collect();
        fresh.copy_topology(self.state_mut());
        let ctx = self.state_mut();
        let online = facts.online.iter().chain(std::iter::repeat(&true));
        let cpus = &mut ctx.cpus[..ctx.nr_cpus as usize];
        for ((cpu, online), power) in cpus.iter_mut().zip(online).zip(power) {
            cpu.queue.online = u32::from(*online);
            if cpu.load.power_orig != power {
                cpu.load.power_orig = power; // a thread of its core came or went
                cpu.load.capacity = power;
            }
        }
        for (domain, old) in clocks.iter().enumerate() {
            leave_out_offline(ctx, domain);
            keep_speed(&mut ctx.freq_doms[domain], old);
            follow_clock(ctx, domain);
            keep_limit(ctx, domain, now_ns);
        }
        // SAFETY: the context is live and exclusive.
        unsafe { sys::wp_domains_rebuilt(ctx, now_ns) };
        Ok(())
    }

    /// Gives the CPU where a task goes that cannot be on `cpu` since that is not online; `None`: no
    /// CPU that it may use is.
    #[must_use]
    pub fn fallback_cpu(&self, task: &Task, cpu: u32) -> Option<u32> {
        // SAFETY: reads both only; the core masks every index.
        let found = unsafe { sys::wp_select_fallback_rq(self.state(), &raw const task.0, cpu) };
        Some(found).filter(|cpu| *cpu != sys::WP_NONE)
    }
}

/// The CPUs that are not online do not take part in what their clock is asked for.
fn leave_out_offline(ctx: &mut sys::wp_ctx, domain: usize) {
    let clock = &mut ctx.freq_doms[domain];
    let first = clock.first_cpu as usize;
    let list = &mut ctx.list[first..first + clock.nr_cpus as usize];
    let mut online = 0;
    for at in 0..list.len() {
        if ctx.cpus[usize::from(list[at])].queue.online != 0 {
            list.swap(online, at);
            online += 1;
        }
    }
    clock.nr_cpus = online as u32;
}

/// A clock runs on as it did. If its CPUs changed, its governor starts anew: the next request waits
/// for no earlier one.
fn keep_speed(clock: &mut sys::wp_freq_dom, old: &sys::wp_freq_dom) {
    let (first_cpu, nr_cpus) = (clock.first_cpu, clock.nr_cpus);
    *clock = sys::wp_freq_dom {
        first_cpu,
        nr_cpus,
        ..*old
    };
    if nr_cpus != old.nr_cpus {
        clock.last_update_ns = 0;
        clock.updated_once = 0;
        clock.last_raw_khz = 0;
        clock.saved_idle_calls = 0;
        clock.sample_multiple = 0;
    }
}

/// What a limit of the clock takes away is missing from those CPUs that are there now.
fn keep_limit(ctx: &mut sys::wp_ctx, domain: usize, now_ns: u64) {
    let clock = ctx.freq_doms[domain];
    let first = clock.first_cpu as usize;
    let cpus = &ctx.list[first..first + clock.nr_cpus as usize];
    let pressed = (cpus.iter()).any(|cpu| ctx.cpus[usize::from(*cpu)].load.pressure != 0);
    if !cpus.is_empty() && (pressed || clock.cut_opps != 0) {
        let most = clock.nr_opps - 1 - clock.cut_opps;
        // SAFETY: the context is live and exclusive. No new request comes of it: the clock is
        // within this limit already.
        unsafe { sys::wp_freq_limit(ctx, domain as u32, most, now_ns) };
    }
}

/// A CPU that comes back finds its clock at another speed than when it left.
fn follow_clock(ctx: &mut sys::wp_ctx, domain: usize) {
    let clock = ctx.freq_doms[domain];
    let Some(top) = clock.nr_opps.checked_sub(1) else {
        return;
    };
    let khz = |opp: u32| u64::from(ctx.opp_khz[(clock.first_opp + opp) as usize]);
    let scale = khz(clock.cur_opp) * u64::from(sys::WP_SCALE) / khz(top);
    let first = clock.first_cpu as usize;
    for cpu in &ctx.list[first..first + clock.nr_cpus as usize] {
        ctx.cpus[usize::from(*cpu)].load.freq_scale = scale as u32;
    }
}
