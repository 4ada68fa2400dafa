//! Machines imported from trees of several kinds. What is expected is from the facts that each tree
//! names, by hand.
//! Page: docs/guide/import.md.
//!
//! What must stay: what is expected is from the facts of each tree, by hand; what is assumed is
//! said in the file that is made. Free: how trees are changed, and new trees.
//! Tests by part (in crates/platform/src): import/speeds.rs:
//! `speeds_by_clock_are_said_to_be_assumed` (`by_clock`); import/write.rs:
//! `hybrids_have_priorities_or_capacities` (`shared`), `phones` (`names`); import/costs.rs:
//! `a_server_has_the_costs_of_one_of_its_kind` (`SERVER`); form.rs:
//! `a_board_with_an_energy_model_is_the_one_that_comes_with_the_program` (`comment`);
//! import/found.rs: `offline_cpus_are_left_out_and_the_rest_is_numbered_anew` (`cpu_list`),
//! `big_cpus_that_are_offline_leave_a_smaller_scale` (`of_largest`), `servers_of_arm` (`clusters`);
//! sysfs/energy.rs: `an_energy_model_beside_the_tree` (a folder alone); import/mod.rs:
//! `an_archive_is_as_its_folder`, `this_machine_can_be_imported` (`import`),
//! `a_plat_info_with_anchors` (`plat_info`), `the_own_powers_come_back` (`import_like`);
//! import/power_like.rs: `the_own_powers_come_back` (`check`); import/energy.rs:
//! `a_plat_info_with_the_kernels_energy_model` (`lay_over`), `both_energy_models`
//! (`idle_by_ratio`); import/devicetree/clocks.rs: `a_device_tree_with_the_kernels_energy_model`
//! (`points`); import/nrg_model.rs: `an_energy_model_of_lisa` (`read`), `a_board_file_of_lisa_1`
//! (`of_kinds`), `a_plat_info_of_lisa` (`khz`), `capacities_of_an_energy_model_may_be_fractions`
//! (`whole`), `parts_of_a_plat_info_that_are_pickled` (`is_written_out`);
//! import/nrg_model/clusters.rs: `clusters_of_an_energy_model_of_lisa` (`cluster_of`); import:
//! `two_sockets_with_threads`, `a_virtual_machine_of_one_cpu`.
//! Helpers, and who fails with them: `imported` (`two_sockets_with_threads`,
//! `hybrids_have_priorities_or_capacities` and 15 more); `levels` (`two_sockets_with_threads`,
//! `speeds_by_clock_are_said_to_be_assumed` and 7 more); `powers`, `idle`
//! (`an_energy_model_of_lisa`); `standing` (`two_sockets_with_threads`,
//! `a_board_with_an_energy_model_is_the_one_that_comes_with_the_program`); `times_ns`
//! (`a_server_has_the_costs_of_one_of_its_kind`,
//! `a_board_with_an_energy_model_is_the_one_that_comes_with_the_program`); `energy_model`
//! (`a_plat_info_with_the_kernels_energy_model`, `a_device_tree_with_the_kernels_energy_model`,
//! `both_energy_models`).

mod architectures;
mod archives;
mod hostile;
mod kinds;
mod round_trip;
mod tree_files;
mod voltages;

use std::path::Path;
use std::process::Command;
use tree_files::Files;
use wakeplace_platform::import::{Imported, PowerLike, Source, import, import_like};
use wakeplace_platform::{CpuId, Platform, PowerUnit, Standing};

