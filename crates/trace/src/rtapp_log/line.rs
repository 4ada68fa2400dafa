//! A line of the log, as rt-app 55cb0c0 writes it (src/rt-app_utils.c, `log_timing`).
//!
//! What must stay: bytes, as tools for rt-app's logs read the columns by place
//! (docs/rules/rt-app.md#rt-app-log); times are whole us, rounded as rt-app rounds. Free: what
//! leaves the bytes of files as they are (ARCHITECTURE.md, "What a change may touch"). Tests by
//! part: `the_header_is_rtapps` (`HEADER`), `a_line_is_rtapps` (`Line`), `halves_go_away_from_zero`
//! (`microseconds`, `signed_microseconds`), the second also `fmt`.
//!
//! Tests: below
use std::fmt;

/// The first line of each file.
pub(super) const HEADER: &str = "#idx     perf      run   period           start             end\
    \x20         rel_st      slack c_duration   c_period     wu_lat\n";

/// One iteration of a phase. Times are ns here, whole microseconds in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Index of the thread, in order of creation.
    pub(super) index: u32,
    /// Work units, configured.
    pub(super) perf: u64,
    /// Wall time inside what runs.
    pub(super) run_ns: u64,
    /// Begin, since the start of all.
    pub(super) start_ns: u64,
    /// End, likewise.
    pub(super) end_ns: u64,
    /// To the timer's expiry when it was reached; below 0: late.
    pub(super) slack_ns: i64,
    /// Configured time of what runs, us.
    pub(super) duration_us: u64,
    /// Configured periods, us.
    pub(super) period_us: u64,
    /// From expiry to running again.
    pub(super) wake_latency_ns: u64,
}

/// rt-app rounds to the nearest microsecond, halves away from zero (`lround`).
fn microseconds(ns: u64) -> u64 {
    ns / 1000 + u64::from(ns % 1000 >= 500)
}

/// The same of a time with a sign.
fn signed_microseconds(ns: i64) -> i64 {
    let us = microseconds(ns.unsigned_abs()).cast_signed();
    if ns < 0 { -us } else { us }
}

impl fmt::Display for Line {
    /// One line with its newline; widths are rt-app's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = microseconds(self.start_ns);
        writeln!(
            f,
            "{:4} {:8} {:8} {:8} {start:15} {:15} {start:15} {:10} {:10} {:10} {:10}",
            self.index,
            self.perf,
            microseconds(self.run_ns),
            microseconds(self.end_ns.saturating_sub(self.start_ns)),
            microseconds(self.end_ns),
            signed_microseconds(self.slack_ns),
            self.duration_us,
            self.period_us,
            microseconds(self.wake_latency_ns),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the widths of `"%s %8s %8s %8s %15s %15s %15s %10s %10s %10s %10s"`
    /// (docs/rules/rt-app.md#rt-app-log), spaces counted by hand.
    #[test]
    fn the_header_is_rtapps() {
        let right = |name: &str, width: usize| " ".repeat(width - name.len()) + name;
        let columns = [
            "#idx".to_owned(),
            right("perf", 8),
            right("run", 8),
            right("period", 8),
            right("start", 15),
            right("end", 15),
            right("rel_st", 15),
            right("slack", 10),
            right("c_duration", 10),
            right("c_period", 10),
            right("wu_lat", 10),
        ];
        assert_eq!(HEADER, columns.join(" ") + "\n");
    }

    /// Goal: every column at its place in whole microseconds, as
    /// `"%4d %8lu %8lu %8lu %15llu %15llu %15llu %10ld %10lu %10lu %10lu"` prints them.
    #[test]
    fn a_line_is_rtapps() {
        let line = Line {
            index: 3,
            perf: 28,
            run_ns: 2_800_499,
            start_ns: 16_000_500,
            end_ns: 32_000_400,
            slack_ns: 13_199_501,
            duration_us: 2800,
            period_us: 16_000,
            wake_latency_ns: 7_500,
        };
        let expected = "   3       28     2800    16000           16001           32000\
                        \x20          16001      13200       2800      16000          8\n";
        assert_eq!(line.to_string(), expected);
    }

    #[test]
    fn halves_go_away_from_zero() {
        for (ns, us) in [
            (0, 0),
            (499, 0),
            (500, 1),
            (-499, 0),
            (-500, -1),
            (-1_500, -2),
            (1_499, 1),
        ] {
            assert_eq!(signed_microseconds(ns), us, "{ns}");
        }
        assert_eq!(signed_microseconds(i64::MIN), -9_223_372_036_854_776);
        assert_eq!(microseconds(u64::MAX), 18_446_744_073_709_552);
    }
}
