//! docs/guide/parameters.md: every parameter of a policy, written from the header that lists them.
//!
//! What must stay: the page is made of headers alone; its order is theirs. Free: how it is done,
//! and words that no test or script reads. Tests by part: `a_row_has_what_the_header_says` (`page`,
//! `values`, `live`, `rule`), `what_is_of_another_form_is_refused` (`read`), `an_old_page_is_found`
//! (`check`); `repo` is the tests' own. `write` has no test of its own: the page that it writes is
//! then checked.
//!
//! Callers: commands.rs (`check`, `write`).
//!
//! Tests: below

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::Finding;
use crate::repo::Repo;
use list::{Live, Param, Values};

#[path = "../../crates/policy-sys/build/params.rs"]
mod list;

const PAGE: &str = "docs/guide/parameters.md";
const INCLUDE: &str = "policy/include/";
const COMMAND: &str = "run `cargo xtask params`";

/// All parameters, from the headers in this checkout.
fn read(repo: &Repo) -> Result<Vec<Param>, String> {
    list::read(|path| {
        let file = repo.get(&format!("{INCLUDE}{path}"));
        file.map(|file| file.text.clone())
            .ok_or_else(|| format!("{path}: missing"))
    })
}

/// As the page's column has them.
fn values(values: &Values) -> String {
    match values {
        Values::Switch => "`on`, `off`".to_owned(),
        Values::Range(from, to) => format!("{from} to {to}"),
        Values::Auto(from, to) => format!("`auto`, {from} to {to}"),
        Values::Choice(_, list) => {
            let names: Vec<String> = list.iter().map(|(_, name)| format!("`{name}`")).collect();
            names.join(", ")
        }
    }
}

/// As the page's column has them.
fn live(live: &Live) -> String {
    let quoted = |values: &[String]| {
        let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
        values.join(", ")
    };
    match live {
        Live::Reads => "yes".to_owned(),
        Live::No => "no".to_owned(),
        Live::Has(values) => format!("only {}", quoted(values)),
        Live::Sets(value) => format!("always `{value}`"),
    }
}

/// A link from the page to where the rule is written down.
fn rule(repo: &Repo, rule: &str) -> String {
    let relative = |path: &str| path.replacen("docs/", "../", 1);
    let name = rule.rsplit(['/', '#']).next().unwrap_or_default();
    let mut decisions = repo.below("docs/decisions/");
    match decisions.find(|file| file.path.starts_with(&format!("{rule}-"))) {
        Some(file) => format!("[decision {name}]({})", relative(&file.path)),
        None => format!("[{}]({})", name.trim_end_matches(".md"), relative(rule)),
    }
}

const HEAD: &str = "\
# Parameters

Written by `cargo xtask params` from `policy/include/wakeplace/params.def.h`; do not edit.

`--set KEY=VALUE` sets a parameter in `sim`, `compare`, `explain`, `sweep`, `study run` and
`scx_wakeplace`.
`wakeplace policy show POLICY` lists the values that a policy has.

- **live**: what `scx_wakeplace` does with it. `yes`: it reads it. `no`: it does not, and refuses
  `--set` of it. `only V`: it is built for V alone, and refuses a policy with another value.
  `always V`: it has V whatever the policy says. The simulator reads every parameter.
- **while tasks run**: whether it may change during a run (`--policy-at`).
- **meaning**: of a switch, what happens when it is `on`. (5.7) means from Linux 5.7 on, (to 5.6)
  up to Linux 5.6. P1 to P18, patches 1 to 11 and v1 to v8 are patches and versions of the series
  that the page of the rule is about.
";

/// The page as the headers have it.
///
/// # Errors
/// What is not of the form that params.def.h describes.
pub fn page(repo: &Repo) -> Result<String, String> {
    let mut page = HEAD.to_owned();
    let mut group = String::new();
    for param in read(repo)? {
        if param.group != group {
            let _ = write!(
                page,
                "\n## {}\n\n| key | values | live | while tasks run | rule | meaning |\n\
                 |:--|:--|:--|:--|:--|:--|\n",
                param.group
            );
            param.group.clone_into(&mut group);
        }
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} | {} |",
            param.name,
            values(&param.values),
            live(&param.live),
            if param.anytime { "yes" } else { "no" },
            rule(repo, &param.rule),
            param.doc
        );
    }
    Ok(page)
}

