/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine: idle CPUs and their timer, CPUs that come and go, start and end.
 *
 * What must stay: `hotplug_count` and `exit_info` are read by the loader (crates/scx/src/live.rs,
 * live.h).
 *
 * Tests by part: guest.sh hotplug-storm (wakeplace_cpu_online, wakeplace_cpu_offline,
 * give_up_queue, rescue_queue), guest.sh timer-follows (idle_tick, start_timer), the steps that
 * switch (apply_params), tests.rs (wakeplace_init, wakeplace_exit). All guests run
 * wakeplace_update_idle. parity/glue.rs has `claims` (forget_claim), `rescue` (rescue_queue,
 * give_up_queue) and `idles` (wakeplace_update_idle). note_online has no test of its own.
 *
 * Kernel: ops update_idle(), cpu_online(), cpu_offline(), init(), exit(), kernel/sched/ext.c
 * Rule: docs/rules/live-queue.md#vq-timer, docs/rules/hotplug.md#hotplug
 * Tests: scripts/live/guest.sh, crates/scx/tests/parity/glue.rs, xtask/src/live/tests.rs
 * Covers: guest.sh hotplug-storm: CPUs leave and come back under load, and no task is lost;
 *         tests.rs: start, end and a killed loader on each kernel.
 * Untried: CPUs that change between the loader's look and the start (note_online).
 */
#ifndef SCX_WAKEPLACE_MACHINE_H
#define SCX_WAKEPLACE_MACHINE_H

/* A CPU goes idle, or no longer is. Both are told once, however often the kernel says so. */
OPS(update_idle) void wakeplace_update_idle(u64 *args)
{
	u32 cpu = (u32)(s32)args[0];
	struct wp_cpu *c = WP_AT(ctx.cpus, cpu);
	u64 now = now_ns();

	c->queue.pending = 0;
	if (!args[1]) {
		wp_exit_idle(&ctx, cpu, now);
		return;
	}
	if (c->queue.curr_idle) /* up to 6.13 the kernel says so at each look for work, too */
		return;
	wp_enter_idle(&ctx, cpu, now);
	c->idle.idle_exit_latency_us = WP_NONE;
	if (wish_of(cpu)->push_to != WP_NONE)
		drop_push(cpu);
}

/* The loader rebuilds the domains when it sees the count change. */
OPS_SLEEPABLE(cpu_online) void wakeplace_cpu_online(u64 *args)
{
	WP_AT(ctx.cpus, (u32)(s32)args[0])->queue.online = 1;
	leaving = 0;
	hotplug_ns = now_ns();
	WP_ADD(&hotplug_count, 1);
}

/* From now on the kernel asks nothing on behalf of this CPU: its queue would never be looked at
 * again. The global queue is, by every CPU. */
static __always_inline void give_up_queue(u32 cpu)
{
	struct task_struct *p;

	bpf_rcu_read_lock();
	bpf_for_each(scx_dsq, p, dsq_of(cpu), 0)
		scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_GLOBAL, 0);
	bpf_for_each(scx_dsq, p, parked_on(cpu), 0)
		scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_GLOBAL, 0);
	bpf_rcu_read_unlock();
}

/* A CPU leaves; its queue is asked for nothing any more. */
OPS_SLEEPABLE(cpu_offline) void wakeplace_cpu_offline(u64 *args)
{
	u32 cpu = (u32)(s32)args[0];

	WP_AT(ctx.cpus, cpu)->queue.online = 0;
	hotplug_ns = now_ns();
	leaving = cpu + 1;
	WP_ADD(&hotplug_count, 1);
	give_up_queue(cpu);
}

/*
 * A CPU on its way out idles with tasks in its queue: up to 6.16 the kernel stops asking on its
 * behalf before it says so. Two reminders; then the tasks go to whoever looks first. Is it so?
 */
static __always_inline bool rescue_queue(u32 cpu, const struct wp_cpu *c, u32 helper)
{
	struct cpu_wish *w = wish_of(cpu);

	if (scx_bpf_dsq_nr_queued(dsq_of(cpu)) <= 0) {
		w->stranded = 0;
		return false;
	}
	if (c->queue.online && w->stranded++ < 2) {
		kick(cpu, SCX_KICK_IDLE);
		return true;
	}
	give_up_queue(cpu);
	kick(helper, 0);
	return true;
}

/* The kernel takes the text of an error from writable memory only. */
static char timer_lost[] = "the timer for idle CPUs cannot be started again";

/*
 * A claim that no task follows (it was placed elsewhere after all) would keep an idle CPU from
 * being chosen: it lapses at the third turn of the timer after it. Is there one?
 */
static __always_inline bool forget_claim(struct wp_cpu *c)
{
	u32 claims = c->queue.pending;

	if (claims)
		c->queue.pending = claims < 3 ? claims + 1 : 0;
	return claims;
}

/*
 * Idle CPUs have no tick: this is theirs. Each fades its signals, and is woken for a balancing pass
 * where one is due and somewhere is something to pull. A CPU that another class keeps busy has no
 * tick of ours either: what is taken of it is noted here too. Work per CPU, without its lock, once
 * per tick while a CPU is busy when it looks; else ever less often (wp_idle_timer_ns), until a busy
 * CPU's tick has something for idle ones (end_rest).
 */
