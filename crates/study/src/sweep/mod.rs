//! Sweeps: a request with some of its parts varied, run cell by cell. A cell is a point of the
//! design with a policy and a seed; all that decides it makes its key (docs/guide/results.md,
//! "Sweeps"). Two workers that run a cell get the same record.
//!
//! What must stay: cells count seed by seed, point by point: keys and stores rely on it. A change
//! of what makes a key, of `definition` or of `kin` makes old stores useless. Tests by part:
//! `cells_are_points_by_seeds` (`cell`, `point`, `chosen`, `pick`), `each_point_stands_once`
//! (`new`, `labels_of`), `what_cannot_run_is_a_record_with_its_reason` and
//! `values_that_go_together_sometimes_are_records` (`failed`), `wrong_keys_and_values_are_named`
//! (`name`, `part`, `vary`), sweeps.rs::`a_store_of_something_else_is_refused` (`definition`,
//! `inputs`), grown.rs::`values_come_and_go` (`kin`),
//! said.rs::`modelled_joules_say_so_in_sweeps` (`modelled`, `cautions`),
//! gates.rs::`a_sweep_is_a_gate` (`policies`, `platforms`). `measured_by` has no test of its own.
//!
//! Tests: crates/study/src/sweep/tests.rs, crates/cli/tests/all/sweeps.rs,
//! crates/cli/tests/all/gates.rs::a_sweep_is_a_gate, crates/store/tests/all/grown.rs,
//! crates/cli/tests/all/said.rs::modelled_joules_say_so_in_sweeps

mod axis;
mod base;
mod check;
mod file;
mod load;
mod platform;
mod point;
#[cfg(test)]
mod tests;
mod warnings;

pub use axis::{Axis, Design, Range};
pub use base::{Base, is_of_load};
pub use file::is_sweep;
pub use load::without_varied;
pub use point::{MadePoint, Point, Points};
pub use warnings::Warnings;

use crate::DEFAULT_MARGIN_PCT;
use crate::comparison::{FRAME_METRICS, hardware_clocks, modelled_power};
use crate::file::with;
use crate::identity::hash_of;
use crate::{Ask, AskError, Experiment, Request, RunRecord, Source, StudyError, argument};
use std::collections::BTreeSet;
use wakeplace_platform::Platform;
use wakeplace_workload::is_path;

/// Keys of what has a name.
const NAMES: [&str; 3] = ["platform", "workload", "policy"];

/// What is to be swept.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// What is not varied. Its seeds are the repetitions of each point.
    pub base: Request,
    /// What is.
    pub axes: Vec<Axis>,
    /// Which points are taken.
    pub design: Design,
    /// Keys of what points are compared with, and its values, as somebody asks; empty: nobody does.
    pub from: Vec<(String, String)>,
    points: usize,
    /// Their numbers in the design where it has some values several times; None: from 0 on.
    numbers: Option<Vec<usize>>,
    /// Hash of what the named platforms and workloads are: files may change between two calls.
    inputs: String,
}

impl Sweep {
    /// Checks what can be checked without running: the axes, the first point, and that some point
    /// can run. Points with the same values are one.
    ///
    /// # Errors
    /// A key that nobody takes, a value that is wrong, a name that stands twice, options that fit
    /// no point, too many points.
    pub fn new(base: Request, axes: Vec<Axis>, design: Design) -> Result<Self, StudyError> {
        if let Some((key, name)) = base.twice() {
            let name = wakeplace_text::shorten(name);
            return Err(vary(key, &format!("`{name}` stands twice")));
        }
        let points = design.points(&axes)?;
        let key = |at: usize| axes[..at].iter().any(|axis| axis.key == axes[at].key);
        if let Some(at) = (0..axes.len()).find(|at| key(*at)) {
            return Err(vary(&axes[at].key, "it is varied twice"));
        }
        let inputs = inputs(&base, &axes);
        let numbers = axis::distinct(design, &axes, points);
        let sweep = Self {
            base,
            points: numbers.as_ref().map_or(points, Vec::len),
            numbers,
            axes,
            design,
            from: Vec::new(),
            inputs,
        };
        sweep.point(0)?;
        // The other values of each list: names that are wrong are found before the first run.
        sweep.check_lists()?;
        sweep.check_runs()?;
        Ok(sweep)
    }

