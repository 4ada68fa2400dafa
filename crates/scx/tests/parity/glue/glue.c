/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One structure of the glue at a time, on a kernel of one thread (fake.h): src/bpf and the core as
 * they are loaded (WP_LIVE), as a program of this machine. Prints what is not as it must be.
 * Quotas, pushes, claims and groups are here; tasks.h has what happens to a task, cpus.h to a CPU.
 *
 *   glue CASE
 *
 * What must stay: src/bpf is included as it is. What a case expects is the rule's number or is
 * counted by hand.
 *
 * Tests: crates/scx/tests/parity/glue.rs
 */
#include "main.bpf.c"
#include "fake.h"

static int bad;

#define EXPECT(what)                                                                               \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                  \
			bad = 1;                                                                   \
		}                                                                                  \
	} while (0)

/* The kernel's: a task is enqueued anew. */
#define SCX_ENQ_REENQ (1ull << 40)

#define S 1000000000ull
#define MS 1000000ull

/* Two CPUs alike, at a time at which a second begins; CPU 0 is here. */
static void begin(void)
{
	static const struct cpumask both = { { 3 } };
	u32 cpu, i;

	fake.now = 1000 * S;
	fake.jiffies = fake.now / TICK_NS;
	ctx.nr_cpus = NR_CPUS;
	ctx.tick_ns = TICK_NS;
	ctx.params.vq_slice_ns = 3000000;
	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		struct wp_cpu *c = &ctx.cpus[cpu];

		c->queue.online = 1;
		c->load.freq_scale = 1024;
		c->load.capacity_orig = 1024;
		c->topo.perf_dom = WP_NONE;
		c->topo.freq_dom = WP_NONE;
		c->topo.llc_level = WP_NONE;
		wish[cpu].push_to = WP_NONE;
	}
	for (i = 0; i < NR_TASKS; i++) {
		struct fake *f = &fake.tasks[i];

		f->task.pid = (int)i + 1;
		f->task.cpus_ptr = &both;
		f->task.nr_cpus_allowed = 2;
		f->live.wp.id = i + 1;
		f->live.wp.weight = f->live.member.own_weight = 1024;
		f->live.wp.allowed[0] = 3;
		f->live.wp.nr_allowed = 2;
		f->live.known = 1;
		f->live.go_to = WP_NONE;
		f->task.scx.runnable_at = fake.jiffies;
		wp_task_init(&ctx, &f->live.wp);
	}
	fake.current = &fake.tasks[NR_TASKS - 1].task;
}

static void pass(u64 ns)
{
	fake.now += ns;
	fake.jiffies = fake.now / TICK_NS;
}

/* A group with a thousandth of a CPU, far in debt, of which the first so many tasks are. */
static u32 spend(u32 members)
{
	u32 group = wp_live_group_new(&cgroups, 0), i;

	wp_live_group_set_quota(&cgroups, group, 1000000, 1000, 0);
	wp_live_group_charge(&cgroups, group, 100 * MS, fake.now);
	for (i = 0; i < members; i++)
		fake.tasks[i].live.member.group = group;
	return group;
}

/* Where a task is counts by the tick: user space alone, without virtual machines, and not where the
 * kernel counts at each change of mode. */
static void user_time(void)
{
	struct fake *f = &fake.tasks[0];

	EXPECT(!note_user_time(&f->live, &f->task));
	f->task.utime += TICK_NS;
	EXPECT(note_user_time(&f->live, &f->task));
	EXPECT(!note_user_time(&f->live, &f->task));
	f->task.utime += TICK_NS;
	f->task.gtime += TICK_NS;
	EXPECT(!note_user_time(&f->live, &f->task));
	f->task.utime += TICK_NS;
	f->task.vtime.state = (enum vtime_state)1;
	EXPECT(!note_user_time(&f->live, &f->task));
	f->task.vtime.state = VTIME_INACTIVE;
	EXPECT(!note_user_time(&f->live, &f->task));
}

/* Who may be held back: members of groups, but for threads of the kernel, tasks on their way out,
 * and holders of a futex with priority inheritance for which somebody waits. */
