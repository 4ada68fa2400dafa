//! How a kernel is named: `kernel:VERSION` or `kernel:PATH[@REV]`, then `:key=value,...`
//! (docs/guide/kernel.md, "Names").
//!
//! What must stay: names, since results and studies have them; parameters keep their order. Free:
//! words of refusals, but for those that tests quote.
//!
//! Tests by part: `versions_and_folders_are_told_apart` (`parse`, `source`),
//! `a_path_may_have_the_marks_in_it` (`parse_with`), `parameters_keep_their_order` (`parameters`),
//! `a_name_takes_one_more_parameter` (`with`), `what_is_wrong_is_said` (`nothing_there`, `is_key`).
//!
//! Callers: crates/kernel-run/src/trees.rs, crates/cli/src/commands/kernel.rs (`parse`),
//! crates/fidelity (`with`).
//!
//! Tests: below

use crate::version::Version;
use std::path::{Path, PathBuf};

/// What a name begins with where policies are named, too.
pub const PREFIX: &str = "kernel:";
/// Longest label, characters: it heads a column.
const LABEL_CHARS: usize = 60;
/// The parameter that may be given more than once.
const FEATURES: &str = "features";

/// A kernel as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Where its tree comes from.
    pub source: Source,
    /// How results call it.
    pub name: Option<String>,
    /// The kernel's own parameters, in the order in which they were given.
    pub parameters: Vec<(String, String)>,
}

/// Where a tree comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The newest of the package archive that begins so.
    Version(Version),
    /// A folder.
    Folder {
        /// Where it is.
        path: PathBuf,
        /// A revision of its git history; none: the files as they are.
        revision: Option<String>,
    },
}

impl Spec {
    /// Reads a name, with `kernel:` before it or without. What a path is depends on what is there:
    /// the longest one that exists is taken, so that it may have `:` and `@` in it.
    ///
    /// # Errors
    /// In one sentence what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_with(text, &|path| path.exists())
    }

    /// A name with one more parameter.
    ///
    /// # Errors
    /// In one sentence what is wrong with it.
    pub fn with(text: &str, key: &str, value: &str) -> Result<String, String> {
        let spec = Self::parse(text)?;
        let has_own = spec.name.is_some() || !spec.parameters.is_empty();
        let joint = if has_own { ',' } else { ':' };
        let name = format!("{text}{joint}{key}={value}");
        Self::parse(&name).map(|_| name)
    }

    /// A name; `exists` says whether a path is there, so that tests need no files.
    fn parse_with(text: &str, exists: &dyn Fn(&Path) -> bool) -> Result<Self, String> {
        let whole = text;
        let text = text.strip_prefix(PREFIX).unwrap_or(text);
        let wrong = |why: String| {
            let shown = wakeplace_text::shorten(whole);
            format!(
                "kernel `{shown}`: {why}; expected VERSION or PATH[@REV], then \
                 [:name=TEXT,KEY=VALUE,...]"
            )
        };
        let (source, rest) = source(text, exists).map_err(wrong)?;
        let (name, parameters) = parameters(rest).map_err(wrong)?;
        Ok(Self {
            source,
            name,
            parameters,
        })
    }
}

/// The source, and what follows its colon.
fn source<'a>(
    text: &'a str,
    exists: &dyn Fn(&Path) -> bool,
) -> Result<(Source, Option<&'a str>), String> {
    let split = |text: &'a str| match text.split_once(':') {
        Some((first, rest)) => (first, Some(rest)),
        None => (text, None),
    };
    let (first, rest) = split(text);
    if let Ok(version) = first.parse() {
        return Ok((Source::Version(version), rest));
    }
    if let Some((version, _)) = first.split_once('@')
        && version.parse::<Version>().is_ok()
    {
        return Err("a version has no revisions; those are a git tree's".to_owned());
    }
    let ends = text.char_indices().rev().filter(|(_, c)| ":@".contains(*c));
    let ends = std::iter::once(text.len()).chain(ends.map(|(at, _)| at));
    let mut there = ends.filter(|end| *end > 0 && exists(Path::new(&text[..*end])));
    let Some(end) = there.next() else {
        return Err(nothing_there(first));
    };
    let path = PathBuf::from(&text[..end]);
    let (revision, rest) = match text[end..].strip_prefix('@') {
        None => (None, text[end..].strip_prefix(':')),
        Some(after) => {
            let (revision, rest) = split(after);
            // git takes what begins so for an option.
            if revision.is_empty() || revision.starts_with('-') {
                return Err(format!("`{revision}` is no revision"));
            }
            (Some(revision.to_owned()), rest)
        }
    };
    Ok((Source::Folder { path, revision }, rest))
}

/// Why a name is neither a version nor a folder, with the way out.
fn nothing_there(first: &str) -> String {
    if first.is_empty() {
        return "it names nothing".to_owned();
    }
    let path = first.split_once('@').map_or(first, |(path, _)| path);
    let shown = wakeplace_text::shorten(path);
    if path.starts_with('~') {
        return format!(
            "`{shown}` is not there: a shell replaces `~` only where a word begins with it; write \
             $HOME"
        );
    }
    format!("`{shown}` is no version, as 7.3, and no folder that is there")
}

type Parameters = (Option<String>, Vec<(String, String)>);

