//! Reads which sched_ext functions a kernel offers to BPF programs, from its type information
//! (docs/guide/live.md, "Run").
//!
//! Since 7.1 a function is usable only if it carries the `bpf_kfunc` declaration tag, and some
//! distribution kernels lack tags at random: whether a scheduler can load is written here, before
//! anything is loaded.
//!
//! What must stay: what is not readable is doubt, not refusal. Free: how types are walked.
//!
//! Tests by part: `an_untagged_function_counts_from_7_1_on_if_it_is_called` (`from_btf`, tags),
//! `damaged_types_are_doubt_not_failure` (`from_btf`: errors),
//! probe.rs::`a_board_with_everything_lacks_nothing` (`is_sched_ext`).
//!
//! Callers: crates/host/src/kernel.rs (`kfuncs`), crates/lab/src/kernels.rs.
//!
//! Tests: crates/host/tests/probe.rs::an_untagged_function_counts_from_7_1_on_if_it_is_called,
//! crates/host/tests/probe.rs::damaged_types_are_doubt_not_failure

use std::collections::BTreeSet;
use wakeplace_btf::{Btf, BtfError, Kind};

/// The functions of sched_ext that a kernel offers: `scx_bpf_*` and the iterator of its queues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kfuncs {
    /// Those that carry the tag.
    pub tagged: BTreeSet<String>,
    /// Those that do not; from 7.1 on a program that calls one of them does not load.
    pub untagged: BTreeSet<String>,
    /// How many tags of this sort there are in all; none means that tags were not written at all.
    pub tags: usize,
}

impl Kfuncs {
    /// Reads raw BTF, as in `/sys/kernel/btf/vmlinux`.
    ///
    /// # Errors
    /// When the bytes are none.
    pub fn from_btf(data: &[u8]) -> Result<Self, BtfError> {
        let btf = Btf::parse(data.to_vec(), None)?;
        let all = || 1..btf.end();
        let is_tag = |id: &u32| btf.kind(*id) == Kind::DeclTag && btf.name(*id) == "bpf_kfunc";
        let tagged: BTreeSet<u32> = all().filter(is_tag).map(|id| btf.target(id)).collect();
        let mut kfuncs = Self {
            tags: tagged.len(),
            ..Self::default()
        };
        for id in all().filter(|id| btf.kind(*id) == Kind::Func) {
            let name = btf.name(id);
            // `foo_impl` is the body behind `foo`, never what a program names.
            if is_sched_ext(name) && !name.ends_with("_impl") {
                let set = match tagged.contains(&id) {
                    true => &mut kfuncs.tagged,
                    false => &mut kfuncs.untagged,
                };
                set.insert(name.to_owned());
            }
        }
        Ok(kfuncs)
    }
}

/// By the prefixes that kernels give such functions.
fn is_sched_ext(function: &str) -> bool {
    let prefixes = ["scx_bpf_", "__scx_bpf_", "bpf_iter_scx_"];
    prefixes.iter().any(|prefix| function.starts_with(prefix))
}
