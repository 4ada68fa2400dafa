// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The policy core as one compilation unit, so that the small static functions of one file serve
 * the next without being exported. Order: later files may call earlier ones.
 */
#include "src/pelt.c"
#include "src/weights.c"
#include "src/util_est.c"
#include "src/capacity.c"
#include "src/topology.c"
#include "src/freq.c"
#include "src/energy_model.c"
#include "src/signals.c"
#include "src/rq.c"
#include "src/queue.c"
#include "src/energy.c"
#include "src/idle_sibling.c"
#include "src/idlest.c"
#include "src/select.c"
#include "src/group_stats.c"
#include "src/balance.c"
#include "src/detach.c"
#include "src/newidle.c"
#include "src/nohz.c"
