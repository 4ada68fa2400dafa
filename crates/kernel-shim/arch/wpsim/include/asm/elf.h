/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_WPSIM_ELF_H
#define _ASM_WPSIM_ELF_H
#include <asm/ptrace.h>
typedef unsigned long elf_greg_t;
typedef elf_greg_t elf_gregset_t[4];
typedef struct { } elf_fpregset_t;
#define ELF_CLASS ELFCLASS64
#define ELF_DATA ELFDATA2LSB
#define ELF_ARCH EM_NONE
#define elf_check_arch(x) 0
#define ELF_EXEC_PAGESIZE 4096
#define ELF_ET_DYN_BASE 0
#define ELF_HWCAP 0
#define ELF_PLATFORM NULL
#define SET_PERSONALITY(ex) do { } while (0)
#endif
