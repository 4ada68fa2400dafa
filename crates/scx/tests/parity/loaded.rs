// SPDX-License-Identifier: GPL-2.0-only
//! The object that the live scheduler loads beside the one that the parity test runs: callbacks of
//! sched_ext cannot be run by BPF_PROG_TEST_RUN, so that the core in both must be the same code.
//! (Functions that the compiler makes part of their callers have no code of their own to compare:
//! of these the source alone is the same.)
//!
//! What must stay: the code that is loaded is that which is compared: a function that differs is a
//! failure. `called_live` is used by tally.rs. Free: how code is compared, if nothing is left out.
//! Tests by part: `the_core_that_is_loaded_is_the_core_that_is_tested` (the object of the live
//! scheduler).
//! Helpers, and who fails with them: `open`, `is_core`, `name_of`, `references`, `functions`,
//! `declared`, `called_live`, `reached` (`the_core_that_is_loaded_is_the_core_that_is_tested`).
//! Page: docs/internals/checks.md; docs/decisions/011.

use object::elf::FileHeader64;
use object::read::elf::{ElfFile, ElfSection64, ElfSymbol64};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, RelocationTarget, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};

type Elf = ElfFile<'static, FileHeader64<Endianness>>;

/// Files of 8-byte words, for the reader.
#[repr(align(8))]
struct Aligned<T: ?Sized>(T);

static LOADED: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/main.bpf.o")));
static TESTED: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(
    env!("OUT_DIR"),
    "/parity_live.bpf.o"
)));

/// The machine code of a function, and what it refers to at which offset.
#[derive(Debug, Default, PartialEq, Eq)]
struct Code {
    bytes: Vec<u8>,
    refers: Vec<(u64, String)>,
}

fn open(file: &'static Aligned<[u8]>) -> Elf {
    Elf::parse(&file.0).expect("clang writes ELF files")
}

fn is_core(function: &str) -> bool {
    function.starts_with("wp_")
}

fn name_of(elf: &Elf, symbol: &ElfSymbol64<'_, '_>) -> String {
    let section = symbol.section_index().map(|at| elf.section_by_index(at));
    let name = match (symbol.kind(), section) {
        (SymbolKind::Section, Some(Ok(section))) => section.name().map(str::to_owned),
        _ => symbol.name().map(str::to_owned),
    };
    name.expect("names are text")
}

/// Offset and name of what is referred to.
fn references(elf: &Elf, section: &ElfSection64<'_, '_>) -> Vec<(u64, String)> {
    let target = |target| match target {
        RelocationTarget::Symbol(at) => {
            let symbol = elf.symbol_by_index(at).expect("of this file");
            name_of(elf, &symbol)
        }
        other => panic!("a reference to {other:?}"),
    };
    let list = section.relocations();
    list.map(|(at, reference)| (at, target(reference.target())))
        .collect()
}

/// The functions of an object by name.
fn functions(elf: &Elf) -> BTreeMap<String, Code> {
    let mut found = BTreeMap::new();
    for section in elf.sections() {
        let refers = references(elf, &section);
        let here = elf.symbols().filter(|symbol| {
            symbol.kind() == SymbolKind::Text && symbol.section_index() == Some(section.index())
        });
        for symbol in here.filter(|symbol| symbol.size() > 0) {
            let (from, size) = (symbol.address(), symbol.size());
            let within = refers
                .iter()
                .filter(|(at, _)| (from..from + size).contains(at));
            let bytes = section.data_range(from, size).expect("of this file");
            let code = Code {
                bytes: bytes.expect("within its section").to_vec(),
                refers: within.map(|(at, name)| (at - from, name.clone())).collect(),
            };
            found.insert(name_of(elf, &symbol), code);
        }
    }
    found
}

