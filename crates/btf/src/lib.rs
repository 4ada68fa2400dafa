//! Type information: BTF as the kernel and compilers write it (Documentation/bpf/btf.rst)
//! (docs/guide/schedulers.md, "What its programs see").
//!
//! Hostile bytes are refused or read as nothing; no method panics on what `parse` has let in.
//!
//! What must stay: numbers and offsets as BTF counts them; depth and lengths are bounded.
//!
//! Tests by part: crates/bpf-vm/tests/all/hostile.rs: `types_are_read` (`parse`, `walk`, `index`,
//! `find`, `field`, `size`), `structs_within_structs_are_refused` (`size_within`, `field`,
//! `member`: depth), `long_names_are_none` (`name`, `string`), `changed_types_are_refused_or_read`
//! (all of it, also `members`, `array`, `params`, `enumerator`, `enumerator_of`, on changed bytes:
//! nothing panics). crates/host/tests/probe.rs tries functions and tags (`target`, `end`).
//! crates/cli/tests/all/schedulers.rs::`calls_answer_as_a_kernel_does` reads a kernel's structures
//! (`field`, `bare`, `enumerator`). `own`, `first`, `tail`, `info`, `vlen`, `kind`, `field_word`,
//! `size_or_type`, `all_names` and `word` are what each of these reads by.
//!
//! Callers: crates/bpf-vm, crates/foreign/src/kernel/layout.rs, crates/host/src/btf.rs.
//!
//! Tests: crates/bpf-vm/tests/all, crates/host/src/btf.rs

use std::sync::Arc;

const MAGIC: u16 = 0xeb9f;
/// More types than any kernel has; the largest seen has 200,000.
const MAX_TYPES: usize = 4 << 20;
/// Bytes of a name with the final zero (`KSYM_NAME_LEN`); a longer one is none.
const MAX_NAME: usize = 512;
/// Types within types, arrays within structs: deeper is a circle.
const MAX_DEPTH: usize = 32;
/// Members that one search looks at. Structs in structs multiply: 100 in each of eight are 10^16.
pub const MAX_STEPS: usize = 64 << 10;

/// The kind of a type, `BTF_KIND_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "names of the format")]
pub enum Kind {
    Void,
    Int,
    Ptr,
    Array,
    Struct,
    Union,
    Enum,
    Fwd,
    Typedef,
    Volatile,
    Const,
    Restrict,
    Func,
    FuncProto,
    Var,
    DataSec,
    Float,
    DeclTag,
    TypeTag,
    Enum64,
}

impl Kind {
    const ALL: [Self; 20] = [
        Self::Void,
        Self::Int,
        Self::Ptr,
        Self::Array,
        Self::Struct,
        Self::Union,
        Self::Enum,
        Self::Fwd,
        Self::Typedef,
        Self::Volatile,
        Self::Const,
        Self::Restrict,
        Self::Func,
        Self::FuncProto,
        Self::Var,
        Self::DataSec,
        Self::Float,
        Self::DeclTag,
        Self::TypeTag,
        Self::Enum64,
    ];

    /// Bytes after the common part.
    fn tail(self, vlen: usize) -> usize {
        match self {
            Self::Int | Self::Var | Self::DeclTag => 4,
            Self::Array => 12,
            Self::Struct | Self::Union | Self::DataSec | Self::Enum64 => 12 * vlen,
            Self::Enum | Self::FuncProto => 8 * vlen,
            _ => 0,
        }
    }
}

/// Why bytes are no type information.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no type information (BTF): {0}")]
pub struct BtfError(&'static str);

/// A member of a struct or union, or of a data section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Empty for an anonymous one.
    pub name: String,
    /// Its type.
    pub ty: u32,
    /// Offset, bits.
    pub bits: u32,
}

/// Where a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Offset in the outermost struct, bytes.
    pub offset: u64,
    /// Its size, bytes.
    pub size: u64,
    /// Its type without typedefs and qualifiers.
    pub ty: u32,
}

/// Types and their names.
#[derive(Debug)]
pub struct Btf {
    base: Option<Arc<Btf>>,
    bytes: Vec<u8>,
    /// Where each type of this blob begins.
    types: Vec<u32>,
    strings: (usize, usize),
    /// Numbers of its types that have names, by kind and name.
    by_name: Vec<u32>,
}

