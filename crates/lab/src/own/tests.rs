//! Images of the user's, made by hand.
//! Page: docs/guide/lab.md, "A kernel of your own".
//!
//! What must stay: what is missing is one sentence before anything is booted. Free: names of files,
//! and what else an image holds.
//! Tests by part (in crates/lab/src): own.rs: `a_version_is_no_path` (`is_version`),
//! `what_is_no_image_of_the_guest_is_refused` (`open`), `what_the_configuration_lacks_is_named`
//! (`require`, `lacks`), `a_module_that_is_there_will_do` (`modules`),
//! `a_scheduler_needs_more_than_the_kernels_own` (`require`),
//! `a_configuration_beside_the_image_is_read` (`config_beside`).
//! Helpers, and who fails with them: `image` (most tests, `a_version_is_no_path` among them); `own`
//! (`what_the_configuration_lacks_is_named`, `a_module_that_is_there_will_do`,
//! `a_scheduler_needs_more_than_the_kernels_own`); `lack` (`what_the_configuration_lacks_is_named`,
//! `a_scheduler_needs_more_than_the_kernels_own`).

use super::*;
use std::io::Write as _;

const CONFIG: &str = "CONFIG_SERIAL_AMBA_PL011_CONSOLE=y\nCONFIG_BLK_DEV_INITRD=y\n\
    CONFIG_BINFMT_ELF=y\nCONFIG_BINFMT_SCRIPT=y\nCONFIG_PROC_FS=y\nCONFIG_SYSFS=y\n\
    CONFIG_DEVTMPFS=y\nCONFIG_PCI=y\nCONFIG_PCI_HOST_GENERIC=y\nCONFIG_VIRTIO_PCI=y\n\
    CONFIG_VIRTIO_CONSOLE=y\nCONFIG_SMP=y\n";

/// An arm64 image that says its release and has a configuration.
fn image(config: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(config.as_bytes()).expect("packed");
    let mut image = vec![0; 64];
    image[56..60].copy_from_slice(b"ARM\x64");
    image.extend(b"Linux version 7.3.4-own (me@here) #1\0IKCFG_ST");
    image.extend(encoder.finish().expect("packed"));
    image
}

/// The image in a file of a folder that is kept.
fn own(config: &str) -> (tempfile::TempDir, Own) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("Image");
    fs::write(&file, image(config)).expect("written");
    let own = Own::open(&file, None, Arch::Arm64).expect("an image");
    (folder, own)
}

fn lack(config: &str, scheduler: &str) -> Option<String> {
    let machine = Machine::load("generic", Arch::Arm64, None).expect("plain");
    let (_folder, own) = own(config);
    let scheduler = scheduler.parse().expect("a scheduler");
    let error = own.require(&machine, &scheduler).err()?;
    assert_eq!(error.class(), crate::Class::Input);
    Some(error.to_string())
}

#[test]
fn a_version_is_no_path() {
    let of = |text: &str| Choice::of(text, None, Arch::X86_64);
    assert_eq!(
        of("7.3.4").expect("one"),
        Choice::Version("7.3.4".to_owned())
    );
    let with = Choice::of("7.3.4", Some(Path::new("m")), Arch::X86_64).expect_err("refused");
    assert!(with.to_string().contains("brings its own"), "{with}");
    let gone = of("no/such/Image").expect_err("refused").to_string();
    assert!(
        gone.starts_with("kernel no/such/Image: no such file; expected an image, or a version"),
        "{gone}"
    );
}

#[test]
fn what_is_no_image_of_the_guest_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path();
    let boot = tree.join("arch/arm64/boot");
    fs::create_dir_all(&boot).expect("made");
    fs::write(boot.join("Image"), image(CONFIG)).expect("written");
    fs::write(tree.join("vmlinux"), b"\x7fELF").expect("written");
    let refused = |file: &Path, arch| {
        let error = Own::open(file, None, arch).expect_err("refused");
        assert_eq!(error.class(), crate::Class::Input);
        error.to_string()
    };
    let other = refused(&boot.join("Image"), Arch::X86_64);
    assert!(
        other.contains("it is for arm64, the guest is x86_64"),
        "{other}"
    );
    let near = refused(tree, Arch::Arm64);
    assert!(
        near.contains("did you mean `") && near.contains("/arch/arm64/boot/Image"),
        "{near}"
    );
    let elf = refused(&tree.join("vmlinux"), Arch::X86_64);
    assert!(
        elf.contains("an ELF file") && elf.contains("arch/x86/boot/bzImage"),
        "{elf}"
    );
}

