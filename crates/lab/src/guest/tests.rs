//! How a guest is started, with scripts in the emulator's place.
//! Page: docs/guide/lab.md.
//!
//! What must stay: who is started once more and who is not; time limits are short here and only
//! their order counts. Free: what else the scripts print.
//! Tests by part (in crates/lab/src): guest.rs: `commas_in_paths_are_doubled_where_they_separate`
//! (`file_argument`), `a_clock_of_instructions_may_have_short_turns` (`count_instructions`),
//! `arm64_kernels_keep_one_set_of_page_tables` (`kernel_command_line`),
//! `a_quarter_of_the_time_is_for_the_start_within_bounds` (`Limits::of`),
//! `a_guest_that_has_sent_its_results_was_up` (`is_up`, `results`),
//! `a_guest_that_hangs_at_work_is_ended_and_not_started_again` (`console_tail`),
//! `a_guest_that_stands_still_before_it_is_up_is_started_once_more` (`try_boot`),
//! `an_emulator_that_fails_is_not_started_again`,
//! `a_guest_that_dies_before_it_is_up_is_started_once_more_and_no_more`,
//! `an_emulator_that_dies_of_a_signal_before_the_guest_is_up_is_started_once_more` (`boot`),
//! `a_kernel_that_lacks_what_a_guest_needs_is_named` (console.rs).
//! Helpers, and who fails with them: `boot`, `boot_and` (most tests,
//! `a_guest_that_stands_still_before_it_is_up_is_started_once_more` among them); `assert_timed_out`
//! (`a_guest_that_stands_still_twice_is_ended_in_the_end`,
//! `a_guest_that_hangs_at_work_is_ended_and_not_started_again`).

use super::*;
use crate::bootable::Origin;
use std::cell::RefCell;

#[derive(Default)]
struct Heard(RefCell<Vec<String>>);

impl Watch for Heard {
    fn step(&self, _: &str) {}
    fn remark(&self, what: &str) {
        self.0.borrow_mut().push(what.to_owned());
    }
}

/// Starts a script instead of the emulator: it finds its console's file in `$console`, and whether
/// it was started before in `$again`. Returns how that ended, and what was remarked.
fn boot(script: &str) -> (Result<(), LabError>, Vec<String>) {
    boot_and(script, |_| ())
}

/// Starts a guest as `boot` does, and lets `look` at the guest's folder after it.
fn boot_and(script: &str, look: impl Fn(&Path)) -> (Result<(), LabError>, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("qemu.sh");
    let text = format!(
        "for word; do case \"$word\" in file:*) console=${{word#file:}} ;; esac; done\n\
         again=; [ ! -e \"$0.tried\" ] || again=1; : >\"$0.tried\"\n{script}\n"
    );
    fs::write(&path, text).expect("written");
    let qemu = Qemu::script(&path);
    let machine = Machine::load("generic", Arch::X86_64, None).expect("a machine");
    let kernel = Bootable {
        version: "7.3.4".to_owned(),
        origin: Origin::File {
            file: PathBuf::from("my/bzImage"),
            version: String::new(),
            sha256: String::new(),
        },
        image: PathBuf::new(),
        modules: Vec::new(),
        config: None,
    };
    let guest = Guest {
        arch: Arch::X86_64,
        machine: &machine,
        qemu: &qemu,
        kernel: &kernel,
        icount: None,
        memory_mib: 64,
        folder: folder.path(),
    };
    let limits = Limits {
        start: Duration::from_secs(2),
        whole: Duration::from_secs(6),
    };
    let heard = Heard::default();
    let ended = guest.boot(limits, &heard);
    let kept = folder.path().join("kept");
    guest.keep(&folder.path().join("out"), &kept).expect("kept");
    look(&kept);
    (ended, heard.0.into_inner())
}

/// The second start may take longer than the first: it has only the limit of the whole.
#[test]
fn a_guest_that_stands_still_before_it_is_up_is_started_once_more() {
    let (ended, heard) = boot_and(
        "[ -n \"$again\" ] || { echo starting >\"$console\"; exec sleep 100; }\n\
         sleep 4; echo 'lab: guest is up, 1 s' >\"$console\"",
        |kept| {
            let said = |name| fs::read_to_string(kept.join(name)).expect(name);
            assert_eq!(said("first-console.log"), "starting\n");
            assert_eq!(said("console.log"), "lab: guest is up, 1 s\n");
        },
    );
    ended.expect("the second start");
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert!(
        heard[0].contains("it was not up after 2 s; the last that its console said: \"starting\""),
        "{heard:?}"
    );
}

fn assert_timed_out(ended: Result<(), LabError>) {
    let error = ended.expect_err("no result");
    assert!(
        matches!(error, LabError::Timeout { seconds: 6, .. }),
        "{error}"
    );
}

#[test]
fn a_guest_that_stands_still_twice_is_ended_in_the_end() {
    let (ended, heard) = boot("echo starting >\"$console\"; exec sleep 100");
    assert_timed_out(ended);
    assert_eq!(heard.len(), 1, "{heard:?}");
}

