//! `platform show` for people: what the model understood, and where each figure comes from
//! (docs/guide/platforms.md, "What the words mean").
//!
//! No program reads the page (`platform_json.rs` is for those): words and order are free.
//!
//! What must stay: no figure is computed here but sums for a line. What many clocks, domains or
//! sources have in common stands once, so that the page of a big machine can be read. Words of
//! `standing` are those of docs/guide/platforms.md. Tests by part:
//! crates/cli/tests/all/results.rs::`a_platform_is_shown_with_its_sources` (`page`, `sources`,
//! `standing`), results.rs::`cores_and_domains_are_shown_as_they_are` (`cpus`, `of_domains`),
//! results.rs::`lists_and_pages_of_platforms_are_short` (`clocks`, `scheduling_domains`, `groups`),
//! results.rs::`clocks_points_and_moves_are_shown` (`costs`),
//! crates/cli/tests/all/report.rs::`kinds_of_cpu_within_a_cluster_are_told_apart` (names of kinds),
//! crates/cli/tests/all/hostile_text.rs::`answers_show_names_harmlessly_in_every_form` (names from
//! files). No test of its own: `idle_states`, `shared`, `housekeeping` and `board`; the pages of
//! all built-in machines are made by lists_and_pages_of_platforms_are_short.
//!
//! Tests: crates/cli/tests/all/results.rs,
//! crates/cli/tests/all/report.rs::kinds_of_cpu_within_a_cluster_are_told_apart,
//! crates/cli/tests/all/hostile_text.rs

use super::platform_clocks;
use super::platform_points::{operating_points, power};
use crate::machine::{CoreView, Domain};
use crate::page::{Form, Page};
use crate::text::{cpu_list, time};
use wakeplace_platform::{
    CpuGroup, CpuId, FreqDomain, HousekeepingThread, IdleScope, Platform, PowerUnit, Source,
    Standing, other_names,
};
use wakeplace_report::{Align, Cell, Table};

/// The whole page. What many tables or lines have in common stands once: big machines have
/// hundreds of clocks and domains. The JSON form has them one by one.
pub(super) fn page(platform: &Platform, core: &CoreView, policy: &str, form: Form) -> String {
    let about = format!("{}. {}", platform.title, summary(platform));
    let mut page = Page::new(form, &platform.name, &about);
    let others = other_names(&platform.name);
    if !others.is_empty() {
        page.paragraph(&format!("Also known as {}.", others.join(", ")));
    }
    cpus(&mut page, platform);
    clocks(&mut page, platform, core);
    platform_clocks::section(&mut page, platform);
    idle_states(&mut page, platform);
    scheduling_domains(&mut page, core, policy);
    shared(&mut page, platform);
    costs(&mut page, platform);
    housekeeping(&mut page, platform);
    board(&mut page, platform);
    sources(&mut page, platform);
    page.finish()
}

/// The operating points of all clocks; those of clocks that are alike are one table.
fn clocks(page: &mut Page, platform: &Platform, core: &CoreView) {
    let states = |index: usize| core.energy.get(index).map_or(&[][..], Vec::as_slice);
    let domains = &platform.freq_domains;
    let key = |at: usize| {
        (
            &domains[at].opps,
            domains[at].transition_latency_ns,
            states(at),
        )
    };
    for (index, domain) in domains.iter().enumerate() {
        if (0..index).any(|other| key(other) == key(index)) {
            continue;
        }
        let same = (index..domains.len()).filter(|other| key(*other) == key(index));
        let all: Vec<&FreqDomain> = same.map(|other| &domains[other]).collect();
        operating_points(page, platform, (domain, &of_domains(&all)), states(index));
    }
}