    /// Reads a sweep from a file in the language of studies; `file` names it in messages.
    ///
    /// # Errors
    /// The text is no TOML or breaks a rule; the message says where.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, StudyError> {
        file::read(text, file)
    }

    /// The same from a file.
    ///
    /// # Errors
    /// As [`Sweep::from_toml`]; it cannot be read.
    pub fn from_file(path: &str) -> Result<Self, StudyError> {
        Self::from_toml(&crate::catalogue::read_file(path)?, path)
    }

    /// Points of the design with each platform, workload and policy of the base.
    #[must_use]
    pub fn points(&self) -> usize {
        self.points * self.fixed()
    }

    /// Cells: points by seeds.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.points() * self.base.seeds.len()
    }

    /// Point and seed of a cell: seed by seed, point by point.
    #[must_use]
    pub fn cell(&self, index: usize) -> (usize, u64) {
        let seeds = &self.base.seeds;
        (index / seeds.len(), seeds[index % seeds.len()])
    }

    /// Names of what distinguishes points beside platform, workload and policy.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        self.axes.iter().map(|axis| axis.key.clone()).collect()
    }

    /// What the workloads are read by: the metrics of frames that runs have (`known`), then of each
    /// workload that the first points have, its first metric.
    #[must_use]
    pub fn measured_by(&self, known: &[String]) -> Vec<String> {
        let frames = FRAME_METRICS.map(str::to_owned).into_iter();
        let mut names: Vec<String> = frames.filter(|name| known.contains(name)).collect();
        for point in self.tried() {
            let first = point.experiment.workload.metric();
            if let Some(name) = first.filter(|name| names.iter().all(|other| other != name)) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// For each platform a sentence if nobody measured its power, one of what a file of somebody's
    /// own assumes, and one if hardware chooses its clocks under `powersave`.
    #[must_use]
    pub fn cautions(&self) -> Vec<String> {
        let mut said: Vec<String> = Vec::new();
        for point in self.tried() {
            let Experiment {
                platform, policies, ..
            } = &point.experiment;
            let clocks = hardware_clocks(platform, policies.iter());
            let all = [modelled_power(platform), platform.assumed_by_file(), clocks];
            for note in all.into_iter().flatten() {
                if !said.contains(&note) {
                    said.push(note);
                }
            }
        }
        said
    }

    /// Names of the platforms of which nobody measured the power.
    #[must_use]
    pub fn modelled_platforms(&self) -> BTreeSet<String> {
        let platforms = self.tried().map(|point| point.experiment.platform);
        let modelled = platforms.filter(|platform| !platform.modelled_power().is_empty());
        modelled.map(|platform| platform.name).collect()
    }

    /// The policies of its points, in the order of the points.
    #[must_use]
    pub fn policies(&self) -> Vec<String> {
        let varied = self.axes.iter().find(|axis| axis.key == "policy");
        varied.map_or_else(|| self.base.policies.clone(), Axis::values)
    }

    /// The platforms of the first points, each once.
    #[must_use]
    pub fn platforms(&self) -> Vec<Platform> {
        let mut all: Vec<Platform> = Vec::new();
        for platform in self.tried().map(|point| point.experiment.platform) {
            if !all.contains(&platform) {
                all.push(platform);
            }
        }
        all
    }

    /// Of how many points nobody measured the power of some CPU, and of how many points that was
    /// looked at: the first ones.
    #[must_use]
    pub fn modelled(&self) -> (usize, usize) {
        let modelled = |point: Point| !point.experiment.platform.modelled_power().is_empty();
        self.tried().fold((0, 0), |(some, of), point| {
            (some + usize::from(modelled(point)), of + 1)
        })
    }

    /// The first points, those that can be made.
    fn tried(&self) -> impl Iterator<Item = Point> {
        let tried = self.points().min(check::MOST_CHECKED);
        (0..tried).filter_map(|index| self.point(index).ok())
    }

    /// A hash of what is swept, files by what they hold, and of the program that does: equal
    /// hashes, equal cells.
    #[must_use]
    pub fn definition(&self, program: &str) -> String {
        // What a difference has to be decides no run.
        let base = Request {
            margin_pct: DEFAULT_MARGIN_PCT,
            ..self.base.clone()
        };
        hash_of(&(&base, &self.axes, self.design, &self.inputs, program))
    }

    /// A hash of all of it but the values of the axes and the seeds: of sweeps with equal ones, the
    /// cells of one may be cells of the other. A Latin hypercube has other points with any other
    /// value, so that nothing is left out there.
    #[must_use]
    pub fn kin(&self, program: &str) -> String {
        if self.design != Design::Grid {
            return self.definition(program);
        }
        let base = Request {
            seeds: Vec::new(),
            margin_pct: DEFAULT_MARGIN_PCT,
            ..self.base.clone()
        };
        hash_of(&(&base, self.labels(), inputs(&base, &[]), program))
    }

    /// What distinguishes a point, key and value.
    fn labels_of(&self, index: usize) -> Vec<(String, String)> {
        let at = index / self.fixed().max(1);
        let numbers = self.numbers.as_ref();
        let at = numbers
            .and_then(|numbers| numbers.get(at))
            .copied()
            .unwrap_or(at);
        let values = self.design.point(&self.axes, at);
        let keys = self.axes.iter().map(|axis| axis.key.clone());
        keys.zip(values).collect()
    }

    /// Platforms, workloads and policies of the base in every combination.
    fn fixed(&self) -> usize {
        let varied = |key: &str| self.axes.iter().any(|axis| axis.key == key);
        let of = |key: &str, n: usize| if varied(key) { 1 } else { n };
        of("platform", self.base.platforms.len())
            * of("workload", self.base.workloads.len())
            * of("policy", self.base.policies.len())
    }

    /// A point by number.
    ///
    /// # Errors
    /// What it consists of is wrong or does not go together.
    pub fn point(&self, index: usize) -> Result<Point, StudyError> {
        let labels = self.labels_of(index);
        let mut request = self.chosen(index);
        // Names first: what belongs to them changes what is named.
        for (key, value) in labels.iter().filter(|(key, _)| !key.contains('.')) {
            name(&mut request, key, value)?;
        }
        let unchanged = request.platforms.clone();
        for (key, value) in labels.iter().filter(|(key, _)| key.contains('.')) {
            part(&mut request, key, value)?;
        }
        Point::of(&request, labels.clone()).map_err(|error| match error {
            StudyError::Platform(error) => platform::refused(error, &unchanged, &labels),
            error => error,
        })
    }

    /// The base with one platform, workload and policy each, where these are not varied.
    fn chosen(&self, index: usize) -> Request {
        let mut request = self.base.clone();
        let mut left = index % self.fixed().max(1);
        let varied = |key: &str| self.axes.iter().any(|axis| axis.key == key);
        if !varied("policy") {
            left = pick(&mut request.policies, left);
        }
        if !varied("workload") {
            left = pick(&mut request.workloads, left);
        }
        if !varied("platform") {
            pick(&mut request.platforms, left);
        }
        request
    }

    /// What stands for each run of a point that cannot be made: what it is, as far as names say it.
    fn failed(&self, index: usize, error: &StudyError) -> RunRecord {
        let labels = self.labels_of(index);
        let mut request = self.chosen(index);
        for (key, value) in labels
            .iter()
            .filter(|(key, _)| NAMES.contains(&key.as_str()))
        {
            // It cannot fail for names.
            let _ = name(&mut request, key, value);
        }
        for (key, value) in labels
            .iter()
            .filter(|(key, _)| key.starts_with("workload."))
        {
            // Where it fails that is what the error says.
            let _ = part(&mut request, key, value);
        }
        let named = |all: &[Source]| {
            all.first()
                .map_or_else(String::new, |source| source.name().to_owned())
        };
        RunRecord {
            platform: named(&request.platforms),
            workload: named(&request.workloads),
            policy: request.policies.first().cloned().unwrap_or_default(),
            labels,
            error: error.to_string(),
            ..RunRecord::default()
        }
    }
}

/// A hash of all platforms and workloads that have a name. One that is wrong counts by its error.
fn inputs(base: &Request, axes: &[Axis]) -> String {
    let listed = |key: &'static str| {
        let of = axes.iter().filter(move |axis| axis.key == key);
        let values = of.flat_map(|axis| match &axis.range {
            Range::List(values) => values.as_slice(),
            _ => &[],
        });
        values.map(Source::named)
    };
    let platforms = base.platforms.iter().cloned().chain(listed("platform"));
    let platforms: Vec<_> = platforms
        .map(|source| source.platform().map_err(|error| error.to_string()))
        .collect();
    let first = platforms.iter().find_map(|platform| platform.as_ref().ok());
    let workload = |source: Source| {
        let spec = source.workload(&base.load, first?);
        Some(spec.map_err(|error| error.to_string()))
    };
    let workloads = base.workloads.iter().cloned().chain(listed("workload"));
    let workloads: Vec<_> = workloads.map(workload).collect();
    hash_of(&(&platforms, workloads))
}

