//! What cache lines have cost, by struct, field and function
//! (docs/rules/contended-lines.md#coherence).
//!
//! What must stay: equal uses give equal rows in one order; all that was paid is in some row. Free:
//! how a thing is called that has no name.
//!
//! Tests by part: lines/tests.rs: `uses_are_named_and_added_up` (`named`, `Place::of`, `object`).
//!
//! Callers: kernel/mod.rs (`named`).
//!
//! Tests: crates/kernel-tree/src/kernel/lines/tests.rs

use super::types::{Type, Types};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use wakeplace_kernel_abi::LineCost;
use wakeplace_kernel_abi::lines::RawUse;

/// The rows, the most expensive first.
pub(super) fn named(object: &Path, uses: &[(RawUse, Option<String>)]) -> Vec<LineCost> {
    let bytes = match uses.is_empty() {
        true => Vec::new(),
        // Without names the numbers are still worth something.
        false => fs::read(object).unwrap_or_default(),
    };
    let types = Types::of(&bytes);
    let mut rows: BTreeMap<(Place, String), LineCost> = BTreeMap::new();
    for (one, name) in uses {
        let place = Place::of(types.as_ref(), one, name.as_deref());
        let function = types.as_ref().and_then(|types| types.function(one.code));
        let function = function.map_or_else(|| format!("{:#x}", one.code), str::to_owned);
        let row = rows.entry((place.clone(), function.clone()));
        let row = row.or_insert_with(|| LineCost {
            object: place.object,
            line: place.line,
            field: place.field,
            function,
            ..LineCost::default()
        });
        row.several |= one.several != 0 || one.per_cpu != 0;
        row.transfers += one.transfers;
        row.writes += one.writes;
        row.far += one.far;
        row.cost_ps += one.cost_ps;
        row.wait_ps += one.wait_ps;
        row.lock_ps += one.lock_ps;
    }
    let mut rows: Vec<LineCost> = rows.into_values().collect();
    // Of equal ones the order of names stays.
    rows.sort_by_key(|row| std::cmp::Reverse(row.total_ps()));
    rows
}

/// What lies there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    object: String,
    line: u64,
    field: String,
}

impl Place {
    fn of(types: Option<&Types<'_>>, one: &RawUse, name: Option<&str>) -> Self {
        if one.address == 0 {
            return Self::allocated(types, one, name);
        }
        let Some((variable, within, of)) = types.and_then(|types| types.variable(one.address))
        else {
            let line = one.address & !63;
            return Self {
                object: match one.per_cpu {
                    0 => format!("{line:#x}"),
                    _ => "per-CPU memory".to_owned(),
                },
                line: 0,
                field: format!("+{}", one.address - line),
            };
        };
        // Variables begin where they will: a line of one is counted from the line it begins in.
        let begin = (one.address - within) % 64;
        Self::within(
            types,
            variable.to_owned(),
            of,
            (begin + within) / 64 * 64,
            within,
        )
    }

    /// Of a block of memory: its type by the cache's name, or by who asked for it.
    fn allocated(types: Option<&Types<'_>>, one: &RawUse, name: Option<&str>) -> Self {
        let of = types.and_then(|types| match name {
            Some(name) => types.named(name),
            None => types.asked_for(one.site, one.size),
        });
        let of_struct = of.and_then(|of| types?.struct_name(of));
        let object = match (of_struct, name) {
            (Some(name), _) => format!("struct {name}"),
            (None, Some(name)) => name.to_owned(),
            (None, None) => {
                let function = types.and_then(|types| types.function(one.site));
                let by = function.map_or_else(String::new, |name| format!(" of {name}"));
                format!("{} bytes{by}", one.size)
            }
        };
        Self::within(types, object, of, one.offset / 64 * 64, one.offset)
    }

    /// The field at an offset.
    fn within(
        types: Option<&Types<'_>>,
        object: String,
        of: Option<Type>,
        line: u64,
        offset: u64,
    ) -> Self {
        let field = types.and_then(|types| Some(types.field(of?, offset)));
        let field = field.filter(|field| !field.is_empty());
        Self {
            object,
            line,
            field: field.unwrap_or_else(|| format!("+{offset}")),
        }
    }
}

#[cfg(test)]
mod tests;
