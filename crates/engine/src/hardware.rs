//! What the simulated hardware does of its own accord: interrupts of devices, limits of the
//! frequency ranges, new tables of the energy model. All are model settings (`model.irq`,
//! `model.freq_cap`, `model.em_scale`). See docs/guide/model.md, "Interrupts of devices, limits of
//! frequencies, I/O".
//!
//! What must stay: the text that a setting shows is read again as the same setting
//! (`settings_are_read_and_shown`), since results record it and commands are made of it. Times are
//! ns, frequencies kHz. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: `settings_are_read_and_shown` (all six functions but
//! `:movable`), crates/engine/tests/behaviour/classes.rs::`interrupts_take_a_tenth` (what
//! `Interrupts` mean), crates/engine/tests/behaviour/sched_mc.rs::`interrupts_follow` (`movable`),
//! namely `time`, `parse_interrupts`, `show_interrupts`, `parse_caps`, `show_caps`, `parse_scales`,
//! `show_scales` by `settings_are_read_and_shown`.
//!
//! Callers: options.rs (`parse_interrupts`, `show_interrupts`, `show_caps`, `show_scales`).
//!
//! Tests: below, crates/engine/tests/behaviour/classes.rs::interrupts_take_a_tenth,
//! crates/engine/tests/behaviour/sched_mc.rs::interrupts_follow

use wakeplace_workload::parse_duration_or_zero_ns;

/// A device that interrupts one CPU again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupts {
    /// The CPU.
    pub cpu: u32,
    /// From one interrupt to the next, ns; the first comes after one period.
    pub period_ns: u64,
    /// What each takes, ns.
    pub run_ns: u64,
    /// Its interrupts may go to another CPU, if the policy sends them there.
    pub movable: bool,
}

/// A frequency domain's upper limit from some time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreqCap {
    /// Index into the platform's frequency domains.
    pub domain: u32,
    /// Highest frequency that may be used; None: no limit any more.
    pub khz: Option<u32>,
    /// From then on, ns.
    pub at_ns: u64,
}

/// Another table of a domain's energy model from some time on: a chip that was binned, or leaks
/// more while it is warm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmScale {
    /// Index into the platform's frequency domains.
    pub domain: u32,
    /// Its powers, percent of those of the platform file.
    pub percent: u32,
    /// From then on, ns.
    pub at_ns: u64,
}

/// The least period of a device's interrupts, ns.
const PERIOD_MIN_NS: u64 = 10_000;

/// A time with its unit, ns; 0 is one. None: it is none.
fn time(text: &str) -> Option<u64> {
    parse_duration_or_zero_ns(text).ok()
}

/// `CPU:PERIOD:RUN[:movable][+...]`, or `off`; None: it is neither.
pub(crate) fn parse_interrupts(text: &str) -> Option<Vec<Interrupts>> {
    let one = |part: &str| {
        let mut fields = part.split(':');
        let source = Interrupts {
            cpu: fields.next()?.parse().ok()?,
            period_ns: time(fields.next()?)?,
            run_ns: time(fields.next()?)?,
            movable: match fields.next() {
                None => false,
                Some("movable") => true,
                Some(_) => return None,
            },
        };
        let fits =
            source.period_ns >= PERIOD_MIN_NS && (1..source.period_ns).contains(&source.run_ns);
        (fits && fields.next().is_none()).then_some(source)
    };
    match text {
        "off" => Some(Vec::new()),
        _ => text.split('+').map(one).collect(),
    }
}

/// The text that `parse_interrupts` reads as these.
pub(crate) fn show_interrupts(sources: &[Interrupts]) -> String {
    let one = |s: &Interrupts| {
        let movable = if s.movable { ":movable" } else { "" };
        format!("{}:{}ns:{}ns{movable}", s.cpu, s.period_ns, s.run_ns)
    };
    match sources {
        [] => "off".to_owned(),
        _ => sources.iter().map(one).collect::<Vec<_>>().join("+"),
    }
}

