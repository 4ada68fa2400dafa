// SPDX-License-Identifier: GPL-2.0-only
/*
 * System controls: the kernel's tables are kept, and written through their own handlers. The rules
 * are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: names are the kernel's, without `kernel.`; limits are those of the tables. May
 * change: a row of `plain` or of limits.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * `what_it_does_not_take_is_refused` (sched_energy_aware=0 is taken: `keep_table`, `sysctl_call`,
 * `one_number`; an unknown name is not); `storm` (sched_ rows of `settings`; what is refused is no
 * finding). With trees of 5.10 to 6.18 (nightly): `plain_set`, by the same test. Bounds of
 * `one_number` and `plain_get` have no test of their own. The three wp_register_ ones stand for
 * names of one function in different trees.
 *
 * Callers: parameters.c; boot.c (`sysctl_limits`); the tree registers tables.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */

struct wp_table {
	struct wp_table *next;
	const struct ctl_table *table;
	size_t nr;
};
static struct wp_table *tables;

/* The limits that tables point to: which number stands where is the header's. */
int wp_sysctl_vals[32] __asm__("sysctl_vals");
unsigned long wp_sysctl_long_vals[8] __asm__("sysctl_long_vals");

/* The constants that tables point to. */
static void sysctl_limits(void)
{
	static const struct {
		void *place;
		int value;
	} limits[] = {
		{ SYSCTL_ZERO, 0 },
		{ SYSCTL_ONE, 1 },
#ifdef SYSCTL_TWO
		{ SYSCTL_TWO, 2 },
#endif
#ifdef SYSCTL_THREE
		{ SYSCTL_THREE, 3 },
#endif
#ifdef SYSCTL_FOUR
		{ SYSCTL_FOUR, 4 },
#endif
#ifdef SYSCTL_ONE_HUNDRED
		{ SYSCTL_ONE_HUNDRED, 100 },
#endif
#ifdef SYSCTL_TWO_HUNDRED
		{ SYSCTL_TWO_HUNDRED, 200 },
#endif
#ifdef SYSCTL_ONE_THOUSAND
		{ SYSCTL_ONE_THOUSAND, 1000 },
#endif
#ifdef SYSCTL_THREE_THOUSAND
		{ SYSCTL_THREE_THOUSAND, 3000 },
#endif
#ifdef SYSCTL_NEG_ONE
		{ SYSCTL_NEG_ONE, -1 },
#endif
		{ SYSCTL_INT_MAX, INT_MAX },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++)
		*(int *)limits[i].place = limits[i].value;
}

/* The newest first: a later table of a name counts. */
static void *keep_table(const struct ctl_table *table, size_t nr)
{
	struct wp_table *t = wp_alloc(sizeof(*t), 8);

	*t = (struct wp_table){ .next = tables, .table = table, .nr = nr };
	tables = t;
	return t;
}

void wp_register_sysctl_init(const char *path, const struct ctl_table *table, const char *name,
		size_t nr)
	__asm__("__register_sysctl_init");
/* Tables of built-in code; rows are counted where a tree says no size. */
void wp_register_sysctl_init(const char *path, const struct ctl_table *table, const char *name,
		size_t nr)
{
#ifndef WPK_HAS_SYSCTL_SIZE
	for (nr = 0; table[nr].procname; nr++)
		;
#endif
	keep_table(table, nr);
}

void *wp_register_sysctl(const char *path, const struct ctl_table *table, size_t nr)
	__asm__("register_sysctl_sz");
/* Tables with their size. */
void *wp_register_sysctl(const char *path, const struct ctl_table *table, size_t nr)
{
	return keep_table(table, nr);
}

void *wp_register_sysctl_old(const char *path,
		const struct ctl_table *table) __asm__("register_sysctl");
/* Tables that end with an empty row. */
void *wp_register_sysctl_old(const char *path, const struct ctl_table *table)
{
	size_t nr;

	for (nr = 0; table[nr].procname; nr++)
		;
	return keep_table(table, nr);
}

/* One number in or out; the limits are the table's. `width` is what the table's data is. */
static int one_number(const struct ctl_table *t, int write, char *text, size_t *length, int width)
{
	long long v, low = LLONG_MIN, high = LLONG_MAX;
	int error;

	if (!write) {
		v = width == 1 ? *(u8 *)t->data : width == 8 ? *(s64 *)t->data : *(s32 *)t->data;
		*length = scnprintf(text, *length, "%lld\n", v);
		return 0;
	}
	error = kstrtoll(text, 0, &v);
	if (error)
		return error;
	if (width == 8) {
		low = t->extra1 ? *(long *)t->extra1 : low;
		high = t->extra2 ? *(long *)t->extra2 : high;
	} else {
		low = t->extra1 ? *(int *)t->extra1 : INT_MIN;
		high = t->extra2 ? *(int *)t->extra2 : UINT_MAX;
	}
	if (v < low || v > high)
		return -EINVAL;
	if (width == 1)
		*(u8 *)t->data = v;
	else if (width == 8)
		*(s64 *)t->data = v;
	else
		*(s32 *)t->data = v;
	return 0;
}

