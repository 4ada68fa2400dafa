//! Text, line by line: `COMM-PID [CPU] FLAGS SECONDS.FRACTION: EVENT: FIELDS` of ftrace and
//! `trace-cmd report` (docs/rules/traces.md#ftrace-text), and `COMM PID [CPU] SECONDS.FRACTION:
//! EVENT: FIELDS` of `perf script`. A line that is none is passed over or quoted; it never ends the
//! reading in silence.
//!
//! What must stay: every form that some tool prints stays readable; lines count from 1 and are read
//! to a bounded length; an event that cannot be read is an error that quotes its line. Times are
//! ns. Free: what leaves the scripts of recordings as they are (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: `lines_of_every_tool` (`parse`, `stamp`, `task`, `time_ns`),
//! `lines_of_other_forms_are_left_out` (`around`), `both_forms_of_a_switch` and
//! `a_field_is_found_by_its_whole_key` (fields), forms.rs::`unreadable_lines_are_quoted` (`judge`,
//! `read_event`), forms.rs::`pages_and_json_with_the_text_in_them` (`before_quote`),
//! gaps.rs::`a_buffer_that_starts_later` (`number_behind`), stream.rs::`a_line_without_an_end`
//! (`next_line`), replay/mod.rs::`what_is_no_recording_has_one_message` (`end`),
//! `lines_of_every_tool` (`is_group`), `a_field_is_found_by_its_whole_key` (`text`, `number`),
//! forms.rs::`unreadable_lines_are_quoted` (`read`, `one`), gaps.rs::`a_buffer_that_starts_later`
//! (`processors`).
//!
//! Callers: mod.rs (`read`).
//!
//! Tests: below, crates/trace/tests/all/replay/forms.rs, crates/trace/tests/all/replay/gaps.rs,
//! crates/trace/tests/all/replay/stream.rs

use super::{ReadError, Sink, fields};
use crate::event::{Context, Event};
use std::io::BufRead;
use wakeplace_text::shorten;

/// Longest line; what is longer is no event of the scheduler.
const MAX_LINE_BYTES: usize = 64 << 10;
/// Without the end of a line in so many bytes it is no text.
const ENDLESS_BYTES: usize = 1 << 26;
/// Most CPUs.
const MAX_CPUS: u32 = 1024;
/// Lines that are no event, before anything else: then it is no recording.
const MAX_STRANGE: u64 = 10_000;

/// The parts of a line that has an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it happened, and which thread had the CPU.
    pub context: Context<'a>,
    /// When, ns.
    pub time_ns: u64,
    /// Name of the event, as `sched_switch`.
    pub name: &'a str,
    fields: &'a str,
}

/// Where the lines stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// They are the file.
    Alone,
    /// In a string of a file with these words: what else is in it says nothing.
    Within(&'static str),
}

/// All lines of a text; events go to the sink.
pub(super) fn read(
    mut from: impl BufRead,
    place: Place,
    sink: &mut dyn Sink,
) -> Result<(), ReadError> {
    let mut line = Vec::new();
    let mut seen = Seen::default();
    loop {
        let ended = next_line(&mut from, place, &mut line)?;
        if line.is_empty() && !ended {
            break;
        }
        seen.lines += 1;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        let found = match (one(text, sink), place) {
            // The string ends in this line.
            (Err(Problem::Damaged(_)), Place::Within(_)) => one(before_quote(text), sink),
            (found, _) => found,
        };
        match found {
            Ok(is_event) => seen.events += u64::from(is_event),
            // The last line of a file that was cut off.
            Err(_) if !ended && place == Place::Alone => {
                sink.cut();
                break;
            }
            Err(problem) => seen.judge(problem, text, place)?,
        }
        if place == Place::Alone && seen.events == 0 && seen.strange > MAX_STRANGE {
            break;
        }
    }
    seen.end(place)
}

/// The text up to a quote, as a line within a string may end there.
fn before_quote(text: &str) -> &str {
    text.split('"').next().unwrap_or(text)
}

/// What was found so far.
#[derive(Default)]
struct Seen {
    lines: u64,
    events: u64,
    /// Lines of no known form.
    strange: u64,
    /// Why the first event within a page was passed over.
    unread: Option<ReadError>,
}

