// SPDX-License-Identifier: GPL-2.0-only
/*
 * One of a kernel tree's own governors of idle states, unmodified, asked again and again: what it
 * chooses goes to standard output, one character per choice. cargo xtask idle-governors builds it
 * against a tree; crates/engine/src/kernel/model/cpuidle/recorded.rs asks ours the same and
 * compares. The questions are of a generator that both have (docs/rules/cpuidle.md#recorded).
 *
 * GOVERNOR: the source of the tree, in quotes. The kernel's headers are empty files here; what the
 * governors need of them is below.
 *
 * What must stay: `below`, `between` and `ask` draw as
 * crates/engine/src/kernel/model/cpuidle/recorded.rs draws, in the same order; the small functions
 * in between are what governors ask the kernel. The governor itself is not touched.
 *
 * Tests:
 * crates/engine/src/kernel/model/cpuidle/recorded.rs::teo_and_ladder_choose_as_the_kernels_own
 */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
typedef s64 ktime_t;

#define NSEC_PER_USEC 1000L
#define TICK_NSEC 4000000L
#define KTIME_MAX INT64_MAX
#define S64_MAX INT64_MAX
#define U64_MAX UINT64_MAX
#define CPUIDLE_STATE_MAX 10
#define CPUIDLE_NAME_LEN 16
#define CPUIDLE_FLAG_POLLING 1
#define CONFIG_SMP 1
#define __init
#define likely(x) (x)
#define unlikely(x) (x)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define DEFINE_PER_CPU(type, name) type name
#define this_cpu_ptr(p) (p)
#define per_cpu_ptr(p, cpu) ((void)(cpu), p)
#define per_cpu(name, cpu) (*((void)(cpu), &name))
#define div_u64(a, b) ((a) / (b))
#define div64_u64(a, b) ((a) / (b))
#define do_div(n, base) ((n) /= (base))
#define ktime_to_us(ns) ((ns) / NSEC_PER_USEC)
#define postcore_initcall(f) static int (*begin)(void) = f

struct cpuidle_state {
	s64 exit_latency_ns, target_residency_ns;
	unsigned int flags;
};
struct cpuidle_driver {
	struct cpuidle_state states[CPUIDLE_STATE_MAX];
	int state_count;
};
struct cpuidle_device {
	unsigned int cpu;
	int last_state_idx;
	u64 last_residency_ns;
	bool poll_time_limit;
	struct {
		bool disable;
	} states_usage[CPUIDLE_STATE_MAX];
};
struct cpuidle_governor {
	char name[CPUIDLE_NAME_LEN];
	unsigned int rating;
	int (*enable)(struct cpuidle_driver *drv, struct cpuidle_device *dev);
	void (*disable)(struct cpuidle_driver *drv, struct cpuidle_device *dev);
	int (*select)(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick);
	void (*reflect)(struct cpuidle_device *dev, int index);
};

/* What the governor is asked with. */
static struct {
	s64 to_timer, to_tick;
	bool tick_stopped, got_tick, utilized;
	u64 now;
} question;

static const bool tick_nohz_enabled = true;
static struct cpuidle_governor *governor;

static inline s64 cpuidle_governor_latency_req(unsigned int cpu)
{
	(void)cpu;
	return (s64)INT_MAX * NSEC_PER_USEC;
}

static inline ktime_t tick_nohz_get_sleep_length(ktime_t *delta_next)
{
	*delta_next = question.to_timer;
	if (!question.tick_stopped)
		*delta_next = min(*delta_next, question.to_tick);
	return question.to_timer;
}

static inline bool tick_nohz_tick_stopped(void) { return question.tick_stopped; }
static inline bool tick_nohz_idle_got_tick(void) { return question.got_tick; }
static inline u64 local_clock(void) { return question.now; }
static inline unsigned int nr_iowait_cpu(int cpu) { (void)cpu; return 0; }
static inline unsigned long arch_scale_cpu_capacity(int cpu) { (void)cpu; return 1024; }

/* The threshold is a 64th of the capacity: 16. */
static inline unsigned long sched_cpu_util(int cpu)
{
	(void)cpu;
	return question.utilized ? 17 : 16;
}

static inline int cpuidle_register_governor(struct cpuidle_governor *g)
{
	governor = g;
	return 0;
}

#include GOVERNOR

