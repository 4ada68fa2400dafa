//! The whole way with trees of four files and a script in the build script's place: no compiler, no
//! network.
//! Page: docs/guide/kernel.md, "What is kept".
//!
//! What must stay: what is built, and when it is built again, follows from the tree's content
//! alone; a failed build leaves nothing. Free: names and contents of the files, and how the script
//! in the builder's place is written.
//! Tests by part (in crates/kernel-tree/src): builds.rs:
//! `a_tree_is_built_once_and_again_when_it_changes` (`key`, `build`),
//! `kinds_of_machines_options_and_shims_are_built_apart` (`key`),
//! `an_option_that_is_not_taken_is_said` (`say_what_was_not_taken`),
//! `two_that_want_one_tree_build_it_once` (locks),
//! `a_tree_that_changes_while_it_is_built_is_built_again` (`run`),
//! `a_build_that_fails_leaves_nothing_that_is_taken_for_a_kernel`,
//! `a_cache_that_cannot_be_written_is_refused` (errors); content.rs:
//! `what_the_build_does_not_read_changes_nothing`; overlay.rs:
//! `a_tree_in_which_something_was_built_is_read_without_that`; tree.rs:
//! `what_is_no_tree_is_refused` (`open`); git.rs: `a_revision_is_built_beside_the_work_tree`.
//! Helpers, and who fails with them: `cache`, `request`, `build_as`, `build` (most tests,
//! `kinds_of_machines_options_and_shims_are_built_apart` among them); `write` (all tests,
//! `a_tree_is_built_once_and_again_when_it_changes` among them); `calls` (5 tests,
//! `a_tree_is_built_once_and_again_when_it_changes` among them); `all`
//! (`an_option_that_is_not_taken_is_said`, `a_tree_that_changes_while_it_is_built_is_built_again`);
//! `object` (`a_tree_is_built_once_and_again_when_it_changes`,
//! `a_tree_in_which_something_was_built_is_read_without_that`,
//! `a_tree_that_changes_while_it_is_built_is_built_again`,
//! `a_revision_is_built_beside_the_work_tree`); `files`
//! (`a_tree_is_built_once_and_again_when_it_changes`); `git`
//! (`a_revision_is_built_beside_the_work_tree`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;
use wakeplace_kernel_tree::{
    Arch, Built, Cache, Class, Like, Request, Shim, Spec, TreeError, Watch, build, built,
};

/// Remembers what was said.
#[derive(Default)]
struct Said(Mutex<Vec<String>>);

impl Said {
    fn all(&self) -> Vec<String> {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.clone()
    }
}

impl Watch for Said {
    fn step(&self, _: &str) {}
    fn remark(&self, what: &str) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.push(what.to_owned());
    }
}

/// Makes an object of `fair.c`, and a line for each call in a file beside it.
const SCRIPT: &str = r#"
tree=$1 out=$2
mkdir -p "$out/obj"
echo call >>"$out/../calls"
shift 2
cat "$@" >"$out/obj/.config"
cp -L "$tree/kernel/sched/fair.c" "$out/kernel.so"
"#;

/// A tree, a shim and a cache.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Self { folder };
        place.write(
            "tree/Makefile",
            "VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\nEXTRAVERSION =\n",
        );
        for name in ["Kconfig", "kernel/sched/core.c", "kernel/sched/fair.c"] {
            place.write(&format!("tree/{name}"), "first\n");
        }
        place.write("shim/build.sh", script);
        place.write("shim/unpacked", "Makefile\nKconfig\nkernel/\n");
        place.write("shim/config/like-arm64.config", "CONFIG_A=y\n");
        place.write("shim/config/like-x86.config", "CONFIG_B=y\n");
        place.write("shim/config/up-to-64-cpus.config", "CONFIG_C=y\n");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        let folder = path.parent().expect("a folder");
        fs::create_dir_all(folder).expect("made");
        fs::write(path, text).expect("written");
    }

    fn cache(&self) -> Cache {
        Cache::at(self.path("cache")).expect("a cache")
    }

    fn request(&self, more: &str) -> Request {
        let name = format!("{}{more}", self.path("tree").display());
        Request {
            spec: Spec::parse(&name).expect("a name"),
            like: Like::new(Arch::Arm64, 8),
            config: None,
        }
    }

    fn build_as(&self, request: &Request, said: &Said) -> Result<Built, TreeError> {
        let shim = Shim::of_folder(&self.path("shim")).expect("a shim");
        build(&self.cache(), &shim, request, said)
    }

    fn build(&self, more: &str) -> Result<Built, TreeError> {
        self.build_as(&self.request(more), &Said::default())
    }

    fn calls(&self) -> usize {
        let calls = fs::read_to_string(self.path("cache/objects/calls"));
        calls.unwrap_or_default().lines().count()
    }
}

