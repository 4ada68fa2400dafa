// SPDX-License-Identifier: GPL-2.0-only
//! The kernel side as an object: load, attach, watch, change, let go.
//!
//! Everything the kernel side keeps is in its mapped memory: the loader writes the core's context
//! there before it attaches, and reads counters from it afterwards. What it changes later it
//! changes through a program of the kernel side, so that the core's own rules apply it
//! (docs/decisions/011). Whatever fails, nothing of it stays loaded.
//!
//! What must stay: nothing is changed before `attach`, and dropping the object gives the machine
//! back. The layout of `wp_ctx` is one in both builds (`tests/parity/loaded.rs`). Free: words of
//! errors, and how counters are gathered.
//!
//! Tests by part: xtask/src/live/tests.rs on each kernel (`load`, `leave_out_missing`, `attach`,
//! `snapshot`; `verifier`: `verified_insns`; `queues_wakeups`), guest.sh (switching: `apply`;
//! hotplug-storm: `cpus_changed`, `rebuild`; `detach` and `exit` at the end),
//! scripts/live/shares.sh (`shares_are_per_cpu`), guest.sh placement (`live_core`, `write_context`:
//! big CPUs are known). `queued_wakeups` is what `queues_wakeups` says. `follow_bound_tasks`,
//! `is_clean`, `kernel_error` and `text` have no test of their own. `bss`, `bss_mut`, `core` and
//! `monotonic_ns` have no test of their own.
//!
//! Callers: schedule.rs.
//!
//! Tests: xtask/src/live/tests.rs, scripts/live/guest.sh

use crate::machine::Machine;
use libbpf_rs::btf::{Btf, types};
use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use libbpf_rs::{ErrorKind, Link, ProgramInput};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use thiserror::Error;
use wakeplace_host::scheduler_in_force;
use wakeplace_policy_sys::{Core, MachineError, Policy};

/// What the build made of `bpf/main.bpf.c`.
#[allow(warnings, clippy::all, reason = "generated")]
mod skel {
    include!(concat!(env!("OUT_DIR"), "/main.skel.rs"));
}

/// Why it could not be put into force. None of these leaves anything behind.
#[derive(Debug, Error)]
pub(crate) enum LiveError {
    /// The core refuses the machine.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// Another sched_ext scheduler is in force.
    #[error(
        "another scheduler is loaded already: {0}; stop it first (its name is in \
             /sys/kernel/sched_ext/root/ops)"
    )]
    Busy(String),
    /// The kernel said no.
    #[error("{doing}: {why}{hint}")]
    Kernel {
        /// What was tried.
        doing: &'static str,
        /// libbpf's words.
        why: String,
        /// What that usually means, empty if nothing is known.
        hint: &'static str,
    },
}

/// Counters of one CPU, as the kernel side keeps them (`bpf/live.h`).
#[derive(Clone, Debug)]
pub(crate) struct CpuCounters {
    /// Decisions taken on this CPU, by `enum wp_reason`.
    pub(crate) reason: [u64; 64],
    /// Tasks that a decision sent to this CPU.
    pub(crate) placed: u64,
    /// Wake-ups decided on this CPU.
    pub(crate) wakeups: u64,
    /// Forks decided on this CPU.
    pub(crate) forks: u64,
    /// Execs decided on this CPU.
    pub(crate) execs: u64,
    /// Decisions that found an idle CPU and claimed it.
    pub(crate) direct: u64,
    /// Decisions that could not be carried out.
    pub(crate) refused: u64,
    /// Tasks this CPU took from others.
    pub(crate) pulled: u64,
    /// Running tasks pushed away from this CPU.
    pub(crate) pushed: u64,
    /// Kicks that ended a running task's slice.
    pub(crate) preempted: u64,
    /// Times a task began to run here.
    pub(crate) switches: u64,
    /// Time tasks of this scheduler ran here, ns.
    pub(crate) run_ns: u64,
    /// Energy of that time by the energy model, nJ.
    pub(crate) energy_nj: u64,
    /// Runnable until running; four buckets per power of two of ns.
    pub(crate) latency: Box<[u64; 256]>,
    /// Tasks that fell asleep here by their duration average, in such buckets.
    pub(crate) duration: Box<[u64; 256]>,
}

