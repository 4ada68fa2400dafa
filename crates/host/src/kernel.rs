//! What the kernel offers to a scheduler that is loaded into it (docs/guide/live.md, "Run").
//!
//! What must stay: names of checks, which `doctor --format json` has; a doubt never stops a start.
//! Free: words of remedies, but for those that probe.rs quotes.
//!
//! Tests by part: `an_old_kernel_and_an_unset_option_are_named` (`release`, `sched_ext`,
//! `a_kernel_with_sched_ext`), `a_loaded_scheduler_is_named` (`slot`, `scheduler_slot`),
//! probe.rs::`an_untagged_function_counts_from_7_1_on_if_it_is_called`,
//! `a_function_that_is_needed_is_there_in_one_form` (`kfuncs`, `kfuncs_read`),
//! probe.rs::`the_functions_are_those_of_the_scheduler` (`called`, beside crates/scx/src/bpf),
//! probe.rs::`a_kernel_without_types_is_a_lack` (`btf`),
//! probe.rs::`without_types_the_release_is_all_there_is` (`kfuncs_by_release`).
//! `scheduler_in_force` is the same look as `slot`.
//!
//! Callers: crates/host/src/lib.rs (`checks`), crates/lab/src/kernels.rs (`kfuncs_read`, `called`),
//! crates/scx (`scheduler_in_force`).
//!
//! Tests: crates/host/tests/probe.rs::an_old_kernel_and_an_unset_option_are_named,
//! crates/host/tests/probe.rs::a_loaded_scheduler_is_named

use crate::btf::Kfuncs;
use crate::config;
use crate::program::PROGRAM;
use crate::release::{KnownBuild, Release, known_build};
use crate::tree::{Absent, Tree};
use crate::{Check, NeededFor, State, fact};
use std::path::Path;

const SCHED_EXT: &str = "sys/kernel/sched_ext";
const BTF: &str = "sys/kernel/btf/vmlinux";
const OTHER_KERNEL: &str = "boot a kernel whose sched_ext functions are whole: Debian's 7.3.4 and \
                            7.0.13 were found to be";

/// Of the live scheduler's, and required.
fn check(name: &'static str, state: State, found: impl Into<String>) -> Check {
    fact(name, NeededFor::LiveScheduler, true, state, found)
}

/// What the kernel calls the live scheduler of this project while it is loaded.
const OWN_NAME: &str = "wakeplace";

/// The functions of sched_ext that the live scheduler cannot do without, each with the forms it
/// has had: one of them is enough.
const NEEDED: [&[&str]; 19] = [
    &["scx_bpf_create_dsq"],
    &["scx_bpf_dsq_nr_queued"],
    &["scx_bpf_dsq_move"],
    &["scx_bpf_dsq_move_vtime"],
    &["scx_bpf_dsq_move_set_vtime"],
    &["scx_bpf_dsq_insert", "scx_bpf_dsq_insert___v2"],
    &["scx_bpf_dsq_insert_vtime", "__scx_bpf_dsq_insert_vtime"],
    &[
        "scx_bpf_dsq_move_to_local",
        "scx_bpf_dsq_move_to_local___v2",
    ],
    &["scx_bpf_kick_cpu"],
    &["scx_bpf_test_and_clear_cpu_idle"],
    &["scx_bpf_cpuperf_set"],
    &["scx_bpf_task_cpu"],
    &["scx_bpf_error_bstr"],
    &["scx_bpf_reenqueue_local"],
    &["scx_bpf_get_online_cpumask"],
    &["scx_bpf_put_cpumask"],
    &["bpf_iter_scx_dsq_new"],
    &["bpf_iter_scx_dsq_next"],
    &["bpf_iter_scx_dsq_destroy"],
];

/// Those it calls where the kernel has them.
const OPTIONAL: [&str; 2] = ["scx_bpf_task_set_slice", "scx_bpf_now"];

/// The functions of sched_ext that the live scheduler may call.
pub fn called() -> impl Iterator<Item = &'static str> {
    NEEDED.into_iter().flatten().copied().chain(OPTIONAL)
}

/// What to do where a kernel takes no scheduler.
fn a_kernel_with_sched_ext() -> String {
    format!(
        "boot a kernel built with CONFIG_SCHED_CLASS_EXT=y ({} or later; {})",
        Release::NEEDED.series(),
        Release::tried()
    )
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
        Some(release) if release < Release::NEEDED => {
            let (first, needed) = (Release::SCHED_EXT.series(), Release::NEEDED.series());
            let found = format!(
                "{text}; sched_ext came with {first}, the functions that {PROGRAM} calls with \
                 {needed}"
            );
            check("kernel", State::Missing, found).remedy(a_kernel_with_sched_ext())
        }
        Some(release) => {
            let [oldest, newest] = Release::TRIED.map(|r| (r.major, r.minor));
            let tried = (oldest..=newest).contains(&(release.major, release.minor));
            let remark = match tried {
                true => String::new(),
                false => format!("; {}", Release::tried()),
            };
            check("kernel", State::Ok, text + &remark)
        }
    }
}

