// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts and the way back from them. What arrives while a CPU has interrupts off waits in
 * `arrived` and is taken where they are switched on. An interrupt for oneself (irq_work) is taken
 * at once, within a softirq, too. The rules are the tree's own code
 * (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: an interrupt is taken once, in the order device, timer, call, reschedule; what
 * arrives on another CPU is the host's to deliver. May change: how what has arrived is kept.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * `probes` (`wpk_spawn` where interrupts are off: `add_spawns`, `make`; `wpk_device` of a CPU that
 * is gone: `pass_on`, `keep_tasks`; late errors of `user_loop`, with SLOW=1), `storm`
 * (`wpk_device`, `device_handler`), `SLOW=1` ones (`kernel_work`), every one (`wpk_interrupt`,
 * `wpk_call`, `wpk_continue`, `take_arrived`, `one_interrupt`, `wpsim_take_irq`, `exit_to_user`,
 * `send`); `a_governor_that_comes_first_repeats_no_call` (the visit that `user_loop` compares). The
 * rest by all of these.
 *
 * Callers: crates/kernel-tree/src/kernel/entries.rs the wpk_ functions; the arch_ functions the
 * tree; switch.c `handle_request`, hotplug.c `pass_on`, control.c `wpk_interrupt` and
 * `wpk_continue`; task.c `user_loop`, as where a task begins.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */
DEFINE_PER_CPU(struct pt_regs *, __irq_regs);
static struct pt_regs user_regs = { .user = 1 }, kernel_regs;
static struct arrival arrivals[NR_CPUS];

/* To oneself at once, to others through the host's view. */
static void send(unsigned int cpu, unsigned int what)
{
	struct wpk_cpu *c = &view.cpus[cpu];

	if (cpu == wpsim_cpu) {
		arrived[cpu] |= what;
		wpsim_irq_pending = 1;
		if (wpsim_irq_flags)
			wpsim_take_irq();
		return;
	}
	stall_sent(c);
	c->ipi |= what;
	changed(cpu);
}

/* The scheduler: a CPU is to look whom it runs. */
void arch_smp_send_reschedule(int cpu)
{
	send(cpu, WPK_RESCHED);
}

/* kernel/smp.c: a CPU has a function to call. */
void arch_send_call_function_single_ipi(int cpu)
{
	send(cpu, WPK_CALL);
}

/* The same for several CPUs. */
void arch_send_call_function_ipi_mask(const struct cpumask *mask)
{
	int cpu;

	for_each_cpu(cpu, mask)
		send(cpu, WPK_CALL);
}

/* kernel/irq_work.c: an interrupt to oneself. */
void arch_irq_work_raise(void)
{
	send(wpsim_cpu, WPK_CALL);
}

/* A task that nobody creates, and what the kernel says to it. */
struct spawn {
	struct spawn *next;
	struct kept_call kept;
	wpk_s64 answer;
	bool done, late;	/* late: the host no longer waits for the answer */
};

/* Behind those that wait already. */
static void add_spawns(struct arrival *a, struct spawn *spawns)
{
	struct spawn **end = &a->spawns;

	while (*end)
		end = &(*end)->next;
	*end = spawns;
}

/* A task that an interrupt creates; a late answer goes by its ticket. */
static void make(struct spawn *spawn)
{
	spawn->answer = do_fork_call(&spawn->kept.call);
	spawn->done = true;
	if (!spawn->late)
		return;
	told_host = true;
	host->done(host->data, spawn->kept.call.ticket, spawn->answer);
	wp_free(spawn);
}

/* Wakes the device's tasks, then makes what is to be made. */
static void device_handler(void)
{
	struct arrival *a = &arrivals[wpsim_cpu];
	struct spawn *spawn = a->spawns, *next;
	unsigned int i;

	for (i = 0; i < a->nr; i++) {
		struct task_struct *p = task_by_number(a->tasks[i]);

		if (p)
			wake_up_process(p);
	}
	a->nr = 0;
	if (a->handler)
		a->handler();
	a->handler = NULL;
	a->spawns = NULL;
	for (; spawn; spawn = next) {
		next = spawn->next;
		make(spawn);
	}
}

/* The host's list is the host's: a CPU with interrupts off takes it after this entry. */
static void keep_tasks(struct arrival *a, const wpk_u32 *tasks, unsigned int nr)
{
	if (a->nr + nr > a->room) {
		wpk_u32 *old = a->tasks;

		a->room = 2 * (a->nr + nr);
		a->tasks = wp_alloc(a->room * sizeof(*tasks), 8);
		if (old)
			memcpy(a->tasks, old, a->nr * sizeof(*tasks));
		wp_free(old);
	}
	memcpy(a->tasks + a->nr, tasks, nr * sizeof(*tasks));
	a->nr += nr;
}

