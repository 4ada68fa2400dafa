//! Platform files from collected facts: `cargo xtask platforms FOLDER`.
//!
//! The folder holds one JSON file per machine (schema `sched-platform/1`). A file of `platforms/`
//! is a pure function of those bytes, of the names of the machine that stand in the file
//! (`also_known_as`), and of the named assumptions in this module: what nobody published is filled
//! in here, once, with its reason (`clocks`, `idle`, `costs`), and marked in the file. Power at
//! operating points is not, but for the gaps in one measured table (`power`) and for a few x86
//! machines (`modelled`, `hybrid`).

mod clocks;
mod costs;
mod facts;
mod housekeeping;
mod hybrid;
mod idle;
mod levels;
mod machine;
mod modelled;
mod power;
mod pstates;
mod sched_mc;
mod sources;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::Finding;
use facts::Facts;

/// Where platform files are, from the root.
const FOLDER: &str = "platforms";

/// Machines of the facts whose files are made by hand: the name in the facts and the file's. They
/// hold what the facts have no place for (the calibrated constant of a board, LISA's tables in
/// microwatts, power in a unit of its own, figures chosen where the facts have none), and published
/// studies rest on their bytes.
pub const BY_HAND: &[(&str, &str)] = &[
    ("hikey960", "hikey960"),
    ("ivb-ep-2s", "ivb-ep-2s"),
    ("juno-r0", "juno-r0"),
    ("spr-2s-56c", "spr-2s"),
    ("tc2", "tc2"),
    ("zen3-2s-milan", "zen3-2s"),
];

/// Machines that series name and no facts were collected of; their files are made by hand, too.
pub const WITHOUT_FACTS: &[&str] = &["ca9-quad", "snb-laptop"];

/// Writes the platform files that differ from what the facts in a folder give.
///
/// # Errors
/// When the folder cannot be read, a file of it is no such facts, or a file cannot be written.
pub fn write(root: &Path, folder: &Path) -> Result<Vec<Finding>> {
    for (name, text) in generate(folder)? {
        let path = root.join(FOLDER).join(format!("{name}.toml"));
        let there = fs::read_to_string(&path).ok();
        let text = with_names(&text, there.as_deref().unwrap_or_default());
        if there.as_deref() != Some(&text) {
            fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        }
    }
    check(root, folder)
}

/// Platform files that are not what the facts in a folder give.
///
/// # Errors
/// When the folder or `platforms/` cannot be read, or a file is no such facts.
pub fn check(root: &Path, folder: &Path) -> Result<Vec<Finding>> {
    let generated = generate(folder)?;
    let mut findings = Vec::new();
    for (name, text) in &generated {
        let place = format!("{FOLDER}/{name}.toml");
        match fs::read_to_string(root.join(&place)) {
            Ok(there) if there == with_names(text, &there) => {}
            Ok(there) => {
                let text = with_names(text, &there);
                let differs = there.lines().zip(text.lines()).position(|(a, b)| a != b);
                let line =
                    differs.unwrap_or_else(|| there.lines().count().min(text.lines().count()));
                let what = "not what the facts give: run `cargo xtask platforms FOLDER`";
                findings.push(Finding::at(&place, line + 1, what));
            }
            Err(_) => findings.push(Finding::on(&place, "missing, though there are facts of it")),
        }
    }
    let entries = fs::read_dir(root.join(FOLDER)).context("reading platforms/")?;
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".toml").map(str::to_owned));
    }
    names.sort();
    for name in names {
        let by_hand = BY_HAND.iter().any(|(_, file)| *file == name);
        if !generated.contains_key(&name) && !by_hand && !WITHOUT_FACTS.contains(&name.as_str()) {
            let what = "no facts of it, and not among the files made by hand (xtask/src/platforms)";
            findings.push(Finding::on(&format!("{FOLDER}/{name}.toml"), what));
        }
    }
    Ok(findings)
}

/// The text with the `also_known_as` of the file that is there: the one entry made by hand.
fn with_names(text: &str, there: &str) -> String {
    let mut lines = there
        .lines()
        .skip_while(|line| !line.starts_with("also_known_as = ["));
    let mut names = String::new();
    for line in lines.by_ref() {
        names.push_str(line);
        names.push('\n');
        if line.ends_with(']') {
            break;
        }
    }
    match text.find("\narch = ") {
        Some(at) => format!("{}{names}{}", &text[..=at], &text[at + 1..]),
        None => text.to_owned(),
    }
}

/// The text of every platform file that facts in a folder make, by name.
///
/// # Errors
/// When the folder cannot be read or a file is no such facts.
pub fn generate(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        bail!("{}: no JSON files of machines", folder.display());
    }
    for path in paths {
        let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let facts: Facts = serde_json::from_slice(&bytes)
            .with_context(|| format!("{}: no facts of a machine", path.display()))?;
        if BY_HAND.iter().any(|(name, _)| *name == facts.name) {
            continue;
        }
        let place = || path.display().to_string();
        sound(&facts).with_context(place)?;
        for form in facts.forms() {
            sound(&form).with_context(place)?;
            files.insert(form.name.clone(), file(&form).with_context(place)?);
        }
    }
    Ok(files)
}

/// What the code here relies on: a name that can be a file's, CPUs in order and no number out of
/// range.
fn sound(facts: &Facts) -> Result<()> {
    let in_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if facts.name.is_empty() || !facts.name.chars().all(in_name) {
        bail!("`name` is no name of a platform (a-z, 0-9, -)");
    }
    let dense = (0..).zip(&facts.cpus).all(|(at, cpu)| cpu.id == at);
    if facts.cpus.is_empty() || !dense {
        bail!("`cpus` are not numbered from 0 without gaps");
    }
    let known = |cpus: &[u32]| cpus.iter().all(|cpu| (*cpu as usize) < facts.cpus.len());
    let clusters = facts.clusters.iter().map(|c| &c.cpus);
    let domains = facts.freq_domains.iter().map(|d| &d.cpus);
    let mut never_empty = clusters.chain(domains);
    if !never_empty.all(|cpus| !cpus.is_empty() && known(cpus)) {
        bail!("a cluster or clock has no CPUs, or one that is not there");
    }
    let limits = facts.freq_limits.iter().map(|l| &l.cpus);
    let idle = facts
        .idle_states
        .iter()
        .chain(&facts.idle_states_2011)
        .map(|i| &i.cpus);
    let levels = facts.sched_topology.iter().flat_map(|l| &l.groups);
    if !limits.chain(idle).chain(levels).all(|cpus| known(cpus)) {
        bail!("a list names a CPU that is not there");
    }
    Ok(())
}

/// The file of a machine.
fn file(facts: &Facts) -> Result<String> {
    let parts = machine::parts(facts);
    let mut out = machine::head(facts);
    out += &costs::kernel(facts);
    out += &machine::clusters(facts, &parts);
    out += &levels::topology(facts, &parts);
    out += &levels::shared(facts);
    out += &clocks::tables(facts, &parts)?;
    out += &idle::tables(facts, &parts)?;
    out += &sched_mc::table(facts);
    out += &costs::costs(facts);
    out += &housekeeping::table(facts);
    Ok(out)
}
