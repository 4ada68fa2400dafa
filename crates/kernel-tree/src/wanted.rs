//! Which files of a tree the build reads, by the shim's own list (`unpacked`). See
//! docs/guide/kernel.md, "What is kept".
//!
//! What must stay: what is left out here the build must not read: a change of it would not be seen
//! (content.rs). Free: how the list is searched.
//!
//! Tests by part: `patterns_are_paths_from_the_root` (`parse`, `has`),
//! `what_a_build_left_is_no_source` (`has_source`, `is_product`),
//! `stars_go_back_as_far_as_they_must` (`fits`),
//! fake_tree.rs::`a_tree_in_which_something_was_built_is_read_without_that` (`was_built_in`).
//! `text` names folders of the cache (kept.rs).
//!
//! Callers: shim.rs (`parse`), content.rs, unpack.rs, git.rs (`has`, `has_source`), builds.rs
//! (`was_built_in`).
//!
//! Tests: below

use std::path::Path;

/// Patterns of paths below a tree's root. A pattern that ends in `/` is a folder with all that is
/// below it; `*` stands for any characters, `/` among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    patterns: Vec<String>,
}

impl Wanted {
    /// One pattern a line; empty lines and those that begin with `#` say nothing.
    pub(crate) fn parse(text: &str) -> Self {
        let lines = text.lines().map(str::trim);
        let patterns = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self {
            patterns: patterns.map(str::to_owned).collect(),
        }
    }

    /// The patterns, one a line.
    pub(crate) fn text(&self) -> String {
        self.patterns.join("\n")
    }

    /// A file with this path is read.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.patterns
            .iter()
            .any(|pattern| match pattern.ends_with('/') {
                true => path.starts_with(pattern.as_str()),
                false => fits(pattern.as_bytes(), path.as_bytes()),
            })
    }

    /// A file that was not made by a build in the tree itself.
    pub(crate) fn has_source(&self, path: &str) -> bool {
        self.has(path) && !is_product(path)
    }
}

/// What a build leaves beside the sources: objects, lists of what they depend on, what was
/// generated. Kbuild would take such a file for its own.
fn is_product(path: &str) -> bool {
    const FOLDERS: [&str; 3] = ["include/config/", "include/generated/", "scripts/include/"];
    const ENDS: [&str; 9] = [
        ".o", ".a", ".ko", ".cmd", ".mod", ".mod.c", ".order", ".symvers", ".d",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    FOLDERS.iter().any(|folder| path.starts_with(folder))
        || path.contains("/include/generated/")
        || ENDS.iter().any(|end| name.ends_with(end))
        || name.starts_with(".tmp_")
        || path == ".config"
}

/// A file of the tree itself shows that it was built in it.
pub(crate) fn was_built_in(tree: &Path) -> bool {
    let marks = [
        ".config",
        "include/config",
        "include/generated",
        "kernel/sched/built-in.a",
    ];
    marks.iter().any(|mark| tree.join(mark).exists())
}

/// `*` stands for any characters. Two positions are kept to which a mismatch goes back, so that it
/// takes time in proportion to pattern times text at most.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                back = Some((at + 1, from));
                at += 1;
            }
            Some(c) if *c == text[from] => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((after, taken)) = back else {
                    return false;
                };
                back = Some((after, taken + 1));
                (at, from) = (after, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_paths_from_the_root() {
        let text = "# what\n\nMakefile\n*Kconfig*\nkernel/\nmm/*.h\n";
        let wanted = Wanted::parse(text);
        for path in [
            "Makefile",
            "Kconfig",
            "drivers/net/Kconfig.debug",
            "kernel/sched/fair.c",
            "mm/slab.h",
        ] {
            assert!(wanted.has(path), "{path}");
        }
        for path in [
            "fs/Makefile",
            "kernel",
            "kernels/x",
            "mm/slab.c",
            "mm/slab.hh",
        ] {
            assert!(!wanted.has(path), "{path}");
        }
    }

    #[test]
    fn what_a_build_left_is_no_source() {
        let wanted = Wanted::parse("*\n");
        for path in [
            "kernel/sched/core.o",
            "kernel/sched/.core.o.cmd",
            "include/generated/autoconf.h",
            "include/config/auto.conf",
            "arch/x86/include/generated/asm/x.h",
            ".config",
        ] {
            assert!(wanted.has(path) && !wanted.has_source(path), "{path}");
        }
        assert!(wanted.has_source("kernel/sched/core.c"));
        assert!(wanted.has_source("include/linux/compiler-gcc.h"));
    }

    #[test]
    fn stars_go_back_as_far_as_they_must() {
        for (pattern, text, fit) in [
            ("*ab", "aab", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("*", "", true),
            ("", "a", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), text.as_bytes()), fit, "{pattern}");
        }
    }
}
