//! Every rule of a platform file, broken once: the message, its line and its column.
//! Page: docs/guide/platforms.md, "What the words mean".
//!
//! What must stay: a rule of the format has a test that breaks it, with message, line and column
//! (`§` marks the place); a new rule is added here. Free: how a text is changed and compared.
//! Tests by part (in crates/platform/src): error.rs: `place_is_line_and_column` (the whole
//! message), `keys_and_words` (`from_toml`); read/provenance.rs:
//! `every_table_needs_a_source_and_a_standing` (an empty source); read/machine.rs: `names`
//! (`cluster_name`), `speeds` (`check_speeds`), `capacity` (`check_scale`), `threads_of_cores`
//! (`first_threads`), `topology` (`read_list`, `divide`); read/missing.rs:
//! `all_missing_keys_are_told_at_once` (`flaw`); read/values.rs: `tick` (`between`),
//! `costs_are_at_most_a_millisecond` (`cost_ns`); cpu_list.rs: `cpus_and_clusters` (`MAX_CPUS`);
//! read/frequency.rs: `frequencies` (`opps`, `check_order`), `limits_are_those_of_the_policy_core`
//! (`MAX_OPPS`), `domains_with_power_are_limited` (`MAX_DOMAINS_WITH_POWER`),
//! `power_of_operating_points` (`read_opp`), `power_of_the_energy_model` (`watts`, `note_column`),
//! `frequency_domains_partition_the_cpus` (`read`, `check_members`); model.rs: `work_power`
//! (`has_work_power`); read/idle.rs: `idle_states_cover_known_cpus` (`read`,
//! `check_whole_clusters`), `idle_states_have_names` (`read_state`),
//! `idle_states_run_from_shallow_to_deep` (`check_depth`), `power_of_idle_states` (`power`,
//! `cluster_power_at_opps`); read/sched_mc.rs: `tasks_of_a_core_while_power_is_saved` (`read`,
//! `core_kind`); read: `the_good_file_is_good`, `costs_of_wake_ups_are_optional`, `board`.
//! Helpers, and who fails with them: `message` (`place_is_line_and_column`, `cpus_and_clusters` and
//! 24 more); `check` (`keys_and_words`, `every_table_needs_a_source_and_a_standing` and 22 more);
//! `check_text` (`speeds`, `cpus_and_clusters` and 23 more); `with_speeds` (`speeds`).

use wakeplace_platform::Platform;

/// A small valid file; the tests break it in one place.
const GOOD: &str = include_str!("../good.toml");

