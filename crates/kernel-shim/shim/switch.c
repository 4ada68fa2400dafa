// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stack per task, and the way between the host's stack and the CPUs'. The switch of stacks is the
 * only assembly of the shim. wp_swap(save, to, pass) leaves its registers on the old stack and
 * takes those of the new; it answers `pass` there. wp_first is where a new task begins. The rules
 * are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: layout of the saved registers (both architectures), and that the host's view is
 * written before the host goes on. May change: which registers are saved, with FRAME_ numbers and
 * both architectures.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) every
 * scenario (`wp_swap`, `wp_first`, `wp_begin`, `give_stack`, `enter`, `to_host`, `wpsim_switch_to`,
 * `set_running`, `changed`), on arm64 by emulation with the results of x86-64 (`on_arm64` of
 * xtask/src/trees/shim.rs); `storm` (`take_stack`, `wpsim_relax`). The end by `wpsim_relax` has no
 * test of its own. `set_cpu` by all, `wp_leave_for_good` by each fault.
 *
 * Callers: irq.c, control.c and boot.c (`enter`), all that waits (`to_host`), task.c and hotplug.c
 * (stacks); the tree (`wpsim_switch_to`, by asm/switch_to.h).
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */
void wp_first(void);
void wp_begin(struct task_struct *prev, void (*fn)(void *), void *arg);

#if defined(__x86_64__)
/* r15 r14 r13 r12 rbx rbp and the return address, after which the stack is aligned */
#define FRAME_WORDS 7
#define FRAME_FN 3
#define FRAME_ARG 2
#define FRAME_RETURN 6
__asm__(".text\n"
	".p2align 4\n"
	".globl wp_swap\n"
	".hidden wp_swap\n"
	".type wp_swap, @function\n"
	"wp_swap:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	mov %rdx, %rax\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".size wp_swap, . - wp_swap\n"
	".globl wp_first\n"
	".hidden wp_first\n"
	".type wp_first, @function\n"
	"wp_first:\n"
	"	mov %rax, %rdi\n"
	"	mov %r12, %rsi\n"
	"	mov %r13, %rdx\n"
	"	xor %ebp, %ebp\n"
	"	call wp_begin\n"
	"	ud2\n"
	".size wp_first, . - wp_first\n");
#elif defined(__aarch64__)
#define FRAME_WORDS 20	/* x19 to x28, x29, x30, d8 to d15 */
#define FRAME_FN 0
#define FRAME_ARG 1
#define FRAME_RETURN 11
__asm__(".text\n"
	".p2align 4\n"
	".globl wp_swap\n"
	".hidden wp_swap\n"
	".type wp_swap, %function\n"
	"wp_swap:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	mov x0, x2\n"
	"	ldp x19, x20, [sp, #0]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size wp_swap, . - wp_swap\n"
	".globl wp_first\n"
	".hidden wp_first\n"
	".type wp_first, %function\n"
	"wp_first:\n"
	"	mov x1, x19\n"
	"	mov x2, x20\n"
	"	mov x29, xzr\n"
	"	mov x30, xzr\n"
	"	bl wp_begin\n"
	"	brk #1\n"
	".size wp_first, . - wp_first\n");
#else
#error "The switch of stacks is written for x86-64 and arm64."
#endif

unsigned long wpsim_irq_flags WP_REGISTER;
int wpsim_irq_pending WP_REGISTER;
struct task_struct *wpsim_current WP_REGISTER = &init_task;
/* Who runs on each CPU. */
static struct task_struct *running[NR_CPUS];
static void *host_sp;
/* The longest wait of CPUs for each other at one instant, in turns. */
static unsigned int spins;
static u64 spin_time;

/* Notes the CPU once for the host (`take_changed`). */
static void changed(unsigned int cpu)
{
	struct wpk_cpu *c = &view.cpus[cpu];

	if (!c->changed) {
		c->changed = 1;
		view.changed[view.nr_changed++] = cpu;
	}
}

/* From now on the code runs as this CPU. */
static void set_cpu(unsigned int cpu)
{
	wpsim_cpu = cpu;
	wpsim_my_offset = __per_cpu_offset[cpu];
	wpsim_irq_pending = arrived[cpu] != 0;
	wpsim_current = running[cpu];
}