/// Whether the page is of these headers.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Finding> {
    match (page(repo), repo.get(PAGE)) {
        (Err(what), _) => vec![Finding::on(INCLUDE, what)],
        (Ok(_), None) => vec![Finding::on(PAGE, format!("missing: {COMMAND}"))],
        (Ok(page), Some(file)) if file.text != page => {
            let what = format!("not of these headers: {COMMAND}");
            vec![Finding::on(PAGE, what)]
        }
        (Ok(_), Some(_)) => Vec::new(),
    }
}

/// Writes the page anew.
///
/// # Errors
/// When the headers cannot be read, or the page not be written.
pub fn write(root: &Path) -> Result<Vec<Finding>> {
    let text = page(&Repo::load(root)?).map_err(anyhow::Error::msg)?;
    fs::write(root.join(PAGE), text).context(PAGE)?;
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: (&str, &str) = (
        "policy/include/wakeplace/params.def.h",
        "#include \"wakeplace/params/a.def.h\"\n",
    );
    const LIST: &str = "// first line\nWP_GROUP(\"some\")\n/* A form, ( of it. */\n\
        WP_CHOICE(form, wp_form, LIVE_HAS(\"new\"), RUN, \"old\",\n\t\"docs/model.md#b\",\n\t\
        \"one, \"\n\t\"two (2)\",\n\tWP_VALUE(WP_OLD, \"old\") /* to 1 */\n\t\
        WP_VALUE(WP_NEW, \"new\"))\n\
        WP_AUTO(much, 1, 9, SIMULATOR, ANYTIME, \"auto\", \"docs/model.md#c\", \"how much\")\n";

    fn repo(list: &str) -> Repo {
        Repo::of(&[TOP, ("policy/include/wakeplace/params/a.def.h", list)])
    }

    #[test]
    fn a_row_has_what_the_header_says() {
        let page = page(&repo(LIST)).expect("of the form");
        let rows: Vec<&str> = page
            .lines()
            .filter(|line| line.starts_with("| `"))
            .collect();
        assert_eq!(
            rows,
            [
                "| `form` | `old`, `new` | only `new` | no | [b](../model.md#b) | one, two (2) |",
                "| `much` | `auto`, 1 to 9 | no | yes | [c](../model.md#c) | how much |",
            ]
        );
        assert!(page.contains("\n## some\n"));
    }

    #[test]
    fn what_is_of_another_form_is_refused() {
        for (from, to) in [
            ("LIVE_HAS(\"new\")", "LIVE_HAS(\"newer\")"),
            ("LIVE_HAS(\"new\")", "LIVE"),
            ("\"auto\", ", "\"10\", "),
            ("ANYTIME", "SOMETIMES"),
            ("WP_AUTO(much, 1, 9", "WP_AUTO(much, 1"),
            ("WP_AUTO", "WP_MANUAL"),
            ("/* to 1 */", "/* to 1"),
        ] {
            let list = LIST.replace(from, to);
            assert_ne!(list, LIST, "{from}");
            let found = check(&repo(&list));
            assert_eq!(found.len(), 1, "{to}");
            assert_eq!(found[0].place, INCLUDE, "{to}: {}", found[0].what);
        }
    }

    #[test]
    fn an_old_page_is_found() {
        let page = page(&repo(LIST)).expect("of the form");
        let part = "policy/include/wakeplace/params/a.def.h";
        let with = |list: &str| check(&Repo::of(&[TOP, (part, list), (PAGE, &page)]));
        assert_eq!(with(LIST), []);
        assert_eq!(with(&LIST.replace("how much", "how many")).len(), 1);
        assert_eq!(check(&repo(LIST))[0].place, PAGE);
    }
}
