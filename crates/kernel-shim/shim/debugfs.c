// SPDX-License-Identifier: GPL-2.0-only
/*
 * The debug file system as far as parameters need it: what the kernel registers is kept by name,
 * and written through its own handlers. The functions take their symbols by label, as their types
 * differ by version. The rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: names are the kernel's. A file of another kind than those below cannot be
 * written. May change: a kind of file more.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * `storm` (`debugfs_store` of features and numbers; domains that are rebuilt: `forget`, `below`);
 * `a_comparison_does_not_depend_on_threads` (features are taken: `write_fops`, `at_path`),
 * `what_it_does_not_take_is_refused` (no such file). `debugfs_show` has no test of its own: nobody
 * but PARAMETERS of tests/drive.c reads a number. The rest by all of these.
 *
 * Callers: the tree registers files; parameters.c writes them.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */
enum { FILE_FOPS, FILE_U32, FILE_U64, FILE_LONG, FILE_BOOL, FILE_DIR };

struct wp_file {
	struct wp_file *next, *parent;
	const char *name;
	void *data;
	const struct file_operations *fops;
	int kind;
};
static struct wp_file *files;

/* What the kernel would have of the file is this record. */
static void *keep_file(const char *name, void *parent, void *data, const void *fops, int kind)
{
	struct wp_file *f = wp_alloc(sizeof(*f), 8);
	char *copy = wp_alloc(strlen(name) + 1, 8);

	strcpy(copy, name);
	*f = (struct wp_file){ .next = files, .parent = parent, .name = copy, .data = data,
			       .fops = fops, .kind = kind };
	files = f;
	return f;
}

#define WP_DEBUGFS(type, name, args) type wp_##name args __asm__(#name); type wp_##name args
/* The tree calls these where it would make a file: it is kept by name. */
WP_DEBUGFS(void *, debugfs_create_dir, (const char *name, void *parent))
{
	return keep_file(name, parent, NULL, NULL, FILE_DIR);
}

/* A file with handlers of its own. */
WP_DEBUGFS(void *, debugfs_create_file, (const char *name, umode_t mode, void *parent, void *data,
					 const void *fops))
{
	return keep_file(name, parent, data, fops, FILE_FOPS);
}

/* The same for us: what it leaves out is no matter here. */
WP_DEBUGFS(void *, debugfs_create_file_unsafe, (const char *name, umode_t mode, void *parent,
		void *data,
						const void *fops))
{
	return keep_file(name, parent, data, fops, FILE_FOPS);
}

/* What debugfs_create_file() is in later trees. */
WP_DEBUGFS(void *, debugfs_create_file_full, (const char *name, umode_t mode, void *parent,
		void *data,
					      const void *aux, const void *fops))
{
	return keep_file(name, parent, data, fops, FILE_FOPS);
}

/* A number, which is written where it stands. */
WP_DEBUGFS(void, debugfs_create_u32, (const char *name, umode_t mode, void *parent, u32 *value))
{
	keep_file(name, parent, value, NULL, FILE_U32);
}

/* The same, of 64 bits. */
WP_DEBUGFS(void, debugfs_create_u64, (const char *name, umode_t mode, void *parent, u64 *value))
{
	keep_file(name, parent, value, NULL, FILE_U64);
}

/* The same, a long. */
WP_DEBUGFS(void *, debugfs_create_ulong, (const char *name, umode_t mode, void *parent,
		unsigned long *value))
{
	return keep_file(name, parent, value, NULL, FILE_LONG);
}

/* The same, on or off. */
WP_DEBUGFS(void *, debugfs_create_bool, (const char *name, umode_t mode, void *parent, bool *value))
{
	return keep_file(name, parent, value, NULL, FILE_BOOL);
}

/* Texts are not kept: no parameter is one. */
WP_DEBUGFS(void *, debugfs_create_str, (const char *name, umode_t mode, void *parent, char **value))
{
	return NULL;
}

