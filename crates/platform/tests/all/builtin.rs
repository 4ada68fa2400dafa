//! The built-in platforms: all load, and hold what their machines are known for.
//! Pages: docs/guide/platforms.md; the sources that each file of platforms/ names.
//!
//! What must stay: figures are those of the sources, never of a run; a new machine is a row of the
//! page. Free: how figures are looked up.
//! Tests by part (in crates/platform/src): crates/platform/build.rs:
//! `every_builtin_loads_under_its_own_name` (`main`, `table`), `other_names_are_in_order` (each
//! file is there once); builtin.rs: `every_builtin_loads_under_its_own_name` (`builtin_names`,
//! `builtin`), `machines_are_counted_once` (`builtin_names`), `names_that_people_type` (`near`),
//! `other_names_are_in_order` (`other_names`); read/provenance.rs:
//! `assumed_figures_are_marked_and_published_ones_named` (`note`, `in_file_order`),
//! `every_table_is_known_in_one_way` (the words); model.rs: `wake_latency_is_what_cpuidle_sees`
//! (`idle_states_of`, `wake_latency_ns`),
//! `converted_power_follows_from_the_tables_named_in_the_files` (`freq_domain_of`),
//! `power_follows_from_coefficient_voltage_and_clock` (`power_in_model`, `freq_domain_of`),
//! `u8500_has_both_idle_tables` (`wake_latency_ns`),
//! `last_level_caches_are_shared_as_the_machines_have_them` (`last_level_cache`); read/idle.rs:
//! `x86_polls_and_no_other` (`poll_state`); numa.rs: `nodes_that_overlap` (built-in machines);
//! known.rs: `every_table_is_known_in_one_way` (`known`, `group_of`, `groups_known`),
//! `a_file_says_what_it_assumes` (`assumed_by_file`),
//! `the_page_lists_every_machine` (the words as the page has them); assumed.rs:
//! `the_page_lists_every_machine` (`modelled_power`); the files of platforms/:
//! `capacities_of_machines_that_differ_from_all_others`, `hybrids_with_and_without_threads`,
//! `machines_without_collected_facts`.
//! Helpers, and who fails with them: `row` (`the_page_lists_every_machine`).

use std::fs;
use std::path::Path;

use wakeplace_platform::{CpuId, Platform, PowerUnit, Standing, builtin_names, numa};

