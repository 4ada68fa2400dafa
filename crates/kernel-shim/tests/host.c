// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event loop. At one instant: CPUs that start, then interrupts between CPUs, clocks, ends of
 * work, each in the order of CPUs; CPUs that wait for another take turns last.
 * Page: docs/guide/kernel.md; crates/kernel-shim/README.md.
 *
 * What must stay: the order above is the kernel's only clock, and `mix` hashes every decision, so
 * that a change of order shows. `host_*` are what the shim calls (struct wpk_host); `host_start`,
 * `host_run`, `host_report`, `host_action` and `control` are called by drive.c, scenario.c and
 * probes.c; `choose`, `take_turn`, `look` and `after` are one turn of the loop; `plan`, `account`
 * and `next_step` do a task's work.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "host.h"

#define NEVER (~0ULL)
struct kernel kernel;
struct task tasks[MAX_TASKS];
unsigned nr_tasks;
struct machine machine;
int verbose;
uint64_t started, warned_count, done_count;
static struct wpk_view *view;
static uint32_t khz_of[MAX_DOMAINS];
static struct {
	int on;			/* task, or -1 */
	uint64_t since, done_at, work_at, idle_ns, busy_ns;
} cpus[MAX_CPUS];
static uint64_t events, ipis, timers, turns, decisions, by_energy, freq_changes,
		hash = 14695981039346656037ULL;
static double energy_uj;
static uint64_t random_state = 88172645463325252ULL;
static int (*action)(void);
static uint64_t action_every, action_at = NEVER;
void (*host_spins)(unsigned cpu);
void (*host_told)(uint64_t ticket, int64_t result);
static int faulted;
/* The CPU whose clock is lost half a second after the start, as by a host's mistake; or none. */
static unsigned deaf = MAX_CPUS;
volatile uint64_t host_inside;
uint64_t host_frame;

void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

uint64_t now(void)
{
	return view->now_ns;
}

