//! Helpers on strings.
//!
//! What must stay: bytes and lengths as the kernel's helpers give them, with the final zero counted
//! where they count it. Free: how a format is read; more conversions may be offered. Tests by part:
//! `a_program_gives_what_a_kernel_gives` (`compare`, `format`, `formatted` with `%llu` and `%x`).
//! `copy`, other conversions and widths have no test of their own. Caller: mod.rs (`call`).
//!
//! Tests: crates/cli/tests/all/syscall_programs.rs::a_program_gives_what_a_kernel_gives

use super::{EFAULT, MAX_COPY};
use crate::Fault;
use crate::map::EINVAL;
use crate::memory::Memory;
use crate::vm::Vm;

/// Longest string that a format makes or takes, bytes.
pub(super) const MAX_TEXT: u64 = 4096;

/// `bpf_probe_read_kernel_str`: bytes with the final zero.
pub(super) fn copy(vm: &mut Vm, to: u64, room: u64, from: u64, user: bool) -> Result<i64, Fault> {
    let room = room & 0xffff_ffff;
    if room == 0 {
        return Ok(0);
    }
    if room > MAX_COPY {
        return Err(Fault::WildStore { addr: to });
    }
    let readable = !user && vm.memory.bytes(from, 1).is_some();
    let mut text: Vec<u8> = Vec::new();
    while readable && (text.len() as u64) < room - 1 {
        match vm.memory.load(from.wrapping_add(text.len() as u64), 1) as u8 {
            0 => break,
            byte => text.push(byte),
        }
    }
    let into = vm.memory.bytes_mut(to, room)?;
    if !readable {
        into.fill(0);
        return Ok(EFAULT);
    }
    into[..text.len()].copy_from_slice(&text);
    into[text.len()] = 0;
    Ok(text.len() as i64 + 1)
}

/// `bpf_strncmp`: -1, 0 or 1 (`strncmp`, lib/string.c).
pub(super) fn compare(vm: &Vm, a: u64, room: u64, b: u64) -> i64 {
    for at in 0..room & 0xffff_ffff {
        let (x, y) = (
            vm.memory.load(a.wrapping_add(at), 1) as i64,
            vm.memory.load(b.wrapping_add(at), 1) as i64,
        );
        if x != y {
            return (x - y).signum();
        }
        if x == 0 || at > MAX_TEXT {
            break;
        }
    }
    0
}

/// `bpf_snprintf(str, size, fmt, data, data_len)`.
pub(super) fn format(vm: &mut Vm, args: [u64; 5]) -> Result<i64, Fault> {
    let [to, room, format, data, bytes] = args;
    let words = (0..(bytes & 0xffff_ffff) / 8).map(|at| vm.memory.u64(data.wrapping_add(8 * at)));
    let words: Vec<u64> = words.take(12).collect();
    let format = vm.memory.string(format, MAX_TEXT);
    let Some(text) = formatted(&vm.memory, &format, &words) else {
        return Ok(EINVAL);
    };
    let room = room & 0xffff_ffff;
    if room > 0 {
        let fits = (room - 1).min(text.len() as u64) as usize;
        let into = vm.memory.bytes_mut(to, fits as u64 + 1)?;
        into[..fits].copy_from_slice(&text.as_bytes()[..fits]);
        into[fits] = 0;
    }
    Ok(text.len() as i64 + 1)
}

/// A text by a format of the kernel's, as far as BPF has it (`bpf_bprintf_prepare`). None: the
/// format is bad.
#[must_use]
pub fn formatted(memory: &Memory, format: &str, words: &[u64]) -> Option<String> {
    let mut out = String::new();
    let mut words = words.iter().copied();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if rest.peek() == Some(&'%') {
            rest.next();
            out.push('%');
            continue;
        }
        let mut spec = String::new();
        while let Some(c) = rest.next_if(|c| "-+ #0123456789.lhz".contains(*c)) {
            spec.push(c);
        }
        let word = words.next()?;
        let wide = spec.contains('l') || spec.contains('z');
        let text = match rest.next()? {
            'd' | 'i' if wide => word.cast_signed().to_string(),
            'd' | 'i' => (word as u32).cast_signed().to_string(),
            'u' if wide => word.to_string(),
            'u' => (word as u32).to_string(),
            'x' if wide => format!("{word:x}"),
            'x' => format!("{:x}", word as u32),
            'X' if wide => format!("{word:X}"),
            'X' => format!("{:X}", word as u32),
            's' => memory.string(word, MAX_TEXT),
            'c' => char::from(word as u8).to_string(),
            'p' => {
                while rest.next_if(char::is_ascii_alphanumeric).is_some() {}
                format!("{word:#x}")
            }
            _ => return None,
        };
        let width = spec.trim_start_matches(|c: char| "-+ #".contains(c));
        let zero = width.starts_with('0') && !spec.starts_with('-');
        let width: String = width.chars().take_while(char::is_ascii_digit).collect();
        let width: usize = width.parse().unwrap_or(0).min(256);
        let pad = width.saturating_sub(text.len());
        let fill = if zero { "0" } else { " " }.repeat(pad);
        // Zeros come after the sign.
        let (sign, digits) = match text.strip_prefix('-').filter(|_| zero) {
            Some(digits) => ("-", digits),
            None => ("", text.as_str()),
        };
        out.push_str(&if spec.starts_with('-') {
            text + &fill
        } else {
            format!("{sign}{fill}{digits}")
        });
    }
    Some(out)
}
