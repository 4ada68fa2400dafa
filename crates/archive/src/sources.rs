//! Which mirror this machine takes its Debian packages from, out of its own apt configuration
//! (docs/guide/lab.md, docs/guide/kernel.md).
//!
//! Two forms are read: one line per source (`*.list`) and paragraphs (`*.sources`), both as
//! sources.list(5) describes them. Only the address, the signing key and `trusted` are taken; the
//! suites are the choice of whoever fetches. `WAKEPLACE_MIRROR` names another address.
//!
//! What must stay: suites are never taken from the machine; `WAKEPLACE_MIRROR` goes first.
//!
//! Tests by part: `a_paragraph_of_debian_is_found_and_others_are_not` (`of_machine`, `paragraphs`,
//! `split_paragraphs`, `choose`, `list`), `a_line_of_debian_is_found` (`lines`),
//! `a_disabled_or_embedded_key_paragraph_does_not_mislead` (`paragraphs`),
//! `without_a_configuration_it_is_debians_own_mirror` (`choose`). `of_user` (WAKEPLACE_MIRROR) has
//! no test of its own.
//!
//! Callers: apt.rs (`of_user`, `list`).
//!
//! Tests: below

use std::fs;
use std::path::Path;

/// Where packages come from when this machine names nothing.
const DEFAULT_URI: &str = "http://deb.debian.org/debian";
/// Names of Debian's releases whose archive has the suites that are asked for.
const RELEASES: [&str; 9] = [
    "bookworm",
    "trixie",
    "forky",
    "duke",
    "sid",
    "stable",
    "testing",
    "unstable",
    "oldstable",
];
/// Where Debian's keyring stands, by age of the package that has it.
const KEYRINGS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// A source of packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// Its address.
    pub uri: String,
    /// The keyring it is signed with; none = apt's own.
    pub signed_by: Option<String>,
    /// This machine takes its word without a signature.
    pub trusted: bool,
}

/// One entry of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    uris: Vec<String>,
    suites: Vec<String>,
    components: Vec<String>,
    signed_by: Option<String>,
    trusted: bool,
}

impl Mirror {
    /// That of this machine, or the one that its user names.
    #[must_use]
    pub fn of_user() -> Self {
        let machine = Self::of_machine(Path::new("/etc/apt"));
        match std::env::var("WAKEPLACE_MIRROR") {
            Ok(uri) if !uri.trim().is_empty() => Self {
                uri: uri.trim().trim_end_matches('/').to_owned(),
                ..machine
            },
            _ => machine,
        }
    }

    /// Reads the configuration below `etc_apt` (`/etc/apt`).
    #[must_use]
    pub fn of_machine(etc_apt: &Path) -> Self {
        let mut entries = Vec::new();
        let mut files = vec![etc_apt.join("sources.list")];
        let parts = fs::read_dir(etc_apt.join("sources.list.d"));
        let mut listed: Vec<_> = parts
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
            .collect();
        listed.sort();
        files.extend(listed);
        for file in files {
            let Ok(text) = fs::read_to_string(&file) else {
                continue;
            };
            match file.extension().and_then(|e| e.to_str()) {
                Some("sources") => entries.extend(paragraphs(&text)),
                Some("list") => entries.extend(lines(&text)),
                _ => {}
            }
        }
        Self::choose(&entries)
    }

    /// The first entry of the Debian archive itself; updates and security are other archives, or
    /// may be.
    fn choose(entries: &[Entry]) -> Self {
        let plain = |entry: &&Entry| {
            entry.components.iter().any(|c| c == "main")
                && entry.suites.iter().any(|s| RELEASES.contains(&s.as_str()))
        };
        let found = entries.iter().find(plain);
        let keyring = || {
            let there = KEYRINGS.iter().find(|path| Path::new(path).is_file());
            there.map(|path| (*path).to_owned())
        };
        match found.and_then(|entry| Some((entry, entry.uris.first()?))) {
            Some((entry, uri)) => Self {
                uri: uri.trim_end_matches('/').to_owned(),
                signed_by: entry.signed_by.clone().or_else(keyring),
                trusted: entry.trusted,
            },
            None => Self {
                uri: DEFAULT_URI.to_owned(),
                signed_by: keyring(),
                trusted: false,
            },
        }
    }

    /// A sources.list of this mirror with `suites`, and with source packages if `sources`.
    #[must_use]
    pub fn list(&self, suites: &[&str], sources: bool) -> String {
        let mut options = Vec::new();
        if let Some(keyring) = &self.signed_by {
            options.push(format!("signed-by={keyring}"));
        }
        if self.trusted {
            options.push("trusted=yes".to_owned());
        }
        let options = match options.is_empty() {
            true => String::new(),
            false => format!("[{}] ", options.join(" ")),
        };
        let kinds: &[&str] = if sources {
            &["deb", "deb-src"]
        } else {
            &["deb"]
        };
        let line = |kind: &str, suite: &str| format!("{kind} {options}{} {suite} main\n", self.uri);
        let lines = |suite: &&str| {
            kinds
                .iter()
                .map(|kind| line(kind, suite))
                .collect::<String>()
        };
        suites.iter().map(lines).collect()
    }
}

