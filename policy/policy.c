// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The policy core as one compilation unit, so that the small static functions of one file serve
 * the next without being exported. Order: later files may call earlier ones.
 */
#include "src/pelt.c"
#include "src/weights.c"
#include "src/util_est.c"
#include "src/uclamp.c"
#include "src/mode.c"
#include "src/capacity.c"
#include "src/intervals.c"
#ifdef WP_EXPLAINS
#include "src/explain_notes.c"
#endif
#ifndef WP_LIVE /* the live build leaves out what only older kernels do */
#include "src/ratio_avg.c"
#endif
#include "src/sched_mc_table.c"
#ifndef WP_LIVE
#include "src/sched_mc_topology.c"
#include "src/sched_mc_power.c"
#include "src/cpu_power.c"
#include "src/cpu_domains.c"
#endif
#include "src/topology.c"
#ifndef WP_LIVE
#include "src/sched_mc_boot.c"
#endif
#include "src/topology_numa.c"
#ifndef WP_LIVE
#include "src/demand_clamped.c"
#include "src/iowait.c"
#endif
#include "src/freq.c"
#ifndef WP_LIVE
#include "src/ondemand.c"
#endif
#include "src/energy_model.c"
#include "src/signals.c"
#include "src/idle_hints.c"
#include "src/duration.c"
#ifndef WP_LIVE
#include "src/delayed.c"
#endif
#include "src/queue_mean.c"
#include "src/queue_sleepers.c"
#include "src/queue.c"
#include "src/rq.c"
#ifndef WP_LIVE
#include "src/task_group_load.c"
#include "src/task_group_signals.c"
#include "src/task_group.c"
#endif
#ifndef WP_LIVE
#include "src/classes.c"
#include "src/freq_limit.c"
#endif
#include "src/group_class.c"
#include "src/energy_util.c"
#ifndef WP_LIVE
#include "src/energy.c"
#include "src/energy_6_1.c"
#endif
#include "src/energy_delta.c"
#include "src/idle_search.c"
#include "src/short_wake.c"
#include "src/idle_scan.c"
#ifndef WP_LIVE
#include "src/idle_scan_prop.c"
#endif
#include "src/idle_capacity.c"
#include "src/idle_sibling.c"
#include "src/idlest_class.c"
#include "src/power_policy.c"
#include "src/sched_mc_pack.c"
#ifndef WP_LIVE
#include "src/idle_sibling_prop.c"
#include "src/sched_mc_place.c"
#include "src/idle_sibling_groups.c"
#include "src/wake_affine_load.c"
#include "src/idlest_load.c"
#endif
#include "src/idlest.c"
#ifndef WP_LIVE
#include "src/idlest_descent.c"
#endif
#include "src/select.c"
#ifndef WP_LIVE
#include "src/select_rt.c"
#include "src/wakeup_case.c"
#endif
#ifdef WP_EXPLAINS
#include "src/explain.c"
#endif
#include "src/balance_common.c"
#ifndef WP_LIVE
#include "src/packing_number.c"
#include "src/group_stats.c"
#include "src/group_counts.c"
#include "src/power_savings.c"
#endif
#include "src/asym_packing.c"
#include "src/busiest.c"
#include "src/imbalance.c"
#include "src/newidle_ratio.c"
#include "src/power_balance.c"
#include "src/balance.c"
#include "src/detach.c"
#include "src/newidle.c"
#ifndef WP_LIVE
#include "src/nohz_old.c"
#endif
#include "src/nohz.c"
#ifndef WP_LIVE
#include "src/sched_mc_irq.c"
#include "src/hotplug.c"
#include "src/thermal.c"
#endif
#include "src/live.c"
