/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the typed half (shim.c) offers to the untyped one (stub.c).
 *
 * What must stay: no header of the kernel is needed here, as stub.c reads none. May change: a name
 * more. `wp_alloc`, `wp_free` and `wp_random` are in memory.c, `wp_missing` is in fault.c.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), which builds both halves
 */
#ifndef WPK_STUB_H
#define WPK_STUB_H
void *wp_alloc(unsigned long size, unsigned long align);
/* The same for who asks at `site`, of a type of that name where it is known. */
void *wp_alloc_for(unsigned long size, unsigned long align, const void *site, const char *name);
void wp_free(void *p);
void wp_missing(const char *name) __attribute__((noreturn));
unsigned int wp_random(void);
#endif
