/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * No scheduler: a program of type syscall, which a loader runs. What it makes of its arguments is
 * compared with what a kernel makes of them.
 * Page: docs/guide/schedulers.md, "What its programs see".
 *
 * What must stay: `arithmetic`, `maps` and `step` use nothing that differs between kernels of
 * x86-64; `sums` is called by a loader for each pair of arguments.
 *
 * Tests: crates/cli/tests/all/syscall_programs.rs::a_program_gives_what_a_kernel_gives
 */
#include "small.h"

char _license[] SEC("license") = "GPL";

#define BPF_MAP_TYPE_HASH 1
#define BPF_NOEXIST 1
#define RESULTS 32

struct args {
	u64 a;
	u64 b;
	u64 out[RESULTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, u32);
	__type(value, u64);
} array SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2);
	__type(key, u64);
	__type(value, u64);
} hash SEC(".maps");

static void arithmetic(struct args *args, u64 a, u64 b)
{
	s64 sa = a, sb = b;
	u32 low = a, by = b;

	args->out[0] = a + b;
	args->out[1] = a - b;
	args->out[2] = a * b;
	args->out[3] = a / b;
	args->out[4] = a % b;
	args->out[5] = a << (b & 63);
	args->out[6] = a >> (b & 63);
	args->out[7] = sa >> (b & 63);
	args->out[8] = low + by;
	args->out[9] = low * by;
	args->out[10] = low / by;
	args->out[11] = low % by;
	args->out[12] = (s64)((s32)low >> (by & 31));
	args->out[13] = (a & b) ^ (a | ~b);
	args->out[14] = __builtin_bswap64(a);
	args->out[15] = __builtin_bswap32(low);
	args->out[16] = (u64)(sa < sb) << 3 | (a < b) << 2 | (low < by) << 1 | ((s32)low < (s32)by);
	args->out[17] = (s64)(signed char)a + (s64)(short)b;
}

static void maps(struct args *args, u64 a, u64 b)
{
	u64 keys[3] = { a, b, a ^ b }, *found;
	u32 index = b & 7, i;

	args->out[18] = bpf_map_update_elem(&array, &index, &a, 0);
	found = bpf_map_lookup_elem(&array, &index);
	args->out[19] = found ? __sync_fetch_and_add(found, b) : 77;
	args->out[20] = found ? *found : 78;
	for (i = 0; i < 3; i++)
		args->out[21 + i] = bpf_map_update_elem(&hash, &keys[i], &b, BPF_NOEXIST);
	args->out[24] = bpf_map_delete_elem(&hash, &keys[0]);
	args->out[25] = bpf_map_delete_elem(&hash, &keys[0]);
	found = bpf_map_lookup_elem(&hash, &keys[1]);
	args->out[26] = found ? *found : 79;
	bpf_map_delete_elem(&hash, &keys[1]);
	bpf_map_delete_elem(&hash, &keys[2]);
}

static long step(u64 index, u64 *sum)
{
	*sum = *sum * 31 + index;
	return *sum % 97 == 0;
}

SEC("syscall")
int sums(struct args *args)
{
	u64 a = args->a, b = args->b, sum = a;
	char text[16] = {};

	arithmetic(args, a, b);
	maps(args, a, b);
	args->out[27] = bpf_loop(b & 127, step, &sum, 0);
	args->out[28] = sum;
	args->out[29] = bpf_snprintf(text, sizeof(text), "%llu-%x", (u64[]){ a, b }, 16);
	args->out[30] = *(u64 *)text;
	args->out[31] = bpf_strncmp(text, 4, "1844");
	return (int)(a ^ b);
}
