// SPDX-License-Identifier: GPL-2.0-only
//! Random walks over the events of a machine: tasks come, run, sleep, move and go, CPUs idle and
//! tick, queues order, balancing pulls. A walk calls an entry point only where a home could.
//!
//! What must stay: a walk calls an entry point only where a home could (`before`, `task_for`); a
//! walk follows from its seed. `run` is called by main.rs; `choose`, `step` and `call` make one
//! step. `begin` makes the first state, `fresh_task` a task, `find` one in a condition. Page:
//! docs/internals/checks.md; docs/decisions/011. Free: how often each event is drawn.

use crate::builds::Builds;
use crate::machines::{Draw, Size, core};
use crate::ops::Op;
use crate::situations::{NOW, situation};
use crate::state::{GROUPS, State, TASKS};
use crate::tally::Calls;
use wakeplace_policy_sys::sys;

const STEPS: u64 = 1500;
const MOST_CPUS: usize = 24;
/// One walk in so many is on a machine of more than 64 CPUs.
const LARGE_EVERY: u64 = 16;
/// One walk in so many is with the live build, too, under a policy that it holds.
const LIVE_EVERY: u64 = 3;

pub(crate) struct Walk<'a> {
    pub(crate) builds: &'a mut Builds,
    pub(crate) draw: Draw,
    pub(crate) now_ns: u64,
    /// The attempt to balance under way asks for tasks.
    pub(crate) detach: bool,
}

/// Walks until every entry point was called `each` times. Returns the calls by `Op` number.
pub(crate) fn run(builds: &mut Builds, seed: u64, each: u64) -> Vec<Calls> {
    let mut count = vec![Calls::default(); Op::ALL.len()];
    let mut number = 0;
    while count.iter().any(|calls| calls.made.all < each) {
        let mut draw = Draw::new(seed, 1 << 40 | number);
        let size = if number.is_multiple_of(LARGE_EVERY) {
            Size::Large
        } else {
            Size::UpTo(MOST_CPUS)
        };
        let live = number.is_multiple_of(LIVE_EVERY);
        let machine = core(&mut draw, size, live);
        builds.install(&machine, live, &format!("seed {seed} walk {number}"));
        let mut walk = Walk {
            builds: &mut *builds,
            draw,
            now_ns: NOW,
            detach: false,
        };
        walk.begin();
        for _ in 0..STEPS {
            walk.step(&mut count);
        }
        builds.compare_all();
        number += 1;
        assert!(
            number < 1_000_000,
            "some entry point is never called: {count:?}"
        );
    }
    count
}

/// What leads to a state in which this may be called.
fn before(op: Op) -> Op {
    match op {
        Op::balance_offer | Op::balance_end => Op::balance_begin,
        Op::put_prev_task_fair | Op::task_tick_fair => Op::set_next_task_fair,
        Op::dequeue_task_fair | Op::set_next_task_fair => Op::enqueue_task_fair,
        _ => Op::dequeue_task_fair,
    }
}

