// SPDX-License-Identifier: GPL-2.0-only
/*
 * Machines, and a storm of everything that a kernel can be asked for.
 * Page: docs/guide/kernel.md; crates/kernel-shim/README.md; figures of hikey960:
 * platforms/hikey960.toml.
 *
 * What must stay: a storm follows from `draw` alone: draws keep their order. Caller: drive.c
 * (scenario.h has what it calls); `change_class`, `change_group`, `change_machine`, `parameters`
 * and `blow` are one kind of change each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host.h"
#include "scenario.h"

static const struct wpk_opp little[] = { { 533000, 28728 }, { 999000, 70329 }, { 1402000, 124918 },
					 { 1709000, 187990 }, { 1844000, 245436 } };
static const struct wpk_opp big[] = { { 903000, 243358 }, { 1421000, 500192 }, { 1805000, 804127 },
				      { 2112000, 1161600 }, { 2362000, 1571911 } };
static const struct wpk_idle_state arm_states[] = {
	{ "WFI", 1000, 1000, 0, 0 }, { "cpu", 1050000, 1500000, 0, 0 }, { "cluster", 2100000,
		3500000, 0,
			0 }
};
static const struct wpk_idle_state x86_states[] = {
	{ "POLL", 0, 0, WPK_POLLING, 0 }, { "C1", 2000, 2000, 0, 0 }, { "C6", 133000, 600000, 0, 0 }
};

void machine_hikey960(void)
{
	int slow = getenv("SLOW") != NULL;

	for (unsigned c = 0; c < 8; c++) {
		unsigned b = c >= 4;

		machine.cpus[c] = (struct wpk_machine_cpu){ .capacity = b ? 1024 : 462, .core = c,
				.cluster = WPK_NONE,
							    .llc = b, .domain = b, .idle = 0 };
		machine.class_of[c] = b ? 2 : 0;
	}
	for (unsigned d = 0; d < 2; d++)
		machine.domains[d] = (struct wpk_domain){
			.opps = d ? big : little, .nr_opps = 5, .transition_latency_ns = 300000,
				.rate_limit_us = 450,
			.flags = (slow ? 0 : WPK_FAST_SWITCH) | WPK_ENERGY_MODEL | WPK_ANY_CPU,
			.switch_ns = slow ? 50000 : 0,
		};
	machine.idle[0] = (struct wpk_idle_table){ arm_states, 3, 0 };
	machine.m = (struct wpk_machine){ .nr_cpus = 8, .nr_domains = 2, .nr_idle = 1, .nr_nodes
		= 1,
			.seed = 1,
					  .governor = getenv("GOVERNOR"), .idle_governor =
					  	getenv("IDLE_GOVERNOR") };
}

/* Two nodes of four cores of two threads, each with a frequency of its own. */
void machine_small_x86(void)
{
	static wpk_u32 distances[] = { 10, 21, 21, 10 };
	unsigned n = 16;

	for (unsigned c = 0; c < n; c++) {
		unsigned core = c % (n / 2), node = core / (n / 4);

		machine.cpus[c] = (struct wpk_machine_cpu){
			.capacity = 1024, .core = core, .cluster = WPK_NONE, .llc = node,
			.package = node, .node = node, .domain = c, .idle = 0,
		};
		machine.class_of[c] = 2;
		machine.domains[c] = (struct wpk_domain){
			.opps = big, .nr_opps = 5, .transition_latency_ns = 10000,
			.flags = WPK_FAST_SWITCH,
		};
	}
	machine.idle[0] = (struct wpk_idle_table){ x86_states, 3, 0 };
	machine.m = (struct wpk_machine){
		.nr_cpus = n, .nr_domains = n, .nr_idle = 1, .nr_nodes = 2,
		.distances = distances, .seed = 1, .governor = getenv("GOVERNOR"),
		.idle_governor = getenv("IDLE_GOVERNOR"),
	};
}

