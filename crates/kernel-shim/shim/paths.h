/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of wakeplace.h for kernels whose paths take time, as each access to memory has a price
 * (objects built with WPSIM_COHERENT; docs/rules/contended-lines.md#coherence).
 *
 * What must stay: order, sizes and meaning of fields are those of crates/kernel-abi/src/lines.rs
 * and paths.rs; a change of either needs another WPK_ABI. May change: comments.
 *
 * Tests: crates/kernel-tree/src/kernel/tests.rs::structs_are_laid_out_as_in_the_header
 */
#ifndef WAKEPLACE_PATHS_H
#define WAKEPLACE_PATHS_H

/* The transfer of a cache line to a CPU that does not have it. */
struct wpk_coherence {
	wpk_u32 near_ns;	/* from a CPU of the same last-level cache */
	wpk_u32 far_ns;		/* from another one */
	wpk_u32 clean_ns;	/* a read of a line not written since keeps it so long */
	wpk_u32 ipi_ns;		/* an interrupt takes so long to another CPU */
};

/* What transfers of one word of memory by one instruction cost. */
struct wpk_line_use {
	/* in the object: of a variable (a per-CPU one: of its template); 0: allocated */
	wpk_u64 address;
	wpk_u64 site;		/* allocated: where it was asked for, in the object */
	const char *name;	/* allocated: its type, where that is known; or null */
	wpk_u64 size;		/* allocated: bytes */
	wpk_u64 offset;		/* allocated: of the word */
	wpk_u64 code;		/* the instruction after the access, in the object */
	wpk_u64 per_cpu;	/* each CPU has its own */
	wpk_u64 several;	/* more than one line */
	wpk_u64 transfers, writes, far;
	wpk_u64 cost_ps, wait_ps, lock_ps;	/* `lock_ps`: waits for the lock that lies there */
};

/* A CPU has gone on in its path without the host. */
struct wpk_went {
	wpk_u64 ns;
	wpk_u32 cpu;
	wpk_u32 unused;
};

/* So many may do so in an entry. */
#define WPK_WENT 256

/*
 * CPUs in the middle of a path (WPK_STALL) go on in the order of their times. An entry of one of
 * them goes on with the next ones, as long as nothing of that is the host's to see.
 */
struct wpk_paths {
	/* the host: when the next thing happens but for paths; the kernel: by now, with paths */
	wpk_u64 horizon_ns;
	wpk_u64 until_ns;	/* the host: up to then a CPU may go on without it */
	wpk_u64 looked_ns;	/* up to when a CPU that went on has looked ahead; the host: 0 */
	wpk_u64 local_ns;	/* when the entry was over, on `cpu` */
	wpk_u64 next_ns;	/* when the first one goes on; WPK_NEVER: there is none */
	wpk_u32 next_cpu;
	wpk_u32 cpu;		/* the last one that the entry ran on */
	wpk_u32 nr_went;	/* the host: 0 */
	wpk_u32 unused;
	struct wpk_went went[WPK_WENT];	/* in their order */
};
#endif
