// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sleepers that a live queue keeps for a while (queue_sleepers.c). */
#ifndef WAKEPLACE_SLEEPERS_H
#define WAKEPLACE_SLEEPERS_H

#include "wakeplace/port.h"

/* Places per CPU: of more the sum of debts is settled at once, as if they had never been kept. */
#define WP_LIVE_QUEUE_SLEEPERS 32u

/* One of them. `task` is who it is, and is written last and taken away first: other CPUs read. */
struct wp_live_queue_sleeper {
	u64 vtime_ns;
	u64 deadline_ns;
	u32 weight;
	u32 task; /* its id; 0: the place is free */
};

#endif
