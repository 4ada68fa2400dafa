//! CPU time of `mem`, `memrun` and `iorun`. rt-app measures nothing of these, and no machine here
//! states its caches: every figure below is assumed, for reasons in docs/decisions/023. Part of the
//! time scales with the CPU (work), part waits for what has its own clock (stall).
//!
//! Called by `rtapp/steps.rs` and `models/sysbench_memory.rs`. Costs are ps per byte or hop, work
//! and stall apart; scripts have ns. A change of a figure moves results (CHANGELOG.md).
//!
//! What must stay: the figures, as docs/decisions/023 gives their reasons; a call takes its time,
//! however few bytes it has; work and stall of one event are apart. Free: what leaves scripts as
//! they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test
//! quotes. Tests by part: `a_hop_costs_by_what_the_buffer_fits_into` (`chase`, `level`),
//! `bytes_in_order_cost_by_what_is_touched` (`stream`), `a_call_takes_its_time` (`called`, `mem`),
//! `writes_are_system_calls_and_copies` (`iorun`), `memory_is_bound_to_nodes` (`memrun`, `events`),
//! sysbench_memory.rs::`the_scope_says_whose_the_block_is` (the user outside this folder),
//! `writes_are_system_calls_and_copies` (`times`), `the_scope_says_whose_the_block_is`
//! (`from_last_level_cache`); `run` and `stall` below are the tests' own.
//!
//! Tests: below, crates/workload/tests/all/rtapp_events.rs,
//! crates/workload/src/models/sysbench_memory.rs
use super::structure::{Access, MemRun};
use crate::script::Event;

/// Memory of one kind: what fits into it, and what an access costs.
struct Level {
    /// Up to so many bytes in use.
    bytes: u64,
    /// A pointer that leads anywhere: work and stall, ps.
    hop_ps: (u64, u64),
    /// One of bytes read or written in order, ps.
    byte_ps: (u64, u64),
}

/// The nearest that holds a buffer answers for all of it.
const LEVELS: [Level; 4] = [
    // 4 cycles of 3 GHz; 64 GB/s.
    Level {
        bytes: 32 << 10,
        hop_ps: (1_300, 0),
        byte_ps: (16, 0),
    },
    // 14 cycles; 32 GB/s.
    Level {
        bytes: 512 << 10,
        hop_ps: (4_700, 0),
        byte_ps: (32, 0),
    },
    // 15 ns; 20 GB/s. It has a clock of its own.
    Level {
        bytes: 8 << 20,
        hop_ps: (1_300, 13_700),
        byte_ps: (16, 34),
    },
    // 90 ns; 10 GB/s.
    Level {
        bytes: u64::MAX,
        hop_ps: (1_300, 88_700),
        byte_ps: (16, 84),
    },
];

/// A cache line, bytes: what one hop brings in.
const LINE: u64 = 64;

/// Prefetchers do not look beyond a page, bytes.
const PAGE: u64 = 4096;

/// A system call that does nothing, work in ps.
const SYSCALL_PS: u64 = 200_000;

/// A call to memset, or to the loop of `memrun`, for however few bytes or hops: work in ps.
const CALL_PS: u64 = 20_000;

/// Finding or making a page of the page cache and marking it dirty, work in ps.
const CACHE_PAGE_PS: u64 = 500_000;

/// Work and stall, ps.
type Cost = (u64, u64);

/// The level of memory that holds a buffer of so many bytes.
fn level(bytes_in_use: u64) -> &'static Level {
    let fits = |level: &&Level| bytes_in_use <= level.bytes;
    LEVELS.iter().find(fits).unwrap_or(&LEVELS[3])
}

/// So often the cost; what is too large is the largest.
fn times((work, stall): Cost, count: u64) -> Cost {
    (work.saturating_mul(count), stall.saturating_mul(count))
}

/// `count` bytes in order over a buffer of that size.
fn stream(count: u64, buffer: u64) -> Cost {
    times(level(count.min(buffer)).byte_ps, count)
}

/// So many hops in a buffer of pointers, which is cut to a power of two of strides.
fn chase(count: u64, buffer: u64, stride: u64, random: bool) -> Cost {
    let pointers = match buffer / stride {
        0 => 1,
        whole => 1 << whole.ilog2(),
    };
    let brought = stride.min(LINE);
    let level = level(pointers * brought);
    if random || stride >= PAGE {
        return times(level.hop_ps, count);
    }
    // The next line is on its way: what is left is that of the first level, and the transfer.
    let (work, _) = LEVELS[0].hop_ps;
    times((work, level.byte_ps.1 * brought), count)
}

/// So many calls take at least their time, with what they wait.
fn called((work, stall): Cost, calls: u64) -> Cost {
    let least = calls.saturating_mul(CALL_PS).saturating_sub(stall);
    (work.max(least), stall)
}

/// The steps of `mem`: bytes are cleared, the buffer over and over, a call each time.
pub(super) fn mem(count: u64, buffer: u64) -> Vec<Event> {
    let calls = count.div_ceil(buffer.max(1));
    events(called(stream(count, buffer), calls))
}

/// The steps of `memrun`; its numbers must be above 0, its count 0 or more.
pub(super) fn memrun(run: &MemRun) -> Vec<Event> {
    let number = |value: i32| u64::try_from(value).unwrap_or(0);
    let (count, size) = (number(run.count), number(run.size));
    let cost = match run.access {
        Access::Read | Access::Write => stream(count, size),
        Access::Chase => chase(count, size, number(run.stride).max(1), run.random),
    };
    events(called(cost, count.min(1)))
}

