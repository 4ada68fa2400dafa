// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters by the kernel's own names, looked up in this order:
 *   features       a list of scheduler features, NO_ before what is to be off
 *                  ("NO_RUN_TO_PARITY,TTWU_QUEUE")
 *   governor       of frequencies, for all domains; idle_governor: of idle states
 *   NAME, DIR/NAME a file of the scheduler's debug folder (base_slice_ns, migration_cost_ns, ...)
 *   NAME           a system control (sched_energy_aware, sched_rt_runtime_us, ...)
 *   NAME           an attribute of the frequency core or its governor (rate_limit_us, ...)
 * To be read only:
 *   softirqs       how often each softirq has run on all CPUs, NAME COUNT a line
 *
 * The rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: the order of looking up, and that an unknown name is an error. May change: a name
 * of our own more, before those of the kernel.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * `a_comparison_does_not_depend_on_threads` (`set_features`), `waits_for_devices_move_frequencies`
 * (`set_parameter`: rate_limit_us), `what_it_does_not_take_is_refused` (sched_energy_aware is
 * taken, an unknown name is ENOENT); `storm` (its list `settings`). Of `wpk_get` the engine asks
 * `softirqs` alone (crates/engine/src/kernel/tree/told.rs); `show_features` has no test.
 * `show_softirqs` is read by every run with a kernel.
 *
 * Callers: control.c (`set_parameter`); crates/kernel-tree/src/kernel/entries.rs (`wpk_get`).
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */
static int set_features(const char *list)
{
	const char *file = "sched/features";
	char word[64];
	int error = 0;

	if (debugfs_exists("sched_features"))
		file = "sched_features";
	while (*list && !error) {
		size_t n = strcspn(list, ", ;");

		if (n) {
			strscpy(word, list, min_t(size_t, sizeof(word), n + 1));
			error = debugfs_store(file, word);
		}
		list += n + (list[n] != 0);
	}
	return error;
}

/* 0, or a negative errno. */
static wpk_s64 set_parameter(const char *name, const char *value)
{
	static char text[256];
	size_t length;
	int error;

	if (!strcmp(name, "features"))
		return set_features(value);
	if (!strcmp(name, "governor"))
		return kobjects_store("scaling_governor", value);
	if (!strcmp(name, "idle_governor"))
		return idle_governor(value);
	strscpy(text, value, sizeof(text));
	error = debugfs_store(name, text);
	if (error != -ENOENT)
		return error;
	length = strlen(text);
	error = sysctl_call(name, 1, text, &length);
	if (error != -ENOENT)
		return error;
	error = plain_set(name, text);
	if (error != -ENOENT)
		return error;
	return kobjects_store(name, text);
}

static const char *const feature_names[] = {
#define SCHED_FEAT(name, enabled) #name,
#include "kernel/sched/features.h"
#undef SCHED_FEAT
};

/* Names, with NO_ before those that are off. */
static int show_features(char *text, size_t size)
{
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(feature_names); i++)
		n += scnprintf(text + n, size - n, "%s%s%s", i ? " " : "",
			       sysctl_sched_features & (1UL << i) ? "" : "NO_", feature_names[i]);
	return n;
}

/* Sums over all CPUs. */
static int show_softirqs(char *text, size_t size)
{
	unsigned int nr, cpu;
	size_t n = 0;

	for (nr = 0; nr < NR_SOFTIRQS; nr++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += kstat_softirqs_cpu(nr, cpu);
		n += scnprintf(text + n, size - n, "%s %llu\n", softirq_to_name[nr], sum);
	}
	return n;
}

/* Length of the text, or a negative errno. */
wpk_s32 wpk_get(const char *name, char *text, wpk_u32 size)
{
	static char page[PAGE_SIZE] __aligned(PAGE_SIZE);
	size_t length = size;
	u64 value;
	int n;

	if (!strcmp(name, "features"))
		return show_features(text, size);
	if (!strcmp(name, "softirqs"))
		return show_softirqs(text, size);
	if (!strcmp(name, "idle_governor"))
		return scnprintf(text, size, "%s", cpuidle_curr_governor
			? cpuidle_curr_governor->name : "none");
	if (!strcmp(name, "governor"))
		name = "scaling_governor";
	if (!debugfs_show(name, &value) || !plain_get(name, &value))
		return scnprintf(text, size, "%llu", value);
	if (!sysctl_call(name, 0, text, &length))
		return length;
	n = kobjects_show(name, page);
	return n < 0 ? n : scnprintf(text, size, "%s", page);
}
