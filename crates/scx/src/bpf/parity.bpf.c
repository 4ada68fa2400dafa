// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole policy core, older eras too, with one program per entry point, for the parity test
 * (tests/parity): it fills `parity`, runs a program with BPF_PROG_TEST_RUN, and compares what is
 * there then with what the native build made of the same bytes. The layout of struct
 * parity_state and the names of the programs are in tests/parity/state.rs and ops.rs, too.
 *
 * What must stay: it decides nothing; a new entry point of the core gets a program here and a row
 * in ops.rs.
 *
 * Tests by part: every_decision_is_the_same_in_all_builds, every_event_is_the_same_in_all_builds
 * (each program, waker_of), every_entry_point_has_a_program (none is missing).
 *
 * Rule: docs/decisions/011
 * Tests: crates/scx/tests/parity
 */
#include "kernel.h"
#include "policy.c"

#define PARITY_TASKS 8

/* Arguments of whatever program runs next; which are used is the program's own affair. */
struct parity_args {
	u64 now_ns;
	u64 x;
	u64 y;
	u32 task;
	u32 waker; /* a task; PARITY_TASKS: the idle task of the deciding CPU */
	u32 cpu;
	u32 cpu2;
	u32 level;
	u32 a;
	u32 b;
	u32 pad;
};

struct parity_state {
	struct wp_ctx ctx;
	struct wp_task tasks[PARITY_TASKS];
	struct wp_request request;
	struct wp_decision decision;
	struct wp_lb_env balance;
	struct wp_pelt_step step;
	struct wp_queue_walk walk;
	struct wp_idle_turn turn;
	struct wp_live_groups groups;
	struct wp_live_member members[PARITY_TASKS];
	struct parity_args args;
	u64 result;
};

struct parity_state parity;

char _license[] SEC("license") = "GPL";

#define CTX (&parity.ctx)
#define TASK (WP_AT(parity.tasks, args->task))
#define BAL (&parity.balance)
#define GROUPS (&parity.groups)
#define MEMBER (WP_AT(parity.members, args->task))
#define WALK (&parity.walk)
#define NOW (args->now_ns)
#define CPU (args->cpu)

#define PROGRAM(name, call)                                                                        \
	SEC("syscall")                                                                             \
	int name(void *unused)                                                                     \
	{                                                                                          \
		const struct parity_args *args __attribute__((unused)) = &parity.args;             \
                                                                                                   \
		parity.result = (u64)(call);                                                       \
		return 0;                                                                          \
	}

/* Of a task or, where none wakes, of the idle task of the CPU that asks. */
static __always_inline struct wp_waker *waker_of(const struct parity_args *args)
{
	if (args->waker >= PARITY_TASKS)
		return &WP_AT(parity.ctx.cpus, parity.request.this_cpu)->idle.idle_waker;
	return &WP_AT(parity.tasks, args->waker)->waker;
}

PROGRAM(p_select_task_rq_fair, (u32)wp_select_task_rq_fair(CTX, TASK, waker_of(args),
							   &parity.request, &parity.decision))
PROGRAM(p_select_task_rq_exec, (u32)wp_select_task_rq_exec(CTX, TASK, waker_of(args),
							   &parity.request, &parity.decision))

/* rq.c, uclamp.c */
PROGRAM(p_task_init, (u32)wp_task_init(CTX, TASK))
PROGRAM(p_task_fork, (u32)wp_task_fork(TASK, &WP_AT(parity.tasks, args->waker)->waker))
PROGRAM(p_set_cpus_allowed, (u32)wp_set_cpus_allowed(CTX, TASK))
PROGRAM(p_reweight_task, (u32)wp_reweight_task(CTX, TASK, args->a, NOW))
PROGRAM(p_task_set_uclamp, (u32)wp_task_set_uclamp(CTX, TASK, args->a, args->b))
PROGRAM(p_uclamp_rq_max_value,
	wp_uclamp_rq_max_value(WP_AT(WP_AT(parity.ctx.cpus, CPU)->load.uclamp, args->a), args->b))
