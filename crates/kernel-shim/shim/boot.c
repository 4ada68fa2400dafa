// SPDX-License-Identifier: GPL-2.0-only
/*
 * From nothing to a machine whose CPUs are up and idle: what start_kernel() and its first thread do
 * of it. The rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: the order of start_kernel() and kernel_init(), on which the tree's own code
 * relies; another WPK_ABI is refused; the host's time begins after BOOT_NS of idling. May change: a
 * step of the boot that a new tree needs.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) all of
 * it by each scenario, as each boots (`host_start` of host.c); `a_kernel_of_the_archive_boots`
 * (`wpk_boot`, `wpk_release`, `view_init`: all CPUs idle, no WARN), `the_boot_is_forgotten`
 * (`idle_before`, `wake_one_each`, `next_of_all`), `energy_aware_placement_is_the_kernels_own`
 * (`keep_machine`, `copy_of`). What `wpk_boot` refuses is tried on a made-up object only
 * (crates/kernel-tree/src/kernel/tests.rs).
 *
 * Callers: crates/kernel-tree/src/kernel/entries.rs the wpk_ functions; the rest is here.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`),
 *        crates/kernel-tree/tests/all/real_tree.rs, crates/cli/tests/all/kernel_runs.rs
 */

extern initcall_entry_t __initcall_start[], __initcall0_start[], __initcall_end[];
enum system_states system_state = SYSTEM_BOOTING;
extern struct task_struct *kthreadd_task;
int kthreadd(void *unused);
static const struct wpk_machine *booting;

/* Declared in headers of kernel/ or init/ that differ by version. */
extern void sched_init(void), sched_init_smp(void);

WP_WEAK(void, timers_init, (void));
WP_WEAK(void, init_timers, (void));
WP_WEAK(void, sched_clock_init, (void));

/* The host asks these five before it boots: of which interface is the object? */
wpk_u32 wpk_abi(void)
{
	return WPK_ABI;
}

/* Ticks a second. */
wpk_u32 wpk_hz(void)
{
	return HZ;
}

/* As many CPUs as the configuration has room for. */
wpk_u32 wpk_max_cpus(void)
{
	return NR_CPUS;
}

/* As uname says it. */
const char *wpk_release(void)
{
	return UTS_RELEASE;
}

/* What both see; filled in by view_init(). */
struct wpk_view *wpk_view(void)
{
	return &view;
}

/* The host's words are gone when wpk_boot() comes back. */
static void *copy_of(const void *from, size_t size)
{
	void *to = wp_alloc(size ? size : 1, 64);

	if (size)
		memcpy(to, from, size);
	return to;
}

/* The whole machine, with all that it points to. */
static void keep_machine(const struct wpk_machine *m)
{
	unsigned int i;

	nr_cpus = m->nr_cpus;
	nr_domains = m->nr_domains;
	nr_idle_tables = m->nr_idle;
	nr_nodes = m->nr_nodes ? m->nr_nodes : 1;
	machine_cpus = copy_of(m->cpus, nr_cpus * sizeof(*m->cpus));
	domains = copy_of(m->domains, nr_domains * sizeof(*m->domains));
	for (i = 0; i < nr_domains; i++)
		domains[i].opps = copy_of(domains[i].opps,
			domains[i].nr_opps * sizeof(*domains[i].opps));
	idle_tables = copy_of(m->idle, nr_idle_tables * sizeof(*m->idle));
	for (i = 0; i < nr_idle_tables; i++)
		idle_tables[i].states =
			copy_of(idle_tables[i].states,
				idle_tables[i].nr_states * sizeof(*idle_tables[i].states));
	if (m->distances)
		distances = copy_of(m->distances, nr_nodes * nr_nodes * sizeof(*distances));
}

/* All CPUs as they are before they come up. */
static void view_init(u64 now)
{
	unsigned int cpu;

	view.now_ns = now;
	view.nr_cpus = nr_cpus;
	view.changed = wp_alloc(nr_cpus * sizeof(*view.changed), 64);
	view.cpus = wp_alloc(nr_cpus * sizeof(*view.cpus), 64);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		view.cpus[cpu].next_event_ns = WPK_NEVER;
		view.cpus[cpu].running = WPK_IDLE;
		view.cpus[cpu].idle_state = WPK_NONE;
	}
}