/// The headers of the rooms whose functions are in both builds. What only the native one holds is
/// declared behind `NATIVE`.
const HEADERS: [&str; 10] = [
    include_str!("../../policy/include/wakeplace/balance.h"),
    include_str!("../../policy/include/wakeplace/energy.h"),
    include_str!("../../policy/include/wakeplace/frequency.h"),
    include_str!("../../policy/include/wakeplace/live_group.h"),
    include_str!("../../policy/include/wakeplace/live_queue.h"),
    include_str!("../../policy/include/wakeplace/load_tracking.h"),
    include_str!("../../policy/include/wakeplace/packing.h"),
    include_str!("../../policy/include/wakeplace/placement.h"),
    include_str!("../../policy/include/wakeplace/runqueue.h"),
    include_str!("../../policy/include/wakeplace/topology.h"),
];
const NATIVE: &str = "/* Natively only: the live build does not hold what follows. */";

/// The entry points that they declare, without `wp_`.
pub(crate) fn declared() -> Vec<&'static str> {
    let both = HEADERS.map(|header| header.split(NATIVE).next().unwrap_or_default());
    let declared = both.into_iter().flat_map(str::lines).filter_map(|line| {
        let (result, rest) = line.split_once(" wp_")?;
        let (name, _) = rest.split_once('(')?;
        let result = result.trim_start_matches("WP_SMALL_FN ");
        ["int", "u32", "u64", "s32", "s64"]
            .contains(&result)
            .then_some(name)
    });
    declared.collect()
}

/// Those of them that the callbacks of the live scheduler call. By the text: small functions are
/// part of their callers in the object.
pub(crate) fn called_live() -> BTreeSet<&'static str> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bpf");
    let files = std::fs::read_dir(folder).expect("the kernel side");
    let paths = files.map(|file| file.expect("a file of the kernel side").path());
    let glue = paths.filter(|path| !path.ends_with("parity.bpf.c"));
    let glue = glue.map(|path| std::fs::read_to_string(path).expect("a text"));
    let glue: String = glue.collect();
    let called = |name: &&str| glue.contains(&format!("wp_{name}("));
    declared().into_iter().filter(called).collect()
}

/// Functions of the core that something of the live scheduler's own leads to. The rest runs
/// natively only, before the load (sched domains), and the kernel drops it.
fn reached(functions: &BTreeMap<String, Code>) -> BTreeSet<String> {
    let mut open: Vec<&str> = functions.keys().map(String::as_str).collect();
    open.retain(|name| !is_core(name));
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        for (_, to) in functions.get(name).map_or(&[][..], |code| &code.refers) {
            if is_core(to) && functions.contains_key(to) && found.insert(to.clone()) {
                open.push(to);
            }
        }
    }
    found
}

#[test]
fn the_core_that_is_loaded_is_the_core_that_is_tested() {
    let (loaded, tested) = (open(LOADED), open(TESTED));
    let constants = |elf: &Elf| {
        let section = elf.section_by_name(".rodata").expect("the core has tables");
        section.data().expect("of this file").to_vec()
    };
    assert!(!constants(&tested).is_empty(), "the core has tables");
    assert!(
        constants(&loaded).starts_with(&constants(&tested)),
        "the tables of the core differ"
    );
    let (loaded, tested) = (functions(&loaded), functions(&tested));
    let names = |of: &BTreeMap<String, Code>| -> Vec<String> {
        of.keys().filter(|name| is_core(name)).cloned().collect()
    };
    assert!(
        !names(&tested).is_empty(),
        "no function of the core is in the objects"
    );
    assert_eq!(names(&loaded), names(&tested));
    let differs = |name: &&String| loaded[*name] != tested[*name];
    let core = reached(&loaded);
    assert!(
        core.contains("wp_select_task_rq_fair"),
        "placement is not reached"
    );
    let differ: Vec<_> = core.iter().filter(differs).collect();
    assert!(
        differ.is_empty(),
        "main.bpf.o and parity_live.bpf.o have other code for {differ:?}"
    );
    let bytes: usize = core.iter().map(|name| tested[name].bytes.len()).sum();
    crate::kernel::say(&format!(
        "parity: main.bpf.o has the same code as parity_live.bpf.o for the {} functions of the \
         core that the live scheduler leads to, {bytes} bytes; it calls {} entry points",
        core.len(),
        called_live().len()
    ));
}
