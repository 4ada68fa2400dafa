//! `cargo xtask build-site [FOLDER]`: the site, one folder that any static host can serve and that
//! can be opened from a disk. Documents become a book (mdBook), the playground stands beside it,
//! and links are checked. SITE_PLAYGROUND=PAGE: this page instead of building one (CONTRIBUTING.md,
//! "Build and test").
//!
//! What must stay: addresses of documents on the site are their paths here. Free: how it is done,
//! and words that no test or script reads. Tests by part: `run` has no test of its own: nightly
//! builds the site.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`).
//!
//! Tests: xtask/src/site/mod.rs, xtask/src/site/links.rs

use std::fs;

use anyhow::Result;
use xshell::cmd;

use super::playground;
use crate::Finding;
use crate::repo::Repo;
use crate::shop::{Shop, run as call, text_of, usage};
use crate::site;

/// Makes it.
///
/// # Errors
/// Something does not build or cannot be had here.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<Vec<Finding>> {
    let folder = match arguments {
        [] => "target/site",
        [folder] => folder,
        _ => return Err(usage("expected FOLDER or nothing")),
    };
    let to = shop.root.join(folder);
    // Only a site of ours is replaced.
    let others = fs::read_dir(&to).is_ok_and(|mut files| files.next().is_some());
    if others && !to.join("playground/index.html").exists() {
        return Err(usage(format!(
            "{folder} has other files: expected an empty or a new folder"
        )));
    }
    let page = match text_of("SITE_PLAYGROUND") {
        Some(page) => shop.root.join(page),
        None => {
            let page = shop.root.join("target/playground/index.html");
            playground::page(shop, &playground::profile(), &page)?;
            page
        }
    };
    // Without its server, which would double its build.
    let features = ["--no-default-features", "--features", "search"];
    let mdbook = shop.tool("mdbook", "0.5.4", &features)?;
    let book = shop.root.join("target/book");
    shop.sh.remove_path(&book)?;
    shop.sh.remove_path(&to)?;
    shop.sh.create_dir(to.parent().unwrap_or(&to))?;
    site::sources(&Repo::load(&shop.root)?, &book.join("src"))?;
    shop.sh
        .copy_file("site/book.toml", book.join("book.toml"))?;
    shop.sh
        .copy_file("docs/images/report.png", book.join("src/report.png"))?;
    call(cmd!(shop.sh, "{mdbook} build {book}"))?;
    fs::rename(book.join("book"), &to)?;
    shop.sh.create_dir(to.join("playground"))?;
    shop.sh.copy_file(page, to.join("playground/index.html"))?;
    println!("{}", to.join("index.html").display());
    site::broken_links(&to)
}