/*
 * A CPU that is gone takes no interrupts: its devices' go to one that is there, as by
 * irq_migrate_all_off_this_cpu().
 */
static void pass_on(unsigned int cpu)
{
	struct arrival *from = &arrivals[cpu];
	unsigned int to = cpumask_first(cpu_online_mask);

	if (!from->nr && !from->spawns)
		return;
	if (from->nr)
		keep_tasks(&arrivals[to], from->tasks, from->nr);
	add_spawns(&arrivals[to], from->spawns);
	from->nr = 0;
	from->spawns = NULL;
	arrived[to] |= WP_DEVICE;
	view.cpus[to].ipi |= WPK_RESCHED;
	changed(to);
}

/* From irq_enter to irq_exit. */
static void one_interrupt(unsigned int what, struct pt_regs *regs)
{
	struct pt_regs *old = set_irq_regs(regs);

	view.cpus[wpsim_cpu].interrupts++;
	irq_enter();
	switch (what) {
	case WPK_TIMER:
		clock_fires();
		break;
	case WPK_CALL:
		generic_smp_call_function_single_interrupt();
		irq_work_run();
		break;
	case WPK_RESCHED:
		scheduler_ipi();
		break;
	case WP_DEVICE:
		device_handler();
		break;
	}
	irq_exit();
	set_irq_regs(old);
}

/* All that has arrived, one after the other: device, clock, call, reschedule. */
static void take_arrived(struct pt_regs *regs)
{
	static const unsigned int order[] = { WP_DEVICE, WPK_TIMER, WPK_CALL, WPK_RESCHED };
	unsigned int i;

	wpsim_irq_flags = ARCH_IRQ_DISABLED;
	while (arrived[wpsim_cpu]) {
		for (i = 0; i < ARRAY_SIZE(order); i++) {
			if (!(arrived[wpsim_cpu] & order[i]))
				continue;
			arrived[wpsim_cpu] &= ~order[i];
			one_interrupt(order[i], regs);
		}
	}
	wpsim_irq_pending = 0;
}

/* Interrupts were switched on in the kernel and something waits. */
void wpsim_take_irq(void)
{
	if (!arrived[wpsim_cpu]) {
		wpsim_irq_pending = 0;
		return;
	}
	take_arrived(&kernel_regs);
#ifdef CONFIG_PREEMPTION
	if (!preempt_count() && need_resched())
		preempt_schedule_irq();
#endif
#ifdef WP_HAS_REARM
	hrtimer_rearm_deferred();
#endif
	wpsim_irq_flags = ARCH_IRQ_ENABLED;
	if (arrived[wpsim_cpu])
		wpsim_take_irq();
}

/* The host came back to a CPU that waits inside the kernel. */
static void handle_request(void)
{
	/* An interrupt may take the CPU away, until another visit. */
	if (arrived[wpsim_cpu]) {
		wpsim_irq_pending = 1;
		if (wpsim_irq_flags)
			wpsim_take_irq();
	}
}

/*
 * Kernel work that takes simulated time: interrupts come in, a preemption may take the CPU away. It
 * takes none at the boot.
 */
static void kernel_work(u64 ns)
{
	if (!ns || !wp_booted)
		return;
	view.cpus[wpsim_cpu].work_ns = ns;
	do {
		to_host(WPK_WORK);
		if (request.kind == ENTER_CONTINUE)
			break;
		handle_request();
	} while (1);
}

#ifndef _TIF_NEED_RESCHED_LAZY
#define _TIF_NEED_RESCHED_LAZY 0
#endif
#define USER_WORK \
	(_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY | _TIF_NOTIFY_RESUME | _TIF_NOTIFY_SIGNAL)

/* The way back to user mode: whoever should run first runs first, and a timer left unset is set. */
static void exit_to_user(void)
{
	unsigned long flags;

	for (;;) {
		local_irq_disable();
		flags = READ_ONCE(current_thread_info()->flags);
#ifdef WP_HAS_REARM
#ifdef CONFIG_HRTIMER_REARM_DEFERRED
		if (!(flags & (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY)))
			hrtimer_rearm_deferred();
#endif
#endif
		if (!(flags & USER_WORK))
			break;
		local_irq_enable();
		if (flags & (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY))
			schedule();
		if (flags & (_TIF_NOTIFY_RESUME | _TIF_NOTIFY_SIGNAL)) {
			clear_thread_flag(TIF_NOTIFY_RESUME);
			clear_thread_flag(TIF_NOTIFY_SIGNAL);
			task_work_run();
		}
	}
	wpsim_irq_flags = ARCH_IRQ_ENABLED;
}