/// Checks whether this kernel takes loaded schedulers at all.
pub(crate) fn sched_ext(tree: &Tree) -> Check {
    match tree.text(&format!("{SCHED_EXT}/state")) {
        Ok(state) => check("sched-ext", State::Ok, format!("present, {state}")),
        Err(Absent::Unreadable(why)) => check("sched-ext", State::Unknown, why),
        Err(Absent::NotThere) => {
            let configured = match config::in_words(tree, "CONFIG_SCHED_CLASS_EXT") {
                Some(value) => format!("; its configuration says CONFIG_SCHED_CLASS_EXT {value}"),
                None => String::new(),
            };
            check(
                "sched-ext",
                State::Missing,
                format!("no /{SCHED_EXT}{configured}"),
            )
            .remedy(a_kernel_with_sched_ext())
        }
    }
}

/// The one place that the kernel has for a loaded scheduler.
enum Slot {
    Unreadable,
    Free,
    Taken { state: String, ops: Option<String> },
}

/// Is a scheduler loaded, and which?
fn slot(tree: &Tree) -> Slot {
    match tree.text(&format!("{SCHED_EXT}/state")) {
        Err(_) => Slot::Unreadable,
        Ok(state) if state == "disabled" => Slot::Free,
        Ok(state) => Slot::Taken {
            state,
            ops: tree.text(&format!("{SCHED_EXT}/root/ops")).ok(),
        },
    }
}

/// The name of the scheduler that is loaded on the machine whose files are under `root`, this
/// project's own included; "unnamed" where the kernel does not tell, `None` where none is.
#[must_use]
pub fn scheduler_in_force(root: &Path) -> Option<String> {
    match slot(&Tree::new(root)) {
        Slot::Taken { ops, .. } => Some(ops.unwrap_or_else(|| "unnamed".to_owned())),
        Slot::Free | Slot::Unreadable => None,
    }
}

/// Checks whether a scheduler is loaded already: the kernel takes one at a time.
pub(crate) fn scheduler_slot(tree: &Tree) -> Check {
    const NAME: &str = "scheduler-slot";
    let (state, ops) = match slot(tree) {
        Slot::Unreadable => return check(NAME, State::Unknown, "no sched_ext state to read"),
        Slot::Free => return check(NAME, State::Ok, "no scheduler is loaded"),
        Slot::Taken { state, ops } => (state, ops),
    };
    match ops {
        Some(ops) if ops == OWN_NAME => check(
            NAME,
            State::Ok,
            format!("`{ops}` is loaded ({state}): {PROGRAM} runs"),
        ),
        Some(ops) => check(NAME, State::Missing, format!("`{ops}` is loaded ({state})")).remedy(
            format!("stop `{ops}` first: end its process or its service"),
        ),
        None => check(
            NAME,
            State::Missing,
            format!("a scheduler is loaded ({state})"),
        )
        .remedy("stop the loaded scheduler first: end its process or its service"),
    }
}

/// Checks whether the kernel describes its types, without which no scheduler loads.
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

/// Checks whether the functions that schedulers call can be called: read from the type information
/// where there is any, else judged by what is known of the release.
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

/// Checks whether the live scheduler can be loaded, by what a kernel's types offer to it.
#[must_use]
pub fn kfuncs_read(kfuncs: &Kfuncs, release: &str) -> Check {
    const NAME: &str = "kfuncs";
    let all = kfuncs.tagged.len() + kfuncs.untagged.len();
    let needs_tags = Release::parse(release).is_none_or(|r| r >= Release::HIDDEN_ARGUMENT);
    if all == 0 {
        return check(
            NAME,
            State::Missing,
            "no function of sched_ext in the kernel's types",
        )
        .remedy(a_kernel_with_sched_ext());
    }
    if kfuncs.tags == 0 && needs_tags {
        let found = format!("{all} functions of sched_ext, and none is tagged as callable");
        return check(NAME, State::Missing, found).remedy(OTHER_KERNEL);
    }
    let is_there = |name: &str| kfuncs.tagged.contains(name) || kfuncs.untagged.contains(name);
    let absent = NEEDED
        .iter()
        .filter(|forms| !forms.iter().any(|name| is_there(name)));
    let absent: Vec<String> = absent.map(|forms| forms.join(" or ")).collect();
    if !absent.is_empty() {
        let found = format!("the kernel's types have no {}", absent.join(", no "));
        return check(NAME, State::Missing, found).remedy(OTHER_KERNEL);
    }
    let broken: Vec<&str> = called()
        .filter(|name| kfuncs.untagged.contains(*name))
        .collect();
    if needs_tags && !broken.is_empty() {
        let (count, names) = (broken.len(), broken.join(", "));
        let found = format!("{count} functions that it calls cannot be called: {names}");
        return check(NAME, State::Missing, found).remedy(OTHER_KERNEL);
    }
    let rest = match (kfuncs.untagged.len(), needs_tags) {
        (0, _) => ", all tagged".to_owned(),
        (some, true) => format!("; {some} cannot be called, none of which it calls"),
        (some, false) => format!("; {some} untagged, which matters only from 7.1 on"),
    };
    check(
        NAME,
        State::Ok,
        format!("{all} functions of sched_ext{rest}"),
    )
}

/// What is known of a release, where its type information cannot be read.
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