/// The kernel may write into the line that says so.
#[test]
fn a_guest_that_has_sent_its_results_was_up() {
    let (ended, heard) =
        boot("echo 'lab: gu[ 1.2] x is up' >\"$console\"; echo x >\"${0%/*}/out.tar\"");
    ended.expect("an end");
    assert_eq!(heard, [""; 0]);
}

#[test]
fn a_guest_that_dies_before_it_is_up_is_started_once_more_and_no_more() {
    let (ended, heard) = boot("echo panic >\"$console\"");
    let error = ended.expect_err("no result");
    assert!(matches!(error, LabError::NoResult { .. }), "{error}");
    assert!(error.to_string().contains("panic"), "{error}");
    assert_eq!(heard.len(), 1, "{heard:?}");
}

#[test]
fn a_guest_that_hangs_at_work_is_ended_and_not_started_again() {
    let (ended, heard) = boot("echo 'lab: guest is up, 1 s' >\"$console\"; exec sleep 100");
    assert_timed_out(ended);
    assert_eq!(heard, [""; 0]);
}

#[test]
fn an_emulator_that_dies_of_a_signal_before_the_guest_is_up_is_started_once_more() {
    let (ended, heard) = boot("echo assertion >&2; kill -ABRT $$");
    let error = ended.expect_err("no result").to_string();
    assert!(error.contains("assertion"), "{error}");
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert!(heard[0].contains("(signal: 6"), "{heard:?}");
    assert!(heard[0].contains("emulator: \"assertion\""), "{heard:?}");
    let (ended, heard) = boot("echo 'lab: guest is up, 1 s' >\"$console\"; kill -ABRT $$");
    ended.expect_err("no result");
    assert_eq!(heard, [""; 0]);
}

#[test]
fn an_emulator_that_fails_is_not_started_again() {
    let (ended, heard) = boot("echo no such machine >&2; exit 1");
    let error = ended.expect_err("no result").to_string();
    assert!(error.contains("no such machine"), "{error}");
    assert_eq!(heard, [""; 0]);
}

#[test]
fn a_quarter_of_the_time_is_for_the_start_within_bounds() {
    let limits = Limits::of(Duration::from_secs(480));
    assert_eq!(limits.start, Duration::from_secs(120));
    let start = |whole_s| Limits::of(Duration::from_secs(whole_s)).start;
    assert_eq!(start(200), Duration::from_secs(60));
    assert_eq!(start(40), Duration::from_secs(20));
    assert_eq!(start(100_000), Duration::from_secs(300));
}

#[test]
fn commas_in_paths_are_doubled_where_they_separate() {
    let path = Path::new("/a,b/out.tar");
    assert_eq!(file_argument("file:", path), "file:/a,b/out.tar");
    assert_eq!(file_argument("dumpdtb=", path), "dumpdtb=/a,,b/out.tar");
}

/// Goal: turns are shortened where that is asked for, and nowhere else.
#[test]
fn a_clock_of_instructions_may_have_short_turns() {
    let args = |round_us| {
        let mut command = Command::new("emulator");
        count_instructions(Icount { ns: 16, round_us }, &mut command);
        let args = command.get_args().map(|arg| arg.to_string_lossy());
        args.collect::<Vec<_>>().join(" ")
    };
    let whole = "-icount shift=4,sleep=off -rtc clock=vm";
    assert_eq!(args(None), whole);
    let short = args(Some(50));
    assert!(short.starts_with(whole), "{short}");
    assert!(short.contains("-netdev hubport,id=unused"), "{short}");
    assert!(
        short.contains("filter-buffer,id=turns,netdev=unused") && short.ends_with("interval=50"),
        "{short}"
    );
}

/// Goal: an arm64 kernel has no page tables of its own, and an x86-64 one decides for itself.
#[test]
fn arm64_kernels_keep_one_set_of_page_tables() {
    let line = |arch| kernel_command_line(arch, "ttyX");
    assert_eq!(line(Arch::X86_64), "console=ttyX quiet panic=-1");
    assert_eq!(line(Arch::Arm64), "console=ttyX quiet panic=-1 kpti=off");
}

/// Goal: what a kernel lacks is said after one start, as the user's mistake and not as a hang.
#[test]
fn a_kernel_that_lacks_what_a_guest_needs_is_named() {
    let says = |words: &str| format!("echo '{words}' >\"$console\"");
    for (words, option) in [
        ("lab: the kernel lacks CONFIG_DEVTMPFS", "CONFIG_DEVTMPFS"),
        (
            "[ 1.0] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)",
            "CONFIG_BLK_DEV_INITRD",
        ),
    ] {
        let (ended, heard) = boot(&says(words));
        let error = ended.expect_err("no guest");
        assert_eq!((error.class(), heard.len()), (crate::Class::Input, 0));
        let error = error.to_string();
        let begin = format!("kernel my/bzImage: a guest needs {option};");
        assert!(error.starts_with(&begin), "{error}");
    }
    let (ended, heard) = boot(&says(
        "[ 1.0] Kernel panic - not syncing: Attempted to kill init!",
    ));
    let error = ended.expect_err("no guest").to_string();
    assert_eq!(heard.len(), 1);
    assert!(
        error.contains("twice, the kernel panicked: Attempted to kill init!"),
        "{error}"
    );
}