static void quota_holders(void)
{
	struct fake *f = &fake.tasks[0], *root = &fake.tasks[1];

	spend(1);
	EXPECT(has_quota(&f->task, &f->live) && !has_quota(&root->task, &root->live));
	f->task.flags = PF_KTHREAD;
	EXPECT(!has_quota(&f->task, &f->live));
	f->task.flags = PF_EXITING;
	EXPECT(!has_quota(&f->task, &f->live));
	f->task.flags = 0;
	f->task.pi_waiters.rb_leftmost = (struct rb_node *)&root->task;
	EXPECT(!has_quota(&f->task, &f->live));
	EXPECT(quota_wait_ns(&f->task, &f->live, fake.now) == 0);
	f->task.pi_waiters.rb_leftmost = 0;
	EXPECT(has_quota(&f->task, &f->live));
	cgroups.limited = 0;
	EXPECT(!has_quota(&f->task, &f->live));
}

/* A tick inside asks for the return, and the return holds it back; a tick outside does at once. The
 * task is parked where it was seen outside, and nowhere else. */
static void held_at_return(void)
{
	struct fake *f = &fake.tasks[0];

	cgroups.returns = tells_returns();
	EXPECT(cgroups.returns);
	spend(1);
	EXPECT(!park(&f->task, &f->live, 0, 0, fake.now) && !f->waits);
	EXPECT(!held_back(&f->task, &f->live, false, fake.now));
	EXPECT(fake.returns == 1 && fake.returning == &f->task && fake.has_return_work);
	fake.current = &f->task;
	returned(0, 0, 0);
	EXPECT(fake.kicks[0] == 1 && fake.kick_flags == SCX_KICK_PREEMPT);
	EXPECT(f->live.member.outside);
	EXPECT(park(&f->task, &f->live, 0, 0, fake.now));
	EXPECT(f->waits && f->queue == parked_on(0) && f->live.parked_ns == fake.now);
	f = &fake.tasks[1];
	f->live.member.group = fake.tasks[0].live.member.group;
	EXPECT(held_back(&f->task, &f->live, true, fake.now) && fake.returns == 1);
	/* one that waits in the queue is parked from there only if it was outside */
	put(&f->task, dsq_of(0), 7);
	EXPECT(park_waiting(0, &f->task, &f->live, 0, fake.now) && f->queue == parked_on(0));
	f = &fake.tasks[2];
	f->live.member.group = fake.tasks[0].live.member.group;
	put(&f->task, dsq_of(0), 8);
	EXPECT(!park_waiting(0, &f->task, &f->live, 0, fake.now) && f->queue == dsq_of(0));
	/* on its way out a CPU parks nobody: nobody would look */
	ctx.cpus[0].queue.online = 0;
	EXPECT(!park(&fake.tasks[1].task, &fake.tasks[1].live, 0, 0, fake.now));
}

/* A tick inside asks for the return; one outside ends the turn where the task is, and the look for
 * those who wait too long is asked for all the same. It goes on if its group may run again. */
static void ticks(void)
{
	struct fake *f = &fake.tasks[0];
	u64 args[1] = { (u64)&f->task };
	u32 group;

	cgroups.returns = 1;
	group = spend(1);
	fake.slice = 1;
	wakeplace_running(args);
	EXPECT(f->live.wp.running && f->live.wp.on_rq && fake.returns == 1);
	pass(TICK_NS);
	wakeplace_tick(args);
	EXPECT(fake.returns == 2 && fake.slice == 1 && !f->live.member.outside);
	EXPECT(stats[0].run_ns == TICK_NS);
	EXPECT(may_go_on(&f->task, 0));
	put(&fake.tasks[1].task, dsq_of(0), 1);
	f->task.utime += TICK_NS;
	pass(TICK_NS);
	wakeplace_tick(args);
	EXPECT(fake.slice == 0 && f->live.member.outside && wish[0].overdue);
	EXPECT(!may_go_on(&f->task, 0));
	wp_live_group_set_quota(&cgroups, group, 1000000, 1000000, 0);
	EXPECT(may_go_on(&f->task, 0) && !f->live.member.outside);
}

/* Parked ones are looked at: who has waited ten seconds gets a turn and is queued; the others stay,
 * and the timer is armed for the first of them, or for a second. */
