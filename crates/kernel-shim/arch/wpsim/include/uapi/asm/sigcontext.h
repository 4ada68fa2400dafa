/* SPDX-License-Identifier: GPL-2.0-only */
struct sigcontext {
	unsigned long unused;
};
