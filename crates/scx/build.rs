// SPDX-License-Identifier: GPL-2.0-only
//! Compiles the kernel side: the policy core and the glue, in one object, and its Rust skeleton;
//! and the objects of the parity test, the core alone, as a whole and as the live scheduler has it.
//!
//! What must stay: the same core and flags for all three objects (docs/guide/live.md), and no path
//! of this machine in them. Free: the order of flags, and where clang is looked for.
//!
//! Tests by part: crates/scx/tests/parity/loaded.rs (`main`: the object that is loaded is the one
//! that is compared).
//!
//! Callers: cargo, before src/main.rs is compiled.
use libbpf_cargo::SkeletonBuilder;
use std::env;
use std::path::{Path, PathBuf};

/// Object, its source, what is defined beside. `main.bpf.c` defines WP_LIVE itself.
const OBJECTS: [(&str, &str, &[&str]); 3] = [
    ("main", "main.bpf.c", &[]),
    ("parity", "parity.bpf.c", &[]),
    ("parity_live", "parity.bpf.c", &["-DWP_LIVE"]),
];

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let policy = here.join("policy");
    let bpf = here.join("src/bpf");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rerun-if-changed={}", policy.display());
    println!("cargo::rerun-if-changed={}", bpf.display());
    println!("cargo::rerun-if-env-changed=BPF_CLANG");
    let clang = env::var("BPF_CLANG").unwrap_or_else(|_| "clang-19".to_owned());
    // The parity test runs on the machine that builds it: a build for another has no use for its
    // objects, which take the most time.
    let count = match env::var_os("HOST") == env::var_os("TARGET") {
        true => OBJECTS.len(),
        false => 1,
    };
    for &(object, source, defines) in &OBJECTS[..count] {
        // Line information names files below this folder, wherever it is: the same bytes.
        let cut = format!("-ffile-prefix-map={}=.", here.display());
        let flags = ["-mcpu=v3", "-O2", "-Wall", "-Werror", &cut];
        let includes = [policy.join("include"), policy.clone(), bpf.clone()];
        let includes = includes.iter().map(|path| format!("-I{}", path.display()));
        let args = flags.iter().chain(defines).map(|flag| (*flag).to_owned());
        SkeletonBuilder::new()
            .source(bpf.join(source))
            .obj(out.join(format!("{object}.bpf.o")))
            .clang(&clang)
            .clang_args(args.chain(includes))
            .build_and_generate(out.join(format!("{object}.skel.rs")))
            .unwrap_or_else(|e| panic!("{source} as {object}.bpf.o (clang: {clang}): {e:#}"));
    }
}
