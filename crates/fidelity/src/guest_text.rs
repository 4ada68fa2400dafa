//! What guests of several commands are given and send back: files of a run, the beginning of a
//! script that records, sections of a text, and lines of a kernel's trace.

use crate::Error;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Begins a line that says what follows.
pub(crate) const SECTION: &str = "=== ";

/// For scripts in a guest: `t` is the folder of tracefs, and its buffers are made ready.
pub(crate) const TRACER: &str = "\
t=/sys/kernel/tracing
echo 0 >$t/tracing_on
echo mono >$t/trace_clock
echo 16384 >$t/buffer_size_kb
echo 0 >$t/options/overwrite
";

/// For scripts in a guest, after `t` is the folder of tracefs: `lost` prints counts of events that
/// are missing, and nothing if none are.
pub(crate) const LOST: &str = "\
lost() { cat $t/per_cpu/cpu*/stats | grep -E '^(overrun|dropped events): ' | grep -v ': 0$'; }
";

/// The sections of what a script wrote, by their titles.
pub(crate) fn sections(text: &str) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    for part in text.split(SECTION).skip(1) {
        if let Some((title, body)) = part.split_once('\n') {
            found.insert(title.trim(), body);
        }
    }
    found
}

/// The kernel that the guest says it is.
pub(crate) fn release(text: &str) -> Option<&str> {
    sections(text).get("release").map(|body| body.trim())
}

/// Writes a file of a run into a folder.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_file(folder: &Path, name: &str, text: &str) -> Result<PathBuf, Error> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|error| {
        Error::Environment(format!("{}: cannot be written: {error}", path.display()))
    })?;
    Ok(path)
}

/// One event of a trace in the kernel's text form:
/// `NAME-TID [CPU] FLAGS SECONDS.MICROSECONDS: EVENT: FIELDS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// When, in whole microseconds, ns.
    pub(crate) time_ns: u64,
    /// Where.
    pub(crate) cpu: u32,
    /// The thread that had the CPU; 0: none, it was idle.
    pub(crate) current: i32,
    /// In an interrupt, hard or soft: not on behalf of that thread.
    pub(crate) interrupt: bool,
    /// What.
    pub(crate) event: &'a str,
    fields: &'a str,
}

impl<'a> Line<'a> {
    /// Reads a line; none if it is of another form, as comments are.
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let (head, rest) = line.split_once(": ")?;
        let (event, _) = rest.split_once(':')?;
        let (head, time) = head.trim_end().rsplit_once(' ')?;
        let (head, flags) = head.trim_end().rsplit_once(' ')?;
        let (thread, cpu) = head.trim_end().rsplit_once(' ')?;
        let (_, tid) = thread.trim_end().rsplit_once('-')?;
        let cpu = cpu.strip_prefix('[')?.strip_suffix(']')?;
        Some(Self {
            time_ns: nanoseconds(time)?,
            cpu: cpu.parse().ok()?,
            current: tid.parse().ok()?,
            // The third flag: `h`, `s`, `H` and others for interrupts, `.` for none.
            interrupt: flags.chars().nth(2).is_some_and(|flag| flag != '.'),
            event,
            // With the space behind the colon: every key has one in front of it.
            fields: rest.get(event.len() + 1..)?,
        })
    }

    /// The value of a field, up to the next space.
    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        let mut places = self.fields.match_indices(key);
        places.find_map(|(at, _)| {
            let own = self.fields[..at].ends_with(' ');
            let value = self.fields[at + key.len()..].strip_prefix('=')?;
            own.then(|| value.split(' ').next().unwrap_or_default())
        })
    }

    /// The same as a number.
    pub(crate) fn number(&self, key: &str) -> Option<i32> {
        self.text(key)?.parse().ok()
    }
}

/// `SECONDS.MICROSECONDS`.
fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    if fraction.len() != 6 {
        return None;
    }
    let (seconds, micros): (u64, u64) = (seconds.parse().ok()?, fraction.parse().ok()?);
    seconds
        .checked_mul(1_000_000_000)?
        .checked_add(micros * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_when_where_who_and_what() {
        let text = "  sched-pipe-355  [000] d..2.   23.917862: sched_switch: \
                    prev_comm=sched-pipe prev_pid=355 prev_prio=120 prev_state=R+ ==> \
                    next_comm=t3 next_pid=7";
        let line = Line::parse(text).expect("of the form");
        assert_eq!(
            (line.time_ns, line.cpu, line.current),
            (23_917_862_000, 0, 355)
        );
        assert_eq!((line.event, line.interrupt), ("sched_switch", false));
        assert_eq!(line.number("prev_pid"), Some(355));
        assert_eq!(line.text("prev_state"), Some("R+"));
        assert_eq!(line.text("prev_comm"), Some("sched-pipe"));
        // No key ends like that, and `pid` is none of its keys.
        assert_eq!((line.text("state"), line.number("pid")), (None, None));
    }

    #[test]
    fn interrupts_are_not_on_behalf_of_the_thread() {
        let line =
            |flags: &str| format!("x y-1 [002] {flags} 1.000001: sched_waking: comm=a pid=2");
        let interrupt = |flags: &str| Line::parse(&line(flags)).expect("a line").interrupt;
        assert!(interrupt("d.h2.") && interrupt("..s1.") && interrupt("dNH2."));
        assert!(!interrupt("d..2.") && !interrupt("....."));
    }

    #[test]
    fn lines_of_other_forms_are_left_out() {
        for text in [
            "",
            "# x",
            "#  TASK-PID  CPU#  |||||  TIMESTAMP  FUNCTION",
            "a-1 [000] d 1.5: sched_switch: next_pid=1",
            "a-1 [00x] d..2. 1.000001: sched_switch: next_pid=1",
            "a [000] d..2. 1.000001: sched_switch: next_pid=1",
            "a-1 [000] d..2. 99999999999999.000001: sched_switch: next_pid=1",
            "sched_waking: pid=3",
        ] {
            assert_eq!(Line::parse(text), None, "{text}");
        }
    }

    #[test]
    fn sections_have_titles() {
        let found = sections("noise\n=== a 1\nx\ny\n=== b\n");
        assert_eq!(found, BTreeMap::from([("a 1", "x\ny\n"), ("b", "")]));
    }
}
