// SPDX-License-Identifier: GPL-2.0-only
/*
 * What needs no type of the kernel: memory by its many names, and what has nothing to do here. No
 * header of the kernel, so one text for all trees; a name that a tree does not ask for does no
 * harm, and all are weak, so that a tree's own object wins. The rules are the tree's own code
 * (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: symbols that only have to be there do nothing; one that matters belongs
 * elsewhere. May change: a name that a new tree asks for and that has nothing to do here.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) every
 * scenario links and runs with it: a name that lacks is named by build.sh (exit code 5) or by
 * `wp_missing` when it is called; `memcpy`, `memmove`, `memset` and the allocations once more with
 * sanitizers and GUARD=1.
 *
 * Callers: the tree.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */
#include "stub.h"
#include <stdarg.h>
typedef unsigned long size_t;
#define WEAK __attribute__((weak))
#define NOTHING(name) WEAK void name(void) { }
#define ANSWER(name, value) WEAK long name(void) { return value; }
#define DATA(name) WEAK char name[8192] __attribute__((aligned(64)));

/* Memory */
#define SITE __builtin_return_address(0)
#define ALLOC(name, ...) \
	WEAK void *name(__VA_ARGS__) { return wp_alloc_for(size, 0, SITE, 0); }
ALLOC(__kmalloc, size_t size)
ALLOC(__kmalloc_noprof, size_t size)
ALLOC(__kmalloc_node, size_t size)
ALLOC(__kmalloc_node_noprof, size_t size)
ALLOC(__kmalloc_large_noprof, size_t size)
ALLOC(__kmalloc_large_node_noprof, size_t size)
ALLOC(__kmalloc_cache_noprof, void *cache, unsigned int flags, size_t size)
ALLOC(__kmalloc_cache_node_noprof, void *cache, unsigned int flags, int node, size_t size)
ALLOC(kmalloc_trace, void *cache, unsigned int flags, size_t size)
ALLOC(kmalloc_node_trace, void *cache, unsigned int flags, int node, size_t size)
ALLOC(kmalloc_large, size_t size)
ALLOC(kmalloc_large_node, size_t size)
ALLOC(kmalloc_order, size_t size)
ALLOC(kmalloc_order_trace, size_t size)
ALLOC(kvmalloc_node, size_t size)
ALLOC(vzalloc, size_t size)
ALLOC(devm_kmalloc, void *device, size_t size)
WEAK void kfree(void *p) { wp_free(p); }
WEAK void kvfree(void *p) { wp_free(p); }
WEAK void kfree_sensitive(void *p) { wp_free(p); }
NOTHING(kvfree_call_rcu)
struct wp_cache {
	unsigned long size;
	const char *name;
};
/* A cache is its size; its name is mostly that of a type. */
WEAK void *__kmem_cache_create_args(const char *name, unsigned int size)
{
	struct wp_cache *c = wp_alloc(sizeof(*c), 0);

	c->size = size;
	c->name = name;
	return c;
}
/* What older trees call to make a cache. */
WEAK void *kmem_cache_create(const char *name, unsigned int size)
{
	return __kmem_cache_create_args(name, size);
}
#define CACHE_ALLOC(alloc) \
	WEAK void *alloc(struct wp_cache *c) { return wp_alloc_for(c->size, 64, SITE, c->name); }
CACHE_ALLOC(kmem_cache_alloc)
CACHE_ALLOC(kmem_cache_alloc_noprof)
CACHE_ALLOC(kmem_cache_alloc_node)
CACHE_ALLOC(kmem_cache_alloc_node_noprof)
WEAK void kmem_cache_free(void *c, void *p) { wp_free(p); }
void *wp_percpu_alloc(unsigned long size, unsigned long align);
void wp_percpu_free(void *p);
WEAK void *pcpu_alloc_noprof(size_t size, size_t align) { return wp_percpu_alloc(size, align); }
WEAK void *__alloc_percpu(size_t size, size_t align) { return wp_percpu_alloc(size, align); }
WEAK void *__alloc_percpu_gfp(size_t size, size_t align) { return wp_percpu_alloc(size, align); }
WEAK void free_percpu(void *p) { wp_percpu_free(p); }

