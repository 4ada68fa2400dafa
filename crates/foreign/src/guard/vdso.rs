//! Clock reads become system calls: the code that the kernel maps into every process to read its
//! clocks (vDSO) is replaced by calls, in the loader only (docs/guide/schedulers.md, "What the
//! loader sees").
//!
//! What must stay: the loader only is changed, before it has run. What is missing here would give a
//! loader the host's time: schedulers.rs::`a_loader_runs_in_virtual_time` sees it. Free: which
//! instructions replace a clock's code.
//!
//! Tests by part: `only_the_kernel_s_own_mapping_is_taken` (`place`),
//! crates/cli/tests/all/schedulers.rs::`a_loader_runs_in_virtual_time` (`replace`, `stands_for`,
//! `code`: Rust's clock is the vDSO's).
//!
//! Callers: guard/serve.rs (`replace`, when the loader's program begins), guard/way.rs (a trial).
//!
//! Tests: below

use super::memory::{lines_of_maps, memory_of};
use object::{Object as _, ObjectSymbol as _};
use std::io;
use std::os::unix::fs::FileExt as _;

/// What stands for a function.
enum Stands {
    /// This system call, with the same arguments.
    Call(libc::c_long),
    /// "It is not there": the C library then makes the call.
    Missing,
}

/// The largest that any kernel has is a few pages.
const LARGEST: u64 = 64 << 10;
const SHORTEST: u64 = if cfg!(target_arch = "x86_64") { 8 } else { 12 };

/// By the vDSO's name of a function; None: it stays as it is.
fn stands_for(name: &str) -> Option<Stands> {
    let name = name
        .strip_prefix("__vdso_")
        .or(name.strip_prefix("__kernel_"))?;
    Some(match name {
        "clock_gettime" => Stands::Call(libc::SYS_clock_gettime),
        "clock_getres" => Stands::Call(libc::SYS_clock_getres),
        "gettimeofday" => Stands::Call(libc::SYS_gettimeofday),
        #[cfg(target_arch = "x86_64")]
        "time" => Stands::Call(libc::SYS_time),
        "getrandom" => Stands::Missing,
        _ => return None,
    })
}

/// Machine code that stands in a function's place.
#[cfg(target_arch = "x86_64")]
fn code(stands: &Stands) -> Vec<u8> {
    match stands {
        // mov eax, number; syscall; ret
        Stands::Call(number) => {
            let mut code = vec![0xb8];
            code.extend((*number as u32).to_le_bytes());
            code.extend([0x0f, 0x05, 0xc3]);
            code
        }
        // mov rax, -ENOSYS; ret
        Stands::Missing => {
            let mut code = vec![0x48, 0xc7, 0xc0];
            code.extend((-libc::ENOSYS).to_le_bytes());
            code.push(0xc3);
            code
        }
    }
}

/// Machine code for x86-64 or arm64 that makes the call and returns.
#[cfg(target_arch = "aarch64")]
fn code(stands: &Stands) -> Vec<u8> {
    const RET: u32 = 0xd65f_03c0;
    let words = match stands {
        // mov x8, number; svc 0; ret
        Stands::Call(number) => [0xd280_0008 | (*number as u32) << 5, 0xd400_0001, RET],
        // mov x0, -ENOSYS; ret; ret
        Stands::Missing => [0x9280_0000 | (libc::ENOSYS as u32 - 1) << 5, RET, RET],
    };
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Where a line of `/proc/PID/maps` has the vDSO: a mapping of that name and of no file. None: the
/// line has something else.
fn place(line: &str) -> Option<(u64, u64)> {
    let words: Vec<_> = line.split_whitespace().collect();
    let [range, _, _, "00:00", "0", "[vdso]"] = words[..] else {
        return None;
    };
    let (from, to) = range.split_once('-')?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    Some((number(from)?, number(to)?))
}

/// Replaces the functions in a process that has not used them yet.
pub(super) fn replace(pid: u32) -> io::Result<()> {
    let wrong = |what: &str| io::Error::other(format!("the kernel's vDSO: {what}"));
    let mut lines = lines_of_maps(pid).ok_or_else(|| wrong("no mappings"))?;
    let Some((from, to)) = lines.find_map(|line| place(&line)) else {
        return Ok(()); // it has none
    };
    if to.saturating_sub(from) > LARGEST {
        return Err(wrong("it is too large"));
    }
    let memory = memory_of(pid)?;
    let mut image = vec![0; (to - from) as usize];
    memory.read_exact_at(&mut image, from)?;
    let file = object::File::parse(&*image).map_err(|_| wrong("no ELF image"))?;
    let mut replaced = 0;
    for symbol in file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition())
    {
        let Some(stands) = symbol.name().ok().and_then(stands_for) else {
            continue;
        };
        if symbol.size() < SHORTEST {
            return Err(wrong("a function that is too short"));
        }
        memory.write_all_at(&code(&stands), from + symbol.address())?;
        replaced += u32::from(matches!(stands, Stands::Call(_)));
    }
    match replaced {
        0 => Err(wrong("no clock in it")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    /// Goal: a file that is called so, of any size, is no vDSO.
    #[test]
    fn only_the_kernel_s_own_mapping_is_taken() {
        let own = "7ffd1000-7ffd3000 r-xp 00000000 00:00 0                          [vdso]";
        assert_eq!(place(own), Some((0x7ffd_1000, 0x7ffd_3000)));
        for other in [
            "10000000-80010000000 r--p 00000000 fd:01 77 /tmp/x[vdso]",
            "10000000-80010000000 r--p 00000000 fd:01 77 [vdso]",
            "10000000-10001000 r--p 00000000 00:00 0 [vvar]",
            "10000000-10001000 r--p 00000000 00:00 0",
        ] {
            assert_eq!(place(other), None, "{other}");
        }
    }
}
