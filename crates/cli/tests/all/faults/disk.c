// A faulty disk between a program and the kernel: preloaded, it counts the calls that change what
// is below a folder and lets one of them fail, or ends the program at it.
//
//   FAULT_BELOW   the folder
//   FAULT_AT      the number of the call, from 1; 0: none
//   FAULT_HOW     an errno, "kill", or "term"
//   FAULT_REACHED a file, outside the folder, that is made when that call comes
//   FAULT_LOG     a file, outside the folder, that gets a line per call: what it is, and the path
//   FAULT_NO_SWAP set: renameat2 exchanges nothing, as on file systems that cannot
//
// Page: docs/guide/traces.md, "What is promised of files". What must stay: a call is counted once
// (`chosen`), and only if it changes what is below the folder (`fd_is_below`, `path_is_below`): a
// call that the program begins to use gets a function of its name here. `fails_fd`, `fails_path`,
// `fails_rename` and `fails_removal` decide for one kind of call, `tear` writes half of it first,
// `note` writes FAULT_LOG, `ends` tells the two ends that FAULT_HOW may name. Caller:
// faults/disk.rs; a call that is missed shows in faults/mod.rs::synced_before_and_after.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_long calls;

// The path of a file that is open, or that is named; 0 if it is not below the folder.
static int fd_is_below(int fd, char *path)
{
	const char *folder = getenv("FAULT_BELOW");
	char name[64];
	ssize_t length;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	length = readlink(name, path, PATH_MAX - 1);
	if (length < 0 || !folder)
		return 0;
	path[length] = 0;
	return !strncmp(path, folder, strlen(folder));
}

static int path_is_below(int at, const char *named, char *path)
{
	const char *folder = getenv("FAULT_BELOW");
	size_t length = 0;

	if (!folder)
		return 0;
	if (named[0] != '/') {
		if (at != AT_FDCWD)
			fd_is_below(at, path);
		else if (!getcwd(path, PATH_MAX))
			return 0;
		length = strlen(path);
		path[length++] = '/';
		if (!strncmp(named, "./", 2))
			named += 2;
	}
	snprintf(path + length, PATH_MAX - length, "%s", named);
	return !strncmp(path, folder, strlen(folder));
}

static void note(const char *call, const char *path)
{
	const char *log = getenv("FAULT_LOG");
	char line[PATH_MAX + 32];
	int fd;

	if (!log)
		return;
	fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0644);
	syscall(SYS_write, fd, line, snprintf(line, sizeof(line), "%s %s\n", call, path));
	syscall(SYS_close, fd);
}

static int ends(const char *how)
{
	return !strcmp(how, "kill") || !strcmp(how, "term");
}

// 1: this is the call with the chosen number, and it is to fail.
static int chosen(int (*before)(void *), void *what)
{
	const char *at = getenv("FAULT_AT"), *how = getenv("FAULT_HOW");
	const char *reached = getenv("FAULT_REACHED");

	if (!at || !how || atomic_fetch_add(&calls, 1) + 1 != atol(at))
		return 0;
	if (reached)
		close(syscall(SYS_openat, AT_FDCWD, reached, O_WRONLY | O_CREAT, 0644));
	if (!strcmp(how, "term")) {
		raise(SIGTERM);
		// The thread that heeds it ends the process meanwhile, or waits for this one.
		usleep(300000);
		return 0;
	}
	if (before)
		before(what);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	errno = atoi(how);
	return 1;
}

static int fails_fd(const char *call, int fd)
{
	char path[PATH_MAX];

	if (!fd_is_below(fd, path))
		return 0;
	note(call, path);
	return chosen(NULL, NULL);
}

static int fails_path(const char *call, int at, const char *named)
{
	char path[PATH_MAX];

	if (!path_is_below(at, named, path))
		return 0;
	note(call, path);
	return chosen(NULL, NULL);
}

// Both names are noted, the old one first.
static int fails_rename(int from_at, const char *from, int to_at, const char *to)
{
	char path[PATH_MAX];

	if (path_is_below(from_at, from, path))
		note("from", path);
	return fails_path("to", to_at, to);
}

