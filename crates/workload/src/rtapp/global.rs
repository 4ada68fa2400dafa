//! The `global` object (rt-app 55cb0c0 src/rt-app_parse_config.c, `parse_global`)
//! (docs/rules/rt-app.md#rt-app-global).
//!
//! Called by `rtapp/read.rs`. Keys, defaults and types are rt-app's: they stay. Our own key is
//! passed over by rt-app.
//!
//! What must stay: a file without `global` has rt-app's defaults, and no log; `calibration` is
//! "CPUn" or ns per loop; `start_spread` alone is not rt-app's. Free: what leaves scripts as they
//! are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes.
//! Tests by part: `every_file_is_read_as_rtapp_reads_it` (`read_global`, `fill`, `policy`,
//! `log_size`, `ftrace`), `the_calibration_is_a_cpu_or_the_biggest` (`calibration`, `ends_early`,
//! `leading_int`), `start_spread_draws_when_threads_begin` (`start_spread`),
//! rtapp_events.rs::`what_the_logs_need` (`log_size`), rtapp_keys.rs::`a_refusal_names_the_key`
//! (ranges), all (`has_key`).
//!
//! Tests: crates/workload/tests/all/corpus.rs, crates/workload/tests/all/rtapp_files.rs,
//! crates/workload/tests/all/rtapp_scripts.rs, crates/workload/tests/all/rtapp_events.rs,
//! crates/workload/tests/all/rtapp_keys.rs
use super::fields::{Fields, wrong_type};
use super::keys::{Place, warn_of_unknown};
use super::notes::Notes;
use super::structure::{Global, LoadCalibration, LogSize, Policy};
use crate::error::{Fault, Position};
use crate::json::{Kind, Member};

/// Categories of `ftrace` and their bits.
const FTRACE: [(&str, u32); 5] = [
    ("main", 1),
    ("task", 2),
    ("loop", 4),
    ("event", 8),
    ("stats", 16),
];

/// Reads `global`; without it rt-app calibrates on CPU 0 and writes no log.
pub(super) fn read_global(root: Fields<'_>, notes: &mut Notes) -> Result<Global, Fault> {
    let mut global = Global {
        duration_s: -1,
        default_policy: Policy::Other,
        calibration: LoadCalibration::Cpu(0),
        calibration_at: root.at,
        log_size: LogSize::Disabled,
        logdir: "./".to_owned(),
        log_basename: "rt-app".to_owned(),
        ftrace: 0,
        gnuplot: false,
        lock_pages: true,
        pi_enabled: false,
        io_device: "/dev/null".to_owned(),
        mem_buffer_size: 4_194_304,
        cumulative_slack: false,
        start_spread_us: 0,
    };
    let member = root.get("global");
    if member.is_none_or(|member| !has_key(member, "calibration")) {
        let at = member.map_or(root.at, |member| member.at);
        notes.warn(
            at,
            "no `global.calibration`: `run` times refer to CPU 0, as in rt-app",
        );
    }
    if let Some(member) = member {
        let fields = Fields::of(&member.value, "global")?;
        warn_of_unknown(fields.object, Place::Global, notes);
        fill(&mut global, fields)?;
    }
    Ok(global)
}

/// Our own key: rt-app ignores it, as it does all that it does not know.
fn start_spread(fields: Fields<'_>) -> Result<u64, Fault> {
    let Some(us) = fields.int("start_spread")? else {
        return Ok(0);
    };
    u64::try_from(us).map_err(|_| {
        let at = fields
            .get("start_spread")
            .map_or(fields.at, |member| member.value.at);
        Fault::unusable(at, "`start_spread` is negative").expected("microseconds, from 0 on")
    })
}

/// The member is an object with that key.
fn has_key(member: &Member, key: &str) -> bool {
    matches!(&member.value.kind, Kind::Object(object) if object.get(key).is_some())
}

/// Takes over the keys of `global` in rt-app's order.
fn fill(global: &mut Global, fields: Fields<'_>) -> Result<(), Fault> {
    global.duration_s = fields.int("duration")?.unwrap_or(-1);
    if let Some(name) = fields.text("default_policy")? {
        let at = fields
            .get("default_policy")
            .map_or(fields.at, |member| member.value.at);
        global.default_policy = policy(name, at)?;
    }
    if let Some(member) = fields.get("calibration") {
        global.calibration = calibration(member)?;
        global.calibration_at = member.value.at;
    }
    global.log_size = log_size(fields)?;
    global.ftrace = ftrace(fields)?;
    let texts = [
        ("logdir", &mut global.logdir),
        ("log_basename", &mut global.log_basename),
        ("io_device", &mut global.io_device),
    ];
    for (key, text) in texts {
        if let Some(value) = fields.text(key)? {
            value.clone_into(text);
        }
    }
    global.gnuplot = fields.boolean("gnuplot", false)?;
    global.lock_pages = fields.boolean("lock_pages", true)?;
    global.pi_enabled = fields.boolean("pi_enabled", false)?;
    global.cumulative_slack = fields.boolean("cumulative_slack", false)?;
    global.start_spread_us = start_spread(fields)?;
    global.mem_buffer_size = fields
        .int("mem_buffer_size")?
        .unwrap_or(global.mem_buffer_size);
    Ok(())
}

