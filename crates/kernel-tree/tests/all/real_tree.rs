//! A kernel of the package archive, from its version to CPUs that are up.
//!
//! It is fetched into the cache of whoever runs the tests, once, and built there by the program's
//! own shim: the test of a minute where nothing is there yet.
//! Page: docs/guide/kernel.md.
//!
//! What must stay: a warning of the kernel is a failure; where nothing can be fetched that is said
//! (`skipped`). Free: which version is fetched.
//! Tests by part: `a_kernel_of_the_archive_boots` (crates/kernel-tree/src/kernel and all before
//! it).
//! Helpers, and who fails with them: `machine`, `skipped` (`a_kernel_of_the_archive_boots`). The
//! functions of its two `impl`s are called by the build (`step`, `remark`) and by the kernel.

use std::io::Write as _;
use wakeplace_kernel_tree::kernel::{
    Decision, Domain, Fault, Host, IdleState, Machine, MachineCpu, Opp, abi,
};
use wakeplace_kernel_tree::{
    Arch, Class, Kernel, Like, Request, Shim, Spec, TreeError, Watch, build, cache,
};

/// The version that is tried: any that the shim knows will do.
const VERSION: &str = "7.3.4";

struct Loud;

impl Watch for Loud {
    fn step(&self, what: &str) {
        let _ = writeln!(std::io::stderr(), "{what}");
    }
    fn remark(&self, what: &str) {
        self.step(what);
    }
}

/// What the kernel complained about.
#[derive(Debug, Default)]
struct Complaints(Vec<String>);

impl Host for Complaints {
    fn log(&mut self, level: u32, text: &str) {
        // KERN_ERR and worse.
        if level <= 3 {
            self.0.push(text.to_owned());
        }
    }
    fn warned(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }
    fn fault(&mut self, kind: Fault, text: &str) {
        self.0.push(format!("{kind:?}: {text}"));
    }
    fn frequency(&mut self, _: u32, _: u32) {}
    fn placed(&mut self, _: &Decision<'_>) {}
    fn done(&mut self, _: u64, _: i64) {}
}

/// Four small CPUs and four big ones.
fn machine() -> Machine {
    let cpu = |number: u32| MachineCpu {
        capacity: if number < 4 { 462 } else { 1024 },
        core: number,
        cluster: number / 4,
        llc: number / 4,
        package: 0,
        node: 0,
        domain: number / 4,
        idle: 0,
    };
    let domain = |opps: [(u32, u32); 2]| Domain {
        opps: opps.map(|(khz, uw)| Opp { khz, uw }).to_vec(),
        fast_switch: true,
        energy_model: true,
        transition_latency_ns: 50_000,
        ..Domain::default()
    };
    let wfi = IdleState {
        name: "WFI".to_owned(),
        exit_latency_ns: 1_000,
        residency_ns: 1_000,
        polling: false,
    };
    Machine {
        cpus: (0..8).map(cpu).collect(),
        domains: vec![
            domain([(533_000, 30_000), (1_844_000, 250_000)]),
            domain([(903_000, 250_000), (2_362_000, 1_600_000)]),
        ],
        idle: vec![vec![wfi]],
        nodes: 1,
        seed: 1,
        ..Machine::default()
    }
}

#[test]
fn a_kernel_of_the_archive_boots() {
    let request = Request {
        spec: Spec::parse(VERSION).expect("a version"),
        like: Like::new(Arch::Arm64, 8),
        config: None,
    };
    let shim = Shim::of_user().expect("a shim");
    let cache = match cache() {
        Ok(cache) => cache,
        Err(error) => return skipped(&error),
    };
    let built = match build(&cache, &shim, &request, &Loud) {
        Ok(built) => built,
        Err(error) if error.class() == Class::Environment => return skipped(&error),
        Err(error) => panic!("{error}"),
    };
    let kernel = match Kernel::boot(&built.object, &machine(), Complaints::default()) {
        Ok(kernel) => kernel,
        Err((error, complaints)) => panic!("{error}: {complaints:?}"),
    };
    assert!(
        kernel.release().starts_with(VERSION),
        "{}",
        kernel.release()
    );
    let idle = |cpu: &&abi::Cpu| cpu.state == abi::state::WAIT && cpu.running == abi::IDLE;
    assert_eq!(kernel.cpus().iter().filter(idle).count(), 8);
    // As the device tree of such a board has it, and as the kernel has scaled it.
    let capacities: Vec<u32> = (0..8)
        .filter_map(|cpu| kernel.cpu_state(cpu))
        .map(|state| state.capacity_orig)
        .collect();
    assert_eq!(capacities, [462, 462, 462, 462, 1024, 1024, 1024, 1024]);
    assert_eq!(kernel.warnings(), 0);
    let complaints = kernel.into_host().0;
    assert!(complaints.is_empty(), "{complaints:?}");
}

/// Without network or compiler it cannot be tried, which nobody should overlook.
fn skipped(error: &TreeError) {
    let what = format!("**** SKIPPED: no kernel {VERSION} can be built here: {error}");
    writeln!(std::io::stderr(), "{what}").expect("stderr");
    let required = std::env::var_os("WAKEPLACE_REQUIRE_KERNEL").is_some();
    assert!(!required, "{what}");
}
