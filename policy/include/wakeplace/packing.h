// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Packing: groups of CPUs, or cores by frequency, filled one after the other (policy/src/packing).
 * The structs are the same in both builds.
 *
 * What must stay: room, use and power are as docs/rules/power-policy.md counts them, a CPU being
 * 1024 or 100 %; the home writes what is called a fact. Tests by part, names alone being of
 * crates/policy-sys/tests/all: power_policy.rs::`the_lowest_level_with_room_decides`
 * (`wp_pack_place`, `wp_pack_sums`), power_policy.rs::`the_leader_pulls_from_the_donor`
 * (`wp_pack_balance`), sched_mc.rs::`powers_of_the_table` (`wp_mc_table`),
 * sched_mc.rs::`places_by_mpidr` (`wp_mc_ids`), sched_mc.rs::`debug_files` (`wp_mc_write_scale`,
 * `wp_mc_write_power`).
 */
#ifndef WAKEPLACE_PACKING_H
#define WAKEPLACE_PACKING_H

#include "wakeplace/port.h"

struct wp_ctx;

/* Room and use of one group, both in percent of a CPU. */
struct wp_pack_sums {
	u64 room; /* T(x) x FULL_UTIL */
	u64 used;
	u64 weight; /* load of the queued tasks */
	u32 nr_running;
	u32 first_cpu; /* lowest number */
	u64 power; /* compute power of its CPUs, 1024 per full CPU; at present frequency */
	u64 cpus;  /* likewise, by number */
};

/* Placement: one domain, as one decision sees it. */
struct wp_pack_place {
	u32 policy; /* enum wp_power_policy in force */
	u32 waking;
	u32 leader; /* index within the domain, WP_NONE: none */
	u32 pad;
	u64 least;  /* room that the leader has left */
	u64 used;   /* of the whole domain */
	u64 power;
	u64 cpus;
	struct wp_pack_sums sums;
};

/* Balancing: one attempt. */
struct wp_pack_balance {
	u32 pulls;     /* this attempt packs: everything of the source may go */
	u32 perf_from; /* groups from this place on were seen when spreading was decided */
	u32 power_ok;
	u32 perf_ok;
	u32 donor; /* index within the domain, WP_NONE: none */
	u32 leader;
	u32 donor_first; /* lowest CPU */
	u32 leader_first;
	u64 donor_used;
	u64 leader_used;
	u64 per_task; /* average load of the donor's tasks */
	u32 highest;  /* sched-mc: group with tasks whose CPUs have the highest numbers */
	u32 highest_first;
	u64 highest_per_task;
	u32 local_has_room;
	u32 pad;
	struct wp_pack_sums sums;
};

#define WP_MC_STEPS 32u

/* Fact: how many tasks a core is to hold at each frequency, before others take some. */
struct wp_mc_table {
	u32 step_khz; /* entry = frequency / step, beyond the end the last one; 0: there is none */
	u32 nr;
	u32 tasks[WP_MC_STEPS]; /* at least 1, never rising */
};

/* What a CPU's identification register says of its place (MPIDR); WP_NONE: nothing. */
struct wp_mc_ids {
	u32 thread;
	u32 core;
	u32 socket;
};

/* Which table a CPU's power follows ("scale" in the debug view). */
enum wp_mc_config { WP_MC_DEFAULT, WP_MC_CA9 };

struct wp_mc_cpu {
	u32 mpidr;      /* fact: the register, 0: the platform states none */
	u32 known_core; /* fact: a core of the kind that the table is for */
	u32 config;     /* enum wp_mc_config */
	u32 freq_khz;   /* as of the last transition; 0: there was none since boot */
	u32 cpu_power;  /* what the architecture claims, 1024 = one task; 0: not set, 1024 */
	struct wp_mc_ids ids;
};

/* Natively only: the live build does not hold what follows. */
/* sched_mc_topology.c, sched_mc_power.c, sched_mc_irq.c */
void wp_mpidr_ids(u32 mpidr, struct wp_mc_ids *ids WP_NONNULL);
int wp_mc_write_scale(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 config);
int wp_mc_write_power(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 power);
u32 wp_mc_cpu_power(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);
u32 wp_irq_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);

#endif