/// The machine in one line: CPUs, kinds, clocks, power.
fn summary(platform: &Platform) -> String {
    let count = |n: usize, one: &str| {
        if n == 1 {
            format!("1 {one}")
        } else {
            format!("{n} {one}s")
        }
    };
    let modelled = platform.modelled_power().len() == platform.cpus.len();
    let model = match platform.has_energy_model {
        true => "",
        false => "; the kernel has no energy model",
    };
    let power = match platform.power_unit {
        PowerUnit::Microwatt if modelled => {
            "power in watts that nobody measured or published, so that joules are a model's"
        }
        PowerUnit::Microwatt => "power in watts, so that energy is in joules",
        PowerUnit::Bogo => "power in arbitrary units, so that there are no joules",
        PowerUnit::None => "no power figures, so that there is no energy",
    };
    format!(
        "{}, {} in {}, scheduler tick {} Hz; {power}{model}.",
        platform.arch,
        count(platform.cpus.len(), "CPU"),
        count(platform.clusters.len(), "cluster"),
        platform.tick_hz,
    )
}

/// Longest list of CPUs in a heading.
const HEADING_CHARS: usize = 48;

/// Most frequency domains that a heading lists one by one.
const LISTED_DOMAINS: usize = 4;

/// The CPUs of domains that have one table: domain by domain, or of many all at once.
fn of_domains(domains: &[&FreqDomain]) -> String {
    if domains.len() <= LISTED_DOMAINS {
        let each: Vec<String> = domains.iter().map(|d| numbers(&d.cpus)).collect();
        let each = each.join(" | ");
        if each.len() <= HEADING_CHARS {
            return each;
        }
    }
    let mut cpus: Vec<CpuId> = domains.iter().flat_map(|d| d.cpus.clone()).collect();
    cpus.sort_unstable_by_key(|cpu| cpu.0);
    let all = numbers(&cpus);
    let cpus = match all.len() <= HEADING_CHARS {
        true => all,
        false => format!("{} and {} more", cpus[0].0, cpus.len() - 1),
    };
    format!("{cpus} ({} frequency domains)", domains.len())
}

/// A list of CPUs that may be longer than a line: it can be broken behind its commas.
fn breakable(list: &str) -> String {
    match list.len() <= HEADING_CHARS / 2 {
        true => list.to_owned(),
        false => list.replace(',', ", "),
    }
}

/// CPU numbers as text.
pub(super) fn numbers(cpus: &[CpuId]) -> String {
    let numbers: Vec<u32> = cpus.iter().map(|cpu| cpu.0).collect();
    cpu_list(&numbers)
}

/// A table of the CPUs, those that are alike in one row.
fn cpus(page: &mut Page, platform: &Platform) {
    let columns = [
        "cluster", "cpus", "kind", "capacity", "speed", "cores", "package", "node",
    ];
    let mut table = Table::new("cpus", &columns)
        .align("capacity", Align::Right)
        .align("speed", Align::Right)
        .align("cores", Align::Right)
        .align("package", Align::Right)
        .align("node", Align::Right);
    // One line per cluster and kind: CPUs that differ in nothing stand together.
    let key = |id: CpuId| {
        let cpu = &platform.cpus[id.index()];
        (
            cpu.kind.clone(),
            (cpu.capacity, cpu.speed),
            cpu.package,
            cpu.node,
        )
    };
    for cluster in &platform.clusters {
        let mut rest = cluster.cpus.as_slice();
        while let [first, ..] = rest {
            let same = rest
                .iter()
                .take_while(|cpu| key(**cpu) == key(*first))
                .count();
            let (kind, (capacity, speed), package, node) = key(*first);
            let mut cores: Vec<u32> = rest[..same]
                .iter()
                .map(|cpu| platform.cpus[cpu.index()].core)
                .collect();
            cores.sort_unstable();
            cores.dedup();
            table.row(vec![
                Cell::from(cluster.name.clone()),
                Cell::from(breakable(&numbers(&rest[..same]))),
                Cell::from(kind),
                Cell::from(u64::from(capacity)),
                Cell::from(u64::from(speed)),
                Cell::from(cores.len()),
                Cell::from(u64::from(package)),
                Cell::from(u64::from(node)),
            ]);
            rest = &rest[same..];
        }
    }
    page.section("CPUs");
    page.table(&table);
    let kinds = platform.cpu_kinds();
    if !kinds.is_empty() {
        let named = |kind: &CpuGroup| format!("{} (CPUs {})", kind.name, numbers(&kind.cpus));
        let named: Vec<String> = kinds.iter().map(named).collect();
        page.paragraph(&format!(
            "A cluster holds several kinds: busy time and wake-ups are given for each kind, too: \
             {}.",
            named.join(", ")
        ));
    }
}

