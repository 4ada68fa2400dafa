//! Bytes from anywhere: refused, or harmless.
//! Page: docs/internals/checks.md.
//!
//! What must stay: no bytes panic, leave the machine's memory or take without end; bytes follow
//! from the seed. Free: numbers of rounds and seeds; more kinds of bytes.
//! Tests by part (in crates/bpf-vm/src): map/special.rs: `structs_within_structs_are_refused`
//! (`special_fields`, `collect`), `changed_types_are_refused_or_read` (bytes from anywhere); the
//! reader of names: `long_names_are_none`; insn.rs: `any_bytes_are_refused_or_run` (`check`,
//! `decode`); program.rs: `any_bytes_are_refused_or_run` (`link`); the reader of types:
//! `types_are_read`.
//! Helpers, and who fails with them: `types` (`structs_within_structs_are_refused`,
//! `types_are_read`, `changed_types_are_refused_or_read`); `blob`
//! (`structs_within_structs_are_refused`, `types_are_read`, `long_names_are_none`,
//! `changed_types_are_refused_or_read`).

use crate::small::{Helpers, Random, machine};
use wakeplace_bpf_vm::{Btf, Insn, Program, map};

/// A blob of types: an int, a struct of it and a pointer to the struct.
fn types() -> Vec<u8> {
    let strings = b"\0int\0thing\0a\0next\0";
    let words: [u32; 17] = [
        // int, 4 bytes
        1,
        1 << 24,
        4,
        32, //
        // struct thing { int a; struct thing *next; }
        5,
        (4 << 24) | 2,
        16,
        11,
        1,
        0,
        13,
        3,
        64, //
        // a pointer to it
        0,
        2 << 24,
        2, //
        0,
    ];
    blob(&words[..16], strings)
}

/// Header, types, strings.
fn blob(types: &[u32], strings: &[u8]) -> Vec<u8> {
    let types: Vec<u8> = types.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut blob = vec![0x9f, 0xeb, 1, 0];
    let length = types.len() as u32;
    for word in [24, 0, length, length, strings.len() as u32] {
        blob.extend(word.to_le_bytes());
    }
    blob.extend(types);
    blob.extend(strings);
    blob
}

/// Goal: structs that multiply in structs end the search, they do not lengthen it.
#[test]
fn structs_within_structs_are_refused() {
    const STRUCTS: u32 = 9;
    const MEMBERS: u32 = 100;
    let mut words = Vec::new();
    for at in 1..=STRUCTS {
        words.extend([0, (4 << 24) | MEMBERS, 8]);
        for _ in 0..MEMBERS {
            // Without a name, of the next struct (the last one of itself), at 0.
            words.extend([0, (at + 1).min(STRUCTS), 0]);
        }
    }
    let btf = Btf::parse(blob(&words, b"\0"), None).expect("types");
    assert_eq!(map::special_fields(&btf, 1), None);
    assert_eq!(btf.field(1, "none"), None);
    let small = Btf::parse(types(), None).expect("types");
    assert_eq!(map::special_fields(&small, 2), Some(Vec::new()));
}

#[test]
fn types_are_read() {
    use wakeplace_bpf_vm::btf::Kind;
    let btf = Btf::parse(types(), None).expect("types");
    let thing = btf.find(Kind::Struct, "thing").expect("a struct");
    let next = btf.field(thing, "next").expect("a field");
    assert_eq!((next.offset, next.size), (8, 8));
    assert_eq!(btf.field(thing, "b"), None);
    assert_eq!(btf.size(thing), 16);
}

/// Goal: a name ends within 512 bytes (`KSYM_NAME_LEN`), or is none: types that share the ends of
/// one long name take no room for each.
#[test]
fn long_names_are_none() {
    let mut strings = vec![0];
    strings.extend([b'a'; 600]);
    strings.push(0);
    // Three integers, whose names begin at 1, 90 and 91: 600, 511 and 510 bytes long.
    let words: Vec<u32> = [1, 90, 91]
        .iter()
        .flat_map(|at| [*at, 1 << 24, 4, 32])
        .collect();
    let btf = Btf::parse(blob(&words, &strings), None).expect("types");
    assert_eq!([1, 2, 3].map(|id| btf.name(id).len()), [0, 511, 510]);
    let find = |bytes: usize| btf.find(wakeplace_bpf_vm::btf::Kind::Int, &"a".repeat(bytes));
    assert_eq!([600, 511, 510].map(find), [None, Some(2), Some(3)]);
}

/// Goal: no bytes make the reader of types panic or go in circles.
#[test]
fn changed_types_are_refused_or_read() {
    let whole = types();
    let mut random = Random(99);
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.next() as u8;
        }
        if random.below(4) == 0 {
            bytes.truncate(random.below(bytes.len() as u64) as usize);
        }
        let Ok(btf) = Btf::parse(bytes, None) else {
            continue;
        };
        for id in 0..btf.end() + 2 {
            let _ = (btf.name(id), btf.size(id), btf.members(id), btf.bare(id));
            let _ = (btf.field(id, "next.a"), btf.params(id), btf.array(id));
            let _ = map::special_fields(&btf, id);
        }
        let _ = btf.enumerator("a");
    }
}

/// Goal: any bytes are refused as a program, or run to an end in their own memory, compiled as
/// interpreted.
#[test]
fn any_bytes_are_refused_or_run() {
    let mut random = Random(7);
    let mut ran = 0;
    for _ in 0..6_000 {
        let count = 1 + random.below(6);
        let mut insns: Vec<Insn> = (0..count)
            .map(|_| {
                let mut bytes = random.next().to_le_bytes();
                bytes[0] = random.one_of(&[0xb7, 0x07, 0x7b, 0x79, 0x85, 0x15, 0xbf, bytes[0]]);
                bytes[1] &= 0x77;
                Insn::decode(bytes)
            })
            .collect();
        insns.push(crate::small::exit());
        if Program::link("any", insns.clone(), &mut Helpers).is_err() {
            continue;
        }
        ran += 1;
        let args = std::array::from_fn(|_| random.next());
        let interpreted = machine(&insns, false).run(&mut Helpers, 0, args);
        if ran % 20 == 0 {
            assert_eq!(
                interpreted,
                machine(&insns, true).run(&mut Helpers, 0, args)
            );
        }
    }
    assert!(ran > 100, "{ran}");
}
