/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_VMALLOC_H
#define _ASM_WPSIM_VMALLOC_H
#endif
