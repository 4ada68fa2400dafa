//! Probes of trees made here: a board with everything, a plain server, and what goes wrong.
//! Page: docs/guide/live.md, "Run".
//!
//! What must stay: what is a lack and what is doubt; the list of functions is that of the
//! scheduler's source (`the_functions_are_those_of_the_scheduler`). Free: what else a made tree
//! holds.
//! Tests by part (in crates/host/src): lib.rs: `a_board_with_everything_lacks_nothing`,
//! `an_empty_tree_stops_only_the_live_scheduler`, `this_machine_is_probed_without_failing`
//! (`can_run`, `checks`), `a_program_that_is_not_installed_is_a_lack` (`checks`); config.rs:
//! `options_of_the_kernel` (`kernel_option`); btf.rs: `damaged_types_are_doubt_not_failure`
//! (`from_btf`); kernel.rs (`check`, `kfuncs`, `sched_ext`):
//! `an_old_kernel_and_an_unset_option_are_named`,
//! `the_kernel_that_is_needed_and_those_that_are_tried`, `a_loaded_scheduler_is_named`,
//! `the_own_scheduler_is_no_obstacle`; machine.rs (`rights`): `rights_are_the_effective_ones`;
//! energy.rs (`governor`, `energy_model`): `another_governor_is_named_by_policy`,
//! `debugfs_without_models_differs_from_no_debugfs`; btf.rs (`from_btf`) and kernel.rs (`kfuncs`):
//! `an_untagged_function_counts_from_7_1_on_if_it_is_called`; kernel.rs:
//! `a_function_that_is_needed_is_there_in_one_form` (`kfuncs_read`),
//! `the_functions_are_those_of_the_scheduler` (`called`),
//! `without_types_the_release_is_all_there_is` (`kfuncs_by_release`),
//! `a_kernel_without_types_is_a_lack` (`btf`); release.rs: `documents_name_the_same_kernels`
//! (`tried`, `series`).
//! Helpers, and who fails with them: `tree`, `write`, `check` (most tests,
//! `a_board_with_everything_lacks_nothing` among them); `runnable`
//! (`a_board_with_everything_lacks_nothing`, `a_program_that_is_not_installed_is_a_lack`); `btf`
//! (`a_board_with_everything_lacks_nothing`,
//! `an_untagged_function_counts_from_7_1_on_if_it_is_called`,
//! `a_function_that_is_needed_is_there_in_one_form`, `damaged_types_are_doubt_not_failure`);
//! `all_called` (`a_board_with_everything_lacks_nothing`,
//! `an_untagged_function_counts_from_7_1_on_if_it_is_called`,
//! `a_function_that_is_needed_is_there_in_one_form`).

use std::fs;
use std::path::Path;

use wakeplace_host::{
    Check, Kfuncs, NeededFor, Probe, Release, State, called, can_run, kernel_option,
};

/// A temporary tree with the given files.
fn tree(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (path, content) in files {
        write(folder.path(), path, content);
    }
    folder
}

fn write(root: &Path, path: &str, content: &[u8]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, content).expect("a file");
}

fn runnable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a file");
}

/// The check called `name` of the machine with these files.
fn check(name: &str, files: &[(&str, &[u8])]) -> Check {
    let folder = tree(files);
    let checks = Probe::new(folder.path()).checks();
    checks
        .into_iter()
        .find(|check| check.name == name)
        .expect("the check")
}

/// Little-endian BTF with one FUNC per name, and a `bpf_kfunc` tag on each that is marked.
fn btf(functions: &[(&str, bool)]) -> Vec<u8> {
    let mut strings = b"\0bpf_kfunc\0".to_vec();
    let mut types: Vec<u8> = Vec::new();
    let mut put = |words: &[u32]| types.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    // Type 1: a struct of two members, so that a reader must know how long a type is.
    put(&[0, 4 << 24 | 2, 16, 0, 0, 0, 0, 0, 0]);
    for (name, _) in functions {
        let at = u32::try_from(strings.len()).expect("small");
        strings.extend_from_slice(name.as_bytes());
        strings.push(0);
        put(&[at, 12 << 24, 0]);
    }
    for (index, _) in functions
        .iter()
        .enumerate()
        .filter(|(_, (_, tagged))| *tagged)
    {
        put(&[
            1,
            17 << 24,
            u32::try_from(index).expect("small") + 2,
            u32::MAX,
        ]);
    }
    let mut data = vec![0x9f, 0xeb, 1, 0];
    let lengths = [24, 0, types.len(), types.len(), strings.len()];
    for word in lengths {
        data.extend(u32::try_from(word).expect("small").to_le_bytes());
    }
    data.extend(types);
    data.extend(strings);
    data
}