// What removes something: an error of it is nobody's concern, an end is.
static int fails_removal(int at, const char *path)
{
	const char *how = getenv("FAULT_HOW");

	return how && ends(how) && fails_path("remove", at, path);
}

struct bytes {
	int fd;
	const void *start;
	size_t size;
};

// Half of the bytes are written before the rest fails, as on a disk that fills up.
static int tear(void *what)
{
	struct bytes *bytes = what;

	return syscall(SYS_write, bytes->fd, bytes->start, bytes->size / 2);
}

ssize_t write(int fd, const void *start, size_t size)
{
	struct bytes bytes = { fd, start, size };
	char path[PATH_MAX];

	if (fd_is_below(fd, path)) {
		note("write", path);
		if (chosen(tear, &bytes))
			return -1;
	}
	return syscall(SYS_write, fd, start, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	if (fails_fd("write", fd))
		return -1;
	return NEXT(writev)(fd, parts, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
	if (fails_fd("write", fd))
		return -1;
	return NEXT(pwrite64)(fd, bytes, size, at);
}

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size,
			unsigned int flags)
{
	if (fails_fd("write", to))
		return -1;
	return NEXT(copy_file_range)(from, from_at, to, to_at, size, flags);
}

int fsync(int fd)
{
	return fails_fd("sync", fd) ? -1 : NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
	return fails_fd("sync", fd) ? -1 : NEXT(fdatasync)(fd);
}

int ftruncate64(int fd, off64_t size)
{
	return fails_fd("change", fd) ? -1 : NEXT(ftruncate64)(fd, size);
}

int fchmod(int fd, mode_t mode)
{
	return fails_fd("change", fd) ? -1 : NEXT(fchmod)(fd, mode);
}

int chmod(const char *path, mode_t mode)
{
	return fails_path("change", AT_FDCWD, path) ? -1 : NEXT(chmod)(path, mode);
}

int mkdir(const char *path, mode_t mode)
{
	return fails_path("change", AT_FDCWD, path) ? -1 : NEXT(mkdir)(path, mode);
}

int unlink(const char *path)
{
	return fails_removal(AT_FDCWD, path) ? -1 : NEXT(unlink)(path);
}

int unlinkat(int at, const char *path, int flags)
{
	return fails_removal(at, path) ? -1 : NEXT(unlinkat)(at, path, flags);
}

int rmdir(const char *path)
{
	return fails_removal(AT_FDCWD, path) ? -1 : NEXT(rmdir)(path);
}

int rename(const char *from, const char *to)
{
	return fails_rename(AT_FDCWD, from, AT_FDCWD, to) ? -1 : NEXT(rename)(from, to);
}

int renameat(int from_at, const char *from, int to_at, const char *to)
{
	if (fails_rename(from_at, from, to_at, to))
		return -1;
	return NEXT(renameat)(from_at, from, to_at, to);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned int flags)
{
	if (fails_rename(from_at, from, to_at, to))
		return -1;
	if (getenv("FAULT_NO_SWAP") && (flags & RENAME_EXCHANGE)) {
		errno = EINVAL;
		return -1;
	}
	return syscall(SYS_renameat2, from_at, from, to_at, to, flags);
}

// Only what makes or writes a file is a change.
static int opened(int at, const char *path, int flags, mode_t mode)
{
	int changes = (flags & O_CREAT) || (flags & O_ACCMODE) != O_RDONLY;

	if (changes && fails_path("open", at, path))
		return -1;
	return syscall(SYS_openat, at, path, flags, mode);
}

#define MODE(last)                                   \
	mode_t mode = 0;                             \
	va_list more;                                \
	va_start(more, last);                        \
	if (flags & (O_CREAT | __O_TMPFILE))         \
		mode = va_arg(more, mode_t);         \
	va_end(more)

int open64(const char *path, int flags, ...)
{
	MODE(flags);
	return opened(AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	MODE(flags);
	return opened(AT_FDCWD, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...)
{
	MODE(flags);
	return opened(at, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...)
{
	MODE(flags);
	return opened(at, path, flags, mode);
}