/// The policy of that name, in exact case.
pub(super) fn policy(name: &str, at: Position) -> Result<Policy, Fault> {
    Policy::from_name(name).ok_or_else(|| {
        Fault::invalid(at, format!("no policy is called `{name}`")).one_of(name, &Policy::NAMES)
    })
}

/// `123` (ns per loop) or `CPU3`; what follows the number is ignored, as by `sscanf`.
fn calibration(member: &Member) -> Result<LoadCalibration, Fault> {
    let expected = "ns per loop, or \"CPU<n>\"";
    match &member.value.kind {
        Kind::Int(ns) => Ok(LoadCalibration::NsPerLoop(*ns)),
        Kind::Text(text) => {
            let number = text.strip_prefix("CPU").and_then(leading_int);
            let number = number.or(ends_early(text).then_some(0));
            number.map(LoadCalibration::Cpu).ok_or_else(|| {
                let message = format!("`calibration` is \"{text}\"");
                Fault::invalid(member.value.at, message).expected(expected)
            })
        }
        kind => Err(wrong_type(member.value.at, "calibration", kind, expected)),
    }
}

/// The text ends before the number of `CPU<n>` begins. glibc's `sscanf` then gives -1, and rt-app,
/// which looks for 0 only, goes on with the CPU of before: 0.
fn ends_early(text: &str) -> bool {
    let rest = text
        .strip_prefix("CPU")
        .map(|rest| rest.trim_start_matches(BLANKS));
    rest == Some("") || "CPU".starts_with(text)
}

/// What C takes for blanks.
const BLANKS: [char; 6] = [' ', '\t', '\n', '\r', '\u{b}', '\u{c}'];

/// The integer a text begins with, as C reads it: blanks, a sign, digits, then anything; saturated.
pub(super) fn leading_int(text: &str) -> Option<i32> {
    let text = text.trim_start_matches(BLANKS);
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut value: Option<i64> = None;
    for digit in text.bytes().take_while(u8::is_ascii_digit) {
        let number = value.unwrap_or(0) * 10 + i64::from(digit - b'0');
        value = Some(number.min(1 << 32));
    }
    let value = if negative { -value? } else { value? };
    Some(i32::try_from(value).unwrap_or(if negative { i32::MIN } else { i32::MAX }))
}

/// With `global`, the default is the file; other strings than the three known switch logging off.
fn log_size(fields: Fields<'_>) -> Result<LogSize, Fault> {
    let Some(member) = fields.get("log_size") else {
        return Ok(LogSize::File);
    };
    match &member.value.kind {
        Kind::Int(size) => Ok(LogSize::Mebibytes(*size)),
        Kind::Text(text) if text == "file" || text == "auto" => Ok(LogSize::File),
        Kind::Text(_) => Ok(LogSize::Disabled),
        kind => {
            let expected = "MiB, or \"disable\", \"file\", \"auto\"";
            Err(wrong_type(member.value.at, "log_size", kind, expected))
        }
    }
}

/// A comma list of exact words in either case; `none` clears what stands before it.
fn ftrace(fields: Fields<'_>) -> Result<u32, Fault> {
    let Some(member) = fields.get("ftrace") else {
        return Ok(0);
    };
    let list = match &member.value.kind {
        Kind::Bool(all) => return Ok(if *all { u32::MAX } else { 0 }),
        Kind::Text(list) => list,
        kind => {
            return Err(wrong_type(
                member.value.at,
                "ftrace",
                kind,
                "a list of categories",
            ));
        }
    };
    let mut mask = 0;
    for word in list.split(',').filter(|word| !word.is_empty()) {
        if word.eq_ignore_ascii_case("none") {
            mask = 0;
            continue;
        }
        let Some((_, bit)) = FTRACE
            .iter()
            .find(|(name, _)| word.eq_ignore_ascii_case(name))
        else {
            let message = format!("`ftrace` has no category `{word}`");
            return Err(Fault::invalid(member.value.at, message)
                .one_of(word, &["main", "task", "loop", "event", "stats", "none"]));
        };
        mask |= bit;
    }
    Ok(mask)
}
