//! The one place that writes to standard output and standard error. What it prints was made
//! harmless, or is made so here.
//!
//! Free: labels and colours.
//!
//! What must stay: results go to standard output and everything else to standard error; no control
//! sequence but colours passes (`colours_only`). A command calls these methods and never
//! `println!`. A reader that has gone away is no error. Tests by part:
//! `colours_pass_and_nothing_else_does` (`colours_only`, `guarded`),
//! `a_message_is_one_even_if_it_has_lines` (`message`),
//! crates/cli/tests/all/streams.rs::`warnings_go_to_standard_error` (`warn`, `eprint`),
//! streams.rs::`tables_are_coloured_as_asked` and streams.rs::`files_and_no_color_get_none`
//! (`choice`, `is_plain`), crates/cli/tests/all/help.rs::`colour_only_where_it_is_wanted`
//! (`before_parsing`), crates/cli/tests/all/output.rs::`a_reader_that_goes_away_is_no_error` and
//! crates/cli/tests/all/faults/tmpfs.rs::`standard_output_on_a_full_disk` (`print`),
//! crates/cli/tests/all/bad_input.rs::`an_error_does_not_steer_the_terminal` (`error`).
//!
//! Tests: below, crates/cli/tests/all/streams.rs,
//! crates/cli/tests/all/help.rs::colour_only_where_it_is_wanted,
//! crates/cli/tests/all/output.rs::a_reader_that_goes_away_is_no_error,
//! crates/cli/tests/all/faults/tmpfs.rs, crates/cli/tests/all/bad_input.rs

use crate::args::{ColorWhen, Verbosity};
use crate::failure::Failure;
use crate::text::hung;
use anstream::{AutoStream, ColorChoice};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, IsTerminal, Write};
use terminal_size::{Height, Width};
use wakeplace_text::printable_lines;

/// How this run talks to its user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    color: ColorWhen,
    verbosity: Verbosity,
}

impl Terminal {
    /// As the options say.
    pub(crate) fn new(color: ColorWhen, verbosity: Verbosity) -> Self {
        Self { color, verbosity }
    }

    /// Before the options are parsed: only `--color` is looked for, so that clap's own messages
    /// follow it too.
    pub(crate) fn before_parsing() -> Self {
        let args: Vec<_> = std::env::args_os().collect();
        let after = |pair: &[std::ffi::OsString]| (pair[0] == "--color").then(|| pair[1].clone());
        let apart = args.windows(2).find_map(after);
        let joined = args
            .iter()
            .find_map(|arg| Some(arg.to_str()?.strip_prefix("--color=")?.into()));
        let color = match apart.or(joined).as_deref().and_then(OsStr::to_str) {
            Some("always") => ColorWhen::Always,
            Some("never") => ColorWhen::Never,
            _ => ColorWhen::Auto,
        };
        Self::new(color, Verbosity::default())
    }

    /// Whether what goes to standard output may be coloured.
    pub(crate) fn stdout_color(self) -> bool {
        self.choice(&io::stdout()) != ColorChoice::Never
    }

    /// Columns of the terminal on standard output; `None` if it is none.
    pub(crate) fn width(self) -> Option<usize> {
        columns(terminal_size::terminal_size_of(io::stdout()))
    }

    /// The same of standard error.
    pub(crate) fn stderr_width(self) -> Option<usize> {
        columns(terminal_size::terminal_size_of(io::stderr()))
    }

    /// Whether standard output is read by eye.
    pub(crate) fn stdout_is_tty(self) -> bool {
        io::stdout().is_terminal()
    }

    /// Whether progress may be drawn over and over on standard error.
    pub(crate) fn stderr_is_tty(self) -> bool {
        io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }

    /// How much to say.
    pub(crate) fn verbosity(self) -> Verbosity {
        self.verbosity
    }

