// SPDX-License-Identifier: GPL-2.0-only
//! Random walks over the events of a machine: tasks come, run, sleep, move and go, CPUs idle and
//! tick, queues order, balancing pulls. A walk calls an entry point only where a home could.

use crate::kernel::{Pair, install};
use crate::machines::{Draw, core, states};
use crate::ops::Op;
use crate::situations::{NOW, load, request, situation};
use crate::state::{Args, State, TASKS};
use wakeplace_policy_sys::sys;

const STEPS: u64 = 600;
const MOST_CPUS: usize = 24;

struct Walk<'a> {
    pair: &'a mut Pair,
    draw: Draw,
    now_ns: u64,
    /// The attempt to balance under way asks for tasks.
    detach: bool,
}

/// How often an entry point was called, and answered with something else than 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) made: u64,
    pub(crate) answered: u64,
}

/// Walks until every entry point was called `each` times. Returns the calls by `Op` number.
pub(crate) fn run(pair: &mut Pair, seed: u64, each: u64) -> Vec<Calls> {
    let mut count = vec![Calls::default(); Op::ALL.len()];
    let mut number = 0;
    while count.iter().any(|calls| calls.made < each) {
        let mut draw = Draw::new(seed, 1 << 40 | number);
        let (core, words) = core(&mut draw, MOST_CPUS);
        install(pair, core.state());
        pair.place = format!("seed {seed} walk {number}\n{words}");
        let mut walk = Walk {
            pair: &mut *pair,
            draw,
            now_ns: NOW,
            detach: false,
        };
        walk.begin();
        for _ in 0..STEPS {
            let mut op = walk.choose(&count);
            let mut ready = walk.prepare(op);
            if !ready {
                op = before(op);
                ready = walk.prepare(op);
            }
            if ready {
                let calls = &mut count[op as usize];
                calls.made += 1;
                calls.answered += u64::from(walk.call(op) != 0);
            }
        }
        pair.compare_all();
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
        Op::put_current | Op::tick => Op::set_current,
        Op::dequeue | Op::set_current => Op::enqueue,
        _ => Op::dequeue,
    }
}

