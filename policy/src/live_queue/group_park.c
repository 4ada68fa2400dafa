// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Control groups of the live scheduler: who waits for a quota, and where. A task that is held back
 * in the kernel may hold what others wait for. So it goes on until it returns to user space, as
 * under the fair class since 6.18. A home that hears of every return lets a task that is inside run
 * on (`returns`). One that does not sees a task outside at ticks alone: what is held back inside
 * waits for WP_INSIDE_WAIT_NS at most, then runs a turn, which it pays for
 * (docs/rules/live-queue.md#vq-inside).
 *
 * No task waits longer than WP_LONGEST_WAIT_NS, whatever its quota: it runs a turn then, which is
 * not taken off the budget (docs/rules/live-queue.md#vq-overdue).
 *
 * What must stay: a task that is inside is not held back for good; who is parked is to be looked at
 * after the time that is answered, a second at most. Times are ns. Free: how long a turn is.
 *
 * Tests by part: (below crates/policy-sys/tests) all/live_park.rs:
 * `who_is_inside_runs_on_to_its_return` (`wp_live_member_wait_ns`, `wp_live_member_stop`),
 * `without_returns_who_is_inside_waits_20_ms` (`wp_live_parked_ns`, `wp_live_give_turn`),
 * `nobody_waits_longer_than_ten_seconds` (`wp_live_parked_ns`, `wp_live_overdue`),
 * `a_turn_is_run_whole` (`wp_live_member_ran`).
 *
 * Callers: crates/policy-sys/src/live_group.rs; crates/scx/src/bpf/cgroup.bpf.h, quota.bpf.h,
 * queue.bpf.h.
 *
 * Kernel: throttle_cfs_rq_work() as wp_live_member_stop(), kernel/sched/fair.c
 * Tests: all/live_park.rs
 */
#include "wakeplace/policy.h"

/* The kernel ends a scheduler with a task that does not run for 30 s: a third of that. */
#define WP_LONGEST_WAIT_NS 10000000000ull
/* Chosen by us: a holder that needs less than a turn keeps others waiting for so long at most. */
#define WP_INSIDE_WAIT_NS 20000000ull
/* A tick of the default kernel. */
#define WP_TURN_NS 4000000ull
/* A look at who is parked, whatever the quota: it may change, and a look may be lost. */
#define WP_PARK_LOOK_NS 1000000000ull

/* Has it waited so long that it runs next? */
WP_SMALL_FN int wp_live_overdue(u64 waited_ns)
{
	return waited_ns >= WP_LONGEST_WAIT_NS;
}

/* How long the task has to wait where it is, if it does not run; 0: it may run. */
WP_FN u64 wp_live_member_wait_ns(struct wp_live_groups *groups WP_NONNULL,
				 const struct wp_live_member *member WP_NONNULL, u64 now_ns)
{
	u64 wait;

	if (member->turn_ns || (!member->outside && groups->returns))
		return 0;
	wait = wp_live_group_wait_ns(groups, member->group, now_ns);
	return member->outside ? wait : wp_min64(wait, WP_INSIDE_WAIT_NS);
}

/* So long it may run from now on although its quota is used up. */
WP_INLINE void wp_live_give_turn(struct wp_live_member *member, u32 unpaid)
{
	member->turn_ns = WP_TURN_NS;
	member->unpaid = unpaid;
}

/*
 * A task that has been parked for parked_ns, and has not run for waited_ns, is looked at; one that
 * is about to be parked has been so for 0. How long until the next look; 0: it runs.
 */
WP_FN u64 wp_live_parked_ns(struct wp_live_groups *groups WP_NONNULL,
			    struct wp_live_member *member WP_NONNULL, u64 waited_ns, u64 parked_ns,
			    u64 now_ns)
{
	u64 wait = wp_live_member_wait_ns(groups, member, now_ns);
	u32 overdue = wp_live_overdue(waited_ns);

	if (!wait)
		return 0;
	if (overdue || (!member->outside && parked_ns >= WP_INSIDE_WAIT_NS)) {
		wp_live_give_turn(member, overdue);
		return 0;
	}
	wait = wp_min64(wait, WP_LONGEST_WAIT_NS - waited_ns);
	if (!member->outside)
		wait = wp_min64(wait, WP_INSIDE_WAIT_NS - parked_ns);
	return wp_min64(wait, WP_PARK_LOOK_NS);
}

/* It has run for so long: of its turn first, then of its groups' budgets. */
WP_FN int wp_live_member_ran(struct wp_live_groups *groups WP_NONNULL,
			     struct wp_live_member *member WP_NONNULL, u64 ran_ns, u64 now_ns)
{
	u64 turn = wp_min64(member->turn_ns, ran_ns);

	member->turn_ns -= turn;
	return wp_live_group_charge(groups, member->group, member->unpaid ? ran_ns - turn : ran_ns,
				    now_ns);
}

/*
 * The task begins to run, or is looked at as it runs; `outside`: it is in user space at this
 * moment. Returns enum wp_live_stop. A turn that is paid for ends as soon as it is outside, where
 * nobody waits for it.
 */
WP_FN int wp_live_member_stop(struct wp_live_groups *groups WP_NONNULL,
			      struct wp_live_member *member WP_NONNULL, u32 outside, u64 now_ns)
{
	member->outside = 0;
	if (member->turn_ns && (member->unpaid || !outside))
		return WP_STOP_NOT;
	member->turn_ns = 0;
	if (!wp_live_group_wait_ns(groups, member->group, now_ns))
		return WP_STOP_NOT;
	if (!outside && groups->returns)
		return WP_STOP_AT_RETURN;
	member->outside = outside;
	return WP_STOP_NOW;
}
