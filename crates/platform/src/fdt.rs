//! Flattened device trees: read into nodes, edited, written back. Devicetree Specification v0.4,
//! chapter 5; all numbers are big-endian. A damaged tree is an error, never a panic
//! (docs/guide/import.md, "What is read").
//!
//! Called by imports and by the lab, which gives guests a changed tree.
//!
//! What must stay: the layout of what is written is the specification's, as a kernel reads it; the
//! order of properties and nodes is kept. Sizes and depth are bounded, as a tree may come from
//! anybody. Free: what leaves each file's machine as it is (ARCHITECTURE.md, "What a change may
//! touch"), and words of messages that no test quotes. Tests by part:
//! `a_tree_survives_the_round_trip` (`read`, `write`, `free_phandle`),
//! `names_of_properties_are_written_once` (`string_at`), `a_damaged_tree_is_refused` (`Reader`),
//! hostile.rs::`damaged_device_trees` (every byte),
//! devicetree.rs::`an_import_of_the_tree_has_the_platforms_figures` (`set_flag`, `child_mut`).
//! Reading and setting single properties (`prop`, `u32`, `u64`, `cells`, `texts`, `set`, `set_u32`,
//! `set_u64`, `set_text`, `child`): the imports' tests, which build their trees by these. Parts of
//! the reader and writer (`text`, `node`, `skip_nops`, `bad`, `pad`, `push_u32`, `length`,
//! `max_phandle`, `new`): the three below. `sample` is the tests' own.
//!
//! Tests: below, crates/platform/tests/all/import/hostile.rs, crates/lab/src/devicetree.rs

const MAGIC: u32 = 0xd00d_feed;
const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROP: u32 = 3;
const NOP: u32 = 4;
const END: u32 = 9;
/// The version that is written, and the oldest that can read it.
const VERSION: (u32, u32) = (17, 16);
const HEADER_BYTES: usize = 40;
/// Deeper trees are refused.
const MAX_DEPTH: usize = 64;
/// Longest name, bytes; the specification's limit is 31 for nodes and properties, vendors have
/// longer ones.
const MAX_NAME_BYTES: usize = 256;

/// The bytes are no device tree; why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no device tree: {0}")]
pub struct FdtError(pub &'static str);

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Name with unit address.
    pub name: String,
    /// Properties in order.
    pub props: Vec<(String, Vec<u8>)>,
    /// Nodes below, in order.
    pub children: Vec<Node>,
}

/// A tree with what stands around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The node without a name.
    pub root: Node,
    /// Reserved memory, address and size.
    reserved: Vec<(u64, u64)>,
    boot_cpu: u32,
}

impl Node {
    /// A node without properties.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// A property's bytes.
    pub fn prop(&self, name: &str) -> Option<&[u8]> {
        let found = self.props.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| &value[..])
    }

    /// A property of one number.
    #[must_use]
    pub fn u32(&self, name: &str) -> Option<u32> {
        self.prop(name)?.try_into().ok().map(u32::from_be_bytes)
    }

    /// A property of numbers; empty where it is not there or holds none.
    #[must_use]
    pub fn cells(&self, name: &str) -> Vec<u32> {
        let words = self.prop(name).unwrap_or_default().chunks_exact(4);
        let cell = |word: &[u8]| u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
        words.map(cell).collect()
    }

    /// The first number of 64 bits of a property.
    #[must_use]
    pub fn u64(&self, name: &str) -> Option<u64> {
        let word = self.prop(name)?.first_chunk::<8>()?;
        Some(u64::from_be_bytes(*word))
    }

    /// The texts of a property.
    #[must_use]
    pub fn texts(&self, name: &str) -> Vec<&str> {
        let parts = self.prop(name).unwrap_or_default().split(|byte| *byte == 0);
        let texts = parts.filter_map(|part| std::str::from_utf8(part).ok());
        texts.filter(|text| !text.is_empty()).collect()
    }

    /// Sets a property.
    pub fn set(&mut self, name: &str, value: Vec<u8>) {
        match self.props.iter_mut().find(|(own, _)| own == name) {
            Some((_, old)) => *old = value,
            None => self.props.push((name.to_owned(), value)),
        }
    }

    /// Sets a property of numbers.
    pub fn set_u32(&mut self, name: &str, values: &[u32]) {
        self.set(
            name,
            values
                .iter()
                .flat_map(|value| value.to_be_bytes())
                .collect(),
        );
    }

    /// Sets a property of one 64-bit number.
    pub fn set_u64(&mut self, name: &str, value: u64) {
        self.set(name, value.to_be_bytes().to_vec());
    }

    /// Sets a property of text.
    pub fn set_text(&mut self, name: &str, text: &str) {
        self.set(name, [text.as_bytes(), &[0]].concat());
    }

    /// Sets a property that is true by being there.
    pub fn set_flag(&mut self, name: &str) {
        self.set(name, Vec::new());
    }

    /// The node below with this name.
    #[must_use]
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The node below with this name, to change it.
    pub fn child_mut(&mut self, name: &str) -> Option<&mut Self> {
        self.children.iter_mut().find(|child| child.name == name)
    }

    /// The largest handle in this node and below.
    fn max_phandle(&self) -> u32 {
        let own = self.u32("phandle").unwrap_or(0);
        let below = self.children.iter().map(Self::max_phandle);
        below.max().unwrap_or(0).max(own)
    }

    /// The node with its properties and all below it; `strings` collects the properties' names.
    fn write(&self, out: &mut Vec<u8>, strings: &mut Vec<u8>) {
        push_u32(out, BEGIN_NODE);
        out.extend(self.name.as_bytes());
        out.push(0);
        pad(out);
        for (name, value) in &self.props {
            push_u32(out, PROP);
            push_u32(out, length(value));
            push_u32(out, string_at(strings, name));
            out.extend(value);
            pad(out);
        }
        for child in &self.children {
            child.write(out, strings);
        }
        push_u32(out, END_NODE);
    }
}

