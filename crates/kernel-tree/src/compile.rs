//! One call of the shim's build script, and what its end means (docs/guide/kernel.md, "What it
//! needs").
//!
//! What must stay: exit codes of build.sh and what they mean; the lock is the script's, too. Free:
//! words of progress, and how the script is waited for.
//!
//! Tests by part: `each_end_of_the_script_is_an_error_of_its_own` (`run`, `error`),
//! `the_script_has_the_lock_and_no_input` (`run`, `wait`). `count_objects` serves the words of
//! progress.
//!
//! Callers: builds.rs. The script is crates/kernel-shim's build.sh.
//!
//! Tests: below

use crate::{TreeError, messages, tools};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use wakeplace_archive::{ArchiveError, Lock, Watch};

/// In the folder of objects: what the tree had when they were built.
pub(crate) const CONTENT: &str = "content";
/// And what it had when it was last looked at.
pub(crate) const SEEN: &str = "seen";
/// The object that is built.
pub(crate) const OBJECT: &str = "kernel.so";
/// How often it is said how far a build is.
const SAY_EVERY: Duration = Duration::from_secs(5);

/// What is built of what.
pub(crate) struct Build<'a> {
    pub(crate) script: &'a Path,
    /// The tree, by which files are named.
    pub(crate) tree: &'a Path,
    /// What is read: the tree, or links to it.
    pub(crate) source: &'a Path,
    pub(crate) out: &'a Path,
    pub(crate) fragments: &'a [PathBuf],
    /// Accesses to memory call hooks.
    pub(crate) coherent: bool,
    /// For people: the tree.
    pub(crate) origin: &'a str,
    /// For people: what is built.
    pub(crate) what: &'a str,
}

impl Build<'_> {
    /// Builds; returns where the object is.
    pub(crate) fn run(&self, lock: &Lock, watch: &dyn Watch) -> Result<PathBuf, TreeError> {
        watch.step(&format!("build {}", self.what));
        let failed = |why: String| ArchiveError::Program {
            program: "bash".to_owned(),
            why,
        };
        let mut command = Command::new("bash");
        command
            .arg(self.script)
            .args([self.source, self.out])
            .args(self.fragments)
            .env("LC_ALL", "C")
            // What make of the caller's own is about is none of this one's business.
            .env_remove("MAKEFLAGS")
            .env_remove("KBUILD_OUTPUT")
            .env("WPSIM_COHERENT", if self.coherent { "1" } else { "" })
            .stdin(lock.stdin().map_err(TreeError::reading("the lock"))?);
        let output = self.wait(command, watch);
        let output = output.map_err(|why| failed(format!("cannot be started: {why}")))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            let object = self.out.join(OBJECT);
            return match object.is_file() {
                true => Ok(object),
                false => Err(TreeError::Object {
                    path: object,
                    why: "the build left nothing there".to_owned(),
                }),
            };
        }
        Err(match output.status.code() {
            Some(code @ 2..=5) => self.error(code, &said),
            _ => failed(format!(
                "{} failed ({}): {}",
                self.script.display(),
                output.status,
                wakeplace_archive::program::tail(&said, 1_500)
            ))
            .into(),
        })
    }

    /// Waits, and says how many objects there are.
    fn wait(&self, mut command: Command, watch: &dyn Watch) -> std::io::Result<Output> {
        std::thread::scope(|threads| {
            let (sender, ended) = mpsc::channel();
            threads.spawn(move || sender.send(command.output()));
            loop {
                match ended.recv_timeout(SAY_EVERY) {
                    Ok(output) => return output,
                    Err(RecvTimeoutError::Timeout) => {
                        let objects = count_objects(&self.out.join("obj"));
                        watch.step(&format!("build {}: {objects} objects", self.what));
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(std::io::ErrorKind::Interrupted.into());
                    }
                }
            }
        })
    }

    /// By the script's exit code.
    fn error(&self, code: i32, said: &str) -> TreeError {
        // The script stops at the first tool that is missing, and takes any compiler.
        if let (3 | 4, Err(error)) = (code, tools::require()) {
            return error;
        }
        let overlay = self.out.join("tree");
        let objects = self.out.join("obj");
        let roots = [overlay.as_path(), self.source, self.tree, &objects];
        let tree = self.origin.to_owned();
        let sentence = messages::last_sentence(said, &[]);
        match code {
            3 => TreeError::Tools {
                missing: format!("{} is", sentence.trim_end_matches(" is not installed")),
            },
            4 => TreeError::Compiler {
                tree,
                what: sentence,
                messages: messages::of_compiler(said, &roots),
            },
            5 => TreeError::Symbols {
                tree,
                symbols: messages::sentences(said).join("; "),
            },
            _ => {
                let said = messages::of_compiler(said, &roots);
                let colon = if said.is_empty() { "" } else { ":\n" };
                TreeError::Configuration(format!("{tree}: {sentence}{colon}{said}"))
            }
        }
    }
}