static void unparking(void)
{
	u32 i;

	cgroups.returns = 1;
	spend(3);
	for (i = 0; i < 3; i++) {
		struct fake *f = &fake.tasks[i];

		EXPECT(held_back(&f->task, &f->live, true, fake.now));
		EXPECT(park(&f->task, &f->live, 0, 0, fake.now));
	}
	EXPECT(nr_queued(parked_on(0)) == 3 && fake.started == 1 && fake.started_ns == S);
	pass(10 * S);
	fake.tasks[1].task.scx.runnable_at = fake.jiffies - 2400; /* 9.6 s */
	fake.unpark_timer[0].armed_ns = 0; /* it has fired */
	unpark(0);
	EXPECT(nr_queued(parked_on(0)) == 1 && fake.tasks[1].queue == parked_on(0));
	EXPECT(nr_queued(dsq_of(0)) == 2 && fake.tasks[0].live.wp.on_rq);
	EXPECT(fake.tasks[0].live.member.turn_ns == 4 * MS && fake.tasks[0].live.member.unpaid);
	EXPECT(ctx.cpus[0].queue.nr_running == 2);
	EXPECT(fake.started_ns == 400 * MS);
	/* queued anew before it ran: its turn stays */
	EXPECT(!park(&fake.tasks[0].task, &fake.tasks[0].live, 0, 0, fake.now));
}

/* A move that fails leaves the task parked; it is looked at again, within a second. */
static void a_lost_look(void)
{
	struct fake *f = &fake.tasks[0];

	cgroups.returns = 1;
	spend(1);
	EXPECT(held_back(&f->task, &f->live, true, fake.now));
	EXPECT(park(&f->task, &f->live, 0, 0, fake.now));
	pass(10 * S);
	fake.unpark_timer[0].armed_ns = 0;
	fake.fails = 1;
	unpark(0);
	EXPECT(f->queue == parked_on(0) && fake.started_ns == S && fake.unpark_timer[0].armed_ns);
	/* the timer fires, and the kick that it makes is lost: it fires again */
	pass(S);
	fake.started = 0;
	unpark_due(0, &(u32){ 0 }, &fake.unpark_timer[0]);
	EXPECT(wish[0].unpark && fake.started == 1 && fake.started_ns == S);
	unpark(0);
	EXPECT(f->queue == dsq_of(0) && !nr_queued(parked_on(0)));
	fake.started = 0;
	pass(S);
	unpark_due(0, &(u32){ 0 }, &fake.unpark_timer[0]);
	EXPECT(!fake.started && !fake.unpark_timer[0].armed_ns);
}

/* A timer is started for an earlier end only, or if it should have fired a tick ago. */
static void timers_are_armed(void)
{
	struct slice_timer *s = &fake.slice_timer[0];

	arm_timer(s, 3 * MS, fake.now);
	EXPECT(fake.started == 1 && s->armed_ns == fake.now + 3 * MS);
	arm_timer(s, 5 * MS, fake.now);
	EXPECT(fake.started == 1);
	arm_timer(s, MS, fake.now);
	EXPECT(fake.started == 2 && fake.started_ns == MS);
	arm_timer(s, MS, fake.now + MS + TICK_NS - 1);
	EXPECT(fake.started == 2);
	arm_timer(s, MS, fake.now + MS + TICK_NS);
	EXPECT(fake.started == 3);
}

/* Ten seconds in the queue, and it runs next; who waits for its quota there gets a turn as well. */
static void overdue_tasks(void)
{
	u32 i;

	cgroups.returns = 0;
	spend(1);
	for (i = 0; i < 3; i++)
		put(&fake.tasks[i].task, dsq_of(0), i);
	wish[0].overdue = 1;
	EXPECT(!take_overdue(0) && !wish[0].overdue);
	pass(10 * S);
	fake.tasks[1].task.scx.runnable_at = fake.jiffies - 2499;
	EXPECT(take_overdue(0));
	EXPECT(fake.tasks[0].queue == SCX_DSQ_LOCAL && fake.tasks[2].queue == SCX_DSQ_LOCAL);
	EXPECT(fake.tasks[1].queue == dsq_of(0));
	EXPECT(fake.tasks[0].live.member.turn_ns == 4 * MS && !fake.tasks[2].live.member.turn_ns);
}