void machine_big(unsigned n)
{
	static wpk_u32 distances[16];

	for (unsigned c = 0; c < n; c++) {
		unsigned core = c % (n / 2), node = core / (n / 8);

		machine.cpus[c] = (struct wpk_machine_cpu){ .capacity = 1024, .core = core,
			.cluster = WPK_NONE,
							    .llc = core / 8, .package = node,
							    	.node = node,
							    .domain = WPK_NONE, .idle = 0 };
		machine.class_of[c] = 2;
	}
	for (unsigned i = 0; i < 16; i++)
		distances[i] = i % 5 == 0 ? 10 : (i / 4 ^ i % 4) == 1 ? 12 : 32;
	machine.idle[0] = (struct wpk_idle_table){ x86_states, 3, 0 };
	machine.m = (struct wpk_machine){ .nr_cpus = n, .nr_idle = 1, .nr_nodes = 4,
			.distances = distances, .seed = 1,
					  .idle_governor = getenv("IDLE_GOVERNOR") };
}

/* PARAMETERS="name=value name=value": set after the tasks were created. */
void parameters(void)
{
	char *list = getenv("PARAMETERS"), *word, *copy = list ? strdup(list) : NULL;

	for (word = copy ? strtok(copy, " ") : NULL; word; word = strtok(NULL, " ")) {
		char *value = strchr(word, '='), text[1024];
		long long r;

		if (!value)
			die("a parameter is name=value");
		*value++ = 0;
		r = control(WPK_SET, WPK_NONE, 0, 0, word, value);
		if (r)
			fprintf(stderr, "%s=%s: %lld\n", word, value, r);
		if (kernel.get(word, text, sizeof(text)) > 0)
			fprintf(stderr, "%s is %s\n", word, text);
	}
	free(copy);
}

static uint32_t groups[64];
static unsigned nr_groups;
/*
 * Deadline tasks or hotplug, not both: a task that left its deadline class on a CPU that went makes
 * the kernels themselves divide by the number of CPUs left, which is 0.
 */
static int deadlines;
static unsigned storm_tasks, refused, asked, down;
/* What a tree does not know it refuses, which is no finding. */
static const char *const settings[][2] = {
	{ "features", "NO_TTWU_QUEUE" }, { "features", "TTWU_QUEUE" },
	{ "features", "NO_SIS_UTIL" }, { "features", "SIS_UTIL" },
	{ "features", "NO_UTIL_EST" }, { "features", "UTIL_EST" },
	{ "features", "NO_RUN_TO_PARITY" }, { "features", "RUN_TO_PARITY" },
	{ "features", "HRTICK,HRTICK_DL" }, { "features", "NO_HRTICK,NO_HRTICK_DL" },
	{ "features", "NEXT_BUDDY" }, { "features", "NO_NEXT_BUDDY" },
	{ "features", "NO_DELAY_DEQUEUE" }, { "features", "DELAY_DEQUEUE" },
	{ "features", "LB_MIN,RT_RUNTIME_SHARE" }, { "features", "NO_LB_MIN,NO_RT_RUNTIME_SHARE" },
	{ "features", "RT_PUSH_IPI" }, { "features", "NO_RT_PUSH_IPI" },
	{ "features", "NO_NI_RANDOM,NO_NI_RATE" }, { "features", "NI_RANDOM,NI_RATE" },
	{ "features", "PARANOID_AVG" }, { "features", "NO_PARANOID_AVG" },
	{ "features", "LATENCY_WARN" }, { "features", "NO_LATENCY_WARN" },
	{ "cgroup_mode", "up" }, { "cgroup_mode", "smp" }, { "cgroup_mode", "max" },
	{ "cgroup_mode", "concur" }, { "cgroup_mode", "tasks" },
	{ "tunable_scaling", "0" }, { "tunable_scaling", "1" }, { "tunable_scaling", "2" },
	{ "base_slice_ns", "700000" }, { "base_slice_ns", "3000000" },
	{ "nr_migrate", "2" }, { "nr_migrate", "32" },
	{ "governor", "performance" }, { "governor", "schedutil" }, { "rate_limit_us", "2000" },
	{ "idle_governor", "menu" }, { "idle_governor", "teo" },
	{ "sched_energy_aware", "0" }, { "sched_energy_aware", "1" },
	{ "sched_util_clamp_min", "600" }, { "sched_util_clamp_min", "1024" },
	{ "sched_util_clamp_max", "900" }, { "sched_util_clamp_max", "1024" },
	{ "sched_util_clamp_min_rt_default", "300" },
	{ "sched_util_clamp_min_rt_default", "1024" },
	{ "sched_rt_runtime_us", "500000" }, { "sched_rt_runtime_us", "950000" },
	{ "sched_rr_timeslice_ms", "12" }, { "sched_cfs_bandwidth_slice_us", "1000" },
};
#define NR(array) (sizeof(array) / sizeof(*(array)))

