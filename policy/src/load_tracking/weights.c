// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Nice values as weights: one step of nice is about 10 % of CPU time, nice 0 = 1024
 * (docs/rules/queues.md#cfs). The tables are padded to a power of two for WP_AT.
 *
 * What must stay: the tables' numbers are the kernel's; crates/kernel-queues/src/weight.rs uses
 * them too. Free: how the tables are stored.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/pelt_vectors.rs: `nice_rows` (`wp_nice_weight`, `wp_nice_inv_weight`); fixtures/signals:
 * weight-nice-*.toml (both, and `wp_nice_index`).
 *
 * Callers: `nice_weight` and `nice_inv_weight` of crates/policy-sys/src/arith.rs, for engine and
 * queues.
 *
 * Tests: all/pelt_vectors.rs
 */
#include "wakeplace/policy.h"

static const u32 wp_weight_of[64] = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705,
	14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121,
	2501, 1991, 1586, 1277, 1024, 820, 655, 526,
	423, 335, 272, 215, 172, 137, 110, 87,
	70, 56, 45, 36, 29, 23, 18, 15,
};

/* 2^32 / weight, as the kernel rounds it. */
static const u32 wp_inv_weight_of[64] = {
	48388, 59856, 76040, 92818, 118348, 147320, 184698, 229616,
	287308, 360437, 449829, 563644, 704093, 875809, 1099582, 1376151,
	1717300, 2157191, 2708050, 3363326, 4194304, 5237765, 6557202, 8165337,
	10153587, 12820798, 15790321, 19976592, 24970740, 31350126, 39045157, 49367440,
	61356676, 76695844, 95443717, 119304647, 148102320, 186737708, 238609294, 286331153,
};

/* nice below -20 or above 19 counts as the nearest. */
WP_INLINE u32 wp_nice_index(s32 nice)
{
	if (nice < -20)
		return 0;
	return nice > 19 ? 39 : (u32)(nice + 20);
}

/* The weight of a nice value. */
WP_FN u32 wp_nice_weight(s32 nice)
{
	return *WP_AT(wp_weight_of, wp_nice_index(nice));
}

/* 2^32 / weight, as the kernel rounds it. */
WP_FN u32 wp_nice_inv_weight(s32 nice)
{
	return *WP_AT(wp_inv_weight_of, wp_nice_index(nice));
}
