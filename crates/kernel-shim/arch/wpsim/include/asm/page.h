/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_PAGE_H
#define _ASM_WPSIM_PAGE_H
/* No page is ever looked at: the allocator is the host's. */
#if __has_include(<vdso/page.h>)
#include <vdso/page.h>
#else
#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE - 1))
#endif
#ifndef __ASSEMBLY__
#define clear_page(p) memset((p), 0, PAGE_SIZE)
#define copy_page(to, from) memcpy((to), (from), PAGE_SIZE)
#define clear_user_page(p, v, page) clear_page(p)
#define copy_user_page(to, from, v, page) copy_page(to, from)

typedef struct { unsigned long pte; } pte_t;
typedef struct { unsigned long pmd; } pmd_t;
typedef struct { unsigned long pgd; } pgd_t;
typedef struct { unsigned long pgprot; } pgprot_t;
typedef struct page *pgtable_t;
#define pte_val(x) ((x).pte)
#define pmd_val(x) ((x).pmd)
#define pgd_val(x) ((x).pgd)
#define pgprot_val(x) ((x).pgprot)
#define __pte(x) ((pte_t) { (x) })
#define __pmd(x) ((pmd_t) { (x) })
#define __pgd(x) ((pgd_t) { (x) })
#define __pgprot(x) ((pgprot_t) { (x) })

#define PAGE_OFFSET 0UL
#define ARCH_PFN_OFFSET 0UL
#define __pa(v) ((unsigned long)(v))
#define __va(p) ((void *)(unsigned long)(p))
#define virt_to_pfn(v) (__pa(v) >> PAGE_SHIFT)
#define pfn_to_virt(p) __va((p) << PAGE_SHIFT)
#define virt_to_page(a) pfn_to_page(virt_to_pfn(a))
#define page_to_virt(p) pfn_to_virt(page_to_pfn(p))
#define virt_addr_valid(k) 1
#include <asm-generic/memory_model.h>
/* Trees whose memory model is none of ours: a page's number stands for the page. */
#ifndef __pfn_to_page
#define __pfn_to_page(pfn) ((struct page *)(unsigned long)(pfn))
#define __page_to_pfn(page) ((unsigned long)(page))
#endif
#ifdef WPK_HAS_DISCONTIGMEM
#define pfn_valid(pfn) 1
#endif
#ifndef page_to_phys
#define page_to_phys(p) ((phys_addr_t)page_to_pfn(p) << PAGE_SHIFT)
#endif
#include <asm-generic/getorder.h>
#endif
#endif
