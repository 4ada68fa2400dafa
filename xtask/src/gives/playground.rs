//! The simulator in browsers: `cargo xtask playground [FILE]` makes the page that is complete, and
//! `cargo xtask playground-test [PROGRAM [FOLDER]]` tries both: the module gives the program's
//! bytes (Node.js), and the page does so in a browser, from a disk and from a static host, whatever
//! it is given. Each prints the path of what it made (docs/guide/playground.md).
//!
//! Rust's library for wasm32 is rustup's where that can be had, else Debian's. WASM_LIBRARY=debian:
//! that one in any case. WASM_PROFILE=dev: built quickly. PLAYGROUND_QUICK=1: that, a few runs, and
//! in the browser no files and no runs without end.
//!
//! What must stay: the page is one file that needs no network; names of the environment. Free: how
//! it is done, and words that no test or script reads. Tests by part: `module`, `compiler`, `page`,
//! `profile`, `run`, `test`, `try_out` have no test of their own: CI runs `playground-test`, which
//! is all of them.
//!
//! Callers: commands.rs (`run`, `test`), checks/list.rs (`try_out`), site.rs (`profile`).
//!
//! Tests: none; it is the test of the playground, which CI and nightly run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::cmd;

use super::debian;
use crate::shop::{Shop, find, run as call, text_of, usage, write};

const TARGET: &str = "wasm32-unknown-unknown";
/// Most memory that a run may have, and what deep recursion may have of it, bytes.
const MEMORY_MAX: u64 = 1 << 30;
const STACK: u64 = 4 << 20;
/// Debian's compiler, its library for wasm32, and what both are linked with.
const COMPILER: [&str; 18] = [
    "rustc",
    "libstd-rust-1.97",
    "libstd-rust-dev",
    "libstd-rust-dev-wasm32",
    "libllvm22",
    "libc6",
    "libgcc-s1",
    "libstdc++6",
    "libbsd0",
    "libedit2",
    "libffi8",
    "liblzma5",
    "libmd0",
    "libtinfo6",
    "libxml2-16",
    "libz3-4",
    "libzstd1",
    "zlib1g",
];
/// Runs the compiler with its own libraries.
const WRAPPER: &str = "\
#!/bin/sh
here=$(dirname \"$(realpath \"$0\")\")/files/usr
lib=$here/lib/x86_64-linux-gnu
exec \"$lib/ld-linux-x86-64.so.2\" --library-path \"$lib\" --argv0 rustc \"$here/bin/rustc\" \\
    --sysroot \"$here\" \"$@\"
";

/// Builds the module.
///
/// # Errors
/// It does not build, or cannot be built here.
pub fn module(shop: &Shop, profile: &str) -> Result<PathBuf> {
    // The core is compiled for the module by clang; gcc has no such target.
    shop.setup(&["clang"])?;
    let place = shop.root.join("target/wasm");
    let (rustc, linker) = compiler(shop, &place)?;
    let mut archivers = ["llvm-ar-19", "llvm-ar"].into_iter();
    let archiver = archivers.find(|name| shop.has(name)).unwrap_or("ar");
    let home =
        text_of("CARGO_HOME").unwrap_or(format!("{}/.cargo", text_of("HOME").unwrap_or_default()));
    let flags = format!(
        "-Clink-arg=--max-memory={MEMORY_MAX} -Clink-arg=-zstack-size={STACK} \
         --remap-path-prefix={}=. --remap-path-prefix={home}=cargo",
        shop.root.display()
    );
    let mut cargo = cmd!(
        shop.sh,
        "cargo build --locked --quiet --profile {profile} --target {TARGET}"
    )
    .arg("--target-dir")
    .arg(place.join("build"))
    .args(["--package", "wakeplace-wasm", "--lib"])
    // The module is compiled, whatever lints the rest.
    .env_remove("RUSTC_WORKSPACE_WRAPPER")
    .env("CC_wasm32_unknown_unknown", "clang-19")
    .env("AR_wasm32_unknown_unknown", archiver)
    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flags);
    if let Some(rustc) = rustc {
        cargo = cargo.env("RUSTC", rustc);
    }
    call(cargo)?;
    let folder = if profile == "dev" { "debug" } else { profile };
    let module = place.join(format!("{profile}.wasm"));
    let built = place
        .join("build")
        .join(TARGET)
        .join(folder)
        .join("wakeplace_wasm.wasm");
    fs::copy(&built, &module).with_context(|| built.display().to_string())?;
    Ok(module)
}