impl Btf {
    /// Reads a blob; `base`: the kernel's, if its numbers go on where the kernel's end.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(bytes: Vec<u8>, base: Option<Arc<Self>>) -> Result<Self, BtfError> {
        let word = |at: usize| word(&bytes, at);
        let start = bytes.first_chunk::<3>();
        if start.map(|b| u16::from_le_bytes([b[0], b[1]])) != Some(MAGIC) {
            return Err(BtfError("another magic number than 0xeb9f, little-endian"));
        }
        if start.is_some_and(|b| b[2] != 1) {
            return Err(BtfError("another version than 1"));
        }
        if bytes.len() > u32::MAX as usize {
            return Err(BtfError("more than 4 GiB"));
        }
        let cut = BtfError("it is cut short");
        let header = [4, 8, 12, 16, 20].map(|at| word(at).map(|word| word as usize));
        let [
            Some(length),
            Some(at),
            Some(types),
            Some(names),
            Some(bytes_of_names),
        ] = header
        else {
            return Err(cut);
        };
        let section = |at: usize, len: usize| {
            let from = length.checked_add(at)?;
            let to = from.checked_add(len)?;
            (to <= bytes.len()).then_some((from, to))
        };
        let (from, to) = section(at, types).ok_or_else(|| cut.clone())?;
        let strings = section(names, bytes_of_names).ok_or(cut)?;
        let types = Self::walk(&bytes, from, to)?;
        let mut btf = Self {
            base,
            bytes,
            types,
            strings,
            by_name: Vec::new(),
        };
        btf.index();
        Ok(btf)
    }

    /// Offsets of all types between two places; an error where one is cut short or unknown.
    fn walk(bytes: &[u8], from: usize, to: usize) -> Result<Vec<u32>, BtfError> {
        let mut types = Vec::new();
        let mut at = from;
        while at < to {
            let info = word(bytes, at + 4).ok_or(BtfError("it is cut short"))?;
            let kind = Kind::ALL.get((info >> 24) as usize & 31);
            let kind = kind.ok_or(BtfError("a type of an unknown kind"))?;
            types.push(at as u32);
            at += 12 + kind.tail((info & 0xffff) as usize);
            if at > to || types.len() > MAX_TYPES {
                return Err(BtfError("its types are longer than it says"));
            }
        }
        Ok(types)
    }

    /// By kind and name, for `find`.
    fn index(&mut self) {
        let all = (self.first()..self.end()).map(|id| (self.kind(id), self.name(id), id));
        let mut named: Vec<_> = all.filter(|(_, name, _)| !name.is_empty()).collect();
        // The first of several comes first.
        named.sort_unstable();
        self.by_name = named.into_iter().map(|(_, _, id)| id).collect();
    }

    /// The first number of this blob's own types.
    fn first(&self) -> u32 {
        self.base.as_ref().map_or(1, |base| base.end())
    }

    /// One past the last number.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.first() + self.types.len() as u32
    }

    /// Where a type of this blob begins; None: it is the base's, or there is none.
    fn own(&self, id: u32) -> Option<usize> {
        let at = id.checked_sub(self.first())?;
        self.types.get(at as usize).map(|at| *at as usize)
    }

    /// A word of a type; 0 beyond its end.
    fn field_word(&self, id: u32, offset: usize) -> u32 {
        match (self.own(id), &self.base) {
            (Some(at), _) => word(&self.bytes, at + offset).unwrap_or(0),
            (None, Some(base)) => base.field_word(id, offset),
            (None, None) => 0,
        }
    }

    /// Kind, flag and count of members.
    fn info(&self, id: u32) -> u32 {
        self.field_word(id, 4)
    }

    /// How many members, parameters or values.
    fn vlen(&self, id: u32) -> usize {
        (self.info(id) & 0xffff) as usize
    }

    /// The kind of a type; `Void` for a number that there is not.
    #[must_use]
    pub fn kind(&self, id: u32) -> Kind {
        Kind::ALL[((self.info(id) >> 24) as usize & 31).min(19)]
    }

    /// Of this blob's or the base's table; nothing where it is cut short.
    fn string(&self, offset: u32) -> &str {
        let base = self.base.as_ref().map_or(0, |base| base.all_names());
        let Some(own) = (offset as usize).checked_sub(base) else {
            return self.base.as_ref().map_or("", |base| base.string(offset));
        };
        let (from, to) = self.strings;
        let bytes = self.bytes.get(from + own..to).unwrap_or_default();
        let bytes = &bytes[..bytes.len().min(MAX_NAME)];
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(0);
        std::str::from_utf8(&bytes[..end]).unwrap_or("")
    }

    /// Bytes of the tables of names, those of the base first: offsets count through.
    fn all_names(&self) -> usize {
        let below = self.base.as_ref().map_or(0, |base| base.all_names());
        below + self.strings.1 - self.strings.0
    }

    /// The name of a type, or nothing.
    #[must_use]
    pub fn name(&self, id: u32) -> &str {
        self.string(self.field_word(id, 0))
    }

    /// Its size field or the type that it points to, by kind.
    fn size_or_type(&self, id: u32) -> u32 {
        self.field_word(id, 8)
    }

    /// What a pointer, typedef or qualifier stands for; of a function, its prototype.
    #[must_use]
    pub fn target(&self, id: u32) -> u32 {
        self.size_or_type(id)
    }

    /// Without typedefs, qualifiers and tags.
    #[must_use]
    pub fn bare(&self, mut id: u32) -> u32 {
        for _ in 0..MAX_DEPTH {
            match self.kind(id) {
                Kind::Typedef | Kind::Volatile | Kind::Const | Kind::Restrict | Kind::TypeTag => {
                    id = self.size_or_type(id)
                }
                _ => break,
            }
        }
        id
    }

    /// The first of this kind and name. None: there is none.
    #[must_use]
    pub fn find(&self, kind: Kind, name: &str) -> Option<u32> {
        let below = self.base.as_ref().and_then(|base| base.find(kind, name));
        below.or_else(|| {
            let key = |id: &u32| (self.kind(*id), self.name(*id));
            let at = self.by_name.partition_point(|id| key(id) < (kind, name));
            let found = self.by_name.get(at)?;
            (key(found) == (kind, name)).then_some(*found)
        })
    }

    /// Bytes that a value takes.
    #[must_use]
    pub fn size(&self, id: u32) -> u64 {
        self.size_within(id, 0)
    }

    /// Bytes of a type; 0: unknown, or nested too deep.
    fn size_within(&self, id: u32, depth: usize) -> u64 {
        let id = self.bare(id);
        if depth > MAX_DEPTH {
            return 0;
        }
        match self.kind(id) {
            Kind::Ptr => 8,
            Kind::Array => {
                let one = self.size_within(self.field_word(id, 12), depth + 1);
                one.saturating_mul(u64::from(self.field_word(id, 20)))
            }
            Kind::Int
            | Kind::Struct
            | Kind::Union
            | Kind::Enum
            | Kind::Enum64
            | Kind::Float
            | Kind::DataSec => u64::from(self.size_or_type(id)),
            Kind::Var => self.size_within(self.size_or_type(id), depth + 1),
            _ => 0,
        }
    }

    /// Members of a struct or union, or variables of a data section.
    #[must_use]
    pub fn members(&self, id: u32) -> Vec<Member> {
        let section = self.kind(id) == Kind::DataSec;
        if !section && !matches!(self.kind(id), Kind::Struct | Kind::Union) {
            return Vec::new();
        }
        let has_widths = self.info(id) >> 31 == 1;
        let one = |at: usize| {
            let at = 12 + 12 * at;
            let [a, b, c] = [0, 4, 8].map(|offset| self.field_word(id, at + offset));
            match section {
                true => Member {
                    name: self.name(a).to_owned(),
                    ty: a,
                    bits: b.saturating_mul(8),
                },
                false => Member {
                    name: self.string(a).to_owned(),
                    ty: b,
                    bits: if has_widths { c & 0xff_ffff } else { c },
                },
            }
        };
        (0..self.vlen(id)).map(one).collect()
    }

    /// Element type and count of an array.
    #[must_use]
    pub fn array(&self, id: u32) -> (u32, u32) {
        (self.field_word(id, 12), self.field_word(id, 20))
    }

    /// Types of a prototype's parameters.
    #[must_use]
    pub fn params(&self, prototype: u32) -> Vec<u32> {
        let one = |at: usize| self.field_word(prototype, 12 + 8 * at + 4);
        (0..self.vlen(prototype)).map(one).collect()
    }

    /// The value of an enumerator, looked for in all enums. None: no enum has it.
    #[must_use]
    pub fn enumerator(&self, name: &str) -> Option<u64> {
        let below = self.base.as_ref().and_then(|base| base.enumerator(name));
        below.or_else(|| (self.first()..self.end()).find_map(|id| self.enumerator_of(id, name)))
    }

    /// The value of a name of an enum. None: the enum does not have it.
    fn enumerator_of(&self, id: u32, name: &str) -> Option<u64> {
        let (step, wide) = match self.kind(id) {
            Kind::Enum => (8, false),
            Kind::Enum64 => (12, true),
            _ => return None,
        };
        let mut all = (0..self.vlen(id)).map(|at| 12 + step * at);
        let at = all.find(|at| self.string(self.field_word(id, *at)) == name)?;
        let low = u64::from(self.field_word(id, at + 4));
        let high = if wide {
            u64::from(self.field_word(id, at + 8))
        } else {
            0
        };
        Some(low | high << 32)
    }

    /// A field by its path, as `scx.dsq_vtime`; members of anonymous structs are found. None: the
    /// type has no such field.
    #[must_use]
    pub fn field(&self, of: u32, path: &str) -> Option<Field> {
        let mut found = Field {
            offset: 0,
            size: self.size(of),
            ty: self.bare(of),
        };
        let mut steps = 0;
        for name in path.split('.') {
            let (offset, ty) = self.member(found.ty, name, 0, &mut steps)?;
            found = Field {
                offset: found.offset + offset,
                size: self.size(ty),
                ty: self.bare(ty),
            };
        }
        Some(found)
    }

    /// `steps`: members that the search has looked at. None: it is not there, or too deep.
    fn member(&self, of: u32, name: &str, depth: usize, steps: &mut usize) -> Option<(u64, u32)> {
        if depth > MAX_DEPTH || *steps > MAX_STEPS {
            return None;
        }
        let members = self.members(of);
        *steps += members.len();
        for member in members {
            let offset = u64::from(member.bits / 8);
            if member.name == name {
                return Some((offset, member.ty));
            }
            if member.name.is_empty()
                && let Some((inner, ty)) = self.member(self.bare(member.ty), name, depth + 1, steps)
            {
                return Some((offset + inner, ty));
            }
        }
        None
    }
}

/// Little-endian; None: not all of it is there.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*word))
}