fn object(built: &Built) -> String {
    fs::read_to_string(&built.object).expect("an object")
}

/// All files below a folder with their times and contents.
fn files(folder: &Path) -> Vec<(PathBuf, std::time::SystemTime, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            let time = entry.metadata().and_then(|found| found.modified());
            all.push((
                path.clone(),
                time.expect("a time"),
                fs::read(&path).expect("read"),
            ));
        }
    }
    all.sort();
    all
}

#[test]
fn a_tree_is_built_once_and_again_when_it_changes() {
    let place = Place::new(SCRIPT);
    let before = files(&place.path("tree"));
    let first = place.build("").expect("built");
    assert!(first.fresh && object(&first) == "first\n");
    assert_eq!(
        (first.version.as_str(), first.label.as_str()),
        ("7.3.4", "7.3.4")
    );
    assert_eq!(
        files(&place.path("tree")),
        before,
        "the tree was written to"
    );
    let again = place.build(":name=mine,features=NO_X").expect("found");
    assert!(!again.fresh && again.object == first.object);
    assert_eq!((again.label.as_str(), place.calls()), ("mine", 1));
    place.write("tree/kernel/sched/fair.c", "second\n");
    let second = place.build("").expect("built");
    assert!(second.fresh && object(&second) == "second\n");
    // The first one is still there, under its own key.
    place.write("tree/kernel/sched/fair.c", "first\n");
    assert_eq!(place.build("").expect("found").object, first.object);
    assert_eq!(place.calls(), 2);
    assert_eq!(built(&place.cache()).len(), 2);
}

#[test]
fn what_the_build_does_not_read_changes_nothing() {
    let place = Place::new(SCRIPT);
    place.build("").expect("built");
    place.write("tree/drivers/gpu/x.c", "new\n");
    place.write("tree/kernel/sched/fair.o", "left by a build\n");
    place.build("").expect("found");
    assert_eq!(place.calls(), 1);
}

#[test]
fn kinds_of_machines_options_and_shims_are_built_apart() {
    let place = Place::new(SCRIPT);
    let (mut request, said) = (place.request(""), Said::default());
    let build = |request: &Request| place.build_as(request, &said).expect("built").object;
    let arm64 = build(&request);
    request.like = Like::new(Arch::X86, 8);
    let x86 = build(&request);
    request.like = Like::new(Arch::X86, 65);
    let large = build(&request);
    place.write("my.config", "CONFIG_HZ=1000\n");
    request.config = Some(place.path("my.config"));
    let own = build(&request);
    place.write("my.config", "CONFIG_HZ=250\n");
    let other = build(&request);
    place.write("shim/shim/x.c", "new\n");
    let shim = build(&request);
    let mut all = vec![arm64, x86, large, own, other, shim];
    all.dedup();
    assert_eq!((all.len(), place.calls()), (6, 6));
}

#[test]
fn an_option_that_is_not_taken_is_said() {
    // The tree's configuration does not take what it does not know.
    let place = Place::new(&SCRIPT.replace("cat \"$@\"", "grep -v NONE \"$3\""));
    place.write("my.config", "CONFIG_HZ=1000\nCONFIG_NONE=y\n");
    let (mut request, said) = (place.request(""), Said::default());
    request.config = Some(place.path("my.config"));
    place.build_as(&request, &said).expect("built");
    let said = said.all();
    assert!(
        matches!(&said[..], [one] if one.starts_with("`CONFIG_NONE=y` was not taken")),
        "{said:?}"
    );
}

#[test]
fn a_tree_in_which_something_was_built_is_read_without_that() {
    let script = format!(
        "[ ! -e \"$1/kernel/sched/core.o\" ] && [ ! -e \"$1/.config\" ] || exit 9\n{SCRIPT}"
    );
    let place = Place::new(&script);
    place.write("tree/.config", "CONFIG_X=y\n");
    place.write("tree/kernel/sched/core.o", "old\n");
    let built = place.build("").expect("built");
    assert_eq!(object(&built), "first\n");
}