PROGRAM(p_uclamp_tg_restrict, wp_uclamp_tg_restrict(args->a, args->b, args->cpu2))
PROGRAM(p_task_new, (u32)wp_task_new(CTX, TASK, CPU, NOW))
PROGRAM(p_task_dead_fair, (u32)wp_task_dead_fair(CTX, TASK))
PROGRAM(p_enqueue_task_fair, (u32)wp_enqueue_task_fair(CTX, TASK, CPU, NOW, args->a))
PROGRAM(p_dequeue_task_fair, (u32)wp_dequeue_task_fair(CTX, TASK, NOW, args->a))
PROGRAM(p_set_next_task_fair, (u32)wp_set_next_task_fair(CTX, TASK, NOW))
PROGRAM(p_put_prev_task_fair, (u32)wp_put_prev_task_fair(CTX, TASK, NOW))
PROGRAM(p_task_tick_fair, (u32)wp_task_tick_fair(CTX, TASK, NOW))
PROGRAM(p_migrate_task_rq_fair, (u32)wp_migrate_task_rq_fair(CTX, TASK, CPU, NOW))
PROGRAM(p_migrate_pulled, (u32)wp_migrate_pulled(CTX, TASK, CPU))
PROGRAM(p_migrate_queued, (u32)wp_migrate_queued(CTX, TASK, CPU, NOW))
PROGRAM(p_enter_idle, (u32)wp_enter_idle(CTX, CPU, NOW))
PROGRAM(p_show_rq_clock, (u32)wp_show_rq_clock(CTX, CPU, NOW))
PROGRAM(p_exit_idle, (u32)wp_exit_idle(CTX, CPU, NOW))
PROGRAM(p_idle_tick, (u32)wp_idle_tick(CTX, CPU, NOW))
PROGRAM(p_woken, (u32)wp_woken(CTX, CPU, NOW))

/* queue.c */
PROGRAM(p_live_queue_place, (u32)wp_live_queue_place(CTX, TASK, CPU, NOW))
PROGRAM(p_live_queue_start, (u32)wp_live_queue_start(CTX, TASK, CPU, NOW))
PROGRAM(p_live_queue_stop, (u32)wp_live_queue_stop(CTX, TASK, NOW))
PROGRAM(p_live_queue_leave, (u32)wp_live_queue_leave(CTX, TASK, args->a, NOW))
PROGRAM(p_live_queue_preempts, (u32)wp_live_queue_preempts(CTX, TASK, CPU, NOW))
PROGRAM(p_live_queue_slice_ns, wp_live_queue_slice_ns(CTX))
PROGRAM(p_entity_eligible, (u32)wp_entity_eligible(CTX, TASK, CPU, NOW))
PROGRAM(p_live_queue_before,
	(u32)wp_live_queue_before(CTX, WP_AT(parity.tasks, args->b), TASK->deadline_ns, CPU, NOW))
PROGRAM(p_slice_left_ns, wp_slice_left_ns(CTX, CPU, NOW))
PROGRAM(p_live_queue_deadline_on, wp_live_queue_deadline_on(CTX, TASK, CPU, NOW))
PROGRAM(p_yield_task, (u32)wp_yield_task(CTX, CPU, args->a & 1, NOW))
PROGRAM(p_live_queue_go_on, (u32)wp_live_queue_go_on(CTX, CPU, NOW))
PROGRAM(p_live_queue_expired, (u32)wp_live_queue_expired(CTX, CPU, args->a, NOW))
PROGRAM(p_live_queue_retire, (u32)wp_live_queue_retire(CTX, TASK, CPU, NOW))
PROGRAM(p_live_queue_yields, (u32)wp_live_queue_yields(CTX, TASK, CPU, NOW))