const KICK: (&str, bool) = ("scx_bpf_kick_cpu", true);

/// All that the scheduler calls, tagged but for `untagged`.
fn all_called(untagged: &[&str]) -> Vec<(&'static str, bool)> {
    called()
        .map(|name| (name, !untagged.contains(&name)))
        .collect()
}

#[test]
fn a_board_with_everything_lacks_nothing() {
    let mut functions = all_called(&[]);
    functions.extend([("scx_bpf_kick_cpu_impl", false), ("schedule", false)]);
    let types = btf(&functions);
    let mut files: Vec<(String, Vec<u8>)> = vec![
        (
            "proc/sys/kernel/osrelease".into(),
            b"7.3.4+deb13-arm64\n".to_vec(),
        ),
        ("proc/sys/kernel/arch".into(), b"aarch64\n".to_vec()),
        (
            "proc/meminfo".into(),
            b"MemTotal: 2097152 kB\nMemAvailable: 1048576 kB\n".to_vec(),
        ),
        (
            "proc/self/status".into(),
            b"Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n".to_vec(),
        ),
        ("sys/kernel/sched_ext/state".into(), b"disabled\n".to_vec()),
        ("sys/kernel/btf/vmlinux".into(), types),
        ("sys/devices/system/cpu/online".into(), b"0-5\n".to_vec()),
        ("usr/local/bin/scx_wakeplace".into(), b"ELF".to_vec()),
    ];
    for cpu in 0..6 {
        let capacity = if cpu < 4 { "378\n" } else { "1024\n" };
        let path = format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity");
        files.push((path, capacity.into()));
    }
    for policy in [0, 4] {
        let path = format!("sys/devices/system/cpu/cpufreq/policy{policy}/scaling_governor");
        files.push((path, b"schedutil\n".to_vec()));
        files.push((
            format!("sys/kernel/debug/energy_model/cpu{policy}/cpus"),
            b"".to_vec(),
        ));
    }
    let borrowed: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(path, content)| (path.as_str(), content.as_slice()))
        .collect();
    let folder = tree(&borrowed);
    runnable(&folder.path().join("usr/local/bin/scx_wakeplace"));
    let checks = Probe::new(folder.path()).checks();
    for check in &checks {
        assert_eq!(check.state, State::Ok, "{check:?}");
        assert_eq!(check.remedy, "", "{check:?}");
    }
    let found: Vec<&str> = checks.iter().map(|check| check.found.as_str()).collect();
    let expected = [
        "6 CPUs, aarch64",
        "2.0 GiB, 1.0 GiB available",
        "7.3.4+deb13-arm64",
        "present, disabled",
        "no scheduler is loaded",
        "/sys/kernel/btf/vmlinux, 1 KiB",
        &format!("{} functions of sched_ext, all tagged", called().count()),
        "root, with the capabilities to load BPF programs",
        "/usr/local/bin/scx_wakeplace",
        "4 x 378, 2 x 1024 (asymmetric)",
        "2 x schedutil",
        "2 performance domains: cpu0, cpu4",
    ];
    assert_eq!(found, expected);
    assert!(can_run(&checks, NeededFor::LiveScheduler));
}

#[test]
fn an_empty_tree_stops_only_the_live_scheduler() {
    let folder = tree(&[]);
    let checks = Probe::new(folder.path()).checks();
    assert!(can_run(&checks, NeededFor::Simulator));
    assert!(!can_run(&checks, NeededFor::LiveScheduler));
    assert_eq!(checks[0].state, State::Unknown);
    assert!(checks.iter().all(|check| !check.found.is_empty()));
}