/* Who changes `carried` first says where a task is counted. */
static void carried_tasks(void)
{
	struct fake *f = &fake.tasks[0];
	struct bpf_iter_scx_dsq it;

	put(&f->task, dsq_of(1), 1);
	f->live.wp.cpu = 1;
	f->live.carried = CARRIED_MOVING;
	bpf_iter_scx_dsq_new(&it, dsq_of(1), 0);
	EXPECT(!take_to_wait(&it, &f->task, &f->live, 0, fake.now)); /* another CPU does */
	end_carried(&f->live);
	EXPECT(f->live.carried == CARRIED_NOT);
	fake.fails = 1;
	EXPECT(!take_to_wait(&it, &f->task, &f->live, 0, fake.now));
	EXPECT(f->live.carried == CARRIED_NOT && f->queue == dsq_of(1));
	EXPECT(take_to_wait(&it, &f->task, &f->live, 0, fake.now));
	EXPECT(f->live.carried == CARRIED_NOT && f->queue == dsq_of(0) && stats[0].pulled == 1);
	f->live.carried = CARRIED_MOVING;
	EXPECT(!park_waiting(0, &f->task, &f->live, 0, fake.now));
}

/* A push is wanted for two ticks; it is taken by a task that ran, and may run there. */
static void pushes(void)
{
	struct fake *f = &fake.tasks[0];

	wish[0].push_to = 1;
	wish[0].asked_ns = fake.now;
	EXPECT(push_wanted(0) == 1);
	EXPECT(take_wish(&f->task, &f->live, 0) == WP_NONE && wish[0].push_to == 1);
	f->live.was_running = 1;
	EXPECT(take_wish(&f->task, &f->live, 0) == 1 && wish[0].push_to == WP_NONE);
	EXPECT(stats[0].pushed == 1 && !f->live.was_running);
	wish[0].push_to = 1;
	pass(2 * TICK_NS);
	EXPECT(push_wanted(0) == WP_NONE && wish[0].push_to == WP_NONE);
	wish[0].push_to = 1;
	wish[0].asked_ns = fake.now;
	f->live.was_running = 1;
	f->task.migration_disabled = 2;
	EXPECT(take_wish(&f->task, &f->live, 0) == WP_NONE && stats[0].pushed == 1);
	f->task.migration_disabled = 0;
	f->live.was_running = 1;
	f->live.go_to = 1; /* an exec chose it */
	EXPECT(take_wish(&f->task, &f->live, 0) == 1 && f->live.go_to == WP_NONE);
}

/* A claim that no task follows lapses at the third turn after it. */
static void claims(void)
{
	struct wp_cpu *c = &ctx.cpus[0];
	u32 turn;

	c->queue.pending = 1;
	for (turn = 0; turn < 2; turn++)
		EXPECT(forget_claim(c) && c->queue.pending);
	EXPECT(forget_claim(c) && !c->queue.pending);
	EXPECT(!forget_claim(c));
}

/* It has come back: it waits in its CPU's queue by deadline, and is counted there once. The flag
 * for local queues, which would be an error with this queue, is not passed on. */
static bool is_back(const struct fake *f, u32 cpu)
{
	return f->waits && f->queue == dsq_of(cpu) && f->vtime == f->live.wp.deadline_ns &&
	       fake.enq_flags == SCX_ENQ_REENQ && f->live.wp.on_rq && f->live.wp.cpu == cpu &&
	       ctx.cpus[cpu].queue.nr_running == 1;
}

/*
 * Who wakes to an idle CPU is to run there at once. The kernel gives it back if that CPU has got a
 * real-time task: before it ran, so that it is counted first then, and as it ran.
 */
static void at_once_or_back(void)
{
	struct fake *f = &fake.tasks[0];
	u64 runs[2] = { (u64)&f->task, 1 }, back[2] = { (u64)&f->task, SCX_ENQ_REENQ };

	lacks_enum_values = true; /* before 7.1 */
	take_claimed(&f->task, &f->live, 1, fake.now);
	EXPECT(f->queue == SCX_DSQ_LOCAL && fake.enq_flags == 0);
	lacks_enum_values = false;
	f->live.asleep = 1;
	f->task.thread_info.cpu = 1;
	take_claimed(&f->task, &f->live, 1, fake.now);
	EXPECT(f->queue == SCX_DSQ_LOCAL && fake.enq_flags == 1ull << 33);
	EXPECT(ctx.cpus[1].queue.pending == 1 && f->live.runnable_ns == fake.now);
	pass(MS);
	wakeplace_enqueue(back);
	EXPECT(is_back(f, 1) && !ctx.cpus[1].queue.pending && !f->live.asleep);
	EXPECT(f->live.runnable_ns == fake.now - MS); /* it waits since it woke */
	wakeplace_running(runs);
	EXPECT(f->live.wp.running && !f->live.runnable_ns && stats[1].switches == 1);
	pass(MS);
	wakeplace_stopping(runs);
	wakeplace_enqueue(back);
	EXPECT(is_back(f, 1) && !f->live.wp.running && stats[1].run_ns == MS);
}

