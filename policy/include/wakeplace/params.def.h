// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * All parameters of a policy, each written once, in the order in which people see them. Made of it:
 * the enums and the struct (params.h), the table that parses and shows values (policy-sys, by
 * its build script), docs/guide/parameters.md (`cargo xtask params`).
 *
 *   WP_SWITCH(name, where, when, initial, rule, doc)           "on" or "off"
 *   WP_RANGE(name, from, to, where, when, initial, rule, doc)  an integer
 *   WP_AUTO(...)                                               likewise, or "auto": WP_NONE
 *   WP_CHOICE(name, enum, where, when, initial, rule, doc, WP_VALUE(constant, "name") ...)
 *
 * where: BOTH         the simulator and the live scheduler read it
 *        SIMULATOR    only the simulator does; the live build cannot read its field
 *        LIVE_HAS(v)  the live build has the forms v only; a policy with another cannot run there
 *        LIVE_SETS(v) the live scheduler has v, whatever the policy says
 * when:  RUN          for a whole run
 *        ANYTIME      may change while tasks run: each decision reads it anew
 * initial: what eras have that do not name it (crates/policy-sys/src/eras)
 * rule:    where the rule that reads it is written down
 *
 * crates/scx/tests/parity/homes.rs compares `where` with what the sources read.
 *
 * What must stay: the forms above, which crates/policy-sys/build/params.rs reads; the order, which
 * is that of struct wp_params and of docs/guide/parameters.md. Tests by part:
 * crates/scx/tests/parity/homes.rs::`every_home_reads_what_is_declared` (where),
 * crates/policy-sys/src/policy.rs::`parameters_check_key_and_range` (ranges and names),
 * xtask/src/params.rs::`what_is_of_another_form_is_refused` (forms),
 * xtask/src/params.rs::`an_old_page_is_found` (the page).
 */
#include "wakeplace/params/load_tracking.def.h"
#include "wakeplace/params/placement.def.h"
#include "wakeplace/params/packing.def.h"
#include "wakeplace/params/balance.def.h"
#include "wakeplace/params/sched_mc.def.h"
#include "wakeplace/params/frequency.def.h"
#include "wakeplace/params/queues.def.h"

#undef WP_GROUP
#undef WP_SWITCH
#undef WP_RANGE
#undef WP_AUTO
#undef WP_CHOICE
#undef WP_VALUE