#[test]
fn an_old_kernel_and_an_unset_option_are_named() {
    let old = check(
        "kernel",
        &[("proc/sys/kernel/osrelease", b"6.1.0-25-amd64")],
    );
    assert_eq!(old.state, State::Missing);
    assert!(
        old.found
            .starts_with("6.1.0-25-amd64; sched_ext came with 6.12"),
        "{}",
        old.found
    );
    assert_eq!(
        old.remedy,
        "boot a kernel built with CONFIG_SCHED_CLASS_EXT=y (6.13 or later; 6.16 to 7.3 are tried)"
    );
    let unset = check(
        "sched-ext",
        &[
            ("proc/sys/kernel/osrelease", b"6.12.95-amd64"),
            (
                "boot/config-6.12.95-amd64",
                b"# CONFIG_SCHED_CLASS_EXT is not set\n",
            ),
        ],
    );
    assert_eq!(unset.state, State::Missing);
    assert!(
        unset.found.ends_with("CONFIG_SCHED_CLASS_EXT is not set"),
        "{}",
        unset.found
    );
}

/// sched_ext of 6.12 has the older names of the functions that are called; 6.13 to 6.15 have them,
/// and nobody has tried those.
#[test]
fn the_kernel_that_is_needed_and_those_that_are_tried() {
    for (release, state, remark) in [
        (
            "6.12.95-amd64",
            State::Missing,
            "the functions that scx_wakeplace calls with 6.13",
        ),
        ("6.13.0", State::Ok, "; 6.16 to 7.3 are tried"),
        ("6.15.9", State::Ok, "; 6.16 to 7.3 are tried"),
        ("6.16.12", State::Ok, "6.16.12"),
        ("7.3.4", State::Ok, "7.3.4"),
        ("7.4.0", State::Ok, "; 6.16 to 7.3 are tried"),
    ] {
        let check = check(
            "kernel",
            &[("proc/sys/kernel/osrelease", release.as_bytes())],
        );
        assert_eq!(check.state, state, "{release}");
        assert!(check.found.ends_with(remark), "{}", check.found);
    }
}

/// Goal: documents and `doctor` name the same kernels.
#[test]
fn documents_name_the_same_kernels() {
    let needed = Release::NEEDED.series();
    let said = format!("{needed} or later; {}", Release::tried());
    for page in ["README.md", "docs/guide/live.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(page);
        let text = std::fs::read_to_string(path).expect("a page");
        assert!(text.contains(&said), "{page} does not say `{said}`");
    }
}

#[test]
fn a_loaded_scheduler_is_named() {
    let slot = check(
        "scheduler-slot",
        &[
            ("sys/kernel/sched_ext/state", b"enabled\n"),
            ("sys/kernel/sched_ext/root/ops", b"lavd\n"),
        ],
    );
    assert_eq!(slot.state, State::Missing);
    assert_eq!(slot.found, "`lavd` is loaded (enabled)");
    assert!(slot.remedy.contains("stop `lavd`"));
}

#[test]
fn the_own_scheduler_is_no_obstacle() {
    let slot = check(
        "scheduler-slot",
        &[
            ("sys/kernel/sched_ext/state", b"enabled\n"),
            ("sys/kernel/sched_ext/root/ops", b"wakeplace\n"),
        ],
    );
    assert_eq!(slot.state, State::Ok);
    assert_eq!(
        slot.found,
        "`wakeplace` is loaded (enabled): scx_wakeplace runs"
    );
}

#[test]
fn an_untagged_function_counts_from_7_1_on_if_it_is_called() {
    let with = |release: &str, functions: &[(&str, bool)]| {
        check(
            "kfuncs",
            &[
                ("proc/sys/kernel/osrelease", release.as_bytes()),
                ("sys/kernel/btf/vmlinux", &btf(functions)),
            ],
        )
    };
    let broken = all_called(&["scx_bpf_kick_cpu", "bpf_iter_scx_dsq_new"]);
    let found = with("7.2.12+deb13-cloud-amd64", &broken);
    assert_eq!(found.state, State::Missing);
    assert_eq!(
        found.found,
        "2 functions that it calls cannot be called: scx_bpf_kick_cpu, bpf_iter_scx_dsq_new"
    );
    assert!(found.remedy.contains("7.3.4"));
    assert_eq!(with("7.0.13+deb13-amd64", &broken).state, State::Ok);
    let mut other = all_called(&[]);
    other.push(("scx_bpf_cpu_rq", false));
    let found = with("7.2.12+deb13-cloud-amd64", &other);
    assert_eq!(found.state, State::Ok);
    assert!(
        found
            .found
            .ends_with("1 cannot be called, none of which it calls"),
        "{}",
        found.found
    );
}