#ifdef WPSIM_COHERENT
/* The host's words are gone when the CPU first waits for a line: `current` has a copy of them. */
static const struct wpk_call *own_call(const struct wpk_call *call)
{
	struct kept_call *kept = current->thread.kept;

	if (!kept)
		kept = current->thread.kept = wp_host_alloc(sizeof(*kept), 8);
	if (keep_call(kept, call))
		return call;
	return &kept->call;
}
#else
/* No time passes before all has been read. */
static const struct wpk_call *own_call(const struct wpk_call *call)
{
	return call;
}
#endif

/* A user's thread: in user mode the host lets time pass; every entry into the kernel is here. */
static void user_loop(void *arg)
{
	for (;;) {
		do {
			exit_to_user();
			if (arrived[wpsim_cpu])
				take_arrived(&user_regs);
		} while (current_thread_info()->flags & USER_WORK);
		rcu_settle();
		to_host(WPK_USER);
		if (request.kind == ENTER_CALL) {
			const struct wpk_call *call = own_call(request.call);
			unsigned long visit = request.visit;
			wpk_u64 ticket = call->ticket;
			wpk_s64 answer;

			request.answer = 0;
			wpsim_irq_flags = ARCH_IRQ_ENABLED;
			answer = do_call(call);
			/* If it has blocked this is another visit, with an answer of its own. */
			if (request.visit == visit)
				request.answer = answer;
			else if (answer < 0) {
				told_host = true;
				host->done(host->data, ticket, answer);
			}
		} else if (arrived[wpsim_cpu]) {
			take_arrived(&user_regs);
		}
	}
}

/* The host: these have arrived at a CPU. A negative errno, or how the CPU left. */
wpk_s32 wpk_interrupt(wpk_u32 cpu, wpk_u32 what)
{
	if (cpu >= nr_cpus)
		return -EINVAL;
	view.cpus[cpu].ipi &= ~what;
	/* It has fired, even if the CPU takes it later. */
	if (what & WPK_TIMER && view.cpus[cpu].next_event_ns <= view.now_ns) {
		view.cpus[cpu].next_event_ns = WPK_NEVER;
		changed(cpu);
	}
	arrived[cpu] |= what & (WPK_RESCHED | WPK_CALL | WPK_TIMER);
	return enter(cpu, ENTER_IRQ);
}

/* What has arrived at a CPU by a device. */
static int device_arrives(unsigned int cpu)
{
	if (view.dead)
		return WPK_DEAD;
	if (view.cpus[cpu].state == WPK_OFFLINE) {
		pass_on(cpu);
		return 0;
	}
	arrived[cpu] |= WP_DEVICE;
	return enter(cpu, ENTER_IRQ);
}

/* The host: a device's interrupt, which wakes these tasks. */
wpk_s32 wpk_device(wpk_u32 cpu, const wpk_u32 *tasks, wpk_u32 nr)
{
	if (cpu >= nr_cpus)
		return -EINVAL;
	keep_tasks(&arrivals[cpu], tasks, nr);
	return device_arrives(cpu);
}

/* The host: an interrupt creates a task; its number, or that it is pending. */
wpk_s64 wpk_spawn(wpk_u32 cpu, const struct wpk_call *fork)
{
	struct spawn *spawn;
	wpk_s64 answer;
	int error;

	if (cpu >= nr_cpus)
		return -EINVAL;
	spawn = wp_alloc(sizeof(*spawn), 8);
	error = keep_call(&spawn->kept, fork);
	if (error) {
		wp_free(spawn);
		return error;
	}
	add_spawns(&arrivals[cpu], spawn);
	error = device_arrives(cpu);
	if (error)
		return error;
	if (!spawn->done) {
		spawn->late = true;
		return WPK_PENDING;
	}
	answer = spawn->answer;
	wp_free(spawn);
	return answer;
}

/* The host: a CPU goes on where it had left. */
wpk_s32 wpk_continue(wpk_u32 cpu)
{
	return enter(cpu, ENTER_CONTINUE);
}

/* The host: a system call of the task that runs there; -EINVAL: none does. */
wpk_s64 wpk_call(wpk_u32 cpu, const struct wpk_call *call)
{
	int error;

	if (cpu >= nr_cpus || view.cpus[cpu].state != WPK_USER)
		return -EINVAL;
	request.call = call;
	error = enter(cpu, ENTER_CALL);
	return error ? error : request.answer;
}
