// SPDX-License-Identifier: GPL-2.0-only
//! Random situations on a machine: what a decision reads, with values near the edges of its tests.
//!
//! What must stay: values lie at the edges of the rules' tests on purpose; a situation follows from
//! the seed. `situation` is called by main.rs and events.rs; the other functions make one part of
//! it each. `util`, `avg`, `queue`, `pressure`, `hints` and `cpu` fill CPUs; `task`, `mask`,
//! `duration` and `asleep` tasks; `request`, `queues`, `touch` and `load` the rest. Page:
//! docs/internals/checks.md; docs/decisions/011. Free: further values at the edges of tests.

use crate::machines::Draw;
use crate::state::{State, TASKS};
use wakeplace_policy_sys::sys;

/// All signals are about of now, ns.
pub(crate) const NOW: u64 = 50_000_000_000;

/// A utilisation up to `full`, often at the edges: nothing, 80 %, all.
fn util(draw: &mut Draw, full: u32) -> u32 {
    match draw.range(0, 7) {
        0 => 0,
        1 => full * 4 / 5,
        2 => (full * 4 / 5).saturating_sub(1),
        3 => full,
        4 => draw.range(0, 1024),
        _ => draw.range(0, full),
    }
}

fn avg(draw: &mut Draw, util: u32, weight: u32) -> sys::wp_sched_avg {
    let contrib = draw.range(0, 1023);
    let div = u64::from(46_718 + contrib);
    let load = draw.range(0, weight);
    let runnable = if draw.one_in(2) {
        util
    } else {
        draw.range(0, 2048)
    };
    sys::wp_sched_avg {
        last_update_ns: NOW - u64::from(draw.range(0, 3_000_000)),
        load_sum: u64::from(load) * div,
        runnable_sum: u64::from(runnable) * div,
        util_sum: u64::from(util) * div,
        load_avg: load,
        runnable_avg: runnable,
        util_avg: util,
        period_contrib: contrib,
    }
}

/// How full the machine is in one situation.
struct Mood {
    /// One CPU in this many is idle; 0: none.
    idle: u64,
    /// Utilisations are divided by this.
    ease: u32,
    /// Wishes for performance, pressure and other classes are about.
    odd: bool,
}

fn queue(draw: &mut Draw, mood: &Mood, c: &mut sys::wp_cpu) {
    let idle = mood.idle != 0 && draw.one_in(mood.idle);
    c.queue.nr_running = if idle {
        0
    } else {
        draw.pick(&[1, 1, 1, 2, 3, 5])
    };
    c.queue.nr_fair = if idle {
        0
    } else {
        draw.range(0, c.queue.nr_running)
    };
    c.queue.curr_idle = u32::from(idle || draw.one_in(16));
    c.queue.curr_fair = u32::from(c.queue.nr_fair > 0 && c.queue.curr_idle == 0);
    c.queue.pending = u32::from(draw.one_in(16));
    c.queue.nr_idle_policy = match draw.range(0, 15) {
        0 => c.queue.nr_running,
        1 => draw.range(0, c.queue.nr_running),
        _ => 0,
    };
    c.load.load_weight = c.queue.nr_fair * 1024;
    c.queue.misfit_task_load = if draw.one_in(8) {
        draw.range(1, 2048)
    } else {
        0
    };
    c.idle.idle_exit_latency_us = draw.pick(&[sys::WP_NONE, 1, 10, 10, 100, 2000]);
    c.idle.idle_stamp_ns = NOW - draw.pick(&[0, 1, 1000, 1000, 5_000_000]);
}

fn pressure(draw: &mut Draw, mood: &Mood, c: &mut sys::wp_cpu) {
    let full = c.load.capacity_orig;
    (
        c.load.rt_util,
        c.load.dl_util,
        c.load.irq_util,
        c.load.pressure,
        c.queue.rt_runnable,
    ) = (0, 0, 0, 0, 0);
    c.load.capacity = full;
    if !mood.odd {
        return;
    }
    if draw.one_in(3) {
        c.load.capacity = draw.range(1, full);
    }
    if draw.one_in(4) {
        c.load.rt_util = draw.range(0, full / 2);
        c.load.dl_util = draw.range(0, full / 2);
        c.load.irq_util = util(draw, full);
        c.queue.rt_runnable = u32::from(draw.one_in(4));
    }
    if draw.one_in(4) {
        c.load.pressure = draw.pick(&[full, full / 2, full / 5]);
    }
}