/* So many tasks more of `group` are runnable, of nice 0; below 0: fewer. */
static void count_tasks(u32 group, u32 more)
{
	wp_live_group_add_tasks(&cgroups, group, more, 0);
	WP_ADD(&cgroups.group[group].load, more * 1024);
}

/*
 * Two CPUs have each begun to settle a group with another number of tasks, and write in either
 * order, or one of them after the other has found all as it should be. Each then goes on. On two
 * CPUs each task counts 1024 (7.3), and the outer group has what the inner one has.
 */
static void two_settlers(void)
{
	u32 outer = wp_live_group_new(&cgroups, 0), inner = wp_live_group_new(&cgroups, outer);
	struct wp_live_group *g = &cgroups.group[inner], *around = &cgroups.group[outer];
	u32 order, had[2], part[2];

	cgroups.most_cpus = 2;
	for (order = 0; order < 2; order++) {
		had[0] = g->counted;
		count_tasks(inner, 1);
		part[0] = wp_live_group_part(&cgroups, g);
		had[1] = g->counted;
		count_tasks(inner, 1);
		part[1] = wp_live_group_part(&cgroups, g);
		EXPECT(!had[0] && !had[1] && part[0] == 1024 && part[1] == 2048);
		wp_live_group_enter(&cgroups, g, had[order], part[order]);
		wp_live_group_enter(&cgroups, g, had[!order], part[!order]);
		EXPECT(g->counted == part[order] && around->load == part[order]);
		wp_live_group_settle(&cgroups, inner);
		EXPECT(g->counted == 2048 && around->load == 2048 && around->counted == 2048);
		wp_live_group_settle(&cgroups, inner);
		EXPECT(around->load == 2048);
		/* the last but one sleeps here, and wakes there before this CPU has written */
		count_tasks(inner, -1u);
		had[0] = g->counted;
		part[0] = wp_live_group_part(&cgroups, g);
		count_tasks(inner, 1);
		wp_live_group_settle(&cgroups, inner);
		wp_live_group_enter(&cgroups, g, had[0], part[0]);
		EXPECT(part[0] == 1024 && around->load == 1024);
		wp_live_group_settle(&cgroups, inner);
		EXPECT(g->counted == 2048 && around->load == 2048);
		count_tasks(inner, -2u);
		wp_live_group_settle(&cgroups, inner);
		EXPECT(!g->counted && !around->load && !around->counted);
	}
}

/* Nobody is kicked from a CPU on its way out. */
static void kicks(void)
{
	kick(1, 0);
	EXPECT(fake.kicks[1] == 1);
	ctx.cpus[0].queue.online = 0;
	kick(1, 0);
	EXPECT(fake.kicks[1] == 1);
}

#include "tasks.h"
#include "cpus.h"

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "user-time", user_time },
	{ "quota-holders", quota_holders },
	{ "held-at-return", held_at_return },
	{ "ticks", ticks },
	{ "unparking", unparking },
	{ "a-lost-look", a_lost_look },
	{ "timers", timers_are_armed },
	{ "overdue", overdue_tasks },
	{ "carried", carried_tasks },
	{ "pushes", pushes },
	{ "claims", claims },
	{ "kicks", kicks },
	{ "two-settlers", two_settlers },
	{ "at-once", at_once_or_back },
	{ "sleeps", sleeps },
	{ "weights", weights },
	{ "bound", bound },
	{ "hints", hints },
	{ "usable", usable_cpus },
	{ "wakes", wakes },
	{ "woken-sync", woken_sync },
	{ "preempting", preempting },
	{ "the-next", the_next },
	{ "dispatching", dispatching },
	{ "taking", taking },
	{ "asking", asking_for_a_push },
	{ "yields", yields },
	{ "lazy", lazy_slices },
	{ "slice-ends", slice_ends },
	{ "leaving", leaving_cpu },
	{ "frequency", frequency },
	{ "rescue", rescue },
	{ "idles", idles },
	{ "pressure", pressure },
	{ "comes", comes },
	{ "execs", execs },
	{ "groups", groups },
};

int main(int count, char **words)
{
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (count < 2) {
			printf("%s\n", cases[i].name);
		} else if (!strcmp(words[1], cases[i].name)) {
			begin();
			cases[i].run();
			return bad;
		}
	}
	return count < 2 ? 0 : 2;
}
