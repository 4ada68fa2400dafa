//! Where fields are in the structures of the offered kernel, by its type information
//! (docs/guide/schedulers.md, "What its programs see").
//!
//! What must stay: no offset is written down here: each comes from the type information. A field
//! that a kernel lacks is None. Free: which fields are asked for.
//!
//! Tests by part: `calls_answer_as_a_kernel_does` with both small kernels (`Layout::of`, `ops`: a
//! field that only one has), `cids_leave_and_come_back` (`canonical`: the table with cids).
//!
//! Callers: crates/foreign/src/scheduler.rs, load/own.rs (`Layout::of`), load/bpf.rs (the table's
//! fields). A new field is a row of the macro above its structure.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does,
//! crates/cli/tests/all/schedulers.rs::wrong_options_are_refused

use crate::ForeignError;
use wakeplace_bpf_vm::Btf;
use wakeplace_bpf_vm::btf::{Field, Kind};

/// A field that a kernel may not have.
pub(crate) type Place = Option<Field>;

macro_rules! fields {
    ($(#[$doc:meta])* $name:ident in $of:literal { $($field:ident = $path:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(crate) struct $name {
            /// Bytes of the whole.
            #[allow(dead_code, reason = "not every structure is made here")]
            pub(crate) size: u64,
            $(pub(crate) $field: Place,)*
        }

        impl $name {
            /// Offsets in bytes; None: the kernel has no such structure.
            fn of(btf: &Btf) -> Option<Self> {
                let id = btf.find(Kind::Struct, $of)?;
                Some(Self {
                    size: btf.size(id),
                    $($field: btf.field(id, $path),)*
                })
            }
        }
    };
}

fields! {
    /// `struct task_struct`.
    TaskFields in "task_struct" {
        slice = "scx.slice",
        vtime = "scx.dsq_vtime",
        weight = "scx.weight",
        scx_flags = "scx.flags",
        disallow = "scx.disallow",
        cpu = "thread_info.cpu",
        // arm64; x86-64 has it per CPU (`State::set_preempt_count`).
        preempt_count = "thread_info.preempt.count",
        recent_cpu = "recent_used_cpu",
        wake_cpu = "wake_cpu",
        on_cpu = "on_cpu",
        on_rq = "on_rq",
        pid = "pid",
        tgid = "tgid",
        comm = "comm",
        flags = "flags",
        state = "__state",
        policy = "policy",
        static_prio = "static_prio",
        normal_prio = "normal_prio",
        prio = "prio",
        mm = "mm",
        nr_cpus_allowed = "nr_cpus_allowed",
        cpus_ptr = "cpus_ptr",
        cpus_mask = "cpus_mask",
        migration_disabled = "migration_disabled",
        sum_exec_runtime = "se.sum_exec_runtime",
        utime = "utime",
        start_time = "start_time",
        start_boottime = "start_boottime",
        nvcsw = "nvcsw",
        nivcsw = "nivcsw",
        real_parent = "real_parent",
        parent = "parent",
        group_leader = "group_leader",
        cgroups = "cgroups",
        tid = "scx.tid",
    }
}

fields! {
    /// `struct rq`.
    RqFields in "rq" {
        cpu = "cpu",
        nr_running = "nr_running",
        curr = "curr",
        scx_nr_running = "scx.nr_running",
        idle = "idle",
        clock = "clock",
        clock_task = "clock_task",
        clock_pelt = "clock_pelt",
        lost_idle_time = "lost_idle_time",
    }
}

fields! {
    /// `struct pcpu_hot`, x86-64's before 6.15.
    PcpuHotFields in "pcpu_hot" {
        preempt_count = "preempt_count",
        cpu_number = "cpu_number",
    }
}

fields! {
    /// `struct cgroup`.
    CgroupFields in "cgroup" {
        kn = "kn",
        level = "level",
        css_cgroup = "self.cgroup",
        css_parent = "self.parent",
        css = "self",
        css_id = "self.id",
    }
}

fields! {
    /// `struct kernfs_node`.
    KernfsFields in "kernfs_node" {
        id = "id",
    }
}

fields! {
    /// `struct css_set`.
    CssSetFields in "css_set" {
        dfl_cgrp = "dfl_cgrp",
    }
}

fields! {
    /// `struct scx_init_task_args`.
    InitTaskFields in "scx_init_task_args" {
        fork = "fork",
        cgroup = "cgroup",
    }
}

fields! {
    /// `struct scx_exit_task_args`.
    ExitTaskFields in "scx_exit_task_args" {
        cancelled = "cancelled",
    }
}

fields! {
    /// `struct scx_cgroup_init_args`.
    CgroupInitFields in "scx_cgroup_init_args" {
        weight = "weight",
    }
}

fields! {
    /// `struct scx_cpu_release_args`.
    ReleaseFields in "scx_cpu_release_args" {
        reason = "reason",
        task = "task",
    }
}

fields! {
    /// `struct scx_event_stats`.
    EventFields in "scx_event_stats" {
        select_cpu_fallback = "SCX_EV_SELECT_CPU_FALLBACK",
        local_offline = "SCX_EV_DISPATCH_LOCAL_DSQ_OFFLINE",
        keep_last = "SCX_EV_DISPATCH_KEEP_LAST",
        skip_exiting = "SCX_EV_ENQ_SKIP_EXITING",
        skip_fixed = "SCX_EV_ENQ_SKIP_MIGRATION_DISABLED",
        refill = "SCX_EV_REFILL_SLICE_DFL",
        reenq_immed = "SCX_EV_REENQ_IMMED",
        reenq_repeat = "SCX_EV_REENQ_REPEAT",
    }
}