/* Strings and memory: the three of asm/string.h, a word at a time. */
typedef unsigned long word __attribute__((may_alias, aligned(1)));
#ifdef WPSIM_COHERENT
#include "lines.h"
#define PRICED(p, n, write) wpl_range(p, n, write, SITE)
#else
#define PRICED(p, n, write)
#endif
/* The compiler calls it by itself; no library is there. */
void *memcpy(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	PRICED(from, n, 0);
	PRICED(to, n, 1);
	for (; n >= sizeof(word); n -= sizeof(word), t += sizeof(word), f += sizeof(word))
		*(word *)t = *(const word *)f;
	while (n--)
		*t++ = *f++;
	return to;
}

/* As memcpy, also where the two overlap. */
void *memmove(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	if (t <= f || t >= f + n)
		return memcpy(to, from, n);
	PRICED(from, n, 0);
	PRICED(to, n, 1);
	while (n--)
		t[n] = f[n];
	return to;
}

/* The compiler calls it by itself; no library is there. */
void *memset(void *to, int c, size_t n)
{
	unsigned long w = 0x0101010101010101UL * (unsigned char)c;
	char *t = to;

	PRICED(to, n, 1);
	for (; n >= sizeof(word); n -= sizeof(word), t += sizeof(word))
		*(word *)t = w;
	while (n--)
		*t++ = c;
	return to;
}

int vsnprintf(char *text, size_t size, const char *format, va_list ap);
/* At most 255 characters; longer ones are cut. */
WEAK char *kvasprintf(unsigned int flags, const char *format, va_list ap)
{
	char *p = wp_alloc(256, 0);

	vsnprintf(p, 256, format, ap);
	return p;
}

size_t strlen(const char *s);
/* A copy. */
WEAK char *kstrdup(const char *s)
{
	return memcpy(wp_alloc(strlen(s) + 1, 0), s, strlen(s) + 1);
}
WEAK char *kstrdup_const(const char *s) { return kstrdup(s); }

/* Read-copy-update, context tracking */
NOTHING(__rcu_read_lock) NOTHING(__rcu_read_unlock)
NOTHING(rcu_softirq_qs) NOTHING(rcu_momentary_eqs)
NOTHING(rcu_momentary_dyntick_idle)
NOTHING(ct_idle_enter) NOTHING(ct_idle_exit) NOTHING(ct_irq_enter) NOTHING(ct_irq_exit)
NOTHING(rcu_idle_enter) NOTHING(rcu_idle_exit) NOTHING(rcu_irq_enter) NOTHING(rcu_irq_exit)
NOTHING(rcu_cpu_starting) NOTHING(rcu_report_dead) NOTHING(rcutree_report_cpu_starting)
NOTHING(rcutree_report_cpu_dead) NOTHING(rcutree_migrate_callbacks)
ANSWER(rcutree_prepare_cpu, 0) ANSWER(rcutree_online_cpu, 0) ANSWER(rcutree_offline_cpu, 0)
ANSWER(rcutree_dead_cpu, 0) ANSWER(rcutree_dying_cpu, 0) NOTHING(rcu_request_urgent_qs_task)
ANSWER(init_srcu_struct, 0) ANSWER(init_srcu_struct_generic, 0) ANSWER(__srcu_read_lock, 0)
NOTHING(__srcu_read_unlock)
NOTHING(synchronize_srcu)

/* Messages */
ANSWER(___ratelimit, 1) ANSWER(__printk_ratelimit, 1) NOTHING(dump_stack) NOTHING(show_stack)
NOTHING(show_regs)
NOTHING(print_worker_info) NOTHING(print_stop_info) NOTHING(add_taint) NOTHING(check_panic_on_warn)
ANSWER(__do_once_start, 0) NOTHING(__do_once_done) DATA(oops_in_progress)

/* Time */
NOTHING(generic_sched_clock_init) ANSWER(timekeeping_valid_for_hres, 1)
ANSWER(timekeeping_max_deferment, 0x7fffffffffffffff) NOTHING(update_wall_time)
NOTHING(quiet_vmstat)
NOTHING(timekeeping_warp_clock) ANSWER(do_settimeofday64, -1) ANSWER(clocksource_done_booting, 0)