/// Goal: one form of a function that changed is enough, none is a lack.
#[test]
fn a_function_that_is_needed_is_there_in_one_form() {
    let without = |gone: &[&str]| {
        let mut functions = all_called(&[]);
        functions.retain(|(name, _)| !gone.contains(name));
        let types = btf(&functions);
        let release: &[u8] = b"7.0.13";
        check(
            "kfuncs",
            &[
                ("proc/sys/kernel/osrelease", release),
                ("sys/kernel/btf/vmlinux", &types),
            ],
        )
    };
    assert_eq!(
        without(&["scx_bpf_dsq_insert", "scx_bpf_now"]).state,
        State::Ok
    );
    let lacking = without(&["scx_bpf_dsq_insert", "scx_bpf_dsq_insert___v2"]);
    assert_eq!(lacking.state, State::Missing);
    assert_eq!(
        lacking.found,
        "the kernel's types have no scx_bpf_dsq_insert or scx_bpf_dsq_insert___v2"
    );
}

/// Goal: the list here is what the scheduler's own source declares.
#[test]
fn the_functions_are_those_of_the_scheduler() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scx/src/bpf");
    let mut declared = Vec::new();
    for entry in fs::read_dir(folder).expect("the scheduler's source") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("a source");
        for declaration in text.split("\nextern ").skip(1) {
            let head = declaration.split('(').next().expect("a part");
            let name = head.rsplit([' ', '*']).next().expect("a word");
            if name.contains("scx_") {
                // libbpf drops the last `___…` of a name.
                let name = name.strip_suffix("___form").unwrap_or(name);
                declared.push(name.to_owned());
            }
        }
    }
    declared.sort();
    let mut listed: Vec<&str> = called().collect();
    listed.sort_unstable();
    assert_eq!(declared, listed);
}

#[test]
fn a_program_that_is_not_installed_is_a_lack() {
    let path = "usr/bin/scx_wakeplace";
    let folder = tree(&[(path, b"ELF")]);
    let program = || {
        let checks = Probe::new(folder.path()).checks();
        checks
            .into_iter()
            .find(|check| check.name == "program")
            .expect("the check")
    };
    let missing = program();
    assert_eq!(missing.state, State::Missing, "it may not be run");
    assert!(missing.required && missing.remedy.contains("wakeplace-scx"));
    runnable(&folder.path().join(path));
    assert_eq!(program().found, "/usr/bin/scx_wakeplace");
}

/// Goal: the running kernel's own configuration comes first, then the file beside it.
#[test]
fn options_of_the_kernel() {
    // gzip of "CONFIG_HZ=1000\n", by `printf 'CONFIG_HZ=1000\n' | gzip -n9`.
    const PACKED: &[u8] = &[
        31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 115, 246, 247, 115, 243, 116, 143, 247, 136, 178, 53,
        52, 48, 48, 224, 2, 0, 195, 67, 110, 77, 15, 0, 0, 0,
    ];
    let folder = tree(&[
        ("proc/sys/kernel/osrelease", b"6.18.15\n"),
        (
            "boot/config-6.18.15",
            b"# CONFIG_HZ_100 is not set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n",
        ),
    ]);
    let option = |name| kernel_option(folder.path(), name);
    assert_eq!(option("CONFIG_HZ").as_deref(), Some("250"));
    assert_eq!(option("CONFIG_HZ_100"), None);
    write(folder.path(), "proc/config.gz", PACKED);
    assert_eq!(option("CONFIG_HZ").as_deref(), Some("1000"));
    write(folder.path(), "proc/config.gz", b"damaged");
    assert_eq!(option("CONFIG_HZ").as_deref(), Some("250"));
}

