/* SPDX-License-Identifier: GPL-2.0-only */
/* A small deterministic host: a clock, tasks that work and sleep, and a kernel.so that decides. */
#ifndef WP_TEST_HOST_H
#define WP_TEST_HOST_H
#include <stdint.h>
#include "../shim/wakeplace.h"

#define wpk_continue_ wpk_continue
#define MAX_CPUS 1024
#define MAX_TASKS 8192
#define MAX_DOMAINS 64

/* The kernel, by the names of its entries. */
#define ENTRIES(X)                                                                              \
	X(abi) X(release) X(hz) X(view) X(boot) X(interrupt) X(device) X(continue_) X(call)     \
	X(spawn) X(control) X(cpu_state) X(task_state) X(kthread_name) X(get) X(die)            \
	X(backtrace) X(in_guard)
struct kernel {
	void *handle;
#define X(name) __typeof__(&wpk_##name) name;
	ENTRIES(X)
#undef X
};
extern struct kernel kernel;

/* A task: works, sleeps until its next period (or until woken, when the period is 0), again. */
struct task {
	int alive, creates, next_child, children, forever;
	int in_io, yields, execs;	/* how it sleeps; what it does after most jobs */
	uint32_t number;
	double left;		/* of the work, in ns of a CPU of capacity 1024 */
	double work;
	uint64_t period, next, phase;
	uint64_t ran[4], jobs, moves, late, waited, woke;
	int last_cpu, waiting;
	uint64_t exits_at;
	struct wpk_attr attr;
	int has_attr;
	uint32_t group;
};
extern struct task tasks[MAX_TASKS];
extern unsigned nr_tasks;

struct machine {
	struct wpk_machine m;
	struct wpk_machine_cpu cpus[MAX_CPUS];
	struct wpk_domain domains[MAX_DOMAINS];
	struct wpk_idle_table idle[4];
	int class_of[MAX_CPUS];	/* 0 little, 1 middle, 2 big: for shares of run time */
};
extern struct machine machine;

/* The number of the event whose entry is under way; 0: none. */
extern volatile uint64_t host_inside;
/* The frame that a signal broke into; 0: no signal. */
extern uint64_t host_frame;
extern int verbose;
extern uint64_t started, warned_count, done_count;
void host_start(const char *object);
void host_run(uint64_t until);
void host_report(void);
/* Null, or called for a CPU that waits for another one, and of what host->done tells. */
extern void (*host_spins)(unsigned cpu);
extern void (*host_told)(uint64_t ticket, int64_t result);
void host_action(int (*action)(void), uint64_t every);
int64_t control(uint32_t op, uint32_t task, uint32_t number, uint64_t at, const char *name,
		const char *value);
uint64_t draw(uint64_t below);
uint64_t now(void);
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
#endif