impl Tree {
    /// A tree of this root, with nothing around it.
    #[must_use]
    pub fn new(root: Node) -> Self {
        Self {
            root,
            reserved: Vec::new(),
            boot_cpu: 0,
        }
    }

    /// Reads a tree.
    ///
    /// # Errors
    /// When the bytes are none.
    pub fn read(bytes: &[u8]) -> Result<Self, FdtError> {
        let reader = Reader { bytes };
        if reader.u32(0)? != MAGIC || reader.u32(24)? > VERSION.1 {
            return Err(bad("no header of version 17"));
        }
        let at = |field| reader.u32(field).map(|value| value as usize);
        let mut reserved = Vec::new();
        let mut next = at(16)?;
        loop {
            let pair = (reader.u64(next)?, reader.u64(next + 8)?);
            if pair == (0, 0) {
                break;
            }
            reserved.push(pair);
            next += 16;
        }
        let mut place = at(8)?;
        reader.skip_nops(&mut place)?;
        if reader.u32(place)? != BEGIN_NODE {
            return Err(bad("no root node"));
        }
        place += 4;
        let root = reader.node(&mut place, at(12)?, 0)?;
        Ok(Self {
            root,
            reserved,
            boot_cpu: reader.u32(28)?,
        })
    }

    /// Writes it.
    pub fn write(&self) -> Vec<u8> {
        let mut structure = Vec::new();
        let mut strings = Vec::new();
        self.root.write(&mut structure, &mut strings);
        push_u32(&mut structure, END);
        let reserved_at = HEADER_BYTES;
        let structure_at = reserved_at + (self.reserved.len() + 1) * 16;
        let strings_at = structure_at + structure.len();
        let mut out = Vec::new();
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        for field in [
            MAGIC,
            number(strings_at + strings.len()),
            number(structure_at),
            number(strings_at),
            number(reserved_at),
            VERSION.0,
            VERSION.1,
            self.boot_cpu,
            length(&strings),
            length(&structure),
        ] {
            push_u32(&mut out, field);
        }
        for (address, size) in self.reserved.iter().chain([&(0, 0)]) {
            out.extend(address.to_be_bytes());
            out.extend(size.to_be_bytes());
        }
        out.extend(structure);
        out.extend(strings);
        out
    }