    /// Writes a whole result, with no control sequences but colours. A reader that has gone away
    /// (`| head`) is no error.
    pub(crate) fn print(self, text: &str) -> Result<(), Failure> {
        let stdout = io::stdout();
        let choice = self.choice(&stdout);
        let mut stream = AutoStream::new(stdout.lock(), choice);
        let written = stream
            .write_all(colours_only(text).as_bytes())
            .and_then(|()| stream.flush());
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Environment(
                format!("standard output: cannot be written: {error}"),
            )),
            _ => Ok(()),
        }
    }

    /// The same on standard error; there is nobody to tell if that fails.
    pub(crate) fn eprint(self, text: &str) {
        let stderr = io::stderr();
        let choice = self.choice(&stderr);
        let mut stream = AutoStream::new(stderr.lock(), choice);
        let _ = stream.write_all(colours_only(text).as_bytes());
    }

    /// Says once what is wrong.
    pub(crate) fn error(self, failure: &Failure) {
        self.labelled(("error:", "1;31"), &failure.to_string());
    }

    /// A remark that changes nothing; `-q` silences it.
    pub(crate) fn warn(self, message: &str) {
        if self.verbosity != Verbosity::Quiet {
            self.labelled(("warning:", "1;33"), message);
        }
    }

    /// A message behind a coloured label, wrapped where a terminal shows it.
    fn labelled(self, (label, color): (&str, &str), text: &str) {
        let text = hung(&format!("{label} {}", message(text)), self.stderr_width());
        let text = text.strip_prefix(label).unwrap_or(&text);
        self.eprint(&format!("\x1b[{color}m{label}\x1b[0m{text}\n"));
    }

    /// A detail for `-v`.
    pub(crate) fn detail(self, message: &str) {
        if self.verbosity == Verbosity::Verbose {
            self.eprint(&format!("{}\n", printable_lines(message.trim_end())));
        }
    }

    /// Whether this stream may have colour: by `--color`, then `NO_COLOR`, `TERM`, and a terminal.
    fn choice(self, stream: &impl IsTerminal) -> ColorChoice {
        match self.color {
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
            ColorWhen::Auto if is_plain() || !stream.is_terminal() => ColorChoice::Never,
            ColorWhen::Auto => ColorChoice::Always,
        }
    }
}

/// Columns of a terminal; narrower ones are as hard to read as lines that are too long.
fn columns(size: Option<(Width, Height)>) -> Option<usize> {
    size.map(|(width, _)| usize::from(width.0).max(40))
}

/// `NO_COLOR` and `TERM=dumb` ask for plain text.
fn is_plain() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// A message with what it names made harmless. Further lines are indented: none of them looks like
/// a message of its own.
fn message(text: &str) -> String {
    printable_lines(text.trim_end()).replace('\n', "\n  ")
}

/// The last guard before the terminal: whoever made the text made names harmless, so that what is
/// left of control characters is colours (ESC `[` NUMBERS `m`) and the ends of lines.
fn colours_only(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default();
    let mut out = guarded(first).into_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && !"[;".contains(c));
        let is_colour = part.starts_with('[') && end.is_some_and(|at| part[at..].starts_with('m'));
        out.push(if is_colour {
            '\x1b'
        } else {
            char::REPLACEMENT_CHARACTER
        });
        out.push_str(&guarded(part));
    }
    out
}

/// Programs in guests end lines with a carriage return, too.
fn guarded(text: &str) -> Cow<'_, str> {
    match text.contains('\r') {
        true => Cow::Owned(printable_lines(&text.replace("\r\n", "\n")).into_owned()),
        false => printable_lines(text),
    }
}

#[cfg(test)]
mod tests {
    use super::{colours_only, message};

    #[test]
    fn colours_pass_and_nothing_else_does() {
        for same in ["a\n\tb", "\x1b[1;31merror:\x1b[0m x", "\x1b[mx", ""] {
            assert_eq!(colours_only(same), same);
        }
        assert_eq!(colours_only("a\r\nb"), "a\nb");
        for (bad, shown) in [
            ("\x1b]0;title\x07", "\u{fffd}]0;title\u{fffd}"),
            ("\x1b[2J", "\u{fffd}[2J"),
            ("\x1b[31", "\u{fffd}[31"),
            ("\x1bm", "\u{fffd}m"),
            ("\u{9b}31m", "\u{fffd}31m"),
            ("a\rb", "a\u{fffd}b"),
        ] {
            assert_eq!(colours_only(bad), shown);
        }
    }

    #[test]
    fn a_message_is_one_even_if_it_has_lines() {
        assert_eq!(
            message("a\nwarning: b\x1b[2J\n"),
            "a\n  warning: b\u{fffd}[2J"
        );
    }
}
