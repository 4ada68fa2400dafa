//! A descriptor over a socket (`SCM_RIGHTS`, unix(7)). See docs/guide/schedulers.md, "What the
//! loader sees".
//!
//! What must stay: one byte and one descriptor per message: both ends are of this build, and the
//! message's form is the kernel's. Free: how the message's buffer is laid out in memory here.
//!
//! Tests by part: `virtual_time_does_not_depend_on_the_way` (`send`, `receive`, `message`; by
//! ptrace `message_at`, `descriptor_in`),
//! wall.rs::`results_and_traces_are_written_through_the_wall` (`receive` in a worker). `empty_part`
//! has no test of its own.
//!
//! Callers: crates/foreign/src/wire.rs, guard/spawn.rs, guard/way.rs, wall/keeper.rs (`send`,
//! `receive`), guard/trace.rs (`message_at`, `descriptor_in`).
//!
//! Tests: crates/cli/tests/all/interception.rs::virtual_time_does_not_depend_on_the_way,
//! crates/cli/tests/all/wall.rs

use super::checked;
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

/// Room for one descriptor in a control message, aligned.
#[repr(align(8))]
struct Control([u8; 64]);

/// One byte with room for one descriptor; `part` and `control` must live as long as the message.
fn message(byte: &mut u8, part: &mut libc::iovec, control: &mut Control) -> libc::msghdr {
    *part = libc::iovec {
        iov_base: (&raw mut *byte).cast::<c_void>(),
        iov_len: 1,
    };
    // SAFETY: all fields are numbers or pointers, for which zero is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = CONTROL_BYTES as _;
    message
}

/// A part that `message` fills in.
fn empty_part() -> libc::iovec {
    libc::iovec {
        iov_base: std::ptr::null_mut(),
        iov_len: 0,
    }
}

/// Sends a descriptor.
pub(crate) fn send(socket: RawFd, fd: RawFd) -> io::Result<()> {
    let (mut byte, mut part, mut control) = (0, empty_part(), Control([0; 64]));
    let message = message(&mut byte, &mut part, &mut control);
    // SAFETY: the message points to locals that live until it is sent.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(fd);
        checked(libc::sendmsg(socket, &raw const message, 0) as libc::c_long)?;
    }
    Ok(())
}

/// Receives a descriptor.
pub(crate) fn receive(socket: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let (mut byte, mut part, mut control) = (0, empty_part(), Control([0; 64]));
    let mut message = message(&mut byte, &mut part, &mut control);
    // SAFETY: as in `send`; the descriptor is ours once it has arrived.
    unsafe {
        let flags = libc::MSG_CMSG_CLOEXEC;
        checked(libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) as libc::c_long)?;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() {
            return Err(io::Error::other("no descriptor arrived"));
        }
        let fd = libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned();
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// `struct msghdr`, `struct iovec`, the byte that is sent, and the control message: a header of 16
/// bytes and the descriptor, all in words of 64 bits.
const HEADER_BYTES: u64 = 56;
const PART_BYTES: u64 = 16;
const CONTROL_BYTES: u64 = 24;
const CONTROL_AT: u64 = HEADER_BYTES + PART_BYTES + 8;

/// The message as another process has it in its memory at this address, with a descriptor of its
/// own.
pub(super) fn message_at(at: u64, fd: u32) -> Vec<u8> {
    let part_at = at + HEADER_BYTES;
    let rights = (libc::SOL_SOCKET as u64) | (libc::SCM_RIGHTS as u64) << 32;
    let header = [0, 0, part_at, 1, at + CONTROL_AT, CONTROL_BYTES, 0];
    let part = [part_at + PART_BYTES, 1, 0];
    let control = [CONTROL_BYTES - 4, rights, u64::from(fd)];
    let words = header.iter().chain(&part).chain(&control);
    words.flat_map(|word| word.to_le_bytes()).collect()
}

/// The descriptor in such a message, if it has one.
pub(super) fn descriptor_in(message: &[u8]) -> Option<u32> {
    let word = |at: u64| {
        let word = message.get(at as usize..)?.first_chunk();
        word.map(|word| u32::from_le_bytes(*word))
    };
    // `msg_controllen`: what has arrived.
    let arrived = word(40)? >= CONTROL_BYTES as u32 - 4;
    word(CONTROL_AT + 16).filter(|_| arrived)
}
