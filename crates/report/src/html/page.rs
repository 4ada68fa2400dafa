//! What every page stands in: styles, the scripts that draw, and how text gets into markup
//! (docs/guide/report.md). Text of a result never becomes markup.
//!
//! What must stay: the security policy allows this page's own scripts by their hashes and nothing
//! else, so that a change of a script changes the policy too; templates escape what is not marked
//! safe. The playground's builder uses `Page`. Looks may change. Tests by part:
//! `long_names_break_between_their_parts` (`breakable`, `long_name`),
//! `what_stands_between_backticks_is_code_and_nothing_is_markup` (`code`),
//! `a_page_runs_its_own_scripts_only` (`security_policy`), `nothing_is_loaded` (`without_map`),
//! `programs_of_others_end_where_they_should` (`LIBRARIES`), `what_a_result_says_is_no_markup`
//! (`embedded`, `render`), hostile_text.rs::`a_page_shows_names_harmlessly` (`shown`),
//! `a_page_runs_its_own_scripts_only` (`html`, `footer`).
//!
//! Callers: mod.rs (`footer`, `embedded`), crates/wasm/src/bin/playground-page.rs (`footer`).
//!
//! Tests: below, crates/report/src/html/tests.rs,
//! crates/cli/tests/all/hostile_text.rs::a_page_shows_names_harmlessly

use super::drawings::PALETTES;
use data_encoding::BASE64;
use minijinja::value::ValueKind;
use minijinja::{
    Environment, HtmlEscape, UndefinedBehavior, Value as Context, context, escape_formatter,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use wakeplace_text::{printable, printable_lines};

/// By the name that they import each other by. The names' ending makes everything be escaped.
const TEMPLATES: [(&str, &str); 6] = [
    ("parts.html", include_str!("../../templates/parts.html")),
    ("page.html", include_str!("../../templates/page.html")),
    ("report.html", include_str!("../../templates/report.html")),
    (
        "articles.html",
        include_str!("../../templates/articles.html"),
    ),
    ("blocks.html", include_str!("../../templates/blocks.html")),
    ("footer.html", include_str!("../../templates/footer.html")),
];
const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPTS: [&str; 3] = [
    include_str!("../../assets/report.js"),
    include_str!("../../assets/timeline-drawing.js"),
    include_str!("../../assets/timeline.js"),
];
const CHART_STYLE: &str = include_str!("../../assets/uPlot.min.css");

/// Programs of others that draw the charts, in the order in which they are needed.
pub(super) const LIBRARIES: [(&str, &str, &str); 4] = [
    (
        "Vega 6.4.0",
        include_str!("../../assets/vega.min.js"),
        include_str!("../../assets/vega.LICENSE.txt"),
    ),
    (
        "Vega-Lite 6.5.0",
        include_str!("../../assets/vega-lite.min.js"),
        include_str!("../../assets/vega-lite.LICENSE.txt"),
    ),
    (
        "Vega-Embed 7.3.0",
        include_str!("../../assets/vega-embed.min.js"),
        include_str!("../../assets/vega-embed.LICENSE.txt"),
    ),
    (
        "uPlot 1.6.32",
        include_str!("../../assets/uPlot.iife.min.js"),
        include_str!("../../assets/uPlot.LICENSE.txt"),
    ),
];

/// A page around something.
#[derive(Clone, Debug, Default)]
pub struct Page<'a> {
    /// Of the window.
    pub title: &'a str,
    /// At the top.
    pub brand: &'a str,
    /// A style beside those of all pages.
    pub style: &'a str,
    /// Markup.
    pub body: &'a str,
    /// Markup of what scripts read.
    pub data: &'a str,
    /// What runs after all pages' scripts.
    pub script: &'a str,
    /// Its script compiles a WebAssembly module and starts workers of text that it has.
    pub has_module: bool,
}

impl Page<'_> {
    /// The file.
    #[must_use]
    pub fn html(&self) -> String {
        let mut styles = vec![CHART_STYLE.to_owned(), STYLE.to_owned()];
        styles.extend((!self.style.is_empty()).then(|| self.style.to_owned()));
        let mut scripts: Vec<String> = { LIBRARIES.iter() }
            .map(|library| without_map(library.1))
            .collect();
        scripts.extend(SCRIPTS.map(str::to_owned));
        scripts.push(self.script.to_owned());
        // As they stand in the page.
        let scripts: Vec<String> = scripts.iter().map(|one| format!("\n{one}")).collect();
        let text = render(
            "page.html",
            context! {
                title => self.title.to_owned(),
                brand => self.brand.to_owned(),
                version => env!("CARGO_PKG_VERSION"),
                may => security_policy(&scripts, self.has_module),
                styles,
                body => self.body.to_owned(),
                data => self.data.to_owned(),
                palettes => PALETTES,
                scripts,
            },
        );
        format!("{}\n", text.trim())
    }
}

