//! What the kernel offers to a scheduler that is loaded into it.

use crate::btf::Kfuncs;
use crate::release::{KnownBuild, Release, known_build};
use crate::tree::{Absent, Tree};
use crate::{Check, NeededFor, State, fact};

const SCHED_EXT: &str = "sys/kernel/sched_ext";
const BTF: &str = "sys/kernel/btf/vmlinux";
const OTHER_KERNEL: &str = "boot a kernel whose sched_ext functions are whole: Debian's 7.3.4 and \
                            7.0.13 were found to be";

fn check(name: &'static str, state: State, found: impl Into<String>) -> Check {
    fact(name, NeededFor::LiveScheduler, true, state, found)
}

/// The kernel's release, old or new enough.
pub(crate) fn release(tree: &Tree) -> Check {
    let Ok(text) = tree.text("proc/sys/kernel/osrelease") else {
        return check("kernel", State::Unknown, "no /proc/sys/kernel/osrelease");
    };
    match Release::parse(&text) {
        None => check(
            "kernel",
            State::Unknown,
            format!("a release of another form: {text}"),
        ),
        Some(release) if release < Release::SCHED_EXT => check(
            "kernel",
            State::Missing,
            format!("{text}; sched_ext came with {}", Release::SCHED_EXT),
        )
        .remedy("boot kernel 6.12 or later, built with CONFIG_SCHED_CLASS_EXT=y"),
        Some(_) => check("kernel", State::Ok, text),
    }
}

/// Whether this kernel takes loaded schedulers at all.
pub(crate) fn sched_ext(tree: &Tree) -> Check {
    match tree.text(&format!("{SCHED_EXT}/state")) {
        Ok(state) => check("sched-ext", State::Ok, format!("present, {state}")),
        Err(Absent::Unreadable(why)) => check("sched-ext", State::Unknown, why),
        Err(Absent::NotThere) => {
            let configured = match config_value(tree, "CONFIG_SCHED_CLASS_EXT") {
                Some(value) => format!("; its configuration says CONFIG_SCHED_CLASS_EXT {value}"),
                None => String::new(),
            };
            check(
                "sched-ext",
                State::Missing,
                format!("no /{SCHED_EXT}{configured}"),
            )
            .remedy("boot a kernel built with CONFIG_SCHED_CLASS_EXT=y (6.12 or later)")
        }
    }
}

/// What the running kernel's configuration file sets an option to, where that file is installed.
fn config_value(tree: &Tree, option: &str) -> Option<String> {
    let release = tree.text("proc/sys/kernel/osrelease").ok()?;
    let config = tree.text(&format!("boot/config-{release}")).ok()?;
    let set = config
        .lines()
        .find_map(|line| line.strip_prefix(option)?.strip_prefix('='));
    Some(set.map_or_else(|| "is not set".to_owned(), |value| format!("is {value}")))
}

/// Whether a scheduler is loaded already: the kernel takes one at a time.
pub(crate) fn scheduler_slot(tree: &Tree) -> Check {
    const NAME: &str = "scheduler-slot";
    let Ok(state) = tree.text(&format!("{SCHED_EXT}/state")) else {
        return check(NAME, State::Unknown, "no sched_ext state to read");
    };
    match (state.as_str(), tree.text(&format!("{SCHED_EXT}/root/ops"))) {
        ("disabled", _) => check(NAME, State::Ok, "no scheduler is loaded"),
        (_, Ok(ops)) => check(NAME, State::Missing, format!("`{ops}` is loaded ({state})")).remedy(
            format!("stop `{ops}` first: end its process or its service"),
        ),
        (_, Err(_)) => check(
            NAME,
            State::Missing,
            format!("a scheduler is loaded ({state})"),
        )
        .remedy("stop the loaded scheduler first: end its process or its service"),
    }
}

/// Whether the kernel describes its types, without which no scheduler loads.
pub(crate) fn btf(tree: &Tree) -> Check {
    match tree.bytes(BTF) {
        Ok(data) if data.is_empty() => check("btf", State::Missing, format!("/{BTF} is empty")),
        Ok(data) => check(
            "btf",
            State::Ok,
            format!("/{BTF}, {} KiB", data.len() / 1024),
        ),
        Err(Absent::Unreadable(why)) => check("btf", State::Unknown, why),
        Err(Absent::NotThere) => check("btf", State::Missing, format!("no /{BTF}"))
            .remedy("boot a kernel built with CONFIG_DEBUG_INFO_BTF=y"),
    }
}

/// Whether the functions that schedulers call can be called: read from the type information where
/// there is any, else judged by what is known of the release.
pub(crate) fn kfuncs(tree: &Tree) -> Check {
    let release = tree.text("proc/sys/kernel/osrelease").unwrap_or_default();
    let read = match tree.bytes(BTF) {
        Ok(data) => Kfuncs::from_btf(&data).map_err(|error| format!("/{BTF}: {error}")),
        Err(_) => Err(format!("/{BTF} cannot be read")),
    };
    match read {
        Ok(kfuncs) => kfuncs_read(&kfuncs, &release),
        Err(why) => kfuncs_by_release(tree, &release, &why),
    }
}

fn kfuncs_read(kfuncs: &Kfuncs, release: &str) -> Check {
    const NAME: &str = "kfuncs";
    let all = kfuncs.tagged.len() + kfuncs.untagged.len();
    let needs_tags = Release::parse(release).is_none_or(|r| r >= Release::HIDDEN_ARGUMENT);
    let untagged = kfuncs
        .untagged
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if all == 0 {
        return check(
            NAME,
            State::Missing,
            "no scx_bpf_* function in the kernel's types",
        )
        .remedy("boot a kernel built with CONFIG_SCHED_CLASS_EXT=y (6.12 or later)");
    }
    if kfuncs.tags == 0 && needs_tags {
        let found = format!("{all} scx_bpf_* functions, and no function is tagged as callable");
        return check(NAME, State::Missing, found).remedy(OTHER_KERNEL);
    }
    match (kfuncs.untagged.len(), needs_tags) {
        (0, _) => check(
            NAME,
            State::Ok,
            format!("{all} scx_bpf_* functions, all tagged"),
        ),
        (some, false) => check(
            NAME,
            State::Ok,
            format!("{all} scx_bpf_* functions; {some} untagged, which matters only from 7.1 on"),
        ),
        (some, true) => check(
            NAME,
            State::Missing,
            format!("{some} of {all} scx_bpf_* functions cannot be called: {untagged}"),
        )
        .remedy(OTHER_KERNEL),
    }
}

fn kfuncs_by_release(tree: &Tree, release: &str, why: &str) -> Check {
    const NAME: &str = "kfuncs";
    let build = tree.text("proc/sys/kernel/version").unwrap_or_default();
    match known_build(release, &build) {
        KnownBuild::Broken => check(
            NAME,
            State::Unknown,
            format!(
                "{why}; {release} is of known broken builds: Debian's 7.1 and 7.2 kernels lack \
                     the tags of some sched_ext functions, others in each build"
            ),
        )
        .remedy(OTHER_KERNEL),
        KnownBuild::Good => check(
            NAME,
            State::Unknown,
            format!("{why}; this version of Debian's was whole where it was looked at"),
        ),
        KnownBuild::Unseen => check(
            NAME,
            State::Unknown,
            format!("{why}; nothing is known of this build"),
        ),
    }
}
