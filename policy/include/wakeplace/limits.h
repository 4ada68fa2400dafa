// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sizes. Every array that is indexed by a value from memory has a power-of-two size (WP_AT).
 *
 * What must stay: powers of two, as WP_AT masks an index with them; both builds have the same. What
 * has no room is refused with words (crates/policy-sys/src/machine.rs). Tests by part, names alone
 * being of crates/policy-sys/tests/all: bounds.rs::`an_index_past_the_end_is_told` (WP_MAX_CPUS),
 * topology_numa.rs::`refusals` (WP_MAX_NODES, WP_MAX_LIST),
 * topology_numa.rs::`a_level_that_adds_nothing_takes_no_room` (WP_MAX_DOMS).
 */
#ifndef WAKEPLACE_LIMITS_H
#define WAKEPLACE_LIMITS_H

/* The same in both builds, so that a home may copy the context of one into the other. */
#define WP_MAX_CPUS 1024u
#define WP_MASK_WORDS (WP_MAX_CPUS / 64u)
/* Levels of the domain tree of one CPU (SMT, CLS, MC, PKG, NODE and up to three NUMA distances). */
#define WP_MAX_LEVELS 8u
/* All distinct domains: half as many cores as CPUs, plus the levels above. */
#define WP_MAX_DOMS WP_MAX_CPUS
/* All groups: at most one per CPU in the lowest level plus the levels above. */
#define WP_MAX_GROUPS (2u * WP_MAX_CPUS)
/* CPU lists of all domains and groups. */
#define WP_MAX_LIST (16u * WP_MAX_CPUS)
#define WP_MAX_PERF_DOMS 64u
/* NUMA nodes, where their spans overlap: one bit each. */
#define WP_MAX_NODES 64u
#define WP_MAX_STATES 64u
#define WP_MAX_FREQ_DOMS WP_MAX_CPUS
/* Frequencies of all frequency domains; domains with equal tables may share one. */
#define WP_MAX_OPPS 8192u
/* Candidates a decision reports. */
#define WP_MAX_CANDIDATES 32u
/* Steps in which a queue counts its urgent tasks. */
#define WP_URGENCY_STEPS 4u
/* Parameters that struct wp_params has room for. */
#define WP_MAX_PARAMS 256u

#define WP_NONE 0xffffffffu

#endif