/* Exit latency and residency, ns: those of rk3399's A53, of Alder Lake's P cores with the polling
 * state, and of a machine whose deepest state pays after more than a tick. */
static const struct {
	int count, polls;
	u64 states[5][2];
} tables[] = {
	{ 3, 0, { { 1000, 1000 }, { 370000, 900000 }, { 900000, 2000000 } } },
	{ 5, 1, { { 0, 0 }, { 2000, 4000 }, { 220000, 600000 }, { 280000, 800000 },
		  { 680000, 2000000 } } },
	{ 3, 0, { { 1000, 1000 }, { 100000, 500000 }, { 2000000, 10000000 } } },
	{ 2, 0, { { 1000, 1000 }, { 1050000, 1500000 } } },
};

#define STEPS 4000

static u64 state = 1;

/* The generator: below `limit`. */
static u64 below(u64 limit)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % limit;
}

/* A time between 2^from and 2^to ns. */
static u64 between(unsigned int from, unsigned int to)
{
	unsigned int power = from + (unsigned int)below(to - from);

	return ((u64)1 << power) + below((u64)1 << power);
}

/* Times of one kind, for 40 questions in a row: to the timer, and to what else wakes the CPU. */
static u64 ask(u64 kind)
{
	switch (kind) {
	case 0: /* a timer alone */
		question.to_timer = 50000000;
		return 50000000;
	case 1: /* interrupts in quick succession, timers far away */
		question.to_timer = (s64)between(24, 31);
		return between(9, 15);
	case 2: /* interrupts near the residencies */
		question.to_timer = (s64)between(24, 31);
		return between(16, 22);
	case 3: /* timers there */
		question.to_timer = (s64)between(17, 23);
		return (u64)question.to_timer;
	case 4: /* interrupts beyond a tick */
		question.to_timer = (s64)between(26, 31);
		return between(20, 26);
	default:
		question.to_timer = (s64)between(10, 31);
		return between(9, 31);
	}
}

static u64 poll_limit(const struct cpuidle_driver *drv)
{
	int i;

	for (i = 1; i < drv->state_count; i++)
		if (drv->states[i].target_residency_ns >= 10000)
			return (u64)min(drv->states[i].target_residency_ns, TICK_NSEC / 16);
	return TICK_NSEC / 16;
}

static void step(struct cpuidle_driver *drv, struct cpuidle_device *dev, u64 kind)
{
	bool stop_tick = true, polls;
	u64 wake = ask(kind);
	int chosen;

	question.tick_stopped = below(4) == 0;
	question.to_tick = 1 + (s64)below(TICK_NSEC);
	question.utilized = below(4) == 0;
	wake = min(wake, (u64)question.to_timer);
	chosen = governor->select(drv, dev, &stop_tick);
	putchar((stop_tick ? 'a' : '0') + chosen);
	question.got_tick = !stop_tick && !question.tick_stopped && (s64)wake > question.to_tick;
	if (question.got_tick)
		wake = (u64)question.to_tick;
	polls = drv->states[chosen].flags & CPUIDLE_FLAG_POLLING;
	dev->poll_time_limit = polls && wake > poll_limit(drv);
	if (dev->poll_time_limit) {
		question.got_tick = false;
		wake = poll_limit(drv);
	}
	dev->last_residency_ns = wake + (u64)drv->states[chosen].exit_latency_ns;
	question.now += dev->last_residency_ns;
	governor->reflect(dev, chosen);
}

int main(void)
{
	size_t table;

	begin();
	for (table = 0; table < sizeof(tables) / sizeof(*tables); table++) {
		struct cpuidle_driver drv = { .state_count = tables[table].count };
		struct cpuidle_device dev = { .last_state_idx = -1 };
		u64 kind = 0;
		int i;

		for (i = 0; i < drv.state_count; i++) {
			drv.states[i].exit_latency_ns = (s64)tables[table].states[i][0];
			drv.states[i].target_residency_ns = (s64)tables[table].states[i][1];
		}
		drv.states[0].flags = tables[table].polls ? CPUIDLE_FLAG_POLLING : 0;
		governor->enable(&drv, &dev);
		for (i = 0; i < STEPS; i++) {
			if (i % 40 == 0)
				kind = below(6);
			step(&drv, &dev, kind);
		}
		putchar('\n');
	}
	return 0;
}