/* The task that the host sees on a CPU. */
static void set_running(unsigned int cpu, struct task_struct *p)
{
	running[cpu] = p;
	view.cpus[cpu].running = p->thread.number;
	changed(cpu);
}

/* The kernel's context switch: on the new task's stack when it returns. */
struct task_struct *wpsim_switch_to(struct task_struct *prev, struct task_struct *next)
{
	struct wpk_cpu *c = &view.cpus[wpsim_cpu];

	wpsim_current = next;
	note_readers(prev, next);
	c->switches++;
	if (next->thread.number & WPK_KTHREAD && next->thread.number != WPK_IDLE)
		c->kthread_switches++;
	set_running(wpsim_cpu, next);
	return wp_swap(&prev->thread.sp, next->thread.sp, prev);
}

void schedule_tail(struct task_struct *prev);
/* Where a new task begins; `prev`: who ran before. */
void wp_begin(struct task_struct *prev, void (*fn)(void *), void *arg)
{
	if (prev)
		schedule_tail(prev);
	wpsim_irq_flags = ARCH_IRQ_ENABLED;
	fn(arg);
	wp_fault(WPK_FAULT_SHIM, "a thread came to its end");
}

/* A stack whose first return is wp_first. */
static void give_stack(struct task_struct *p, void (*fn)(void *), void *arg)
{
	void **sp;

	if (!p->thread.stack)
		p->thread.stack = host->stack(host->data, WP_STACK);
	p->stack = p->thread.stack;
	sp = (void **)((char *)p->thread.stack + WP_STACK - 64) - FRAME_WORDS;
	memset(sp, 0, FRAME_WORDS * sizeof(*sp));
	sp[FRAME_FN] = fn;
	sp[FRAME_ARG] = arg;
	sp[FRAME_RETURN] = wp_first;
	p->thread.sp = sp;
}

/* The task never runs again. */
static void take_stack(struct task_struct *p)
{
	if (p->thread.stack)
		host->stack_free(host->data, p->thread.stack, WP_STACK);
	p->thread.stack = p->stack = NULL;
#ifdef WPSIM_COHERENT
	if (p->thread.kept)
		host->free(host->data, p->thread.kept);
	p->thread.kept = NULL;
#endif
}

/* The host's visit to a CPU. */
static int enter(unsigned int cpu, int kind)
{
	if (view.dead)
		return WPK_DEAD;
	if (cpu >= nr_cpus || !running[cpu])
		return -EINVAL;
	set_cpu(cpu);
	request.kind = kind;
	request.visit++;
	stall_enter(cpu);
	wp_swap(&host_sp, wpsim_current->thread.sp, NULL);
	stall_leave();
	return view.dead ? WPK_DEAD : 0;
}

/*
 * Back to the host until it visits this CPU again. The flags are this CPU's: others run meanwhile.
 */
static void to_host(unsigned int state)
{
	struct wpk_cpu *c = &view.cpus[wpsim_cpu];
	unsigned long flags = wpsim_irq_flags;

	if (c->state != state) {
		c->state = state;
		changed(wpsim_cpu);
	}
	wp_swap(&current->thread.sp, host_sp, NULL);
	wpsim_irq_flags = flags;
	watch(state);
}

/* The run is over: back to the host, and never here again. */
void __noreturn wp_leave_for_good(void)
{
	static void *nowhere;

	wp_swap(&nowhere, host_sp, NULL);
	__builtin_unreachable();
}

/* A wait that spins on another CPU: let the others run. */
void wpsim_relax(void)
{
	if (relax_priced())
		return;
	if (spin_time != view.now_ns) {
		spin_time = view.now_ns;
		spins = 0;
	}
	if (++spins > 100000 + 1000 * nr_cpus)
		wp_fault(WPK_FAULT_ENDLESS, "CPUs wait for each other for ever (CPU %d in %pS)",
			 wpsim_cpu, __builtin_return_address(0));
	to_host(WPK_SPIN);
	handle_request();
}
