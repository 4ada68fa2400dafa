//! The Rust side of the parameters: the constants, the struct and the table; and C that fails to
//! compile where the core's own are others.
//!
//! What must stay: fields and constants are those of the header, in its order: `wp_params` is read
//! by C. Free: the form of the Rust text.
//!
//! Tests by part: crates/policy-sys/src/policy.rs: `parameters_check_key_and_range` (`rows`,
//! `kind`, `live`: keys and ranges). `types` and `same_in_c` have no test of their own: each build
//! compiles what they write.
//!
//! Callers: crates/policy-sys/build.rs.

use std::fmt::Write as _;

use crate::params::{Live, Param, Values};

/// Constants of the choices, and `wp_params` as in C. Its default has the initial values.
pub(crate) fn types(params: &[Param]) -> Result<String, String> {
    let (mut constants, mut fields, mut initial) = (String::new(), String::new(), String::new());
    for param in params {
        if let Values::Choice(of, list) = &param.values {
            let _ = writeln!(constants, "pub type {of} = u32;");
            for (number, (constant, _)) in list.iter().enumerate() {
                let _ = writeln!(constants, "pub const {constant}: {of} = {number};");
            }
        }
        let _ = writeln!(fields, "    pub {}: u32,", param.name);
        let number = param.number(&param.initial)?;
        let _ = writeln!(initial, "            {}: {number},", param.name);
    }
    let room = format!("crate::sys::WP_MAX_PARAMS as usize - {}", params.len());
    Ok(format!(
        "{constants}
#[repr(C)]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct wp_params {{
{fields}    pub room: [u32; {room}],
}}

impl Default for wp_params {{
    fn default() -> Self {{
        Self {{
{initial}            room: [0; {room}],
        }}
    }}
}}
"
    ))
}

/// The rows of `PARAMS` (src/param_table.rs).
pub(crate) fn rows(params: &[Param]) -> Result<String, String> {
    let mut rows = String::from("&[\n");
    for param in params {
        let name = &param.name;
        let (kind, live) = (kind(&param.values), live(param)?);
        let Param {
            group,
            anytime,
            rule,
            doc,
            ..
        } = param;
        let _ = write!(
            rows,
            "Param {{
    key: {name:?},
    group: {group:?},
    kind: {kind},
    live: {live},
    anytime: {anytime},
    rule: {rule:?},
    doc: {doc:?},
    get: |p| p.{name},
    put: |p, v| p.{name} = v,
}},
"
        );
    }
    Ok(rows + "]\n")
}

fn kind(values: &Values) -> String {
    match values {
        Values::Switch => "Kind::Switch".to_owned(),
        Values::Range(from, to) => format!("Kind::Range({from}, {to})"),
        Values::Auto(from, to) => format!("Kind::Auto({from}, {to})"),
        Values::Choice(_, list) => {
            let names: Vec<&str> = list.iter().map(|(_, name)| name.as_str()).collect();
            format!("Kind::Choice(&{names:?})")
        }
    }
}

fn live(param: &Param) -> Result<String, String> {
    Ok(match &param.live {
        Live::Reads => "Live::Reads".to_owned(),
        Live::No => "Live::No".to_owned(),
        Live::Sets(value) => format!("Live::Sets({})", param.number(value)?),
        Live::Has(values) => {
            let numbers: Result<Vec<u32>, String> =
                values.iter().map(|value| param.number(value)).collect();
            format!("Live::Has(&{:?})", numbers?)
        }
    })
}

/// A C source that compiles only if the core has the same numbers and the same struct.
pub(crate) fn same_in_c(params: &[Param]) -> String {
    let mut text = String::from("#include \"wakeplace/params.h\"\n");
    let count = params.len();
    let _ = writeln!(text, "_Static_assert(WP_NR_PARAMS == {count}, \"\");");
    for (at, param) in params.iter().enumerate() {
        let name = &param.name;
        let _ = writeln!(
            text,
            "_Static_assert(__builtin_offsetof(struct wp_params, {name}) == {}, \"{name}\");",
            4 * at
        );
        if let Values::Choice(_, list) = &param.values {
            for (number, (constant, _)) in list.iter().enumerate() {
                let _ = writeln!(text, "_Static_assert({constant} == {number}, \"{name}\");");
            }
        }
    }
    text
}
