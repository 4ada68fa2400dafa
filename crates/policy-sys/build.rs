//! Makes the Rust side of the parameters, and compiles the policy core natively: as it is, with its
//! array indices checked, or with sanitizers.
//!
//! What must stay: the C source that compares the parameters (`rust::same_in_c`) is compiled with
//! the core; test builds check indices. Free: flags that change no result.
//!
//! Tests by part: `main` and `parameters` have no test of their own: what they leave out ends the
//! build; crates/policy-sys/tests/all/bounds.rs shows that test builds check indices.
//!
//! Callers: cargo, before src/lib.rs is compiled.
#[path = "build/params.rs"]
mod params;
#[path = "build/rust.rs"]
mod rust;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Every finding ends the program. `bounds-strict`: the last array of a struct, too.
const SANITIZERS: [&str; 4] = [
    "-fsanitize=address,undefined",
    "-fsanitize=bounds-strict",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
];

fn main() {
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("policy");
    println!("cargo::rerun-if-changed={}", policy.display());
    println!("cargo::rustc-check-cfg=cfg(wp_check_bounds)");
    let sanitize = env::var_os("CARGO_FEATURE_SANITIZE").is_some();
    // `cargo xtask mutants` builds the tests with sources of its own; nothing else does.
    println!("cargo::rerun-if-env-changed=WAKEPLACE_POLICY_SOURCES");
    let sources = env::var_os("WAKEPLACE_POLICY_SOURCES").map(PathBuf::from);
    if let Some(sources) = &sources {
        println!("cargo::rerun-if-changed={}", sources.display());
    }
    let written = sources.is_none();
    let sources = sources.unwrap_or_else(|| policy.clone());
    let include = policy.join("include");
    let mut build = cc::Build::new();
    build
        .file(sources.join("policy.c"))
        .file(parameters(&include).unwrap_or_else(|error| panic!("{error}")))
        .include(policy.join("include"))
        .include(&sources)
        .std("gnu11")
        .flag("-ffreestanding")
        .flag("-fno-strict-aliasing")
        // Nobody replaces a function at load time: the core's calls of its own are direct, and
        // inlined where that pays.
        .flag("-fvisibility=hidden")
        .warnings(written)
        .extra_warnings(written)
        .opt_level(3); // in debug builds, too: the core is the same in both but for its checks
    // Release builds mask an index that is too large, as the build for BPF does.
    if sanitize || env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        build.define("WP_CHECK_BOUNDS", None);
        // The messages name policy/..., wherever the repository is.
        build.flag_if_supported(format!("-fmacro-prefix-map={}=policy", policy.display()));
        println!("cargo::rustc-cfg=wp_check_bounds");
    }
    if sanitize {
        build.opt_level(1).debug(true); // lines in the reports
        for flag in SANITIZERS {
            build.flag(flag);
        }
        // gcc's runtimes. In front of libc: AddressSanitizer replaces its functions.
        println!("cargo::rustc-link-lib=dylib=asan");
        println!("cargo::rustc-link-lib=dylib=ubsan");
    }
    if !written {
        // All of its mutations side by side: at level 3 that takes minutes to compile.
        build.opt_level(1).flag("-w").flag("-Wno-int-conversion");
    }
    build.compile("wakeplace_policy");
}

/// Writes the Rust side of the parameters; the C source that compares it with the core's.
fn parameters(include: &Path) -> Result<PathBuf, String> {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let write = |name: &str, text: &str| {
        let path = out.join(name);
        let done = fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()));
        done.map(|()| path)
    };
    let all = params::read(|path| {
        let path = include.join(path);
        fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
    })?;
    write("param_types.rs", &rust::types(&all)?)?;
    write("param_rows.rs", &rust::rows(&all)?)?;
    write("same_params.c", &rust::same_in_c(&all))
}