    /// A handle that no node has, and those after it.
    pub fn free_phandle(&self) -> u32 {
        self.root.max_phandle() + 1
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    /// The number at a byte offset of the file.
    fn u32(&self, at: usize) -> Result<u32, FdtError> {
        let word = self
            .bytes
            .get(at..)
            .and_then(|rest| rest.first_chunk::<4>());
        word.map(|word| u32::from_be_bytes(*word))
            .ok_or_else(|| bad("cut short"))
    }

    /// The number of 64 bits there.
    fn u64(&self, at: usize) -> Result<u64, FdtError> {
        Ok(u64::from(self.u32(at)?) << 32 | u64::from(self.u32(at + 4)?))
    }

    /// The text there up to its NUL, of bounded length.
    fn text(&self, at: usize) -> Result<String, FdtError> {
        let rest = self.bytes.get(at..).ok_or_else(|| bad("cut short"))?;
        let rest = &rest[..rest.len().min(MAX_NAME_BYTES + 1)];
        let end = rest
            .iter()
            .position(|byte| *byte == 0)
            .ok_or_else(|| bad("cut short, or a name without an end"))?;
        match std::str::from_utf8(&rest[..end]) {
            Ok(name) => Ok(name.to_owned()),
            Err(_) => Err(bad("a name that is no text")),
        }
    }

    /// Passes over words that say nothing.
    fn skip_nops(&self, place: &mut usize) -> Result<(), FdtError> {
        while self.u32(*place)? == NOP {
            *place += 4;
        }
        Ok(())
    }

    /// A node from behind its BEGIN_NODE.
    fn node(&self, place: &mut usize, strings: usize, depth: usize) -> Result<Node, FdtError> {
        if depth > MAX_DEPTH {
            return Err(bad("too many levels"));
        }
        let mut node = Node::new(self.text(*place)?);
        *place = (*place + node.name.len() + 1).next_multiple_of(4);
        loop {
            self.skip_nops(place)?;
            let token = self.u32(*place)?;
            *place += 4;
            match token {
                BEGIN_NODE => node.children.push(self.node(place, strings, depth + 1)?),
                END_NODE => return Ok(node),
                PROP => {
                    let size = self.u32(*place)? as usize;
                    let name = self.text(strings + self.u32(*place + 4)? as usize)?;
                    let value = self.bytes.get(*place + 8..*place + 8 + size);
                    node.props
                        .push((name, value.ok_or_else(|| bad("cut short"))?.to_vec()));
                    *place = (*place + 8 + size).next_multiple_of(4);
                }
                _ => return Err(bad("an unknown token")),
            }
        }
    }
}

/// The bytes are no tree, for this reason.
fn bad(why: &'static str) -> FdtError {
    FdtError(why)
}

/// Appends a number.
fn push_u32(out: &mut Vec<u8>, value: u32) {
    out.extend(value.to_be_bytes());
}

/// Fills up to the next multiple of four bytes, as every token begins at one.
fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}

/// A length as the format has it; what is longer cannot be written.
fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// Where a name stands among the strings; added if it is new.
fn string_at(strings: &mut Vec<u8>, name: &str) -> u32 {
    let wanted = [name.as_bytes(), &[0]].concat();
    let starts = |at: &usize| *at == 0 || strings[at - 1] == 0;
    let found = (0..strings.len())
        .filter(starts)
        .find(|at| strings[*at..].starts_with(&wanted));
    let at = found.unwrap_or(strings.len());
    if found.is_none() {
        strings.extend(wanted);
    }
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small tree as a machine of two CPUs has it.
    fn sample() -> Tree {
        let mut root = Node::new("");
        root.set_text("compatible", "linux,dummy-virt");
        let mut cpus = Node::new("cpus");
        cpus.set_u32("#address-cells", &[1]);
        for number in 0..2 {
            let mut cpu = Node::new(format!("cpu@{number}"));
            cpu.set_u32("reg", &[number]);
            cpu.set_u32("phandle", &[0x8000 + number]);
            cpus.children.push(cpu);
        }
        root.children.push(cpus);
        let mut tree = Tree::new(root);
        tree.reserved.push((0x4000_0000, 0x1000));
        tree
    }

    #[test]
    fn a_tree_survives_the_round_trip() {
        let tree = sample();
        let bytes = tree.write();
        assert_eq!(Tree::read(&bytes).expect("a tree"), tree);
        // Total size, and the version that the specification's section 5.2 gives.
        assert_eq!(
            bytes[4..8],
            u32::try_from(bytes.len()).expect("small").to_be_bytes()
        );
        assert_eq!(bytes[20..24], 17_u32.to_be_bytes());
        assert_eq!(tree.free_phandle(), 0x8002);
    }

    #[test]
    fn names_of_properties_are_written_once() {
        let bytes = sample().write();
        let count = bytes
            .windows(8)
            .filter(|window| window == b"phandle\0")
            .count();
        assert_eq!(count, 1);
    }

    #[test]
    fn a_damaged_tree_is_refused() {
        let bytes = sample().write();
        for end in [0, 3, 39, 60, bytes.len() - 70] {
            assert!(Tree::read(&bytes[..end]).is_err(), "{end}");
        }
        let mut other = bytes.clone();
        other[0] = 0;
        assert!(Tree::read(&other).is_err());
    }
}