/* Threads, work, processes */
NOTHING(wq_worker_running) NOTHING(wq_worker_sleeping) NOTHING(wq_worker_tick)
NOTHING(put_task_stack)
NOTHING(workqueue_softirq_action) NOTHING(workqueue_softirq_dead) ANSWER(workqueue_prepare_cpu, 0)
ANSWER(workqueue_online_cpu, 0) ANSWER(workqueue_offline_cpu, 0) NOTHING(__mmdrop)
NOTHING(cgroup_task_dead)
NOTHING(__cgroup_account_cputime) NOTHING(__cgroup_account_cputime_field)
NOTHING(calculate_sigpending)
NOTHING(ignore_signals) ANSWER(copy_from_kernel_nofault, 0) ANSWER(cap_task_setscheduler, 0)
ANSWER(__task_pid_nr_ns, 0) NOTHING(refcount_warn_saturate)
void *system_percpu_wq, *system_wq, *system_unbound_wq, *system_dfl_wq, *system_freezable_wq,
		*system_power_efficient_wq;
ANSWER(alloc_workqueue, 1) ANSWER(alloc_workqueue_noprof, 1)
static int ids;
WEAK int ida_alloc_range(void) { return ids++; }
NOTHING(ida_free)

/* Devices, files */
ANSWER(proc_dostring, -1) ANSWER(register_sysctl_table, 1) NOTHING(unregister_sysctl_table)
NOTHING(lock_device_hotplug) NOTHING(unlock_device_hotplug) ANSWER(device_create_file, 0)
NOTHING(device_remove_file)
ANSWER(__devm_add_action, 0) NOTHING(put_device) ANSWER(kobject_uevent, 0) ANSWER(misc_register, 0)
ANSWER(detect_cache_attributes, 0) NOTHING(irq_lock_sparse) NOTHING(irq_unlock_sparse)
NOTHING(smp_cpus_done)
ANSWER(random_prepare_cpu, 0) ANSWER(random_online_cpu, 0) ANSWER(proc_create_seq_private, 0)
ANSWER(cpuidle_add_device_sysfs, 0) ANSWER(cpuidle_add_interface, 0) ANSWER(cpuidle_add_sysfs, 0)
NOTHING(cpuidle_remove_device_sysfs) NOTHING(cpuidle_remove_sysfs) ANSWER(numa_nearest_node, 0)
WEAK int node_reclaim_distance = 30;

/* Data that others own */
DATA(init_files) DATA(init_fs) DATA(init_nsproxy) DATA(init_struct_pid) DATA(init_ucounts)
DATA(init_user_ns)
DATA(init_uts_ns) DATA(root_user) DATA(init_cred) DATA(tasklist_lock) DATA(early_boot_irqs_disabled)
DATA(__sched_text_start) DATA(__sched_text_end) DATA(__cpuidle_text_start) DATA(__cpuidle_text_end)
DATA(__lock_text_start) DATA(__lock_text_end) DATA(param_ops_int) DATA(param_ops_string)
DATA(param_ops_bool)
DATA(param_ops_uint) DATA(param_ops_ulong) DATA(node_data)
WEAK const char hex_asc[] = "0123456789abcdef", hex_asc_upper[] = "0123456789ABCDEF";
DATA(gfpflag_names) DATA(pageflag_names) DATA(pagetype_names) DATA(vmaflag_names)
DATA(guid_index) DATA(uuid_index)
char static_key_initialized = 1;
WEAK unsigned long net_rand_noise __attribute__((section(".data..percpu")));

/* Random numbers: a fixed series (memory.c). */
NOTHING(prandom_seed_full_state) ANSWER(execute_with_initialized_rng, 0)
ANSWER(rng_is_initialized, 1) ANSWER(wait_for_random_bytes, 0)
WEAK unsigned int prandom_u32_state(void) { return wp_random(); }
WEAK unsigned int prandom_u32(void) { return wp_random(); }
WEAK unsigned int get_random_u32(void) { return wp_random(); }
WEAK unsigned int __get_random_u32_below(unsigned int ceiling) { return wp_random() % ceiling; }
/* A byte of each number. */
WEAK void get_random_bytes(unsigned char *to, size_t n)
{
	while (n--)
		*to++ = wp_random();
}
/* All of them, always. */
WEAK int get_random_bytes_arch(unsigned char *to, int n)
{
	get_random_bytes(to, n);
	return n;
}
void arch_smp_send_reschedule(int cpu);
WEAK void smp_send_reschedule(int cpu) { arch_smp_send_reschedule(cpu); }