/// Object files below a folder: how far the build is.
fn count_objects(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let count = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => count_objects(&entry.path()),
        Ok(kind) if kind.is_file() => {
            usize::from(entry.path().extension().is_some_and(|e| e == "o"))
        }
        _ => 0,
    });
    count.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use wakeplace_archive::Cache;

    struct Silent;

    impl Watch for Silent {
        fn step(&self, _: &str) {}
        fn remark(&self, _: &str) {}
    }

    /// Runs a script in the build script's place.
    fn run(script: &str) -> Result<PathBuf, TreeError> {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("build.sh"), script).expect("written");
        let cache = Cache::at(at("cache")).expect("a cache");
        let lock = cache.lock(|| {}).expect("locked");
        let build = Build {
            script: &at("build.sh"),
            tree: Path::new("/linux"),
            source: Path::new("/linux"),
            out: &at("out"),
            fragments: &[at("a.config")],
            coherent: false,
            origin: "/linux",
            what: "x",
        };
        build.run(&lock, &Silent)
    }

    #[test]
    fn each_end_of_the_script_is_an_error_of_its_own() {
        let script = |code: u32, said: &str| format!("echo '{said}' >&2; exit {code}");
        let own = |text: &str| format!("kernel-shim: {text}");
        let said = |code, text: &str| {
            let error = run(&script(code, text)).expect_err("fails");
            (error.to_string(), error.class())
        };
        use crate::Class::{Environment, Input};
        let (text, class) = said(2, &own("the configuration lacks CONFIG_SMP"));
        assert_eq!(text, "/linux: the configuration lacks CONFIG_SMP");
        assert_eq!(class, Input);
        let (text, class) = said(3, &own("flex is not installed"));
        assert!(
            text.contains("not here, which a kernel is built with"),
            "{text}"
        );
        assert_eq!(class, Environment);
        let (text, class) = said(
            4,
            &format!(
                "/linux/kernel/sched/fair.c:3:1: error: no\n{}",
                own("it does not compile")
            ),
        );
        assert_eq!(
            text,
            "/linux: it does not compile:\nkernel/sched/fair.c:3:1: error: no"
        );
        assert_eq!(class, Input);
        let (text, class) = said(5, &own("new_thing is defined nowhere"));
        assert!(text.contains("new_thing is defined nowhere"), "{text}");
        assert!(text.contains("docs/guide/kernel.md"), "{text}");
        assert_eq!(class, Input);
        let (text, class) = said(77, "odd");
        assert!(text.ends_with("odd"), "{text}");
        assert_eq!(class, Environment);
    }

    #[test]
    fn the_script_has_the_lock_and_no_input() {
        let object =
            run("read line && exit 1; [ -n \"$3\" ] || exit 1; mkdir $2; echo x >$2/kernel.so")
                .expect("built");
        assert!(object.ends_with("out/kernel.so"));
    }
}