/// All counters at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// When, ns of the monotonic clock.
    pub(crate) at_ns: u64,
    /// By CPU number.
    pub(crate) cpus: Vec<CpuCounters>,
    /// The machine is beyond the tipping point.
    pub(crate) overutilized: bool,
    /// Energy-aware placement is in force.
    pub(crate) energy_active: bool,
}

/// How a scheduler's life ended (the kernel's `scx_exit_info`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    /// `enum scx_exit_kind`: 64..1023 somebody asked for it, from 1024 an error.
    pub(crate) kind: i32,
    /// The code that came with it.
    pub(crate) code: i64,
    /// The kernel's words.
    pub(crate) reason: String,
    /// Its details.
    pub(crate) message: String,
}

impl Exit {
    /// True unless something went wrong.
    pub(crate) fn is_clean(&self) -> bool {
        (1..1024).contains(&self.kind)
    }
}

/// Looks without a bound task after which the flags of wake-ups are read no more: a minute, since
/// each change stops all CPUs for a moment.
const UNUSED_LOOKS: u32 = 240;

/// The program that reads the flags of wake-ups.
#[derive(Default)]
enum WakeFlags {
    /// It is not attached: no task needs it.
    #[default]
    Unread,
    /// It is, and for so many looks no task has needed it.
    Read { link: Link, unused: u32 },
    /// The kernel cannot attach it.
    Refused,
}

/// The loaded kernel side.
pub(crate) struct Live {
    skel: skel::MainSkel<'static>,
    links: Vec<Link>,
    wake_flags: WakeFlags,
    core: Core,
    nr_cpus: usize,
    hotplug_seen: u64,
    queues_wakeups: bool,
}

/// With what to do where rights are missing.
fn kernel_error(doing: &'static str, error: &libbpf_rs::Error) -> LiveError {
    let hint = match error.kind() {
        ErrorKind::PermissionDenied => "; this takes root (CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN)",
        _ => "",
    };
    LiveError::Kernel {
        doing,
        why: format!("{error:#}"),
        hint,
    }
}

/// The flag that lets the kernel hand a wake-up to its target's list, as it does for its own
/// classes: the waker then waits neither for the target's lock nor for a task that is still
/// switching out. 0 before 6.15, which has no such flag.
fn queued_wakeups(btf: &Btf<'_>) -> u64 {
    let is_it = |name: &OsStr| name == "SCX_OPS_ALLOW_QUEUED_WAKEUP";
    let name = "scx_ops_flags";
    // 64 bits wide only where some other flag needs them
    let value = if let Some(flags) = btf.type_by_name::<types::Enum64<'_>>(name) {
        let flag = flags.iter().find(|flag| flag.name.is_some_and(is_it));
        flag.and_then(|flag| u64::try_from(flag.value).ok())
    } else if let Some(flags) = btf.type_by_name::<types::Enum<'_>>(name) {
        let flag = flags.iter().find(|flag| flag.name.is_some_and(is_it));
        flag.and_then(|flag| u64::try_from(flag.value).ok())
    } else {
        None
    };
    value.unwrap_or(0)
}

/// Is a control group's weight meant for each CPU that it uses? Since 7.3 (`cgroup_mode` concur),
/// unless the kernel was told otherwise while it runs. Before, it was meant for all together.
fn shares_are_per_cpu(btf: &Btf<'_>) -> bool {
    if let Ok(modes) = std::fs::read_to_string("/sys/kernel/debug/sched/cgroup_mode") {
        return modes.contains("(concur)");
    }
    let known = btf.type_by_name::<types::Func<'_>>("calc_concur_shares");
    known.is_some()
}