impl Seen {
    /// What a line that cannot be read means: an error, or nothing.
    fn judge(&mut self, problem: Problem<'_>, text: &str, place: Place) -> Result<(), ReadError> {
        let wrong = |problem: String, expected: &str| ReadError::Wrong {
            place: format!("line {}", self.lines),
            problem: format!("{problem}: `{}`", shorten(text.trim())),
            expected: expected.to_owned(),
        };
        let is_damaged = matches!(problem, Problem::Damaged(_));
        let error = match problem {
            Problem::Strange => {
                // The first line may have lost its beginning.
                let event = read_event(text).filter(|_| self.lines > 1);
                self.strange += 1;
                let Some(name) = event else {
                    return Ok(());
                };
                let problem = format!("an event {name} whose CPU or time cannot be read");
                wrong(problem, "[CPU] of 0 to 1023 and SECONDS.FRACTION")
            }
            Problem::Damaged(name) => {
                let problem = format!("an event {name} without its fields");
                wrong(problem, "the kernel's format of it")
            }
            Problem::Refused(why) => {
                return Err(ReadError::Wrong {
                    place: format!("line {}", self.lines),
                    problem: why,
                    expected: "events in order, on CPUs that the machine has".to_owned(),
                });
            }
        };
        // Scripts of a page mention events, too.
        if place == Place::Alone || self.events > 0 && is_damaged {
            return Err(error);
        }
        self.unread.get_or_insert(error);
        Ok(())
    }

    /// Nothing was an event: then an error that says what the first line was.
    fn end(self, place: Place) -> Result<(), ReadError> {
        if self.events > 0 {
            return Ok(());
        }
        Err(self.unread.unwrap_or(ReadError::Wrong {
            place: format!("lines 1 to {}", self.lines.max(1)),
            problem: match place {
                Place::Alone => "no event of the scheduler in them".to_owned(),
                Place::Within(what) => {
                    format!("no event of the scheduler as text of ftrace in {what}")
                }
            },
            expected: super::FORMS.to_owned(),
        }))
    }
}

/// The event that is looked at, which a line of no known form names.
fn read_event(text: &str) -> Option<&str> {
    let mut words = text.split(' ').filter_map(|word| word.strip_suffix(':'));
    words.find_map(|word| {
        let name = word.rsplit(':').next()?;
        fields::kind(name, "").map(|_| name)
    })
}

/// The next line, at most its beginning; whether it has an end.
fn next_line(from: &mut impl BufRead, place: Place, line: &mut Vec<u8>) -> Result<bool, ReadError> {
    line.clear();
    let mut read = 0;
    loop {
        let buffer = from.fill_buf()?;
        if buffer.is_empty() {
            return Ok(false);
        }
        if read > ENDLESS_BYTES && place == Place::Alone {
            return Err(ReadError::Wrong {
                place: format!("the last {read} bytes"),
                problem: "no line ends in them".to_owned(),
                expected: super::FORMS.to_owned(),
            });
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(buffer.len(), |at| at + 1);
        let room = MAX_LINE_BYTES.saturating_sub(line.len());
        line.extend_from_slice(&buffer[..taken.min(room)]);
        from.consume(taken);
        read += taken;
        if end.is_some() {
            return Ok(true);
        }
    }
}

enum Problem<'a> {
    /// No line of a recording.
    Strange,
    /// An event that is looked at, without its fields.
    Damaged(&'a str),
    /// The sink's words.
    Refused(String),
}

/// Whether the line was an event that is looked at.
fn one<'a>(line: &'a str, sink: &mut dyn Sink) -> Result<bool, Problem<'a>> {
    let trimmed = line.trim_start();
    if trimmed.is_empty() {
        return Ok(false);
    }
    if let Some(count) = trimmed
        .strip_prefix("cpus=")
        .or_else(|| processors(trimmed))
    {
        let count = count
            .trim()
            .parse()
            .ok()
            .filter(|c| (1..=MAX_CPUS).contains(c));
        sink.cpus(count.ok_or(Problem::Strange)?);
        return Ok(false);
    }
    if trimmed.contains(" EVENTS]") && trimmed.contains("[LOST")
        || trimmed.contains("EVENTS DROPPED")
    {
        sink.lost(number_behind(trimmed, "CPU:"));
        return Ok(false);
    }
    if trimmed.starts_with('#') {
        // Its buffer is shorter than others': what came before was overwritten.
        if trimmed.ends_with(" buffer started ####") {
            sink.lost(number_behind(trimmed, "##### CPU "));
        }
        return Ok(false);
    }
    let parts = Line::parse(trimmed).ok_or(Problem::Strange)?;
    match fields::kind(parts.name, parts.fields) {
        None => Ok(false),
        Some(None) => Err(Problem::Damaged(parts.name)),
        Some(Some(kind)) => {
            let event = Event {
                time_ns: parts.time_ns,
                context: parts.context,
                kind,
            };
            sink.event(&event).map_err(Problem::Refused).map(|()| true)
        }
    }
}

