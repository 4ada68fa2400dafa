// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kernel/cpu.c asks of an architecture to bring CPUs up and down. The rules are the tree's own
 * code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: kernel/cpu.c decides the steps; a CPU that left says WPK_OFFLINE to the host. May
 * change: what a new tree asks of an architecture.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) every
 * scenario boots with it (`fork_idle`, `__cpu_up`, `secondary`), `storm` (`hotplug`,
 * `__cpu_disable`, `__cpu_die`, `arch_cpu_idle_dead`), `probes` (a device of a CPU that is gone);
 * `no_kind_of_work_makes_it_warn` (CPUs off and on, CPU 0 too).
 *
 * Callers: control.c (`hotplug`); the rest the tree's kernel/cpu.c.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */

/* The idle task of a CPU that comes up. */
struct task_struct *fork_idle(int cpu)
{
	struct task_struct *idle = new_task(&init_task, "swapper", PF_KTHREAD);

	idle->pid = idle->tgid = 0;
	idle->thread.number = WPK_IDLE;
	sched_fork(0, idle);
	init_idle(idle, cpu);
	return idle;
}

/* The first of a CPU: on its idle task's stack. */
static void secondary(void *arg)
{
	wpsim_irq_flags = ARCH_IRQ_DISABLED;
	current->active_mm = &init_mm;
	notify_cpu_starting(wpsim_cpu);
	clock_cpu_up();
	set_cpu_online(wpsim_cpu, true);
	wpsim_irq_flags = ARCH_IRQ_ENABLED;
	cpu_startup_entry(CPUHP_AP_ONLINE_IDLE);
}

/* The CPU begins to run at its idle task's stack, when the host enters it. */
int __cpu_up(unsigned int cpu, struct task_struct *idle)
{
	give_stack(idle, secondary, NULL);
	init_idle_preempt_count(idle, cpu);
	set_running(cpu, idle);
	view.cpus[cpu].state = WPK_START;
	view.cpus[cpu].idle_state = WPK_NONE;
	arrived[cpu] = 0;
	changed(cpu);
	return 0;
}

/* On the CPU that goes, with all others stopped. */
int __cpu_disable(void)
{
	set_cpu_online(wpsim_cpu, false);
	return 0;
}

/* The CPU is gone: it has no timer and no interrupt any more. */
void __cpu_die(unsigned int cpu)
{
	view.cpus[cpu].ipi = 0;
	view.cpus[cpu].next_event_ns = WPK_NEVER;
	changed(cpu);
}

/* What is left for it goes to another CPU, and it never comes back here. */
void arch_cpu_idle_dead(void)
{
	for (;;) {
		arrived[wpsim_cpu] = 0;
		pass_on(wpsim_cpu);
		to_host(WPK_OFFLINE);
	}
}

/* By the owner's thread: cpu_device_up or down, then partitions anew. */
static int hotplug(unsigned int cpu, bool up)
{
	int error;

	if (cpu >= nr_cpus)
		return -EINVAL;
	error = up ? cpu_device_up(get_cpu_device(cpu)) : cpu_device_down(get_cpu_device(cpu));
	repartition();
	return error;
}
