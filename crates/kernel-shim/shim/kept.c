// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the host points to is the host's, and lives as long as an entry: here it outlives that. The
 * rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: all that a call points to is copied, as far as the kernel may ask for it later.
 * May change: sizes of the copies, upwards.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * `probes` (its `make` writes over name, attributes and call as soon as the entry is over:
 * `keep_call`), `storm` (masks, values). -E2BIG has no test of its own.
 *
 * Callers: control.c, irq.c (`wpk_spawn`).
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */
struct kept_call {
	struct wpk_call call;
	char name[64], value[512];
	wpk_u64 mask[BITS_TO_LONGS(NR_CPUS)];
	struct wpk_attr attr;
};

/* -E2BIG: a text is too long. */
static int keep_call(struct kept_call *to, const struct wpk_call *call)
{
	/* A task's name is cut, as any kernel does it. */
	if (call->name && strscpy(to->name, call->name, sizeof(to->name)) < 0 &&
	    call->op != WPK_FORK)
		return -E2BIG;
	if (call->value && strlen(call->value) >= sizeof(to->value))
		return -E2BIG;
	to->call = *call;
	if (call->name)
		to->call.name = to->name;
	if (call->value)
		to->call.value = strcpy(to->value, call->value);
	if (call->mask) {
		memcpy(to->mask, call->mask, DIV_ROUND_UP(nr_cpus, 64) * sizeof(*call->mask));
		to->call.mask = to->mask;
	}
	if (call->attr) {
		to->attr = *call->attr;
		to->call.attr = &to->attr;
	}
	return 0;
}
