// SPDX-License-Identifier: GPL-2.0-only
/* What kernel/cpu.c asks of an architecture to bring CPUs up and down. */

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

int __cpu_disable(void)
{
	set_cpu_online(wpsim_cpu, false);
	return 0;
}

void __cpu_die(unsigned int cpu)
{
	view.cpus[cpu].ipi = 0;
	view.cpus[cpu].next_event_ns = WPK_NEVER;
	changed(cpu);
}

void arch_cpu_idle_dead(void)
{
	for (;;) {
		arrived[wpsim_cpu] = 0;
		pass_on(wpsim_cpu);
		to_host(WPK_OFFLINE);
	}
}

static int hotplug(unsigned int cpu, bool up)
{
	int error;

	if (cpu >= nr_cpus)
		return -EINVAL;
	error = up ? cpu_device_up(get_cpu_device(cpu)) : cpu_device_down(get_cpu_device(cpu));
	repartition();
	return error;
}
