// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a CPU knows of its tasks' performance hints (uclamp.c). */
#ifndef WAKEPLACE_UCLAMP_H
#define WAKEPLACE_UCLAMP_H

#include "wakeplace/port.h"

/*
 * The hints of one kind of the tasks queued on a CPU: the highest counts. Buckets keep the count
 * cheap; within a bucket the highest value seen holds until the bucket is empty.
 */
struct wp_uclamp_rq {
	u32 tasks[8]; /* WP_UCLAMP_BUCKETS are used: a power of two for WP_AT */
	u32 highest[8];
};

enum wp_uclamp_id { WP_UCLAMP_MIN, WP_UCLAMP_MAX };

#endif