/// A table of the idle states; power in the unit of the heading.
fn idle_states(page: &mut Page, platform: &Platform) {
    // Power in the unit of the heading: the columns have no room for it.
    let columns = [
        "state",
        "scope",
        "cpus",
        "entry",
        "exit",
        "residency",
        "CPU",
        "cluster",
    ];
    let mut table = Table::new("idle_states", &columns);
    for column in &columns[3..] {
        table = table.align(column, Align::Right);
    }
    // One row for CPUs that differ in nothing else.
    let mut rows: Vec<(Vec<CpuId>, Vec<Cell>)> = Vec::new();
    for state in &platform.idle_states {
        let scope = match state.scope {
            IdleScope::Cpu => "CPU",
            IdleScope::Cluster => "cluster",
        };
        let cells = vec![
            Cell::from(state.name.clone()),
            Cell::from(scope),
            Cell::Empty,
            Cell::from(time(state.entry_latency_ns)),
            Cell::from(time(state.exit_latency_ns)),
            Cell::from(time(state.min_residency_ns)),
            match (state.cpu_power, state.polling, platform.power_unit) {
                (None, true, PowerUnit::Microwatt | PowerUnit::Bogo) => Cell::from("as busy"),
                (figure, ..) => power(platform, figure),
            },
            power(platform, state.cluster_power),
        ];
        match rows.iter_mut().find(|(_, known)| *known == cells) {
            Some((cpus, _)) => cpus.extend(&state.cpus),
            None => rows.push((state.cpus.clone(), cells)),
        }
    }
    for (mut cpus, mut cells) in rows {
        cpus.sort_unstable();
        cells[2] = Cell::from(breakable(&numbers(&cpus)));
        table.row(cells);
    }
    let unit = match platform.power_unit {
        PowerUnit::Microwatt => "; power of a CPU and of a cluster in mW",
        PowerUnit::Bogo => "; power of a CPU and of a cluster",
        PowerUnit::None => "",
    };
    page.section(&format!("Idle states, shallow to deep{unit}"));
    page.table(&table);
}

/// Most scheduling domains of a level that are listed one by one, and most groups of one.
const LISTED_GROUPS: usize = 8;

/// Sched domains as the policy's core built them, equal ones once.
fn scheduling_domains(page: &mut Page, core: &CoreView, policy: &str) {
    let columns = ["level", "cpus", "groups", "imbalance_pct"];
    let mut table = Table::new("domains", &columns).align("imbalance_pct", Align::Right);
    let mut flags: Vec<(&Domain, String)> = Vec::new();
    let kind = |domain: &Domain| {
        (
            domain.level.clone(),
            domain.flags.clone(),
            domain.imbalance_pct,
            domain.groups.len(),
        )
    };
    let mut rest = &core.domains[..];
    while let [first, ..] = rest {
        let same = rest
            .iter()
            .take_while(|domain| kind(domain) == kind(first))
            .count();
        let shown = if same > LISTED_GROUPS { 1 } else { same };
        for domain in &rest[..shown] {
            let cpus = breakable(&cpu_list(&domain.cpus));
            table.row(vec![
                Cell::from(domain.level.clone()),
                Cell::from(match same - shown {
                    0 => cpus,
                    more => format!("{cpus} and {more} more such domains"),
                }),
                Cell::from(groups(domain)),
                Cell::from(u64::from(domain.imbalance_pct)),
            ]);
        }
        let known = |(other, _): &(&Domain, String)| other.flags == first.flags;
        match flags.iter_mut().find(|entry| known(entry)) {
            Some((_, levels)) if levels.split(", ").any(|level| level == first.level) => {}
            Some((_, levels)) => *levels += &format!(", {}", first.level),
            None => flags.push((first, first.level.clone())),
        }
        rest = &rest[same..];
    }
    page.section(&format!("Scheduling domains, as {policy} builds them"));
    page.table(&table);
    for (domain, levels) in &flags {
        page.point(&format!("flags of {levels}"), &domain.flags.join(" "));
    }
    if let Some(why) = core.energy_inactive {
        page.paragraph(&format!("Energy-aware wake-ups are inactive here: {why}."));
    }
}

