//! `cargo xtask pages [PROGRAM [FOLDER]]`: makes pages of results and opens them in a real browser.
//! Nothing may be loaded, said on the console or wider than the window, and every chart must be
//! drawn. No script that is not the page's own may run: each page is looked at with three that
//! somebody put into it. Screenshots at two widths, light and dark, go into FOLDER (one that is
//! removed). REPORT_QUICK=1: each page twice only (docs/guide/report.md).
//!
//! What must stay: no page loads anything; scripts of others in names never run. The names in
//! `PAGES`, and `both`, are those that `look_at` opens, and `study` and `compare` leave the JSON
//! that `both` is made of. Free: which pages there are, and their command lines. Tests by part:
//! `run`, `make`, `look`, `open` have no test of their own: CI and nightly show a fault of theirs.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`look_at`).
//!
//! Tests: none; it is a trial of crates/report/src/html, which CI and nightly run.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use xshell::cmd;

use crate::shop::{Shop, find, logged, missing, read, run as call, text_of, usage, write};

const PROBE: &str = include_str!("../../data/probe.js");
const SMUGGLED: &str = "<script>window.smuggled1 = 1;</script><img src=\"data:,\" \
    onerror=\"window.smuggled2 = 1\">\n<a href=\"javascript:void(window.smuggled3 = 1)\" \
    id=\"smuggled\"></a>";
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const REFUSED: &str = "Content Security Policy directive";
/// The pages, and what makes them.
const PAGES: [(&str, &str); 4] = [
    (
        "study",
        "study run energy-aware/energy-hikey960 --quick --format json --output OUT/study.json",
    ),
    (
        "sim",
        "sim --quiet --platform juno-r0 --workload periodic:n=8,period=20ms,duty=20% \
         --policy wakeplace --duration 3s --timeline 500ms..700ms --output OUT/sim.txt",
    ),
    (
        "compare",
        "compare --platform hikey960 --workload periodic:n=10,period=16ms,duty=5% \
         --policy linux-4.17 --policy linux-4.17+energy-aware --duration 2s \
         --timeline 1s..1100ms --format json --output OUT/compare.json",
    ),
    (
        "sweep",
        "sweep --quiet --platform hikey960 --platform gs101 --workload periodic:n=4,period=16ms \
         --policy linux-7.3 --vary runnable_boost_pct=0..100:5 --vary busy_factor=4,16 --seeds 3 \
         --duration 300ms --format json --output OUT/sweep.json",
    ),
];

/// A page in a window.
struct Look<'a> {
    name: &'a str,
    width: u32,
    height: u32,
    dark: bool,
}

struct Browser<'a> {
    shop: &'a Shop,
    program: PathBuf,
    scratch: PathBuf,
    pictures: PathBuf,
    /// That of the script which looks at the page.
    hash: String,
}

/// Looks at all pages.
///
/// # Errors
/// A page is not as it must be, or there is no browser here.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<()> {
    look_at(shop, text_of("REPORT_QUICK").is_some(), arguments)
}

/// Looks at all pages, or at each twice only.
///
/// # Errors
/// A page is not as it must be, or there is no browser here.
pub fn look_at(shop: &Shop, quick: bool, arguments: &[&str]) -> Result<()> {
    let (program, folder) = match arguments {
        [] => (shop.program()?, None),
        [program] => (shop.root.join(program), None),
        [program, folder] => (shop.root.join(program), Some(shop.root.join(folder))),
        _ => return Err(usage("expected [PROGRAM [FOLDER]]")),
    };
    let Some(browser) = BROWSERS.iter().find_map(|name| find(name)) else {
        return Err(missing(
            "no browser (apt-get install chromium): no page was looked at",
        ));
    };
    let work = shop.scratch()?;
    let folder = folder.unwrap_or_else(|| work.path().join("out"));
    make(shop, &program, &folder)?;
    let hash = cmd!(shop.sh, "sh -c 'openssl dgst -sha256 -binary | base64'").stdin(PROBE);
    let browser = Browser {
        shop,
        program: browser,
        scratch: work.path().to_owned(),
        pictures: folder,
        hash: hash.quiet().read()?,
    };
    let mut wrong = 0;
    for name in ["study", "sim", "compare", "sweep", "both"] {
        let height = if name == "both" { 20_000 } else { 9000 };
        let mut looks = vec![(1280, false), (390, true)];
        if !quick {
            looks.extend([(1280, true), (390, false), (360, false)]);
        }
        for (width, dark) in looks {
            let faults = browser.look(&Look {
                name,
                width,
                height,
                dark,
            })?;
            for fault in &faults {
                eprintln!("  {fault}");
            }
            wrong += faults.len();
        }
    }
    if wrong > 0 {
        bail!("{wrong} things are wrong (see above)");
    }
    println!("all pages are as they must be");
    Ok(())
}

