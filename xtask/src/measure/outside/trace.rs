//! What is read from a run's trace (`--export-ftrace`). See docs/internals/checks.md, "Outside
//! results".
//!
//! What must stay: lines as `--export-ftrace` writes them; None where the event is not there. Free:
//! how it is done, and words that no test or script reads. Tests by part: `a_rise_is_read`
//! (`event`, `value`, `rise_ms`), `idle_time_is_read` (`idle_s`).
//!
//! Callers: measure.rs (`rise_ms`, `idle_s`).
//!
//! Tests: below

use super::rows::{Idle, Rise};

/// What `cpu_idle` says of a CPU that leaves its state.
const OUT: &str = "4294967295";

/// A line: its time in seconds, its event, what the event says. None: another line.
fn event(line: &str) -> Option<(f64, &str, &str)> {
    let (head, rest) = line.split_once("] ")?;
    let _ = head.rsplit_once('[')?;
    let mut parts = rest.trim_start().splitn(3, ": ");
    let at = parts.next()?.trim().parse().ok()?;
    Some((at, parts.next()?.trim(), parts.next()?))
}

/// The value of `key=` among the words of an event. None: it is not there.
fn value<'a>(says: &'a str, key: &str) -> Option<&'a str> {
    let words = says.split_whitespace();
    words
        .filter_map(|word| word.split_once('='))
        .find(|(k, _)| *k == key)
        .map(|(_, v)| v)
}

/// From the task's last wake-up to the clock's first reaching the frequency after it, ms. None: it
/// never does.
pub(super) fn rise_ms(trace: &str, rise: &Rise) -> Option<f64> {
    let (cpu, khz) = (rise.cpu.to_string(), rise.khz.to_string());
    let (mut woken, mut there) = (None, None);
    for (at, name, says) in trace.lines().filter_map(event) {
        match name {
            "sched_wakeup" if value(says, "comm") == Some(&rise.task) => {
                (woken, there) = (Some(at), None);
            }
            "cpu_frequency"
                if value(says, "state") == Some(&khz) && value(says, "cpu_id") == Some(&cpu) =>
            {
                there = there.or(Some(at));
            }
            _ => {}
        }
    }
    Some((there? - woken?) * 1000.0)
}

/// Time of the CPU in the state, s, as far as it has left it.
pub(super) fn idle_s(trace: &str, idle: &Idle) -> Option<f64> {
    let (cpu, state) = (idle.cpu.to_string(), idle.state.to_string());
    let (mut since, mut sum, mut seen) = (None, 0.0, false);
    for (at, name, says) in trace.lines().filter_map(event) {
        if name != "cpu_idle" || value(says, "cpu_id") != Some(&cpu) {
            continue;
        }
        seen = true;
        if let Some(begin) = since.take() {
            sum += at - begin;
        }
        let now = value(says, "state")?;
        since = (now != OUT && now == state).then_some(at);
    }
    seen.then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::{Idle, Rise, idle_s, rise_ms};

    const TRACE: &str = "\
cpus=8
          <idle>-0       [006]     1.000000000: cpu_frequency: state=2802000 cpu_id=6
          <idle>-0       [006]     2.000000000: sched_wakeup: comm=t-0 pid=1001 target_cpu=006
          <idle>-0       [006]     2.100000000: sched_wakeup: comm=other pid=9 target_cpu=006
             t-0-1001    [006]     2.150000000: cpu_frequency: state=2802000 cpu_id=7
             t-0-1001    [006]     2.151500000: cpu_frequency: state=2802000 cpu_id=6
             t-0-1001    [006]     2.200000000: cpu_frequency: state=2802000 cpu_id=6
";

    /// Goal: the first time after the last wake-up counts, of this task and this CPU.
    #[test]
    fn a_rise_is_read() {
        let rise = |task: &str, khz| Rise {
            task: task.to_owned(),
            cpu: 6,
            khz,
        };
        let ms = rise_ms(TRACE, &rise("t-0", 2_802_000)).expect("a rise");
        assert!((ms - 151.5).abs() < 1e-6, "{ms}");
        assert_eq!(rise_ms(TRACE, &rise("t-0", 1)), None);
        assert_eq!(rise_ms(TRACE, &rise("t-1", 2_802_000)), None);
    }

    /// Goal: stretches of this state add up, those of others do not count.
    #[test]
    fn idle_time_is_read() {
        let line = |at: &str, state: &str, cpu: u32| {
            format!("  <idle>-0 [00{cpu}] {at}: cpu_idle: state={state} cpu_id={cpu}\n")
        };
        let trace = [
            line("1.0", "2", 0),
            line("1.2", "2", 1),
            line("1.5", "4294967295", 0),
            line("2.0", "1", 0),
            line("3.0", "4294967295", 0),
            line("4.0", "2", 0),
            line("4.25", "0", 0),
        ]
        .concat();
        let seconds = idle_s(&trace, &Idle { cpu: 0, state: 2 }).expect("idle");
        assert!((seconds - 0.75).abs() < 1e-9, "{seconds}");
        assert_eq!(idle_s(&trace, &Idle { cpu: 5, state: 2 }), None);
    }
}
