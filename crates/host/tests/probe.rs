//! Probes of trees made here: a board with everything, a plain server, and what goes wrong.

use std::fs;
use std::path::Path;

use wakeplace_host::{BtfError, Check, Kfuncs, NeededFor, Probe, State, can_run};

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
const CREATE: (&str, bool) = ("scx_bpf_create_dsq", true);

#[test]
fn a_board_with_everything_lacks_nothing() {
    let types = btf(&[
        KICK,
        CREATE,
        ("scx_bpf_kick_cpu_impl", false),
        ("schedule", false),
    ]);
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
        "/sys/kernel/btf/vmlinux, 0 KiB",
        "2 scx_bpf_* functions, all tagged",
        "root, with the capabilities to load BPF programs",
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
fn an_untagged_function_counts_from_7_1_on() {
    let types = btf(&[("scx_bpf_kick_cpu", false), CREATE]);
    let with = |release: &'static [u8]| {
        check(
            "kfuncs",
            &[
                ("proc/sys/kernel/osrelease", release),
                ("sys/kernel/btf/vmlinux", &types),
            ],
        )
    };
    let broken = with(b"7.2.12+deb13-cloud-amd64");
    assert_eq!(broken.state, State::Missing);
    assert_eq!(
        broken.found,
        "1 of 2 scx_bpf_* functions cannot be called: scx_bpf_kick_cpu"
    );
    assert!(broken.remedy.contains("7.3.4"));
    assert_eq!(with(b"7.0.13+deb13-amd64").state, State::Ok);
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
    assert_eq!(Kfuncs::from_btf(b"ELF"), Err(BtfError::NotBtf));
    let cut = &whole[..whole.len() - 4];
    assert_eq!(Kfuncs::from_btf(cut), Err(BtfError::CutShort(cut.len())));
    let mut odd = whole.clone();
    odd[24 + 7] = 30; // the kind of type 1
    assert_eq!(
        Kfuncs::from_btf(&odd),
        Err(BtfError::UnknownKind { id: 1, kind: 30 })
    );
    let doubt = check("kfuncs", &[("sys/kernel/btf/vmlinux", cut)]);
    assert_eq!(doubt.state, State::Unknown);
    assert!(doubt.found.contains("cut short"), "{}", doubt.found);
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
    let unmounted = check("energy-model", &[]);
    assert_eq!(unmounted.state, State::Unknown);
    assert!(unmounted.remedy.contains("mount"));
}

#[test]
fn this_machine_is_probed_without_failing() {
    let checks = Probe::default().checks();
    assert_eq!(checks.len(), 11);
    assert!(checks[0].found.contains("CPU"));
    assert!(can_run(&checks, NeededFor::Simulator));
}