/// The number of a CPU that a line states behind these words.
fn number_behind(line: &str, words: &str) -> Option<u32> {
    let digits = line.strip_prefix(words)?;
    let end = digits.find(|c: char| !c.is_ascii_digit());
    let cpu = digits[..end.unwrap_or(digits.len())].parse().ok();
    cpu.filter(|cpu| *cpu < MAX_CPUS)
}

/// `# entries-in-buffer/entries-written: 1/1   #P:8`
fn processors(line: &str) -> Option<&str> {
    line.strip_prefix("# entries-in-buffer")?
        .split("#P:")
        .nth(1)
}

impl<'a> Line<'a> {
    /// Reads a line; none if it is of another form, as comments are.
    #[must_use]
    pub fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim_start();
        // Names of tasks may have brackets and times, too: the first place that makes a whole line.
        line.match_indices(" [")
            .find_map(|(open, _)| Self::around(line, open))
    }

    /// The same, if the number of the CPU stands at the bracket.
    fn around(line: &'a str, open: usize) -> Option<Self> {
        let (inner, after) = line[open + 2..].split_once(']')?;
        let is_number = !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_digit());
        let cpu = inner.parse().ok();
        let cpu = cpu.filter(|cpu| is_number && *cpu < MAX_CPUS)?;
        let Stamp {
            flags,
            time_ns,
            mut rest,
        } = stamp(after)?;
        let (comm, pid) = task(line[..open].trim_end())?;
        // perf prints how many events a sample stands for.
        if let Some((word, behind)) = rest.split_once(' ')
            && word.bytes().all(|b| b.is_ascii_digit())
        {
            rest = behind.trim_start();
        }
        let (name, fields) = match rest.split_once(": ") {
            Some((name, fields)) => (name, fields),
            None => (rest.strip_suffix(':')?, ""),
        };
        // `sched:sched_switch`, as perf has it.
        let name = name.rsplit(':').next().unwrap_or(name);
        let in_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        if name.is_empty() || !name.bytes().all(in_name) {
            return None;
        }
        Some(Self {
            context: Context {
                cpu,
                pid,
                comm,
                interrupt: matches!(
                    flags.as_bytes().get(2),
                    Some(b'h' | b'H' | b's' | b'z' | b'Z')
                ),
            },
            time_ns,
            name,
            fields: fields.trim(),
        })
    }

    /// The value of a field `key=value`, up to the next field.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&'a str> {
        fields::value(self.fields, key)
    }

    /// The same as a number.
    #[must_use]
    pub fn number<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        fields::number(self.fields, key)
    }
}

/// What stands behind `[CPU]`.
struct Stamp<'a> {
    flags: &'a str,
    time_ns: u64,
    rest: &'a str,
}

/// Flags of one to eight characters may stand before the time, and nothing else.
fn stamp(after: &str) -> Option<Stamp<'_>> {
    let (first, behind) = after.strip_prefix(' ')?.trim_start().split_once(' ')?;
    let time = |word: &str| word.strip_suffix(':').and_then(time_ns);
    let (flags, time_ns, rest) = match time(first) {
        Some(time_ns) => ("", time_ns, behind),
        None if first.len() <= 8 => {
            let (second, behind) = behind.trim_start().split_once(' ')?;
            (first, time(second)?, behind)
        }
        None => return None,
    };
    Some(Stamp {
        flags,
        time_ns,
        rest: rest.trim_start(),
    })
}

/// `COMM-PID`, with `( TGID)` behind it where that is shown, or `COMM PID` and `COMM PID/TID`.
fn task(text: &str) -> Option<(&str, i32)> {
    let text = match text
        .strip_suffix(')')
        .and_then(|inner| inner.rsplit_once('('))
    {
        Some((before, group)) if is_group(group) => before.trim_end(),
        _ => text,
    };
    let digits = |b: char| b.is_ascii_digit();
    let start = text.trim_end_matches(digits).len();
    let pid = text[start..].parse().ok()?;
    let before = &text[..start];
    // PID/TID: the thread counts.
    let before = match before.strip_suffix('/') {
        Some(process) => process.trim_end_matches(digits),
        None => before,
    };
    let comm = before.strip_suffix('-').unwrap_or(before).trim();
    let comm = if comm == "<idle>" { "swapper" } else { comm };
    Some((comm, pid))
}

