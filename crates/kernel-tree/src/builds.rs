//! From the name of a kernel to a built object: found in the cache, or built (docs/guide/kernel.md,
//! "What is kept").
//!
//! What must stay: the key has all that an object depends on (tree, shim, compiler, configuration):
//! a part left out would find a wrong object. Tests: fake_tree.rs
//! (`a_tree_is_built_once_and_again_when_it_changes`, `a_revision_is_built_beside_the_work_tree`).
//! Free: words of progress, and how objects are laid out in the cache.
//!
//! Tests by part: `a_tree_is_built_once_and_again_when_it_changes` (`build`, `prepare`, `run`,
//! `look`, `key`, `id`), `kinds_of_machines_options_and_shims_are_built_apart` (`key`, `Like`,
//! `name`, `fragments`), `an_option_that_is_not_taken_is_said` (`say_what_was_not_taken`),
//! `a_tree_in_which_something_was_built_is_read_without_that` (`source`),
//! `two_that_want_one_tree_build_it_once` (locks),
//! `a_tree_that_changes_while_it_is_built_is_built_again` (`run`),
//! `a_build_that_fails_leaves_nothing_that_is_taken_for_a_kernel`, `what_is_no_tree_is_refused`,
//! `a_cache_that_cannot_be_written_is_refused` (errors). `named`, `objects` and `make_room` are
//! parts of these.
//!
//! Callers: crates/kernel-run/src/trees.rs, crates/cli/src/commands/kernel.rs (`build`).
//!
//! Tests: crates/kernel-tree/tests/all/fake_tree.rs

use crate::content::{Content, hex};
use crate::kept::{Kept, Trees};
use crate::shim::{BUILD, Shim};
use crate::spec::{Source, Spec};
use crate::store::{self, Built};
use crate::tree::Tree;
use crate::wanted::{self, Wanted};
use crate::{TreeError, compile, config, overlay, tools};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use wakeplace_archive::{Cache, Watch};

/// How often a tree is looked at again that changes while it is built.
const TRIES: usize = 3;

/// The architecture of the simulated machine, which some of the kernel's options follow, as HRTICK
/// does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arch {
    /// An arm64.
    Arm64,
    /// An x86-64, or another one that selects the same options.
    X86,
}

/// Which machine is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Like {
    /// Its architecture.
    pub arch: Arch,
    /// It has more CPUs than a word has bits: on others masks of CPUs are one word.
    pub large: bool,
    /// Accesses to memory are priced: each calls a hook.
    pub coherent: bool,
}

/// Most CPUs of a machine that is not large.
const SMALL_CPUS: usize = 64;

impl Like {
    /// A machine of an architecture with so many CPUs.
    #[must_use]
    pub fn new(arch: Arch, nr_cpus: usize) -> Self {
        let large = nr_cpus > SMALL_CPUS;
        let coherent = false;
        Self {
            arch,
            large,
            coherent,
        }
    }

    /// The same whose kernel's accesses to memory are priced, or are not.
    #[must_use]
    pub fn coherent(self, coherent: bool) -> Self {
        Self { coherent, ..self }
    }

    /// For people and records: the architecture as platforms have it, after `large` if it is, and
    /// before that `coherent`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match (self.arch, self.large, self.coherent) {
            (Arch::Arm64, false, false) => "arm64",
            (Arch::X86, false, false) => "x86_64",
            (Arch::Arm64, true, false) => "large arm64",
            (Arch::X86, true, false) => "large x86_64",
            (Arch::Arm64, false, true) => "coherent arm64",
            (Arch::X86, false, true) => "coherent x86_64",
            (Arch::Arm64, true, true) => "coherent large arm64",
            (Arch::X86, true, true) => "coherent large x86_64",
        }
    }

    /// Parts of the configuration for this kind of machine, in the order in which they are merged.
    fn fragments(self) -> Vec<&'static str> {
        let arch = match self.arch {
            Arch::Arm64 => "config/like-arm64.config",
            Arch::X86 => "config/like-x86.config",
        };
        let small = (!self.large).then_some("config/up-to-64-cpus.config");
        std::iter::once(arch).chain(small).collect()
    }
}

/// What is to be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which kernel.
    pub spec: Spec,
    /// For which kind of machine.
    pub like: Like,
    /// A configuration fragment of the user's, which is merged last.
    pub config: Option<PathBuf>,
}