uint64_t draw(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

static void mix(uint64_t v)
{
	hash = (hash ^ v) * 1099511628211ULL;
}

/*
 * With GUARD in the environment each piece of memory ends at a page that nobody may touch, and one
 * that was given back is such a page: the kernel's own code has no sanitizer.
 */
static int guard;
#define PAGE 4096UL

static void *guarded(wpk_u64 size, wpk_u64 align)
{
	wpk_u64 whole = align < 8 ? 8 : align, need = (size + whole - 1) / whole * whole;
	wpk_u64 pages = (need + PAGE) / PAGE * PAGE;
	char *p = mmap(NULL, pages + PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die("no memory");
	mprotect(p + pages, PAGE, PROT_NONE);
	return p + pages - need;
}

static void *host_alloc(void *data, wpk_u64 size, wpk_u64 align)
{
	void *p;

	if (guard)
		return guarded(size, align);
	if (size >= 1 << 20) {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		return p == MAP_FAILED ? NULL : p;
	}
	if (posix_memalign(&p, align < 64 ? 64 : align, size ? size : 1))
		die("no memory");
	memset(p, 0, size);
	return p;
}

static void host_free(void *data, void *p)
{
	if (guard)
		mprotect((void *)((uintptr_t)p & ~(PAGE - 1)), PAGE, PROT_NONE);
	else
		free(p);
}

/* Stacks come back: a stack that was used is as good as a new one. */
static void *spare[MAX_TASKS];
static unsigned nr_spare;
static void *host_stack(void *data, wpk_u64 size)
{
	char *p;

	if (nr_spare)
		return spare[--nr_spare];
	p = mmap(NULL, size + 65536, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);
	if (p == MAP_FAILED)
		die("no stack");
	mprotect(p, 65536, PROT_NONE);
	return p + 65536;
}

static void host_stack_free(void *data, void *stack, wpk_u64 size)
{
	if (nr_spare < MAX_TASKS)
		spare[nr_spare++] = stack;
}

static void host_log(void *data, wpk_u32 level, const char *text)
{
	if (verbose)
		fprintf(stderr, "[%12.6f] <%u> %s\n", view->now_ns / 1e9, level, text);
}

static void host_warned(void *data, const char *text)
{
	warned_count++;
	fprintf(stderr, "[%12.6f] %s\n", view->now_ns / 1e9, text);
	if (verbose) {
		wpk_u64 a[16];
		unsigned i, n = kernel.backtrace((wpk_u64)(uintptr_t)__builtin_frame_address(0),
			a, 16);

		for (i = 0; i < n; i++)
			fprintf(stderr, "    %#llx\n", a[i]);
	}
}

static void say_stack(wpk_u64 frame)
{
	wpk_u64 a[24];
	unsigned i, n = kernel.backtrace(frame, a, 24);
	Dl_info info;

	dladdr((void *)kernel.boot, &info);
	fprintf(stderr, "  stack:");
	for (i = 0; i < n; i++)
		fprintf(stderr, " %#llx", a[i] - (wpk_u64)(uintptr_t)info.dli_fbase);
	fprintf(stderr, "\n");
}

static void host_fault(void *data, wpk_u32 kind, const char *text)
{
	faulted = kind;
	fprintf(stderr, "fault %u at %.9f s: %s\n", kind, view->now_ns / 1e9, text);
	say_stack(host_frame ? host_frame : (wpk_u64)(uintptr_t)__builtin_frame_address(0));
}

static void host_frequency(void *data, wpk_u32 domain, wpk_u32 khz);

static void host_placed(void *data, const struct wpk_decision *d)
{
	decisions++;
	by_energy += d->energy_aware && d->why == WPK_WHY_WAKE;
	mix(d->task * 1000003ULL + d->answer);
	if (verbose > 1) {
		fprintf(stderr, "%.6f task %u on %u prev %u -> %u why %u over %u util %u",
			now() / 1e9, d->task,
			d->cpu, d->prev, d->answer, d->why, d->overutilized, d->util);
		for (unsigned i = 0; i < d->nr_energies; i++)
			fprintf(stderr, " [pd %u best %d: %llu %+lld]", d->energies[i].first_cpu,
				(int)d->energies[i].best_cpu, d->energies[i].without,
				d->energies[i].with - d->energies[i].without);
		fprintf(stderr, "\n");
	}
}

static void host_done(void *data, wpk_u64 ticket, wpk_s64 result)
{
	done_count++;
	if (host_told)
		host_told(ticket, result);
}

static double rate(unsigned cpu)
{
	uint32_t d = machine.cpus[cpu].domain;
	double c = machine.cpus[cpu].capacity / 1024.0;

	if (d >= machine.m.nr_domains)
		return c;
	return c * khz_of[d] / machine.domains[d].opps[machine.domains[d].nr_opps - 1].khz;
}

static void account(unsigned cpu)
{
	uint64_t dt = now() - cpus[cpu].since;
	uint32_t d = machine.cpus[cpu].domain;

	cpus[cpu].since = now();
	if (view->cpus[cpu].state == WPK_WAIT) {
		cpus[cpu].idle_ns += dt;
		return;
	}
	cpus[cpu].busy_ns += dt;
	if (d < machine.m.nr_domains)
		for (unsigned i = 0; i < machine.domains[d].nr_opps; i++)
			if (machine.domains[d].opps[i].khz == khz_of[d])
				energy_uj += machine.domains[d].opps[i].uw * (dt / 1e9);
	if (cpus[cpu].on >= 0) {
		struct task *t = &tasks[cpus[cpu].on];

		t->left -= dt * rate(cpu);
		t->ran[machine.class_of[cpu]] += dt;
	}
}

static void plan(unsigned cpu)
{
	struct task *t;

	cpus[cpu].done_at = NEVER;
	if (cpus[cpu].on < 0)
		return;
	t = &tasks[cpus[cpu].on];
	if (!t->forever)
		cpus[cpu].done_at = now() + (t->left > 0 ? (uint64_t)(t->left / rate(cpu)) + 1 : 0);
}

static void host_frequency(void *data, wpk_u32 domain, wpk_u32 khz)
{
	if (khz_of[domain] == khz)
		return;
	for (unsigned c = 0; c < machine.m.nr_cpus; c++)
		if (machine.cpus[c].domain == domain && started)
			account(c);
	khz_of[domain] = khz;
	freq_changes++;
	mix(domain * 77777ULL + khz);
	for (unsigned c = 0; c < machine.m.nr_cpus; c++)
		if (machine.cpus[c].domain == domain && started)
			plan(c);
}

/* What a task does when its work is done. Nonzero: it keeps the CPU. */
static void next_step(unsigned cpu, struct task *t)
{
	struct wpk_call call = { .task = WPK_SELF };
	int64_t r;

	t->jobs++;
	if (t->creates && t->next_child < t->children) {
		struct task *c = &tasks[t->number + 1 + t->next_child++];

		call.op = WPK_FORK;
		call.task = c->number;
		call.group = c->group;
		call.name = "child";
		if (c->has_attr)
			call.attr = &c->attr;
		c->alive = 1;
		c->last_cpu = -1;
		c->left = 60000;
		c->next = started + c->phase;
		t->left = 100000;
	} else if (t->creates || (t->exits_at && now() >= t->exits_at)) {
		call.op = WPK_EXIT;
		t->alive = 0;
	} else if ((t->yields || t->execs) && t->jobs % 3) {
		/* The job goes on after it, for as long again. */
		call.op = t->yields ? WPK_YIELD : WPK_EXEC;
		t->left = t->work;
	} else if (!t->period) {
		call.op = WPK_SLEEP;
		call.number = t->in_io;
		t->left = t->work;
		t->waiting = 1;
	} else {
		t->next += t->period;
		t->left += t->work;
		if (t->left < 1)
			t->left = t->work;
		if (t->next <= now()) {
			t->late++;
			return;
		}
		call.op = WPK_SLEEP_UNTIL;
		call.number = t->in_io;
		call.at = t->woke = t->next;
		t->waiting = 1;
	}
	r = kernel.call(cpu, &call);
	if (r && !view->dead)
		die("call %u of task %u: %lld", call.op, t->number, (long long)r);
}

static void look(unsigned cpu)
{
	struct wpk_cpu *c = &view->cpus[cpu];
	int on = c->state == WPK_USER && !(c->running & WPK_KTHREAD) ? (int)c->running : -1;

	mix(now() ^ (uint64_t)cpu << 40 ^ c->running);
	if (on != cpus[cpu].on && on >= 0) {
		struct task *t = &tasks[on];

		if (t->last_cpu >= 0 && t->last_cpu != (int)cpu)
			t->moves++;
		t->last_cpu = cpu;
		if (t->waiting && t->period && now() > t->woke)
			t->waited += now() - t->woke;
		t->waiting = 0;
	}
	cpus[cpu].on = on;
	cpus[cpu].work_at = c->state == WPK_WORK ? now() + c->work_ns : NEVER;
	plan(cpu);
}

/* All that changed, and steps of tasks that have nothing left to do. */
static void after(void)
{
	while (view->nr_changed && !view->dead) {
		unsigned cpu = view->changed[--view->nr_changed];

		view->cpus[cpu].changed = 0;
		look(cpu);
	}
}

void host_start(const char *object)
{
	static struct wpk_host host = {
		.abi = WPK_ABI, .alloc = host_alloc, .free = host_free, .stack = host_stack,
		.stack_free = host_stack_free, .log = host_log, .warned = host_warned, .fault =
			host_fault,
		.frequency = host_frequency, .placed = host_placed, .done = host_done,
	};
	struct timespec a, b;
	char path[4096];

	kernel.handle = dlopen(realpath(object, path), RTLD_NOW | RTLD_LOCAL);
	if (!kernel.handle)
		die("%s", dlerror());
#define SYM(name) kernel.name = dlsym(kernel.handle, "wpk_" #name);
	SYM(abi) SYM(release) SYM(hz) SYM(view) SYM(boot) SYM(interrupt) SYM(device)
	SYM(call) SYM(spawn)
	SYM(control) SYM(cpu_state) SYM(task_state) SYM(kthread_name) SYM(get) SYM(die)
	SYM(backtrace) SYM(in_guard)
	kernel.continue_ = dlsym(kernel.handle, "wpk_continue");
	view = kernel.view();
	for (unsigned d = 0; d < machine.m.nr_domains; d++)
		khz_of[d] = machine.domains[d].opps[0].khz;
	for (unsigned c = 0; c < machine.m.nr_cpus; c++) {
		cpus[c].on = -1;
		cpus[c].done_at = cpus[c].work_at = NEVER;
	}
	machine.m.abi = WPK_ABI;
	machine.m.now_ns = 1000000000;
	machine.m.cpus = machine.cpus;
	machine.m.domains = machine.domains;
	machine.m.idle = machine.idle;
	clock_gettime(CLOCK_MONOTONIC, &a);
	view->detail = verbose > 1;
	guard = getenv("GUARD") != NULL;
	if (getenv("DEAF"))
		deaf = atoi(getenv("DEAF"));
	if (kernel.boot(&host, &machine.m))
		die("the boot failed");
	clock_gettime(CLOCK_MONOTONIC, &b);
	started = now();
	for (unsigned c = 0; c < machine.m.nr_cpus; c++)
		cpus[c].since = started;
	after();
	if (verbose || getenv("BOOT_MS"))
		fprintf(stderr, "%s: %u CPUs booted in %.2f ms\n", kernel.release(),
			machine.m.nr_cpus,
			(b.tv_sec - a.tv_sec) * 1e3 + (b.tv_nsec - a.tv_nsec) / 1e6);
}

int64_t control(uint32_t op, uint32_t task, uint32_t number, uint64_t at, const char *name,
		const char *value)
{
	struct wpk_call call = { .op = op, .task = task, .cpu = number, .group = number, .number
		= number,
				 .at = at, .name = name, .value = value };

	if (op == WPK_HOTPLUG)
		call.number = at;
	for (unsigned c = 0; c < machine.m.nr_cpus; c++)
		account(c);
	int64_t r = kernel.control(&call);

	after();
	return r;
}

void host_action(int (*a)(void), uint64_t every)
{
	action = a;
	action_every = every;
	action_at = now() + every;
}

enum { NOTHING, START, IPI, CLOCK, WORK, DONE, ACT };

static int choose(unsigned *cpu, uint64_t *at)
{
	int what = NOTHING;

	for (unsigned c = 0; c < machine.m.nr_cpus; c++) {
		struct wpk_cpu *v = &view->cpus[c];

		if (v->state == WPK_OFFLINE)
			continue;
		if (v->state == WPK_START || v->ipi) {
			*cpu = c;
			*at = now();
			return v->state == WPK_START ? START : IPI;
		}
		if (v->next_event_ns < *at && !(c == deaf && now() > started + 500000000))
			*at = v->next_event_ns, *cpu = c, what = CLOCK;
		if (cpus[c].work_at < *at)
			*at = cpus[c].work_at, *cpu = c, what = WORK;
		if (cpus[c].done_at < *at)
			*at = cpus[c].done_at, *cpu = c, what = DONE;
	}
	if (action_at < *at)
		*at = action_at, what = ACT;
	return what;
}

/* A CPU that waits for another goes on when the others have nothing to do at this instant. */
static int take_turn(void)
{
	static unsigned turn;

	for (unsigned i = 1; i <= machine.m.nr_cpus; i++) {
		unsigned c = (turn + i) % machine.m.nr_cpus;

		if (view->cpus[c].state == WPK_SPIN) {
			turn = c;
			turns++;
			account(c);
			if (host_spins)
				host_spins(c);
			kernel.continue_(c);
			after();
			return 1;
		}
	}
	return 0;
}

void host_run(uint64_t until)
{
	while (!view->dead) {
		unsigned cpu = 0;
		uint64_t at = until;
		int what = choose(&cpu, &at);

		if ((what == NOTHING || at > now()) && take_turn())
			continue;
		if (what == NOTHING)
			break;
		if (at > now())
			view->now_ns = at;
		host_inside = ++events;
		if (what == ACT) {
			action_at += action_every;
			if (action())
				action_at = NEVER;
			after();
			continue;
		}
		account(cpu);
		switch (what) {
		case START:
			kernel.continue_(cpu);
			break;
		case IPI:
			ipis++;
			kernel.interrupt(cpu, view->cpus[cpu].ipi);
			break;
		case CLOCK:
			timers++;
			kernel.interrupt(cpu, WPK_TIMER);
			break;
		case WORK:
			kernel.continue_(cpu);
			break;
		case DONE:
			next_step(cpu, &tasks[cpus[cpu].on]);
			if (cpus[cpu].on >= 0)
				plan(cpu);
			break;
		}
		after();
		host_inside = 0;
	}
	if (!view->dead)
		view->now_ns = until;
}

void host_report(void)
{
	uint64_t ran[4] = { 0 }, total = 0, jobs = 0, moves = 0, late = 0, waited = 0, ticks = 0,
			switches = 0, kth = 0;
	uint64_t idle = 0, busy = 0;

	for (unsigned i = 0; i < nr_tasks; i++) {
		for (int k = 0; k < 3; k++)
			ran[k] += tasks[i].ran[k], total += tasks[i].ran[k];
		jobs += tasks[i].jobs;
		moves += tasks[i].moves;
		late += tasks[i].late;
		waited += tasks[i].waited;
	}
	for (unsigned c = 0; c < machine.m.nr_cpus; c++) {
		account(c);
		ticks += view->cpus[c].ticks;
		switches += view->cpus[c].switches;
		kth += view->cpus[c].kthread_switches;
		idle += cpus[c].idle_ns;
		busy += cpus[c].busy_ns;
	}
	printf("%s little %.2f middle %.2f big %.2f %% jobs %llu moves %llu late %llu "
	       "wait %.2f us energy %.1f mJ\n",
	       kernel.release(), 100.0 * ran[0] / total, 100.0 * ran[1] / total,
	       100.0 * ran[2] / total,
	       (unsigned long long)jobs, (unsigned long long)moves, (unsigned long long)late,
	       jobs ? waited / 1e3 / jobs : 0, energy_uj / 1e3);
	printf("events %llu ipis %llu timers %llu turns %llu decisions %llu by energy %llu "
	       "frequencies %llu\n",
	       (unsigned long long)events, (unsigned long long)ipis, (unsigned long long)timers,
	       (unsigned long long)turns, (unsigned long long)decisions,
	       (unsigned long long)by_energy,
	       (unsigned long long)freq_changes);
	printf("ticks %llu switches %llu kthreads %llu works %llu rcu %llu warnings %llu "
	       "busy %.1f %% hash %016llx\n",
	       (unsigned long long)ticks, (unsigned long long)switches, (unsigned long long)kth,
	       (unsigned long long)view->works, (unsigned long long)view->rcu_callbacks,
	       (unsigned long long)view->warnings, 100.0 * busy / (idle + busy),
	       	(unsigned long long)hash);
	if (faulted)
		exit(1);
}
