//! What lies where in a kernel's memory, by the object's debug information: variables, structs with
//! their fields, functions with the types of their variables
//! (docs/rules/contended-lines.md#coherence).
//!
//! What must stay: an object without debug information has no names, and is no error. Free: how
//! types are found.
//!
//! Tests by part: lines/tests.rs (`Types::of`, `variable`, `field`, `named`, `asked_for`,
//! `function`: names of a small object of our own).
//!
//! Callers: kernel/lines.rs.
//!
//! Tests: crates/kernel-tree/src/kernel/lines/tests.rs

use gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, EndianSlice, LittleEndian, Operation, Unit,
    UnitOffset, constants as dw,
};
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};
use std::collections::BTreeMap;

type Reader<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = DebuggingInformationEntry<Reader<'a>>;

/// A type: its unit and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Type {
    unit: usize,
    at: UnitOffset,
}

/// A variable that lies at one place.
#[derive(Clone, Debug)]
struct Variable {
    address: u64,
    name: String,
    of: Option<Type>,
}

/// A function's code, and where its entry is.
#[derive(Clone, Debug)]
struct Function {
    begin: u64,
    end: u64,
    entry: Type,
}

/// All names of an object.
pub(super) struct Types<'a> {
    dwarf: Dwarf<Reader<'a>>,
    units: Vec<Unit<Reader<'a>>>,
    variables: Vec<Variable>,
    functions: Vec<Function>,
    /// Structs by name; of equal names the first.
    structs: BTreeMap<String, Type>,
    /// The names of functions, by the table of symbols.
    symbols: Vec<(u64, u64, String)>,
}

/// Types within types: deeper is a circle.
const MAX_DEPTH: usize = 16;

