/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In the place of libbpf's header of this name: src/bpf as a program of this machine, whose kernel
 * is fake.h of the folder above.
 *
 * What must stay: names and arguments that src/bpf uses; a walk sees the queue as it was when the
 * walk began, as the kernel's does.
 *
 * Tests: crates/scx/tests/parity/glue.rs
 */
#ifndef GLUE_HELPERS_H
#define GLUE_HELPERS_H

#define SEC(name)
#define __ksym
#define __weak __attribute__((weak))
#define __noinline __attribute__((noinline))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name

#define bpf_ksym_exists(symbol) ((void *)&(symbol) != (void *)0)
#define bpf_for(i, from, to) for ((i) = (from); (i) < (to); (i)++)
#define bpf_for_each(kind, at, ...)                                                                \
	for (struct bpf_iter_##kind ___it, *___p = (bpf_iter_##kind##_new(&___it, __VA_ARGS__),    \
						    &___it);                                       \
	     ___p && ((at) = bpf_iter_##kind##_next(___p)); (void)0)

void *bpf_map_lookup_elem(void *map, const void *key);
long bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags);
void *bpf_task_storage_get(void *map, void *task, void *value, u64 flags);
void *bpf_cgrp_storage_get(void *map, void *cgroup, void *value, u64 flags);
struct task_struct *bpf_get_current_task_btf(void);
/* Hides a value from the compiler, as libbpf's does. */
#define barrier_var(var) __asm__ volatile("" : "+r"(var))

u32 bpf_get_smp_processor_id(void);
u32 bpf_get_prandom_u32(void);
u64 bpf_ktime_get_ns(void);
u64 bpf_jiffies64(void);
void *bpf_per_cpu_ptr(const void *variable, u32 cpu);
long bpf_probe_read_kernel(void *to, u32 size, const void *from);
long bpf_probe_read_kernel_str(void *to, u32 size, const void *from);
long bpf_timer_init(struct bpf_timer *timer, void *map, u64 flags);
long bpf_timer_set_callback(struct bpf_timer *timer, void *callback);
long bpf_timer_start(struct bpf_timer *timer, u64 ns, u64 flags);

#endif