fn hints(draw: &mut Draw, mood: &Mood, c: &mut sys::wp_cpu) {
    c.load.uclamp = [sys::wp_uclamp_rq::default(); 2];
    c.load.uclamp_last_cut = 0;
    c.load.uclamp_hinted = 0;
    c.load.uclamp_tasks = 0;
    if !mood.odd {
        return;
    }
    c.load.uclamp_hinted = draw.range(0, 2);
    c.load.uclamp_tasks = c.load.uclamp_hinted + draw.range(0, 2);
    for u in &mut c.load.uclamp {
        for bucket in 0..5 {
            if draw.one_in(6) {
                u.tasks[bucket] = draw.range(1, 3);
                u.highest[bucket] = draw.range(0, 1024);
            }
        }
    }
    if draw.one_in(4) {
        c.load.uclamp_last_cut = draw.range(0, 1024);
    }
}

fn cpu(draw: &mut Draw, mood: &Mood, c: &mut sys::wp_cpu, cpus: u32) {
    queue(draw, mood, c);
    pressure(draw, mood, c);
    hints(draw, mood, c);
    let busy = util(draw, c.load.capacity_orig) / mood.ease;
    let weight = draw.pick(&[15, 1024, 1024, 3072]);
    c.load.avg = avg(draw, busy, weight);
    c.load.util_est = if draw.one_in(2) {
        util(draw, c.load.capacity_orig) / mood.ease
    } else {
        0
    };
    c.load.clock_ns = NOW - u64::from(draw.range(0, 2_000_000));
    c.load.clock_task_ns = c.load.clock_ns;
    c.load.clock_pelt_ns = c.load.clock_ns;
    c.idle.has_idle_cores = u32::from(draw.one_in(2));
    c.idle.nr_idle_scan = draw.pick(&[0, 1, 2, cpus / 2, cpus, cpus]);
    c.idle.avg_idle_ns = draw.pick(&[0, 500, 20_000, 1_000_000]);
    let level = draw.index(c.balance.lb.len());
    c.balance.lb[level].avg_scan_cost_ns = u64::from(draw.range(0, 5000));
    c.idle.idle_waker.wakee_flips = draw.range(0, 40);
    c.idle.idle_waker.recent_used_cpu = draw.range(0, cpus - 1);
    c.queue.curr_id = draw.pick(&[0, 2, 2, 3]);
    c.queue.curr_dur_ns = duration(draw);
    c.queue.curr_sleeps = draw.range(0, 3);
    c.queue.curr_exec_ns = duration(draw) * u64::from(draw.range(0, 4));
    c.queue.curr_exec_start_ns = c.load.clock_task_ns - u64::from(draw.range(0, 300_000));
    let any = draw.range(1, 1024);
    c.load.freq_scale = draw.pick(&[1024, 204, 409, 614, 615, any]);
}

/// How long a task runs at a time, often about where short ends, ns.
fn duration(draw: &mut Draw) -> u64 {
    let any = u64::from(draw.range(1, 4_000_000));
    let edges = [
        93_750, 187_500, 350_000, 375_000, 500_000, 750_000, 3_000_000,
    ];
    let edge = draw.pick(&edges) - u64::from(draw.range(0, 1));
    draw.pick(&[0, 200, 5_000, 5_000, 5_000, edge, any])
}

fn mask(draw: &mut Draw, cpus: u32, keep: &[u32]) -> [u64; 16] {
    let mut mask = [0u64; 16];
    let mut allow = |c: u32| mask[c as usize / 64] |= 1 << (c % 64);
    match draw.range(0, 5) {
        0 => (0..draw.range(1, 3)).for_each(|_| allow(draw.range(0, cpus - 1))),
        1 => (0..cpus).filter(|_| !draw.one_in(3)).for_each(&mut allow),
        2 => keep.iter().copied().for_each(&mut allow),
        _ => (0..cpus).for_each(&mut allow),
    }
    mask
}