/* Is the file in the folder, or in one in it? */
static bool below(const struct wp_file *f, const void *dir)
{
	for (; f; f = f->parent)
		if (f == dir)
			return true;
	return false;
}

/* Domains are described anew at each rebuild: what was said of the old ones goes. */
static void forget(const void *dir)
{
	struct wp_file **link = &files, *gone = NULL;

	if (!dir)
		return;
	while (*link) {
		struct wp_file *f = *link;

		if (below(f, dir)) {
			*link = f->next;
			f->next = gone;
			gone = f;
		} else {
			link = &f->next;
		}
	}
	while (gone) {
		struct wp_file *f = gone;

		gone = f->next;
		wp_free((void *)f->name);
		wp_free(f);
	}
}

/* The tree, as domains are rebuilt. */
WP_DEBUGFS(void, debugfs_remove, (void *dir))
{
	forget(dir);
}

/* Is the file at this path, from its end? */
static bool at_path(const struct wp_file *f, const char *path)
{
	const char *slash = strrchr(path, '/');
	char up[64];

	if (strcmp(f->name, slash ? slash + 1 : path))
		return false;
	if (!slash)
		return true;
	strscpy(up, path, min_t(size_t, sizeof(up), slash - path + 1));
	return f->parent && at_path(f->parent, up);
}

/* The same by the name of a file in a folder. */
WP_DEBUGFS(void, debugfs_lookup_and_remove, (const char *name, void *parent))
{
	struct wp_file *f;

	for (f = files; f; f = f->next)
		if (f->parent == parent && !strcmp(f->name, name)) {
			forget(f);
			return;
		}
}

/* Through the file's own handler; what that answers. */
static ssize_t write_fops(struct wp_file *f, const char *value)
{
	static struct inode inode;
	static struct seq_file seq;
	static struct file file;
	loff_t at = 0;

	if (!f->fops->write)
		return -EPERM;
	init_rwsem(&inode.i_rwsem);
	inode.i_private = f->data;
	seq.private = f->data;
	file.f_inode = &inode;
	file.private_data = &seq;
	return f->fops->write(&file, (const char __user *)value, strlen(value), &at);
}

/* 0, or a negative errno. */
static int write_file(struct wp_file *f, const char *value)
{
	unsigned long long number;
	ssize_t n;

	if (f->kind == FILE_DIR)
		return -EISDIR;
	if (f->kind == FILE_FOPS) {
		n = write_fops(f, value);
		return n < 0 ? n : 0;
	}
	if (kstrtoull(value, 0, &number))
		return -EINVAL;
	switch (f->kind) {
	case FILE_U32:
		*(u32 *)f->data = number;
		break;
	case FILE_BOOL:
		*(bool *)f->data = number;
		break;
	default:
		*(u64 *)f->data = number;
	}
	return 0;
}

/* Writes a file, or all of that name where each CPU has one. */
static int debugfs_store(const char *path, const char *value)
{
	int error = -ENOENT;
	struct wp_file *f, *next;

	for (f = files; f; f = next) {
		next = f->next;
		if (f->kind == FILE_DIR || !at_path(f, path))
			continue;
		error = write_file(f, value);
		if (error)
			return error;
	}
	return error;
}

/* -ENOENT: no such file of a plain number. */
static int debugfs_show(const char *path, u64 *value)
{
	struct wp_file *f;

	for (f = files; f; f = f->next) {
		if (f->kind <= FILE_FOPS || f->kind == FILE_DIR || !at_path(f, path))
			continue;
		*value = f->kind == FILE_U32 ? *(u32 *)f->data : f->kind == FILE_BOOL
			? *(bool *)f->data :
			 *(u64 *)f->data;
		return 0;
	}
	return -ENOENT;
}

/* Is there such a file, of whatever kind? */
static bool debugfs_exists(const char *path)
{
	struct wp_file *f;

	for (f = files; f; f = f->next)
		if (at_path(f, path))
			return true;
	return false;
}
