// SPDX-License-Identifier: GPL-2.0-only
//! Arguments of the next call in a walk: such as a home could pass in the state that is there.
//!
//! What must stay: arguments are such as a home could pass in that state, else a difference means
//! nothing. `prepare` is called by events.rs; the other functions make the arguments of one kind of
//! entry point. What differs shows in main.rs. `task_args`, `queue_walk`, `group_args`,
//! `machine_args`, `balance_args` with `attempt`, and `plain_args` with `pelt_step` are these
//! kinds; `span` draws a time. Page: docs/internals/checks.md; docs/decisions/011. Free: further
//! values at the edges of tests.

use crate::events::Walk;
use crate::machines::states;
use crate::ops::Op;
use crate::situations::{load, request, touch};
use crate::state::{Args, GROUPS, TASKS};
use wakeplace_policy_sys::sys;

impl Walk<'_> {
    fn span(&mut self) -> u64 {
        let spans = [0, 1, 999, 20_000, 400_000, 1_048_576, 4_000_000, 90_000_000];
        self.draw.pick(&spans)
    }

    /// Sets the arguments in all builds. False: no home would call this now.
    pub(crate) fn prepare(&mut self, op: Op) -> bool {
        let step = self.span();
        self.now_ns += self.draw.next() % (step + 1);
        let Some(task) = self.task_for(op) else {
            return false;
        };
        let cpus = self.cpus();
        let mut args = Args {
            now_ns: self.now_ns,
            x: self.span(),
            y: 0,
            task,
            waker: (task + 1) % TASKS as u32,
            cpu: self.draw.range(0, cpus - 1),
            cpu2: self.draw.range(0, cpus - 1),
            level: 0,
            a: self.draw.range(0, 1),
            b: self.draw.range(0, 1024),
            pad: 0,
        };
        let levels = self.state().ctx.cpus[args.cpu as usize].topo.nr_levels;
        args.level = self.draw.range(0, levels.saturating_sub(1));
        let ready = self.task_args(op, &mut args)
            && self.machine_args(op, &mut args)
            && self.balance_args(op, &mut args, levels)
            && self.group_args(op, &mut args)
            && self.plain_args(op, &mut args);
        self.builds.all(|s| s.args = args);
        ready
    }

    fn task_args(&mut self, op: Op, args: &mut Args) -> bool {
        let task = self.state().tasks[args.task as usize];
        match op {
            Op::task_init => self.fresh_task(args.task),
            Op::reweight_task => args.a = self.draw.pick(&[3, 15, 1024, 3121, 88_761]),
            Op::task_set_uclamp => {
                args.a = self.draw.range(0, 1024);
                args.b = self.draw.range(args.a, 1024);
            }
            Op::enqueue_task_fair => {
                args.a = self.draw.pick(&[0, sys::WP_Q_WAKEUP, sys::WP_Q_NEW]);
                if task.avg.last_update_ns != 0 {
                    args.cpu = task.cpu;
                }
            }
            Op::dequeue_task_fair => args.a = self.draw.pick(&[0, sys::WP_Q_SLEEP]),
            Op::select_task_rq_fair | Op::select_task_rq_exec => {
                let mut ask = request(&mut self.draw, self.builds.native());
                if op == Op::select_task_rq_exec {
                    ask.kind = sys::WP_PLACE_EXEC;
                }
                ask.now_ns = self.now_ns;
                if ask.waker_idle != 0 {
                    args.waker = TASKS as u32;
                }
                self.builds.all(|s| s.request = ask);
            }
            Op::live_queue_expired => args.a = self.draw.range(0, 3),
            Op::live_queue_leave | Op::yield_task => args.a = self.draw.range(0, 1),
            Op::pick_begin | Op::pick_offer | Op::pick_end => self.queue_walk(args),
            Op::preempt_begin | Op::preempt_offer | Op::preempt_end => self.queue_walk(args),
            Op::idle_turn_offer | Op::idle_turn_end => {
                let (now_ns, busy) = (args.now_ns, self.draw.next() & 3);
                self.builds
                    .all(|s| s.turn = sys::wp_idle_turn { now_ns, busy });
            }
            Op::live_queue_before => args.b = self.draw.range(0, TASKS as u32 - 1),
            _ => {}
        }
        true
    }

    /// A look at the queue of a CPU, somewhere on its way.
    fn queue_walk(&mut self, args: &mut Args) {
        let other = self.draw.index(TASKS);
        let walk = sys::wp_queue_walk {
            now_ns: args.now_ns,
            cpu: args.cpu,
            runs: self.draw.range(0, 1),
            deadline_ns: self.state().tasks[other].deadline_ns,
            looks: self.draw.pick(&[0, 1, sys::WP_LIVE_QUEUE_LOOKS]),
            state: self.draw.range(0, sys::WP_WALK_AGAIN),
        };
        args.a = self.draw.range(0, 2);
        self.builds.all(|s| s.walk = walk);
    }

    /// Few groups, so that calls meet.
    fn group_args(&mut self, op: Op, args: &mut Args) -> bool {
        match op {
            Op::live_parked_ns | Op::live_overdue => {
                args.x = self
                    .draw
                    .pick(&[0, 4_000_000, 9_990_000_000, 10_000_000_000]);
                let parked: u64 = self.draw.pick(&[0, 19_000_000, 20_000_000]);
                args.y = parked.min(args.x);
            }
            Op::live_member_ran => args.x = self.draw.pick(&[1000, 3_000_000, 5_000_000]),
            _ => {}
        }
        if !op.name().starts_with("live_group_") {
            return true;
        }
        args.a = self.draw.range(0, GROUPS as u32 - 1);
        match op {
            Op::live_group_charge => args.x = self.draw.pick(&[1000, 4_000_000, 90_000_000_000]),
            Op::live_group_set_weight => args.b = self.draw.pick(&[1, 50, 100, 100, 10_000]),
            Op::live_group_set_quota => {
                args.b = self.draw.pick(&[1, 100_000, 1_000_000]);
                args.x = self.draw.pick(&[1000, 1000, 20_000, u64::MAX]);
                args.y = self.draw.pick(&[0, 0, 30_000]);
            }
            _ => {}
        }
        true
    }

    fn machine_args(&mut self, op: Op, args: &mut Args) -> bool {
        let ctx = &self.builds.native().ctx;
        match op {
            Op::rate_limit_us | Op::topology_set_freq_scale | Op::freq_applied => {
                args.a = self.draw.range(0, ctx.nr_freq_doms - 1);
                let opps = ctx.freq_doms[args.a as usize].nr_opps;
                args.b = self.draw.range(0, opps - 1);
            }
            Op::em_update_performance_limits | Op::em_dev_update_perf_domain
                if ctx.nr_perf_doms == 0 =>
            {
                return false;
            }
            Op::em_update_performance_limits => {
                args.a = self.draw.range(0, ctx.nr_perf_doms - 1);
                let domain = &ctx.perf_doms[args.a as usize];
                let table = &domain.table[domain.live as usize];
                let khz = |at: usize| u64::from(table.state[at].khz);
                args.x = khz(self.draw.index(table.nr_states as usize));
                args.y = khz(self.draw.index(table.nr_states as usize));
            }
            Op::em_dev_update_perf_domain => {
                args.a = self.draw.range(0, ctx.nr_perf_doms - 1);
                let list = states(&mut self.draw);
                let artificial = u32::from(self.draw.one_in(4));
                self.builds.all(|s| {
                    s.ctx.em_scratch.nr_states = list.len() as u32;
                    s.ctx.em_scratch.artificial = artificial;
                    for (slot, (khz, uw)) in s.ctx.em_scratch.state.iter_mut().zip(&list) {
                        (slot.khz, slot.power_uw, slot.cost) = (*khz, *uw, *uw);
                    }
                });
            }
            _ => {}
        }
        true
    }

    fn balance_args(&mut self, op: Op, args: &mut Args, levels: u32) -> bool {
        match op {
            Op::update_idle_cpu_scan
            | Op::balance_due
            | Op::active_balance_end
            | Op::newidle_level
            | Op::newidle_done
                if levels == 0 =>
            {
                return false;
            }
            Op::balance_begin if levels == 0 => return false,
            Op::balance_offer | Op::balance_end if !self.detach => return false,
            Op::balance_due | Op::balance_pass_end => args.a = self.draw.range(0, 1),
            Op::balance_begin => self.attempt(args),
            Op::nohz_next if args.a == 0 => args.cpu = sys::WP_NONE,
            _ => {}
        }
        true
    }

    /// An attempt to balance, half of them by a CPU without work among others with some.
    fn attempt(&mut self, args: &Args) {
        let mut idle = self.draw.range(0, 2);
        let random = self.draw.next() as u32;
        if self.draw.one_in(2) {
            idle = self.draw.pick(&[idle, sys::WP_CPU_NEWLY_IDLE]);
            let (this, now_ns, cpus) = (args.cpu as usize, self.now_ns, self.cpus());
            let mut touched = touch(&mut self.draw, cpus);
            touched.retain(|cpu| *cpu != this);
            touched.push(this);
            self.builds.renew(&touched, |native| {
                load(&mut self.draw, native, &touched, now_ns);
                let this = &mut native.ctx.cpus[this];
                (
                    this.queue.nr_running,
                    this.queue.nr_fair,
                    this.queue.pending,
                ) = (0, 0, 0);
            });
        }
        self.builds.all(|s| {
            s.balance.now_ns = args.now_ns;
            s.balance.this_cpu = args.cpu;
            s.balance.level = args.level;
            s.balance.idle = idle;
            s.balance.random = random;
        });
    }

    /// Arguments of the arithmetic that needs no machine.
    fn plain_args(&mut self, op: Op, args: &mut Args) -> bool {
        match op {
            Op::decayed_util => {
                args.a = self.draw.range(0, 1024);
                args.x = args.now_ns - self.span().min(args.now_ns);
            }
            Op::map_util_freq => {
                args.a = self.draw.range(0, 1024);
                args.b = self.draw.range(100_000, 4_000_000);
                args.cpu2 = self.draw.range(0, 1024);
            }
            Op::util_fits_cpu => {
                args.a = self.draw.range(0, 1024);
                args.cpu2 = self.draw.range(0, 1024);
            }
            Op::decay_load => {
                args.x = self.draw.next() >> self.draw.range(0, 63);
                args.y = u64::from(self.draw.range(0, 2100));
            }
            Op::accumulate_pelt_segments => {
                args.a = self.draw.range(1, 4096);
                args.cpu2 = self.draw.range(0, 1023);
            }
            Op::update_load_sum | Op::avg_step => self.pelt_step(),
            Op::util_est_next => {
                args.a = self.draw.range(0, 3);
                args.cpu = self.draw.range(0, 1024);
                args.cpu2 = self.draw.range(0, 2048);
                args.level = self.draw.range(1, 1024);
            }
            Op::get_update_sysctl_factor => {
                args.a = self.draw.range(0, 3);
                args.b = self.draw.range(0, 12);
            }
            Op::time_bucket => args.x = self.draw.next() >> self.draw.range(0, 63),
            Op::nice_weight | Op::nice_inv_weight => {
                args.a = (self.draw.range(0, 50).cast_signed() - 25).cast_unsigned();
            }
            _ => {}
        }
        true
    }

    fn pelt_step(&mut self) {
        let step = sys::wp_pelt_step {
            now_ns: self.now_ns,
            load: self.draw.range(0, 1),
            runnable: self.draw.range(0, 3),
            running: self.draw.range(0, 1),
            weight: self.draw.pick(&[1, 15, 1024, 88_761]),
            scale_cpu: self.draw.range(1, 1024),
            scale_freq: self.draw.range(1, 1024),
            runnable_is_load: self.draw.range(0, 1),
            half_life: 0,
        };
        self.builds.all(|s| s.step = step);
    }
}
