// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The policy core as one compilation unit, so that the small static functions of one file serve
 * the next without being exported. Folders stand bottom up, each once. What a folder uses of one
 * that stands above it has its prototype in include/wakeplace or in above.h.
 *
 * WP_LIVE: the live build leaves out what only older kernels do.
 *
 * What a change must keep:
 *
 * - A function whose name ends in a version serves the eras up to that kernel, and may change for
 *   them alone. One without a version serves all eras that call it.
 * - What stands within `#ifndef WP_LIVE` no rule of the live build calls.
 * - A function that a folder below calls has its prototype in above.h as well: change both.
 * - WP_FN is a call of its own to the kernel's verifier: it checks the arguments anew. WP_INLINE is
 *   part of its caller.
 * - A wrong answer is seen by the tests in the head of the function's file; two builds that differ,
 *   by crates/scx/tests/parity; a run that changed, by `make same-runs`.
 *
 * How a file's head is read: "May change" says what a change may touch, and with what; "Tests by
 * part" has the test of each function, "Callers" who calls from other files. all/ and fixtures/ are
 * below crates/policy-sys/tests; all/fixtures.rs::`every_fixture_holds` runs the fixtures.
 */
#include "above.h"

#include "src/load_tracking/pelt.c"
#ifndef WP_LIVE
#include "src/load_tracking/approximate.c"
#endif
#include "src/load_tracking/weights.c"
#ifdef WP_SCHED_CACHE
#include "src/load_tracking/llc_price.c"
#include "src/load_tracking/preferred_llc.c"
#endif
#ifdef WP_UCLAMP_SUM
#include "src/load_tracking/uclamp_sum.c"
#endif
#include "src/load_tracking/util_est.c"
#include "src/load_tracking/uclamp.c"
#include "src/load_tracking/urgency.c"
#include "src/load_tracking/capacity.c"
#include "src/load_tracking/overutilized.c"
#ifndef WP_LIVE
#include "src/load_tracking/runnable_avg_3_8.c"
#include "src/load_tracking/capacity_4_18.c"
#endif
#include "src/load_tracking/signals.c"
#include "src/load_tracking/duration.c"
#ifndef WP_LIVE
#include "src/load_tracking/task_group_load.c"
#include "src/load_tracking/task_group_signals.c"
#include "src/load_tracking/rt_dl_irq.c"
#endif

#ifdef WP_EXPLAINS
#include "src/explain/explain_notes.c"
#endif
#ifndef WP_LIVE
#include "src/explain/wakeup_case.c"
#endif
#ifdef WP_EXPLAINS
#include "src/explain/explain.c"
#endif

#include "src/packing/mode.c"
#include "src/packing/sched_mc_table.c"
#ifndef WP_LIVE
#include "src/packing/sched_mc_topology.c"
#include "src/packing/sched_mc_power.c"
#include "src/packing/sched_mc_boot.c"
#endif
#include "src/packing/power_policy.c"
#include "src/packing/sched_mc_pack.c"
#ifndef WP_LIVE
#include "src/packing/sched_mc_place.c"
#include "src/packing/power_savings_3_4.c"
#endif
#include "src/packing/power_balance.c"
#ifndef WP_LIVE
#include "src/packing/sched_mc_irq.c"
#endif

#ifdef WP_KEEPS
#include "src/kept/kept.c"
#include "src/kept/kept_sums.c"
#include "src/kept/kept_demand.c"
#include "src/kept/kept_idle.c"
#endif

#ifndef WP_LIVE
#include "src/frequency/effective_util_6_7.c"
#include "src/frequency/iowait.c"
#include "src/frequency/response_time.c"
#endif
#include "src/frequency/demand.c"
#include "src/frequency/freq.c"
#ifndef WP_LIVE
#include "src/frequency/ondemand.c"
#include "src/frequency/freq_limit.c"
#include "src/frequency/perf_target.c"
#include "src/frequency/thermal.c"
#endif

#include "src/energy/energy_no_watts.c"
#include "src/energy/energy_model.c"
#include "src/energy/energy_util.c"
#ifdef WP_UCLAMP_SUM
#include "src/energy/energy_uclamp.c"
#endif
#ifndef WP_LIVE
#include "src/energy/energy_5_0.c"
#include "src/energy/energy_6_1.c"
#endif
#include "src/energy/energy_delta.c"
#ifndef WP_LIVE
#include "src/energy/energy_5_10.c"
#endif
#ifdef WP_EAS_REWORK
#include "src/energy/energy_rework.c"
#endif
#include "src/energy/energy_idle.c"

#include "src/balance/intervals.c"
#include "src/balance/group_class.c"
#include "src/balance/balance_common.c"
#ifndef WP_LIVE
#include "src/balance/asym_packing_5_4.c"
#include "src/balance/busiest_5_4.c"
#include "src/balance/busiest_3_12.c"
#endif
#include "src/balance/asym_packing.c"
#ifdef WP_SCHED_CACHE
#include "src/balance/llc_balance.c"
#endif
#include "src/balance/busiest.c"
#include "src/balance/imbalance.c"
#include "src/balance/newidle_ratio.c"
#include "src/balance/balance.c"
#include "src/balance/detach.c"
#include "src/balance/newidle.c"
#ifndef WP_LIVE
#include "src/balance/nohz_4_16.c"
#endif
#include "src/balance/nohz.c"

#include "src/live_queue/queue_mean.c"
#include "src/live_queue/queue_sleepers.c"
#include "src/live_queue/queue.c"
#include "src/live_queue/queue_walk.c"
#include "src/live_queue/group.c"
#include "src/live_queue/group_quota.c"
#include "src/live_queue/group_park.c"
#include "src/live_queue/live.c"

#ifndef WP_LIVE
#include "src/topology/domains_3_9.c"
#endif
#include "src/topology/topology.c"
#include "src/topology/numa.c"
#ifndef WP_LIVE
#include "src/topology/hotplug.c"
#endif

#include "src/placement/idle_hints.c"
#include "src/placement/idle_search.c"
#include "src/placement/short_wake.c"
#include "src/placement/idle_scan.c"
#ifndef WP_LIVE
#include "src/placement/idle_scan_6_5.c"
#endif
#include "src/placement/idle_capacity.c"
#ifndef WP_LIVE
#include "src/placement/idle_scan_5_11.c"
#endif
#include "src/placement/idle_sibling.c"
#include "src/placement/idlest_class.c"
#ifndef WP_LIVE
#include "src/placement/idle_sibling_4_8.c"
#include "src/placement/wake_affine_4_13.c"
#include "src/placement/idlest_5_4.c"
#endif
#include "src/placement/idlest.c"
#ifndef WP_LIVE
#include "src/placement/idlest_4_13.c"
#endif
#include "src/placement/cache_rent.c"
#include "src/placement/prev_idle.c"
#include "src/placement/select.c"
#ifndef WP_LIVE
#include "src/placement/select_rt.c"
#endif

#ifndef WP_LIVE
#include "src/runqueue/delayed.c"
#include "src/runqueue/resched.c"
#endif
#include "src/runqueue/rq.c"
#include "src/runqueue/tick.c"
#ifndef WP_LIVE
#include "src/runqueue/on_state.c"
#include "src/runqueue/task_group.c"
#include "src/runqueue/group_throttle.c"
#include "src/runqueue/group_bandwidth.c"
#endif