/// What is imported of a kept tree.
fn imported(name: &str) -> Imported {
    let (_folder, root) = Files::named(&format!("{name}.tree")).folder(name);
    import(Source::Tree(&root), None, None).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The levels of a platform, each with its number of groups.
fn levels(platform: &Platform) -> Vec<(&str, usize)> {
    let level = |level: &wakeplace_platform::TopologyLevel| level.groups.len();
    platform
        .topology
        .iter()
        .map(|l| (l.name.as_str(), level(l)))
        .collect()
}

/// How a part of the platform is known.
fn standing(platform: &Platform, what: &str) -> Standing {
    let found = platform
        .provenance
        .iter()
        .find(|(own, _)| own.starts_with(what));
    found.unwrap_or_else(|| panic!("no {what}")).1.standing
}

#[test]
fn two_sockets_with_threads() {
    let Imported { platform, said, .. } = imported("ivb-ep-2s");
    assert_eq!(platform.name, "ivb-ep-2s");
    assert_eq!(
        (platform.arch.as_str(), platform.cpus.len()),
        ("x86_64", 40)
    );
    assert_eq!(levels(&platform), [("SMT", 20), ("MC", 2)]);
    assert_eq!(platform.cpus[3].core, platform.cpus[23].core);
    assert_eq!((platform.cpus[13].package, platform.cpus[13].node), (1, 1));
    let numa = platform.numa.as_ref().expect("two nodes");
    assert_eq!(numa.distances, [[10, 21], [21, 10]]);
    // One clock per core, though the kernel has a policy per thread: 1200 to 3600 MHz by 100.
    assert_eq!(platform.freq_domains.len(), 20);
    assert_eq!(platform.freq_domains[3].cpus, [CpuId(3), CpuId(23)]);
    assert_eq!(platform.freq_domains[0].opps.len(), 25);
    assert_eq!(platform.freq_domains[0].transition_latency_ns, 20_000);
    // ivt_cstates, after POLL.
    let states: Vec<_> = platform
        .idle_states
        .iter()
        .filter(|state| !state.polling)
        .map(|s| (s.name.as_str(), s.exit_latency_ns))
        .collect();
    assert_eq!(
        states,
        [
            ("C1", 1_000),
            ("C1E", 10_000),
            ("C3", 59_000),
            ("C6", 82_000)
        ]
    );
    assert_eq!(platform.power_unit, PowerUnit::None);
    assert_eq!(standing(&platform, "smt"), Standing::Assumed);
    assert_eq!(standing(&platform, "kernel"), Standing::Assumed);
    assert!(
        said.iter().any(|line| line.contains("tick 1000 Hz")),
        "{said:?}"
    );
    assert!(
        said.iter().any(|line| line.starts_with("no power")),
        "{said:?}"
    );
}

/// Goal: CPUs of one capacity are not of one speed in silence. Method: the tree without the
/// firmware's levels: E cores at 0.787 of a P core per clock, 3.9 * 0.78741 / 5.2 * 1024 = 604.7.
#[test]
fn speeds_by_clock_are_said_to_be_assumed() {
    let mut files = Files::named("raptor-lake-1370p.tree");
    for cpu in 0..20 {
        files.remove(&format!(
            "sys/devices/system/cpu/cpu{cpu}/acpi_cppc/highest_perf"
        ));
        let khz = if cpu < 12 { "5200000" } else { "3900000" };
        let file = format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq");
        files.put(&file, khz);
    }
    let (_folder, root) = files.folder("no-levels");
    let Imported { platform, said, .. } =
        import(Source::Tree(&root), None, None).expect("a machine");
    assert_eq!(
        (platform.cpus[0].speed, platform.cpus[19].speed),
        (1024, 604)
    );
    assert!(
        said.iter()
            .any(|line| line.starts_with("speed, CPUs 12-19 slower")
                && line.contains("0.787 for E cores")),
        "{said:?}"
    );
}

#[test]
fn hybrids_have_priorities_or_capacities() {
    let Imported { platform, .. } = imported("raptor-lake-1370p");
    assert!(
        platform.cpus.iter().all(|cpu| cpu.capacity == 1024),
        "threads: all are alike"
    );
    assert_eq!(
        (platform.cpus[0].priority, platform.cpus[12].priority),
        (64, 39)
    );
    // The firmware's levels of performance say how fast they are.
    assert_eq!(
        (platform.cpus[0].speed, platform.cpus[12].speed),
        (1024, 39 * 1024 / 64)
    );
    assert_eq!(
        (
            platform.cpus[0].kind.as_str(),
            platform.cpus[19].kind.as_str()
        ),
        ("P", "E")
    );
    // Six P cores and two modules of E cores; then all.
    assert_eq!(levels(&platform), [("SMT", 14), ("CLS", 8), ("MC", 1)]);
    let packs: Vec<bool> = platform
        .topology
        .iter()
        .map(|level| level.asym_packing)
        .collect();
    assert_eq!(packs, [false, true, true]);
    assert_eq!(platform.clusters.len(), 8);

    // SMT off: the second threads are offline, capacities are 39 of 64.
    let mut files = Files::named("raptor-lake-1370p.tree");
    files.put("sys/devices/system/cpu/online", "0,2,4,6,8,10,12-19");
    files.put("proc/sys/kernel/sched_itmt_enabled", "0");
    let (_folder, root) = files.folder("nosmt");
    let Imported { platform, said, .. } =
        import(Source::Tree(&root), None, None).expect("a machine");
    assert_eq!(platform.cpus.len(), 14);
    assert_eq!(platform.cpus[6].capacity, 39 * 1024 / 64);
    assert_eq!(platform.cpus[6].priority, 0);
    assert!(
        said.iter()
            .any(|line| line.contains("CPUs 1,3,5,7,9,11 are offline")),
        "{said:?}"
    );
    assert!(
        platform
            .notes
            .iter()
            .any(|note| note.contains("CPUs 0,2,4,6,8,10,12-19 of the machine"))
    );
}

/// What the scheduler's own work takes.
fn times_ns(platform: &Platform) -> [u64; 8] {
    let costs = &platform.costs;
    [
        costs.context_switch_ns,
        costs.wakeup_ns,
        costs.ipi_ns,
        costs.tick_ns,
        costs.fork_ns,
        costs.migrate_shared_cache_ns,
        costs.migrate_other_cache_ns,
        costs.scan_cpu_ns,
    ]
}

#[test]
fn a_server_has_the_costs_of_one_of_its_kind() {
    let server = Platform::builtin("wsm-ep-2s").expect("built in");
    assert_eq!(times_ns(&imported("ivb-ep-2s").platform), times_ns(&server));
}

#[test]
fn a_board_with_an_energy_model_is_the_one_that_comes_with_the_program() {
    let Imported { platform, toml, .. } = imported("hikey960");
    let builtin = Platform::builtin("hikey960").expect("built in");
    let facts = |platform: &Platform| {
        let cpus: Vec<_> = platform
            .cpus
            .iter()
            .map(|c| (c.capacity, c.cluster, c.kind.clone()))
            .collect();
        let power = |d: &wakeplace_platform::FreqDomain| {
            d.opps.iter().map(|o| (o.khz, o.power)).collect::<Vec<_>>()
        };
        let clocks: Vec<_> = platform
            .freq_domains
            .iter()
            .map(|d| (d.cpus.clone(), power(d), d.transition_latency_ns))
            .collect();
        let levels: Vec<_> = platform
            .topology
            .iter()
            .map(|l| (l.name.clone(), l.groups.clone()))
            .collect();
        let names: Vec<_> = platform.clusters.iter().map(|c| c.name.clone()).collect();
        (
            cpus,
            clocks,
            levels,
            names,
            platform.tick_hz,
            platform.power_unit,
        )
    };
    assert_eq!(facts(&platform), facts(&builtin));
    // Idle power by the same rule as in the file made by hand, costs the same.
    let wfi = |p: &Platform, cpu: u32| {
        let (_, state) = p.idle_states_of(CpuId(cpu)).next().expect("a state");
        (state.wake_latency_ns(), state.cpu_power)
    };
    assert_eq!(
        [wfi(&platform, 0), wfi(&platform, 4)],
        [wfi(&builtin, 0), wfi(&builtin, 4)]
    );
    assert_eq!(times_ns(&platform), times_ns(&builtin));
    assert_eq!(standing(&platform, "cpu power of"), Standing::Published);
    assert_eq!(
        standing(&platform, "power in idle state"),
        Standing::Assumed
    );
    // Cluster states: the little one is deeper than its CPU state; the big one's latency grows.
    let names: Vec<_> = platform
        .idle_states
        .iter()
        .map(|s| s.name.as_str())
        .collect();
    assert!(names.contains(&"cluster-sleep-0"), "{names:?}");
    assert!(toml.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn offline_cpus_are_left_out_and_the_rest_is_numbered_anew() {
    let Imported { platform, said, .. } = imported("hikey960-offline");
    let capacity: Vec<u32> = platform.cpus.iter().map(|cpu| cpu.capacity).collect();
    assert_eq!(capacity, [462, 462, 462, 1024, 1024]);
    assert_eq!(levels(&platform), [("MC", 2), ("PKG", 1)]);
    assert_eq!(platform.freq_domains[1].cpus, [CpuId(3), CpuId(4)]);
    let line = "CPUs 1,6-7 are offline and left out; CPUs 0,2-5 of the machine are CPUs 0-4 here, \
                in their order";
    assert!(said.iter().any(|own| own == line), "{said:?}");
}

#[test]
fn big_cpus_that_are_offline_leave_a_smaller_scale() {
    let mut files = Files::named("hikey960.tree");
    files.put("sys/devices/system/cpu/online", "0-3");
    let (_folder, root) = files.folder("little");
    let Imported { platform, said, .. } =
        import(Source::Tree(&root), None, None).expect("a machine");
    assert!(platform.cpus.iter().all(|cpu| cpu.capacity == 1024));
    assert!(
        said.iter().any(|line| line.contains("which had 462")),
        "{said:?}"
    );
}

#[test]
fn servers_of_arm() {
    let Imported { platform, .. } = imported("kunpeng920-2s");
    let builtin = Platform::builtin("kunpeng920-2s").expect("built in");
    let groups = |p: &Platform| {
        p.topology
            .iter()
            .map(|l| l.groups.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(levels(&platform), [("CLS", 32), ("MC", 4)]);
    assert_eq!(groups(&platform), groups(&builtin)[..2]);
    assert_eq!(
        platform.numa.as_ref().map(|n| &n.distances),
        builtin.numa.as_ref().map(|n| &n.distances)
    );
    assert_eq!(platform.cpus[127].kind, "taishan-v110");
    let Imported { platform, .. } = imported("graviton3");
    assert_eq!(levels(&platform), [("MC", 1)]);
    assert_eq!(
        (platform.clusters.len(), platform.cpus[7].kind.as_str()),
        (1, "neoverse-v1")
    );
    let wfi = &platform.idle_states[0];
    assert_eq!((wfi.name.as_str(), wfi.exit_latency_ns), ("WFI", 1_000));
}

#[test]
fn phones() {
    let Imported { platform, .. } = imported("gs101");
    let builtin = Platform::builtin("gs101").expect("built in");
    let capacities = |p: &Platform| {
        p.cpus
            .iter()
            .map(|c| (c.capacity, c.kind.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(capacities(&platform), capacities(&builtin));
    assert_eq!(levels(&platform), [("CLS", 3), ("MC", 1)]);
    let names: Vec<_> = platform.clusters.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["little", "mid", "big"]);
    // Powers without a unit: no joules, but ratios.
    let Imported { platform, .. } = imported("sdm845");
    assert_eq!(platform.power_unit, PowerUnit::Bogo);
    assert_eq!(platform.freq_domains[1].opps[1].power, Some(916));
    assert_eq!(levels(&platform), [("MC", 1)]);
}

#[test]
fn a_virtual_machine_of_one_cpu() {
    let Imported { platform, .. } = imported("single-cpu-vm");
    assert_eq!(
        (platform.cpus.len(), platform.freq_domains[0].opps.len()),
        (1, 1)
    );
    assert_eq!(levels(&platform), [("MC", 1)]);
}

/// The energy model as a folder of its own, beside a tree that has none.
#[test]
fn an_energy_model_beside_the_tree() {
    let mut files = Files::named("hikey960.tree");
    let mut model = Files::default();
    for (path, text) in std::mem::take(&mut files.0) {
        match path.strip_prefix("sys/kernel/debug/energy_model/") {
            Some(below) => drop(model.0.insert(below.to_owned(), text)),
            None => drop(files.0.insert(path, text)),
        }
    }
    let (_one, root) = files.folder("board");
    let (_other, energy) = model.folder("energy_model");
    let without = import(Source::Tree(&root), None, None).expect("a machine");
    assert_eq!(without.platform.power_unit, PowerUnit::None);
    assert_eq!(without.platform.freq_domains[0].opps.len(), 5);
    let with = import(Source::Tree(&root), Some(&energy), Some("with-power")).expect("a machine");
    assert_eq!(
        (with.platform.name.as_str(), with.platform.power_unit),
        ("with-power", PowerUnit::Microwatt)
    );
    assert_eq!(
        with.platform.freq_domains,
        imported("hikey960").platform.freq_domains
    );
}

/// Goal: a tree without power that takes a machine's own powers has them: its kinds and clocks are
/// the same. Powers are those of platforms/hikey960.toml. A source with power is refused.
#[test]
fn the_own_powers_come_back() {
    let mut files = Files::named("hikey960.tree");
    let like = PowerLike::of("hikey960", "--power-like").expect("a machine with power");
    let (_one, whole) = files.folder("whole");
    let error = import_like(Source::Tree(&whole), None, None, Some(&like));
    let message = error.expect_err("it has power").to_string();
    assert!(message.contains("has powers of its own"), "{message}");
    let is_model = |path: &String| path.starts_with("sys/kernel/debug/energy_model/");
    files.0.retain(|path, _| !is_model(path));
    let (_other, root) = files.folder("board");
    let made = import_like(Source::Tree(&root), None, None, Some(&like)).expect("a machine");
    let powers = |platform: &Platform| {
        let opps = platform.freq_domains.iter().flat_map(|domain| &domain.opps);
        opps.map(|opp| (opp.khz, opp.power)).collect::<Vec<_>>()
    };
    let own = Platform::builtin("hikey960").expect("built in");
    assert_eq!(powers(&made.platform), powers(&own));
}

/// A tar of the tree makes the same machine; the tar is the system's own.
#[test]
fn an_archive_is_as_its_folder() {
    for name in ["hikey960", "ivb-ep-2s"] {
        let (folder, root) = Files::named(&format!("{name}.tree")).folder(name);
        for format in ["ustar", "gnu", "posix"] {
            let tar = folder.path().join(format!("{name}.tar"));
            let made = Command::new("tar")
                .args(["-cf"])
                .arg(&tar)
                .arg(format!("--format={format}"))
                .arg("-C")
                .arg(&root)
                .arg(".")
                .status();
            assert!(made.expect("tar").success());
            let of_tar = import(Source::Tree(&tar), None, Some("x")).expect("a machine");
            let of_folder = import(Source::Tree(&root), None, Some("x")).expect("a machine");
            assert_eq!(of_tar.platform.cpus, of_folder.platform.cpus);
            assert_eq!(
                of_tar.platform.freq_domains,
                of_folder.platform.freq_domains
            );
            assert_eq!(of_tar.platform.idle_states, of_folder.platform.idle_states);
            assert_eq!(of_tar.platform.topology, of_folder.platform.topology);
        }
        let tar = folder.path().join(format!("{name}.tar"));
        let bytes = std::fs::read(&tar).expect("bytes");
        std::fs::write(&tar, &bytes[..bytes.len() / 3]).expect("written");
        let error = import(Source::Tree(&tar), None, None).expect_err("cut short");
        assert!(error.to_string().contains("it ends inside"), "{error}");
    }
}

/// A folder as debugfs has it: per domain its CPUs and its states.
fn energy_model(domains: &[(&str, &[(u32, u32)])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (at, (cpus, states)) in domains.iter().enumerate() {
        let domain = folder.path().join(format!("pd{at}"));
        std::fs::create_dir(&domain).expect("new");
        let write = |path: std::path::PathBuf, text: String| {
            std::fs::write(path, text).expect("written");
        };
        write(domain.join("cpus"), format!("{cpus}\n"));
        write(domain.join("flags"), "0x1\n".to_owned());
        for (khz, uw) in *states {
            let state = domain.join(format!("ps:{khz}"));
            std::fs::create_dir(&state).expect("new");
            write(state.join("frequency"), format!("{khz}\n"));
            write(state.join("power"), format!("{uw}\n"));
        }
    }
    folder
}

/// Goal: a description without power gets the kernel's, and one of another machine is refused.
#[test]
fn a_plat_info_with_the_kernels_energy_model() {
    use wakeplace_platform::import::{Source, import};
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/trees/juno-r0-plat_info.yml");
    let read = |domains: &[(&str, &[(u32, u32)])]| {
        let folder = energy_model(domains);
        import(Source::Lisa(&file), Some(folder.path()), None)
    };
    let little: &[(u32, u32)] = &[(450_000, 42_000), (850_000, 119_000)];
    let big: &[(u32, u32)] = &[(450_000, 160_000), (1_100_000, 583_000)];
    let imported = read(&[("0,3-5", little), ("1-2", big)]).expect("a machine");
    let platform = imported.platform;
    assert_eq!(
        platform.power_unit,
        wakeplace_platform::PowerUnit::Microwatt
    );
    let points = |cpu: u32| {
        let domain = platform
            .freq_domains
            .iter()
            .find(|d| d.cpus.iter().any(|c| c.0 == cpu));
        let opps = &domain.expect("a clock").opps;
        opps.iter()
            .map(|opp| (opp.khz, opp.power.unwrap_or(0)))
            .collect::<Vec<_>>()
    };
    assert_eq!(points(3), [(450_000, 42_000), (850_000, 119_000)]);
    assert_eq!(points(1), [(450_000, 160_000), (1_100_000, 583_000)]);
    let error = |domains: &[(&str, &[(u32, u32)])]| read(domains).expect_err("refused").to_string();
    let half = error(&[("0-2", little)]);
    assert!(half.contains("only some of the CPUs"), "{half}");
    let more = error(&[("0-7", little)]);
    assert!(more.contains("cpus"), "{more}");
    let none = import(Source::Lisa(&file), Some(Path::new("/no/such")), None);
    assert!(
        none.expect_err("refused")
            .to_string()
            .contains("no such folder")
    );
}

/// Goal: a device tree gets the kernel's powers, too; its voltages stay where frequencies agree.
#[test]
fn a_device_tree_with_the_kernels_energy_model() {
    use wakeplace_platform::fdt::{Node, Tree};
    let mut root = Node::new("");
    let mut cpus = Node::new("cpus");
    for number in 0..2 {
        let mut cpu = Node::new(format!("cpu@{number}"));
        cpu.set_text("device_type", "cpu");
        cpu.set_u32("operating-points-v2", &[9]);
        cpus.children.push(cpu);
    }
    let mut table = Node::new("opp-table");
    table.set_u32("phandle", &[9]);
    table.set_text("opp-shared", "");
    for (mhz, uv) in [(500, 800_000), (1000, 1_000_000)] {
        let mut opp = Node::new(format!("opp-{mhz}"));
        opp.set_u64("opp-hz", mhz * 1_000_000);
        opp.set_u32("opp-microvolt", &[uv]);
        table.children.push(opp);
    }
    root.children.extend([cpus, table]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("board.dtb");
    std::fs::write(&file, Tree::new(root).write()).expect("written");
    let read = |cpus: &str| {
        let model = energy_model(&[(cpus, &[(500_000, 40_000), (900_000, 90_000)])]);
        import(Source::DeviceTree(&file), Some(model.path()), None)
    };
    let platform = read("0-1").expect("a machine").platform;
    assert_eq!(platform.power_unit, PowerUnit::Microwatt);
    let opps = platform.freq_domains[0].opps.iter();
    let opps: Vec<_> = opps.map(|opp| (opp.khz, opp.mv, opp.power)).collect();
    let expected = [
        (500_000, Some(800), Some(40_000)),
        (900_000, None, Some(90_000)),
    ];
    assert_eq!(opps, expected);
    let error = read("0-3").expect_err("another machine").to_string();
    assert!(error.contains("cpus"), "{error}");
}

/// LISA 3.1.0's own writing of an energy model: objects that point at each other, with anchors. Its
/// figures are Juno r0's, and so are those of the platform that is built in.
#[test]
fn an_energy_model_of_lisa() {
    let text = include_str!("../../import/trees/juno-r0-nrg-model.yml");
    let import = |text: &str| wakeplace_platform::import::plat_info(text.as_bytes(), "model.yml");
    let imported = import(text).expect("a machine");
    let builtin = Platform::builtin("juno-r0").expect("built in");
    let capacity = |p: &Platform| p.cpus.iter().map(|cpu| cpu.capacity).collect::<Vec<_>>();
    assert_eq!(capacity(&imported.platform), capacity(&builtin));
    // LISA's power stands in milliwatts there, and in a unit of its own here.
    assert_eq!(powers(&imported.platform, 1), powers(&builtin, 1000));
    let (own, theirs) = (idle(&imported.platform, 1), idle(&builtin, 1000));
    assert_eq!(own.len(), 6, "three states of each clock");
    for state in &own {
        assert!(theirs.contains(state), "{state:?} of {theirs:?}");
    }
    let said = imported.said.join("\n");
    assert!(said.contains("in a unit of its own"), "{said}");
    assert!(said.contains("times of idle states"), "{said}");
    assert!(!said.contains("by the ratios of Juno"), "{said}");
    assert!(!said.contains("clusters, each with a cache"), "{said}");
    for (from, to, expected) in [
        ("cpu: 3\n", "cpu: 6\n", "has no `cpu` of its own, 0 to 5"),
        ("cpu: 3\n", "cpu: 2\n", "has no `cpu` of its own, 0 to 5"),
        ("-   235\n", "-   0\n", "`active_states` of CPU 0"),
        ("-   33\n", "-   -33\n", "`active_states` of CPU 0"),
        ("cpus-count: 6", "cpus-count: 5", "5 CPUs, and 6 of them"),
        ("WFI: 6\n", "WFI: x\n", "`idle_states` of CPU 0"),
        ("WFI: 56\n", "WFI: -1\n", "`idle_states` of cluster_a53"),
        ("-   26\n", "-   y\n", "`active_states` of cluster_a53"),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert!(wrong != text, "{from}");
        let error = import(&wrong).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let of_other = text.replacen("-   33\n", "-   34\n", 1);
    let error = import(&of_other).expect_err("one clock").to_string();
    assert!(error.contains("of one clock"), "{error}");
    let program = "platform-info:\n  conf:\n    cpus-count: 2\n    nrg-model: !var:lisa.x.y\n";
    let said = import(program).expect("a machine").said.join("\n");
    assert!(
        said.contains("`nrg-model` is left out: it is an object or a pickle"),
        "{said}"
    );
}

/// Goal: the figures of clusters count where they are whole, and are left out aloud where not.
#[test]
fn clusters_of_an_energy_model_of_lisa() {
    let text = include_str!("../../import/trees/juno-r0-nrg-model.yml");
    let import = |text: &str| {
        wakeplace_platform::import::plat_info(text.as_bytes(), "model.yml").expect("a machine")
    };
    // Another frequency than its CPUs have; a state that it lacks.
    let object = "450000: !!python/object/new:lisa.energy_model.ActiveState";
    let of_cluster = format!("{object}\n                        -   null");
    let other = of_cluster.replace("450000", "451000");
    for (from, to) in [
        (of_cluster.as_str(), other.as_str()),
        ("WFI: 56\n", "WF: 56\n"),
    ] {
        let own = text.replacen(from, to, 1);
        assert!(own != text, "{from}");
        let imported = import(&own);
        let little = |p: &Platform| p.freq_domains[0].opps[0].cluster_power;
        assert_eq!(little(&imported.platform), None);
        assert_eq!(
            imported.platform.freq_domains[1].opps[0].cluster_power,
            Some(24)
        );
        let said = imported.said.join("\n");
        assert!(
            said.contains("power of clusters left out for CPUs 0,3-5"),
            "{said}"
        );
    }
    // A clock that cuts a cluster.
    let cut = "    freq-domains: [[0, 3], [4, 5], [1, 2]]\n        cpus-count: 6";
    let imported = import(&text.replacen("    cpus-count: 6", cut, 1));
    let of = |domain: usize| imported.platform.freq_domains[domain].opps[0].cluster_power;
    assert_eq!((of(0), of(1), of(2)), (None, Some(24), None));
    let said = imported.said.join("\n");
    assert!(
        said.contains("power of clusters left out for CPUs 4-5"),
        "{said}"
    );
    assert_eq!(imported.platform.clusters.len(), 2);
}

/// Goal: of both energy models the kernel's counts, and the ratios of LISA's give idle power.
#[test]
fn both_energy_models() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plat_info.yml");
    let text = include_str!("../../import/trees/juno-r0-nrg-model.yml");
    std::fs::write(&file, text).expect("written");
    let little: &[(u32, u32)] = &[(450_000, 42_361), (850_000, 119_000)];
    let big: &[(u32, u32)] = &[(450_000, 160_367), (1_100_000, 583_000)];
    let model = energy_model(&[("0,3-5", little), ("1-2", big)]);
    let imported = import(Source::Lisa(&file), Some(model.path()), None).expect("a machine");
    let platform = &imported.platform;
    assert_eq!(platform.power_unit, PowerUnit::Microwatt);
    let opp = &platform.freq_domains[0].opps[0];
    assert_eq!(
        (opp.khz, opp.power, opp.cluster_power),
        (450_000, Some(42_361), None)
    );
    let wfi = |cpu: u32| {
        let mut states = platform.idle_states.iter();
        let state = states
            .find(|state| state.cpus.contains(&CpuId(cpu)))
            .expect("one");
        (state.name.as_str(), state.cpu_power, state.cluster_power)
    };
    assert_eq!(wfi(0), ("WFI", Some(42_361 * 6 / 33), None));
    assert_eq!(wfi(1), ("WFI", Some(160_367 * 15 / 168), None));
    let said = imported.said.join("\n");
    assert!(said.contains("by the ratios of `nrg-model`"), "{said}");
}

/// Frequency, power and power of the cluster at an operating point.
type Powers = (u32, Option<u64>, Option<u64>);

/// All points of each clock.
fn powers(p: &Platform, unit: u64) -> Vec<(Vec<CpuId>, Vec<Powers>)> {
    let of = |power: Option<u64>| power.map(|power| power / unit);
    let opp = |opp: &wakeplace_platform::Opp| (opp.khz, of(opp.power), of(opp.cluster_power));
    let clocks = p.freq_domains.iter();
    clocks
        .map(|d| (d.cpus.clone(), d.opps.iter().map(opp).collect()))
        .collect()
}

/// All of each idle state.
fn idle(p: &Platform, unit: u64) -> Vec<wakeplace_platform::IdleState> {
    let mut all = p.idle_states.clone();
    for power in all
        .iter_mut()
        .flat_map(|s| [&mut s.cpu_power, &mut s.cluster_power])
    {
        *power = power.map(|power| power / unit);
    }
    all
}

/// A board file of LISA 1 (libs/utils/platforms): capacities of both kinds of CPU.
#[test]
fn a_board_file_of_lisa_1() {
    let text = r#"{
        "board": {"cores": ["A57", "A53", "A53"], "big_core": "A57", "modules": ["bl"]},
        "nrg_model": {
            "big": {"cluster": {"nrg_max": 64}, "cpu": {"cap_max": 1024, "nrg_max": 616}},
            "little": {"cluster": {"nrg_max": 57}, "cpu": {"cap_max": 447, "nrg_max": 93}}
        }
    }"#;
    let import = |text: &str| wakeplace_platform::import::plat_info(text.as_bytes(), "board.json");
    let imported = import(text).expect("a machine");
    let capacity: Vec<u32> = imported.platform.cpus.iter().map(|c| c.capacity).collect();
    assert_eq!(capacity, [1024, 447, 447]);
    assert!(imported.said.join("\n").contains("power left out"));
    let error = import(&text.replace("cap_max", "cap")).expect_err("refused");
    assert!(error.to_string().contains("`cap_max`"), "{error}");
}

/// LISA's own file for Juno r0 (doc/traces/plat_info.yml), shortened to what is read.
#[test]
fn a_plat_info_of_lisa() {
    let text = include_str!("../../import/trees/juno-r0-plat_info.yml");
    let imported =
        wakeplace_platform::import::plat_info(text.as_bytes(), "plat_info.yml").expect("a machine");
    let builtin = Platform::builtin("juno-r0").expect("built in");
    let capacity: Vec<u32> = builtin.cpus.iter().map(|cpu| cpu.capacity).collect();
    let own: Vec<u32> = imported
        .platform
        .cpus
        .iter()
        .map(|cpu| cpu.capacity)
        .collect();
    assert_eq!(own, capacity);
    let clocks = |p: &Platform| {
        let khz =
            |d: &wakeplace_platform::FreqDomain| d.opps.iter().map(|o| o.khz).collect::<Vec<_>>();
        p.freq_domains
            .iter()
            .map(|d| (d.cpus.clone(), khz(d)))
            .collect::<Vec<_>>()
    };
    assert_eq!(clocks(&imported.platform), clocks(&builtin));
    assert_eq!(imported.platform.tick_hz, 250);
    assert_eq!(levels(&imported.platform), [("MC", 2), ("PKG", 1)]);
    assert!(
        imported
            .said
            .iter()
            .any(|line| line.starts_with("`rtapp` is not read"))
    );
    // The older form: frequencies by the names of clusters.
    let old = concat!(
        "platform-info:\n",
        "  conf:\n",
        "    clusters:\n",
        "      big: [1, 2]\n",
        "      little: [0, 3, 4, 5]\n",
        "    cpus-count: 6\n",
        "    freqs:\n",
        "      big: [\n",
        "        450000,\n",
        "        1100000\n",
        "      ]\n",
        "      little: [450000, 850000]\n",
    );
    let old = wakeplace_platform::import::plat_info(old.as_bytes(), "old.yml").expect("a machine");
    assert_eq!(old.platform.freq_domains[1].cpus, [CpuId(1), CpuId(2)]);
    assert_eq!(old.platform.freq_domains[1].opps[1].khz, 1_100_000);
    for wrong in [
        "",
        "a",
        "platform-info:\n conf:\n  cpus-count: 100000\n",
        "platform-info: [",
        "cpus-count: 2\nfreq-domains: [[0, 2]]\n",
        "cpus-count: 2\ncpu-capacities: {0: 5}\n",
    ] {
        let error =
            wakeplace_platform::import::plat_info(wrong.as_bytes(), "x.yml").expect_err(wrong);
        assert!(error.to_string().starts_with("x.yml"), "{error}");
    }
}

/// Goal: anchors are read, and YAML's own errors have their place and what was expected.
#[test]
fn a_plat_info_with_anchors() {
    for (wrong, expected) in [
        (
            "a: 1\nb: [x, *y]\n",
            "x.yml:2:8: while parsing node, found unknown anchor; expected LISA's plat_info, a \
             file in YAML",
        ),
        // An alias inside its own value is empty: objects of an energy model point back at their
        // parents.
        (
            "a: &x [*x]",
            "x.yml: no number of CPUs; expected `cpus-count`, 1 to 1024, below platform-info and \
             conf",
        ),
    ] {
        let error = wakeplace_platform::import::plat_info(wrong.as_bytes(), "x.yml");
        assert_eq!(error.expect_err(wrong).to_string(), expected);
    }
    // Anchors, as tools that write YAML make them of lists that are there twice.
    let shared = concat!(
        "cpus-count: 4\n",
        "freq-domains: [[0, 1], [2, 3]]\n",
        "freqs: {0: &points [450000, 850000], 2: *points}\n",
    );
    let shared =
        wakeplace_platform::import::plat_info(shared.as_bytes(), "x.yml").expect("a machine");
    let domains = &shared.platform.freq_domains;
    assert_eq!(domains[0].opps, domains[1].opps);
    assert_eq!(domains[1].opps[1].khz, 850_000);
}

/// LISA's own test asset (tests/assets/trace_txt/plat_info.yml), shortened: capacities of an energy
/// model are fractions there. Juno's A53 has 446 of 1024, its A57 1024.
#[test]
fn capacities_of_an_energy_model_may_be_fractions() {
    let text = include_str!("../../import/trees/juno-r0-nrg-model.yml");
    let import = |text: &str| wakeplace_platform::import::plat_info(text.as_bytes(), "model.yml");
    let fractions = text
        .replace("-   446\n", "-   446.0\n")
        .replace("-   235\n", "-   235.1\n");
    assert_ne!(fractions, text);
    let (whole, fractions) = (
        import(text).expect("whole"),
        import(&fractions).expect("parts"),
    );
    assert_eq!(whole.platform, fractions.platform);
}

/// Goal: parts that a Python program wrote as objects or pickles are left out, each is said, and
/// the rest is read. The forms are PyYAML's: `!!binary` of `pickle.dumps`, objects with `args` and
/// `state`, numpy's scalars, tuples as keys.
#[test]
fn parts_of_a_plat_info_that_are_pickled() {
    let import = |part: &str| {
        let text = format!(
            "platform-info:\n  conf:\n    abi: arm64\n    cpus-count: 2\n    name: board\n{part}"
        );
        let imported = wakeplace_platform::import::plat_info(text.as_bytes(), "x.yml");
        imported.unwrap_or_else(|error| panic!("{part}: {error}"))
    };
    let capacities = "    cpu-capacities: {orig: {0: 512, 1: 1024}}\n";
    let of_model = [
        "    nrg-model: !!binary |\n      gASVKgAAAAAAAACMEWxpc2EuZW5lcmd5X21vZGVs\n",
        "    nrg-model: !!python/object/apply:lisa.energy_model.EnergyModel\n\
         \x20     args: [1]\n      state: {cpu_nodes: 3}\n",
        "    nrg-model: !!python/object/new:lisa.energy_model.EnergyModel\n\
         \x20     ? !!python/tuple [0, 1]\n      : x\n",
        "    nrg-model:\n      cpu_nodes:\n      - cpu: 0\n\
         \x20       active_states: !!python/object/apply:collections.OrderedDict\n\
         \x20       - - - 450000\n            - [1, 2]\n",
        "    nrg-model:\n      cpu_nodes:\n      - cpu: 0\n        active_states:\n\
         \x20         450000:\n\
         \x20         - !!python/object/apply:numpy.core.multiarray.scalar [x, !!binary gAMA]\n\
         \x20         - 33\n",
    ];
    for part in of_model {
        let imported = import(&format!("{capacities}{part}"));
        assert_eq!(imported.platform.capacities(), [512, 1024], "{part}");
        assert_eq!(imported.platform.power_unit, PowerUnit::None, "{part}");
        let said = imported.said.join("\n");
        assert!(said.contains("`nrg-model` is left out"), "{part}: {said}");
    }
    for (key, part) in [
        (
            "cpu-capacities",
            "    cpu-capacities: !!binary gASVKgAAAAAAAACM\n",
        ),
        (
            "cpu-capacities",
            "    cpu-capacities:\n\
             \x20     0: !!python/object/apply:numpy.core.multiarray.scalar\n\
             \x20     - {args: [i8]}\n      - !!binary gAMA\n",
        ),
        (
            "freqs",
            "    freqs: !!python/object/apply:collections.defaultdict\n      args: [x]\n      \
             dictitems: {0: [450000]}\n",
        ),
        (
            "freq-domains",
            "    freq-domains: !!python/object/new:set {? !!python/tuple [0] : x}\n",
        ),
    ] {
        let imported = import(part);
        let said = imported.said.join("\n");
        assert!(
            said.contains(&format!("`{key}` is left out")),
            "{part}: {said}"
        );
        assert_eq!(imported.platform.cpus.len(), 2);
    }
    let plain = import(capacities);
    assert!(
        !plain.said.join("\n").contains("left out"),
        "{:?}",
        plain.said
    );
}

/// This machine, whatever it is.
#[test]
fn this_machine_can_be_imported() {
    if !Path::new("/sys/devices/system/cpu/online").exists() {
        return;
    }
    let imported = import(Source::Live, None, None).expect("a machine");
    assert!(!imported.platform.cpus.is_empty());
    assert_eq!(imported.platform.name, "this-machine");
}