/// `deb [option=value ...] URI SUITE COMPONENT...`.
fn lines(text: &str) -> Vec<Entry> {
    let line = |line: &str| {
        let line = line.split('#').next()?.trim().strip_prefix("deb")?;
        let line = line.strip_prefix([' ', '\t'])?.trim();
        let (options, rest) = match line.strip_prefix('[') {
            Some(line) => line.split_once(']')?,
            None => ("", line),
        };
        let mut words = rest.split_whitespace().map(str::to_owned);
        let mut entry = Entry {
            uris: vec![words.next()?],
            suites: vec![words.next()?],
            components: words.collect(),
            ..Entry::default()
        };
        for option in options.split_whitespace() {
            match option.split_once('=') {
                Some(("signed-by", path)) => entry.signed_by = Some(path.to_owned()),
                Some(("trusted", value)) => entry.trusted = value == "yes",
                _ => {}
            }
        }
        Some(entry)
    };
    text.lines().filter_map(line).collect()
}

/// Paragraphs of `Field: value`; a line that begins with a blank continues the one before.
fn paragraphs(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    for paragraph in split_paragraphs(text) {
        let value = |name: &str| {
            let found = paragraph.iter().find(|(field, _)| field == name);
            found.map_or("", |(_, value)| value.as_str())
        };
        let words = |name: &str| value(name).split_whitespace().map(str::to_owned).collect();
        let types: Vec<String> = words("types");
        if value("enabled") == "no" || !types.iter().any(|kind| kind == "deb") {
            continue;
        }
        // A key that stands in the file itself begins with its own header, not with `/`.
        let key = value("signed-by");
        entries.push(Entry {
            uris: words("uris"),
            suites: words("suites"),
            components: words("components"),
            signed_by: key.starts_with('/').then(|| key.to_owned()),
            trusted: value("trusted") == "yes",
        });
    }
    entries
}

/// Paragraphs of fields, as Debian's control files have them.
fn split_paragraphs(text: &str) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::<(String, String)>::new()];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if line.trim().is_empty() {
            all.push(Vec::new());
        } else if let Some(fields) = all.last_mut() {
            match (line.starts_with([' ', '\t']), line.split_once(':')) {
                (false, Some((name, value))) => {
                    fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
                }
                _ => {
                    if let Some((_, value)) = fields.last_mut() {
                        value.push(' ');
                        value.push_str(line.trim());
                    }
                }
            }
        }
    }
    all.retain(|fields| !fields.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    #[test]
    fn a_paragraph_of_debian_is_found_and_others_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "Types: deb\nURIs: https://other.example/linux\nSuites: nodistro\n\
                    Components: main\n";
        write(folder.path(), "sources.list.d/a.sources", text);
        let text = "Types: deb\nURIs: http://mirror.example/debian-security\n\
                    Suites: bookworm-security\nComponents: main\n\n# main archive\nTypes: deb \
                    deb-src\nURIs: http://mirror.example/debian/\nSuites: bookworm\n \
                    bookworm-updates\nComponents: main contrib\nSigned-By: /etc/k.gpg\n";
        write(folder.path(), "sources.list.d/debian.sources", text);
        let mirror = Mirror::of_machine(folder.path());
        assert_eq!(mirror.uri, "http://mirror.example/debian");
        assert_eq!(mirror.signed_by.as_deref(), Some("/etc/k.gpg"));
        assert_eq!(
            mirror.list(&["trixie", "trixie-backports"], false),
            "deb [signed-by=/etc/k.gpg] http://mirror.example/debian trixie main\n\
             deb [signed-by=/etc/k.gpg] http://mirror.example/debian trixie-backports main\n"
        );
    }

    #[test]
    fn a_line_of_debian_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "# deb http://no.example/debian trixie main\n\
                    deb-src http://src.example/debian trixie main\n\
                    deb [arch=amd64 signed-by=/k.gpg trusted=yes] http://a.example/d trixie main\n";
        write(folder.path(), "sources.list", text);
        let mirror = Mirror::of_machine(folder.path());
        let expected = Mirror {
            uri: "http://a.example/d".to_owned(),
            signed_by: Some("/k.gpg".to_owned()),
            trusted: true,
        };
        assert_eq!(mirror, expected);
        let line = "deb [signed-by=/k.gpg trusted=yes] http://a.example/d trixie main\n";
        assert_eq!(mirror.list(&["trixie"], false), line);
        let sources = line.replace("deb ", "deb-src ");
        assert_eq!(mirror.list(&["trixie"], true), line.to_owned() + &sources);
    }

    #[test]
    fn a_disabled_or_embedded_key_paragraph_does_not_mislead() {
        let text = "Types: deb\nEnabled: no\nURIs: http://off.example/\nSuites: trixie\n\
                    Components: main\n\nTypes: deb\nURIs: http://on.example/\nSuites: trixie\n\
                    Components: main\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n x\n";
        let entries = paragraphs(text);
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].uris, ["http://on.example/"]);
        assert_eq!(entries[0].signed_by, None);
    }

    #[test]
    fn without_a_configuration_it_is_debians_own_mirror() {
        let folder = tempfile::tempdir().expect("a folder");
        let mirror = Mirror::of_machine(folder.path());
        assert_eq!(mirror.uri, "http://deb.debian.org/debian");
        assert!(!mirror.trusted);
    }
}