/// Goal: what a guest needs and the configuration has off, or as a module that is not there, is one
/// sentence before anything is booted; what is not known stops nothing.
#[test]
fn what_the_configuration_lacks_is_named() {
    assert_eq!(lack(CONFIG, "kernel"), None);
    assert_eq!(lack("", "kernel"), None);
    let without = CONFIG.replace("CONFIG_DEVTMPFS=y\n", "");
    let why = lack(&without, "kernel").expect("refused");
    assert!(
        why.ends_with("Image: a guest needs CONFIG_DEVTMPFS, which is off (devices)"),
        "{why}"
    );
    let module = CONFIG.replace("VIRTIO_CONSOLE=y", "VIRTIO_CONSOLE=m");
    let why = lack(&module, "kernel").expect("refused");
    assert!(
        why.contains("the module virtio_console of CONFIG_VIRTIO_CONSOLE=m")
            && why.contains("--modules"),
        "{why}"
    );
    let why = lack(&CONFIG.replace("CONSOLE=y", "CONSOLE=m"), "kernel").expect("refused");
    assert!(
        why.contains("CONFIG_SERIAL_AMBA_PL011_CONSOLE=y, which is a module"),
        "{why}"
    );
}

/// Goal: a folder of modules stands in for what is a module, and for nothing that is not in it.
#[test]
fn a_module_that_is_there_will_do() {
    let (folder, _) = own(&CONFIG.replace("VIRTIO_CONSOLE=y", "VIRTIO_CONSOLE=m"));
    let machine = Machine::load("generic", Arch::Arm64, None).expect("plain");
    let judged = |module: &str| {
        let modules = folder.path().join(module);
        fs::create_dir(&modules).expect("made");
        fs::write(modules.join(format!("{module}.ko")), "").expect("written");
        let image = folder.path().join("Image");
        let own = Own::open(&image, Some(&modules), Arch::Arm64).expect("an image");
        let judged = own.require(&machine, &Scheduler::Kernel);
        judged.map_err(|error| error.to_string())
    };
    assert_eq!(judged("virtio-console"), Ok(()));
    let why = judged("virtio_net").expect_err("refused");
    assert!(
        why.contains("a guest needs the module virtio_console, which is not in"),
        "{why}"
    );
}

#[test]
fn a_scheduler_needs_more_than_the_kernels_own() {
    let why = lack(CONFIG, "wakeplace").expect("refused");
    for option in [
        "SCHED_CLASS_EXT",
        "BPF_SYSCALL",
        "BPF_JIT",
        "DEBUG_INFO_BTF",
    ] {
        assert!(why.contains(option), "{why}");
    }
    // Nothing is known of its configuration, and it has no types.
    let why = lack("", "wakeplace").expect("refused");
    assert!(
        why.contains("it cannot load wakeplace: no type information"),
        "{why}"
    );
}

#[test]
fn a_configuration_beside_the_image_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("vmlinuz-7.3.4-own");
    fs::write(&file, image("")).expect("written");
    let config = |file: &Path| Own::open(file, None, Arch::Arm64).expect("an image").config;
    assert_eq!(config(&file).as_deref(), Some(""));
    let mut bare = image("");
    bare.truncate(64 + b"Linux version 7.3.4-own (me@here) #1\0".len());
    fs::write(&file, &bare).expect("written");
    assert_eq!(config(&file), None);
    fs::write(folder.path().join("config-7.3.4-own"), CONFIG).expect("written");
    assert_eq!(config(&file).as_deref(), Some(CONFIG));
}
