// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock is the host's, and the time that passed before it: a machine that is told of a task has
 * been up and idle for BOOT_NS. Each CPU has a clock event device that takes the time itself, to
 * the nanosecond. The rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: all clocks are one, in ns; the host's time is that less what passed before. May
 * change: BOOT_NS, as long as the boot is forgotten.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) every
 * scenario (`clock_ns`, `clock_next`, `clock_fires`, `next_event`), `cargo xtask kernel-shim` with
 * a clock that is lost and with a run queue whose clock stands (watch.c names both; `host_time`);
 * `energy_aware_placement_is_the_kernels_own` (`kernel_time`: ten tasks of 16 ms must wake 12 000
 * times in 20 s), `the_boot_is_forgotten` (BOOT_NS). The other clocks are `clock_ns`, the rest by
 * every scenario.
 *
 * Callers: the tree; call.c (`kernel_time`), watch.c and the files that tell state (`host_time`),
 * hotplug.c and boot.c (`clock_cpu_up`), irq.c (`clock_fires`).
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */
#define BOOT_NS (10 * NSEC_PER_SEC)

static u64 before_ns;

/* Now, as the kernel counts it. */
static u64 clock_ns(void)
{
	return now_ns() + before_ns;
}

/* A time of the host's as the kernel counts, and the other way round. */
static u64 kernel_time(u64 host_ns)
{
	return host_ns + before_ns;
}

/* 0: before the host's time began. */
static u64 host_time(u64 kernel_ns)
{
	return kernel_ns > before_ns ? kernel_ns - before_ns : 0;
}

/* The scheduler's clock. */
unsigned long long notrace sched_clock(void)
{
	return clock_ns();
}

/* The same, as later trees call it. */
unsigned long long notrace sched_clock_noinstr(void)
{
	return clock_ns();
}

/* The clock of timers. */
ktime_t ktime_get(void)
{
	return clock_ns();
}

/* All offsets are 0. */
ktime_t ktime_get_with_offset(enum tk_offsets offset)
{
	return clock_ns();
}

/* The same clock. */
u64 ktime_get_mono_fast_ns(void)
{
	return clock_ns();
}

/* The same: it began in 1970. */
void ktime_get_real_ts64(struct timespec64 *ts)
{
	ts->tv_sec = clock_ns() / NSEC_PER_SEC;
	ts->tv_nsec = clock_ns() % NSEC_PER_SEC;
}

/* kernel/time/hrtimer.c asks it in each timer interrupt. */
ktime_t ktime_get_update_offsets_now(unsigned int *seq, ktime_t *real, ktime_t *boot, ktime_t *tai)
{
	*real = *boot = *tai = 0;
	return clock_ns();
}

__typeof__(jiffies_lock) jiffies_lock;
__typeof__(jiffies_seq) jiffies_seq;

/* Ticks of jiffies, by the CPU that keeps them. */
void do_timer(unsigned long ticks)
{
	jiffies_64 += ticks;
	calc_global_load();
}

static DEFINE_PER_CPU(struct clock_event_device, clock_device);

/* When the CPU's timer fires, ns of the host; WPK_NEVER: not at all. */
static void next_event(u64 at)
{
	struct wpk_cpu *c = &view.cpus[wpsim_cpu];

	if (c->next_event_ns != at) {
		c->next_event_ns = at;
		changed(wpsim_cpu);
	}
}

/* One tick of the device is a nanosecond. */
static int clock_next(unsigned long ticks, struct clock_event_device *dev)
{
	next_event(now_ns() + ticks);
	return 0;
}

/* The timer fires no more. */
static int clock_off(struct clock_event_device *dev)
{
	next_event(WPK_NEVER);
	return 0;
}

/* The timer's interrupt. */
static void clock_fires(void)
{
	struct clock_event_device *dev = this_cpu_ptr(&clock_device);

	view.cpus[wpsim_cpu].ticks++;
	dev->event_handler(dev);
}

/* A clock event device of this CPU. */
static void clock_cpu_up(void)
{
	struct clock_event_device *dev = this_cpu_ptr(&clock_device);

	memset(dev, 0, sizeof(*dev));
	dev->name = "wakeplace";
	dev->features = CLOCK_EVT_FEAT_ONESHOT;
	dev->rating = 400;
	dev->cpumask = cpumask_of(wpsim_cpu);
	dev->mult = 1;
	dev->min_delta_ns = dev->min_delta_ticks = 1;
	dev->max_delta_ns = dev->max_delta_ticks = KTIME_MAX;
	dev->set_next_event = clock_next;
	dev->set_state_shutdown = clock_off;
	dev->set_state_oneshot_stopped = clock_off;
	clockevents_register_device(dev);
}