/// Leaves one of several; what is left of the number.
fn pick<T>(all: &mut Vec<T>, index: usize) -> usize {
    let n = all.len().max(1);
    if !all.is_empty() {
        let one = all.swap_remove(index % n);
        all.clear();
        all.push(one);
    }
    index / n
}

/// A varied argument, or a parameter of every policy.
fn name(request: &mut Request, key: &str, value: &str) -> Result<(), StudyError> {
    let own = argument(key).ok().filter(|own| own.is_axis());
    let Some(own) = own else {
        request.set.push((key.to_owned(), value.to_owned()));
        return Ok(());
    };
    let mut ask = Ask::default();
    ask.give(own, value);
    let changed = ask.beside(std::mem::take(request));
    *request = changed.map_err(|error| match error {
        AskError::Value { why, .. } => vary(key, &why),
        other => vary(key, &other.to_string()),
    })?;
    Ok(())
}

/// A varied part of the machine's model, of a workload's argument, of a platform's file, or a hint
/// of a task.
fn part(request: &mut Request, key: &str, value: &str) -> Result<(), StudyError> {
    if let Some(argument) = key.strip_prefix("workload.") {
        for workload in &mut request.workloads {
            match workload {
                Source::Named(own) if !is_path(own) => {
                    *own = with(own, &format!("{argument}={value}"));
                }
                file => {
                    let name = wakeplace_text::shorten(file.name());
                    let why = format!("`{name}` is a file; expected a model, whose keys these are");
                    return Err(vary(key, &why));
                }
            }
        }
    } else if let Some(path) = key.strip_prefix(platform::PREFIX) {
        for source in &mut request.platforms {
            *source = platform::changed(source, path, value)?;
        }
    } else {
        request.set.push((key.to_owned(), value.to_owned()));
    }
    Ok(())
}

/// The refusal of a key or value, with what was typed, shortened.
fn vary(key: &str, why: &str) -> StudyError {
    StudyError::Vary {
        what: wakeplace_text::shorten(key),
        why: why.to_owned(),
    }
}
