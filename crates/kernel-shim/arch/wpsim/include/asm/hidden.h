/* SPDX-License-Identifier: GPL-2.0-only */
/* Read before every other header: all names belong to the object, none goes through its tables. */
#ifndef __ASSEMBLY__
#pragma GCC visibility push(hidden)
#endif