impl Walk<'_> {
    pub(crate) fn state(&self) -> &State {
        self.builds.native()
    }

    pub(crate) fn cpus(&self) -> u32 {
        self.state().ctx.nr_cpus
    }

    fn step(&mut self, count: &mut [Calls]) {
        let mut op = self.choose(count);
        let mut ready = self.prepare(op);
        for _ in 0..2 {
            if !ready {
                op = before(op);
                ready = self.prepare(op);
            }
        }
        if ready {
            let answer = self.call(op);
            count[op as usize].count(self.builds, answer);
        }
    }

    /// Half of the walks begin on an idle machine, half in the middle of something; half with a
    /// control group that has used up its quota.
    fn begin(&mut self) {
        if self.draw.one_in(2) {
            let spent = sys::wp_live_group {
                known: 1,
                level: 1,
                shares: sys::WP_SCALE,
                period_ns: 100_000_000,
                quota_ns: 1_000_000,
                start_ns: self.now_ns,
                budget_ns: 0_u64.wrapping_sub(5_000_000),
                ..Default::default()
            };
            let returns = self.draw.range(0, 1);
            self.builds.all(|s| {
                s.groups.group[1] = spent;
                s.groups.limited = 1;
                s.groups.returns = returns;
            });
        }
        if self.draw.one_in(2) {
            let all: Vec<usize> = (0..self.cpus() as usize).collect();
            self.builds.renew(&all, |native| {
                situation(&mut self.draw, native, &all);
            });
        }
        for task in 0..TASKS as u32 {
            self.fresh_task(task);
            self.builds.all(|s| s.args.task = task);
            self.builds.run(Op::task_init);
        }
    }

    pub(crate) fn fresh_task(&mut self, task: u32) {
        let cpus = self.cpus();
        // One CPU in so many is allowed: all, some, hardly any.
        let share = u64::from(self.draw.pick(&[1, 1, 1, 3, cpus]));
        let (cpu, weight) = (
            self.draw.range(0, cpus - 1),
            self.draw.pick(&[3, 15, 335, 1024, 1024, 3121, 88_761]),
        );
        let mut fresh = sys::wp_task {
            id: task + 1,
            weight,
            cpu,
            idle_policy: u32::from(weight == sys::WP_WEIGHT_IDLE_POLICY),
            ..Default::default()
        };
        for c in 0..cpus {
            let on = c == cpu || self.draw.one_in(share);
            fresh.allowed[c as usize / 64] |= u64::from(on) << (c % 64);
        }
        let member = sys::wp_live_member {
            group: self.draw.range(0, GROUPS as u32 - 1),
            own_weight: fresh.weight,
            own_idle: fresh.idle_policy,
            ..Default::default()
        };
        self.builds.all(|s| {
            s.tasks[task as usize] = fresh;
            s.members[task as usize] = member;
        });
    }

    /// Of a few entry points the one that was called least so far.
    fn choose(&mut self, count: &[Calls]) -> Op {
        let all = Op::ALL;
        if self.detach && !self.draw.one_in(4) {
            return self
                .draw
                .pick(&[Op::balance_offer, Op::balance_offer, Op::balance_end]);
        }
        if self.draw.one_in(4) {
            let least = all.iter().min_by_key(|op| count[**op as usize].made.all);
            return *least.expect("there are entry points");
        }
        let some = [(); 3].map(|()| self.draw.pick(all));
        let least = some
            .into_iter()
            .min_by_key(|op| count[*op as usize].made.all);
        least.expect("three")
    }

    fn find(&mut self, wanted: impl Fn(&sys::wp_task, &sys::wp_ctx) -> bool) -> Option<u32> {
        let from = self.draw.index(TASKS);
        let state = self.state();
        (0..TASKS)
            .map(|i| (from + i) % TASKS)
            .find(|i| wanted(&state.tasks[*i], &state.ctx))
            .map(|i| i as u32)
    }

    /// The task that this event is about; `None`: no task is in that condition.
    pub(crate) fn task_for(&mut self, op: Op) -> Option<u32> {
        use Op as O;
        match op {
            O::task_new
            | O::task_dead_fair
            | O::enqueue_task_fair
            | O::migrate_queued
            | O::task_init => self.find(|t, _| t.on_rq == 0),
            O::migrate_task_rq_fair | O::migrate_pulled => {
                self.find(|t, _| t.on_rq == 0 && t.avg.last_update_ns != 0)
            }
            O::dequeue_task_fair => self.find(|t, _| t.on_rq != 0),
            O::set_next_task_fair => self.find(|t, ctx| {
                t.on_rq != 0 && t.running == 0 && ctx.cpus[t.cpu as usize].queue.curr_fair == 0
            }),
            O::put_prev_task_fair | O::task_tick_fair => self.find(|t, _| t.running != 0),
            O::balance_offer => {
                let source = self.state().balance.src_cpu;
                self.find(|t, _| t.on_rq != 0 && t.cpu == source)
                    .or_else(|| self.find(|_, _| true))
            }
            _ => self.find(|_, _| true),
        }
    }

    /// The call, and what its home would then write. Returns the answer.
    fn call(&mut self, op: Op) -> u64 {
        let answer = self.builds.run(op);
        let cpu = self.state().tasks[self.state().args.task as usize].cpu as usize;
        match op {
            Op::enqueue_task_fair => self.builds.all(|s| s.ctx.cpus[cpu].queue.nr_running += 1),
            Op::dequeue_task_fair => self.builds.all(|s| {
                let c = &mut s.ctx.cpus[cpu];
                c.queue.nr_running = c.queue.nr_running.saturating_sub(1);
            }),
            Op::enter_idle | Op::exit_idle => {
                let (cpu, now) = (self.state().args.cpu as usize, self.now_ns);
                self.builds
                    .all(|s| s.ctx.cpus[cpu].idle.idle_stamp_ns = now);
            }
            Op::balance_begin | Op::balance_end => {
                self.detach = answer == u64::from(sys::WP_BALANCE_DETACH);
            }
            _ => {}
        }
        answer
    }
}
