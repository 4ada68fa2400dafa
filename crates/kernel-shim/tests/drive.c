// SPDX-License-Identifier: GPL-2.0-only
/*
 * drive KERNEL.SO [-v] [SCENARIO [SECONDS [TASKS]]]: runs a scenario and prints shares, counts and
 * a hash of all decisions. The same call prints the same bytes.
 *   periodic   hikey960, tasks of 5 % that a creator forks (the default)
 *   busy       hikey960, tasks that never sleep
 *   storm      hikey960, everything at random: classes, nice, masks, groups, hotplug, limits,
 *              parameters
 *   deadline   the same with deadline tasks and without hotplug
 *   probes     a storm, and what arrives where or when it cannot be taken (probes.c)
 *   groups     hikey960, two groups of busy tasks with weights 100 and 300, a third with half a CPU
 *   big        512 CPUs: 4 nodes, 64 cores of 2 threads each
 * MACHINE=x86 in the environment: 2 nodes, 4 cores of 2 threads each, instead of the hikey960.
 * Page: docs/guide/kernel.md; crates/kernel-shim/README.md.
 *
 * What must stay: the same call prints the same bytes: `cargo xtask` runs each scenario twice and
 * compares (xtask/src/trees/shim.rs). `periodic` makes the default load; `on_fault`,
 * `on_bell` and `keep_frame` say where a kernel stood when it failed or hung.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include "host.h"
#include "scenario.h"

static void periodic(unsigned n, double share)
{
	struct task *creator = &tasks[0];

	nr_tasks = n + 1;
	for (unsigned i = 0; i < nr_tasks; i++) {
		tasks[i].number = i;
		tasks[i].period = 16000000;
		tasks[i].work = 16000000 * share;
		tasks[i].phase = 1000000ULL * (100 + i * 16 / n) + i * 1237;
	}
	creator->creates = creator->alive = 1;
	creator->children = n;
	creator->left = 3000000;
	creator->last_cpu = -1;
	struct wpk_call fork = { .op = WPK_FORK, .task = 0, .name = "creator" };

	if (kernel.spawn(0, &fork))
		die("no creator");
}

static void keep_frame(void *context)
{
	ucontext_t *c = context;

#if defined(__x86_64__)
	host_frame = c->uc_mcontext.gregs[REG_RBP];
#elif defined(__aarch64__)
	host_frame = c->uc_mcontext.regs[29];
#endif
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	wpk_u64 address = (wpk_u64)(uintptr_t)info->si_addr;
	static char text[128];

	keep_frame(context);

	snprintf(text, sizeof(text), "%s at %#llx", signal == SIGFPE ? "division by zero" :
		 kernel.in_guard(address) ? "stack overflow" : "wild access", address);
	kernel.die(WPK_FAULT_HOST, text);
}

/*
 * The budget of one entry: when the clock of the processor rings twice at the same event, it does
 * not end.
 */
static void on_bell(int signal, siginfo_t *info, void *context)
{
	static uint64_t seen = ~0ULL;

	if (host_inside && seen == host_inside) {
		keep_frame(context);
		kernel.die(WPK_FAULT_HOST, "an entry that does not end");
	}
	seen = host_inside;
}

int main(int argc, char **argv)
{
	static char stack[65536];
	stack_t alternative = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK |
			SA_NODEFER };
	struct itimerval bell = { 0 };
	const char *object = NULL, *scenario = NULL;
	double seconds = 0;
	unsigned n = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-v"))
			verbose++;
		else if (!object)
			object = argv[i];
		else if (!scenario)
			scenario = argv[i];
		else if (!seconds)
			seconds = atof(argv[i]);
		else
			n = atoi(argv[i]);
	}
	if (!object)
		die("drive KERNEL.SO [-v] [SCENARIO [SECONDS [TASKS]]]");
	if (!getenv("NO_HANDLER")) {
		sigaltstack(&alternative, NULL);
		sigaction(SIGSEGV, &act, NULL);
		sigaction(SIGBUS, &act, NULL);
		sigaction(SIGFPE, &act, NULL);
		sigaction(SIGILL, &act, NULL);
		bell.it_interval.tv_sec = bell.it_value.tv_sec = 5;
		act.sa_sigaction = on_bell;
		sigaction(SIGVTALRM, &act, NULL);
		setitimer(ITIMER_VIRTUAL, &bell, NULL);
	}
	scenario = scenario ? scenario : "periodic";
	seconds = seconds ? seconds : 10;
	if (!strcmp(scenario, "big"))
		machine_big(512);
	else if (getenv("MACHINE") && !strcmp(getenv("MACHINE"), "x86"))
		machine_small_x86();
	else
		machine_hikey960();
	host_start(object);
	if (!strcmp(scenario, "storm") || !strcmp(scenario, "deadline")) {
		storm(n ? n : 40, !strcmp(scenario, "deadline"));
	} else if (!strcmp(scenario, "probes")) {
		probes();
	} else if (!strcmp(scenario, "groups")) {
		weights();
	} else {
		periodic(n ? n : !strcmp(scenario, "big") ? 600 : 10, 0.05);
		if (!strcmp(scenario, "busy"))
			for (unsigned i = 1; i < nr_tasks; i++)
				tasks[i].work = 1e15;
	}
	parameters();
	host_run(started + (uint64_t)(seconds * 1e9));
	host_report();
	if (!strcmp(scenario, "groups"))
		weights_report();
	if (!strcmp(scenario, "probes"))
		probes_report();
	return 0;
}
