//! Compiles the policy core natively.
use std::path::Path;

fn main() {
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy");
    println!("cargo::rerun-if-changed={}", policy.display());
    cc::Build::new()
        .file(policy.join("policy.c"))
        .include(policy.join("include"))
        .include(&policy)
        .std("gnu11")
        .flag("-ffreestanding")
        .flag("-fno-strict-aliasing")
        // Nobody replaces a function at load time: the core's calls of its own are direct, and
        // inlined where that pays.
        .flag("-fvisibility=hidden")
        .warnings(true)
        .extra_warnings(true)
        .opt_level(3) // in debug builds, too: the core is the same in both
        .compile("wakeplace_policy");
}
