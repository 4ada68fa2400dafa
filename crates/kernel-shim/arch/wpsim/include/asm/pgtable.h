/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_PGTABLE_H
#define _ASM_WPSIM_PGTABLE_H
#include <asm-generic/pgtable-nopud.h>
#include <asm/page.h>
#include <asm/processor.h>
#define VMALLOC_START 0UL
#define VMALLOC_END (~0UL)
#define PAGE_NONE __pgprot(0)
#define PAGE_SHARED __pgprot(0)
#define PAGE_COPY __pgprot(0)
#define PAGE_READONLY __pgprot(0)
#define PAGE_KERNEL __pgprot(0)
#define swapper_pg_dir ((pgd_t *)0)
#define pgprot_noncached(p) (p)
#define pgprot_writecombine(p) (p)
#define pgprot_device(p) (p)
#ifndef ZERO_PAGE
#define ZERO_PAGE(a) ((struct page *)0)
#endif
#endif