#[test]
fn every_builtin_loads_under_its_own_name() {
    let names: Vec<&str> = builtin_names().collect();
    for name in [
        "hikey960",
        "juno-r0",
        "tc2",
        "spr-2s",
        "ivb-ep-2s",
        "zen3-2s",
        "ca9-quad",
        "snb-laptop",
        "snb-ep-2s",
        "nhm-ep-2s",
        "u8500",
        "u8500-2011",
        "alder-lake-12900k-nosmt",
    ] {
        assert!(names.contains(&name), "{name} is missing from {names:?}");
    }
    assert!(names.len() >= 41, "{} machines", names.len());
    for name in names {
        let platform = Platform::load(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(platform.name, name);
        assert_eq!(
            Platform::load(&format!("platform:{name}")).expect("same"),
            platform
        );
    }
}

#[test]
fn assumed_figures_are_marked_and_published_ones_named() {
    let platform = Platform::builtin("hikey960").expect("built in");
    let standing = |what: &str| {
        let entry = platform.provenance.iter().find(|(name, _)| name == what);
        entry
            .unwrap_or_else(|| panic!("no provenance of {what}"))
            .1
            .standing
    };
    assert_eq!(standing("frequencies of CPUs little"), Standing::Published);
    assert_eq!(standing("cpu power of CPUs little"), Standing::Derived);
    assert_eq!(standing("cluster power of CPUs little"), Standing::Assumed);
    assert_eq!(standing("cluster power of CPUs big"), Standing::Published);
    assert_eq!(
        standing("power in idle state WFI of CPUs big"),
        Standing::Assumed
    );
    assert_eq!(platform.costs.source.standing, Standing::Assumed);
    assert_eq!(platform.provenance[0].0, "kernel");
    let board = platform.board.as_ref().expect("hikey960 has one");
    assert_eq!(board.source.standing, Standing::Calibrated);
}

#[test]
fn wake_latency_is_what_cpuidle_sees() {
    let platform = Platform::builtin("hikey960").expect("built in");
    let states: Vec<(&str, u64)> = platform
        .idle_states_of(CpuId(4))
        .map(|(_, s)| (s.name.as_str(), s.wake_latency_ns()))
        .collect();
    let expected = [
        ("WFI", 1_000),
        ("cpu-sleep-1", 950_000),
        ("cluster-sleep-1", 3_700_000),
    ];
    assert_eq!(states, expected);
}

#[test]
fn converted_power_follows_from_the_tables_named_in_the_files() {
    let juno = Platform::builtin("juno-r0").expect("built in");
    // LISA lisa/platforms/juno_r0.py: busy core at the top point, then the cluster's busy column.
    let lisa = [
        (0, 93, [26, 30, 39, 47, 57]),
        (1, 616, [24, 32, 43, 49, 64]),
    ];
    for (cpu, top_core, cluster) in lisa {
        let opps = &juno.freq_domains[juno.freq_domain_of(CpuId(cpu))].opps;
        let top = opps[4].power.expect("has power");
        for (opp, bogo) in opps.iter().zip(cluster) {
            assert_eq!(opp.cluster_power, Some(bogo * top / top_core));
        }
    }
    let hikey = Platform::builtin("hikey960").expect("built in");
    let opps = &hikey.freq_domains[0].opps;
    let scale = |khz: u64, mv: u64| 36_000 * khz * mv * mv / (1_402_000 * 900 * 900);
    assert_eq!(opps[3].cluster_power, Some(scale(1_709_000, 1000)));
    assert_eq!(opps[4].cluster_power, Some(scale(1_844_000, 1100)));
}

/// Energy Model power of mainline (docs/rules/energy-aware.md#energy-model): dpc * mV^2 * MHz /
/// 10^6, cut. Coefficient, voltage and clock by hand from the device trees, not from the files.
#[test]
fn power_follows_from_coefficient_voltage_and_clock() {
    for (name, cpu, dpc, mv, mhz) in [
        ("rk3399", 4, 436_u64, 1200_u64, 1800_u64),
        ("rk3588", 0, 228, 675, 1008),
        ("gs101", 6, 650, 1056, 2802),
        ("mt8183", 0, 84, 650, 793),
        ("hikey620", 0, 311, 1330, 1200),
        ("juno-r2", 1, 450, 1000, 1200),
    ] {
        let platform = Platform::builtin(name).expect("built in");
        let domain = &platform.freq_domains[platform.freq_domain_of(CpuId(cpu))];
        let opp = domain
            .opps
            .iter()
            .find(|opp| u64::from(opp.khz) / 1000 == mhz);
        let opp = opp.unwrap_or_else(|| panic!("{name}: no {mhz} MHz"));
        let believed = opp.power_in_model();
        assert_eq!(believed, Some(dpc * mv * mv * mhz / 1_000_000), "{name}");
    }
}

/// By the formula of docs/rules/capacity.md#capacity-setup where there is one: 605 = 39 * 1024 /
/// 66, 624 = 39 * 1024 / 64.
#[test]
fn capacities_of_machines_that_differ_from_all_others() {
    let capacities = |name: &str| {
        let platform = Platform::builtin(name).expect("built in");
        let mut all: Vec<u32> = platform.cpus.iter().map(|cpu| cpu.capacity).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    assert_eq!(capacities("gb10"), [718, 731, 997, 1017, 1024]);
    assert_eq!(capacities("alder-lake-12900k"), [1024]);
    assert_eq!(
        capacities("alder-lake-12900k-nosmt"),
        [39 * 1024 / 66, 1024]
    );
    assert_eq!(
        capacities("raptor-lake-1370p-nosmt"),
        [39 * 1024 / 64, 1024]
    );
    assert_eq!(capacities("gs101"), [160, 498, 1024]);
    assert_eq!(capacities("sm8250"), [261, 801, 1024]);
    assert_eq!(
        capacities("apple-m1"),
        [714 * 2064 * 1024 / (1024 * 2988), 1024]
    );
}

/// SMT on: priorities are HWP's highest performance; SMT off: 8 + 8 and 6 + 8 CPUs without any.
#[test]
fn hybrids_with_and_without_threads() {
    for (name, performance, efficient, cores) in [
        ("alder-lake-12900k", 66, 39, 8),
        ("raptor-lake-1370p", 64, 39, 6),
    ] {
        let on = Platform::builtin(name).expect("built in");
        let off = Platform::builtin(&format!("{name}-nosmt")).expect("built in");
        assert_eq!((on.cpus.len(), off.cpus.len()), (2 * cores + 8, cores + 8));
        for cpu in &on.cpus {
            let priority = if cpu.kind == "P" {
                performance
            } else {
                efficient
            };
            assert_eq!(cpu.priority, priority, "{name}");
        }
        let packs: Vec<bool> = on.topology.iter().map(|level| level.asym_packing).collect();
        assert_eq!(
            packs,
            [false, true, true],
            "{name}: all but the threads of a core"
        );
        assert!(off.smt.is_none() && off.cpus.iter().all(|cpu| cpu.priority == 0));
        assert!(off.topology.iter().all(|level| !level.asym_packing));
    }
}

/// Goal: every x86 machine has the state that cpuidle's x86 drivers put first, and no other has it
/// (Linux 7.3.4: intel_idle.c and processor_idle.c call `cpuidle_poll_state_init()`; cpuidle-psci.c
/// does not).
#[test]
fn x86_polls_and_no_other() {
    for name in wakeplace_platform::builtin_names() {
        let platform = Platform::builtin(name).expect("built in");
        let x86 = platform.arch == "x86_64";
        for cpu in (0..platform.cpus.len() as u32).map(CpuId) {
            let states: Vec<_> = platform.idle_states_of(cpu).map(|(_, s)| s).collect();
            assert_eq!(states[0].polling, x86, "{name}");
            assert!(states[1..].iter().all(|state| !state.polling), "{name}");
            if x86 {
                let first = (&states[0].name[..], states[0].wake_latency_ns());
                assert_eq!(first, ("POLL", 0), "{name}");
            }
        }
    }
}

/// The two tables of u8500 (mainline cpuidle-ux500.c; the vendor's 3.x driver): entry and exit.
#[test]
fn u8500_has_both_idle_tables() {
    let table = |name: &str| -> Vec<(String, u64, u64)> {
        let platform = Platform::builtin(name).expect("built in");
        let states = platform.idle_states.iter();
        let us = |state: &wakeplace_platform::IdleState| {
            let (wake, stay) = (state.wake_latency_ns(), state.min_residency_ns);
            (state.name.clone(), wake / 1000, stay / 1000)
        };
        states.map(us).collect()
    };
    let row = |name: &str, wake: u64, stay: u64| (name.to_owned(), wake, stay);
    assert_eq!(table("u8500"), [row("WFI", 1, 1), row("ApIdle", 70, 260)]);
    let vendor = [
        row("WFI", 0, 0),
        row("ApIdle", 240, 260),
        row("ApSleep", 2050, 2050),
        row("ApDeepIdle", 9300, 9300),
        row("ApDeepSleep UL-PLL off", 9330, 9330),
        row("ApSleep UL-PLL off", 10_050, 10_050),
    ];
    assert_eq!(table("u8500-2011"), vendor);
    let (new, old) = (
        Platform::builtin("u8500").expect("built in"),
        Platform::builtin("u8500-2011").expect("built in"),
    );
    assert_eq!(new.freq_domains, old.freq_domains);
    assert_eq!(new.cpus, old.cpus);
}

/// Machines the series name and no facts were collected of.
#[test]
fn machines_without_collected_facts() {
    let quad = Platform::builtin("ca9-quad").expect("built in");
    assert_eq!(quad.cpus.len(), 4);
    let khz: Vec<u32> = quad.freq_domains[0]
        .opps
        .iter()
        .map(|opp| opp.khz)
        .collect();
    // The series' table of cpu_power has its step at 600 MHz: points on both sides.
    assert!(khz.iter().any(|khz| *khz < 600_000) && khz.iter().any(|khz| *khz > 600_000));
    let laptop = Platform::builtin("snb-laptop").expect("built in");
    let cores = laptop.cpus.iter().map(|cpu| cpu.core).max();
    assert_eq!(
        (laptop.cpus.len(), cores),
        (8, Some(3)),
        "4 cores, 8 threads"
    );
    // specjbb: Nehalem beside Sandy Bridge, both of two sockets.
    for (name, cpus) in [("nhm-ep-2s", 16), ("snb-ep-2s", 32)] {
        let server = Platform::builtin(name).expect("built in");
        assert_eq!(server.cpus.len(), cpus);
        assert_eq!(
            server.numa.expect("two nodes").distances,
            [[10, 20], [20, 10]]
        );
    }
}

/// A ring of four sockets: neighbours at 20, the one across at 30; the Kunpeng's four nodes: 16,
/// 25, 32, 33, overlapping from 25 on.
#[test]
fn nodes_that_overlap() {
    let levels = |name: &str| {
        let platform = Platform::builtin(name).expect("built in");
        numa::levels(&platform.numa.expect("several nodes").distances)
    };
    let ring = levels("snb-ep-4s");
    assert_eq!(ring[0].near, [0b1011, 0b0111, 0b1110, 0b1101]);
    assert_eq!((ring[0].distance, ring[1].distance), (20, 30));
    let kunpeng = levels("kunpeng920-2s");
    let distances: Vec<u32> = kunpeng.iter().map(|level| level.distance).collect();
    assert_eq!(distances, [16, 25, 32, 33]);
    assert!(kunpeng[0].near.is_empty(), "two pairs");
    assert_eq!(kunpeng[1].near, [0b0011, 0b0111, 0b1110, 0b1100]);
}

/// Goal: in a file of somebody's own, the groups with an assumed table, by the sources of
/// platforms/tc2.toml (`[kernel]` and `[costs]` are assumed, no other); not in the built-in one.
#[test]
fn a_file_says_what_it_assumes() {
    let builtin = Platform::builtin("tc2").expect("built in");
    assert_eq!(builtin.assumed_by_file(), None);
    let text = Platform::source_text("tc2").expect("built in");
    let own = Platform::from_bytes(text.as_bytes(), "my boards/tc2.toml").expect("valid");
    assert_eq!(
        own.assumed_by_file().expect("a sentence"),
        "my boards/tc2.toml: assumed, in whole or in part, are tick, costs; \
         `wakeplace platform show 'my boards/tc2.toml'` says why"
    );
}

/// Every table is in one of the groups that lists of machines show, and no table twice.
#[test]
fn every_table_is_known_in_one_way() {
    for name in builtin_names() {
        let platform = Platform::builtin(name).expect("built in");
        let known = platform.known();
        let tables = known
            .iter()
            .map(|k| k.published + k.derived + k.assumed)
            .sum::<usize>();
        assert_eq!(tables, platform.provenance.len(), "{name}");
        let has_power = known.iter().any(|known| known.group == "power");
        assert_eq!(has_power, platform.power_unit != PowerUnit::None, "{name}");
        let assumed = platform.groups_known(Standing::Assumed);
        assert!(assumed.contains(&"costs"), "{name}: nobody publishes those");
    }
    let board = Platform::builtin("hikey960").expect("built in");
    let published = board.groups_known(Standing::Published);
    assert_eq!(
        published,
        ["clocks", "power", "idle states", "tick", "heat"]
    );
    assert_eq!(
        board.groups_known(Standing::Derived),
        ["cpus", "levels", "power"]
    );
    let assumed = board.groups_known(Standing::Calibrated);
    assert_eq!(
        assumed,
        [
            "power",
            "idle power",
            "costs",
            "board",
            "heat",
            "housekeeping"
        ]
    );
    assert_eq!(board.kinds(), ["4 cortex-a53", "4 cortex-a73"]);
}

/// docs/guide/platforms.md has the row of every machine as it is, and no other.
#[test]
fn the_page_lists_every_machine() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/platforms.md");
    let page = fs::read_to_string(page).expect("readable");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let expected: Vec<String> = builtin_names().map(row).collect();
    for (there, expected) in rows.clone().zip(&expected) {
        assert_eq!(there, expected);
    }
    assert_eq!(
        rows.count(),
        expected.len(),
        "the table must be:\n{}",
        expected.join("\n")
    );
}

/// README and tour count machines, not files: the name of a further file of one machine begins
/// with that of the first (docs/guide/platforms.md, "Two files of one machine").
#[test]
fn machines_are_counted_once() {
    let names: Vec<&str> = builtin_names().collect();
    let further = |name: &&&str| {
        let first = |other: &&str| {
            name.strip_prefix(*other)
                .is_some_and(|end| end.starts_with('-'))
        };
        names.iter().any(first)
    };
    let files: Vec<&str> = names.iter().filter(further).copied().collect();
    let expected = [
        "alder-lake-12900k-nosmt",
        "raptor-lake-1370p-nosmt",
        "u8500-2011",
        "wsm-ex-4s-ht",
    ];
    assert_eq!(files, expected);
    let machines = names.len() - files.len();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (page, words) in [
        (
            "README.md",
            format!("models of {machines} real boards and servers"),
        ),
        (
            "docs/guide/tour.md",
            format!("**Platforms**: {machines} boards, phones"),
        ),
    ] {
        let text = fs::read_to_string(root.join(page)).expect("readable");
        assert!(text.contains(&words), "{page} must say \"{words}\"");
    }
}

/// Goal: what people call a board, chip or product leads to its platform, and a name of another
/// machine of the same family to none.
#[test]
fn names_that_people_type() {
    let near = |name: &str| {
        let error = Platform::load(name)
            .expect_err("no platform's name")
            .to_string();
        let words = error
            .split(&format!("`{name}`"))
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        words.split("? ").next().unwrap_or_default().to_owned()
    };
    for (name, meant) in [
        ("pixel6", "; did you mean `gs101`"),
        ("Pixel 6", "; did you mean `gs101`"),
        (
            "i7-1370P",
            "; did you mean `raptor-lake-1370p` or `raptor-lake-1370p-nosmt`",
        ),
        (
            "raptorlake",
            "; did you mean `raptor-lake-1370p` or `raptor-lake-1370p-nosmt`",
        ),
        (
            "raptor_lake",
            "; did you mean `raptor-lake-1370p` or `raptor-lake-1370p-nosmt`",
        ),
        ("snapdragon865", "; did you mean `sm8250`"),
        ("raspberrypi5", "; did you mean `rpi5`"),
        ("Kirin 960", "; did you mean `hikey960`"),
        ("rock5b", "; did you mean `rk3588`"),
        ("genoa", "; did you mean `zen4-2s-genoa`"),
        (
            "12900k",
            "; did you mean `alder-lake-12900k` or `alder-lake-12900k-nosmt`",
        ),
        ("hikey96", "; did you mean `hikey960`"),
    ] {
        assert_eq!(near(name), meant, "{name}");
    }
    for other in [
        "pixel7",
        "i9-14900K",
        "raspberrypi4",
        "snapdragon 8 gen 9",
        "--",
        "",
        "\u{1b}",
    ] {
        assert!(
            !near(other).contains("did you mean"),
            "{other}: {}",
            near(other)
        );
    }
}

/// No other name is a platform's own, none stands twice in a file, and every machine has one.
#[test]
fn other_names_are_in_order() {
    for name in builtin_names() {
        let others = wakeplace_platform::other_names(name);
        assert!(!others.is_empty(), "{name}");
        for (at, other) in others.iter().enumerate() {
            assert!(!others[..at].contains(other), "{name}: {other}");
            assert!(
                builtin_names().all(|known| known != other),
                "{name}: {other}"
            );
        }
    }
    assert!(wakeplace_platform::other_names("none").is_empty());
}

/// The page's row of a machine.
fn row(name: &str) -> String {
    let platform = Platform::builtin(name).expect("built in");
    let power = match platform.power_unit {
        PowerUnit::Microwatt if platform.modelled_power().len() == platform.cpus.len() => {
            "modelled"
        }
        PowerUnit::Microwatt => "watts",
        PowerUnit::Bogo => "bogo",
        PowerUnit::None => "none",
    };
    let words = |standing| match platform.groups_known(standing)[..] {
        [] => "-".to_owned(),
        ref groups => groups.join(", "),
    };
    let (cpus, kinds) = (platform.cpus.len(), platform.kinds().join(" + "));
    let published = words(Standing::Published);
    let (derived, assumed) = (words(Standing::Derived), words(Standing::Assumed));
    format!("| `{name}` | {cpus} | {kinds} | {power} | {published} | {derived} | {assumed} |")
}

/// Goal: a last-level cache is that of the highest level on which a CPU shares one. Zen 4: eight
/// cores of two threads share an L3, and a 7950X has two of these.
#[test]
fn last_level_caches_are_shared_as_the_machines_have_them() {
    let platform = Platform::builtin("zen4-7950x").expect("built in");
    let of = |cpu: u32| platform.last_level_cache(CpuId(cpu)).expect("shared");
    let mut caches: Vec<_> = (0..platform.cpus.len() as u32).map(of).collect();
    assert!((0..).zip(&caches).all(|(cpu, of)| of.contains(&CpuId(cpu))));
    caches.sort();
    caches.dedup();
    let sizes: Vec<_> = caches.iter().map(|cpus| cpus.len()).collect();
    assert_eq!(sizes, [16, 16]);
    let mut alone = platform.clone();
    for level in &mut alone.topology {
        level.groups = (0..32).map(|cpu| vec![CpuId(cpu)]).collect();
    }
    assert_eq!(alone.last_level_cache(CpuId(3)), None);
}
