//! Fields of a map's values that belong to the kernel: an update leaves them as they are.

use crate::btf::{Btf, Kind};
use std::ops::Range;

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

/// Byte ranges of the special fields of a type.
#[must_use]
pub fn special_fields(btf: &Btf, ty: u32) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    collect(btf, ty, 0, 0, &mut found);
    found
}

fn collect(btf: &Btf, ty: u32, at: u64, depth: usize, found: &mut Vec<Range<u64>>) {
    let ty = btf.bare(ty);
    if depth > MAX_DEPTH || found.len() > MAX_FIELDS {
        return;
    }
    match btf.kind(ty) {
        Kind::Struct | Kind::Union if STRUCTS.contains(&btf.name(ty)) => {
            found.push(at..at + btf.size(ty));
        }
        Kind::Struct | Kind::Union => {
            for member in btf.members(ty) {
                collect(
                    btf,
                    member.ty,
                    at + u64::from(member.bits / 8),
                    depth + 1,
                    found,
                );
            }
        }
        Kind::Array => {
            let (element, count) = btf.array(ty);
            let size = btf.size(element);
            for index in 0..u64::from(count).min(MAX_FIELDS as u64) {
                let before = found.len();
                collect(btf, element, at + index * size, depth + 1, found);
                if found.len() == before {
                    break;
                }
            }
        }
        Kind::Ptr => {
            let to = btf.target(ty);
            if btf.kind(to) == Kind::TypeTag && TAGS.contains(&btf.name(to)) {
                found.push(at..at + 8);
            }
        }
        _ => {}
    }
}