static int64_t call(struct wpk_call *c)
{
	int64_t r = kernel.control(c);

	asked++;
	refused += r < 0 && r != WPK_PENDING;
	if (r < 0 && verbose)
		fprintf(stderr, "op %u task %u: %lld\n", c->op, c->task, (long long)r);
	return r;
}

static void change_class(uint32_t task)
{
	static const uint32_t policies[] = { 0, 0, 3, 5, 1, 2, 6 };
	struct wpk_attr a = { .policy = policies[draw(7)], .nice = (int)draw(40) - 20 };

	if (a.policy == 6 && !deadlines)
		a.policy = 0;
	if (a.policy == 1 || a.policy == 2)
		a.priority = 1 + draw(90);
	if (a.policy == 6) {
		a.runtime = 1000000 + draw(1000000);
		a.deadline = 8000000;
		a.period = 16000000;
	}
	if ((a.policy == 0 || a.policy == 3) && !draw(3))
		a.runtime = 200000 + draw(20000000);	/* the slice that it asks for */
	if (a.policy != 6 && draw(2)) {
		a.flags = 0x60;
		a.util_min = draw(512);
		a.util_max = 512 + draw(513);
	}
	call(&(struct wpk_call){ .op = WPK_SETATTR, .task = task, .attr = &a });
}

/* Both versions of the controller have their files here; a number takes the place of %u. */
static void change_group(void)
{
	static const char *const files[][2] = {
		{ "cpu.weight", "%u" }, { "cpu.weight.nice", "-%u" }, { "cpu.idle", "1" },
		{ "cpu.idle", "0" }, { "cpu.max", "%u000 20000" }, { "cpu.max", "max 20000" },
		{ "cpu.max.burst", "%u000" }, { "cpu.uclamp.min", "%u.5" },
		{ "cpu.uclamp.max", "%u" }, { "cpu.uclamp.max", "max" }, { "shares", "%u00" },
		{ "cfs_quota_us", "%u000" }, { "cfs_quota_us", "-1" },
		{ "cfs_period_us", "%u0000" }, { "cfs_burst_us", "%u00" },
	};
	unsigned g = draw(nr_groups + 1), f = draw(NR(files));
	char text[64];

	if (g == nr_groups && nr_groups < 16) {
		int64_t r = call(&(struct wpk_call){ .op = WPK_GROUP, .group = nr_groups ?
				groups[draw(nr_groups)] : 0 });

		if (r > 0)
			groups[nr_groups++] = r;
		return;
	}
	if (g == nr_groups)
		return;
	/* One with tasks or groups in it is refused. */
	if (!draw(6) && !call(&(struct wpk_call){ .op = WPK_GROUP_REMOVE, .group = groups[g] })) {
		groups[g] = groups[--nr_groups];
		return;
	}
	snprintf(text, sizeof(text), files[f][1], 1 + (unsigned)draw(20));
	call(&(struct wpk_call){ .op = WPK_GROUP_SET, .group = groups[g], .name = files[f][0],
			.value = text });
}

static void change_machine(void)
{
	static const wpk_u64 half = 0x0f;
	uint32_t cpu = 1 + draw(machine.m.nr_cpus - 1);

	switch (draw(5)) {
	case 0:
		if (deadlines)
			break;
		if (down && draw(2)) {
			call(&(struct wpk_call){ .op = WPK_HOTPLUG, .cpu = down, .number = 1 });
			down = 0;
		} else if (!down) {
			down = cpu;
			call(&(struct wpk_call){ .op = WPK_HOTPLUG, .cpu = cpu, .number = 0 });
		}
		break;
	case 1:
	case 2: {
		struct wpk_call limit = { .op = draw(2) ? WPK_LIMIT : WPK_PRESSURE,
			.number = draw(machine.m.nr_domains), .at = draw(3) ? 1402000 : 0 };

		call(&limit);
		break;
	}
	case 4:
		call(&(struct wpk_call){ .op = WPK_PARTITION, .mask = draw(2) ? &half : NULL });
		break;
	case 3: {
		const char *const *set = settings[draw(NR(settings))];

		call(&(struct wpk_call){ .op = WPK_SET, .name = set[0], .value = set[1] });
		break;
	}
	}
}

