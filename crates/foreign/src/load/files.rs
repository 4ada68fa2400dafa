//! Calls with paths, and the few others that would show the host's machine.

use super::calls::{Answer, Call};
use super::memory_file::memory_file;
use super::serve::Session;
use super::{clocks, run_folder};
use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::{Seek as _, Write as _};
use std::mem::{MaybeUninit, size_of};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The bytes of a structure of the C library's.
fn bytes_of<T>(value: &T) -> &[u8] {
    // SAFETY: only structures that a system call has filled come here; they are read as bytes.
    unsafe { std::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) }
}

impl Session<'_> {
    /// Answers a call with a path, if the path is one of the modelled machine's.
    pub(super) fn path_call(&mut self, call: &Call) -> Answer {
        let [_, b, c, d, e, f] = call.args;
        let (path, rest) = match call.number {
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open | libc::SYS_stat | libc::SYS_lstat => (call.args[0], [b, c, d, e]),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_access | libc::SYS_readlink => (call.args[0], [b, c, d, e]),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir | libc::SYS_unlink => (call.args[0], [b, c, d, e]),
            _ => (b, [c, d, e, f]),
        };
        let text = call.string(path).unwrap_or_default();
        if text == "/proc/stat" && opens(call.number) {
            let made = clocks::proc_stat(self);
            return made.map_or(Answer::error(libc::ENOMEM), Answer::File);
        }
        let Some(ours) = self.known.tree.answers(&text) else {
            return self.of_host(call, &text);
        };
        if is_tracepoint(&text) && call.number == libc::SYS_openat {
            return tracepoint();
        }
        match call.number {
            libc::SYS_openat => open(&ours, rest[0]),
            libc::SYS_newfstatat => self.stat(call, &ours, rest[0]),
            libc::SYS_statx => statx(call, &ours, rest),
            libc::SYS_faccessat | libc::SYS_faccessat2 => access(&ours, rest[0]),
            libc::SYS_readlinkat => read_link(call, &ours, rest[0], rest[1]),
            libc::SYS_mkdirat => run_folder::make(&ours),
            libc::SYS_unlinkat => run_folder::remove(&ours),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir => run_folder::make(&ours),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink => run_folder::remove(&ours),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => open(&ours, rest[0]),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_stat | libc::SYS_lstat => self.stat(call, &ours, rest[0]),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_access => access(&ours, rest[0]),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_readlink => read_link(call, &ours, rest[0], rest[1]),
            _ => Answer::Host,
        }
    }

    /// A path of the host's. What the host's kernel says of its own machine while the simulation
    /// runs would be an answer about another machine.
    fn of_host(&mut self, call: &Call, path: &str) -> Answer {
        let of_kernel = path.starts_with("/proc/") || path.starts_with("/sys/");
        let own = path.starts_with("/proc/self/") || path.starts_with("/proc/thread-self/");
        if self.sim.is_some() && of_kernel && !own && opens(call.number) {
            self.refuse(format!(
                "to read {path} while the simulation runs is not offered"
            ));
            return Answer::error(libc::ENOENT);
        }
        Answer::Host
    }

    fn stat(&self, call: &Call, path: &Path, to: u64) -> Answer {
        let Ok(name) = CString::new(path.as_os_str().as_bytes()) else {
            return Answer::error(libc::ENOENT);
        };
        let mut found = MaybeUninit::<libc::stat>::zeroed();
        // SAFETY: the structure is as large as the call fills.
        if unsafe { libc::stat(name.as_ptr(), found.as_mut_ptr()) } < 0 {
            return Answer::failed(&std::io::Error::last_os_error());
        }
        // SAFETY: zeroed before, filled now.
        let found = unsafe { found.assume_init() };
        written(call, to, bytes_of(&found))
    }

    /// `uname`: the kernel whose interface is offered.
    pub(super) fn uname(&self, call: &Call) -> Answer {
        let mut name = MaybeUninit::<libc::utsname>::zeroed();
        // SAFETY: the structure is as large as the call fills.
        let mut name = unsafe {
            libc::uname(name.as_mut_ptr());
            name.assume_init()
        };
        name.release.fill(0);
        let release = self.known.release.bytes().take(name.release.len() - 1);
        for (to, from) in name.release.iter_mut().zip(release) {
            *to = from as libc::c_char;
        }
        written(call, call.args[0], bytes_of(&name))
    }
}

fn opens(number: libc::c_long) -> bool {
    match number {
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => true,
        number => number == libc::SYS_openat,
    }
}

/// The number of a tracepoint: any of them is there, none is ever hit.
fn is_tracepoint(path: &str) -> bool {
    path.contains("/tracing/events/") && path.ends_with("/id")
}

fn tracepoint() -> Answer {
    let made = memory_file(0).and_then(|file| {
        let mut file = fs::File::from(file);
        file.write_all(b"1\n")?;
        file.rewind()?;
        Ok(file)
    });
    made.map_or(Answer::error(libc::ENOMEM), |file| {
        Answer::File(file.into())
    })
}

fn written(call: &Call, to: u64, bytes: &[u8]) -> Answer {
    match call.write(to, bytes) {
        true => Answer::Value(0),
        false => Answer::error(libc::EFAULT),
    }
}

/// Reading is from the tree; what is written goes nowhere, as far as the file is there.
fn open(path: &Path, flags: u64) -> Answer {
    let flags = flags as i32;
    if flags & libc::O_ACCMODE != libc::O_RDONLY {
        let scratch = path.exists().then(|| memory_file(0));
        return match scratch {
            Some(Ok(file)) => Answer::File(file),
            _ => Answer::error(libc::ENOENT),
        };
    }
    let custom = flags & (libc::O_DIRECTORY | libc::O_CLOEXEC);
    match OpenOptions::new()
        .read(true)
        .custom_flags(custom)
        .open(path)
    {
        Ok(file) => Answer::File(file.into()),
        Err(error) => Answer::failed(&error),
    }
}

fn access(path: &Path, _mode: u64) -> Answer {
    match path.exists() {
        true => Answer::Value(0),
        false => Answer::error(libc::ENOENT),
    }
}

fn read_link(call: &Call, path: &Path, to: u64, room: u64) -> Answer {
    match fs::read_link(path) {
        Ok(target) => {
            let bytes = target.as_os_str().as_bytes();
            let bytes = &bytes[..bytes.len().min(room as usize)];
            match call.write(to, bytes) {
                true => Answer::Value(bytes.len() as i64),
                false => Answer::error(libc::EFAULT),
            }
        }
        Err(error) => Answer::failed(&error),
    }
}

fn statx(call: &Call, path: &Path, rest: [u64; 4]) -> Answer {
    let [flags, mask, to, _] = rest;
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else {
        return Answer::error(libc::ENOENT);
    };
    let mut found = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: the structure is as large as the call fills.
    let done = unsafe {
        let flags = flags as i32 & libc::AT_SYMLINK_NOFOLLOW;
        libc::statx(
            libc::AT_FDCWD,
            name.as_ptr(),
            flags,
            mask as u32,
            found.as_mut_ptr(),
        )
    };
    if done < 0 {
        return Answer::failed(&std::io::Error::last_os_error());
    }
    // SAFETY: zeroed before, filled now.
    let found = unsafe { found.assume_init() };
    written(call, to, bytes_of(&found))
}
