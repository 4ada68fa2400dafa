//! `cargo xtask COMMAND`: the repository's own checks and generators.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use xtask::repo::Repo;
use xtask::{
    Finding, arrows, assets, bindings, kernel_map, mutants, params, protos, reasons, site, tidy,
    truth,
};

const USAGE: &str = "\
cargo xtask COMMAND

  tidy              sizes, widths, leftovers, headings, paths and citations of rules, over the
                    files git knows
  arrows            who may depend on whom, licences, and what the core may touch
  assets            whether the programs of others in pages are as they were published
  bindings          write crates/policy-sys/src/bindings.rs from policy/include with bindgen
  bindings --check  whether bindings.rs was written from the headers as they are now
  bindings --stamp  record the headers' hash in bindings.rs, after checking them by eye
  kernel-map        write docs/rules/kernel-map.md from the head comments in policy/src
  kernel-map --check
                    whether it is of those comments, and what they name is there
  mutants [--count N | --all | --file NAME.c] [--seed N] [--jobs N]
                    break the core in small ways and list what no test of it sees
  mutants --check   whether each entry of policy/mutants.toml still is of a change
  params            write docs/guide/parameters.md from policy/include/wakeplace/params.def.h
  params --check    whether it is of that header
  protos            write crates/trace/src/proto/generated.rs from crates/trace/proto
  protos --check    whether it is of that file
  reasons           write docs/guide/reasons.md from the enums in policy/include
  reasons --check   whether it is of those enums
  site --check      whether the links of those sources lead somewhere
  site FOLDER       write the documents as the sources of a book
  site --links FOLDER
                    whether the links of the pages in a folder lead somewhere
  truth [OPTIONS]   write docs/results/truth.md: the runs recorded on a real kernel beside the same
                    source in the simulator; with options of `wakeplace lab fidelity`, as
                    --from FOLDER --capacity-aware, its guests, too
  check             tidy, arrows, assets, and --check of bindings, kernel-map, mutants, params,
                    protos, reasons and site

Exit code: 0 all holds, 1 something was found, 2 wrong usage, 3 a tool is missing or failed
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(Some(findings)) => report(&args.join(" "), &findings),
        Ok(None) => {
            say(USAGE);
            ExitCode::from(2)
        }
        Err(error) => {
            say(&format!("error: {error:#}\n"));
            ExitCode::from(3)
        }
    }
}

/// Carries a command out; `None` for one that does not exist.
fn run(args: &[&str]) -> anyhow::Result<Option<Vec<Finding>>> {
    let root = Repo::root();
    let findings = match args {
        ["tidy"] => tidy::check(&Repo::load(&root)?),
        ["arrows"] => arrows::check(&Repo::load(&root)?)?,
        ["assets"] => assets::check(&root)?,
        ["bindings"] => bindings::generate(&root)?,
        ["bindings", "--check"] => bindings::check(&Repo::load(&root)?),
        ["bindings", "--stamp"] => bindings::stamp(&root)?,
        ["mutants", "--check"] => mutants::check(&root)?,
        ["mutants", options @ ..] => mutants::run(&root, options, &say)?,
        ["kernel-map"] => kernel_map::write(&root)?,
        ["kernel-map", "--check"] => kernel_map::check(&Repo::load(&root)?),
        ["params"] => params::write(&root)?,
        ["params", "--check"] => params::check(&Repo::load(&root)?),
        ["reasons"] => reasons::write(&root)?,
        ["reasons", "--check"] => reasons::check(&Repo::load(&root)?),
        ["site", "--check"] => site::check(&Repo::load(&root)?)?,
        ["site", "--links", folder] => site::broken_links(Path::new(folder))?,
        ["site", folder] if !folder.starts_with('-') => {
            site::sources(&Repo::load(&root)?, Path::new(folder))?
        }
        ["protos"] => protos::write(&root)?,
        ["protos", "--check"] => protos::check(&root)?,
        ["truth", options @ ..] => truth::write(&root, options)?,
        ["check"] => {
            let repo = Repo::load(&root)?;
            let mut findings = tidy::check(&repo);
            findings.extend(arrows::check(&repo)?);
            findings.extend(assets::check(&root)?);
            findings.extend(bindings::check(&repo));
            findings.extend(mutants::check(&root)?);
            findings.extend(protos::check(&root)?);
            findings.extend(params::check(&repo));
            findings.extend(reasons::check(&repo));
            findings.extend(kernel_map::check(&repo));
            findings.extend(site::check(&repo)?);
            findings
        }
        _ => return Ok(None),
    };
    Ok(Some(findings))
}

fn report(command: &str, findings: &[Finding]) -> ExitCode {
    for finding in findings {
        say(&format!("{finding}\n"));
    }
    if findings.is_empty() {
        say(&format!("{command}: all holds\n"));
        return ExitCode::SUCCESS;
    }
    say(&format!("{command}: {} found\n", findings.len()));
    ExitCode::from(1)
}

/// Everything said goes to standard error; a closed pipe is nobody's failure.
fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
