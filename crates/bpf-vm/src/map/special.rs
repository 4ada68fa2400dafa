//! Fields of a map's values that belong to the kernel: an update leaves them as they are.
//!
//! What must stay: what kinds of fields the kernel owns is the kernel's list; offsets are bytes
//! within a value. Free: how a type is walked. Tests by part:
//! hostile.rs::`structs_within_structs_are_refused` (`special_fields`, `collect`),
//! hostile.rs::`changed_types_are_refused_or_read` (bytes from anywhere),
//! `values_with_fields_of_the_kernel_are_given_up` (what a map makes of them),
//! `runs_are_the_same_twice_and_interpreted` (real types). `TAGS` has no test of its own here.
//!
//! Tests: crates/bpf-vm/tests/all/hostile.rs,
//! crates/bpf-vm/tests/all/maps.rs::values_with_fields_of_the_kernel_are_given_up,
//! crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted

use std::ops::Range;
use wakeplace_btf::{Btf, Kind, MAX_STEPS};

/// Structs that are such fields (`btf_parse_fields`, kernel/bpf/btf.c).
const STRUCTS: [&str; 9] = [
    "bpf_timer",
    "bpf_wq",
    "bpf_task_work",
    "bpf_spin_lock",
    "bpf_res_spin_lock",
    "bpf_list_head",
    "bpf_list_node",
    "bpf_rb_root",
    "bpf_rb_node",
];
/// Tags of pointers that are.
const TAGS: [&str; 4] = ["kptr", "kptr_untrusted", "percpu_kptr", "uptr"];
/// Structs within structs.
const MAX_DEPTH: usize = 8;
/// Elements of arrays and fields that are looked at.
const MAX_FIELDS: usize = 4096;

/// A search: what was found, and how many types and members were looked at.
#[derive(Default)]
struct Search {
    found: Vec<Range<u64>>,
    steps: usize,
}

/// Byte ranges of the special fields of a type. None: it has more members than any map's value.
#[must_use]
pub fn special_fields(btf: &Btf, ty: u32) -> Option<Vec<Range<u64>>> {
    let mut search = Search::default();
    collect(btf, ty, 0, 0, &mut search);
    (search.steps <= MAX_STEPS).then_some(search.found)
}

/// Goes down a type, to a depth, and takes each field that is the kernel's.
fn collect(btf: &Btf, ty: u32, at: u64, depth: usize, search: &mut Search) {
    let ty = btf.bare(ty);
    search.steps += 1;
    if depth > MAX_DEPTH || search.found.len() > MAX_FIELDS || search.steps > MAX_STEPS {
        return;
    }
    match btf.kind(ty) {
        Kind::Struct | Kind::Union if STRUCTS.contains(&btf.name(ty)) => {
            search.found.push(at..at.saturating_add(btf.size(ty)));
        }
        Kind::Struct | Kind::Union => {
            let members = btf.members(ty);
            search.steps += members.len();
            for member in members {
                let at = at.saturating_add(u64::from(member.bits / 8));
                collect(btf, member.ty, at, depth + 1, search);
            }
        }
        Kind::Array => {
            let (element, count) = btf.array(ty);
            let size = btf.size(element);
            for index in 0..u64::from(count).min(MAX_FIELDS as u64) {
                let before = search.found.len();
                let at = at.saturating_add(size.saturating_mul(index));
                collect(btf, element, at, depth + 1, search);
                if search.found.len() == before {
                    break;
                }
            }
        }
        Kind::Ptr => {
            let to = btf.target(ty);
            if btf.kind(to) == Kind::TypeTag && TAGS.contains(&btf.name(to)) {
                search.found.push(at..at.saturating_add(8));
            }
        }
        _ => {}
    }
}