/// All pages of the list, by the program.
fn make(shop: &Shop, program: &Path, folder: &Path) -> Result<()> {
    shop.sh.create_dir(folder)?;
    let out = folder.display().to_string();
    for (name, line) in PAGES {
        let words = line.split(' ').map(|word| word.replace("OUT", &out));
        let page = folder.join(format!("{name}.html"));
        call(cmd!(shop.sh, "{program} {words...} --export-html {page}"))?;
    }
    let results = ["compare.json", "study.json"].map(|name| folder.join(name));
    let page = folder.join("both.html");
    call(cmd!(
        shop.sh,
        "{program} report {results...} --output {page}"
    ))
}

impl Browser<'_> {
    /// What is wrong with a page in a window.
    fn look(&self, look: &Look<'_>) -> Result<Vec<String>> {
        let Look {
            name,
            width,
            height,
            dark,
        } = *look;
        let page = read(&self.pictures.join(format!("{name}.html")))?;
        // The copy lets the probe in beside the page's own, and none of the three.
        let own = format!("script-src 'sha256-{}' ", self.hash);
        let page = page.replacen("script-src ", &own, 1);
        let copy = self.scratch.join(format!("{name}.html"));
        write(&copy, format!("{page}{SMUGGLED}<script>{PROBE}</script>"))?;
        // A window is never narrower than 500 pixels: a phone is a frame in one.
        let frame = format!(
            "<html style=\"color-scheme:light dark\"><body style=\"margin:0\"><iframe \
             src=\"{name}.html\" style=\"border:0;width:{width}px;height:{height}px\"></iframe>"
        );
        write(&self.scratch.join("frame.html"), frame)?;
        let theme = if dark { "dark" } else { "light" };
        let mut said = Vec::new();
        let mut probe = String::new();
        // The browser's time runs ahead of a busy machine: a page whose charts are not drawn by its
        // end is looked at again. One that does not draw them fails each time.
        for _ in 0..3 {
            said = self.open(
                look,
                &self.pictures.join(format!("{name}-{width}-{theme}.png")),
            )?;
            let at = said.iter().position(|line| line.contains("\"probe "));
            let line = at.map(|at| said.remove(at)).unwrap_or_default();
            let text = line.split("\"probe ").nth(1).unwrap_or_default();
            probe = text.split('"').next().unwrap_or_default().to_owned();
            if probe.contains(" undrawn=0 ") {
                break;
            }
        }
        println!("{name:<8} {width:>5} px {theme:<5} {probe}");
        let (refused, said): (Vec<_>, Vec<_>) =
            said.into_iter().partition(|line| line.contains(REFUSED));
        let mut faults = Vec::new();
        let right = probe.ends_with(" empty=0 too-wide=0 smuggled=0 loaded=");
        if !right || !probe.contains(" undrawn=0 ") {
            faults.push("expected: all drawn, nothing too wide, smuggled or loaded".to_owned());
        }
        if refused.len() != 3 {
            let count = refused.len();
            faults.push(format!(
                "the browser refused {count} things; expected the 3 smuggled ones"
            ));
        }
        faults.extend(
            said.into_iter()
                .map(|line| format!("on the console: {line}")),
        );
        Ok(faults)
    }

    /// What a page says on the console.
    fn open(&self, look: &Look<'_>, picture: &Path) -> Result<Vec<String>> {
        let profile = self.scratch.join("profile");
        let (program, log) = (&self.program, self.scratch.join("log"));
        let frame = self.scratch.join("frame.html");
        let scheme = u8::from(!look.dark);
        let browser = cmd!(
            self.shop.sh,
            "timeout 120 {program} --headless=new --no-sandbox"
        )
        .args(["--disable-gpu", "--hide-scrollbars", "--no-first-run"])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--window-size={},{}", look.width, look.height))
        .args(["--enable-logging=stderr", "--virtual-time-budget=20000"])
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", frame.display()));
        logged(browser.quiet(), &log)?;
        self.shop.sh.remove_path(&profile)?;
        let text = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
        let said = text.lines().filter(|line| line.contains("CONSOLE"));
        Ok(said.map(str::to_owned).collect())
    }
}