fn allowed(mask: &[u64], cpu: u32) -> bool {
    mask[cpu as usize / 64] >> (cpu % 64) & 1 != 0
}

/// A task last on `prev`; often it may use few CPUs.
fn task(draw: &mut Draw, mood: &Mood, state: &State, id: u32, prev: u32) -> sys::wp_task {
    let cpus = state.ctx.nr_cpus;
    let full = state.ctx.cpus[prev as usize].load.capacity_orig;
    let weight = draw.pick(&[15, 335, 1024, 1024, 88_761]);
    let busy = match draw.range(0, 5) {
        0 => 0,
        1 => util(draw, 1024),
        _ => util(draw, full) / mood.ease,
    };
    let other = draw.range(0, cpus - 1);
    let mut t = sys::wp_task {
        id,
        weight,
        cpu: if draw.one_in(16) { other } else { prev },
        avg: avg(draw, busy, weight),
        allowed: mask(draw, cpus, &[prev, other]),
        uclamp_max: 1024,
        ..Default::default()
    };
    let est = if draw.one_in(2) {
        busy
    } else {
        util(draw, full) / mood.ease
    };
    t.util_est = est | draw.pick(&[0, sys::WP_UTIL_EST_UNCHANGED]);
    t.util_est_ewma = if draw.one_in(2) {
        est
    } else {
        util(draw, full) / mood.ease
    };
    if busy == 0 && draw.one_in(2) {
        (t.util_est, t.util_est_ewma) = (0, 0);
    }
    if mood.odd && draw.one_in(2) {
        let (low, high) = (draw.range(0, 1024), draw.range(0, 1024));
        t.uclamp_min = draw.pick(&[0, full, full + 1, low]).min(1024);
        t.uclamp_max = draw.pick(&[1024, full, high]);
    }
    t.idle_policy = u32::from(draw.one_in(12));
    for (_, c) in (0..cpus)
        .zip(&state.ctx.cpus)
        .filter(|(c, _)| allowed(&t.allowed, *c))
    {
        t.nr_allowed += 1;
        t.max_allowed_capacity = t.max_allowed_capacity.max(c.load.capacity_orig);
    }
    let any = draw.range(0, cpus - 1);
    t.waker.recent_used_cpu = draw.pick(&[prev, other, any]);
    t.waker.wakee_flips = draw.pick(&[0, 0, 0, 1, 4, 16, 64]);
    t.dur_avg_ns = duration(draw);
    t.sleeps = draw.range(0, 3);
    t.exec_ns = duration(draw) * u64::from(draw.range(0, 4));
    t.waker.last_wakee = draw.range(0, 3);
    t.waker.flip_decay_ns = NOW - draw.pick(&[0, 999_999_999, 2_000_000_000]);
    let llc = state.ctx.cpus[prev as usize].topo.llc_id;
    t.rent_llc = llc.wrapping_add(draw.pick(&[0, 1, 1, 1]));
    t.rent_ns = draw.pick(&[0, 1_000, 19_000, 40_000]);
    t
}

pub(crate) fn request(draw: &mut Draw, state: &State) -> sys::wp_request {
    let cpus = state.ctx.nr_cpus;
    let this_cpu = draw.range(0, cpus - 1);
    let prev_cpu = if draw.one_in(4) {
        this_cpu
    } else {
        draw.range(0, cpus - 1)
    };
    sys::wp_request {
        now_ns: NOW,
        kind: draw.pick(&[
            sys::WP_PLACE_WAKE,
            sys::WP_PLACE_WAKE,
            sys::WP_PLACE_WAKE,
            sys::WP_PLACE_WAKE,
            sys::WP_PLACE_FORK,
            sys::WP_PLACE_EXEC,
        ]),
        this_cpu,
        prev_cpu,
        sync: u32::from(draw.one_in(3)),
        waker_load: draw.range(0, 1) * draw.range(0, 2048),
        waker_idle: u32::from(draw.one_in(4)),
        waker_kthread: u32::from(draw.one_in(4)),
        waker_weight: draw.pick(&[0, 15, 1024, 1024, 3072]),
        current_cpu: u32::from(draw.one_in(32)),
    }
}