static int idle_tick(void *map, u32 *key, struct tick_timer *tick)
{
	u64 now = now_ns(), rest;
	struct wp_idle_turn idle_turn;
	unsigned long long none = 0;
	u32 cpu, here = bpf_get_smp_processor_id(), turn = !*key;
	/* CPUs seldom go alone, and the next one may leave its tasks behind (rescue_queue) */
	bool alert = now < hotplug_ns + HOTPLUG_ALERT_NS;
	bool heard = WP_AT(ctx.cpus, here)->queue.online; /* else its kicks reach nobody */
	int did;

	wp_idle_turn_begin(&idle_turn, now);
	bpf_for(cpu, 0, ctx.nr_cpus < WP_MAX_CPUS ? ctx.nr_cpus : WP_MAX_CPUS) {
		struct wp_cpu *c = WP_AT(ctx.cpus, cpu);

		if (heard && (!c->queue.online || c->queue.curr_idle) && rescue_queue(cpu, c, here))
			alert = true;
		if (!c->queue.online)
			continue;
		if (forget_claim(c))
			alert = true;
		if (c->queue.curr_idle || !c->queue.curr_fair)
			note_pressure(cpu, now);
		did = wp_idle_turn_offer(&ctx, &idle_turn, cpu);
		/* No run queue is locked here: the kernel locks it and updates its clock. */
		if ((did & WP_DID_FREQ) || wish_of(cpu)->freq)
			request_freq(cpu);
		if (did & WP_DID_BALANCE) {
			wish_of(cpu)->balance = 1;
			kick(cpu, SCX_KICK_IDLE);
		}
	}
	if (alert) /* the next turns follow once per tick */
		idle_turn.busy |= WP_BUSY_NOW;
	rest = wp_idle_turn_end(&ctx, &idle_turn);
	timer_started = turn;
	tick = bpf_map_lookup_elem(&timers, &turn);
	if (!tick || bpf_timer_start(&tick->timer, rest, 0))
		scx_bpf_error_bstr(timer_lost, &none, 0);
	if (ctx.idle_timer_ns != rest) /* a tick has ended it meanwhile, before it was started */
		end_rest();
	return 0;
}

/* Arms the timer of idle CPUs; below 0: an errno, and the scheduler does not start. */
static __always_inline s32 start_timer(void)
{
	struct tick_timer *tick = 0;
	s32 error = 0;
	u32 i;

	bpf_for(i, 0, NR_TIMERS) {
		u32 key = i;

		tick = bpf_map_lookup_elem(&timers, &key);
		if (!tick)
			return -2; /* ENOENT: cannot be, the map has them */
		error = bpf_timer_init(&tick->timer, &timers, CLOCK_MONOTONIC);
		if (!error)
			error = bpf_timer_set_callback(&tick->timer, idle_tick);
		if (error)
			return error;
	}
	if (!tick)
		return -2;
	timer_started = NR_TIMERS - 1;
	return bpf_timer_start(&tick->timer, wp_idle_timer_ns(&ctx, WP_BUSY_NOW, now_ns()), 0);
}

/* Which CPUs are online at the start. The loader looked seconds before, and a CPU may have come
 * or gone since. From here on the kernel's callbacks tell. */
static __always_inline void note_online(void)
{
	const struct cpumask *online = scx_bpf_get_online_cpumask();
	u32 cpu;

	bpf_for(cpu, 0, ctx.nr_cpus < WP_MAX_CPUS ? ctx.nr_cpus : WP_MAX_CPUS) {
		struct wp_cpu *c = WP_AT(ctx.cpus, cpu);
		u32 is = bpf_cpumask_test_cpu(cpu, online);

		if (c->queue.online != is)
			hotplug_count++;
		c->queue.online = is;
	}
	scx_bpf_put_cpumask(online);
}

/* Queues and timers of all CPUs; below 0: an errno, and the scheduler does not start. */
OPS_SLEEPABLE(init) s32 wakeplace_init(u64 *args)
{
	u32 cpu;
	s32 error;

	note_online();
	cgroups.returns = tells_returns();
	bpf_for(cpu, 0, ctx.nr_cpus < WP_MAX_CPUS ? ctx.nr_cpus : WP_MAX_CPUS) {
		wish_of(cpu)->push_to = WP_NONE;
		error = scx_bpf_create_dsq(dsq_of(cpu), -1);
		if (!error)
			error = scx_bpf_create_dsq(parked_on(cpu), -1);
		if (error)
			return error;
	}
	error = init_timers(&slice_timers, slice_end);
	if (!error)
		error = init_timers(&unpark_timers, unpark_due);
	return error ? error : start_timer();
}

/* The end: reason and message for the loader, which waits for `kind`. */
OPS(exit) void wakeplace_exit(u64 *args)
{
	const struct scx_exit_info *info = (const struct scx_exit_info *)args[0];

	bpf_probe_read_kernel_str(exit_info.reason, sizeof(exit_info.reason), info->reason);
	bpf_probe_read_kernel_str(exit_info.message, sizeof(exit_info.message), info->msg);
	exit_info.code = info->exit_code;
	exit_info.kind = info->kind; /* last: the loader waits for it */
}

/* Puts next_params into force: while it runs, without a gap. */
SEC("syscall") int apply_params(void *unused)
{
	u32 i;

	_Static_assert(sizeof(struct wp_params) <= 256 * sizeof(u32), "the mask below holds it");
	bpf_for(i, 0, sizeof(struct wp_params) / sizeof(u32))
		((u32 *)&ctx.params)[i & 255] = ((u32 *)&next_params)[i & 255];
	return wp_start(&ctx);
}

#endif
