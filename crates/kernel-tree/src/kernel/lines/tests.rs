//! Names of uses, with a small object of our own.
//!
//! What must stay: what is expected stands in the C text below, not in what came out. Free: words.
//!
//! Tests by part (in crates/kernel-tree/src/kernel): lines.rs and types.rs as a whole;
//! crates/kernel-abi/src/lines.rs `LineCost`.

use super::*;
use object::{Object as _, ObjectSymbol as _};
use std::process::Command;

/// A variable of a struct, a function that uses it, and one that asks for memory.
const TEXT: &str = "
struct average { unsigned long load, util; };
struct queue { int owner; char pad[60]; struct average avg; struct { int deep[4]; } inner; };
struct group { long load_avg; char more[192]; };
struct queue queues;
void *ask(unsigned long size);
struct group *make(void) { struct group *made = ask(sizeof(*made)); return made; }
unsigned long look(void) { return queues.avg.util; }
";

/// A use of one place by one instruction that cost `ns`.
fn used(address: u64, site: u64, offset: u64, code: u64, ns: u64) -> RawUse {
    RawUse {
        address,
        site,
        name: std::ptr::null(),
        size: 200,
        offset,
        code,
        per_cpu: 0,
        several: 0,
        transfers: 2,
        writes: 1,
        far: 1,
        cost_ps: ns * 1000,
        wait_ps: 500,
        lock_ps: 0,
    }
}

/// Goal: what cost something has the names of the program's own text: `util` is the second word of
/// `avg`, which begins at byte 64 of `queues`; `make` asks for 200 bytes, as `struct group` has.
#[test]
fn uses_are_named_and_added_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, built) = (folder.path().join("a.c"), folder.path().join("a.so"));
    std::fs::write(&source, TEXT).expect("written");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut compile = Command::new(compiler);
    compile.args(["-g", "-O1", "-shared", "-fPIC", "-o"]);
    let status = compile.arg(&built).arg(&source).status().expect("runs");
    assert!(status.success());
    let bytes = std::fs::read(&built).expect("read");
    let file = object::File::parse(&bytes[..]).expect("an object");
    let address = |name: &str| {
        let found = file.symbols().find(|symbol| symbol.name() == Ok(name));
        found.expect(name).address()
    };
    let (queues, look, make) = (address("queues"), address("look"), address("make"));
    let uses = [
        (used(queues + 72, 0, 0, look + 1, 100), None),
        (used(queues + 72, 0, 0, look + 2, 50), None),
        (used(0, make + 1, 0, look + 1, 400), None),
        (used(0, 0, 88, look + 1, 10), Some("queue".to_owned())),
        (used(0, 0, 8, look + 1, 5), Some("names-256".to_owned())),
    ];
    let rows = named(&built, &uses);
    let shown: Vec<_> = rows
        .iter()
        .map(|row| (&*row.object, row.line, &*row.field, &*row.function))
        .collect();
    let line = (queues % 64 + 72) / 64 * 64;
    assert_eq!(
        shown,
        [
            ("struct group", 0, "load_avg", "look"),
            ("queues", line, "avg.util", "look"),
            ("struct queue", 64, "inner.deep[]", "look"),
            ("names-256", 0, "+8", "look"),
        ]
    );
    // Two uses of one field by one function: 100 + 50 ns and twice 0.5 ns of waits.
    assert_eq!((rows[1].transfers, rows[1].writes, rows[1].far), (4, 2, 2));
    assert_eq!(rows[1].total_ps(), 151_000);
}

/// Goal: an object without debug information is no error, and nothing is lost.
#[test]
fn what_has_no_name_has_its_number() {
    let rows = named(Path::new("/none"), &[(used(0x1048, 0, 0, 0x20, 7), None)]);
    assert_eq!((&*rows[0].object, &*rows[0].field), ("0x1040", "+8"));
    assert_eq!((&*rows[0].function, rows[0].total_ps()), ("0x20", 7_500));
}
