// SPDX-License-Identifier: GPL-2.0-only
//! Compiles the kernel side: the policy core and the glue, in one object, and its Rust skeleton.
use libbpf_cargo::SkeletonBuilder;
use std::env;
use std::path::{Path, PathBuf};

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let policy = here.join("../../policy");
    let bpf = here.join("src/bpf");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rerun-if-changed={}", policy.display());
    println!("cargo::rerun-if-changed={}", bpf.display());
    println!("cargo::rerun-if-env-changed=BPF_CLANG");
    let clang = env::var("BPF_CLANG").unwrap_or_else(|_| "clang-19".to_owned());
    for (object, skeleton) in [("main", "main.skel.rs"), ("parity", "parity.skel.rs")] {
        SkeletonBuilder::new()
            .source(bpf.join(format!("{object}.bpf.c")))
            .obj(out.join(format!("{object}.bpf.o")))
            .clang(&clang)
            .clang_args([
                "-mcpu=v3".to_owned(),
                "-O2".to_owned(),
                "-Wall".to_owned(),
                "-Werror".to_owned(),
                format!("-I{}", policy.join("include").display()),
                format!("-I{}", policy.display()),
                format!("-I{}", bpf.display()),
            ])
            .build_and_generate(out.join(skeleton))
            .unwrap_or_else(|e| panic!("{object}.bpf.c (clang: {clang}): {e:#}"));
    }
}
