//! Puts the playground together: `playground-page MODULE FOLDER` prints the page. MODULE is the
//! module, packed and as base64 (`cargo xtask playground`); FOLDER is `site/playground`
//! (docs/guide/playground.md).
//!
//! Called by `cargo xtask playground`. Same inputs, same bytes.
//!
//! What must stay: same inputs, same bytes; the page loads nothing from anywhere; order of
//! `SCRIPTS`, as each uses what those before it have; no `<` in the names, which stand in a script.
//! No test of its own (`main`, `page`, `names`): `cargo xtask playground-test`, which CI runs,
//! makes the page and tries it in a browser. Free: words of its errors.
//!
//! Tests: xtask/src/gives/playground.rs

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use wakeplace_report::{Page, footer};

/// In this order: each uses what those before it have.
const SCRIPTS: [&str; 7] = [
    "fields.js",
    "link.js",
    "runner.js",
    "form.js",
    "files.js",
    "decision.js",
    "main.js",
];

/// Prints the page, or says in a line why there is none.
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let written = match args.as_slice() {
        [module, folder] => page(Path::new(module), Path::new(folder))
            .and_then(|page| std::io::stdout().write_all(page.as_bytes())),
        _ => Err(std::io::Error::other("expected MODULE FOLDER")),
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "playground-page: {error}");
            ExitCode::from(2)
        }
    }
}

/// The page with its scripts, styles and the module in it.
fn page(module: &Path, folder: &Path) -> std::io::Result<String> {
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path)
            .map_err(|error| std::io::Error::other(format!("{}: {error}", path.display())))
    };
    let names = names()?;
    let module = std::fs::read_to_string(module)?;
    let data = format!(
        "<script type=\"application/json\" id=\"names\">{names}</script>\n\
         <script type=\"text/plain\" id=\"worker\">{}</script>\n\
         <script type=\"text/plain\" id=\"module\">{}</script>",
        read("worker.js")?,
        module.trim()
    );
    let scripts: Vec<String> = { SCRIPTS.iter() }
        .map(|name| read(name))
        .collect::<Result<_, _>>()?;
    let script = format!("(() => {{\n\"use strict\";\n{}}})();\n", scripts.concat());
    let made = format!(
        "wakeplace {}. This page is complete: it loads nothing from anywhere, and sends nothing.",
        env!("CARGO_PKG_VERSION")
    );
    let body = format!("{}\n{}</main>\n", read("body.html")?, footer(&made));
    let style = read("playground.css")?;
    let page = Page {
        title: "Playground",
        brand: "wakeplace playground",
        style: &style,
        body: &body,
        data: &data,
        script: &script,
        has_module: true,
    };
    Ok(page.html())
}

/// What there is to choose from, without anything that looks like markup.
fn names() -> std::io::Result<String> {
    let text = wakeplace_wasm::answer(br#"{"names": {}}"#, &wakeplace_wasm::Asked::default());
    let whole: serde_json::Value = serde_json::from_str(&text)?;
    let names = whole.get("ok").ok_or_else(|| std::io::Error::other(text))?;
    Ok(names.to_string().replace('<', "\\u003c"))
}