/// A thread group's number in brackets, or the dashes for none.
fn is_group(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}

/// Seconds with up to nine digits behind the point.
fn time_ns(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(seconds) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let scale = 10_u64.pow(9 - fraction.len() as u32);
    let part = fraction.parse::<u64>().ok()? * scale;
    seconds
        .parse::<u64>()
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_tool() {
        let lines = [
            // /sys/kernel/tracing/trace
            (
                "          <idle>-0       [001] dNh4.  7153.123456: sched_waking: \
                 comm=a b pid=12 prio=120 target_cpu=001",
                0,
                7_153_123_456_000,
                true,
            ),
            // with the process shown
            (
                "   kworker/1:2-77    (     77) [001] d..2.  7153.2: sched_waking: \
                 comm=x pid=12 prio=98 target_cpu=1",
                77,
                7_153_200_000_000,
                false,
            ),
            // trace-cmd report, and with -t
            (
                "            bash-1234  [003]  6210.002300123: sched_waking: \
                 comm=x pid=12 prio=120 target_cpu=003",
                1234,
                6_210_002_300_123,
                false,
            ),
            // perf script
            (
                "perf  4321 [002] 12345.678901: sched:sched_waking: \
                 comm=x pid=12 prio=120 target_cpu=002",
                4321,
                12_345_678_901_000,
                false,
            ),
            (
                ":-1 with [0] 10/11 [002] 1.5:          1 sched:sched_waking: \
                 comm=x pid=12 prio=120 target_cpu=002",
                11,
                1_500_000_000,
                false,
            ),
        ];
        for (line, pid, time_ns, interrupt) in lines {
            let parts = Line::parse(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((parts.context.pid, parts.time_ns), (pid, time_ns), "{line}");
            assert_eq!(
                (parts.name, parts.context.interrupt),
                ("sched_waking", interrupt),
                "{line}"
            );
            assert!(
                fields::kind(parts.name, parts.fields).flatten().is_some(),
                "{line}"
            );
        }
    }

    #[test]
    fn a_field_is_found_by_its_whole_key() {
        let text = "  sched-pipe-355  [000] d..2.   23.917862: sched_switch: \
                    prev_comm=sched-pipe prev_pid=355 prev_prio=120 prev_state=R+ ==> \
                    next_comm=t3 next_pid=7";
        let line = Line::parse(text).expect("of the form");
        assert_eq!(line.number("prev_pid"), Some(355));
        assert_eq!(line.text("prev_state"), Some("R+"));
        assert_eq!(line.text("prev_comm"), Some("sched-pipe"));
        // No key ends like that, and `pid` is none of its keys.
        assert_eq!(
            (line.text("state"), line.number::<i32>("pid")),
            (None, None)
        );
    }

    #[test]
    fn lines_of_other_forms_are_left_out() {
        for text in [
            "",
            "# x",
            "#  TASK-PID  CPU#  |||||  TIMESTAMP  FUNCTION",
            "a-1 [00x] d..2. 1.000001: sched_switch: next_pid=1",
            "a [000] d..2. 1.000001: sched_switch: next_pid=1",
            "a-1 [000] d..2. 99999999999999.000001: sched_switch: next_pid=1",
            "sched_waking: pid=3",
        ] {
            assert_eq!(Line::parse(text), None, "{text}");
        }
    }

    /// The kernel's own format and that of libtraceevent's plugins say the same.
    #[test]
    fn both_forms_of_a_switch() {
        let long = "prev_comm=my task prev_pid=7 prev_prio=120 prev_state=R+ ==> \
                    next_comm=swapper/3 next_pid=0 next_prio=120";
        let short = "my task:7 [120] R+ ==> swapper/3:0 [120]";
        let one = fields::kind("sched_switch", long).flatten().expect("long");
        let other = fields::kind("sched_switch", short)
            .flatten()
            .expect("short");
        assert_eq!(one, other);
        let woken = fields::kind("sched_wakeup", "a:b:12 [98] CPU:003").flatten();
        let expected =
            fields::kind("sched_wakeup", "comm=a:b pid=12 prio=98 target_cpu=003").flatten();
        assert_eq!(woken, expected);
        assert!(
            fields::kind("sched_switch", "prev_comm=a prev_pid=x")
                .expect("known")
                .is_none()
        );
        assert!(fields::kind("irq_handler_entry", "irq=3").is_none());
    }
}
