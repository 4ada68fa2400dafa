/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_SPARSEMEM_H
#define _ASM_WPSIM_SPARSEMEM_H
#endif
