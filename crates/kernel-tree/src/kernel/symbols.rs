//! Names of an object's functions, for the stack of a run that ended early (docs/guide/kernel.md,
//! "In a run").
//!
//! What must stay: names are for people; nothing is decided by them. Free: how a name is found.
//!
//! Tests by part: `addresses_have_names` (`of`, `name`).
//!
//! Callers: crates/kernel-run/src/faults.rs.
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs::addresses_have_names

use crate::TreeError;
use object::elf::FileHeader64;
use object::endian::LittleEndian;
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSymbol as _, SymbolKind};
use std::fs;
use std::path::Path;

/// Functions by where they begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    functions: Vec<(u64, u64, String)>,
    /// Where the object's file has the function whose place is known at run time.
    known: u64,
}

/// The function whose place is known ([`super::FaultEntries::known_address`]).
const KNOWN: &str = "wpk_abi";

impl Symbols {
    /// Reads the names of an object.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn of(path: &Path) -> Result<Self, TreeError> {
        let bytes = fs::read(path).map_err(TreeError::reading(path))?;
        let file: ElfFile64<'_, LittleEndian> =
            ElfFile64::parse(&bytes[..]).map_err(|error| super::object(path, error.to_string()))?;
        let _: &FileHeader64<LittleEndian> = file.elf_header();
        let mut functions: Vec<_> = file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
            .filter_map(|symbol| {
                Some((
                    symbol.address(),
                    symbol.size(),
                    symbol.name().ok()?.to_owned(),
                ))
            })
            .collect();
        functions.sort();
        functions.dedup();
        let known = functions.iter().find(|(_, _, name)| name == KNOWN);
        let known = known.map(|(address, _, _)| *address);
        Ok(Self {
            known: known.ok_or_else(|| super::object(path, format!("it has no {KNOWN}")))?,
            functions,
        })
    }

    /// The function in which an address is, and how far: `try_to_wake_up+0x1c`. `known` is where
    /// the function [`super::FaultEntries::known_address`] was loaded.
    #[must_use]
    pub fn name(&self, address: u64, known: u64) -> Option<String> {
        let address = address.wrapping_sub(known.wrapping_sub(self.known));
        let after = self
            .functions
            .partition_point(|(begin, _, _)| *begin <= address);
        let (begin, size, name) = self.functions[..after].last()?;
        let within = address - begin;
        // A function without a size is one of assembly; the address after a call that does not come
        // back is just behind its function.
        (*size == 0 && within < 4096 || within <= *size).then(|| format!("{name}+{within:#x}"))
    }
}
