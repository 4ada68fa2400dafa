//! Where the facts come from, in the words of a platform file.

use super::facts::{Facts, Form};
use super::hybrid::hybrid;
use super::modelled::modelled;
use super::text::Standing;

/// The kernel tree the facts were read from, and how a platform file calls it.
const KERNEL: &str = "linux 7.3.4 (Debian linux-source-7.3 7.3.4-1~bpo13+1), ";

/// Words of the collection that mean nothing outside it, and what they stand for.
const PLAIN: &[(&str, &str)] = &[
    ("Seed 000 says", "The capacity-awareness series says"),
    ("Seed 001 only says", "The power-aware series only says"),
    ("The seed only says", "The power-aware series only says"),
    ("The seed (002)", "The SIS_SHORT series"),
    ("seed says", "the power-aware series says"),
    (
        "that this is the seed box",
        "that this is the box of the power-aware series",
    ),
    (
        "Not named by the seeds; current",
        "Not named by the series; current",
    ),
];

/// A source or remark in plain words.
pub(super) fn plain(text: &str) -> String {
    let mut text = text.replace(KERNEL, "Linux 7.3.4 ");
    for (from, to) in PLAIN {
        text = text.replace(from, to);
    }
    match text.split_once("; spec/data/") {
        Some((before, _)) => before.to_owned(),
        None if ["arch/", "drivers/", "kernel/"]
            .iter()
            .any(|top| text.starts_with(top)) =>
        {
            format!("Linux 7.3.4 {text}")
        }
        None => text,
    }
}

/// Fields of the provenance that are not about CPUs, numbering or nodes.
const ELSEWHERE: &[&str] = &[
    "idle states",
    "sched_topology",
    "C-states",
    "opp ",
    "OPP",
    "transition",
    "capacity",
    "E capacity",
    "L2",
    "L3",
    "56C: L2",
    "DB8520",
];

/// Which CPUs there are, where they sit and how they are numbered. The worst standing counts.
pub(super) fn machine(facts: &Facts) -> (String, Standing) {
    let about = |field: &str| !ELSEWHERE.iter().any(|start| field.starts_with(start));
    let only_nodes = |field: &str| field.starts_with("NUMA");
    joined(facts, |field| about(field) && !only_nodes(field))
}

/// The distances of the nodes.
pub(super) fn nodes(facts: &Facts) -> (String, Standing) {
    joined(facts, |field| {
        field.contains("NUMA") || field.contains("distances") || field.starts_with("as wsm-ex")
    })
}

fn joined(facts: &Facts, wanted: impl Fn(&str) -> bool) -> (String, Standing) {
    let entries = facts
        .provenance
        .iter()
        .filter(|(field, _, _)| wanted(field));
    let mut standing = Standing::Published;
    let mut parts = Vec::new();
    for (field, word, source) in entries {
        standing = standing.max(Standing::read(word));
        let sure = match Standing::read(word) {
            Standing::Published => "",
            _ if word == "published shape" => " (published shape)",
            Standing::Derived => " (derived)",
            Standing::Assumed => " (assumed)",
        };
        if standing == Standing::Published && field.starts_with("cpus, ") {
            parts.push(plain(source));
            continue;
        }
        parts.push(format!("{}{sure}: {}", plain(field), plain(source)));
    }
    if facts.form == Form::OneThread {
        standing = standing.max(Standing::Derived);
        parts.push("with SMT off Linux numbers one CPU per core".to_owned());
    }
    (parts.join("; "), standing)
}

/// The remarks of a machine, with those of the file's own form first.
pub(super) fn notes(facts: &Facts) -> Vec<String> {
    let mut notes = own_notes(facts);
    if hybrid(facts).is_some() {
        let words = "No power is published. What is here is modelled from the base power, for \
                     cores only: energy by it says which cores slept and at which clocks others \
                     ran, not what a machine drew.";
        notes.push(words.to_owned());
    }
    for note in &facts.notes {
        if note.starts_with("No per-OPP power") {
            let words = if modelled(facts).is_some() {
                "No power is published. What is here is modelled from the thermal design power: \
                 energy by it says which parts slept, not what a machine drew."
            } else {
                "No power at operating points is published for x86, so there is no energy."
            };
            notes.push(words.to_owned());
        } else if note.starts_with("idle_states is") || note.starts_with("Seed 004") {
            // The files of both tables say it themselves.
        } else {
            notes.push(plain(note));
        }
    }
    notes
}

fn own_notes(facts: &Facts) -> Vec<String> {
    let mut notes = Vec::new();
    let mut say = |note: &str| notes.push(note.to_owned());
    match facts.form {
        Form::SecondIdleTable => {
            say(
                "The six idle states of the vendor's 3.x kernels, which the sched_mc series was \
                 measured on; `u8500` has the two of today's kernel. All else is the same.",
            );
            say(
                "The states stand by latency, as every file's do: the vendor's order has \
                 `ApSleep UL-PLL off` fourth. ApDeepIdle was a configuration option.",
            );
        }
        Form::Whole if !facts.idle_states_2011.is_empty() => {
            say(
                "The two idle states of today's kernel; `u8500-2011` has the six of the vendor's \
                 3.x kernels, which the sched_mc series was measured on.",
            );
        }
        Form::OneThread => {
            say(
                "SMT off: capacities differ (asymmetric), CPUs have no priorities. The kernel \
                 then makes an Energy Model without power (four states per CPU at 40, 60, 80 and \
                 100 %, cost 2 to 5 and 2 more on a P core, 1 more on an E core); this file does \
                 not state such costs (`em_cost`), so there is no Energy Model here.",
            );
        }
        Form::Whole if facts.intel_hybrid.is_some() => {
            say(
                "SMT on: every CPU has capacity 1024, and P cores come first by ASYM_PACKING; the \
                 file with `-nosmt` is the same machine with SMT off.",
            );
        }
        Form::Whole => {}
    }
    if facts.prefcore.is_some() {
        say(
            "Preferred cores: amd-pstate ranks cores by CPPC highest_perf, which differs from one \
             specimen to the next; nobody published a ranking, so all CPUs are alike here.",
        );
    }
    if facts.vendor_eas.is_some() {
        say(
            "CPU power is the vendor kernel's table as measured; it does not rise steadily. The \
             cluster columns of that table are left out: they are per clock, and the mainline \
             cpu-map has all CPUs in one cluster.",
        );
    }
    notes
}