/* As start_kernel(): on CPU 0, before there is anything to schedule. */
static void boot_early(void)
{
	unsigned int cpu;

#ifdef WPK_HAS_NR_CPU_IDS_SETTER
	set_nr_cpu_ids(nr_cpus);
#else
	nr_cpu_ids = nr_cpus;
#endif
	percpu_init();
	memory_init();
	sysctl_limits();
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		set_cpu_possible(cpu, true);
		set_cpu_present(cpu, true);
	}
	boot_cpu_init();
	atomic_set(&init_mm.mm_count, 1);
	init_task.thread.number = WPK_IDLE;
	groups_init();
	devices_init();
	topology_init();
	boot_cpu_hotplug_init();
	if (wp_timers_init)
		wp_timers_init();
	else
		wp_init_timers();
	hrtimers_init();
	softirq_init();
	sched_init();
	if (wp_sched_clock_init)
		wp_sched_clock_init();
	init_idle_preempt_count(current, 0);
}

/* As do_initcalls(), from one level of them to another. */
static void run_initcalls(initcall_entry_t *from, initcall_entry_t *to)
{
	for (; from < to; from++)
		initcall_from_entry(from)();
}

/* As kernel_init(): in a thread, which then is the owner's. */
static void kernel_init(void *arg)
{
	kthreadd_task = new_kthread((void *)kthreadd, NULL, "kthreadd");
	works_up();
	run_initcalls(__initcall_start, __initcall0_start);
	smp_init();
	sched_init_smp();
	cpuidle_before(booting->idle_governor);
	run_initcalls(__initcall0_start, __initcall_end);
	cpuidle_up();
	cpufreq_up(booting->governor);
	system_state = SYSTEM_RUNNING;
	watch_decisions();
	watch_signals();
	watch_turns();
	watch_balance();
	watch_governor();
	control_start(current);
	control_loop();
}

/* The first thing that runs on the first stack: CPU 0, which then idles. */
static void boot_cpu(void *arg)
{
	wpsim_irq_flags = ARCH_IRQ_DISABLED;
	boot_early();
	clock_cpu_up();
	system_state = SYSTEM_SCHEDULING;
	new_kthread(kernel_init, NULL, "init");
	wpsim_irq_flags = ARCH_IRQ_ENABLED;
	cpu_startup_entry(CPUHP_ONLINE);
}

/* When something happens next by itself, or `until`. */
static u64 next_of_all(u64 until)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		until = min(until, (u64)view.cpus[cpu].next_event_ns);
	return until;
}

/* A handler of CPU 0's device: idle_before() has its wake-ups done by it. */
static void wake_one_each(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		wake_up_process(per_cpu(ksoftirqd, cpu));
}

/*
 * The machine idles for as long as it takes to forget the boot, in which a hundred threads began
 * and moved at one instant. An idle CPU's averages fade when something is queued on it: a thread
 * of each wakes for nothing. Then the host's time begins.
 */
static int idle_before(void)
{
	u64 begin = view.now_ns, end = begin + BOOT_NS;
	unsigned int cpu;
	int error;

	while (view.now_ns < end) {
		view.now_ns = max(view.now_ns, next_of_all(end));
		if (view.now_ns == end) {
			arrivals[0].handler = wake_one_each;
			arrived[0] |= WP_DEVICE;
			if (enter(0, ENTER_IRQ))
				return WPK_DEAD;
		}
		error = settle();
		if (error)
			return error;
	}
	view.now_ns = begin;
	before_ns = BOOT_NS;
	watch_begins();
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (view.cpus[cpu].next_event_ns != WPK_NEVER)
			view.cpus[cpu].next_event_ns -= BOOT_NS;
	return 0;
}

/* The host: all CPUs are up and idle then. -EINVAL: another interface, or too many CPUs. */
wpk_s32 wpk_boot(const struct wpk_host *h, const struct wpk_machine *m)
{
	int error;

	if (h->abi != WPK_ABI || m->abi != WPK_ABI || !m->nr_cpus || m->nr_cpus > NR_CPUS || host)
		return -EINVAL;
	host = h;
	booting = m;
	seed_random(m->seed);
	keep_machine(m);
	view_init(m->now_ns);
	give_stack(&init_task, boot_cpu, NULL);
	running[0] = &init_task;
	wpsim_current = &init_task;
	request.kind = ENTER_CONTINUE;
	wp_swap(&host_sp, init_task.thread.sp, NULL);
	error = settle();
	if (error)
		return error;
	if (!control.thread)
		wp_fault(WPK_FAULT_SHIM, "the boot stands still");
	error = idle_before();
	if (error)
		return error;
	wp_booted = 1;
	stalls_begin(m->coherence);
	return 0;
}
