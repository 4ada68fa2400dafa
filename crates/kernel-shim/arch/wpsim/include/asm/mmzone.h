/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_MMZONE_H
#define _ASM_WPSIM_MMZONE_H
#if __has_include(<asm-generic/mmzone.h>)
#include <asm-generic/mmzone.h>
#elif defined(CONFIG_NUMA)
struct pglist_data;
extern struct pglist_data *node_data[];
#define NODE_DATA(node) (node_data[node])
#endif
#endif
