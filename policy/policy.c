// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The policy core as one compilation unit, so that the small static functions of one file serve
 * the next without being exported. Order: later files may call earlier ones.
 */
#include "src/pelt.c"
#include "src/weights.c"
#include "src/util_est.c"
#include "src/uclamp.c"
#include "src/capacity.c"
#include "src/topology.c"
#include "src/freq.c"
#include "src/energy_model.c"
#include "src/signals.c"
#include "src/idle_hints.c"
#include "src/rq.c"
#include "src/queue.c"
#include "src/group_class.c"
#include "src/energy_util.c"
#ifndef WP_LIVE /* the live build leaves out what only older kernels do */
#include "src/energy.c"
#endif
#include "src/energy_delta.c"
#include "src/idle_search.c"
#include "src/idle_scan.c"
#include "src/idle_capacity.c"
#include "src/idle_sibling.c"
#include "src/idlest_class.c"
#ifndef WP_LIVE
#include "src/idle_sibling_prop.c"
#include "src/idlest_load.c"
#endif
#include "src/idlest.c"
#include "src/select.c"
#include "src/balance_common.c"
#ifndef WP_LIVE
#include "src/group_stats.c"
#endif
#include "src/busiest.c"
#include "src/imbalance.c"
#include "src/newidle_ratio.c"
#include "src/balance.c"
#include "src/detach.c"
#include "src/newidle.c"
#include "src/nohz.c"
#include "src/live.c"
