//! What the program `wakeplace-fidelity` (crates/fidelity) says, to be read or as part of a page
//! (docs/results/fidelity.md).
//!
//! What must stay: marks of pages are the command lines. Free: how it is done, and words that no
//! test or script reads. Tests by part: crates/fidelity/tests/all (what the program answers).
//! `placement`, `programs`, `published`, `truth`, `answer` have no test of their own: the page that
//! they renew is looked at.
//!
//! Callers: commands.rs (`placement`, `programs`, `published`, `truth`).
//!
//! Tests: crates/fidelity/tests/all, xtask/src/shop/page.rs::only_the_part_of_a_command_is_replaced

use anyhow::{Context, Result};
use serde::Deserialize;
use xshell::cmd;

use crate::Finding;
use crate::shop::{Shop, page, read, run, usage};

const PLACEMENT: &str = "docs/results/fidelity.md";
const TRUTH: &str = "docs/results/truth.md";
const PROGRAMS: &str = "docs/guide/workloads.md";
const PUBLISHED: &str = "docs/results/published.md";
/// The recorded runs, and of which kernel they are.
const RECORDED: &str = "crates/fidelity/data/recorded_runs.toml";

/// `cargo xtask fidelity`: guests or, with `--recorded`, recorded runs beside the simulator.
///
/// # Errors
/// It cannot be asked, or the page not be written.
pub fn placement(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let mark = match arguments.contains(&"--recorded") {
        true => "cargo xtask fidelity --recorded --page",
        false => "cargo xtask fidelity --page",
    };
    // What a page has of guests is measured without it.
    let whole = !arguments.contains(&"--round") && !arguments.contains(&"--tree");
    answer(
        shop,
        "placement",
        arguments,
        whole.then_some((PLACEMENT, mark)),
    )
}

/// `cargo xtask real-programs`: programs beside their models.
///
/// # Errors
/// It cannot be asked, or the page not be written.
pub fn programs(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let whole = !arguments.contains(&"--programs");
    let part = (PROGRAMS, "cargo xtask real-programs --page");
    answer(shop, "programs", arguments, whole.then_some(part))
}

/// `cargo xtask published`: published figures beside results of studies.
///
/// # Errors
/// It cannot be asked, or the page not be written.
pub fn published(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let part = (PUBLISHED, "cargo xtask published --page");
    answer(shop, "published", arguments, Some(part))
}

/// `cargo xtask truth`: the runs recorded on a real kernel beside the same source in the simulator;
/// with arguments of `cargo xtask fidelity`, guests.
///
/// # Errors
/// A tree cannot be built, or the page not be written.
pub fn truth(shop: &Shop, arguments: &[&str]) -> Result<Vec<Finding>> {
    #[derive(Deserialize)]
    struct Recorded {
        kernel: String,
    }
    let text = read(&shop.root.join(RECORDED))?;
    let recorded: Recorded = toml::from_str(&text).context(RECORDED)?;
    let tree = format!("kernel:{}", recorded.kernel);
    let part = |mark, more: &[&str]| {
        let arguments = [&["--page", "--tree", &tree], more].concat();
        answer(shop, "placement", &arguments, Some((TRUTH, mark)))
    };
    part("cargo xtask truth", &["--recorded"])?;
    if !arguments.is_empty() {
        part("cargo xtask truth GUESTS", arguments)?;
    }
    Ok(Vec::new())
}

/// Asks the program; with `--page`, its answer becomes what stands after a mark in a page.
fn answer(
    shop: &Shop,
    question: &str,
    arguments: &[&str],
    part: Option<(&str, &str)>,
) -> Result<()> {
    let to_page = arguments.contains(&"--page");
    let arguments = arguments.iter().filter(|argument| **argument != "--page");
    let build = ["run", "--locked", "--release", "--quiet"];
    let package = [
        "--package",
        "wakeplace-fidelity",
        "--bin",
        "wakeplace-fidelity",
    ];
    let asked = cmd!(
        shop.sh,
        "cargo {build...} {package...} -- {question} {arguments...}"
    )
    .quiet();
    if !to_page {
        return run(asked);
    }
    let (page, mark) =
        part.ok_or_else(|| usage("expected --page without what leaves out a part"))?;
    page::part(&shop.root, page, mark)?;
    page::renew(&shop.root, page, mark, &asked.read()?)
}
