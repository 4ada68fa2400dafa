//! A loader with a loop of its own, for tests of `--scheduler`: its second argument says what it
//! does once it has attached. What it has seen is its last line.
//!
//! `watch` says what it has waited for, in ms (`socket`, `timer`, `record` and `busy` are its
//! steps; `get`, `put` and `clock_ns` serve them), as
//! crates/cli/tests/all/schedulers.rs::`a_loader_runs_in_virtual_time` has it
//! (docs/rules/sched-ext.md#loader): times are sums of what stands here. The other words are for
//! `runs_with_a_loader_beside_them_are_the_same` ("for-ever"), `what_a_loader_must_not_do_is_named`
//! ("spin", "start", "read"), interception.rs::`a_loader_may_close_all_descriptors` ("closes"),
//! wall.rs::`a_process_that_shares_maps_is_refused` ("shares").
//!
//! What must stay: the words, the order of waits, and the last line: change them with that test.

use libbpf_rs::{Map, MapCore as _, MapFlags, MapType, ObjectBuilder, RingBufferBuilder};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let [_, path, what] = std::env::args()
        .collect::<Vec<_>>()
        .try_into()
        .expect("two arguments");
    if what == "closes" {
        // As a program does that wants to begin with nothing open.
        // SAFETY: nothing was opened yet.
        let closed = unsafe { libc::close_range(3, u32::MAX, 0) };
        assert_eq!(closed, 0);
    }
    let open = ObjectBuilder::default().open_file(path).expect("an object");
    let mut object = open.load().expect("loaded");
    if what == "shares" {
        // It has the maps open as its parent has.
        // A daemon: its parent ends at once.
        // SAFETY: this process has one thread; its children end or wait only.
        if unsafe { libc::fork() } == 0 {
            if unsafe { libc::fork() } != 0 {
                unsafe { libc::_exit(0) };
            }
            loop {
                thread::sleep(Duration::from_secs(1));
            }
        }
    }
    #[allow(clippy::disallowed_methods, reason = "this is what is tested")]
    let began = Instant::now();
    let _link = {
        let mut maps = object.maps_mut();
        let table = maps.find(|map| map.map_type() == MapType::StructOps);
        table
            .expect("a table")
            .attach_struct_ops()
            .expect("attached")
    };
    let told = object
        .maps()
        .find(|map| map.name() == "told")
        .expect("a map");
    match what.as_str() {
        "watch" => {
            let records = object.maps().find(|map| map.name() == "records");
            watch(began, &told, &records.expect("a ring buffer"));
            return ExitCode::from(7);
        }
        "for-ever" | "closes" | "shares" => loop {
            thread::sleep(Duration::from_millis(10));
            put(&told, get(&told, 1));
        },
        "spin" => while began.elapsed() < Duration::from_millis(1) {},
        "start" => {
            let _ = std::process::Command::new("/bin/true").status();
            thread::sleep(Duration::from_millis(1));
        }
        "read" => {
            let _ = std::fs::read("/proc/loadavg");
            thread::sleep(Duration::from_millis(1));
        }
        other => panic!("{other}"),
    }
    ExitCode::SUCCESS
}

fn get(map: &Map<'_>, key: u32) -> u64 {
    let value = map.lookup(&key.to_ne_bytes(), MapFlags::ANY);
    let value = value.expect("looked up").expect("a value");
    u64::from_ne_bytes(value.try_into().expect("eight bytes"))
}

fn put(map: &Map<'_>, value: u64) {
    let written = map.update(&0_u32.to_ne_bytes(), &value.to_ne_bytes(), MapFlags::ANY);
    written.expect("written");
}

