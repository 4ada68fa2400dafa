//! The Rust declarations of the policy core's C interface, and whether they are of these headers
//! (CONTRIBUTING.md, "Add a rule").
//!
//! The file is committed, so that building needs no bindgen. Its first line records a hash of the
//! headers it was written from; a changed header with unchanged declarations is found by the hash.
//!
//! What must stay: the first line has the hash that `check` compares; declarations are not edited
//! by hand. Free: how it is done, and words that no test or script reads. Tests by part:
//! `the_hash_is_fnv_1a` (`headers_hash`, `hash_of`), `a_changed_header_is_found` (`first_line`,
//! `check`), `the_layout_of_a_struct_with_pointers_is_asserted_for_its_width`
//! (`with_pointers_apart`). `generate`, `stamp`, `write` have no test of their own: they need
//! bindgen, or a person.
//!
//! Callers: commands.rs (`check`, `generate`, `stamp`), protos.rs (`hash_of`).

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::Finding;
use crate::repo::Repo;

const BINDINGS: &str = "crates/policy-sys/src/bindings.rs";
const INCLUDE: &str = "policy/include/";
const HEADER: &str = "policy/include/wakeplace/policy.h";
const PARAMETERS: &str = ".def.h";
const FIRST_LINE: &str = "// headers: ";

/// How the declarations are made: plain constants for enums (a value from C is never trusted to be
/// one of them), zero as the default of a struct, nothing but what the project's headers declare,
/// and the layout asserted at compile time, which bindgen does unless told otherwise. Parameters
/// are left out: the build script of policy-sys makes them.
const OPTIONS: [&str; 20] = [
    "--no-prepend-enum-name",
    "--with-derive-default",
    "--with-derive-partialeq",
    "--with-derive-eq",
    "--use-core",
    "--no-doc-comments",
    "--rust-target",
    "1.91",
    "--rust-edition",
    "2024",
    "--allowlist-file",
    ".*/include/wakeplace/.*",
    "--blocklist-file",
    ".*/params(/.*)?(.def)?.h",
    "--raw-line",
    "pub use crate::param_types::*;",
    // Of a struct with a type that is left out bindgen derives nothing by itself.
    "--with-derive-custom-struct",
    "wp_ctx=Debug,Copy,Clone,PartialEq,Eq",
    "--formatter",
    "rustfmt",
];

/// 64-bit FNV-1a over the headers' paths and contents, in the order of their paths; without those
/// that list the parameters.
#[must_use]
pub fn headers_hash(repo: &Repo) -> u64 {
    let headers = repo
        .below(INCLUDE)
        .filter(|file| file.extension() == "h" && !file.path.ends_with(PARAMETERS));
    hash_of(headers.flat_map(|file| [file.path.as_str(), file.text.as_str()]))
}

/// 64-bit FNV-1a over texts, each with a zero byte behind it: moving a line from one to the next is
/// a change.
pub(crate) fn hash_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let bytes = texts.into_iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn first_line(repo: &Repo) -> String {
    format!("{FIRST_LINE}{:016x}", headers_hash(repo))
}

/// Whether the declarations were written from the headers as they are.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Finding> {
    let Some(bindings) = repo.get(BINDINGS) else {
        return vec![Finding::on(BINDINGS, "missing: run `cargo xtask bindings`")];
    };
    let expected = first_line(repo);
    if bindings.text.lines().next() == Some(expected.as_str()) {
        return Vec::new();
    }
    let what = format!(
        "the headers are not those it was written from (its first line is not `{expected}`): run \
         `cargo xtask bindings`"
    );
    vec![Finding::at(BINDINGS, 1, what)]
}