impl Walk<'_> {
    fn state(&self) -> &State {
        self.pair.native()
    }

    fn cpus(&self) -> u32 {
        self.state().ctx.nr_cpus
    }

    /// Half of the walks begin on an idle machine, half in the middle of something.
    fn begin(&mut self) {
        if self.draw.one_in(2) {
            for _ in 0..4 {
                situation(&mut self.draw, self.pair.native_mut());
            }
            self.pair.publish_situation();
        }
        for task in 0..TASKS as u32 {
            self.fresh_task(task);
            self.pair.both(|s| s.args.task = task);
            self.pair.run(Op::task_init);
        }
    }

    fn fresh_task(&mut self, task: u32) {
        let cpus = self.cpus();
        let few = self.draw.one_in(4);
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
            let on = c == cpu || !few || self.draw.one_in(3);
            fresh.allowed[c as usize / 64] |= u64::from(on) << (c % 64);
        }
        self.pair.both(|s| s.tasks[task as usize] = fresh);
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
            let least = all.iter().min_by_key(|op| count[**op as usize].made);
            return *least.expect("there are entry points");
        }
        let some = [(); 3].map(|()| self.draw.pick(all));
        let least = some.into_iter().min_by_key(|op| count[*op as usize].made);
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
    fn task_for(&mut self, op: Op) -> Option<u32> {
        use Op as O;
        match op {
            O::task_new | O::task_exit | O::enqueue | O::migrate_queued | O::task_init => {
                self.find(|t, _| t.on_rq == 0)
            }
            O::migrate_sleeping | O::migrate_pulled => {
                self.find(|t, _| t.on_rq == 0 && t.avg.last_update_ns != 0)
            }
            O::dequeue => self.find(|t, _| t.on_rq != 0),
            O::set_current => self.find(|t, ctx| {
                t.on_rq != 0 && t.running == 0 && ctx.cpus[t.cpu as usize].curr_fair == 0
            }),
            O::put_current | O::tick => self.find(|t, _| t.running != 0),
            O::balance_offer => {
                let source = self.state().balance.src_cpu;
                self.find(|t, _| t.on_rq != 0 && t.cpu == source)
                    .or_else(|| self.find(|_, _| true))
            }
            _ => self.find(|_, _| true),
        }
    }

    fn span(&mut self) -> u64 {
        let spans = [0, 1, 999, 20_000, 400_000, 1_048_576, 4_000_000, 90_000_000];
        self.draw.pick(&spans)
    }

    /// Sets the arguments on both sides. False: no home would call this now.
    fn prepare(&mut self, op: Op) -> bool {
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
        let levels = self.state().ctx.cpus[args.cpu as usize].nr_levels;
        args.level = self.draw.range(0, levels.saturating_sub(1));
        let ready = self.task_args(op, &mut args)
            && self.machine_args(op, &mut args)
            && self.balance_args(op, &mut args, levels)
            && self.plain_args(op, &mut args);
        self.pair.both(|s| s.args = args);
        ready
    }

    fn task_args(&mut self, op: Op, args: &mut Args) -> bool {
        let task = self.state().tasks[args.task as usize];
        match op {
            Op::task_init => self.fresh_task(args.task),
            Op::task_set_weight => args.a = self.draw.pick(&[3, 15, 1024, 3121, 88_761]),
            Op::task_set_uclamp => {
                args.a = self.draw.range(0, 1024);
                args.b = self.draw.range(args.a, 1024);
            }
            Op::enqueue => {
                args.a = self.draw.pick(&[0, sys::WP_Q_WAKEUP, sys::WP_Q_NEW]);
                if task.avg.last_update_ns != 0 {
                    args.cpu = task.cpu;
                }
            }
            Op::dequeue => args.a = self.draw.pick(&[0, sys::WP_Q_SLEEP]),
            Op::select_cpu => {
                let mut ask = request(&mut self.draw, self.pair.native());
                ask.now_ns = self.now_ns;
                if ask.waker_idle != 0 {
                    args.waker = TASKS as u32;
                }
                self.pair.both(|s| s.request = ask);
            }
            Op::vq_expired => args.a = self.draw.range(0, 3),
            Op::vq_yields => {
                let now = self.state().ctx.cpus[args.cpu as usize].vtime_now_ns;
                args.x = now.wrapping_add(args.x).wrapping_sub(self.span());
            }
            _ => {}
        }
        true
    }

    fn machine_args(&mut self, op: Op, args: &mut Args) -> bool {
        let ctx = &self.pair.native().ctx;
        match op {
            Op::rate_limit_us | Op::freq_applied => {
                args.a = self.draw.range(0, ctx.nr_freq_doms - 1);
                let opps = ctx.freq_doms[args.a as usize].nr_opps;
                args.b = self.draw.range(0, opps - 1);
            }
            Op::em_limit | Op::em_update if ctx.nr_perf_doms == 0 => return false,
            Op::em_limit => {
                args.a = self.draw.range(0, ctx.nr_perf_doms - 1);
                let domain = &ctx.perf_doms[args.a as usize];
                let table = &domain.table[domain.live as usize];
                let khz = |at: usize| u64::from(table.state[at].khz);
                args.x = khz(self.draw.index(table.nr_states as usize));
                args.y = khz(self.draw.index(table.nr_states as usize));
            }
            Op::em_update => {
                args.a = self.draw.range(0, ctx.nr_perf_doms - 1);
                let list = states(&mut self.draw);
                self.pair.both(|s| {
                    s.ctx.em_scratch.nr_states = list.len() as u32;
                    for (slot, (khz, uw)) in s.ctx.em_scratch.state.iter_mut().zip(&list) {
                        (slot.khz, slot.power_uw) = (*khz, *uw);
                    }
                });
            }
            _ => {}
        }
        true
    }

    fn balance_args(&mut self, op: Op, args: &mut Args, levels: u32) -> bool {
        match op {
            Op::sis_update
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
            idle = self.draw.pick(&[idle, sys::WP_NEWLY_IDLE]);
            let native = self.pair.native_mut();
            load(&mut self.draw, native, self.now_ns);
            let this = &mut native.ctx.cpus[args.cpu as usize];
            (this.nr_running, this.nr_fair, this.pending) = (0, 0, 0);
            self.pair.publish_situation();
        }
        self.pair.both(|s| {
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
            Op::pelt_segments => {
                args.a = self.draw.range(1, 4096);
                args.cpu2 = self.draw.range(0, 1023);
            }
            Op::avg_update => self.pelt_step(),
            Op::util_est_next => {
                args.a = self.draw.range(0, 3);
                args.cpu = self.draw.range(0, 1024);
                args.cpu2 = self.draw.range(0, 2048);
                args.level = self.draw.range(1, 1024);
            }
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
        };
        self.pair.both(|s| s.step = step);
    }

    /// The call, and what its home would then write. Returns the answer.
    fn call(&mut self, op: Op) -> u64 {
        let answer = self.pair.run(op);
        let cpu = self.state().tasks[self.state().args.task as usize].cpu as usize;
        match op {
            Op::enqueue => self.pair.both(|s| s.ctx.cpus[cpu].nr_running += 1),
            Op::dequeue => self.pair.both(|s| {
                let c = &mut s.ctx.cpus[cpu];
                c.nr_running = c.nr_running.saturating_sub(1);
            }),
            Op::enter_idle | Op::exit_idle => {
                let (cpu, now) = (self.state().args.cpu as usize, self.now_ns);
                self.pair.both(|s| s.ctx.cpus[cpu].idle_stamp_ns = now);
            }
            Op::balance_begin | Op::balance_end => {
                self.detach = answer == u64::from(sys::WP_BALANCE_DETACH);
            }
            _ => {}
        }
        answer
    }
}