/// The steps of `iorun`: one write per buffer. The null device looks at no byte; anything else is
/// taken for a file, whose pages the kernel fills, read and written once.
pub(super) fn iorun(count: u64, buffer: u64, device: &str) -> Vec<Event> {
    let (mut work, mut stall) = times((SYSCALL_PS, 0), count.div_ceil(buffer.max(1)));
    if !matches!(device, "/dev/null" | "/dev/zero") {
        let read = stream(count, buffer);
        let written = times(LEVELS[3].byte_ps, count);
        let pages = times((CACHE_PAGE_PS, 0), count.div_ceil(PAGE));
        work += read.0 + written.0 + pages.0;
        stall += read.1 + written.1;
    }
    events((work, stall))
}

/// The steps of going over so many bytes in order that are in the last-level cache.
pub(crate) fn from_last_level_cache(bytes: u64) -> Vec<Event> {
    events(times(LEVELS[2].byte_ps, bytes))
}

/// Work first, then stall; without either a step that takes no time.
fn events((work_ps, stall_ps): Cost) -> Vec<Event> {
    let (work_ns, cpu_ns) = (work_ps.div_ceil(1000), stall_ps.div_ceil(1000));
    let mut events = Vec::with_capacity(2);
    if work_ns > 0 || cpu_ns == 0 {
        events.push(Event::Run { work_ns });
    }
    if cpu_ns > 0 {
        events.push(Event::Stall { cpu_ns });
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(work_ns: u64) -> Event {
        Event::Run { work_ns }
    }

    fn stall(cpu_ns: u64) -> Event {
        Event::Stall { cpu_ns }
    }

    /// 1,000,000 hops at the figures of docs/decisions/023, by the size of what is touched.
    #[test]
    fn a_hop_costs_by_what_the_buffer_fits_into() {
        let hops = |size, stride, random| {
            memrun(&MemRun {
                access: Access::Chase,
                size,
                count: 1_000_000,
                stride,
                random,
                reference: String::new(),
            })
        };
        assert_eq!(hops(32 << 10, 64, true), [run(1_300_000)]);
        assert_eq!(hops(512 << 10, 64, true), [run(4_700_000)]);
        // Cut to 8192 strides, 512 KiB.
        assert_eq!(hops((1 << 20) - 1, 64, true), [run(4_700_000)]);
        assert_eq!(hops(1 << 20, 64, true), [run(1_300_000), stall(13_700_000)]);
        assert_eq!(
            hops(16 << 20, 64, true),
            [run(1_300_000), stall(88_700_000)]
        );
        // 1024 pointers of 16 KiB: 64 KiB of lines, in the second level.
        assert_eq!(hops(16 << 20, 16 << 10, true), [run(4_700_000)]);
        // Prefetched: a line at 84 ps per byte, 64 of them.
        assert_eq!(
            hops(16 << 20, 64, false),
            [run(1_300_000), stall(5_376_000)]
        );
        // 4096 pointers a page apart are 256 KiB, and no prefetcher follows.
        assert_eq!(hops(16 << 20, 4096, false), [run(4_700_000)]);
        // A stride above the buffer: one pointer.
        assert_eq!(hops(64, 128, false), [run(1_300_000)]);
    }

    #[test]
    fn bytes_in_order_cost_by_what_is_touched() {
        assert_eq!(mem(10_000, 4 << 20), [run(160)]);
        // 1 MiB of 4: third level, 1048576 x (16 + 34) ps.
        assert_eq!(mem(1 << 20, 4 << 20), [run(16_778), stall(35_652)]);
        // 64 MiB over a buffer of 16 KiB stay in the first level.
        assert_eq!(mem(64 << 20, 16 << 10), [run(1_073_742)]);
        assert_eq!(mem(0, 4 << 20), [run(0)]);
    }

    /// 20 ns a call (docs/decisions/023), however little there is to do.
    #[test]
    fn a_call_takes_its_time() {
        assert_eq!(mem(1, 4 << 20), [run(20)]);
        assert_eq!(mem(1_000, 4 << 20), [run(20)]);
        // Ten buffers of 64 bytes: ten calls, 640 bytes at 16 ps are 10.24 ns.
        assert_eq!(mem(640, 64), [run(200)]);
        let call = |access, size, count| {
            memrun(&MemRun {
                access,
                size,
                count,
                stride: 64,
                random: true,
                reference: String::new(),
            })
        };
        assert_eq!(call(Access::Read, 4096, 1), [run(20)]);
        assert_eq!(call(Access::Chase, 4096, 10), [run(20)]);
        assert_eq!(call(Access::Chase, 4096, 100), [run(130)]);
        assert_eq!(call(Access::Write, 4096, 0), [run(0)]);
        // A hop to memory waits longer than that.
        assert_eq!(call(Access::Chase, 16 << 20, 1), [run(2), stall(89)]);
    }

    #[test]
    fn writes_are_system_calls_and_copies() {
        // Three buffers and one byte: four calls of 200 ns.
        assert_eq!(iorun(3 * 4096 + 1, 4096, "/dev/null"), [run(800)]);
        assert_eq!(iorun(0, 4096, "/dev/null"), [run(0)]);
        // One page: 200 ns + 500 ns + 4096 x (16 read + 16 written) ps; stall 4096 x 84 ps.
        assert_eq!(iorun(4096, 4096, "/srv/f"), [run(832), stall(345)]);
    }
}
