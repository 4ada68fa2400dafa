//! `--hotplug '0s:1=off,2s:1=on'`: CPUs that leave and come back, as people write them
//! (docs/guide/model.md, "CPUs that come and go").
//!
//! What must stay: what is typed and what `shown` gives are one language, since results hold the
//! text and commands are made of it; times are ns from the begin of the run. The engine's
//! `mechanics/hotplug.rs` carries the steps out. Tests by part: `steps_are_read_and_shown_alike`
//! (`parse_hotplug`, `shown`), `what_is_no_step_is_named` (`parse_step`),
//! hotplug.rs::`cpus_come_and_go` (by the command).
//!
//! Tests: below, crates/cli/tests/all/hotplug.rs

use wakeplace_engine::Hotplug;
use wakeplace_text::{did_you_mean, nearest, parse_duration_or_zero_ns, shorten};

/// Most steps of one schedule: far beyond use.
const MAX_STEPS: usize = 10_000;

/// `TIME:CPU=on|off`, several separated by commas, in any order.
///
/// # Errors
/// Which step is none, what is wrong in it and what was expected. Whether the CPUs are there is
/// checked with the machine.
pub fn parse_hotplug(text: &str) -> Result<Vec<Hotplug>, String> {
    let steps: Vec<&str> = text.split(',').collect();
    if steps.len() > MAX_STEPS {
        return Err(format!(
            "{} steps; expected at most {MAX_STEPS}",
            steps.len()
        ));
    }
    let one = |(index, step): (usize, &&str)| {
        parse_step(step.trim())
            .map_err(|problem| format!("step {} `{}`: {problem}", index + 1, shorten(step.trim())))
    };
    steps.iter().enumerate().map(one).collect()
}

/// One step `TIME:CPU=on` or `TIME:CPU=off`.
fn parse_step(step: &str) -> Result<Hotplug, String> {
    let form = "expected TIME:CPU=on or TIME:CPU=off, as `2s:1=off`";
    let (time, rest) = step
        .split_once(':')
        .ok_or_else(|| format!("no `:` after a time; {form}"))?;
    let (cpu, state) = rest
        .split_once('=')
        .ok_or_else(|| format!("no `=` after a CPU; {form}"))?;
    let at_ns = parse_duration_or_zero_ns(time.trim())?;
    let cpu = cpu.trim();
    let is_number = !cpu.is_empty() && cpu.bytes().all(|b| b.is_ascii_digit());
    let number = cpu.parse::<u32>().ok().filter(|_| is_number);
    let number = number.ok_or_else(|| format!("`{}` is no CPU number; {form}", shorten(cpu)))?;
    let online = match state.trim() {
        "on" => true,
        "off" => false,
        other => {
            let hint = did_you_mean(nearest(other, ["off", "on"]));
            let other = shorten(other);
            return Err(format!(
                "`{other}` is no state; expected `on` or `off`{hint}"
            ));
        }
    };
    Ok(Hotplug {
        at_ns,
        cpu: number,
        online,
    })
}

/// The schedule as typed, in one line; None without one.
pub(crate) fn shown(schedule: &[Hotplug]) -> Option<(String, String)> {
    let steps: Vec<String> = schedule.iter().map(Hotplug::to_string).collect();
    (!steps.is_empty()).then(|| ("hotplug".to_owned(), steps.join(",")))
}

#[cfg(test)]
mod tests {
    use super::{parse_hotplug, shown};
    use wakeplace_engine::Hotplug;

    #[test]
    fn steps_are_read_and_shown_alike() {
        let text = "0s:1=off, 1.5s : 12 = on,7us:0=off";
        let steps = parse_hotplug(text).unwrap();
        let step = |at_ns, cpu, online| Hotplug { at_ns, cpu, online };
        assert_eq!(
            steps,
            [
                step(0, 1, false),
                step(1_500_000_000, 12, true),
                step(7_000, 0, false)
            ]
        );
        let words = "0s:1=off,1500ms:12=on,7us:0=off".to_owned();
        assert_eq!(shown(&steps), Some(("hotplug".to_owned(), words)));
        assert_eq!(shown(&[]), None);
    }

    #[test]
    fn what_is_no_step_is_named() {
        for (text, words) in [
            ("", "step 1 ``: no `:` after a time; expected TIME:CPU=on"),
            ("1=off", "no `:` after a time"),
            ("0s:1", "no `=` after a CPU"),
            ("0s:1=off,", "step 2 ``"),
            ("0s:1=off,2s:1=onn", "step 2 `2s:1=onn`: `onn` is no state"),
            ("0s:1=onn", "did you mean `on`?"),
            ("0s:one=off", "`one` is no CPU number"),
            ("0s:-1=off", "`-1` is no CPU number"),
            ("0s:+1=off", "`+1` is no CPU number"),
            ("0s:99999999999=off", "is no CPU number"),
            ("0:1=off", "`0` has no unit; expected a time"),
            ("soon:1=off", "`soon` is no time"),
            ("-1s:1=off", "is no time"),
            ("0s:1=off=on", "`off=on` is no state"),
        ] {
            let error = parse_hotplug(text).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(parse_hotplug(&"0s:1=off,".repeat(20_000)).is_err());
    }
}
