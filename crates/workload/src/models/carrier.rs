//! What a channel is made of in the kernel: how many cache lines go with a message
//! (docs/decisions/060).
//!
//! Called by models that send messages; the engine charges lines only on machines with
//! `[transfer]`. A count is a fact of the kernel, not a setting.
//!
//! What must stay: the counts, as docs/decisions/060 derives them from the kernel's structures;
//! without `[transfer]` they change nothing. Free: what leaves scripts as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: handover.rs::`a_round_trip_moves_lines_by_the_closest_level` (what lines cost),
//! handover.rs::`a_unit_that_was_kept_brings_its_lines` (a unit that waited). No test of its own:
//! each carrier's count in `lines`.
//!
//! Tests: crates/engine/tests/behaviour/handover.rs

/// What carries a message from one task to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// A futex, or a parent's wait queue.
    Word,
    Pipe,
    Unix,
    Tcp,
    Udp,
}

impl Carrier {
    /// Lines of 64 bytes that the sender writes and the receiver reads and writes. Counted in Linux
    /// 7.3.4 (docs/decisions/060); one byte of payload.
    pub(crate) fn lines(self) -> u32 {
        match self {
            Self::Word => 1,
            // include/linux/pipe_fs_i.h: mutex and wait queues, head and tail, counters (3); the
            // slot of the ring, the page's descriptor, the data, the sleeper's entry, the inode.
            Self::Pipe => 8,
            // Socket (`SOCK`, 2 of unix_sock), message, data, sleeper.
            Self::Unix => SOCK + 2 + SKB + DATA + SLEEPER,
            // Socket (`SOCK`; tcp_sock_write_tx, _txrx and _rx of include/linux/tcp.h, at most 128
            // bytes each by net/ipv4/tcp.c tcp_struct_check), message, data, sleeper.
            Self::Tcp => SOCK + 6 + SKB + DATA + SLEEPER,
            // Socket (`SOCK`, 2 of udp_sock), message, data, sleeper.
            Self::Udp => SOCK + 2 + SKB + DATA + SLEEPER,
        }
    }
}

/// include/net/sock.h: sock_write_rx (2), sock_write_rxtx, sock_write_tx (2).
const SOCK: u32 = 5;
/// include/linux/skbuff.h: sk_buff.
const SKB: u32 = 4;
/// Headers and payload, skb_shared_info.
const DATA: u32 = 2;
/// The head of the wait queue (socket_wq), the sleeper's entry.
const SLEEPER: u32 = 2;
