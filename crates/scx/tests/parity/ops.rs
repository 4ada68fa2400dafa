// SPDX-License-Identifier: GPL-2.0-only
//! The entry points of the core, one program each in parity.bpf.c, with their native calls.
//!
//! What must stay: every function that policy/include declares for homes is here, with a program of
//! its name in parity.bpf.c. `call_native` is called by builds.rs and main.rs, `name` and `program`
//! by whoever prints or loads. Page: docs/internals/checks.md; docs/decisions/011. Free: the order
//! of the list.

use crate::state::{State, TASKS};
use wakeplace_policy_sys::sys;

/// A return value as parity.bpf.c stores it: unsigned, extended with zeros.
trait Bits {
    fn bits(self) -> u64;
}

impl Bits for i32 {
    fn bits(self) -> u64 {
        u64::from(self.cast_unsigned())
    }
}

impl Bits for u32 {
    fn bits(self) -> u64 {
        u64::from(self)
    }
}

impl Bits for u64 {
    fn bits(self) -> u64 {
        self
    }
}

macro_rules! ops {
    ($($name:ident($s:ident, $ctx:ident, $task:ident, $args:ident) = $call:expr;)*) => {
        /// An entry point of the core.
        #[allow(non_camel_case_types, reason = "named as the core's functions without `wp_`")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Op { $($name,)* }

        impl Op {
            pub(crate) const ALL: &'static [Op] = &[$(Op::$name,)*];

            /// Its name without `wp_`.
            pub(crate) fn name(self) -> &'static str {
                &self.program()[2..]
            }

            /// The program's name in parity.bpf.c.
            pub(crate) fn program(self) -> &'static str {
                match self { $(Op::$name => concat!("p_", stringify!($name)),)* }
            }

            /// Calls the native build and stores what it returns.
            pub(crate) fn call_native(self, state: &mut State) {
                let args = state.args;
                let task = &raw mut state.tasks[args.task as usize % TASKS];
                let ctx = &raw mut state.ctx;
                state.result = match self {
                    // SAFETY: the pointers are of live, distinct objects of one exclusive state
                    // (the waker may lie within the context, as the core allows); the core masks
                    // every index and keeps no pointer.
                    $(Op::$name => unsafe {
                        let ($s, $ctx, $task, $args) = (&mut *state, ctx, task, args);
                        let _ = (&$s, $ctx, $task, $args);
                        Bits::bits($call)
                    },)*
                };
            }
        }
    };
}

/// The waker's record, as p_select_task_rq_fair finds it.
fn waker(state: &mut State) -> *mut sys::wp_waker {
    let this_cpu = state.request.this_cpu as usize % state.ctx.cpus.len();
    match state.tasks.get_mut(state.args.waker as usize) {
        Some(task) => &raw mut task.waker,
        None => &raw mut state.ctx.cpus[this_cpu].idle.idle_waker,
    }
}