/// The groups of a domain: all, or of many the first ones.
fn groups(domain: &Domain) -> String {
    let many = domain.groups.len() > LISTED_GROUPS;
    let shown = if many { 2 } else { domain.groups.len() };
    let listed = domain.groups[..shown]
        .iter()
        .map(|group| breakable(&cpu_list(group)));
    let listed = listed.collect::<Vec<_>>().join(" | ");
    match domain.groups.len() - shown {
        0 => listed,
        more => format!("{listed} | {more} more"),
    }
}

/// Threads of a core, distances of nodes, CPUs that are better than others.
fn shared(page: &mut Page, platform: &Platform) {
    let listed = |figures: &[u32]| {
        let figures = figures.iter().map(u32::to_string);
        figures.collect::<Vec<_>>().join(" ")
    };
    if let Some(smt) = &platform.smt {
        let figures = listed(&smt.core_capacity);
        page.section("Threads of a core");
        page.paragraph(&format!(
            "Work of a core with 1, 2, ... busy threads, 1024 = one alone: {figures}."
        ));
        if !smt.core_power.is_empty() {
            let figures = listed(&smt.core_power);
            page.paragraph(&format!("Power likewise: {figures}."));
        }
    }
    if let Some(mc) = &platform.sched_mc {
        page.section("Tasks to pack on a core (sched-mc)");
        page.paragraph(&format!(
            "Cores of kind {} at steps of {} kHz from 0: {}.",
            mc.core_kind,
            mc.step_khz,
            listed(&mc.tasks)
        ));
    }
    if let Some(numa) = &platform.numa {
        page.section("Distances of nodes");
        for (node, row) in numa.distances.iter().enumerate() {
            page.point(&format!("node {node}"), &listed(row));
        }
        let far = numa.reclaim_distance;
        page.paragraph(&format!(
            "Nodes farther apart than {far} are far from each other."
        ));
    }
    let mut values: Vec<u32> = platform.cpus.iter().map(|cpu| cpu.priority).collect();
    values.sort_unstable();
    values.dedup();
    if values == [0] {
        return;
    }
    page.section("Priorities, best last");
    for value in values {
        let having = (0..)
            .zip(&platform.cpus)
            .filter(|(_, cpu)| cpu.priority == value);
        let having: Vec<u32> = having.map(|(number, _)| number).collect();
        page.point(&value.to_string(), &format!("CPUs {}", cpu_list(&having)));
    }
}

/// What the kernel's work costs on this machine; costs that are 0 are only named.
fn costs(page: &mut Page, platform: &Platform) {
    let mut table = Table::new("costs", &["cost", "time"]).align("time", Align::Right);
    let mut nothing = Vec::new();
    for (what, ns) in super::platform_json::costs(platform) {
        let name = what.trim_end_matches("_ns").replace('_', " ");
        match ns {
            0 => nothing.push(name),
            ns => table.row(vec![Cell::from(name), Cell::from(time(ns))]),
        }
    }
    page.section("Costs on a CPU of capacity 1024 at full speed");
    page.table(&table);
    let mut more = super::platform_moves::sentences(platform);
    if !nothing.is_empty() {
        more.insert(0, format!("These cost nothing: {}.", nothing.join(", ")));
    }
    if !more.is_empty() {
        page.paragraph(&more.join(" "));
    }
}