/// Leaves out what the running kernel does not call: its type of a scheduler's callbacks has no
/// such member. Those of control groups come and go with the kernel's version and configuration.
fn leave_out_missing(open: &mut skel::OpenMainSkel<'_>, btf: Option<&Btf<'_>>) {
    let callbacks = btf.and_then(|btf| btf.type_by_name::<types::Struct<'_>>("sched_ext_ops"));
    let known: Vec<&OsStr> = callbacks
        .iter()
        .flat_map(|callbacks| callbacks.iter().filter_map(|member| member.name))
        .collect();
    let ops = open.struct_ops.wakeplace_ops_mut();
    let programs = &mut open.progs;
    macro_rules! leave_out {
        ($($callback:ident: $program:ident),* $(,)?) => {
            $(if !known.contains(&OsStr::new(stringify!($callback))) {
                ops.$callback = std::ptr::null_mut();
                programs.$program.set_autoload(false);
            })*
        };
    }
    leave_out! {
        cgroup_init: wakeplace_cgroup_init,
        cgroup_exit: wakeplace_cgroup_exit,
        cgroup_move: wakeplace_cgroup_move,
        cgroup_set_weight: wakeplace_cgroup_set_weight,
        cgroup_set_bandwidth: wakeplace_cgroup_set_bandwidth,
        cgroup_set_idle: wakeplace_cgroup_set_idle,
    }
    let groups = known.contains(&OsStr::new("cgroup_init"));
    let tells_idle = known.contains(&OsStr::new("cgroup_set_idle"));
    let watches_idle = groups && !tells_idle;
    programs.wakeplace_group_idle.set_autoload(watches_idle);
    if !groups {
        let numbers = open.maps.cgroup_numbers.set_autocreate(false);
        numbers.expect("nothing is loaded yet");
    }
}

impl Live {
    /// Verifies and loads the kernel side and writes the core's context into it. Nothing is
    /// scheduled yet.
    pub(crate) fn load(
        machine: &Machine,
        policy: &Policy,
        verbose: bool,
    ) -> Result<Self, LiveError> {
        let core = live_core(machine, policy)?;
        let mut builder = skel::MainSkelBuilder::default();
        builder.obj_builder.debug(verbose);
        // The object lives as long as the process: one scheduler per run.
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = builder
            .open(object)
            .map_err(|e| kernel_error("reading the kernel program", &e))?;
        let btf = Btf::from_vmlinux().ok();
        let btf = btf.as_ref();
        let queued_wakeups = btf.map_or(0, queued_wakeups);
        open.struct_ops.wakeplace_ops_mut().flags |= queued_wakeups;
        leave_out_missing(&mut open, btf);
        let skel = open
            .load()
            .map_err(|e| kernel_error("loading the kernel program", &e))?;
        let mut live = Self {
            skel,
            links: Vec::new(),
            wake_flags: WakeFlags::default(),
            core,
            nr_cpus: machine.facts.capacity.len(),
            hotplug_seen: 0,
            queues_wakeups: queued_wakeups != 0,
        };
        live.write_context();
        let bss = bss_mut(&mut live.skel);
        bss.lazy_preemption = u32::from(machine.preempts_lazily);
        if btf.is_some_and(shares_are_per_cpu) {
            bss.cgroups.most_cpus = machine.facts.capacity.len() as u32;
        }
        Ok(live)
    }

    /// The core as it was built for the machine: nothing of it is of what has happened since.
    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    /// Does the kernel hand wake-ups to their targets' lists?
    pub(crate) fn queues_wakeups(&self) -> bool {
        self.queues_wakeups
    }

    /// The kernel side's globals as mapped memory.
    fn bss(&self) -> &skel::types::bss {
        self.skel
            .maps
            .bss_data
            .as_deref()
            .expect("main.bpf.c has globals")
    }

    /// Copies the core's context, built natively, over the kernel side's.
    fn write_context(&mut self) {
        let bss = bss_mut(&mut self.skel);
        let from = self.core.state();
        assert_eq!(
            size_of_val(from),
            size_of_val(&bss.ctx),
            "both builds of the core lay out wp_ctx alike"
        );
        // SAFETY: both are the same plain struct of integers from the same header, of equal size,
        // and do not overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(
                std::ptr::from_ref(from).cast::<u8>(),
                (&raw mut bss.ctx).cast::<u8>(),
                size_of_val(from),
            );
        }
    }

    /// How many instructions the verifier processed for each program that is loaded, the functions
    /// that it calls included. None: the kernel does not tell (before 5.16).
    pub(crate) fn verified_insns(&self) -> Vec<(String, Option<u32>)> {
        let processed = |program: libbpf_rs::Program<'_>| {
            let mut info = libbpf_rs::libbpf_sys::bpf_prog_info::default();
            let mut size = size_of_val(&info) as u32;
            // SAFETY: `info` is live, zeroed and of the size that is passed.
            let ret = unsafe {
                libbpf_rs::libbpf_sys::bpf_prog_get_info_by_fd(
                    program.as_fd().as_raw_fd(),
                    &raw mut info,
                    &raw mut size,
                )
            };
            let known = ret == 0 && info.verified_insns > 0;
            let name = program.name().to_string_lossy().into_owned();
            (name, known.then_some(info.verified_insns))
        };
        let programs = self.skel.object().progs();
        programs
            .filter(libbpf_rs::ProgramImpl::autoload)
            .map(processed)
            .collect()
    }

    /// Takes over from the kernel's own scheduler.
    pub(crate) fn attach(&mut self) -> Result<(), LiveError> {
        let exec = (self.skel.progs.wakeplace_exec.attach())
            .map_err(|e| kernel_error("watching for execs", &e))?;
        let ops =
            self.skel.maps.wakeplace_ops.attach_struct_ops().map_err(
                |e| match scheduler_in_force(Path::new("/")) {
                    Some(name) => LiveError::Busy(name),
                    None => kernel_error("attaching the scheduler", &e),
                },
            )?;
        self.links = vec![ops, exec];
        // A kernel that refuses it (arm64 before 6.4) has cpu.idle as it was at the start.
        let group_idle = &self.skel.progs.wakeplace_group_idle;
        if group_idle.autoload() {
            self.links.extend(group_idle.attach().ok());
        }
        Ok(())
    }

    /// While tasks of programs have one CPU each, the kernel side reads the flags of wake-ups,
    /// which costs all of them something. Not every kernel lets it (arm64 from 6.4 on): then such
    /// a task preempts a waker that is about to sleep, as any other.
    pub(crate) fn follow_bound_tasks(&mut self) {
        // SAFETY: a live u32 that the kernel side changes.
        let bound = unsafe { (&raw const self.bss().bound_tasks).read_volatile() } != 0;
        self.wake_flags = match std::mem::take(&mut self.wake_flags) {
            WakeFlags::Unread if bound => match self.skel.progs.wakeplace_wake_up.attach() {
                Ok(link) => WakeFlags::Read { link, unused: 0 },
                Err(_) => WakeFlags::Refused,
            },
            WakeFlags::Read { unused, .. } if !bound && unused >= UNUSED_LOOKS => WakeFlags::Unread,
            WakeFlags::Read { link, unused } => WakeFlags::Read {
                link,
                unused: if bound { 0 } else { unused + 1 },
            },
            other => other,
        };
    }

    /// Puts another policy into force, at once and without a gap.
    pub(crate) fn apply(&mut self, policy: &Policy) -> Result<(), LiveError> {
        let params = policy.live_params();
        let bss = bss_mut(&mut self.skel);
        assert_eq!(size_of_val(&params), size_of_val(&bss.next_params));
        // SAFETY: both are the same plain struct of integers of equal size; only `apply_params`
        // reads next_params, and it runs below.
        unsafe {
            std::ptr::copy_nonoverlapping(
                std::ptr::from_ref(&params).cast::<u8>(),
                (&raw mut bss.next_params).cast::<u8>(),
                size_of_val(&params),
            );
        }
        self.skel
            .progs
            .apply_params
            .test_run(ProgramInput::default())
            .map_err(|e| kernel_error("changing the policy", &e))?;
        self.core.state_mut().params = params;
        Ok(())
    }

    /// How it ended; `None` while it runs.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let info = &self.bss().exit_info;
        (info.kind != 0).then(|| Exit {
            kind: info.kind,
            code: info.code,
            reason: text(&info.reason),
            message: text(&info.message),
        })
    }

    /// After CPUs came or went, once: which are online now. Call `rebuild` then. None: none did.
    pub(crate) fn cpus_changed(&mut self) -> Option<Vec<bool>> {
        let count = self.bss().hotplug_count;
        if count == self.hotplug_seen {
            return None;
        }
        self.hotplug_seen = count;
        let cpus = &self.bss().ctx.cpus[..self.nr_cpus];
        Some(cpus.iter().map(|c| c.queue.online != 0).collect())
    }

    /// Replaces the domains after CPUs came or went. Decisions go on meanwhile: what they read may
    /// mix both, which the core masks and the glue checks (`usable`).
    pub(crate) fn rebuild(&mut self, machine: &Machine, policy: &Policy) -> Result<(), LiveError> {
        let fresh = live_core(machine, policy)?;
        let bss = bss_mut(&mut self.skel);
        // SAFETY: the mapped context is the same struct of integers (checked by write_context).
        // The kernel side may read and write it meanwhile: only plain integers are stored, none is
        // read back or used as an index here, and the core takes any value of them.
        let ctx = unsafe { &mut *(&raw mut bss.ctx).cast::<wakeplace_policy_sys::sys::wp_ctx>() };
        fresh.copy_topology(ctx);
        self.core = fresh;
        Ok(())
    }

    /// All counters now, as of one time; a CPU may write meanwhile.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let bss = self.bss();
        let cpus = bss.stats[..self.nr_cpus].iter().map(|s| CpuCounters {
            reason: s.reason,
            placed: s.placed,
            wakeups: s.wakeups,
            forks: s.forks,
            execs: s.execs,
            direct: s.direct,
            refused: s.refused,
            pulled: s.pulled,
            pushed: s.pushed,
            preempted: s.preempted,
            switches: s.switches,
            run_ns: s.run_ns,
            energy_nj: s.energy_nj,
            latency: Box::new(s.latency),
            duration: Box::new(s.duration),
        });
        Snapshot {
            at_ns: monotonic_ns(),
            cpus: cpus.collect(),
            overutilized: bss.ctx.overutilized != 0,
            energy_active: bss.ctx.energy_active != 0,
        }
    }

    /// Gives the machine back. Returns how it ended, once the kernel has said so.
    pub(crate) fn detach(mut self) -> Option<Exit> {
        self.links.clear();
        self.wake_flags = WakeFlags::Unread;
        for _ in 0..1000 {
            if let Some(exit) = self.exit() {
                return Some(exit);
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        None
    }
}

/// The kernel side's globals, to write. Of the skeleton, so that the core can be read meanwhile.
fn bss_mut<'a>(skel: &'a mut skel::MainSkel<'static>) -> &'a mut skel::types::bss {
    let bss = skel.maps.bss_data.as_deref_mut();
    bss.expect("main.bpf.c has globals")
}

/// The core's context for this machine, before the first event.
fn live_core(machine: &Machine, policy: &Policy) -> Result<Core, LiveError> {
    let mut core = Core::new(&machine.facts, &policy.live_params())?;
    let state = core.state_mut();
    state.freq_external = 1;
    state.freq_schedutil = u32::from(machine.schedutil);
    for cpu in &mut state.cpus[..machine.facts.capacity.len()] {
        cpu.queue.curr_idle = 0; // the kernel tells, from the first idle on
    }
    core.restart();
    Ok(core)
}

/// Bytes up to the first 0 as text.
fn text(bytes: &[i8]) -> String {
    let bytes: Vec<u8> = bytes
        .iter()
        .map(|b| b.cast_unsigned())
        .take_while(|b| *b != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The clock of `Snapshot::at_ns`.
pub(crate) fn monotonic_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the struct is live; CLOCK_MONOTONIC always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}
