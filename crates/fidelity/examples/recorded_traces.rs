//! `cargo run -p wakeplace-fidelity --example recorded_traces FOLDER`: writes the runs of
//! `crates/fidelity/data/recorded_traces.toml` to standard output. The folder has the recorded
//! runs: `logs/PLATFORM.RULES.SET.rN.log` and `traces/PLATFORM.RULES.SET.rN.trace`.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use wakeplace_fidelity::placement::traced_run;

/// Where each recorded run's files are named so.
const PLATFORM: &str = "hikey960";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("expected FOLDER")?;
    let folder = Path::new(&folder);
    for rules in ["eas", "cas"] {
        for set in ["A4", "B", "D"] {
            for repeat in 1..=3 {
                let name = format!("{PLATFORM}.{rules}.{set}.r{repeat}");
                let read = |path: String| std::fs::read_to_string(folder.join(path));
                let log = read(format!("logs/{name}.log"))?;
                let trace = read(format!("traces/{name}.trace"))?;
                let run = traced_run(rules, set, repeat, &log, &trace)?;
                writeln!(std::io::stdout(), "\n{}", run.trim_end())?;
            }
        }
    }
    Ok(())
}