/// What a browser lets the page do (Content Security Policy, level 3): run these scripts and no
/// others, whatever gets into its markup, and load nothing. Vega and uPlot place what they draw by
/// styles of elements, so styles are allowed.
fn security_policy(scripts: &[String], has_module: bool) -> String {
    let hash = |script: &String| format!("'sha256-{}'", BASE64.encode(&Sha256::digest(script)));
    let mut sources: Vec<String> = scripts.iter().map(hash).collect();
    let mut workers = "'none'";
    if has_module {
        sources.push("'wasm-unsafe-eval'".to_owned());
        workers = "blob:";
    }
    format!(
        "default-src 'none'; script-src {}; worker-src {workers}; style-src 'unsafe-inline'; \
         img-src data:; base-uri 'none'; form-action 'none'",
        sources.join(" ")
    )
}

/// The end of a page: what made it, and the licences of what draws its charts.
#[must_use]
pub fn footer(made: &str) -> String {
    let made = made.to_owned();
    let licences: Vec<_> = LIBRARIES
        .iter()
        .map(|(name, _, licence)| context! { name => *name, text => *licence })
        .collect();
    render("footer.html", context! { made, licences })
}

/// The value with all strings as people may see them.
fn shown(value: &mut Value) {
    match value {
        Value::String(text) => *text = printable(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(shown),
        Value::Object(entries) => entries.values_mut().for_each(shown),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// JSON that can stand in a script element: nothing in it looks like markup.
pub(super) fn embedded(mut value: Value) -> String {
    shown(&mut value);
    let mut text = String::new();
    for c in value.to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => text.push(c),
        }
    }
    text
}

/// A library without the name of a file that a browser's tools would ask for.
pub(super) fn without_map(script: &str) -> String {
    let lines = script
        .lines()
        .filter(|line| !line.starts_with("//# sourceMappingURL="));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Text as markup in which what stands between backticks is code. A single backtick stays.
fn code(text: &str) -> Context {
    let shown = printable_lines(text);
    let pieces: Vec<&str> = shown.split('`').collect();
    let mut markup = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        let escaped = breakable(piece);
        let paired = at + 1 < pieces.len();
        let _ = match (at % 2, paired) {
            (0, _) => write!(markup, "{escaped}"),
            (_, true) => write!(markup, "<code>{escaped}</code>"),
            (_, false) => write!(markup, "`{escaped}"),
        };
    }
    Context::from_safe_string(markup)
}

/// Longer words do not fit on a phone's line.
const LONG_WORD_CHARS: usize = 28;

/// Text as markup in which long names may break between their parts, and not within a word.
fn breakable(text: &str) -> String {
    let word = |word: &str| {
        let is_long = word.chars().count() > LONG_WORD_CHARS;
        let parts: Vec<&str> = match is_long {
            true => word
                .split_inclusive([':', ',', '=', '+', '_', '/'])
                .collect(),
            false => vec![word],
        };
        let parts: Vec<String> = parts
            .iter()
            .map(|part| HtmlEscape(part).to_string())
            .collect();
        parts.join("<wbr>")
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// A name as markup.
fn long_name(text: &str) -> Context {
    Context::from_safe_string(breakable(&printable_lines(text)))
}

/// A template with what it names; text that is not marked as safe may come from a file.
///
/// # Panics
/// Never: the templates are a part of the program, and tests render them.
pub(super) fn render(name: &str, context: Context) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if value.kind() == ValueKind::String && !value.is_safe() => {
            escape_formatter(out, state, &(&*printable_lines(text)).into())
        }
        _ => escape_formatter(out, state, value),
    });
    environment.add_filter("code", code);
    environment.add_filter("name", long_name);
    for (name, text) in TEMPLATES {
        let added = environment.add_template(name, text);
        added.expect("the template is well-formed");
    }
    let template = environment.get_template(name).expect("it was just added");
    let rendered = template.render(context);
    rendered.expect("the template names what there is")
}

#[cfg(test)]
mod tests {
    use super::{code, long_name};

    /// Goal: a long name breaks between its parts, nothing else does, and nothing becomes markup.
    #[test]
    fn long_names_break_between_their_parts() {
        let of = |text: &str| long_name(text).to_string();
        assert_eq!(of("linux-7.3 on rk3588, n=3"), "linux-7.3 on rk3588, n=3");
        assert_eq!(
            of("wakeplace:mode=powersave,sis_short=off wins"),
            "wakeplace:<wbr>mode=<wbr>powersave,<wbr>sis_<wbr>short=<wbr>off wins"
        );
        assert_eq!(
            of(&format!("<{}", "b".repeat(40))),
            format!("&lt;{}", "b".repeat(40))
        );
    }

    #[test]
    fn what_stands_between_backticks_is_code_and_nothing_is_markup() {
        let of = |text: &str| code(text).to_string();
        assert_eq!(of("use `--seeds 10`"), "use <code>--seeds 10</code>");
        assert_eq!(
            of("`<b>` & `a`"),
            "<code>&lt;b&gt;</code> &amp; <code>a</code>"
        );
        assert_eq!(of("a ` b"), "a ` b");
        assert_eq!(of("`a` ` <"), "<code>a</code> ` &lt;");
    }
}