fields! {
    /// `struct scx_exit_info`.
    ExitInfoFields in "scx_exit_info" {
        kind = "kind",
        exit_code = "exit_code",
        reason = "reason",
        msg = "msg",
        dump = "dump",
    }
}

fields! {
    /// `struct cpufreq_policy`.
    CpufreqFields in "cpufreq_policy" {
        cpu = "cpu",
        min = "min",
        max = "max",
        cur = "cur",
        lowest = "cpuinfo.min_freq",
        highest = "cpuinfo.max_freq",
    }
}

/// The table of callbacks in the map that registers it.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpsFields {
    /// Members that are functions, with their offsets.
    pub(crate) callbacks: Vec<(String, u64)>,
    pub(crate) flags: u64,
    pub(crate) timeout_ms: u64,
    pub(crate) dispatch_max_batch: Option<u64>,
    pub(crate) sub_cgroup_id: Option<u64>,
    /// Of the form with cids only.
    pub(crate) cid_shard_size: Option<u64>,
    pub(crate) name: u64,
}

/// All of them.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) task: TaskFields,
    pub(crate) rq: RqFields,
    pub(crate) pcpu_hot: Option<PcpuHotFields>,
    pub(crate) cgroup: CgroupFields,
    pub(crate) kernfs: KernfsFields,
    pub(crate) css_set: CssSetFields,
    pub(crate) init_task: InitTaskFields,
    pub(crate) exit_task: ExitTaskFields,
    pub(crate) cgroup_init: Option<CgroupInitFields>,
    pub(crate) release: ReleaseFields,
    pub(crate) cpufreq: CpufreqFields,
    pub(crate) exit_info: ExitInfoFields,
    pub(crate) events: Option<EventFields>,
    pub(crate) ops: OpsFields,
    /// The table whose callbacks have cids (7.2).
    pub(crate) ops_cid: Option<OpsFields>,
    /// Bytes of a `cpumask`.
    pub(crate) cpumask: u64,
    /// `SCX_ENQ_HEAD` and `SCX_ENQ_CPU_SELECTED` of this kernel: they follow its own flags.
    pub(crate) enq_head: u64,
    pub(crate) enq_cpu_selected: u64,
}

impl Layout {
    /// Reads where all fields are; a field that the kernel lacks is None.
    pub(crate) fn of(btf: &Btf, kernel: &str) -> Result<Self, ForeignError> {
        let missing = |what: &str| ForeignError::Kernel {
            kernel: kernel.to_owned(),
            why: format!("it has no {what}: expected a kernel with sched_ext (from 6.12 on)"),
        };
        let ops = Self::ops(btf, "sched_ext_ops").ok_or_else(|| missing("struct sched_ext_ops"))?;
        let cpumask = btf.find(Kind::Struct, "cpumask");
        macro_rules! fields {
            ($name:ident) => {
                $name::of(btf).ok_or_else(|| missing(stringify!($name)))?
            };
        }
        Ok(Self {
            task: fields!(TaskFields),
            rq: fields!(RqFields),
            pcpu_hot: PcpuHotFields::of(btf),
            cgroup: fields!(CgroupFields),
            kernfs: fields!(KernfsFields),
            css_set: fields!(CssSetFields),
            init_task: fields!(InitTaskFields),
            exit_task: fields!(ExitTaskFields),
            cgroup_init: CgroupInitFields::of(btf),
            release: fields!(ReleaseFields),
            cpufreq: fields!(CpufreqFields),
            exit_info: fields!(ExitInfoFields),
            events: EventFields::of(btf),
            ops,
            ops_cid: Self::ops(btf, "sched_ext_ops_cid"),
            cpumask: cpumask.map_or(0, |id| btf.size(id)).max(1024 / 8),
            enq_head: btf.enumerator("SCX_ENQ_HEAD").unwrap_or(0x10),
            enq_cpu_selected: btf.enumerator("SCX_ENQ_CPU_SELECTED").unwrap_or(0x400),
        })
    }

    /// Where callbacks and settings are in the table `name` of a scheduler.
    fn ops(btf: &Btf, name: &str) -> Option<OpsFields> {
        let value = btf.find(Kind::Struct, &format!("bpf_struct_ops_{name}"))?;
        let data = btf.field(value, "data")?;
        let of = btf.find(Kind::Struct, name)?;
        let at = |name: &str| btf.field(of, name).map(|field| data.offset + field.offset);
        let is_function = |ty: u32| {
            let ty = btf.bare(ty);
            let to = btf.bare(btf.target(ty));
            btf.kind(ty) == Kind::Ptr && btf.kind(to) == Kind::FuncProto
        };
        let members = btf
            .members(of)
            .into_iter()
            .filter(|member| is_function(member.ty));
        let callbacks = members.map(|member| {
            let at = data.offset + u64::from(member.bits / 8);
            (canonical(&member.name), at)
        });
        Some(OpsFields {
            callbacks: callbacks.collect(),
            flags: at("flags")?,
            timeout_ms: at("timeout_ms")?,
            dispatch_max_batch: at("dispatch_max_batch"),
            sub_cgroup_id: at("sub_cgroup_id"),
            cid_shard_size: at("cid_shard_size"),
            name: at("name")?,
        })
    }
}

/// A callback's name in `struct sched_ext_ops`: the table with cids has others for some.
fn canonical(name: &str) -> String {
    match name {
        "select_cid" => "select_cpu".to_owned(),
        "set_cmask" => "set_cpumask".to_owned(),
        "cid_online" => "cpu_online".to_owned(),
        "cid_offline" => "cpu_offline".to_owned(),
        "dump_cid" => "dump_cpu".to_owned(),
        name => match name.strip_prefix("cpuctl_") {
            Some(rest) => format!("cgroup_{rest}"),
            None => name.to_owned(),
        },
    }
}
