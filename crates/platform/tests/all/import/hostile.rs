//! Trees and files that are no machine's: one message that names the file, nothing else. Source:
//! docs/guide/import.md, "Bad trees". The words of messages are free.
//!
//! What must stay: one message that names the file; its words are free, its place is not.
//! Tests by part (in crates/platform/src): import/mod.rs: `files_that_are_missing`,
//! `strange_entries` (`import`), `a_plat_info_of_too_many_cpus` (`plat_info`);
//! import/devicetree.rs: `damaged_device_trees` (`collect`, `node`); fdt.rs: `damaged_device_trees`
//! (every byte); import/devicetree/idle.rs: `a_device_tree_with_a_nameless_idle_state`
//! (`idle_state`, `idle`), `device_trees_in_circles` (`states_of`); import/devicetree/topology.rs:
//! `device_trees_in_circles` (`last_cache`); sysfs/details.rs and import/mod.rs: all others.
//! Helpers, and who fails with them: `refused` (`one_message_names_the_file`,
//! `files_that_are_missing`, `a_tree_with_a_nameless_idle_state`).

use super::tree_files::Files;
use std::fs;
use std::path::Path;
use wakeplace_platform::import::{Source, device_tree, import};

/// The message, its paths without the temporary folder.
fn refused(files: &Files) -> String {
    let (folder, root) = files.folder("tree");
    match import(Source::Tree(&root), None, None) {
        Ok(imported) => panic!("imported: {:?}", imported.said),
        Err(error) => error
            .to_string()
            .replace(&folder.path().display().to_string(), ""),
    }
}

/// What was found or expected, in one line. Only the first case looks at the path. Where two files
/// have the same CPU, the message names the one that was read later.
#[test]
fn one_message_names_the_file() {
    let cases = [
        (
            "cpu0/cpu_capacity",
            "lots",
            "/tree/sys/devices/system/cpu/cpu0/cpu_capacity: `lots`",
        ),
        (
            "cpu0/cpu_capacity",
            "99999999999999999999",
            "expected a capacity from 1 to 1024",
        ),
        (
            "cpu2/topology/thread_siblings_list",
            "0-99999",
            "expected a list of CPUs from 0 to 7",
        ),
        (
            "sys/devices/system/cpu/possible",
            "0-99999",
            "expected a list of at most 1024 CPUs",
        ),
        (
            "sys/devices/system/cpu/online",
            "9-12",
            "out of the possible ones",
        ),
        (
            "cpu1/cpuidle/state0/latency",
            "-5",
            "expected a time in us from 0 to",
        ),
        (
            "cpu1/regs/identification/midr_el1",
            "x",
            "expected a register in hexadecimal",
        ),
        (
            "cpu1/topology/physical_package_id",
            "one",
            "a package's number",
        ),
        ("em/cpu0/cpus", "0-7", "domain cpu0 has too"),
        ("em/cpu0/ps:533000/power", "0", "expected a power in uW"),
        (
            "sys/devices/system/cpu/cpufreq/policy0/related_cpus",
            "0-5",
            "each CPU in one policy",
        ),
        (
            "sys/devices/system/cpu/cpufreq/policy0/scaling_available_frequencies",
            "1 2 x",
            "expected frequencies from 1",
        ),
    ];
    for (path, text, part) in cases {
        let mut files = Files::named("hikey960.tree");
        files.put(path, text);
        let message = refused(&files);
        assert!(message.contains(part), "{path} = {text}: {message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn files_that_are_missing() {
    let none = refused(&Files::default());
    assert!(none.contains("there is no such folder"), "{none}");
    let mut files = Files::named("hikey960.tree");
    files.0.retain(|path, _| !path.ends_with("cpu/possible"));
    let none = refused(&files);
    assert!(none.contains("possible: no such file"), "{none}");
    let mut files = Files::named("hikey960.tree");
    files.0.retain(|path, _| !path.contains("cpu3/topology"));
    assert!(refused(&files).contains("cpu3/topology"));
    let gone = import(Source::Tree(Path::new("/nonexistent/tree")), None, None);
    assert!(gone.is_err());
    for source in [
        Source::DeviceTree(Path::new("/nonexistent")),
        Source::Lisa(Path::new("/")),
    ] {
        assert!(import(source, None, None).is_err());
    }
}

/// Links in circles and folders in the place of files are no files; bytes that are no text and
/// files without an end are refused.
#[cfg(unix)]
#[test]
fn strange_entries() {
    use std::os::unix::fs::symlink;
    let case = |path: &str, make: &dyn Fn(&Path)| {
        let (_folder, root) = Files::named("hikey960.tree").folder("tree");
        let path = root.join(path);
        if path.is_dir() {
            fs::remove_dir_all(&path).expect("removed");
        } else if path.exists() {
            fs::remove_file(&path).expect("removed");
        }
        make(&path);
        import(Source::Tree(&root), None, None).map_err(|error| error.to_string())
    };
    let capacity = "sys/devices/system/cpu/cpu0/cpu_capacity";
    let circle = |path: &Path| symlink(path, path).expect("a link");
    assert!(case(capacity, &circle).is_err_and(|e| e.contains("cpu_capacity")));
    assert!(case("sys/devices/system/cpu/cpufreq", &circle).is_err());
    let folder = |path: &Path| fs::create_dir(path).expect("a folder");
    assert!(case(capacity, &folder).is_err_and(|e| e.contains("it is no file")));
    let bytes = |path: &Path| fs::write(path, [0xff; 9]).expect("bytes");
    assert!(case(capacity, &bytes).is_err_and(|e| e.contains("no text")));
    let long = |path: &Path| fs::write(path, vec![b'1'; 100_000]).expect("bytes");
    assert!(case(capacity, &long).is_err_and(|e| e.contains("more than")));
    let zero = |path: &Path| symlink("/dev/zero", path).expect("a link");
    assert!(case(capacity, &zero).is_err());
}

/// Every beginning and every changed byte of a device tree ends in a machine or in a message.
#[test]
fn damaged_device_trees() {
    use wakeplace_platform::fdt::{Node, Tree};
    let mut root = Node::new("");
    let mut cpus = Node::new("cpus");
    for number in 0..2 {
        let mut cpu = Node::new(format!("cpu@{number}"));
        cpu.set_text("device_type", "cpu");
        cpu.set_text("compatible", "arm,cortex-a53");
        cpu.set_u32("operating-points-v2", &[9]);
        cpu.set_u32("cpu-idle-states", &[8]);
        cpu.set_u32("next-level-cache", &[number + 3]);
        cpu.set_u32("phandle", &[number + 1]);
        cpus.children.push(cpu);
    }
    root.children.push(cpus);
    let mut table = Node::new("opp-table");
    table.set_u32("phandle", &[9]);
    let mut opp = Node::new("opp-1");
    opp.set_u64("opp-hz", 1_000_000_000);
    table.children.push(opp);
    root.children.push(table);
    let bytes = Tree::new(root).write();
    assert!(device_tree(&bytes, "a.dtb").is_ok());
    for end in 0..bytes.len() {
        if let Err(error) = device_tree(&bytes[..end], "a.dtb") {
            assert!(error.to_string().starts_with("a.dtb: "), "{error}");
        }
    }
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut other = bytes.clone();
            other[at] = value;
            let _ = device_tree(&other, "a.dtb");
        }
    }
}

