//! What the end of a console says of a kernel that cannot have a guest (docs/guide/lab.md).
//!
//! What must stay: words of kernels; an unknown console gives None, never a guess. Free: further
//! words of kernels.
//!
//! Tests by part: `what_is_lacking_is_read_from_the_console` (`lacks`), `a_panic_says_why`
//! (`panic`), guest/tests.rs::`a_kernel_that_lacks_what_a_guest_needs_is_named` (both, by way of a
//! start).
//!
//! Callers: guest.rs.
//!
//! Tests: below

/// Begins a line of the guest's first process.
const LACKS: &str = "lab: the kernel lacks ";
/// Words of the kernel, and what it lacks that says them: without an initramfs it looks for a disk
/// (init/do_mounts.c), without binfmt_script the first process is no program to it (init/main.c,
/// ENOEXEC).
const WORDS: [(&str, &str); 3] = [
    ("VFS: Unable to mount root fs", "CONFIG_BLK_DEV_INITRD"),
    ("Failed to execute /init (error -8)", "CONFIG_BINFMT_SCRIPT"),
    (
        "check access for rdinit=/init failed",
        "CONFIG_BLK_DEV_INITRD",
    ),
];

/// Which option of its configuration the kernel lacks; none if nobody said so.
pub(crate) fn lacks(console: &str) -> Option<&str> {
    let of_guest = console.lines().find_map(|line| {
        let (_, option) = line.split_once(LACKS)?;
        Some(option.trim())
    });
    let of_kernel = WORDS.iter().find(|(words, _)| console.contains(words));
    of_guest.or(of_kernel.map(|(_, option)| *option))
}

/// Why it panicked, in its own words. None: it did not.
pub(crate) fn panic(console: &str) -> Option<&str> {
    const PANIC: &str = "Kernel panic - not syncing: ";
    let (_, why) = console.rsplit_once(PANIC)?;
    why.lines().next().map(str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_read_from_the_console() {
        for (console, option) in [
            (
                "lab: the kernel lacks CONFIG_DEVTMPFS\r\nx",
                "CONFIG_DEVTMPFS",
            ),
            (
                "[ 1.0] VFS: Unable to mount root fs on unknown-block(0,0)",
                "CONFIG_BLK_DEV_INITRD",
            ),
            (
                "[ 1.0] Failed to execute /init (error -8)\n[ 1.0] Kernel panic",
                "CONFIG_BINFMT_SCRIPT",
            ),
        ] {
            assert_eq!(lacks(console), Some(option));
        }
        assert_eq!(lacks("lab: guest is up, 1 s"), None);
        assert_eq!(lacks("Failed to execute /init (error -2)"), None);
    }

    #[test]
    fn a_panic_says_why() {
        let console = "[ 2.1] Kernel panic - not syncing: Attempted to kill init!\r\n[ 2.1] CPU: 0";
        assert_eq!(panic(console), Some("Attempted to kill init!"));
        assert_eq!(panic("all is well"), None);
    }
}