/// Threads of the kernel, where the machine states them.
fn housekeeping(page: &mut Page, platform: &Platform) {
    let Some(stated) = &platform.housekeeping else {
        return;
    };
    let standing = standing(stated.source.standing);
    page.section("Kernel threads");
    if let Some(ns) = stated.governor_ns {
        let each = format!("of schedutil, one per clock [{standing}]");
        page.point(&each, &format!("{} per change", time(ns)));
    }
    let mut rest = &stated.threads[..];
    while let [first, ..] = rest {
        let load =
            |thread: &HousekeepingThread| (thread.run_ns, thread.period_ns, thread.cpus.is_some());
        let same = rest
            .iter()
            .take_while(|thread| load(thread) == load(first))
            .count();
        let cpus = rest[..same]
            .iter()
            .flat_map(|thread| thread.cpus.iter().flatten());
        let cpus: Vec<CpuId> = cpus.copied().collect();
        let where_ = match first.cpus {
            None => "all CPUs".to_owned(),
            Some(_) => format!("CPUs {}", numbers(&cpus)),
        };
        let (run, period) = (time(first.run_ns), time(first.period_ns));
        let name = wakeplace_text::printable(&first.name);
        let (label, each) = match same {
            1 => (format!("{name} [{standing}]"), ""),
            _ => (
                format!("{name} and {} more [{standing}]", same - 1),
                " each",
            ),
        };
        page.point(&label, &format!("{run} every {period}{each}, {where_}"));
        rest = &rest[same..];
    }
}

/// Power of the rest of the board.
fn board(page: &mut Page, platform: &Platform) {
    let Some(board) = &platform.board else { return };
    page.section("The rest of the board");
    let calibrated = board.calibrated_on.as_ref();
    let on = calibrated.map_or_else(String::new, |cell| format!(", calibrated on {cell}"));
    let constant = format!("{:.3} mW{on}", board.power_uw as f64 / 1e3);
    page.point(
        &format!("{constant} [{}]", standing(board.source.standing)),
        &board.source.text,
    );
}

/// Per group of figures how many are published, derived and assumed, then every source.
fn sources(page: &mut Page, platform: &Platform) {
    let columns = ["figures", "published", "derived", "assumed"];
    let mut table = Table::new("known", &columns);
    for column in &columns[1..] {
        table = table.align(column, Align::Right);
    }
    for known in platform.known() {
        table.row(vec![
            Cell::from(known.group),
            Cell::from(known.published),
            Cell::from(known.derived),
            Cell::from(known.assumed),
        ]);
    }
    page.section("Where the figures come from");
    page.table(&table);
    // What has one source stands together.
    let mut entries: Vec<(&Source, Vec<&str>)> = Vec::new();
    for (what, source) in &platform.provenance {
        match entries.iter_mut().find(|(known, _)| *known == source) {
            Some((_, all)) => all.push(what),
            None => entries.push((source, vec![what])),
        }
    }
    for (source, all) in entries {
        let label = match &all[..] {
            [one] => (*one).to_owned(),
            [one, other] => format!("{one}; {other}"),
            [first, rest @ ..] => format!("{first} and {} more tables", rest.len()),
            [] => continue,
        };
        let how = standing(source.standing);
        page.point(&format!("{label} [{how}]"), &source.text);
    }
    if !platform.notes.is_empty() {
        page.section("Notes");
        platform.notes.iter().for_each(|note| page.paragraph(note));
    }
}

/// The word for how a figure is known.
pub(super) fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Published => "published",
        Standing::Derived => "derived",
        Standing::Assumed => "assumed",
        Standing::Calibrated => "calibrated",
    }
}