/// Writes the declarations anew.
///
/// # Errors
/// When bindgen is not installed or refuses the header.
pub fn generate(root: &Path) -> Result<Vec<Finding>> {
    let output = Command::new("bindgen")
        .current_dir(root)
        .arg(HEADER)
        .args(OPTIONS)
        .args(["--", "-Ipolicy/include", "-std=c11", "-ffreestanding"])
        .output()
        .context("running bindgen (`cargo install bindgen-cli`; it needs libclang)")?;
    if !output.status.success() {
        bail!(
            "bindgen: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let body =
        String::from_utf8(output.stdout).context("bindgen wrote something else than text")?;
    write(root, &with_pointers_apart(&body))
}

/// The declarations, with the asserted layout of a struct that holds pointers only where pointers
/// have 64 bits, as they have here: the module for browsers is built with 32.
fn with_pointers_apart(body: &str) -> String {
    const STRUCT: &str = "#[repr(C)]\n";
    const ASSERTED: &str = "\n#[allow(clippy::unnecessary_operation";
    const ONLY: &str = "\n#[cfg(target_pointer_width = \"64\")]";
    let mut parts = body.split(STRUCT);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(STRUCT);
        let fields = part.find("\n}").map_or(part, |end| &part[..end]);
        if fields.contains("*mut ") || fields.contains("*const ") {
            out.push_str(&part.replacen(ASSERTED, &format!("{ONLY}{ASSERTED}"), 1));
        } else {
            out.push_str(part);
        }
    }
    out
}

/// Records the headers' hash in declarations that were changed by hand together with them.
///
/// # Errors
/// When there are no declarations to stamp.
pub fn stamp(root: &Path) -> Result<Vec<Finding>> {
    let text = fs::read_to_string(root.join(BINDINGS)).context(BINDINGS)?;
    let body = match text.split_once('\n') {
        Some((first, rest)) if first.starts_with(FIRST_LINE) => rest,
        _ => &text,
    };
    write(root, body)
}

fn write(root: &Path, body: &str) -> Result<Vec<Finding>> {
    let line = first_line(&Repo::load(root)?);
    let path = root.join(BINDINGS);
    fs::write(&path, format!("{line}\n{body}")).with_context(|| path.display().to_string())?;
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: (&str, &str) = ("policy/include/wakeplace/a.h", "int a;\n");
    const B: (&str, &str) = ("policy/include/wakeplace/b.h", "int b;\n");

    #[test]
    fn the_hash_is_fnv_1a() {
        // No header at all: the offset basis that the definition of FNV-1a states.
        assert_eq!(headers_hash(&Repo::default()), 0xcbf2_9ce4_8422_2325);
        let other = [A, ("policy/include/wakeplace/b.h", "int c;\n")];
        assert_ne!(
            headers_hash(&Repo::of(&[A, B])),
            headers_hash(&Repo::of(&other))
        );
        let moved = [
            ("policy/include/wakeplace/a.h", "int a;\nint b;\n"),
            ("policy/include/wakeplace/b.h", ""),
        ];
        assert_ne!(
            headers_hash(&Repo::of(&[A, B])),
            headers_hash(&Repo::of(&moved))
        );
    }

    #[test]
    fn the_layout_of_a_struct_with_pointers_is_asserted_for_its_width() {
        let with = |field: &str, only: &str| {
            format!(
                "use x;\n#[repr(C)]\npub struct a {{\n    pub a: {field},\n}}{only}\n\
                 #[allow(clippy::unnecessary_operation)]\nconst _: () = {{}};\n\
                 #[repr(C)]\npub struct b {{\n    pub b: u32_,\n}}\n\
                 #[allow(clippy::unnecessary_operation)]\nconst _: () = {{}};\n"
            )
        };
        let only = "\n#[cfg(target_pointer_width = \"64\")]";
        let (pointer, number) = ("[*mut b; 8usize]", "u64_");
        assert_eq!(with_pointers_apart(&with(pointer, "")), with(pointer, only));
        assert_eq!(with_pointers_apart(&with(number, "")), with(number, ""));
    }

    #[test]
    fn a_changed_header_is_found() {
        let line = first_line(&Repo::of(&[A, B])) + "\npub const X: u32 = 1;\n";
        let with = |header| Repo::of(&[A, header, (BINDINGS, line.as_str())]);
        assert_eq!(check(&with(B)), []);
        assert_eq!(
            check(&with(("policy/include/wakeplace/b.h", "long b;\n"))).len(),
            1
        );
        assert_eq!(check(&Repo::of(&[A, B])).len(), 1);
    }
}
