// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a storm does not ask: devices of CPUs that are gone, tasks that come to a CPU with
 * interrupts off, calls that are refused after their task has lost the CPU. The host's words are
 * written over as soon as an entry is over.
 * Page: docs/guide/kernel.md; crates/kernel-shim/README.md.
 *
 * What must stay: each refusal has its error and is counted (`probes_report`). Caller: drive.c
 * (`probes`, `probes_report`); `at_spin`, `at_done` and `probe` are called by the host's loop.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host.h"
#include "scenario.h"

#define EINVAL 22
#define NR_SPAWNS 40
#define WRONG 77	/* tickets */
#define SPAWN 78

static unsigned storm_end;	/* tasks from here on are those of probes */
static unsigned late_spawns, late_wrongs, spawned, woken;
static struct {
	uint32_t task;
	uint64_t jobs, until;
} wakes;

/* A task that sleeps until it is woken, made of words that are gone after this. */
static int64_t make(unsigned cpu, int by_call, wpk_u64 ticket, const struct wpk_attr *wrong)
{
	char name[] = "probe";
	struct wpk_attr attr = wrong ? *wrong : (struct wpk_attr){};
	struct wpk_call fork = { .op = WPK_FORK, .task = nr_tasks, .name = name, .attr = &attr,
			.ticket = ticket };
	struct task *t = &tasks[nr_tasks];
	int64_t r;

	*t = (struct task){ .number = nr_tasks++, .alive = 1, .left = 60000, .work = 60000,
			.last_cpu = -1 };
	r = by_call ? kernel.call(cpu, &fork) : kernel.spawn(cpu, &fork);
	memset(name, '?', sizeof(name));
	memset(&attr, 0xff, sizeof(attr));
	memset(&fork, 0xff, sizeof(fork));
	return r;
}

/* Tasks come to CPUs that wait for others. */
static void at_spin(unsigned cpu)
{
	int64_t r;

	if (spawned == NR_SPAWNS)
		return;
	spawned++;
	r = make(cpu, 0, SPAWN, NULL);
	if (r == WPK_PENDING)
		late_spawns++;
	else if (r)
		die("a task for CPU %u: %lld", cpu, (long long)r);
}

static unsigned told_spawns, told_wrongs;	/* late */
static void at_done(uint64_t ticket, int64_t result)
{
	if (ticket == SPAWN) {
		if (result)
			die("a late task: %lld", (long long)result);
		late_spawns--;
		told_spawns++;
	} else if (ticket == WRONG) {
		if (result != -EINVAL)
			die("a late error: %lld", (long long)result);
		late_wrongs--;
		told_wrongs++;
	}
}

/* A real-time task without a priority. It is made, and then the kernel says that it is none. */
static void fork_wrongly(void)
{
	static const struct wpk_attr fifo = { .policy = 1 };
	struct wpk_view *view = kernel.view();

	for (unsigned c = 0; c < view->nr_cpus; c++) {
		int64_t r;

		if (view->cpus[c].state != WPK_USER || view->cpus[c].running & WPK_KTHREAD)
			continue;
		r = make(c, 1, WRONG, &fifo);
		if (!r)
			late_wrongs++;
		else if (r != -EINVAL)
			die("a wrong fork: %lld", (long long)r);
		return;
	}
}

/* The device of a CPU that is gone wakes a task. */
static void wake_where_gone(void)
{
	struct wpk_view *view = kernel.view();
	wpk_u32 task = wakes.task;

	if (wakes.until) {
		struct wpk_task_state t;

		/* It may have to wait for real-time tasks: awake is all it must be. */
		kernel.task_state(task, &t);
		if (tasks[task].jobs > wakes.jobs || !t.state) {
			wakes.until = 0;
			woken++;
		} else if (now() > wakes.until) {
			die("task %u was not woken by a device of a CPU that is gone", task);
		}
		return;
	}
	for (task = storm_end; task < nr_tasks && !tasks[task].waiting; task++)
		;
	for (unsigned c = 0; c < view->nr_cpus && task < nr_tasks; c++)
		if (view->cpus[c].state == WPK_OFFLINE) {
			wakes.task = task;
			wakes.jobs = tasks[task].jobs;
			wakes.until = now() + 100000000;
			if (kernel.device(c, &task, 1))
				die("a device of CPU %u", c);
			task = ~0U;
			return;
		}
}

static int (*blow)(void);
static int probe(void)
{
	static unsigned times;

	if (++times % 7 == 0 && times < 3000)
		fork_wrongly();
	wake_where_gone();
	return blow();
}

void probes(void)
{
	blow = storm(40, 0);
	storm_end = nr_tasks;
	host_spins = at_spin;
	host_told = at_done;
	host_action(probe, 700001);
}

void probes_report(void)
{
	if (late_spawns || late_wrongs)
		die("not told: %u late tasks, %u late errors", late_spawns, late_wrongs);
	if (!told_spawns || !woken || spawned < NR_SPAWNS || (getenv("SLOW") && !told_wrongs))
		die("nothing was probed: %u late tasks, %u late errors, %u woken, %u spawned",
			told_spawns, told_wrongs, woken, spawned);
	printf("probed: %u late tasks, %u late errors, %u woken\n", told_spawns, told_wrongs,
		woken);
}
