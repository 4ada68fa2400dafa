/* SPDX-License-Identifier: GPL-2.0-only */
#define __ARCH_WANT_SYSCALL_DEPRECATED
#include <asm-generic/unistd.h>