/// A tree that can be built.
struct Prepared {
    tree: Tree,
    /// How results call it.
    label: String,
    /// Where it came from, for people.
    origin: String,
    /// Its files never change: a sum that stands for them.
    fixed: Option<String>,
}

/// The kernel that was asked for.
///
/// # Errors
/// When its sources cannot be had, or cannot be built.
pub fn build(
    cache: &Cache,
    shim: &Shim,
    request: &Request,
    watch: &dyn Watch,
) -> Result<Built, TreeError> {
    let fragment = request.config.as_deref().map(config::Fragment::read);
    let fragment = fragment.transpose()?;
    let wanted = shim.wanted();
    let prepared = prepare(cache, &wanted, &request.spec, watch)?;
    let job = Job {
        cache,
        shim,
        wanted: &wanted,
        prepared: &prepared,
        like: request.like,
        fragment: fragment.as_ref(),
        watch,
    };
    for _ in 0..TRIES {
        if let Some(built) = job.run()? {
            return Ok(built);
        }
        watch.remark(&format!(
            "{} has changed while it was built, and is built again",
            prepared.origin
        ));
    }
    Err(TreeError::Configuration(format!(
        "{} changes again and again while it is built",
        prepared.origin
    )))
}

/// Puts sources, configuration and shim where the build script wants them.
fn prepare(
    cache: &Cache,
    wanted: &Wanted,
    spec: &Spec,
    watch: &dyn Watch,
) -> Result<Prepared, TreeError> {
    let trees = Trees { cache, wanted };
    let label = |own: String| spec.name.clone().unwrap_or(own);
    match &spec.source {
        Source::Version(version) => {
            let Kept {
                version,
                package,
                root,
            } = trees.version(version, watch)?;
            let tree = Tree::open(&root)?;
            Ok(Prepared {
                label: label(version.to_string()),
                origin: format!("{} {}", package.package, package.version),
                fixed: Some(package.sha256),
                tree,
            })
        }
        Source::Folder {
            path,
            revision: None,
        } => {
            let tree = Tree::open(path)?;
            let described = tree.git.as_ref().and_then(|git| git.describe());
            Ok(Prepared {
                label: label(described.unwrap_or_else(|| tree.version.clone())),
                origin: tree.root.display().to_string(),
                fixed: None,
                tree,
            })
        }
        Source::Folder {
            path,
            revision: Some(name),
        } => {
            let git = Tree::open(path)?.git.ok_or_else(|| TreeError::Revision {
                path: path.clone(),
                revision: name.clone(),
                why: "the tree has no git history".to_owned(),
            })?;
            let revision = git.revision(name)?;
            let root = trees.revision(&git, &revision, watch)?;
            Ok(Prepared {
                tree: Tree::open(&root)?,
                origin: format!("{}@{name}", path.display()),
                label: label(revision.described),
                fixed: Some(revision.tree),
            })
        }
    }
}

/// One build.
struct Job<'a> {
    cache: &'a Cache,
    shim: &'a Shim,
    wanted: &'a Wanted,
    prepared: &'a Prepared,
    like: Like,
    fragment: Option<&'a config::Fragment>,
    watch: &'a dyn Watch,
}

