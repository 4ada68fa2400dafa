//! Metrics' names in plain words, by one rule: the unit goes, the statistic comes last.
//!
//! `wake_latency_us_p99` is "Wake-up latency, 99th percentile", `missed_periods_total` "Missed
//! periods". The raw name stands beside it wherever there is room (docs/guide/results.md,
//! "Intervals").
//!
//! What must stay: only names for people come from here, for pages and terminal: the raw name is
//! the key everywhere else. A metric whose name follows the rule needs nothing here. Free: words
//! for people that no test quotes. Tests by part: `names_in_words` (`plain`, and its lists).
//!
//! A share whose number is a metric, too, says that it is one.
//!
//! Callers: html/compared.rs (`plain`), html/rows.rs (`plain`), phrase.rs (`plain`).
//!
//! Tests: below

use wakeplace_metrics::number_of_share;

/// Parts that are a unit, which stands with the value.
const UNITS: [&str; 8] = ["j", "w", "us", "ms", "s", "pct", "bogo", "total"];

/// What a statistic is called.
const STATISTICS: [(&str, &str); 8] = [
    ("mean", "mean"),
    ("min", "least"),
    ("max", "longest"),
    ("p50", "median"),
    ("p90", "90th percentile"),
    ("p95", "95th percentile"),
    ("p99", "99th percentile"),
    ("p999", "99.9th percentile"),
];

/// Parts that are written otherwise in words.
const WORDS: [(&str, &str); 7] = [
    ("cpu", "CPU"),
    ("cpus", "CPUs"),
    ("wake", "wake-up"),
    ("wakeups", "wake-ups"),
    ("wakeup", "wake-up"),
    ("mb", "MB"),
    ("ipc", "IPC"),
];

/// The name of a metric in plain words.
pub fn plain(metric: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut statistic = None;
    let parts: Vec<&str> = metric.split('_').collect();
    for (at, part) in parts.iter().enumerate() {
        let rate = at > 0 && parts[at - 1] == "per";
        if at > 0 && UNITS.contains(part) && !rate {
            continue;
        }
        if at > 0
            && !rate
            && let Some((_, word)) = STATISTICS.iter().find(|(name, _)| name == part)
        {
            statistic = Some(*word);
            continue;
        }
        let known = WORDS.iter().find(|(name, _)| name == part);
        words.push(known.map_or(*part, |(_, word)| word).to_owned());
    }
    // What a rate is per is its unit.
    if let [.., per, second] = words.as_slice()
        && (per == "per" && second == "s")
    {
        words.truncate(words.len() - 2);
        words.pop_if(|last| last == "MB");
    }
    let mut text = words.join(" ");
    if let Some(first) = text.get(..1).map(str::to_ascii_uppercase) {
        text.replace_range(..1, &first);
    }
    // Beside the number of what it is a share of, which has the same words.
    if number_of_share(metric).is_some() {
        text.push_str(", share");
    }
    match statistic {
        Some("longest") if !metric.contains("late") => format!("{text}, most"),
        Some(statistic) => format!("{text}, {statistic}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn names_in_words() {
        for (metric, words) in [
            ("energy_j", "Energy"),
            ("cpu_energy_j", "CPU energy"),
            ("wake_latency_us_p99", "Wake-up latency, 99th percentile"),
            ("wake_latency_us_max", "Wake-up latency, longest"),
            ("missed_periods_total", "Missed periods"),
            ("missed_frames_total", "Missed frames"),
            ("missed_frames_pct", "Missed frames, share"),
            ("idle_residency_pct", "Idle residency"),
            ("frame_lateness_us_max", "Frame lateness, longest"),
            ("busy_cpus_mean", "Busy CPUs, mean"),
            ("throughput_mb_per_s", "Throughput"),
            ("throughput_per_s", "Throughput"),
            ("jobs_per_min", "Jobs per min"),
            ("s", "S"),
            ("", ""),
            ("größe_j", "Größe"),
        ] {
            assert_eq!(plain(metric), words, "{metric}");
        }
    }
}
