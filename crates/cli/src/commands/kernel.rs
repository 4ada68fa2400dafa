//! `kernel list`, `kernel build` (docs/guide/kernel.md).
//!
//! What a tree is built from and where it is kept is `wakeplace_kernel_tree`'s. The pages are free.
//!
//! What must stay: keys of `object` and `row_of_built`. The list is printed even if the archive
//! cannot be reached; exit code 3 only where nothing at all is to be had. Of a series the newest
//! version is listed, and all whose sources are here. Tests by part:
//! crates/cli/tests/all/kernel.rs::`the_list_says_what_is_here_without_an_archive` (`list`,
//! `tables`, `object`), kernel.rs::`without_an_archive_a_version_cannot_be_had` and
//! kernel.rs::`what_is_no_kernel_is_refused` (`build_one`), kernel.rs::`missing_tools_are_named`
//! (tools). No test of its own, as it needs the archive: `versions`, `built_for` and `page`.
//!
//! Tests: crates/cli/tests/all/kernel.rs

use super::lab_watch::Steps;
use crate::args::{AnswerFormat, ArchName, KernelBuildArgs, KernelCommand, KernelListArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::terminal::Terminal;
use crate::text::{json, style, wrapped};
use serde_json::{Value, json};
use std::fmt::Write as _;
use wakeplace_host::State;
use wakeplace_kernel_tree::{
    Arch, Built, Cache, Kept, Like, Offer, Offers, PREFIX, Request, Shim, Spec, build, built,
    cache, check_tools, kept,
};
use wakeplace_report::{Cell, Format, Table};

/// `kernel ...`.
pub(crate) fn run(command: &KernelCommand, terminal: Terminal) -> Outcome {
    match command {
        KernelCommand::List(args) => list(args, terminal),
        KernelCommand::Build(args) => build_one(args, terminal),
        KernelCommand::Diff(args) => super::kernel_diff::run(args, terminal),
    }
}

/// `kernel build`: builds one tree, or finds it built, and says where.
fn build_one(args: &KernelBuildArgs, terminal: Terminal) -> Outcome {
    let spec = Spec::parse(&args.kernel).map_err(Failure::Input)?;
    if !spec.parameters.is_empty() {
        terminal.warn("parameters are for runs: they change nothing of what is built");
    }
    let request = Request {
        spec,
        like: Like {
            arch: match args.arch {
                ArchName::X86_64 => Arch::X86,
                ArchName::Arm64 => Arch::Arm64,
            },
            large: args.large,
            coherent: args.coherent,
        },
        config: args.kernel_config.clone(),
    };
    let cache = cache()?;
    let shim = Shim::of_user()?;
    let steps = Steps::start(terminal);
    let built = build(&cache, &shim, &request, &steps);
    drop(steps);
    let built = built?;
    let text = match args.form.format {
        AnswerFormat::Json => {
            let mut object = row_of_built(&built);
            object["fresh"] = json!(built.fresh);
            object["schema_version"] = json!(wakeplace_report::SCHEMA_VERSION);
            json(&object)
        }
        AnswerFormat::Human => page(args, &built, terminal),
    };
    terminal.print(&text)?;
    Ok(Verdict::Ok)
}

/// Where it is, and how to use it.
fn page(args: &KernelBuildArgs, built: &Built, terminal: Terminal) -> String {
    let own = args.kernel.strip_prefix(PREFIX).unwrap_or(&args.kernel);
    let policy = wakeplace_text::shell_word(&format!("{PREFIX}{own}"));
    let platform = match args.arch {
        ArchName::Arm64 => "hikey960",
        ArchName::X86_64 => "zen4-7950x",
    };
    let config = args.kernel_config.as_deref().map(|file| {
        let file = file.display().to_string();
        format!(" --kernel-config {}", wakeplace_text::shell_word(&file))
    });
    let state = if built.fresh {
        "built now"
    } else {
        "built before"
    };
    let rows = [
        ("kernel", format!("{}, {}", built.label, built.origin)),
        ("machines", built.like.clone()),
        ("object", format!("{} ({state})", built.object.display())),
    ];
    let look = style(terminal);
    let mut text = String::new();
    for (name, value) in rows {
        let value = wrapped(&value, "           ", look);
        let _ = write!(text, "{name:<9}  {}", value.trim_start());
    }
    // On one line, to be copied.
    let _ = writeln!(
        text,
        "to use it  wakeplace compare --platform {platform} --workload periodic:n=10 --policy \
         {policy} --policy linux-7.3{}",
        config.unwrap_or_default()
    );
    text
}

/// What there is.
struct Known {
    offers: Offers,
    kept: Vec<Kept>,
    built: Vec<Built>,
    lacking: Option<String>,
}

impl Known {
    /// What the archive offers and what the cache has.
    fn get(cache: &Cache, terminal: Terminal) -> Result<Self, Failure> {
        let shim = Shim::of_user()?;
        let steps = Steps::start(terminal);
        let offers = Offers::get(cache, &steps)?;
        drop(steps);
        let check = check_tools();
        Ok(Self {
            offers,
            kept: kept(cache, &shim),
            built: built(cache),
            lacking: (check.state != State::Ok)
                .then(|| format!("{}; to do: {}", check.found, check.remedy)),
        })
    }

    /// The newest of each series, and all whose sources are here.
    fn versions(&self) -> Vec<&Offer> {
        let newest = |offer: &&Offer| {
            let series = offer.version.series();
            let newest = self.offers.newest(&series);
            newest.is_some_and(|newest| newest.version == offer.version)
        };
        let shown = |offer: &&Offer| newest(offer) || self.is_here(offer);
        self.offers.all.iter().filter(shown).collect()
    }

    /// Whether the sources of this package are in the cache, so that a build needs no network.
    fn is_here(&self, offer: &Offer) -> bool {
        let mut kept = self.kept.iter();
        kept.any(|kept| kept.package == offer.listed.package)
    }

    /// For which machines a version is built.
    fn built_for(&self, offer: &Offer) -> Vec<&str> {
        let package = &offer.listed.package;
        let origin = format!("{} {}", package.package, package.version);
        let own = self.built.iter().filter(|built| built.origin == origin);
        let mut machines: Vec<&str> = own.map(|built| built.like.as_str()).collect();
        machines.dedup();
        machines
    }
}

/// `kernel list`: what the archive has, and what is here.
fn list(args: &KernelListArgs, terminal: Terminal) -> Outcome {
    let known = Known::get(&cache()?, terminal)?;
    for why in &known.offers.missing {
        terminal.warn(&format!("some versions are not known: {why}"));
    }
    let text = match args.form.format {
        AnswerFormat::Json => json(&object(&known)),
        AnswerFormat::Human => tables(&known, terminal),
    };
    terminal.print(&text)?;
    let nothing = known.offers.all.is_empty() && known.kept.is_empty() && known.built.is_empty();
    match nothing {
        false => Ok(Verdict::Ok),
        true => Err(Failure::Environment(
            "no kernel can be had: the package archive cannot be reached, and nothing is here from \
             before; a tree can be built all the same"
                .to_owned(),
        )),
    }
}

/// The list for people.
fn tables(known: &Known, terminal: Terminal) -> String {
    let look = style(terminal);
    let mut table = Table::new(
        "versions of the package archive",
        &["kernel", "package", "Debian", "sources", "built for"],
    );
    for offer in known.versions() {
        let sources = match known.is_here(offer) {
            true => "here".to_owned(),
            false => format!("{} MB to fetch", offer.listed.bytes.div_ceil(1_000_000)),
        };
        table.row(vec![
            Cell::from(offer.version.to_string()),
            Cell::from(offer.listed.package.package.clone()),
            Cell::from(offer.suite.clone()),
            Cell::from(sources),
            Cell::from(known.built_for(offer).join(", ")),
        ]);
    }
    let mut text = table.render(Format::Human, look);
    if !known.built.is_empty() {
        let columns = ["kernel", "version", "built for", "built of"];
        let mut table = Table::new("built", &columns);
        for built in &known.built {
            let own = if built.config { ", own options" } else { "" };
            table.row(vec![
                Cell::from(built.label.clone()),
                Cell::from(built.version.clone()),
                Cell::from(format!("{}{own}", built.like)),
                Cell::from(built.origin.clone()),
            ]);
        }
        text.push('\n');
        text.push_str(&table.render(Format::Human, look));
    }
    if let Some(lacking) = &known.lacking {
        let lacking = format!("nothing can be built here: {lacking}");
        let _ = write!(text, "\n{}", wrapped(&lacking, "", look).trim_start());
    }
    text
}

/// The list as JSON. Its keys stay.
fn object(known: &Known) -> Value {
    let version = |offer: &&Offer| {
        json!({
            "version": offer.version.to_string(),
            "package": offer.listed.package.package,
            "package_version": offer.listed.package.version,
            "suite": offer.suite,
            "bytes": offer.listed.bytes,
            "here": known.is_here(offer),
            "built_for": known.built_for(offer),
        })
    };
    json!({
        "schema_version": wakeplace_report::SCHEMA_VERSION,
        "versions": known.versions().iter().map(version).collect::<Vec<_>>(),
        "built": known.built.iter().map(row_of_built).collect::<Vec<_>>(),
        "not_known": known.offers.missing,
        "lacking": known.lacking,
    })
}

/// An object in the cache, as JSON.
fn row_of_built(built: &Built) -> Value {
    json!({
        "kernel": built.label,
        "version": built.version,
        "arch": built.like,
        "origin": built.origin,
        "own_options": built.config,
        "key": built.key,
        "object": built.object.display().to_string(),
    })
}