/* queue_walk.c */
PROGRAM(p_pick_begin, (u32)wp_pick_begin(CTX, WALK, args->a))
PROGRAM(p_pick_offer, (u32)wp_pick_offer(CTX, WALK, TASK))
PROGRAM(p_pick_end, (u32)wp_pick_end(CTX, WALK))
PROGRAM(p_preempt_begin, (u32)wp_preempt_begin(CTX, WALK, TASK))
PROGRAM(p_preempt_offer, (u32)wp_preempt_offer(CTX, WALK, TASK))
PROGRAM(p_preempt_end, (u32)wp_preempt_end(WALK))
PROGRAM(p_live_queue_is_next, (u32)wp_live_queue_is_next(CTX, TASK, CPU, args->a & 1))
PROGRAM(p_pick_lone, (u32)wp_pick_lone(CTX, TASK, CPU, NOW))

/* group.c, group_quota.c, group_park.c */
PROGRAM(p_live_group_new, wp_live_group_new(GROUPS, args->a))
PROGRAM(p_live_group_free, (u32)wp_live_group_free(GROUPS, args->a))
PROGRAM(p_live_group_set_weight, (u32)wp_live_group_set_weight(GROUPS, args->a, args->b))
PROGRAM(p_live_group_set_idle, (u32)wp_live_group_set_idle(GROUPS, args->a, args->b & 1))
PROGRAM(p_live_member_leave, (u32)wp_live_member_leave(GROUPS, MEMBER))
PROGRAM(p_live_member_weigh, (u32)wp_live_member_weigh(CTX, GROUPS, MEMBER, TASK, NOW))
PROGRAM(p_live_group_set_quota,
	(u32)wp_live_group_set_quota(GROUPS, args->a, args->b, args->x, args->y))
PROGRAM(p_live_group_charge, (u32)wp_live_group_charge(GROUPS, args->a, args->x, NOW))
PROGRAM(p_live_group_wait_ns, wp_live_group_wait_ns(GROUPS, args->a, NOW))
PROGRAM(p_live_overdue, (u32)wp_live_overdue(args->x))
PROGRAM(p_live_member_wait_ns, wp_live_member_wait_ns(GROUPS, MEMBER, NOW))
PROGRAM(p_live_parked_ns, wp_live_parked_ns(GROUPS, MEMBER, args->x, args->y, NOW))
PROGRAM(p_live_member_ran, (u32)wp_live_member_ran(GROUPS, MEMBER, args->x, NOW))
PROGRAM(p_live_member_stop, (u32)wp_live_member_stop(GROUPS, MEMBER, args->a & 1, NOW))

/* live.c, freq.c, energy_model.c */
PROGRAM(p_decayed_util, wp_decayed_util(args->a, args->x, NOW))
PROGRAM(p_run_energy_nj, wp_run_energy_nj(CTX, CPU, args->x))
PROGRAM(p_idle_kick_needed, (u32)wp_idle_kick_needed(CTX, CPU, NOW))
PROGRAM(p_idle_timer_ns, wp_idle_timer_ns(CTX, args->a & 3, NOW))
PROGRAM(p_was_busy, (u32)wp_was_busy(CTX, CPU))
PROGRAM(p_idle_turn_begin, (u32)wp_idle_turn_begin(&parity.turn, NOW))
PROGRAM(p_idle_turn_offer, (u32)wp_idle_turn_offer(CTX, &parity.turn, CPU))
PROGRAM(p_idle_turn_end, wp_idle_turn_end(CTX, &parity.turn))
PROGRAM(p_idle_decay, (u32)wp_idle_decay(CTX, CPU, NOW))
PROGRAM(p_cpu_perf_request, wp_cpu_perf_request(CTX, CPU))
PROGRAM(p_rate_limit_us, wp_rate_limit_us(CTX, args->a))
PROGRAM(p_topology_set_freq_scale, (u32)wp_topology_set_freq_scale(CTX, args->a, args->b))
PROGRAM(p_freq_applied, (u32)wp_freq_applied(CTX, args->a, args->b))
PROGRAM(p_map_util_freq, wp_map_util_freq(args->a, args->b, args->cpu2))
PROGRAM(p_em_dev_update_perf_domain, wp_em_dev_update_perf_domain(CTX, args->a))
PROGRAM(p_em_update_performance_limits,
	wp_em_update_performance_limits(CTX, args->a, (u32)args->x, (u32)args->y))