/// The compiler, if it is not this machine's own, and the linker.
fn compiler(shop: &Shop, place: &Path) -> Result<(Option<PathBuf>, PathBuf)> {
    let sysroot = cmd!(shop.sh, "rustc --print sysroot").quiet().read()?;
    let libraries = Path::new(&sysroot).join("lib/rustlib");
    let has = || libraries.join(TARGET).join("lib").is_dir();
    let rustup = || {
        let add = cmd!(shop.sh, "rustup target add {TARGET}").quiet();
        add.ignore_stdout().ignore_stderr().run().is_ok()
    };
    if text_of("WASM_LIBRARY").as_deref() != Some("debian") && (has() || rustup()) {
        return Ok((None, "rust-lld".into()));
    }
    let tree = place.join("debian");
    let wrapper = tree.join("rustc");
    if !wrapper.exists() {
        debian::unpack(shop, "amd64", &["forky"], &COMPILER, &tree.join("files"))?;
        write(&wrapper, WRAPPER)?;
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    }
    // Not that of the packages: the host's own tool chain has one that is sure to run here.
    let version = cmd!(shop.sh, "rustc -vV").quiet().read()?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap_or_default();
    let own = libraries.join(host).join("bin/rust-lld");
    let others = || find("wasm-ld").or_else(|| find("wasm-ld-19"));
    let linker = if own.exists() { Some(own) } else { others() };
    Ok((Some(wrapper), linker.unwrap_or("rust-lld".into())))
}

/// Makes the page, and says where its module is.
///
/// # Errors
/// The module does not build.
pub fn page(shop: &Shop, profile: &str, file: &Path) -> Result<PathBuf> {
    let module = module(shop, profile)?;
    let scratch = shop.scratch()?;
    let packed = scratch.path().join("packed");
    const PACK: &str = "gzip -9n <\"$0\" | base64 -w 0";
    let text = cmd!(shop.sh, "sh -c {PACK} {module}").quiet().read()?;
    write(&packed, text)?;
    let page = cmd!(
        shop.sh,
        "cargo run --locked --quiet --package wakeplace-wasm"
    )
    .args(["--bin", "playground-page", "--"])
    .arg(&packed)
    .arg("site/playground")
    .quiet()
    .output()?;
    write(file, page.stdout)?;
    Ok(module)
}

/// The profile that the module is built in.
#[must_use]
pub fn profile() -> String {
    text_of("WASM_PROFILE").unwrap_or("wasm".into())
}

/// `playground [FILE]`
///
/// # Errors
/// It cannot be made.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let file = match arguments {
        [] => "target/playground/index.html",
        [file] => *file,
        _ => return Err(usage("expected FILE or nothing")),
    };
    page(shop, &profile(), &shop.root.join(file))?;
    println!("{file}");
    Ok(())
}

/// `playground-test [PROGRAM [FOLDER]]`: FOLDER is where pictures go.
///
/// # Errors
/// It does not hold, or something cannot be had here.
pub fn test(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let program = match arguments {
        [] => shop.program()?,
        [program, ..] => shop.root.join(program),
    };
    let quick = text_of("PLAYGROUND_QUICK").is_some();
    try_out(
        shop,
        quick,
        &program,
        arguments.get(1..).unwrap_or_default(),
    )
}

/// Makes module and page and tries them.
///
/// # Errors
/// It does not hold, or something cannot be had here.
pub fn try_out(shop: &Shop, quick: bool, program: &Path, pictures: &[&str]) -> Result<()> {
    ensure!(
        program.exists(),
        "no {}; expected a built program",
        program.display()
    );
    shop.setup(&["node"])?;
    let (how, profile) = if quick {
        (&[][..], "dev".into())
    } else {
        (&["all"][..], profile())
    };
    let page = shop.root.join(format!("target/playground/{profile}.html"));
    let module = self::page(shop, &profile, &page)?;
    call(cmd!(
        shop.sh,
        "node scripts/playground/equal.mjs {module} {program} {how...}"
    ))?;
    // Node.js has tried the module. Without a browser the page is not tried, and that is said.
    drop(shop.setup(&["browser"]));
    call(cmd!(
        shop.sh,
        "node scripts/playground/drive.mjs {page} {program} {pictures...}"
    ))
}
