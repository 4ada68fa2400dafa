//! Reads which sched_ext functions a kernel offers to BPF programs, from its type information.
//!
//! Since 7.1 a function is usable only if it carries the `bpf_kfunc` declaration tag, and some
//! distribution kernels lack tags at random: whether a scheduler can load is written here, before
//! anything is loaded.

use std::collections::BTreeSet;

/// Type information that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BtfError {
    /// It does not begin as little-endian BTF version 1 does.
    #[error("not little-endian BTF version 1")]
    NotBtf,
    /// It ends in the middle of something.
    #[error("cut short at byte {0}")]
    CutShort(usize),
    /// A kind of type that this reader does not know the size of.
    #[error("unknown kind {kind} of type {id}")]
    UnknownKind {
        /// The type's number.
        id: u32,
        /// Its kind.
        kind: u32,
    },
}

/// The functions of sched_ext that a kernel offers: `scx_bpf_*` and the iterator of its queues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kfuncs {
    /// Those that carry the tag.
    pub tagged: BTreeSet<String>,
    /// Those that do not; from 7.1 on a program that calls one of them does not load.
    pub untagged: BTreeSet<String>,
    /// How many tags of this sort there are in all; none means that tags were not written at all.
    pub tags: usize,
}

const MAGIC: u16 = 0xeb9f;
const KIND_FUNC: u32 = 12;
const KIND_DECL_TAG: u32 = 17;

impl Kfuncs {
    /// Reads raw BTF, as in `/sys/kernel/btf/vmlinux`.
    ///
    /// # Errors
    /// When the bytes are no BTF that this reader understands.
    pub fn from_btf(data: &[u8]) -> Result<Self, BtfError> {
        let header = Header::read(data)?;
        let mut functions: Vec<(u32, String)> = Vec::new();
        let mut tagged_types = BTreeSet::new();
        let mut at = header.types.0;
        let mut id = 1;
        while at < header.types.1 {
            let (name_at, info, target) = (u32_at(data, at)?, u32_at(data, at + 4)?, at + 8);
            let kind = (info >> 24) & 0x1f;
            if kind == KIND_FUNC {
                let name = header.name(data, name_at)?;
                // `foo_impl` is the body behind `foo`, never what a program names.
                if is_sched_ext(name) && !name.ends_with("_impl") {
                    functions.push((id, name.to_owned()));
                }
            } else if kind == KIND_DECL_TAG && header.name(data, name_at)? == "bpf_kfunc" {
                tagged_types.insert(u32_at(data, target)?);
            }
            at += 12 + tail_len(id, kind, info & 0xffff)?;
            id += 1;
        }
        let mut kfuncs = Self {
            tags: tagged_types.len(),
            ..Self::default()
        };
        for (id, name) in functions {
            let set = if tagged_types.contains(&id) {
                &mut kfuncs.tagged
            } else {
                &mut kfuncs.untagged
            };
            set.insert(name);
        }
        Ok(kfuncs)
    }
}

fn is_sched_ext(function: &str) -> bool {
    let prefixes = ["scx_bpf_", "__scx_bpf_", "bpf_iter_scx_"];
    prefixes.iter().any(|prefix| function.starts_with(prefix))
}

/// Where the two sections of a BTF blob stand.
struct Header {
    /// First byte of the types, and the byte after the last.
    types: (usize, usize),
    /// The same for the strings.
    strings: (usize, usize),
}

impl Header {
    fn read(data: &[u8]) -> Result<Self, BtfError> {
        let start = data.first_chunk::<4>().ok_or(BtfError::NotBtf)?;
        if u16::from_le_bytes([start[0], start[1]]) != MAGIC || start[2] != 1 {
            return Err(BtfError::NotBtf);
        }
        let word = |at| u32_at(data, at).map(|value| value as usize);
        let base = word(4)?;
        let section = |offset: usize, len: usize| (base + offset, base + offset + len);
        let header = Self {
            types: section(word(8)?, word(12)?),
            strings: section(word(16)?, word(20)?),
        };
        if header.types.1.max(header.strings.1) > data.len() {
            return Err(BtfError::CutShort(data.len()));
        }
        Ok(header)
    }

    fn name<'a>(&self, data: &'a [u8], offset: u32) -> Result<&'a str, BtfError> {
        let start = self.strings.0 + offset as usize;
        let rest = data
            .get(start..self.strings.1)
            .ok_or(BtfError::CutShort(start))?;
        let len = rest
            .iter()
            .position(|&b| b == 0)
            .ok_or(BtfError::CutShort(start))?;
        Ok(std::str::from_utf8(&rest[..len]).unwrap_or(""))
    }
}

fn u32_at(data: &[u8], at: usize) -> Result<u32, BtfError> {
    let bytes = data.get(at..).and_then(|rest| rest.first_chunk::<4>());
    bytes
        .map(|b| u32::from_le_bytes(*b))
        .ok_or(BtfError::CutShort(at))
}

/// Bytes that follow the three words every type begins with (Documentation/bpf/btf.rst).
fn tail_len(id: u32, kind: u32, members: u32) -> Result<usize, BtfError> {
    let each = members as usize;
    match kind {
        2 | 7..=12 | 16 | 18 => Ok(0), // pointers, qualifiers, functions, floats
        1 | 14 | 17 => Ok(4),          // integers, variables, declaration tags
        3 => Ok(12),                   // arrays
        6 | 13 => Ok(8 * each),        // enums, function prototypes
        4 | 5 | 15 | 19 => Ok(12 * each), // structs, unions, data sections, 64-bit enums
        _ => Err(BtfError::UnknownKind { id, kind }),
    }
}