PROGRAM(p_start, (u32)wp_start(CTX))
PROGRAM(p_reconsider, (u32)wp_reconsider(CTX))

/* capacity.c, util_est.c, idle_hints.c, select.c */
PROGRAM(p_util_fits_cpu, (u32)wp_util_fits_cpu(CTX, args->cpu2, args->a, args->b, CPU))
PROGRAM(p_idle_cpu, (u32)wp_idle_cpu(CTX, CPU))
PROGRAM(p_update_idle_cpu_scan, (u32)wp_update_idle_cpu_scan(CTX, CPU, args->level))
PROGRAM(p_first_allowed, wp_first_allowed(CTX, TASK, CPU))
PROGRAM(p_task_util_est, wp_task_util_est(CTX, TASK))

/* balance.c, newidle.c, nohz.c */
PROGRAM(p_balance_due, (u32)wp_balance_due(CTX, CPU, args->level, NOW, args->a))
PROGRAM(p_balance_pass_end, (u32)wp_balance_pass_end(CTX, CPU, NOW, args->a))
PROGRAM(p_balance_begin, (u32)wp_balance_begin(CTX, BAL))
PROGRAM(p_balance_offer, (u32)wp_balance_offer(CTX, BAL, TASK))
PROGRAM(p_balance_end, (u32)wp_balance_end(CTX, BAL, args->a))
PROGRAM(p_active_balance_end,
	(u32)wp_active_balance_end(CTX, CPU, args->cpu2, args->level, args->a))
PROGRAM(p_newidle_begin, (u32)wp_newidle_begin(CTX, CPU, NOW))
PROGRAM(p_newidle_level, (u32)wp_newidle_level(CTX, CPU, args->level, args->x))
PROGRAM(p_newidle_done, wp_newidle_done(CTX, CPU, args->level))
PROGRAM(p_newidle_end, (u32)wp_newidle_end(CTX, CPU, args->x, args->a))
PROGRAM(p_nohz_balance_enter_idle, (u32)wp_nohz_balance_enter_idle(CTX, CPU))
PROGRAM(p_nohz_balance_exit_idle, (u32)wp_nohz_balance_exit_idle(CTX, CPU))
PROGRAM(p_nohz_balancer_kick, (u32)wp_nohz_balancer_kick(CTX, CPU, NOW))
PROGRAM(p_find_new_ilb, wp_find_new_ilb(CTX))
PROGRAM(p_nohz_begin, (u32)wp_nohz_begin(CTX, CPU))
PROGRAM(p_nohz_next, wp_nohz_next(CTX, CPU))
PROGRAM(p_nohz_pass_end, (u32)wp_nohz_pass_end(CTX, NOW, args->a))
PROGRAM(p_update_blocked_averages, (u32)wp_update_blocked_averages(CTX, CPU, NOW))

/* pelt.c, util_est.c, weights.c: arithmetic alone */
PROGRAM(p_decay_load, wp_decay_load(args->x, args->y))
PROGRAM(p_accumulate_pelt_segments, wp_accumulate_pelt_segments(args->a, args->b, args->cpu2))
PROGRAM(p_update_load_sum, (u32)wp_update_load_sum(&TASK->avg, &parity.step))
PROGRAM(p_avg_step, (u32)wp_avg_step(&TASK->avg, &parity.step))
PROGRAM(p_util_est_of_run, wp_util_est_of_run(args->x))
PROGRAM(p_util_est_next,
	wp_util_est_next(args->a, args->b, args->cpu, args->cpu2, args->level))
PROGRAM(p_get_update_sysctl_factor, wp_get_update_sysctl_factor(args->a, args->b))
PROGRAM(p_nice_weight, wp_nice_weight((s32)args->a))
PROGRAM(p_nice_inv_weight, wp_nice_inv_weight((s32)args->a))
PROGRAM(p_time_bucket, wp_time_bucket(args->x))