/// `name=TEXT,key=value,...`.
fn parameters(text: Option<&str>) -> Result<Parameters, String> {
    let mut name = None;
    let mut parameters: Vec<(String, String)> = Vec::new();
    let Some(text) = text else {
        return Ok((name, parameters));
    };
    for pair in text.split(',') {
        let shown = wakeplace_text::shorten(pair);
        let Some((key, value)) = pair.split_once('=') else {
            return Err(format!("`{shown}` is no KEY=VALUE"));
        };
        let (key, value) = (key.trim(), value.trim());
        if !is_key(key) {
            return Err(format!(
                "`{}` is no name of a parameter",
                wakeplace_text::shorten(key)
            ));
        }
        let clean = !value.is_empty() && wakeplace_text::printable(value) == value;
        if !clean {
            return Err(format!("`{key}` has no value that can be printed"));
        }
        if key == "name" {
            if value.chars().count() > LABEL_CHARS {
                return Err(format!("its name has more than {LABEL_CHARS} characters"));
            }
            if name.replace(value.to_owned()).is_some() {
                return Err("it has two names".to_owned());
            }
            continue;
        }
        if key != FEATURES && parameters.iter().any(|(other, _)| other == key) {
            return Err(format!("`{key}` is given twice"));
        }
        parameters.push((key.to_owned(), value.to_owned()));
    }
    Ok((name, parameters))
}

/// Lower-case letters, digits, `_`, `.`, `/` and `-` inside, a letter first: `sched_rt_runtime_us`,
/// `schedutil.rate_limit_us`.
fn is_key(key: &str) -> bool {
    let inside = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"_./-".contains(&c);
    key.starts_with(|c: char| c.is_ascii_lowercase()) && key.bytes().all(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders that are there.
    const THERE: [&str; 5] = ["/linux", "/a:b", "/a@b", "/a@b@c", "linux"];

    fn parse(text: &str) -> Result<Spec, String> {
        let exists = |path: &Path| THERE.iter().any(|there| path == Path::new(there));
        Spec::parse_with(text, &exists)
    }

    fn folder(path: &str, revision: Option<&str>) -> Source {
        Source::Folder {
            path: path.into(),
            revision: revision.map(str::to_owned),
        }
    }

    #[test]
    fn a_name_takes_one_more_parameter() {
        for (name, expected) in [
            ("kernel:7.3.4", "kernel:7.3.4:a=0"),
            ("kernel:7.3.4:name=x", "kernel:7.3.4:name=x,a=0"),
            ("kernel:7.3.4:b=1", "kernel:7.3.4:b=1,a=0"),
        ] {
            assert_eq!(Spec::with(name, "a", "0").as_deref(), Ok(expected));
        }
        assert!(Spec::with("kernel:", "a", "0").is_err());
    }

    #[test]
    fn versions_and_folders_are_told_apart() {
        for text in ["kernel:7.3.4", "7.3.4"] {
            let spec = parse(text).expect(text);
            assert_eq!(spec.source, Source::Version("7.3.4".parse().expect("one")));
        }
        let source = |text| parse(text).map(|spec| spec.source);
        assert_eq!(source("kernel:/linux"), Ok(folder("/linux", None)));
        assert_eq!(
            source("kernel:linux@v6.1"),
            Ok(folder("linux", Some("v6.1")))
        );
        let reflog = Ok(folder("/linux", Some("HEAD@{1}")));
        assert_eq!(source("/linux@HEAD@{1}:name=x"), reflog);
    }

    #[test]
    fn a_path_may_have_the_marks_in_it() {
        let source = |text| parse(text).map(|spec| spec.source);
        assert_eq!(source("/a:b"), Ok(folder("/a:b", None)));
        assert_eq!(source("/a:b@x:name=y"), Ok(folder("/a:b", Some("x"))));
        assert_eq!(source("/a@b"), Ok(folder("/a@b", None)));
        // The longest folder that is there.
        assert_eq!(source("/a@b@c"), Ok(folder("/a@b@c", None)));
        assert_eq!(source("/a@b@d"), Ok(folder("/a@b", Some("d"))));
    }

    #[test]
    fn parameters_keep_their_order() {
        let text = "kernel:6.12:base_slice_ns=3000000,name=long slice,features=NO_A,features=B";
        let spec = parse(text).expect("a kernel");
        assert_eq!(spec.name.as_deref(), Some("long slice"));
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            spec.parameters,
            [
                pair("base_slice_ns", "3000000"),
                pair("features", "NO_A"),
                pair("features", "B")
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        let long = format!("7.3:name={}", "n".repeat(61));
        for (text, said) in [
            ("kernel:", "it names nothing"),
            ("kernel:7", "`7` is no version, as 7.3, and no folder"),
            ("kernel:/none@v1", "`/none` is no version"),
            ("kernel:~/linux", "write $HOME"),
            ("7.3@v1", "a version has no revisions"),
            ("/linux@", "`` is no revision"),
            ("/linux@--exec=x", "`--exec=x` is no revision"),
            ("7.3:", "`` is no KEY=VALUE"),
            ("7.3:slice", "`slice` is no KEY=VALUE"),
            ("7.3:Slice=1", "`Slice` is no name of a parameter"),
            ("7.3:=1", "`` is no name of a parameter"),
            ("7.3:a=", "`a` has no value"),
            ("7.3:a=\u{1b}[1m", "`a` has no value"),
            ("7.3:a=1,a=2", "`a` is given twice"),
            ("7.3:name=a,name=b", "two names"),
            (&long, "more than 60 characters"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
            assert!(error.contains("expected VERSION or PATH[@REV]"), "{error}");
        }
    }
}
