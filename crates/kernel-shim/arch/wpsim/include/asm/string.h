/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_STRING_H
#define _ASM_WPSIM_STRING_H
/* The three that are worth their own loops (shim/stub.c); the rest is the tree's lib/string.c. */
#define __HAVE_ARCH_MEMCPY
#define __HAVE_ARCH_MEMSET
#define __HAVE_ARCH_MEMMOVE
extern void *memcpy(void *, const void *, __kernel_size_t);
extern void *memset(void *, int, __kernel_size_t);
extern void *memmove(void *, const void *, __kernel_size_t);
#endif
