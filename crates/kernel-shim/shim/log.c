// SPDX-License-Identifier: GPL-2.0-only
/*
 * printk and its kin: one line each to the host; WARN makes the run's outcome a warning. The rules
 * are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: levels are printk's; lines go to the host as they come. A WARN is an outcome of
 * the run. May change: the longest line.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) every
 * scenario must end with `warnings 0` and say nothing else, which `warned` would break. That a WARN
 * ends a run with exit code 1 is what `no_kind_of_work_makes_it_warn` relies on; no test makes a
 * tree warn.
 *
 * Callers: the tree, by printk() and WARN().
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */

/* One line, without the mark of its level. */
static void wp_log(int level, const char *fmt, va_list ap)
{
	char *text = last_words;
	size_t n;

	if (fmt[0] == KERN_SOH_ASCII && fmt[1]) {
		if (fmt[1] >= '0' && fmt[1] <= '7')
			level = fmt[1] - '0';
		fmt += 2;
	}
	vsnprintf(text, sizeof(last_words), fmt, ap);
	n = strlen(text);
	while (n && text[n - 1] == '\n')
		text[--n] = 0;
	host->log(host->data, level, text);
}

#undef printk
#undef printk_deferred
#define WP_PRINT(name)                       \
	int name(const char *fmt, ...)       \
	{                                    \
		va_list ap;                  \
					     \
		va_start(ap, fmt);           \
		wp_log(4, fmt, ap);          \
		va_end(ap);                  \
		return 0;                    \
	}
WP_PRINT(_printk)
WP_PRINT(_printk_deferred)
/* Trees before 5.15 have the names without the underscore. */
extern int wp_printk(const char *fmt, ...) __asm__("printk") __attribute__((alias("_printk"),
		cold));
extern int wp_printk_deferred(const char *fmt, ...)
	__asm__("printk_deferred") __attribute__((alias("_printk_deferred"), cold));

#undef _dev_err
#undef _dev_warn
#undef _dev_info
#undef _dev_notice
#define WP_DEV_PRINT(name, level)                                  \
	void name(const struct device *dev, const char *fmt, ...)  \
	{                                                          \
		va_list ap;                                        \
								   \
		va_start(ap, fmt);                                 \
		wp_log(level, fmt, ap);                            \
		va_end(ap);                                        \
	}
WP_DEV_PRINT(_dev_err, 3)
WP_DEV_PRINT(_dev_warn, 4)
WP_DEV_PRINT(_dev_notice, 5)
WP_DEV_PRINT(_dev_info, 6)

/* Counted, and told with file and line. */
static void warned(const char *file, int line, const char *fmt, va_list ap)
{
	static char text[1024];
	int n = 0;

	view.warnings++;
	if (file)
		n = scnprintf(text, sizeof(text), "WARNING: %s:%d ", file, line);
	else
		n = scnprintf(text, sizeof(text), "WARNING: ");
	if (fmt)
		n += vscnprintf(text + n, sizeof(text) - n, fmt, ap);
	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		text[--n] = 0;
	host->warned(host->data, text);
}

/* WARN() and its kin, with a place and perhaps words. */
void warn_slowpath_fmt(const char *file, const int line, unsigned int taint, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	warned(file, line, fmt, ap);
	va_end(ap);
}

/* The words of a WARN() that says no place. */
void __warn_printk(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	warned(NULL, 0, fmt, ap);
	va_end(ap);
}