/// The CPUs that change from one situation to the next: all of a small machine; of a larger one
/// mostly a few.
pub(crate) fn touch(draw: &mut Draw, cpus: u32) -> Vec<usize> {
    if cpus <= 12 || draw.one_in(u64::from(cpus / 8).max(8)) {
        return (0..cpus as usize).collect();
    }
    let mut some: Vec<usize> = (0..12).map(|_| draw.index(cpus as usize)).collect();
    some.sort_unstable();
    some.dedup();
    some
}

/// Other queues on those CPUs of the machine that `state` has.
fn queues(draw: &mut Draw, state: &mut State, touched: &[usize]) -> Mood {
    let cpus = state.ctx.nr_cpus;
    let mood = Mood {
        idle: draw.pick(&[0, 1, 2, 2, 4, 16]),
        ease: draw.pick(&[1, 2, 4, 8]),
        odd: draw.one_in(2),
    };
    for at in touched {
        cpu(draw, &mood, &mut state.ctx.cpus[*at], cpus);
    }
    mood
}

/// A load for balancing to find, at `now_ns`.
pub(crate) fn load(draw: &mut Draw, state: &mut State, touched: &[usize], now_ns: u64) {
    queues(draw, state, touched);
    for at in touched {
        let c = &mut state.ctx.cpus[*at];
        c.load.avg.last_update_ns += now_ns - NOW;
        c.load.clock_ns += now_ns - NOW;
        c.load.clock_task_ns = c.load.clock_ns;
        c.load.clock_pelt_ns = c.load.clock_ns;
    }
}

/// The task fell asleep on its previous CPU, whose queue may have kept it, and may have let it go.
fn asleep(draw: &mut Draw, state: &mut State) {
    let cpu = state.request.prev_cpu;
    let (task, c) = (&mut state.tasks[0], &mut state.ctx.cpus[cpu as usize]);
    let place = draw.index(c.live.vq_sleepers.len());
    let kept = !draw.one_in(3);
    task.vtime_cpu = cpu;
    task.vq_weight = 1024 * u32::from(kept);
    task.vq_place = if kept { place as u32 + 1 } else { 0 };
    c.live.vq_load = 1024 + task.vq_weight;
    c.live.vq_kept_load = task.vq_weight;
    c.live.vtime_now_ns = task.vtime_ns;
    task.vtime_ns = if draw.one_in(2) {
        task.vtime_ns.wrapping_add(1_000_000)
    } else {
        task.vtime_ns.wrapping_sub(1_000_000)
    };
    c.live.vq_sleepers = Default::default();
    let sleeper = &mut c.live.vq_sleepers[place];
    sleeper.vtime_ns = task.vtime_ns;
    sleeper.deadline_ns = task.deadline_ns;
    sleeper.weight = task.vq_weight;
    sleeper.task = if draw.one_in(4) {
        0
    } else {
        task.id * u32::from(kept)
    };
}

/// Another situation on that machine, with a question.
pub(crate) fn situation(draw: &mut Draw, state: &mut State, touched: &[usize]) {
    let mood = queues(draw, state, touched);
    state.ctx.overutilized = u32::from(draw.one_in(5));
    state.request = request(draw, state);
    state.tasks[0] = task(draw, &mood, state, 1, state.request.prev_cpu);
    state.tasks[1] = task(draw, &mood, state, 2, state.request.this_cpu);
    if state.request.kind == sys::WP_PLACE_EXEC {
        (state.tasks[0].on_rq, state.tasks[0].running) = (1, 1);
    } else if state.request.kind == sys::WP_PLACE_FORK && draw.one_in(2) {
        state.tasks[0].avg.last_update_ns = 0;
    }
    // The other builds are told of CPUs that are `touched` only.
    if touched.contains(&(state.request.prev_cpu as usize)) && draw.one_in(4) {
        asleep(draw, state);
    }
    state.args.task = 0;
    state.args.waker = if state.request.waker_idle != 0 {
        TASKS as u32
    } else {
        1
    };
}