ops! {
    select_task_rq_fair(s, ctx, task, _args) = {
        let waker = waker(s);
        sys::wp_select_task_rq_fair(ctx, task, waker, &raw const s.request, &raw mut s.decision)
    };
    select_task_rq_exec(s, ctx, task, _args) = {
        let waker = waker(s);
        sys::wp_select_task_rq_exec(ctx, task, waker, &raw const s.request, &raw mut s.decision)
    };
    task_init(_s, ctx, task, _args) = sys::wp_task_init(ctx, task);
    task_fork(s, _ctx, task, g) = {
        let parent = g.waker as usize % s.tasks.len();
        sys::wp_task_fork(task, &raw const s.tasks[parent].waker)
    };
    set_cpus_allowed(_s, ctx, task, _args) = sys::wp_set_cpus_allowed(ctx, task);
    reweight_task(_s, ctx, task, g) = sys::wp_reweight_task(ctx, task, g.a, g.now_ns);
    task_set_uclamp(_s, ctx, task, g) = sys::wp_task_set_uclamp(ctx, task, g.a, g.b);
    uclamp_rq_max_value(_s, ctx, _task, g) = {
        let cpu = g.cpu as usize % (*ctx).cpus.len();
        sys::wp_uclamp_rq_max_value(&raw const (*ctx).cpus[cpu].load.uclamp[g.a as usize % 2], g.b)
    };
    uclamp_tg_restrict(_s, _ctx, _task, g) = sys::wp_uclamp_tg_restrict(g.a, g.b, g.cpu2);
    task_new(_s, ctx, task, g) = sys::wp_task_new(ctx, task, g.cpu, g.now_ns);
    task_dead_fair(_s, ctx, task, _args) = sys::wp_task_dead_fair(ctx, task);
    enqueue_task_fair(_s, ctx, task, g) =
        sys::wp_enqueue_task_fair(ctx, task, g.cpu, g.now_ns, g.a);
    dequeue_task_fair(_s, ctx, task, g) = sys::wp_dequeue_task_fair(ctx, task, g.now_ns, g.a);
    set_next_task_fair(_s, ctx, task, g) = sys::wp_set_next_task_fair(ctx, task, g.now_ns);
    put_prev_task_fair(_s, ctx, task, g) = sys::wp_put_prev_task_fair(ctx, task, g.now_ns);
    task_tick_fair(_s, ctx, task, g) = sys::wp_task_tick_fair(ctx, task, g.now_ns);
    migrate_task_rq_fair(_s, ctx, task, g) =
        sys::wp_migrate_task_rq_fair(ctx, task, g.cpu, g.now_ns);
    migrate_pulled(_s, ctx, task, g) = sys::wp_migrate_pulled(ctx, task, g.cpu);
    migrate_queued(_s, ctx, task, g) = sys::wp_migrate_queued(ctx, task, g.cpu, g.now_ns);
    enter_idle(_s, ctx, _task, g) = sys::wp_enter_idle(ctx, g.cpu, g.now_ns);
    show_rq_clock(_s, ctx, _task, g) = sys::wp_show_rq_clock(ctx, g.cpu, g.now_ns);
    exit_idle(_s, ctx, _task, g) = sys::wp_exit_idle(ctx, g.cpu, g.now_ns);
    idle_tick(_s, ctx, _task, g) = sys::wp_idle_tick(ctx, g.cpu, g.now_ns);
    woken(_s, ctx, _task, g) = sys::wp_woken(ctx, g.cpu, g.now_ns);
    live_queue_place(_s, ctx, task, g) = sys::wp_live_queue_place(ctx, task, g.cpu, g.now_ns);
    live_queue_start(_s, ctx, task, g) = sys::wp_live_queue_start(ctx, task, g.cpu, g.now_ns);
    live_queue_stop(_s, ctx, task, g) = sys::wp_live_queue_stop(ctx, task, g.now_ns);
    live_queue_leave(_s, ctx, task, g) = sys::wp_live_queue_leave(ctx, task, g.a, g.now_ns);
    live_queue_preempts(_s, ctx, task, g) = sys::wp_live_queue_preempts(ctx, task, g.cpu, g.now_ns);
    live_queue_slice_ns(_s, ctx, _task, _args) = sys::wp_live_queue_slice_ns(ctx);
    entity_eligible(_s, ctx, task, g) = sys::wp_entity_eligible(ctx, task, g.cpu, g.now_ns);
    live_queue_before(s, ctx, task, g) = {
        let first = &raw const s.tasks[g.b as usize % s.tasks.len()];
        sys::wp_live_queue_before(ctx, first, (*task).deadline_ns, g.cpu, g.now_ns)
    };
    slice_left_ns(_s, ctx, _task, g) = sys::wp_slice_left_ns(ctx, g.cpu, g.now_ns);
    live_queue_deadline_on(_s, ctx, task, g) =
        sys::wp_live_queue_deadline_on(ctx, task, g.cpu, g.now_ns);
    yield_task(_s, ctx, _task, g) = sys::wp_yield_task(ctx, g.cpu, g.a & 1, g.now_ns);
    live_queue_go_on(_s, ctx, _task, g) = sys::wp_live_queue_go_on(ctx, g.cpu, g.now_ns);
    live_queue_expired(_s, ctx, _task, g) = sys::wp_live_queue_expired(ctx, g.cpu, g.a, g.now_ns);
    live_queue_retire(_s, ctx, task, g) = sys::wp_live_queue_retire(ctx, task, g.cpu, g.now_ns);
    live_queue_yields(_s, ctx, task, g) = sys::wp_live_queue_yields(ctx, task, g.cpu, g.now_ns);
    pick_begin(s, ctx, _task, g) = sys::wp_pick_begin(ctx, &raw mut s.walk, g.a);
    pick_offer(s, ctx, task, _args) = sys::wp_pick_offer(ctx, &raw mut s.walk, task);
    pick_end(s, ctx, _task, _args) = sys::wp_pick_end(ctx, &raw const s.walk);
    preempt_begin(s, ctx, task, _args) = sys::wp_preempt_begin(ctx, &raw mut s.walk, task);
    preempt_offer(s, ctx, task, _args) = sys::wp_preempt_offer(ctx, &raw mut s.walk, task);
    preempt_end(s, _ctx, _task, _args) = sys::wp_preempt_end(&raw const s.walk);
    live_queue_is_next(_s, ctx, task, g) = sys::wp_live_queue_is_next(ctx, task, g.cpu, g.a & 1);
    pick_lone(_s, ctx, task, g) = sys::wp_pick_lone(ctx, task, g.cpu, g.now_ns);
    live_group_new(s, _ctx, _task, g) = sys::wp_live_group_new(&raw mut s.groups, g.a);
    live_group_free(s, _ctx, _task, g) = sys::wp_live_group_free(&raw mut s.groups, g.a);
    live_group_set_weight(s, _ctx, _task, g) =
        sys::wp_live_group_set_weight(&raw mut s.groups, g.a, g.b);
    live_group_set_idle(s, _ctx, _task, g) =
        sys::wp_live_group_set_idle(&raw mut s.groups, g.a, g.b & 1);
    live_member_leave(s, _ctx, _task, g) = {
        let member = &raw mut s.members[g.task as usize % TASKS];
        sys::wp_live_member_leave(&raw mut s.groups, member)
    };
    live_member_weigh(s, ctx, task, g) = {
        let member = &raw mut s.members[g.task as usize % TASKS];
        sys::wp_live_member_weigh(ctx, &raw mut s.groups, member, task, g.now_ns)
    };
    live_group_set_quota(s, _ctx, _task, g) =
        sys::wp_live_group_set_quota(&raw mut s.groups, g.a, u64::from(g.b), g.x, g.y);
    live_group_charge(s, _ctx, _task, g) =
        sys::wp_live_group_charge(&raw mut s.groups, g.a, g.x, g.now_ns);
    live_group_wait_ns(s, _ctx, _task, g) =
        sys::wp_live_group_wait_ns(&raw mut s.groups, g.a, g.now_ns);
    live_overdue(_s, _ctx, _task, g) = sys::wp_live_overdue(g.x);
    live_member_wait_ns(s, _ctx, _task, g) = {
        let member = &raw const s.members[g.task as usize % TASKS];
        sys::wp_live_member_wait_ns(&raw mut s.groups, member, g.now_ns)
    };
    live_parked_ns(s, _ctx, _task, g) = {
        let member = &raw mut s.members[g.task as usize % TASKS];
        sys::wp_live_parked_ns(&raw mut s.groups, member, g.x, g.y, g.now_ns)
    };
    live_member_ran(s, _ctx, _task, g) = {
        let member = &raw mut s.members[g.task as usize % TASKS];
        sys::wp_live_member_ran(&raw mut s.groups, member, g.x, g.now_ns)
    };
    live_member_stop(s, _ctx, _task, g) = {
        let member = &raw mut s.members[g.task as usize % TASKS];
        sys::wp_live_member_stop(&raw mut s.groups, member, g.a & 1, g.now_ns)
    };
    decayed_util(_s, _ctx, _task, g) = sys::wp_decayed_util(g.a, g.x, g.now_ns);
    run_energy_nj(_s, ctx, _task, g) = sys::wp_run_energy_nj(ctx, g.cpu, g.x);
    idle_kick_needed(_s, ctx, _task, g) = sys::wp_idle_kick_needed(ctx, g.cpu, g.now_ns);
    idle_timer_ns(_s, ctx, _task, g) = sys::wp_idle_timer_ns(ctx, g.a & 3, g.now_ns);
    was_busy(_s, ctx, _task, g) = sys::wp_was_busy(ctx, g.cpu);
    idle_turn_begin(s, _ctx, _task, g) = sys::wp_idle_turn_begin(&raw mut s.turn, g.now_ns);
    idle_turn_offer(s, ctx, _task, g) = sys::wp_idle_turn_offer(ctx, &raw mut s.turn, g.cpu);
    idle_turn_end(s, ctx, _task, _args) = sys::wp_idle_turn_end(ctx, &raw const s.turn);
    idle_decay(_s, ctx, _task, g) = sys::wp_idle_decay(ctx, g.cpu, g.now_ns);
    cpu_perf_request(_s, ctx, _task, g) = sys::wp_cpu_perf_request(ctx, g.cpu);
    rate_limit_us(_s, ctx, _task, g) = sys::wp_rate_limit_us(ctx, g.a);
    topology_set_freq_scale(_s, ctx, _task, g) = sys::wp_topology_set_freq_scale(ctx, g.a, g.b);
    freq_applied(_s, ctx, _task, g) = sys::wp_freq_applied(ctx, g.a, g.b);
    map_util_freq(_s, _ctx, _task, g) = sys::wp_map_util_freq(g.a, g.b, g.cpu2);
    em_dev_update_perf_domain(_s, ctx, _task, g) = sys::wp_em_dev_update_perf_domain(ctx, g.a);
    em_update_performance_limits(_s, ctx, _task, g) =
        sys::wp_em_update_performance_limits(ctx, g.a, g.x as u32, g.y as u32);
    start(_s, ctx, _task, _args) = sys::wp_start(ctx);
    reconsider(_s, ctx, _task, _args) = sys::wp_reconsider(ctx);
    util_fits_cpu(_s, ctx, _task, g) = sys::wp_util_fits_cpu(ctx, g.cpu2, g.a, g.b, g.cpu);
    idle_cpu(_s, ctx, _task, g) = sys::wp_idle_cpu(ctx, g.cpu);
    update_idle_cpu_scan(_s, ctx, _task, g) = sys::wp_update_idle_cpu_scan(ctx, g.cpu, g.level);
    first_allowed(_s, ctx, task, g) = sys::wp_first_allowed(ctx, task, g.cpu);
    task_util_est(_s, ctx, task, _args) = sys::wp_task_util_est(ctx, task);
    balance_due(_s, ctx, _task, g) = sys::wp_balance_due(ctx, g.cpu, g.level, g.now_ns, g.a);
    balance_pass_end(_s, ctx, _task, g) = sys::wp_balance_pass_end(ctx, g.cpu, g.now_ns, g.a);
    balance_begin(s, ctx, _task, _args) = sys::wp_balance_begin(ctx, &raw mut s.balance);
    balance_offer(s, ctx, task, _args) = sys::wp_balance_offer(ctx, &raw mut s.balance, task);
    balance_end(s, ctx, _task, g) = sys::wp_balance_end(ctx, &raw mut s.balance, g.a);
    active_balance_end(_s, ctx, _task, g) =
        sys::wp_active_balance_end(ctx, g.cpu, g.cpu2, g.level, g.a);
    newidle_begin(_s, ctx, _task, g) = sys::wp_newidle_begin(ctx, g.cpu, g.now_ns);
    newidle_level(_s, ctx, _task, g) = sys::wp_newidle_level(ctx, g.cpu, g.level, g.x);
    newidle_done(_s, ctx, _task, g) = sys::wp_newidle_done(ctx, g.cpu, g.level);
    newidle_end(_s, ctx, _task, g) = sys::wp_newidle_end(ctx, g.cpu, g.x, g.a);
    nohz_balance_enter_idle(_s, ctx, _task, g) = sys::wp_nohz_balance_enter_idle(ctx, g.cpu);
    nohz_balance_exit_idle(_s, ctx, _task, g) = sys::wp_nohz_balance_exit_idle(ctx, g.cpu);
    nohz_balancer_kick(_s, ctx, _task, g) = sys::wp_nohz_balancer_kick(ctx, g.cpu, g.now_ns);
    find_new_ilb(_s, ctx, _task, _args) = sys::wp_find_new_ilb(ctx);
    nohz_begin(_s, ctx, _task, g) = sys::wp_nohz_begin(ctx, g.cpu);
    nohz_next(_s, ctx, _task, g) = sys::wp_nohz_next(ctx, g.cpu);
    nohz_pass_end(_s, ctx, _task, g) = sys::wp_nohz_pass_end(ctx, g.now_ns, g.a);
    update_blocked_averages(_s, ctx, _task, g) =
        sys::wp_update_blocked_averages(ctx, g.cpu, g.now_ns);
    decay_load(_s, _ctx, _task, g) = sys::wp_decay_load(g.x, g.y);
    accumulate_pelt_segments(_s, _ctx, _task, g) =
        sys::wp_accumulate_pelt_segments(g.a, g.b, g.cpu2);
    update_load_sum(s, _ctx, task, _args) =
        sys::wp_update_load_sum(&raw mut (*task).avg, &raw const s.step);
    avg_step(s, _ctx, task, _args) =
        sys::wp_avg_step(&raw mut (*task).avg, &raw const s.step);
    util_est_of_run(_s, _ctx, _task, g) = sys::wp_util_est_of_run(g.x);
    util_est_next(_s, _ctx, _task, g) =
        sys::wp_util_est_next(g.a, g.b, g.cpu, g.cpu2, g.level);
    get_update_sysctl_factor(_s, _ctx, _task, g) = sys::wp_get_update_sysctl_factor(g.a, g.b);
    nice_weight(_s, _ctx, _task, g) = sys::wp_nice_weight(g.a.cast_signed());
    nice_inv_weight(_s, _ctx, _task, g) = sys::wp_nice_inv_weight(g.a.cast_signed());
    time_bucket(_s, _ctx, _task, g) = sys::wp_time_bucket(g.x);
}