impl Job<'_> {
    /// The object; none if the tree changed while it was built.
    fn run(&self) -> Result<Option<Built>, TreeError> {
        let folder = self.objects();
        let content = self.look(&folder)?;
        let key = self.key(&content);
        if let Some(built) = store::find(self.cache, &key) {
            return Ok(Some(self.named(built)));
        }
        let waiting = || {
            self.watch
                .step("waiting for another run that builds this tree")
        };
        let name = format!("objects/{}.lock", self.id());
        self.cache.folder("objects")?;
        let lock = self.cache.lock_at(&name, waiting)?;
        if let Some(built) = store::find(self.cache, &key) {
            return Ok(Some(self.named(built)));
        }
        self.make_room(&folder, &content)?;
        let source = self.source(&folder, &content)?;
        let shim = self.shim.put(self.cache)?;
        let own = self.like.fragments();
        let mut fragments: Vec<PathBuf> = own.iter().map(|name| shim.join(name)).collect();
        fragments.extend(self.fragment.map(|fragment| fragment.path.clone()));
        let build = compile::Build {
            script: &shim.join(BUILD),
            tree: &self.prepared.tree.root,
            source: &source,
            out: &folder,
            fragments: &fragments,
            coherent: self.like.coherent,
            origin: &self.prepared.origin,
            what: &format!("{} for {} machines", self.prepared.label, self.like.name()),
        };
        let built = build.run(&lock, self.watch);
        // What was compiled belongs to what was seen before; a later change has a later time.
        content.save(&folder.join(compile::CONTENT))?;
        let object = built?;
        self.say_what_was_not_taken(&folder);
        if self.look(&folder)?.sum() != content.sum() {
            return Ok(None);
        }
        let built = Built {
            key,
            object,
            version: self.prepared.tree.version.clone(),
            label: self.prepared.label.clone(),
            origin: self.prepared.origin.clone(),
            like: self.like.name().to_owned(),
            config: self.fragment.is_some(),
            fresh: true,
        };
        store::put(self.cache, built).map(Some)
    }

    /// The same object may have been built under another name.
    fn named(&self, built: Built) -> Built {
        Built {
            label: self.prepared.label.clone(),
            origin: self.prepared.origin.clone(),
            ..built
        }
    }

    /// What is in the tree now.
    fn look(&self, folder: &Path) -> Result<Content, TreeError> {
        if self.prepared.fixed.is_some() {
            return Ok(Content::default());
        }
        let before = Content::load(&folder.join(compile::SEEN));
        let root = &self.prepared.tree.root;
        let content = Content::look(root, self.wanted, &before)?;
        // Best effort: without it all files are read again the next time.
        if fs::create_dir_all(folder).is_ok() {
            let _ = content.save(&folder.join(compile::SEEN));
        }
        Ok(content)
    }

    /// What an object depends on.
    fn key(&self, content: &Content) -> String {
        let sum = |text: &str| hex(&Sha256::digest(text));
        let files = self.prepared.fixed.clone();
        let parts = [
            files.unwrap_or_else(|| content.sum()),
            self.shim.sum(),
            self.like.name().to_owned(),
            self.fragment.map_or_else(String::new, |f| sum(&f.text)),
            tools::compiler_version().unwrap_or_default(),
        ];
        sum(&parts.join("\n"))[..24].to_owned()
    }

    /// One folder of objects per tree and kind of machine, so that a change builds what depends on
    /// it only.
    fn id(&self) -> String {
        let root = self.prepared.tree.root.as_os_str().as_encoded_bytes();
        let mut hasher = Sha256::new();
        hasher.update(root);
        hasher.update(self.like.name());
        hex(&hasher.finalize())[..16].to_owned()
    }

    /// The folder in which make works.
    fn objects(&self) -> PathBuf {
        self.cache.path(&format!("objects/{}", self.id()))
    }

    /// The folder of objects, empty if make would not see what has changed since it was filled.
    fn make_room(&self, folder: &Path, content: &Content) -> Result<(), TreeError> {
        let built = Content::load(&folder.join(compile::CONTENT));
        if content.hides_a_change_from(&built) {
            fs::remove_dir_all(folder).map_err(TreeError::writing(folder))?;
        }
        fs::create_dir_all(folder).map_err(TreeError::writing(folder))?;
        store::prune_objects(self.cache, folder);
        Ok(())
    }

    /// What the compiler reads: the tree, or links to its sources if something was built in it.
    fn source(&self, folder: &Path, content: &Content) -> Result<PathBuf, TreeError> {
        let root = &self.prepared.tree.root;
        if !wanted::was_built_in(root) {
            return Ok(root.clone());
        }
        let links = folder.join("links");
        overlay::link(root, content, &links)?;
        Ok(links)
    }

    /// Options of the user's that the tree's configuration did not keep.
    fn say_what_was_not_taken(&self, folder: &Path) {
        let Some(fragment) = self.fragment else {
            return;
        };
        let finished = fs::read_to_string(folder.join("obj/.config")).unwrap_or_default();
        for line in fragment.not_taken(&finished) {
            self.watch.remark(&format!(
                "`{line}` was not taken: this tree has no such option, or it depends on one that \
                 is off"
            ));
        }
    }
}
