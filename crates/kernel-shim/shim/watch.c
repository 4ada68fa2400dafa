// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tick that no longer comes, or a clock that stands, makes no noise: tasks only run for too long
 * and balancing only ends. So each CPU is looked at once in a tick of simulated time, on the first
 * entry of whichever CPU. The rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: it only looks, and names what stands still as a fault. May change: WATCH_NS,
 * upwards from what a lock may hold up.
 *
 * Tests by part: `cargo xtask kernel-shim` (xtask/src/trees/shim.rs): `DEAF=3 busy 2` must end with
 * CPU 3 named as one without a tick, a tree that forgets the clock of a run queue with that said
 * (`watch`, `watch_cpu`, `rcu_sched_clock_irq`). No other scenario may be stopped by it
 * (`watch_begins`).
 *
 * Callers: switch.c (`watch`, at each return to the host), boot.c (`watch_begins`), the tree's tick
 * (`rcu_sched_clock_irq`).
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */

/* More than what a lock, a stopped machine or a slow change of frequency can hold up. */
#define WATCH_NS (10ULL * TICK_NSEC)
#ifdef WPSIM_COHERENT
#define WATCH_AHEAD_NS WATCH_NS
#else
#define WATCH_AHEAD_NS 0
#endif

static struct {
	u64 since;	/* it has been in user mode without a break */
	u64 tick;	/* its last */
} watched[NR_CPUS];

/* The kernel calls it in each tick, from update_process_times(), and in no other interrupt. */
void rcu_sched_clock_irq(int user)
{
	watched[wpsim_cpu].tick = now_ns();
}

/* The host's time begins. */
static void watch_begins(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		watched[cpu].since = watched[cpu].tick = view.now_ns;
}

/* A busy CPU whose tick or clock has not moved for WATCH_NS ends the run. */
static void watch_cpu(unsigned int cpu)
{
	struct rq *rq = cpu_rq(cpu);
	u64 now = view.now_ns, alive = max(watched[cpu].since, watched[cpu].tick);
	u64 clock = host_time(rq->clock);

	if (view.cpus[cpu].state != WPK_USER || now < watched[cpu].since + WATCH_NS)
		return;
	if (now > alive + WATCH_NS)
		wp_fault(WPK_FAULT_STILL,
			"CPU %u, with %u tasks, had no tick from %llu ns to %llu ns "
			"(its timer: %lld)",
			cpu, (unsigned int)rq->nr_running, alive, now,
			(s64)view.cpus[cpu].next_event_ns);
	/* Where paths take time a CPU may be ahead of the host's. */
	if (clock > now + WATCH_AHEAD_NS || clock + WATCH_NS < now)
		wp_fault(WPK_FAULT_STILL,
			"CPU %u is busy, and the clock of its run queue says %llu ns at %llu ns",
			cpu, clock, now);
}

/* The host has come back to this CPU, which it left in `state`. */
static void watch(unsigned int state)
{
	static u64 next;
	unsigned int cpu;

	if (state != WPK_USER)
		watched[wpsim_cpu].since = view.now_ns;
	if (likely(view.now_ns < next) || !wp_booted)
		return;
	next = view.now_ns + TICK_NSEC;
	for (cpu = 0; cpu < nr_cpus; cpu++)
		watch_cpu(cpu);
}