/// `DOMAIN:KHZ[@TIME][+...]`, KHZ a number or `max`; or `off`. None: it is neither.
pub(crate) fn parse_caps(text: &str) -> Option<Vec<FreqCap>> {
    let one = |part: &str| {
        let (limit, at) = part.split_once('@').unwrap_or((part, "0s"));
        let (domain, khz) = limit.split_once(':')?;
        let khz = match khz {
            "max" => None,
            number => Some(number.parse().ok()?),
        };
        Some(FreqCap {
            domain: domain.parse().ok()?,
            khz,
            at_ns: time(at)?,
        })
    };
    match text {
        "off" => Some(Vec::new()),
        _ => text.split('+').map(one).collect(),
    }
}

/// The text that `parse_caps` reads as these.
pub(crate) fn show_caps(caps: &[FreqCap]) -> String {
    let one = |cap: &FreqCap| {
        let khz = cap.khz.map_or("max".to_owned(), |khz| khz.to_string());
        format!("{}:{khz}@{}ns", cap.domain, cap.at_ns)
    };
    match caps {
        [] => "off".to_owned(),
        _ => caps.iter().map(one).collect::<Vec<_>>().join("+"),
    }
}

/// `DOMAIN:PERCENT[@TIME][+...]`, or `off`; None: it is neither.
pub(crate) fn parse_scales(text: &str) -> Option<Vec<EmScale>> {
    let one = |part: &str| {
        let (scale, at) = part.split_once('@').unwrap_or((part, "0s"));
        let (domain, percent) = scale.split_once(':')?;
        let percent = percent.strip_suffix('%').unwrap_or(percent);
        let percent: u32 = percent.parse().ok()?;
        Some(EmScale {
            domain: domain.parse().ok()?,
            percent: (1..=10_000).contains(&percent).then_some(percent)?,
            at_ns: time(at)?,
        })
    };
    match text {
        "off" => Some(Vec::new()),
        _ => text.split('+').map(one).collect(),
    }
}

/// The text that `parse_scales` reads as these.
pub(crate) fn show_scales(scales: &[EmScale]) -> String {
    let one = |s: &EmScale| format!("{}:{}@{}ns", s.domain, s.percent, s.at_ns);
    match scales {
        [] => "off".to_owned(),
        _ => scales.iter().map(one).collect::<Vec<_>>().join("+"),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_caps, parse_interrupts, parse_scales};
    use super::{show_caps, show_interrupts, show_scales};

    #[test]
    fn settings_are_read_and_shown() {
        let sources = parse_interrupts("0:1ms:100us+3:20us:1us").unwrap();
        assert_eq!(
            (sources[0].period_ns, sources[0].run_ns),
            (1_000_000, 100_000)
        );
        assert_eq!(parse_interrupts(&show_interrupts(&sources)), Some(sources));
        let caps = parse_caps("1:1805000@1s+1:max@3s+0:533000").unwrap();
        assert_eq!(
            (caps[0].khz, caps[0].at_ns),
            (Some(1_805_000), 1_000_000_000)
        );
        assert_eq!((caps[1].khz, caps[2].at_ns), (None, 0));
        assert_eq!(parse_caps(&show_caps(&caps)), Some(caps));
        assert_eq!(parse_interrupts("off"), Some(Vec::new()));
        assert_eq!(parse_caps(&show_caps(&[])), Some(Vec::new()));
        for wrong in [
            "0:1ms",
            "0:1ms:1ms",
            "0:1us:0ns",
            "x:1ms:1us",
            "0:1ms:1us:1us",
            "",
        ] {
            assert_eq!(parse_interrupts(wrong), None, "{wrong}");
        }
        for wrong in ["1", "1:fast", "1:1000@soon", ""] {
            assert_eq!(parse_caps(wrong), None, "{wrong}");
        }
        let scales = parse_scales("0:150%@2s+1:80").unwrap();
        assert_eq!((scales[0].percent, scales[0].at_ns), (150, 2_000_000_000));
        assert_eq!((scales[1].domain, scales[1].at_ns), (1, 0));
        assert_eq!(parse_scales(&show_scales(&scales)), Some(scales));
        assert_eq!(parse_scales(&show_scales(&[])), Some(Vec::new()));
        for wrong in ["1", "1:0", "1:10001", "1:50@soon", "x:50", ""] {
            assert_eq!(parse_scales(wrong), None, "{wrong}");
        }
    }
}