#[test]
fn two_that_want_one_tree_build_it_once() {
    let place = Place::new(&format!("sleep 0.3\n{SCRIPT}"));
    let built: Vec<Built> = std::thread::scope(|threads| {
        let build = || place.build("").expect("built");
        let both = [threads.spawn(build), threads.spawn(build)];
        both.map(|thread| thread.join().expect("no panic")).to_vec()
    });
    assert_eq!(built[0].object, built[1].object);
    assert_eq!(place.calls(), 1);
}

#[test]
fn a_tree_that_changes_while_it_is_built_is_built_again() {
    let change = "[ -e \"$out/../still\" ] || echo more >>\"$tree/kernel/sched/fair.c\"";
    let place = Place::new(&format!("{SCRIPT}{change}\n"));
    let said = Said::default();
    // It changes at each call: that is given up.
    let error = place
        .build_as(&place.request(""), &said)
        .expect_err("never ends");
    assert!(
        error.to_string().contains("changes again and again"),
        "{error}"
    );
    assert_eq!((said.all().len(), place.calls()), (3, 3));
    fs::write(place.path("cache/objects/still"), "").expect("written");
    let built = place.build("").expect("built");
    assert_eq!(object(&built), "first\nmore\nmore\nmore\n");
}

#[test]
fn a_build_that_fails_leaves_nothing_that_is_taken_for_a_kernel() {
    let place = Place::new("echo 'kernel-shim: the configuration lacks CONFIG_X' >&2; exit 2");
    for _ in 0..2 {
        let error = place.build("").expect_err("fails");
        assert_eq!(error.class(), Class::Input);
        let text = error.to_string();
        assert!(
            text.ends_with("/tree: the configuration lacks CONFIG_X"),
            "{text}"
        );
    }
    assert!(built(&place.cache()).is_empty());
}

#[test]
fn what_is_no_tree_is_refused() {
    let place = Place::new(SCRIPT);
    let class = |more: &str| {
        let error = place.build(more).expect_err("refused");
        (error.class(), error.to_string())
    };
    let (fault, text) = class("@v7.3");
    assert_eq!(fault, Class::Input);
    assert!(
        text.ends_with("/tree@v7.3: the tree has no git history"),
        "{text}"
    );
    fs::remove_file(place.path("tree/kernel/sched/fair.c")).expect("removed");
    let (fault, text) = class("");
    assert_eq!(fault, Class::Input);
    assert!(text.ends_with("it has no kernel/sched/fair.c"), "{text}");
}

#[test]
fn a_cache_that_cannot_be_written_is_refused() {
    let place = Place::new(SCRIPT);
    place.write("file", "");
    // Nobody, root either, makes a folder in these.
    for root in [place.path("file/cache"), PathBuf::from("/sys/wakeplace")] {
        let error = Cache::at(root)
            .map_err(TreeError::from)
            .expect_err("refused");
        assert_eq!(error.class(), Class::Input, "{error}");
    }
}

fn git(tree: &Path, args: &[&str]) -> bool {
    let mut command = Command::new("git");
    let own = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-C"];
    let command = command.args(own).arg(tree).args(args);
    command.output().is_ok_and(|output| output.status.success())
}

#[test]
fn a_revision_is_built_beside_the_work_tree() {
    let place = Place::new(SCRIPT);
    let tree = place.path("tree");
    if !git(&tree, &["init", "-q"]) {
        use std::io::Write as _;
        let what = "**** SKIPPED: no git: revisions are not tried here";
        writeln!(std::io::stderr(), "{what}").expect("stderr");
        return;
    }
    assert!(git(&tree, &["add", "-A"]) && git(&tree, &["commit", "-qm", "one"]));
    assert!(git(&tree, &["tag", "v7.3.4"]));
    place.write("tree/kernel/sched/fair.c", "second\n");
    let work = place.build("").expect("built");
    assert_eq!(
        (work.label.as_str(), object(&work).as_str()),
        ("v7.3.4-dirty", "second\n")
    );
    let revision = place.build("@v7.3.4").expect("built");
    assert_eq!(
        (revision.label.as_str(), object(&revision).as_str()),
        ("v7.3.4", "first\n")
    );
    assert!(!place.build("@HEAD").expect("found").fresh);
    let error = place.build("@none").expect_err("refused");
    assert!(
        error
            .to_string()
            .ends_with("@none: git knows no such revision"),
        "{error}"
    );
}