#[test]
fn without_types_the_release_is_all_there_is() {
    let release = |text: &'static [u8]| check("kfuncs", &[("proc/sys/kernel/osrelease", text)]);
    let broken = release(b"7.1.7+deb13-cloud-amd64");
    assert_eq!(broken.state, State::Unknown);
    assert!(
        broken.found.contains("known broken builds"),
        "{}",
        broken.found
    );
    let unseen = release(b"7.4.0");
    assert_eq!(unseen.state, State::Unknown);
    assert!(
        unseen.found.contains("nothing is known"),
        "{}",
        unseen.found
    );
}

#[test]
fn damaged_types_are_doubt_not_failure() {
    let whole = btf(&[KICK]);
    let said = |bytes: &[u8]| {
        let error = Kfuncs::from_btf(bytes).expect_err("no types");
        error.to_string()
    };
    assert!(said(b"ELF").contains("magic number"));
    let cut = &whole[..whole.len() - 4];
    assert!(said(cut).contains("cut short"));
    let mut later = whole.clone();
    later[2] = 2;
    assert!(said(&later).contains("another version than 1"));
    let mut odd = whole.clone();
    odd[24 + 7] = 30; // the kind of type 1
    assert!(said(&odd).contains("unknown kind"));
    let doubt = check("kfuncs", &[("sys/kernel/btf/vmlinux", cut)]);
    assert_eq!(doubt.state, State::Unknown);
    assert!(doubt.found.contains("cut short"), "{}", doubt.found);
}

#[test]
fn a_kernel_without_types_is_a_lack() {
    let none = check("btf", &[]);
    assert_eq!(none.state, State::Missing);
    assert!(none.remedy.contains("CONFIG_DEBUG_INFO_BTF=y"));
    assert_eq!(
        check("btf", &[("sys/kernel/btf/vmlinux", b"")]).state,
        State::Missing
    );
}

#[test]
fn rights_are_the_effective_ones() {
    let status = |text: &'static [u8]| check("rights", &[("proc/self/status", text)]);
    let user = status(b"Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n");
    assert_eq!(user.state, State::Missing);
    assert_eq!(user.found, "user 1000 without CAP_PERFMON, CAP_BPF");
    assert!(user.remedy.contains("sudo"));
    assert_eq!(
        status(b"Uid:\t1000\t0\t0\t0\nCapEff:\t000001ffffffffff\n").state,
        State::Ok
    );
    let bare_root = status(b"Uid:\t0\t0\t0\t0\nCapEff:\t0000004000000000\n");
    assert_eq!(bare_root.state, State::Missing);
    assert_eq!(bare_root.found, "root without CAP_BPF");
}

#[test]
fn another_governor_is_named_by_policy() {
    let folder = "sys/devices/system/cpu/cpufreq";
    let governor = check(
        "governor",
        &[
            (
                &format!("{folder}/policy0/scaling_governor"),
                b"schedutil\n",
            ),
            (
                &format!("{folder}/policy10/scaling_governor"),
                b"performance\n",
            ),
            (
                &format!("{folder}/policy2/scaling_governor"),
                b"performance\n",
            ),
        ],
    );
    assert_eq!(governor.state, State::Missing);
    assert_eq!(
        governor.found,
        "2 x performance, 1 x schedutil; not schedutil: policy2, policy10"
    );
    assert!(!governor.required);
}

#[test]
fn debugfs_without_models_differs_from_no_debugfs() {
    let none = check("energy-model", &[("sys/kernel/debug/sched/features", b"")]);
    assert_eq!(none.state, State::Missing);
    let device = "sys/kernel/debug/energy_model/gpu/ps:800000/power";
    let device = check("energy-model", &[(device, b"1")]);
    assert_eq!(device.state, State::Missing);
    assert!(device.remedy.contains("platform description"));
    let unmounted = check("energy-model", &[]);
    assert_eq!(unmounted.state, State::Unknown);
    assert!(unmounted.remedy.contains("mount"));
}

#[test]
fn this_machine_is_probed_without_failing() {
    let checks = Probe::default().checks();
    assert_eq!(checks.len(), 12);
    assert!(checks[0].found.contains("CPU"));
    assert!(can_run(&checks, NeededFor::Simulator));
}
