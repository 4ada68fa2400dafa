// SPDX-License-Identifier: GPL-2.0-only
/* No assembly of ours needs an offset; the build wants the file. */
int main(void);
int main(void)
{
	return 0;
}
