/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the shim share. They are one unit of translation: shim.c includes them.
 *
 * What must stay: names stand below the file that defines them; only what several files share is
 * here; a function that not every tree has is asked for by WP_WEAK. May change: a line per function
 * that another file needs.
 *
 * Tests by part: no function is defined here. crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 * builds it for 7.3.4 or the version it is given; nightly builds it for trees of 5.10 to 6.18, too.
 */
#ifndef WP_SHIM_H
#define WP_SHIM_H
#include <linux/version.h>
#include <generated/utsrelease.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/smpboot.h>
#include <linux/cpu.h>
#include <linux/cpufreq.h>
#include <linux/cpuset.h>
#include <linux/cpuidle.h>
#include <linux/clockchips.h>
#include <linux/debugfs.h>
#include <linux/energy_model.h>
#include <linux/hrtimer.h>
#include <linux/init_task.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/mm_types.h>
#include <linux/mmu_context.h>
#include <linux/nodemask.h>
#include <linux/pm_qos.h>
#include <linux/arch_topology.h>
#include <linux/rcupdate.h>
#include <linux/rcuwait.h>
#include <linux/seq_file.h>
#include <linux/stop_machine.h>
#include <linux/swait.h>
#include <linux/sysctl.h>
#include <linux/task_work.h>
#include <linux/workqueue.h>
#include <linux/cgroup.h>
#include <linux/sched/cputime.h>
#include <linux/sched/hotplug.h>
#include <linux/sched/rt.h>
#include <linux/sched/topology.h>
#include <uapi/linux/sched/types.h>
#include <asm/irq_regs.h>
#if __has_include(<linux/hrtimer_rearm.h>)
#include <linux/hrtimer_rearm.h>
#define WP_HAS_REARM 1
#endif
#include "kernel/sched/sched.h"
#include "kernel/sched/pelt.h"
#include "kernel/sched/smp.h"
#include "kernel/smpboot.h"
#include "kernel/time/tick-internal.h"
#include "drivers/cpuidle/cpuidle.h"
#include "wakeplace.h"
#include "stub.h"
#ifdef WPSIM_COHERENT
#include <linux/sort.h>
#include "lines.h"
/* A variable that stands for a register of a CPU: no other CPU has its line. */
#define WP_REGISTER __attribute__((section("wp_registers")))
#else
#define WP_REGISTER
#endif

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-declarations"
#pragma GCC diagnostic ignored "-Wunused-function"

#define WP_STACK THREAD_SIZE
#define WP_CONTROL_PRIORITY 98

/* A function that not every tree has, under a name of ours: null where it is missing. */
#define WP_WEAK(type, name, args) \
	extern type wp_##name args __asm__(#name) __attribute__((weak, visibility("default")))

/* The machine: what wpk_boot() was told, kept. */
static const struct wpk_host *host;
static struct wpk_view view;
static unsigned int nr_cpus;
static struct wpk_machine_cpu *machine_cpus;
static struct wpk_domain *domains;
static unsigned int nr_domains, nr_nodes;
static struct wpk_idle_table *idle_tables;
static unsigned int nr_idle_tables;
static wpk_u32 *distances;

/* Why the host entered the kernel, for whoever takes over on the CPU. */
enum { ENTER_CONTINUE, ENTER_IRQ, ENTER_CALL };
static struct {
	int kind;
	unsigned long visit;
	const struct wpk_call *call;
	wpk_s64 answer;
} request;

/* What a device's interrupt wakes, or whom it creates: of a CPU that may take it later. */
struct arrival {
	wpk_u32 *tasks;
	unsigned int nr, room;
	struct spawn *spawns;
	void (*handler)(void);
};

/* The host was told something in this entry. */
static bool told_host;

/* boot.c */
static int wp_booted;
/* fault.c */
static void __noreturn wp_fault(unsigned int kind, const char *fmt, ...) __printf(2, 3);
/* log.c */
static void wp_log(int level, const char *fmt, va_list ap);
/* stall.c */
static u64 now_ns(void);
static void stalls_begin(const struct wpk_coherence *costs);
static void stall_enter(unsigned int cpu);
static void stall_leave(void);
static void stall_sent(struct wpk_cpu *c);
static bool relax_priced(void);
/* switch.c */
void *wp_swap(void **save, void *to, void *pass);
static void give_stack(struct task_struct *p, void (*fn)(void *), void *arg);
static void take_stack(struct task_struct *p);
static int enter(unsigned int cpu, int kind);
static void to_host(unsigned int state);
static void changed(unsigned int cpu);
static void set_cpu(unsigned int cpu);
/* irq.c */
#define WP_DEVICE 8	/* an arrival waits */
static unsigned int arrived[NR_CPUS];
static void handle_request(void);
static void kernel_work(u64 ns);
static void pass_on(unsigned int cpu);
static bool owner_waits(void);
/* watch.c */
static void watch(unsigned int state);
/* rcu.c */
static void rcu_settle(void);
static void note_readers(struct task_struct *prev, struct task_struct *next);
/* task.c */
static struct task_struct *new_task(struct task_struct *parent, const char *name,
		unsigned int flags);
static struct task_struct *task_by_number(unsigned int number);
static wpk_s64 do_fork_call(const struct wpk_call *call);
static struct task_struct *new_kthread(void (*fn)(void *), void *arg, const char *name);
/* call.c */
static wpk_s64 do_call(const struct wpk_call *call);
static void wake_task(struct task_struct *p, int sync);
/* groups.c */
static void groups_init(void);
static struct css_set *css_set_of(unsigned int group);
static unsigned int group_of(struct task_struct *p);
static wpk_s64 group_call(const struct wpk_call *call);
static wpk_s64 move_call(const struct wpk_call *call);
/* control.c */
static wpk_s64 control_call(const struct wpk_call *call);
static int settle(void);
/* others */
static void percpu_init(void);
static void memory_init(void);
static void clock_cpu_up(void);
static void topology_init(void);
static void devices_init(void);
static void cpufreq_up(const char *governor);
static int frequency_limit(unsigned int domain, u64 khz);
static int heat(unsigned int domain, u64 khz);
static unsigned int domain_khz(unsigned int domain);
static void cpuidle_before(const char *governor);
static void cpuidle_up(void);
static int idle_governor(const char *name);
static void works_up(void);
static void watch_decisions(void);
static void watch_signals(void);
static void watch_governor(void);
static wpk_s64 set_parameter(const char *name, const char *value);
static int partition(const wpk_u64 *mask);
static void repartition(void);
static void control_start(struct task_struct *self);
static void kernel_init(void *arg);
static void seed_random(u64 seed);
static void sysctl_limits(void);
#endif
