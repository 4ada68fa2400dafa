// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a run: the kernel's words go to the host, and the entry in progress comes back. The
 * rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: a fault ends the run with words for the user, never the program; kinds are
 * wakeplace.h's. May change: the words.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) `cargo
 * xtask kernel-shim` (xtask/src/trees/shim.rs) breaks a tree: `wp_missing` and `wp_fault` by their
 * words, `wpk_die` by the exit code. `panic`, the end by `wpsim_lock_wait`, `wpk_backtrace` and
 * `wpk_in_guard` have no test of their own: tests/drive.c only prints stacks.
 *
 * Callers: all files here (`wp_fault`); crates/kernel-run/src/faults.rs from signal handlers
 * (`wpk_die`, `wpk_backtrace`, `wpk_in_guard`); stubs of build.sh (`wp_missing`).
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */

void wp_leave_for_good(void) __noreturn;
/* The last line of the log. */
static char last_words[1024];

/* The host ends the run from within an entry. */
void __noreturn wpk_die(wpk_u32 kind, const char *text)
{
	if (!view.dead) {
		view.dead = kind;
		host->fault(host->data, kind, text);
	}
	wp_leave_for_good();
}

/* Says what it is, and leaves for good. */
static void __noreturn wp_fault(unsigned int kind, const char *fmt, ...)
{
	static char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	wpk_die(kind, text);
}

/* A function that the architecture does not have was called, by name. */
void __noreturn wp_missing(const char *name)
{
	wp_fault(WPK_FAULT_MISSING, "the kernel calls %s(), which the shim does not have", name);
}

/* The kernel's own end. */
void panic(const char *fmt, ...)
{
	static char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* BUG() says where it is in the line before. */
	wp_fault(WPK_FAULT_PANIC, "Kernel panic - not syncing: %s (after: %s)", text, last_words);
}

/* A lock is held. By a CPU that waits for another: ours may go on later. By us: never. */
static unsigned int lock_waits;
/* A lock that is taken twice can never be had: one thread runs all CPUs. */
void wpsim_lock_wait(unsigned int owner, void *lock)
{
	if (owner == wpsim_cpu + 1)
		wp_fault(WPK_FAULT_DEADLOCK, "CPU %d takes the lock at %pS twice", wpsim_cpu, lock);
	if (++lock_waits > 1000000)
		wp_fault(WPK_FAULT_DEADLOCK, "CPU %d waits for ever for a lock of CPU %d",
			wpsim_cpu, owner - 1);
	wpsim_relax();
}

/* Return addresses by frame pointers, within the task's stack. */
wpk_u32 wpk_backtrace(wpk_u64 frame, wpk_u64 *addresses, wpk_u32 nr)
{
	unsigned long low = (unsigned long)current->thread.stack, high = low + WP_STACK;
	unsigned long *fp = (unsigned long *)(unsigned long)frame;
	wpk_u32 n = 0;

	if (!fp)
		fp = __builtin_frame_address(0);
	while (n < nr && (unsigned long)fp >= low && (unsigned long)(fp + 2) <= high &&
	       !((unsigned long)fp & 7)) {
		unsigned long *up = (unsigned long *)fp[0];

		if (!fp[1])
			break;
		addresses[n++] = fp[1];
		if (up <= fp)
			break;
		fp = up;
	}
	return n;
}

/* Is the address in the page below the task's stack? */
wpk_u32 wpk_in_guard(wpk_u64 address)
{
	unsigned long low = (unsigned long)current->thread.stack;

	return address < low && address >= low - WP_STACK;
}