/// The message with which a file is refused.
fn message(text: &str) -> String {
    match Platform::from_toml(text, "p.toml") {
        Ok(_) => panic!("the file was accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// Replaces the only occurrence of a text. `§` in the replacement marks the place the message must
/// point at; the rest of the expected message is `expected`.
#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    assert_eq!(GOOD.matches(from).count(), 1, "`{from}` must occur once");
    check_text(&GOOD.replace(from, to), expected);
}

/// Checks that the text is refused, with this message at the marked place.
#[track_caller]
fn check_text(marked: &str, expected: &str) {
    let at = marked.find('§').expect("the expected place is marked");
    let line = marked[..at].matches('\n').count() + 1;
    let column = at - marked[..at].rfind('\n').map_or(0, |p| p + 1) + 1;
    let text = marked.replace('§', "");
    assert_eq!(
        message(&text),
        format!("p.toml:{line}:{column}: {expected}")
    );
}

#[test]
fn the_good_file_is_good() {
    let platform = Platform::from_toml(GOOD, "p.toml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(platform.cpus.len(), 4);
    assert_eq!(platform.freq_domains[0].opps[1].power, Some(200));
    let board = platform.board.expect("it has one");
    assert_eq!(
        (board.power_uw, board.calibrated_on.as_deref()),
        (1000, Some("a/b/c"))
    );
}

#[test]
fn place_is_line_and_column() {
    let text = GOOD.replace("tick_hz = 250", "tick_hz = 0");
    assert_eq!(
        message(&text),
        "p.toml:7:11: `tick_hz` is 0; expected 1 to 10000 Hz"
    );
}

#[test]
fn keys_and_words() {
    check(
        "power_uw = 1000",
        "§powr_uw = 1000",
        "unknown key `powr_uw`; expected one of `power_uw`, `calibrated_on`, `source`, \
         `standing`; did you mean `power_uw`?",
    );
    check(
        "capacity = 400",
        "§capasity = 400",
        "unknown key `capasity`; expected one of `cpus`, `kind`, `capacity`, `speed`, \
         `threads_per_core`, `thread_numbering`; did you mean `capacity`?",
    );
    check(
        "arch = \"arm64\"",
        "arch = §\"amr64\"",
        "unknown variant `amr64`; expected one of `arm64`, `arm`, `x86_64`, `riscv64`, `s390x`, \
         `ppc64`, `loongarch64`; did you mean `arm64`?",
    );
    check(
        "standing = \"calibrated\"",
        "standing = §\"calibratd\"",
        "unknown variant `calibratd`; expected one of `published`, `derived`, `assumed`, \
         `calibrated`; did you mean `calibrated`?",
    );
    check(
        "[kernel]\ntick_hz = 250",
        "§[kernel]",
        "missing key `tick_hz`; expected `tick_hz` in this table",
    );
    check(
        "context_switch_ns = 2000",
        "context_switch_ns = §-1",
        "invalid value: integer `-1`; expected a whole number from 0",
    );
    check(
        "scope = \"cpu\"",
        "scope = §1",
        "the value is no word; expected a word in quotes",
    );
}

/// Goal: who writes a file by hand hears of all keys at once, with their tables.
#[test]
fn all_missing_keys_are_told_at_once() {
    check(
        "[kernel]\ntick_hz = 250\nsource = \"test\"\nstanding = \"assumed\"",
        "§[kernel]\ntick_hz = 250",
        "missing keys: `source`, `standing` of `[kernel]`; expected all of them \
         (docs/guide/platform-keys.md says what each is)",
    );
    let one = message("name = \"one\"\n");
    let all = "missing keys: `title`, `arch`, `power_unit`, `[kernel]` (`tick_hz`, `source`, \
               `standing`), `[[cluster]]` (`name`, `cores` (`cpus`, `kind`, `capacity`), \
               `source`, `standing`), `[topology]` (`levels` (`name`), `source`, `standing`), ";
    assert!(one.contains(all), "{one}");
    let rows = GOOD.replace("tick_hz = 250\n", "");
    let rows = message(&rows.replace("{ khz = 900, ", "{ "));
    let both = "missing keys: `tick_hz` of `[kernel]`; `khz` of `opps` 2 of \
                `[[frequency_domain]]` 1; ";
    assert!(rows.contains(both), "{rows}");
}

#[test]
fn every_table_needs_a_source_and_a_standing() {
    check(
        "[kernel]\ntick_hz = 250\nsource = \"test\"",
        "§[kernel]\ntick_hz = 250",
        "missing key `source`; expected `source` in this table",
    );
    check(
        "tick_hz = 250\nsource = \"test\"",
        "tick_hz = 250\nsource = §\" \"",
        "`source` is empty; expected a document, a kernel file or the reasoning",
    );
    check(
        "transition = { latency_us = 300, source = \"test\", standing = \"published\" }\n\
         source = \"test\"\nstanding = \"published\"\n\n[[frequency_domain]]",
        "transition = §{ latency_us = 300, source = \"test\" }\n\
         source = \"test\"\nstanding = \"published\"\n\n[[frequency_domain]]",
        "missing key `standing`; expected `standing` in this table",
    );
    check(
        "[[frequency_domain]]\ncpus = \"big\"\nopps = [\n  { khz = 600, cpu_uw = 300 },\n  \
         { khz = 1200, cpu_uw = 800 },\n]\n\
         cpu_power = { source = \"test\", standing = \"derived\" }",
        "§[[frequency_domain]]\ncpus = \"big\"\nopps = [\n  { khz = 600, cpu_uw = 300 },\n  \
         { khz = 1200, cpu_uw = 800 },\n]",
        "the cpu power of `opps` has no source; expected `source` and `standing` in a table \
         `[frequency_domain.cpu_power]` below them",
    );
}

#[test]
fn names() {
    check(
        "\"small\"",
        "§\"Small board\"",
        "`Small board` cannot name a platform; expected a name such as `juno-r0` (a-z, 0-9, -)",
    );
    check(
        "name = \"big\"",
        "name = §\"little\"",
        "there are two clusters `little`; expected each name once",
    );
    check(
        "name = \"big\"",
        "name = §\"all\"",
        "`all` cannot name a cluster; expected a name such as `little`",
    );
}

#[test]
fn tick() {
    check(
        "tick_hz = 250",
        "tick_hz = §0",
        "`tick_hz` is 0; expected 1 to 10000 Hz",
    );
    check(
        "tick_hz = 250",
        "tick_hz = §10001",
        "`tick_hz` is 10001; expected 1 to 10000 Hz",
    );
}

/// Speeds of the good file's two kinds of core, and who says so.
fn with_speeds(little: &str, big: &str, table: &str) -> String {
    let text = GOOD
        .replace("capacity = 400 ", &format!("capacity = 400{little} "))
        .replace("capacity = 1024 ", &format!("capacity = 1024{big} "));
    text.replacen("[topology]", &format!("{table}\n[topology]"), 1)
}

#[test]
fn speeds() {
    let table = "[speed]\nsource = \"test\"\nstanding = \"assumed\"\n";
    let good = with_speeds(", speed = 300", ", speed = 1024", table);
    let platform = Platform::from_toml(&good, "p.toml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(platform.speeds(), [300, 300, 1024, 1024]);
    assert_eq!(platform.capacities(), [400, 400, 1024, 1024]);
    let plain = Platform::from_toml(GOOD, "p.toml").expect("good");
    assert_eq!(plain.speeds(), plain.capacities(), "none is stated");
    check_text(
        &with_speeds(", speed = §300", ", speed = 1024", ""),
        "a speed without a source; expected a table `[speed]` with `source` and `standing`",
    );
    check_text(
        &with_speeds(", speed = §0", ", speed = 1024", table),
        "`speed` is 0; expected 1 to 1024",
    );
    check_text(
        &with_speeds(", speed = 300", ", speed = §900", table),
        "no CPU has speed 1024; the fastest has 900; expected 1024 for the fastest CPU",
    );
    let without = with_speeds("", ", speed = 1024", table);
    check_text(
        &without.replace("cpus = \"0-1\", kind", "cpus = §\"0-1\", kind"),
        "these CPUs have no `speed`, and the file has a table `[speed]`; expected a `speed` of all \
         CPUs, or no table",
    );
}

#[test]
fn capacity() {
    check(
        "capacity = 400",
        "capacity = §0",
        "`capacity` is 0; expected 1 to 1024",
    );
    check(
        "capacity = 400",
        "capacity = §1025",
        "`capacity` is 1025; expected 1 to 1024",
    );
    check(
        "capacity = 1024",
        "capacity = §1000",
        "no CPU has capacity 1024; the biggest has 1000; expected 1024 for the biggest CPU",
    );
}

#[test]
fn cpus_and_clusters() {
    check(
        "cores = [{ cpus = \"2-3\"",
        "cores = [{ cpus = §\"1-3\"",
        "CPU 1 is in two clusters; expected each CPU once",
    );
    check_text(
        &GOOD
            .replace("cpus = \"2-3\"", "cpus = \"3\"")
            .replacen("[[cluster]]", "§[[cluster]]", 1),
        "CPU 2 is in no cluster, though higher numbers are; expected CPUs numbered from 0 without \
         gaps",
    );
    check(
        "cores = [{ cpus = \"2-3\"",
        "cores = [{ cpus = \"2-§1024\"",
        "CPU 1024 is beyond the limit; expected at most 1024 CPUs, numbered from 0",
    );
    check(
        "[[cluster]]\nname = \"big\"\n\
         cores = [{ cpus = \"2-3\", kind = \"big-core\", capacity = 1024 }]",
        "§[[cluster]]\nname = \"big\"\ncores = []",
        "cluster `big` has no CPUs; expected `cores` with at least one",
    );
}

#[test]
fn threads_of_cores() {
    check(
        "capacity = 1024",
        "capacity = 1024, threads_per_core = §2",
        "cores have several threads and their numbering is not given; expected `thread_numbering \
         = \"adjacent\"` or `\"block\"`",
    );
    check(
        "capacity = 1024",
        "capacity = 1024, threads_per_core = §3, thread_numbering = \"block\"",
        "2 CPUs cannot make cores of 3 threads; expected a divisor of the CPU count",
    );
    let adjacent = "capacity = 1024, threads_per_core = 2, thread_numbering = \"adjacent\"";
    let text = GOOD.replace("capacity = 1024", adjacent);
    let smt = "[smt]\ncore_capacity = [1024, 1178]\nsource = \"test\"\nstanding = \"assumed\"\n\
               [topology]";
    let text = text.replace("[topology]", smt);
    let platform = Platform::from_toml(&text, "p.toml").unwrap_or_else(|e| panic!("{e}"));
    let cores: Vec<u32> = platform.cpus.iter().map(|c| c.core).collect();
    assert_eq!(cores, [0, 1, 2, 2]);
    let block = "cpus = \"0-3\", kind = \"x\", capacity = 1024, threads_per_core = 2, \
                 thread_numbering = \"block\"";
    let text = GOOD
        .replace(
            "[[cluster]]\nname = \"little\"\ncores = [{ cpus = \"0-1\", kind = \
                  \"small-core\", capacity = 400 }]\nsource = \"test\"\nstanding = \
                  \"assumed\"\n",
            "",
        )
        .replace(
            "cpus = \"2-3\", kind = \"big-core\", capacity = 1024",
            block,
        )
        .replace("\"little\"", "\"0-1\"")
        .replace("cpus = \"big\"", "cpus = \"2-3\"")
        .replace("[topology]", smt);
    assert!(
        message(&text).contains("its CPU 2 has another clock"),
        "{}",
        message(&text)
    );
}

#[test]
fn frequencies() {
    check(
        "khz = 900",
        "khz = §500",
        "500 kHz follows 500 kHz; expected strictly rising frequencies",
    );
    check(
        "khz = 900",
        "khz = §0",
        "`khz` is 0; expected 1 to 20000000 kHz",
    );
    check(
        "opps = [\n  { khz = 600, cpu_uw = 300 },\n  { khz = 1200, cpu_uw = 800 },\n]",
        "opps = §[]",
        "a frequency domain has 0 operating points; expected 1 to 64",
    );
}

#[test]
fn limits_are_those_of_the_policy_core() {
    let points = |n: usize| -> String {
        let point = |i: usize| format!("{{ khz = {}, cpu_uw = {} }},", 600 + i, 300 + i);
        (0..n).map(point).collect()
    };
    let table = "opps = [\n  { khz = 600, cpu_uw = 300 },\n  { khz = 1200, cpu_uw = 800 },\n]";
    let with = |n| GOOD.replace(table, &format!("opps = §[{}]", points(n)));
    assert!(Platform::from_toml(&with(64).replace('§', ""), "p.toml").is_ok());
    let expected = "a frequency domain has 65 operating points; expected 1 to 64";
    check_text(&with(65), expected);
    let level = "{ name = \"PKG\", groups = [\"0-3\"] },";
    let levels = |n: usize| {
        let text = GOOD.replace(level, &level.repeat(n - 1));
        text.replace("levels = [", "levels = §[")
    };
    assert!(Platform::from_toml(&levels(8).replace('§', ""), "p.toml").is_ok());
    check_text(
        &levels(9),
        "the topology has 9 levels; expected 1 to 8, bottom first",
    );
}

#[test]
fn domains_with_power_are_limited() {
    let wide = |cpus: usize, power: bool| {
        let last = cpus + 1;
        let text = GOOD
            .replace("cpus = \"2-3\"", &format!("cpus = \"2-{last}\""))
            .replace("\"2-3\"]", &format!("\"2-{last}\"]"))
            .replace("\"0-3\"", &format!("\"0-{last}\""))
            .replace("cpus = \"big\"", "cpus = \"big\"\none_per = \"core\"")
            .replacen("[[frequency_domain]]", "§[[frequency_domain]]", 1);
        if power {
            return text;
        }
        let lines = text.lines().filter(|line| {
            let no_power = ["power =", "cpu_power", "cluster_power"];
            !no_power.iter().any(|key| line.starts_with(key))
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let text = text.split("[board]").next().expect("a part").to_owned();
        let bare = ["100", "200", "300", "800"].iter().fold(text, |text, uw| {
            text.replace(&format!(", cpu_uw = {uw}"), "")
        });
        bare.replace(", cluster_uw = 10", "")
            .replace(", cluster_uw = 20", "")
            .replace("\"microwatt\"", "\"none\"")
    };
    let read = |text: String| Platform::from_toml(&text.replace('§', ""), "p.toml");
    read(wide(63, true)).unwrap_or_else(|e| panic!("{e}"));
    check_text(
        &wide(64, true),
        "a platform with power has 65 domains; expected at most 64 frequency domains",
    );
    read(wide(64, false)).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn costs_are_at_most_a_millisecond() {
    for (key, figure) in [
        ("context_switch_ns", 2000),
        ("migrate_other_cache_ns", 15_000),
        ("scan_cpu_ns", 50),
    ] {
        let figure = format!("{key} = {figure}");
        let most = GOOD.replace(&figure, &format!("{key} = 1000000"));
        assert!(Platform::from_toml(&most, "p.toml").is_ok(), "{key}");
        let expected = format!("`{key}` is 1000001; expected 0 to 1000000 ns");
        check(&figure, &format!("{key} = §1000001"), &expected);
    }
}

/// What a file does not name is not modelled: 0. What it names is read, within the same bounds.
#[test]
fn costs_of_wake_ups_are_optional() {
    let plain = Platform::from_toml(GOOD, "p.toml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((plain.costs.publish_ns, plain.costs.lock_hold_ns), (0, 0));
    assert!(plain.idle_states.iter().all(|state| !state.polling));
    let more = "scan_cpu_ns = 50\npublish_ns = 500\nlock_hold_ns = 300\n\
                lock_shared_cache_ns = 60\nlock_other_cache_ns = 150\nswitch_out_ns = 900";
    let text = GOOD.replace("scan_cpu_ns = 50", more);
    let costs = Platform::from_toml(&text, "p.toml")
        .unwrap_or_else(|e| panic!("{e}"))
        .costs;
    assert_eq!((costs.publish_ns, costs.lock_hold_ns), (500, 300));
    let lock = (costs.lock_shared_cache_ns, costs.lock_other_cache_ns);
    assert_eq!((lock, costs.switch_out_ns), ((60, 150), 900));
    check(
        "scan_cpu_ns = 50",
        "scan_cpu_ns = 50\nlock_hold_ns = §1000001",
        "`lock_hold_ns` is 1000001; expected 0 to 1000000 ns",
    );
}

#[test]
fn power_of_operating_points() {
    check(
        "cpu_uw = 100,",
        "cpu_uw = §0,",
        "`cpu_uw` is 0; expected 1 to 64000000 uW",
    );
    check(
        "cpu_uw = 800",
        "cpu_uw = §64000001",
        "`cpu_uw` is 64000001; expected 1 to 64000000 uW",
    );
    check(
        "{ khz = 600, cpu_uw = 300 }",
        "§{ khz = 600 }",
        "the operating point of 600 kHz has no power; expected `cpu_uw`: a platform gives power \
         for all points or none",
    );
    check(
        "{ khz = 1200, cpu_uw = 800 }",
        "§{ khz = 1200 }",
        "the operating point of 1200 kHz has no power; expected `cpu_uw`: a platform gives power \
         for all points or none",
    );
    check(
        "cpu_uw = 800",
        "cpu_bogo = §800",
        "a cpu power in a unit that is not the platform's; expected `cpu_uw`, since `power_unit` \
         is \"microwatt\"",
    );
    check_text(
        &GOOD
            .replace("\"microwatt\"", "\"none\"")
            .replace("cpu_uw = 100", "cpu_uw = §100"),
        "a cpu power in a unit that is not the platform's; expected none, since `power_unit` is \
         \"none\"",
    );
    check(
        "{ khz = 900, mv = 800, cpu_uw = 200, cluster_uw = 20 }",
        "§{ khz = 900, mv = 800, cpu_uw = 200 }",
        "of 500 and 900 kHz one has a cluster power; expected it at all points of a domain or \
         none",
    );
}

/// What a board draws more for work: a column of its own, with a source, in watts only.
#[test]
fn work_power() {
    let first = "{ khz = 600, cpu_uw = 300 }";
    let second = "{ khz = 1200, cpu_uw = 800 }";
    let both = |mark: &str| {
        let text = GOOD.replace(first, "{ khz = 600, cpu_uw = 300, work_uw = 40 }");
        let to = format!("{{ khz = 1200, cpu_uw = 800, work_uw = {mark} }}");
        text.replace(second, &to)
    };
    let source = "work_power = { source = \"test\", standing = \"derived\" }\n";
    let sourced =
        |text: String| text.replace("cpus = \"big\"\n", &format!("cpus = \"big\"\n{source}"));
    let platform = Platform::from_toml(&sourced(both("90")), "p.toml").expect("valid");
    let works = platform.freq_domains[1]
        .opps
        .iter()
        .map(|opp| opp.work_power);
    assert_eq!(works.collect::<Vec<_>>(), [Some(40), Some(90)]);
    assert!(platform.has_work_power() && platform.freq_domains[0].opps[0].work_power.is_none());
    let noted = |(what, _): &&(String, wakeplace_platform::Source)| what.starts_with("work power");
    assert_eq!(platform.provenance.iter().filter(noted).count(), 1);

    check_text(
        &sourced(both("§1_000_000_000_000")),
        "`work_uw` is 1000000000000; expected 0 to 64000000 uW",
    );
    check_text(
        &both("90").replacen(
            "[[frequency_domain]]\ncpus = \"big\"",
            "§[[frequency_domain]]\ncpus = \"big\"",
            1,
        ),
        "the work power of `opps` has no source; expected `source` and `standing` in a table \
         `[frequency_domain.work_power]` below them",
    );
    check(
        "cpus = \"big\"\n",
        &format!("cpus = \"big\"\n{}", source.replace('{', "§{")),
        "`work_power` gives a source for figures that are not there; expected them in `opps`, or \
         no source",
    );
    check(
        second,
        "§{ khz = 1200, cpu_uw = 800, work_uw = 90 }",
        "of 600 and 1200 kHz one has a work power; expected it at all points of a domain or none",
    );
    check(
        second,
        "{ khz = 1200, cpu_uw = 800, §wrk_uw = 90 }",
        "unknown key `wrk_uw`; expected one of `khz`, `mv`, `cpu_uw`, `cpu_bogo`, `cluster_uw`, \
         `cluster_bogo`, `work_uw`, `em_uw`; did you mean `work_uw`?",
    );
    check_text(
        &GOOD
            .replace("\"microwatt\"", "\"bogo\"")
            .replace("_uw", "_bogo")
            .replace("power_bogo", "power_uw")
            .replace("cpu_bogo = 300 }", "cpu_bogo = 300, work_uw = §40 }"),
        "a platform without power in watts has a work power; expected no `work_uw`",
    );
}

/// What the kernel's energy model takes for a power, where the hardware draws another.
#[test]
fn power_of_the_energy_model() {
    let first = "{ khz = 600, cpu_uw = 300 }";
    let second = "{ khz = 1200, cpu_uw = 800 }";
    let source = "cpus = \"big\"\nem_power = { source = \"test\", standing = \"derived\" }\n";
    let both = |mark: &str| {
        let text = GOOD.replace(first, "{ khz = 600, cpu_uw = 300, em_uw = 250 }");
        let to = format!("{{ khz = 1200, cpu_uw = 800, em_uw = {mark} }}");
        text.replace(second, &to)
            .replace("cpus = \"big\"\n", source)
    };
    let platform = Platform::from_toml(&both("900"), "p.toml").expect("valid");
    let opps = &platform.freq_domains[1].opps;
    let powers: Vec<_> = opps.iter().map(|opp| (opp.power, opp.em_power)).collect();
    assert_eq!(powers, [(Some(300), Some(250)), (Some(800), Some(900))]);
    assert_eq!(platform.freq_domains[0].opps[0].em_power, None);

    check_text(&both("§0"), "`em_uw` is 0; expected 1 to 64000000 uW");
    check(
        second,
        "§{ khz = 1200, cpu_uw = 800, em_uw = 90 }",
        "of 600 and 1200 kHz one has an `em_uw`; expected it at all points of a domain or none",
    );
    check_text(
        &GOOD
            .replace("\"microwatt\"", "\"bogo\"")
            .replace("_uw", "_bogo")
            .replace("power_bogo", "power_uw")
            .replace("cpu_bogo = 300 }", "cpu_bogo = 300, em_uw = §40 }"),
        "a platform without power in watts has a power of the energy model; expected no `em_uw`",
    );
}

#[test]
fn frequency_domains_partition_the_cpus() {
    check(
        "cpus = \"big\"",
        "cpus = §\"1-3\"",
        "CPU 1 is in two frequency domains; expected each CPU in one",
    );
    check_text(
        &GOOD.replace("cpus = \"big\"", "cpus = \"2\"").replacen(
            "[[frequency_domain]]",
            "§[[frequency_domain]]",
            1,
        ),
        "CPU 3 is in no frequency domain; expected each CPU in one",
    );
    check_text(
        &GOOD
            .replace("cpus = \"big\"", "cpus = §\"1-3\"")
            .replace(
                "[[frequency_domain]]\ncpus = \"little\"",
                "[[frequency_domain]]\ncpus = \"0\"",
            )
            .replace(", cluster_uw = 10", "")
            .replace(", cluster_uw = 20", "")
            .replace(
                "cluster_power = { source = \"test\", standing = \"assumed\" }\n",
                "",
            ),
        "CPUs 1 and 2 of one frequency domain have capacity 400 and 1024; expected one capacity \
         per domain",
    );
    check_text(
        &GOOD
            .replace("cpus = \"big\"", "cpus = \"2-3\"\none_per = \"cpu\"")
            .replace(
                "opps = [\n  { khz = 600, cpu_uw = 300 },\n  { khz = 1200, cpu_uw = 800 },",
                "opps = [\n  { khz = 600, cpu_uw = 300, cluster_uw = 1 },",
            )
            .replace(
                "cpus = \"2-3\"\none_per",
                "cpus = §\"2-3\"\ncluster_power = { source = \"t\", \
                     standing = \"assumed\" }\none_per",
            ),
        "cluster `big` has a power per operating point, but its CPU 3 has another clock; expected \
         the whole cluster in this domain",
    );
}

#[test]
fn topology() {
    check(
        "groups = [\"little\", \"2-3\"]",
        "groups = [\"little\", §\"1-3\"]",
        "CPU 1 is in two groups of level MC; expected each CPU in one group",
    );
    check(
        "{ name = \"MC\", groups = [\"little\", \"2-3\"], shares_cache = true }",
        "§{ name = \"MC\", groups = [\"little\", \"2\"], shares_cache = true }",
        "CPU 3 is in no group of level MC; expected each CPU in one group",
    );
    check(
        "{ name = \"PKG\", groups = [\"0-3\"] }",
        "§{ name = \"PKG\", groups = [\"0,2\", \"1,3\"] }",
        "CPUs 0 and 1 are together at level MC and apart at PKG; expected groups of MC inside one \
         of PKG",
    );
    check(
        "{ name = \"PKG\", groups = [\"0-3\"] }",
        "§{ name = \"PKG\", one_per = \"cluster\" }",
        "no group of the top level PKG spans node 0; expected a last level with whole nodes, such \
         as `one_per = \"node\"`",
    );
    check(
        "{ name = \"PKG\", groups = [\"0-3\"] }",
        "§{ name = \"PKG\" }",
        "level PKG needs one way to form its groups; expected either `groups = [\"0-3\", ...]` or \
         `one_per = \"cluster\"`",
    );
    check(
        "groups = [\"little\", \"2-3\"]",
        "groups = [\"§litle\", \"2-3\"]",
        "`litle` is no CPU, no range and no cluster; expected CPUs as `0-3,12`, or `little`, \
         `big`, `all`; did you mean `little`?",
    );
}

#[test]
fn idle_states_cover_known_cpus() {
    check(
        "cpus = \"all\"",
        "cpus = \"0-§9\"",
        "there is no CPU 9; expected a CPU from 0 to 3",
    );
    check_text(
        &GOOD.replace("cpus = \"all\"", "cpus = \"0-2\"").replacen(
            "[[idle_state]]",
            "§[[idle_state]]",
            1,
        ),
        "CPU 3 has no idle state of scope `cpu`; expected at least one, such as `WFI`",
    );
    check(
        "scope = \"cluster\"\ncpus = \"little\"",
        "scope = \"cluster\"\ncpus = §\"0,2-3\"",
        "cluster state `off` has only a part of cluster `little`; expected whole clusters",
    );
}

#[test]
fn idle_states_have_names() {
    for name in ["", " ", "\\u200B", "--"] {
        let shown = name.replace("\\u200B", "\u{200b}");
        check(
            "name = \"off\"",
            &format!("name = §\"{name}\""),
            &format!(
                "`{shown}` cannot name an idle state; expected a name with a letter or digit, such \
                 as `WFI`"
            ),
        );
    }
}

#[test]
fn idle_states_run_from_shallow_to_deep() {
    check(
        "entry_latency_us = 300\nexit_latency_us = 700",
        "entry_latency_us = 0\nexit_latency_us = §1",
        "the entry and exit latency of `off` is not above that of `WFI` on CPU 0; expected states \
         from shallow to deep",
    );
    check(
        "min_residency_us = 2000",
        "min_residency_us = §1",
        "the residency of `off` is not above that of `WFI` on CPU 0; expected states from shallow \
         to deep",
    );
    check(
        "min_residency_us = 2000",
        "min_residency_us = §10000001",
        "`min_residency_us` is 10000001; expected 0 to 10000000 us",
    );
}

#[test]
fn power_of_idle_states() {
    check_text(
        &GOOD
            .replace(
                "power = { cpu_uw = 5, source = \"test\", standing = \"assumed\" }\n",
                "",
            )
            .replacen("[[idle_state]]", "§[[idle_state]]", 1),
        "idle state `WFI` has no power; expected `power = { ... }`: nothing is invented for an \
         idle state",
    );
    check(
        "power = { cpu_uw = 0, cluster_uw = 3,",
        "power = §{ cpu_uw = 0,",
        "cluster state `off` has no cluster power; expected `cluster_uw`",
    );
    check(
        "power = { cpu_uw = 5,",
        "power = §{ cluster_uw = 5,",
        "idle state `WFI` has no CPU power; expected `cpu_uw` (0 if it draws nothing)",
    );
    check(
        "power = { cpu_uw = 5,",
        "power = §{ cpu_uw = 5, cluster_uw = 5,",
        "idle state `WFI` has a cluster power, its clusters' OPPs none; expected `cluster_uw` in \
         `opps` too",
    );
}

#[test]
fn board() {
    check(
        "[board]\npower_uw = 1000\ncalibrated_on = \"a/b/c\"",
        "§[board]\npower_uw = 1000",
        "the board power is calibrated but does not say on what; expected `calibrated_on = \
         \"STUDY/CASE/POLICY\"`",
    );
    check_text(
        &GOOD
            .replace("standing = \"calibrated\"", "standing = \"assumed\"")
            .replace("\"a/b/c\"", "§\"a/b/c\""),
        "`calibrated_on` is given for a figure that is not calibrated; expected `standing = \
         \"calibrated\"`, or no `calibrated_on`",
    );
    check_text(
        &GOOD
            .replace("\"microwatt\"", "\"bogo\"")
            .replace("_uw", "_bogo")
            .replace("[board]\npower_bogo", "§[board]\npower_uw"),
        "a platform without power in watts has a board power; expected no `[board]` table",
    );
}

/// The table of tasks per core, good and broken (docs/rules/sched-mc.md#mc-authors-list: checked to
/// never rise).
#[test]
fn tasks_of_a_core_while_power_is_saved() {
    let table = |kind: &str, step: &str, tasks: &str| {
        format!(
            "{GOOD}\n[sched_mc]\ncore_kind = {kind}\nstep_khz = {step}\ntasks = {tasks}\n\
             source = \"a table\"\nstanding = \"published\"\n"
        )
    };
    let good = table("\"big-core\"", "200000", "[4, 4, 1]");
    let read = Platform::from_toml(&good, "p.toml").expect("good");
    let mc = read.sched_mc.expect("the table");
    assert_eq!((mc.step_khz, mc.tasks), (200_000, vec![4, 4, 1]));
    let many = format!("§[{}1]", "1, ".repeat(32));
    for (kind, step, tasks, expected) in [
        (
            "§\"bigcore\"",
            "200000",
            "[1]",
            "no core is a `bigcore`; expected the `kind` of some cores; did you mean `big-core`?",
        ),
        (
            "\"big-core\"",
            "§0",
            "[1]",
            "`step_khz` is 0; expected 1 to 100000000 kHz",
        ),
        (
            "\"big-core\"",
            "1",
            "§[]",
            "`tasks` has 0 entries; expected 1 to 32",
        ),
        (
            "\"big-core\"",
            "1",
            &many,
            "`tasks` has 33 entries; expected 1 to 32",
        ),
        (
            "\"big-core\"",
            "1",
            "[2, §3]",
            "entry 1 of `tasks`, which never rise, is 3; expected 1 to 2",
        ),
        (
            "\"big-core\"",
            "1",
            "[§65]",
            "entry 0 of `tasks`, which never rise, is 65; expected 1 to 64",
        ),
    ] {
        check_text(&table(kind, step, tasks), expected);
    }
}