static int blow(void)
{
	uint32_t task = 1 + draw(storm_tasks);
	wpk_u64 mask = draw((1ULL << machine.m.nr_cpus) - 1) + 1;

	switch (draw(7)) {
	case 0:
		change_class(task);
		break;
	case 1:
		call(&(struct wpk_call){ .op = WPK_AFFINITY, .task = task, .mask = &mask });
		break;
	case 2:
		change_group();
		break;
	case 3:
		if (nr_groups)
			call(&(struct wpk_call){ .op = WPK_MOVE, .task = task, .group =
				groups[draw(nr_groups)] });
		break;
	case 4:
		change_machine();
		break;
	default: {
		wpk_u32 list[3] = { task, 1 + (wpk_u32)draw(storm_tasks),
			1 + (wpk_u32)draw(storm_tasks) };
		unsigned cpu = draw(machine.m.nr_cpus);

		if (kernel.view()->cpus[cpu].state != WPK_OFFLINE
			&& kernel.view()->cpus[cpu].state != WPK_START)
			kernel.device(cpu, list, 3);
	}
	}
	return 0;
}

int (*storm(unsigned n, int with_deadlines))(void)
{
	struct wpk_call fork = { .op = WPK_FORK, .task = 0, .name = "creator" };

	deadlines = with_deadlines;
	storm_tasks = n;
	nr_tasks = n + 1;
	for (unsigned i = 0; i < nr_tasks; i++) {
		struct task *t = &tasks[i];

		t->number = i;
		t->period = i % 3 ? 4000000 + draw(20000000) : 0;
		t->work = 100000 + draw(2000000);
		t->phase = draw(30000000);
		t->exits_at = i % 10 == 9 ? started + draw(3000000000ULL) : 0;
		t->in_io = i % 4 == 1;
		t->yields = i % 5 == 2;
		t->execs = i % 7 == 3;
	}
	tasks[0].creates = tasks[0].alive = 1;
	tasks[0].children = n;
	tasks[0].left = 1000000;
	if (kernel.spawn(0, &fork))
		die("no creator");
	host_action(blow, 700001);
	return blow;
}

#define PER_GROUP 8
/* Busy tasks in three groups: their run time must go as the weights and the limit say. */
void weights(void)
{
	static const char *const weight[] = { "100", "300", "100" };
	struct wpk_call fork = { .op = WPK_FORK, .task = 0, .name = "creator" };

	nr_tasks = 1 + 3 * PER_GROUP;
	tasks[0].creates = tasks[0].alive = 1;
	tasks[0].children = 3 * PER_GROUP;
	tasks[0].left = 1000000;
	for (unsigned g = 0; g < 3; g++) {
		groups[g] = call(&(struct wpk_call){ .op = WPK_GROUP, .group = WPK_ROOT_GROUP });
		call(&(struct wpk_call){ .op = WPK_GROUP_SET, .group = groups[g], .name =
			"cpu.weight",
					 .value = weight[g] });
	}
	call(&(struct wpk_call){ .op = WPK_GROUP_SET, .group = groups[2], .name = "cpu.max",
				 .value = "50000 100000" });
	for (unsigned i = 1; i < nr_tasks; i++) {
		tasks[i].number = i;
		tasks[i].group = groups[(i - 1) / PER_GROUP];
		tasks[i].period = 1000000;
		tasks[i].work = 1e15;
		tasks[i].phase = 50000000;
	}
	if (kernel.spawn(0, &fork))
		die("no creator");
}

void weights_report(void)
{
	for (unsigned g = 0; g < 3; g++) {
		double ran = 0;

		for (unsigned i = 1 + g * PER_GROUP; i < 1 + (g + 1) * PER_GROUP; i++)
			ran += tasks[i].ran[0] + tasks[i].ran[2];
		printf("group %u: %.3f CPUs\n", g, ran / (now() - started));
	}
	printf("refused %u of %u\n", refused, asked);
}
