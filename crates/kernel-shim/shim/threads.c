// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel threads: kernel/kthread.c and kernel/smpboot.c are the tree's own, this is what they stand
 * on. The rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: names of threads are the tree's own. May change: how a name is found; nothing but
 * a test asks for one now.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) every
 * scenario boots with it (`kernel_thread`, `start_thread_of`, `wp_set_task_comm`).
 * `wpk_kthread_name` has no test of its own: that in crates/kernel-tree/src/kernel/tests.rs asks a
 * made-up object.
 *
 * Callers: the tree's kernel/kthread.c; crates/kernel-tree/src/kernel/entries.rs
 * (`wpk_kthread_name`).
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */

struct mm_struct init_mm;
unsigned long init_stack[THREAD_SIZE / sizeof(long)];

/* Its pid. */
static pid_t start_thread_of(int (*fn)(void *), void *arg, const char *name)
{
	return new_kthread((void *)fn, arg, name ? name : "kthread")->pid;
}

#ifdef WPK_HAS_KTHREAD_NAME
/* The tree's kernel/kthread.c makes threads by it. */
pid_t kernel_thread(int (*fn)(void *), void *arg, const char *name, unsigned long flags)
{
	return start_thread_of(fn, arg, name);
}
#else
/* The tree's kernel/kthread.c makes threads by it. */
pid_t kernel_thread(int (*fn)(void *), void *arg, unsigned long flags)
{
	return start_thread_of(fn, arg, NULL);
}
#endif

void wp_set_task_comm(struct task_struct *p, const char *name,
		bool exec) __asm__("__set_task_comm");
/* A name, cut to its room. */
void wp_set_task_comm(struct task_struct *p, const char *name, bool exec)
{
	strscpy(p->comm, name, sizeof(p->comm));
}

/* No call is begun again. */
long do_no_restart_syscall(struct restart_block *block)
{
	return -EINTR;
}

/* The name of one that runs, by its number; "idle". */
const char *wpk_kthread_name(wpk_u32 number)
{
	unsigned int cpu;

	if (number == WPK_IDLE)
		return "idle";
	/* The host asks for one that runs. */
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (running[cpu] && running[cpu]->thread.number == number)
			return running[cpu]->comm;
	return "kthread";
}