#[test]
fn a_tree_with_a_nameless_idle_state() {
    for (text, shown) in [(" \n", "nothing"), ("--", "`--`")] {
        let mut files = Files::named("hikey960.tree");
        files.put("cpu1/cpuidle/state0/name", text);
        let message = refused(&files);
        let expected = format!("state0/name: {shown}; expected the name of an idle state");
        assert!(message.ends_with(&expected), "{message}");
    }
}

/// Of a device tree the message names the file: a property has no line. A property without a text
/// is none, and the node's name counts.
#[test]
fn a_device_tree_with_a_nameless_idle_state() {
    use wakeplace_platform::fdt::{Node, Tree};
    let read = |name: &str| {
        let mut root = Node::new("");
        let mut cpus = Node::new("cpus");
        let mut cpu = Node::new("cpu@0");
        cpu.set_u32("cpu-idle-states", &[1]);
        let mut state = Node::new("sleep");
        state.set_text("idle-state-name", name);
        for (key, us) in [
            ("entry-latency-us", 100),
            ("exit-latency-us", 200),
            ("min-residency-us", 2000),
            ("phandle", 1),
        ] {
            state.set_u32(key, &[us]);
        }
        cpus.children.extend([cpu, state]);
        root.children.push(cpus);
        device_tree(&Tree::new(root).write(), "a.dtb").map_err(|error| error.to_string())
    };
    for (name, shown) in [("cpu-sleep", "cpu-sleep"), ("", "sleep")] {
        let states = read(name).expect("a machine").platform.idle_states;
        assert!(states.iter().any(|state| state.name == shown), "`{name}`");
    }
    for name in ["\u{1b}", "--"] {
        let error = read(name).expect_err(name);
        assert!(error.starts_with("a.dtb: "), "{error}");
        assert!(error.contains("cannot name an idle state"), "{error}");
    }
}

/// Caches that lead to each other, and a power domain that is its own.
#[test]
fn device_trees_in_circles() {
    use wakeplace_platform::fdt::{Node, Tree};
    let mut root = Node::new("");
    let mut cpus = Node::new("cpus");
    let mut cpu = Node::new("cpu@0");
    cpu.set_u32("next-level-cache", &[1]);
    cpu.set_u32("power-domains", &[2]);
    cpu.set_u32("phandle", &[3]);
    cpus.children.push(cpu);
    root.children.push(cpus);
    let mut cache = Node::new("l2");
    cache.set_u32("phandle", &[1]);
    cache.set_u32("next-level-cache", &[1]);
    let mut domain = Node::new("pd");
    domain.set_u32("phandle", &[2]);
    domain.set_u32("power-domains", &[2]);
    domain.set_u32("domain-idle-states", &[2, 2, 2]);
    root.children.extend([cache, domain]);
    let imported = device_tree(&Tree::new(root).write(), "a.dtb").expect("one CPU");
    assert_eq!(imported.platform.cpus.len(), 1);
}

/// Goal: a plat_info whose CPUs cannot be counted is refused. Found by the fuzzer: the highest
/// number of all, to which none can be added.
#[test]
fn a_plat_info_of_too_many_cpus() {
    for cpu in ["18446744073709551615", "1024"] {
        let text = format!("freq-domains:\n- - {cpu}\n");
        let read = wakeplace_platform::import::plat_info(text.as_bytes(), "x.yml");
        let error = read.expect_err(cpu).to_string();
        assert!(error.contains("no number of CPUs"), "{error}");
    }
}
