// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Everything an era, a feature or --set decides: one u32 for each parameter of params.def.h, so
 * that a home can fill them from one table of keys.
 *
 * What must stay: one u32 for each parameter, in the order of params.def.h; `room` keeps the size,
 * so that a parameter that is added moves no field behind wp_params; what only the simulator reads
 * has another name in the live build. Tests by part:
 * crates/scx/tests/parity/homes.rs::`every_home_reads_what_is_declared` (WP_FIELD,
 * WP_IN_SIMULATOR), crates/policy-sys/src/policy.rs::`parameters_check_key_and_range` (the table of
 * keys).
 */
#ifndef WAKEPLACE_PARAMS_H
#define WAKEPLACE_PARAMS_H

#include "wakeplace/limits.h"
#include "wakeplace/port.h"

/* The values of choices: enum wp_pelt_scale { WP_PELT_CONTRIB, ... }; and so on. */
#define WP_GROUP(name)
#define WP_SWITCH(...)
#define WP_RANGE(...)
#define WP_AUTO(...)
#define WP_VALUE(constant, name) constant,
#define WP_CHOICE(name, type, where, when, initial, rule, doc, values) enum type { values };
#include "wakeplace/params.def.h"

#define WP_GROUP(name)
#define WP_SWITCH(...) +1
#define WP_RANGE(...)  +1
#define WP_AUTO(...)   +1
#define WP_CHOICE(...) +1
enum {
	WP_NR_PARAMS = 0
#include "wakeplace/params.def.h"
};

/* The live build cannot read what only the simulator reads: the field has another name there.
 * homes.rs takes all of them away to see what is read. */
#ifdef WP_NO_PARAMS
#define WP_FIELD(name) without_##name
#else
#define WP_FIELD(name) name
#endif
#ifdef WP_LIVE
#define WP_IN_SIMULATOR(name) only_simulated_##name
#else
#define WP_IN_SIMULATOR(name) WP_FIELD(name)
#endif
#define WP_IN_BOTH(name) WP_FIELD(name)
#define WP_IN_LIVE_HAS(...) WP_FIELD
#define WP_IN_LIVE_SETS(value) WP_FIELD

#define WP_GROUP(name)
#define WP_SWITCH(name, where, ...) u32 WP_IN_##where(name);
#define WP_RANGE(name, from, to, where, ...) u32 WP_IN_##where(name);
#define WP_AUTO(name, from, to, where, ...) u32 WP_IN_##where(name);
#define WP_CHOICE(name, type, where, ...) u32 WP_IN_##where(name);
struct wp_params {
#include "wakeplace/params.def.h"
	u32 room[WP_MAX_PARAMS - WP_NR_PARAMS]; /* a new parameter moves nothing else */
};

#endif