#define WP_PROC(name, width, bounded) \
	int wp_##name(const struct ctl_table *t, int write, void *text, size_t *n, \
		      loff_t *at) \
		__asm__(#name); \
	int wp_##name(const struct ctl_table *t, int write, void *text, size_t *n, \
		      loff_t *at) \
	{ \
		struct ctl_table free = *t; \
 \
		if (!(bounded)) \
			free.extra1 = free.extra2 = NULL; \
		return one_number(&free, write, text, n, width); \
	}
WP_PROC(proc_dointvec, 4, false)
WP_PROC(proc_dointvec_minmax, 4, true)
WP_PROC(proc_douintvec, 4, false)
WP_PROC(proc_douintvec_minmax, 4, true)
WP_PROC(proc_dou8vec_minmax, 1, true)
WP_PROC(proc_dobool, 1, false)
WP_PROC(proc_doulongvec_minmax, 8, true)

/* Reads or writes through the table's own handler; -ENOENT: no such name. */
static int sysctl_call(const char *name, int write, char *text, size_t *length)
{
	struct wp_table *t;
	loff_t at = 0;
	size_t i;

	if (!strncmp(name, "kernel.", 7))
		name += 7;
	for (t = tables; t; t = t->next)
		for (i = 0; i < t->nr; i++) {
			const struct ctl_table *c = &t->table[i];

			if (!c->procname || strcmp(c->procname, name) || !c->proc_handler)
				continue;
			return c->proc_handler((void *)c, write, text, length, &at);
		}
	return -ENOENT;
}

/*
 * Before 5.18 the scheduler's controls stand in kernel/sysctl.c, which is not linked: the variables
 * are known by their names, and what their handlers do beyond the number is done here.
 */
extern unsigned int wp_sched_latency __asm__("sysctl_sched_latency") __attribute__((weak,
		visibility("default")));
#define WP_OLD(name) \
	extern unsigned int wp_##name __asm__("sysctl_" #name) \
		__attribute__((weak, visibility("default")))
WP_OLD(sched_min_granularity);
WP_OLD(sched_wakeup_granularity);
WP_OLD(sched_migration_cost);
extern unsigned int wp_sched_nr_migrate __asm__("sysctl_sched_nr_migrate") __attribute__((weak,
		visibility("default")));
WP_OLD(sched_child_runs_first);
extern unsigned int wp_sched_rt_period __asm__("sysctl_sched_rt_period") __attribute__((weak,
		visibility("default")));
extern unsigned int wp_sched_rt_runtime __asm__("sysctl_sched_rt_runtime") __attribute__((weak,
		visibility("default")));
WP_OLD(sched_energy_aware);
WP_OLD(sched_cfs_bandwidth_slice);
WP_OLD(sched_uclamp_util_min);
WP_OLD(sched_uclamp_util_max);
static const struct {
	const char *name;
	unsigned int *value;
} plain[] = {
	{ "sched_latency", &wp_sched_latency },
	{ "latency_ns", &wp_sched_latency },
	{ "sched_min_granularity", &wp_sched_min_granularity },
	{ "min_granularity_ns", &wp_sched_min_granularity },
	{ "sched_wakeup_granularity", &wp_sched_wakeup_granularity },
	{ "wakeup_granularity_ns", &wp_sched_wakeup_granularity },
	{ "sched_migration_cost", &wp_sched_migration_cost },
	{ "migration_cost_ns", &wp_sched_migration_cost },
	{ "sched_nr_migrate", &wp_sched_nr_migrate },
	{ "nr_migrate", &wp_sched_nr_migrate },
	{ "sched_child_runs_first", &wp_sched_child_runs_first },
	{ "sched_rt_period", &wp_sched_rt_period },
	{ "sched_rt_period_us", &wp_sched_rt_period },
	{ "sched_rt_runtime", &wp_sched_rt_runtime },
	{ "sched_rt_runtime_us", &wp_sched_rt_runtime },
	{ "sched_energy_aware", &wp_sched_energy_aware },
	{ "sched_cfs_bandwidth_slice", &wp_sched_cfs_bandwidth_slice },
	{ "sched_cfs_bandwidth_slice_us", &wp_sched_cfs_bandwidth_slice },
	{ "sched_uclamp_util_min", &wp_sched_uclamp_util_min },
	{ "sched_util_clamp_min", &wp_sched_uclamp_util_min },
	{ "sched_uclamp_util_max", &wp_sched_uclamp_util_max },
	{ "sched_util_clamp_max", &wp_sched_uclamp_util_max },
};

/* Switching energy-aware placement is building the domains anew. */
static int plain_set(const char *name, const char *text)
{
	size_t i;
	int v;

	for (i = 0; i < ARRAY_SIZE(plain); i++) {
		if (!plain[i].value || strcmp(plain[i].name, name))
			continue;
		if (kstrtoint(text, 0, &v))
			return -EINVAL;
		WRITE_ONCE(*plain[i].value, v);
		if (!strcmp(name, "sched_energy_aware"))
			rebuild_energy();
		return 0;
	}
	return -ENOENT;
}

/* -ENOENT: no such name. */
static int plain_get(const char *name, u64 *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plain); i++)
		if (plain[i].value && !strcmp(plain[i].name, name)) {
			*value = *plain[i].value;
			return 0;
		}
	return -ENOENT;
}