/// Waits in all ways; each step says how many ms have passed.
fn watch(began: Instant, told: &Map<'_>, records: &Map<'_>) {
    let mut line = String::from("seen:");
    let mut note = |what: &str, value: u64| write!(line, " {what} {value}").expect("written");
    let now = || began.elapsed().as_millis() as u64;
    thread::sleep(Duration::from_millis(10));
    note("slept", now());
    // A thread sends at 15, 25, 35 ms; nothing comes after that.
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        for number in 0..3 {
            sender.send(number).expect("sent");
            thread::sleep(Duration::from_millis(10));
        }
    });
    while receiver.recv_timeout(Duration::from_millis(20)).is_ok() {
        note("received", now());
    }
    worker.join().expect("joined");
    note("joined", now());
    // Nobody signals.
    let pair = Arc::new((Mutex::new(()), Condvar::new()));
    let guard = pair.0.lock().expect("locked");
    drop(pair.1.wait_timeout(guard, Duration::from_millis(5)));
    note("timeout", now());
    socket(&mut note, &now);
    timer(&mut note, &now);
    // The scheduler sees what is written at once, and its programs have the same clock.
    note("wakeups", u64::from(get(told, 1) > 0));
    put(told, 1);
    let at_ns = clock_ns();
    let late_ns = record(records);
    let seen_ns = get(told, 2);
    note("late", late_ns);
    note(
        "within",
        u64::from((at_ns..at_ns + 50_000_000).contains(&seen_ns)),
    );
    note("busy", busy());
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A thread waits for a byte that comes 10 ms later.
fn socket(note: &mut impl FnMut(&str, u64), now: &impl Fn() -> u64) {
    let (mut ours, mut theirs) = UnixStream::pair().expect("a pair");
    let reader = thread::spawn(move || {
        let mut byte = [0];
        theirs.read_exact(&mut byte).expect("read");
        byte[0]
    });
    thread::sleep(Duration::from_millis(10));
    ours.write_all(&[1]).expect("written");
    assert_eq!(reader.join().expect("joined"), 1);
    note("read", now());
}

/// A timer that expires every 15 ms is looked at after 50 ms, then waited for.
fn timer(note: &mut impl FnMut(&str, u64), now: &impl Fn() -> u64) {
    let time = |ms: i64| libc::timespec {
        tv_sec: 0,
        tv_nsec: ms * 1_000_000,
    };
    let set = libc::itimerspec {
        it_interval: time(15),
        it_value: time(15),
    };
    // SAFETY: plain system calls; the structure lives until they return.
    let timer = unsafe {
        let fd = libc::timerfd_create(libc::CLOCK_MONOTONIC, 0);
        assert!(fd >= 0);
        assert_eq!(
            libc::timerfd_settime(fd, 0, &raw const set, std::ptr::null_mut()),
            0
        );
        OwnedFd::from_raw_fd(fd)
    };
    thread::sleep(Duration::from_millis(50));
    let mut file = std::fs::File::from(timer.try_clone().expect("a copy"));
    let mut count = [0; 8];
    file.read_exact(&mut count).expect("read");
    note("expired", u64::from_ne_bytes(count));
    let mut poll = libc::pollfd {
        fd: timer.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one descriptor, which lives.
    assert_eq!(unsafe { libc::poll(&raw mut poll, 1, 1) }, 0);
    note("nothing", now());
    // SAFETY: as above.
    assert_eq!(unsafe { libc::poll(&raw mut poll, 1, 100) }, 1);
    note("expires", now());
}

/// Waits for the scheduler's record, the time at which it was written. So late it came, ns.
fn record(records: &Map<'_>) -> u64 {
    let late_ns = std::cell::Cell::new(u64::MAX);
    let mut builder = RingBufferBuilder::new();
    let taken = |bytes: &[u8]| {
        let at_ns = u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        late_ns.set(clock_ns() - at_ns);
        0
    };
    builder.add(records, taken).expect("a ring buffer");
    let ring = builder.build().expect("a ring buffer");
    ring.poll(Duration::from_millis(50)).expect("polled");
    drop(ring);
    late_ns.get()
}

fn clock_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the structure is as large as the call fills.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Was one of the machine's CPUs busy, and none of them all the time?
fn busy() -> u64 {
    let text = std::fs::read_to_string("/proc/stat").expect("read");
    let first = text.lines().next().expect("a line");
    let mut words = first
        .split_whitespace()
        .skip(1)
        .map(|word| word.parse::<u64>());
    let mut next = || words.next().expect("a number").expect("a number");
    let (user, idle) = (next(), [next(), next(), next()][2]);
    u64::from(user > 0 && idle > user)
}