impl<'a> Types<'a> {
    /// Reads the bytes of an object. None: it is none, or its debug information cannot be read.
    pub(super) fn of(bytes: &'a [u8]) -> Option<Self> {
        let file: ElfFile64<'a, object::endian::LittleEndian> = ElfFile64::parse(bytes).ok()?;
        let section = |id: gimli::SectionId| -> Result<Reader<'a>, gimli::Error> {
            let found = file.section_by_name(id.name());
            let data = found.and_then(|section| section.data().ok()).unwrap_or(&[]);
            Ok(EndianSlice::new(data, LittleEndian))
        };
        let mut types = Self {
            dwarf: Dwarf::load(section).ok()?,
            units: Vec::new(),
            variables: Vec::new(),
            functions: Vec::new(),
            structs: BTreeMap::new(),
            symbols: symbols(&file),
        };
        let mut headers = types.dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            types.units.push(types.dwarf.unit(header).ok()?);
        }
        for unit in 0..types.units.len() {
            types.read(unit)?;
        }
        types.variables.sort_by_key(|variable| variable.address);
        types.functions.sort_by_key(|function| function.begin);
        Some(types)
    }

    /// Takes down what a unit has at its places.
    fn read(&mut self, unit: usize) -> Option<()> {
        let (mut variables, mut functions, mut structs) = (Vec::new(), Vec::new(), Vec::new());
        let mut entries = self.units[unit].entries();
        while let Some(entry) = entries.next_dfs().ok()? {
            let place = Type {
                unit,
                at: entry.offset(),
            };
            match entry.tag() {
                dw::DW_TAG_variable => variables.extend(self.global(unit, entry)),
                dw::DW_TAG_subprogram => functions.extend(function(entry, place)),
                dw::DW_TAG_structure_type | dw::DW_TAG_union_type => {
                    if entry.attr_value(dw::DW_AT_byte_size).is_some()
                        && let Some(name) = self.name(unit, entry)
                    {
                        structs.push((name, place));
                    }
                }
                _ => {}
            }
        }
        self.variables.append(&mut variables);
        self.functions.append(&mut functions);
        for (name, place) in structs {
            self.structs.entry(name).or_insert(place);
        }
        Some(())
    }

    /// A variable at a fixed address.
    fn global(&self, unit: usize, entry: &Entry<'a>) -> Option<Variable> {
        let AttributeValue::Exprloc(place) = entry.attr_value(dw::DW_AT_location)? else {
            return None;
        };
        let mut operations = place.operations(self.units[unit].encoding());
        let Ok(Some(Operation::Address { address })) = operations.next() else {
            return None;
        };
        let declared = reference(entry.attr_value(dw::DW_AT_specification));
        let declared = declared.and_then(|at| self.units[unit].entry(at).ok());
        let name = self.name(unit, entry);
        let name = name.or_else(|| self.name(unit, declared.as_ref()?))?;
        let of = reference(entry.attr_value(dw::DW_AT_type));
        let of = of.or_else(|| reference(declared.as_ref()?.attr_value(dw::DW_AT_type)));
        Some(Variable {
            address,
            name,
            of: of.map(|at| Type { unit, at }),
        })
    }

    fn name(&self, unit: usize, entry: &Entry<'a>) -> Option<String> {
        let value = entry.attr_value(dw::DW_AT_name)?;
        let text = self.dwarf.attr_string(&self.units[unit], value).ok()?;
        Some(text.to_string_lossy().into_owned())
    }

    fn entry(&self, of: Type) -> Option<Entry<'a>> {
        self.units[of.unit].entry(of.at).ok()
    }

    /// A type without what is written around it: `const`, names of their own.
    fn bare(&self, mut of: Type) -> Option<(Type, Entry<'a>)> {
        for _ in 0..MAX_DEPTH {
            let entry = self.entry(of)?;
            match entry.tag() {
                dw::DW_TAG_typedef
                | dw::DW_TAG_const_type
                | dw::DW_TAG_volatile_type
                | dw::DW_TAG_atomic_type => {
                    let at = reference(entry.attr_value(dw::DW_AT_type))?;
                    of = Type { at, ..of };
                }
                _ => return Some((of, entry)),
            }
        }
        None
    }

    /// Bytes of a type.
    fn size(&self, of: Type) -> Option<u64> {
        let (_, entry) = self.bare(of)?;
        number(entry.attr_value(dw::DW_AT_byte_size))
    }

    /// The variable that an address is in, how far, and its type.
    pub(super) fn variable(&self, address: u64) -> Option<(&str, u64, Option<Type>)> {
        let after = self.variables.partition_point(|v| v.address <= address);
        let found = self.variables[..after].last()?;
        let within = address - found.address;
        let size = found.of.and_then(|of| self.bytes(of));
        let inside = size.is_none_or(|size| within < size.max(1));
        inside.then_some((&*found.name, within, found.of))
    }

    /// Bytes of a variable, which may be an array.
    fn bytes(&self, of: Type) -> Option<u64> {
        let (bare, entry) = self.bare(of)?;
        if entry.tag() != dw::DW_TAG_array_type {
            return self.size(of);
        }
        let at = reference(entry.attr_value(dw::DW_AT_type))?;
        let each = self.bytes(Type { at, ..bare })?;
        let mut tree = self.units[bare.unit].entries_tree(Some(bare.at)).ok()?;
        let mut children = tree.root().ok()?.children();
        let mut all = each;
        while let Ok(Some(child)) = children.next() {
            let range = child.entry();
            let last = number(range.attr_value(dw::DW_AT_upper_bound));
            let count = number(range.attr_value(dw::DW_AT_count)).or(last.map(|last| last + 1));
            all = all.checked_mul(count?)?;
        }
        Some(all)
    }

    /// The struct of a name.
    pub(super) fn named(&self, name: &str) -> Option<Type> {
        self.structs.get(name).copied()
    }

    /// The name of a type that is a struct or union.
    pub(super) fn struct_name(&self, of: Type) -> Option<String> {
        let (bare, entry) = self.bare(of)?;
        if entry.tag() == dw::DW_TAG_array_type {
            let at = reference(entry.attr_value(dw::DW_AT_type))?;
            return self.struct_name(Type { at, ..bare });
        }
        let is_struct = [dw::DW_TAG_structure_type, dw::DW_TAG_union_type].contains(&entry.tag());
        is_struct.then(|| self.name(bare.unit, &entry)).flatten()
    }

    /// The field of a type at an offset, as it is written in C: `cfs.avg.load_avg`.
    pub(super) fn field(&self, of: Type, offset: u64) -> String {
        let mut path = String::new();
        let (mut of, mut offset) = (of, offset);
        for _ in 0..MAX_DEPTH {
            let Some((bare, entry)) = self.bare(of) else {
                break;
            };
            let inner = match entry.tag() {
                dw::DW_TAG_structure_type | dw::DW_TAG_union_type => self.member(bare, offset),
                dw::DW_TAG_array_type => self.element(bare, &entry, offset),
                _ => None,
            };
            let Some((name, inner, rest)) = inner else {
                break;
            };
            if !name.is_empty() {
                let dot = !path.is_empty() && !name.starts_with('[');
                path.push_str(if dot { "." } else { "" });
                path.push_str(&name);
            }
            (of, offset) = (inner, rest);
        }
        path
    }

    /// The member at an offset: its name, its type, and how far within it.
    fn member(&self, of: Type, offset: u64) -> Option<(String, Type, u64)> {
        let mut tree = self.units[of.unit].entries_tree(Some(of.at)).ok()?;
        let mut children = tree.root().ok()?.children();
        while let Ok(Some(child)) = children.next() {
            let member = child.entry();
            if member.tag() != dw::DW_TAG_member {
                continue;
            }
            let begin = number(member.attr_value(dw::DW_AT_data_member_location)).unwrap_or(0);
            let Some(at) = reference(member.attr_value(dw::DW_AT_type)) else {
                continue;
            };
            let of = Type { at, ..of };
            let size = self.bytes(of).unwrap_or(8);
            if (begin..begin + size.max(1)).contains(&offset) {
                let name = self.name(of.unit, member).unwrap_or_default();
                return Some((name, of, offset - begin));
            }
        }
        None
    }

    /// The element of an array.
    fn element(&self, of: Type, entry: &Entry<'a>, offset: u64) -> Option<(String, Type, u64)> {
        let at = reference(entry.attr_value(dw::DW_AT_type))?;
        let inner = Type { at, ..of };
        let size = self.bytes(inner).filter(|size| *size > 0)?;
        Some(("[]".to_owned(), inner, offset % size))
    }

    /// The struct that a function asks memory of this size for: that of one of its pointers. None:
    /// it has no such pointer, or pointers to several.
    pub(super) fn asked_for(&self, code: u64, size: u64) -> Option<Type> {
        let after = self.functions.partition_point(|f| f.begin <= code);
        let function = self.functions[..after]
            .iter()
            .rev()
            .find(|f| code <= f.end)?;
        let unit = function.entry.unit;
        let mut entries = self.units[unit].entries_at_offset(function.entry.at).ok()?;
        let mut found: Option<(String, Type)> = None;
        let depth = entries.next_dfs().ok()??.depth();
        while let Ok(Some(entry)) = entries.next_dfs() {
            if entry.depth() <= depth {
                break;
            }
            let Some(pointee) = self.pointee(unit, entry) else {
                continue;
            };
            let Some(name) = self.struct_name(pointee) else {
                continue;
            };
            if self.size(pointee) != Some(size) {
                continue;
            }
            match &found {
                Some((other, _)) if *other != name => return None,
                _ => found = Some((name, pointee)),
            }
        }
        found.map(|(_, of)| of)
    }

    /// What a variable of a function points to.
    fn pointee(&self, unit: usize, entry: &Entry<'a>) -> Option<Type> {
        let is_variable = [dw::DW_TAG_variable, dw::DW_TAG_formal_parameter];
        if !is_variable.contains(&entry.tag()) {
            return None;
        }
        let origin = reference(entry.attr_value(dw::DW_AT_abstract_origin));
        let origin = origin.and_then(|at| self.units[unit].entry(at).ok());
        let at = reference(entry.attr_value(dw::DW_AT_type))
            .or_else(|| reference(origin?.attr_value(dw::DW_AT_type)))?;
        let (bare, pointer) = self.bare(Type { unit, at })?;
        if pointer.tag() != dw::DW_TAG_pointer_type {
            return None;
        }
        let at = reference(pointer.attr_value(dw::DW_AT_type))?;
        Some(Type { at, ..bare })
    }

    /// The function that code is in.
    pub(super) fn function(&self, code: u64) -> Option<&str> {
        let after = self.symbols.partition_point(|(begin, ..)| *begin <= code);
        let (begin, size, name) = self.symbols[..after].last()?;
        (code - begin <= *size).then_some(name)
    }
}

/// The functions of the table of symbols, by where they begin.
fn symbols(file: &ElfFile64<'_, object::endian::LittleEndian>) -> Vec<(u64, u64, String)> {
    let functions = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
    let mut all: Vec<_> = functions
        .filter_map(|one| Some((one.address(), one.size(), one.name().ok()?.to_owned())))
        .collect();
    all.sort();
    all
}

/// A function with code of its own.
fn function(entry: &Entry<'_>, place: Type) -> Option<Function> {
    let AttributeValue::Addr(begin) = entry.attr_value(dw::DW_AT_low_pc)? else {
        return None;
    };
    let length = match entry.attr_value(dw::DW_AT_high_pc)? {
        AttributeValue::Addr(end) => end.saturating_sub(begin),
        value => value.udata_value()?,
    };
    Some(Function {
        begin,
        end: begin + length,
        entry: place,
    })
}

/// A place in the same unit.
fn reference(value: Option<AttributeValue<Reader<'_>>>) -> Option<UnitOffset> {
    match value? {
        AttributeValue::UnitRef(at) => Some(at),
        _ => None,
    }
}

fn number(value: Option<AttributeValue<Reader<'_>>>) -> Option<u64> {
    value?.udata_value()
}
