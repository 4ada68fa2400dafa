//! From what somebody asks for, in names, files or texts, to what can be run: the one way for the
//! command line and for other programs.
//!
//! ```
//! use wakeplace_study::{Request, Source};
//!
//! let request = Request {
//!     platforms: vec![Source::named("hikey960")],
//!     workloads: vec![Source::named("periodic:n=4,duty=5%")],
//!     policies: vec!["linux-4.17".into(), "linux-4.17+energy-aware".into()],
//!     seeds: vec![1, 2, 3],
//!     duration_ns: Some(100_000_000),
//!     ..Request::default()
//! };
//! let matrix = request.resolve()?;
//! let comparisons = matrix.run(2, &|_| {})?;
//! assert_eq!(comparisons[0].runs[1].metrics.len(), 3);
//! # Ok::<(), wakeplace_study::StudyError>(())
//! ```
//!
//! See CONTRIBUTING.md, "Add an argument". A new argument changes `Request` and its entry in
//! `ask/arguments.rs`.
//!
//! What must stay: the first thing that is wrong is the error, and nothing is run then; defaults
//! here are those of `--help`; files of workloads are read once, and a recording once for each
//! platform. Tests by part: `a_matrix_is_its_comparisons` (`resolve`, `experiment`),
//! `settings_belong_to_a_policy` (`policies`), `what_is_missing_or_wrong_is_named` (`platform`,
//! `workload`, `twice`, `check_margin`), results.rs::`a_file_says_how_long_it_runs` (the length),
//! cli/tests/all/report.rs::`wrong_windows_and_places_are_refused_before_anything_runs` (`check`),
//! compared.rs::`seeds_that_vary_nothing_are_one_run` (`varied`).
//!
//! Tests: below, crates/study/src/ask/tests.rs::the_same_question_in_two_languages,
//! crates/cli/tests/all/compared.rs

use crate::catalogue::builtin_file;
use crate::experiment::expand;
use crate::oracle::check_fixed;
use crate::settings::{check_keys, check_model_keys, hinted, split_hints};
use crate::{Experiment, Matrix, Scheduler, StudyError, apply_settings};
use std::sync::Arc;
use wakeplace_engine::Options;
use wakeplace_metrics::Window;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_text::one_at_a_time;
use wakeplace_workload::{Deadlines, Dialect, Jitter, LoadOptions, Spec, WorkloadError};

/// Simulated time if neither the caller nor the workload says: that of the published tests.
pub const DEFAULT_DURATION_NS: u64 = 30_000_000_000;

/// Below this a difference does not matter, percent.
pub const DEFAULT_MARGIN_PCT: f64 = 1.0;

/// A platform or a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// What `--platform` or `--workload` takes: a name or a path.
    Named(String),
    /// The text itself: TOML of a platform, JSON of an rt-app file.
    Text {
        /// What it is called in messages and results.
        name: String,
        /// The text.
        text: String,
    },
    /// A file where there are no files.
    File {
        /// What `--platform` or `--workload` takes: its path, or `trace:PATH` of a recording.
        name: String,
        /// What it holds.
        bytes: Arc<[u8]>,
    },
}

impl Source {
    /// What `--platform` or `--workload` takes.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self::Named(name.into())
    }

    /// The platform.
    ///
    /// # Errors
    /// As [`Platform::load`].
    pub fn platform(&self) -> Result<Platform, StudyError> {
        match self {
            Self::Named(name) => Platform::load(name).map_err(|error| {
                // A file may have a comma in its name.
                let list = one_at_a_time("platform", name);
                list.map_or(error.into(), StudyError::Several)
            }),
            Self::Text { name, text } => {
                let mut platform = Platform::from_toml(text, name)?;
                platform.name.clone_from(name);
                Ok(platform)
            }
            Self::File { name, bytes } => Ok(Platform::from_bytes(bytes, name)?),
        }
    }

    /// The workload; `platform` scales a recording that does not say where it was made.
    ///
    /// # Errors
    /// As [`Spec::parse`], or of a recording.
    pub fn workload(&self, load: &LoadOptions, platform: &Platform) -> Result<Spec, StudyError> {
        match self {
            Self::Named(name) if name.starts_with(wakeplace_trace::PREFIX) => {
                Ok(wakeplace_trace::load(name, Some(platform))?)
            }
            // Files of the repository are built in, for who has no checkout.
            Self::Named(name) if let Some(text) = builtin_file(name) => {
                Ok(Spec::parse_rtapp(text.as_bytes(), name, load)?)
            }
            Self::Named(name) => Spec::parse(name, load).map_err(|error| match error {
                WorkloadError::Argument(mut fault) if fault.unknown_model => {
                    fault.nearest = crate::catalogue::workload_named(name).or(fault.nearest);
                    WorkloadError::Argument(fault).into()
                }
                error => error.into(),
            }),
            Self::Text { name, text } => Ok(Spec::parse_rtapp(text.as_bytes(), name, load)?),
            Self::File { name, bytes } if name.starts_with(wakeplace_trace::PREFIX) => {
                Ok(wakeplace_trace::load_bytes(name, bytes, Some(platform))?)
            }
            Self::File { name, bytes } => Ok(Spec::parse_file(bytes, name, load)?),
        }
    }

    /// Its own words, for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) | Self::Text { name, .. } | Self::File { name, .. } => name,
        }
    }

    /// Depends on the machine that it is to run on.
    fn is_recording(&self) -> bool {
        !matches!(self, Self::Text { .. }) && self.name().starts_with(wakeplace_trace::PREFIX)
    }
}

/// What is to be run: every platform with every workload under every policy with every seed.
#[derive(Clone, Debug)]
pub struct Request {
    /// Machines; at least one.
    pub platforms: Vec<Source>,
    /// What their tasks do; at least one.
    pub workloads: Vec<Source>,
    /// How files of workloads are read.
    pub load: LoadOptions,
    /// What is drawn from the seed where the workload draws nothing.
    pub jitter: Option<Jitter>,
    /// Deadlines of chains, instead of those of files.
    pub deadlines: Option<Deadlines>,
    /// `ERA[+FEATURE]...[:KEY=VALUE,...]`, the base first; at least one.
    pub policies: Vec<String>,
    /// sched_ext schedulers, which take part after the policies.
    pub schedulers: Vec<Scheduler>,
    /// Settings of the machine's model, and of every policy that does not set them itself.
    pub set: Vec<(String, String)>,
    /// Seeds; every policy runs with each. At least one.
    pub seeds: Vec<u64>,
    /// Simulated time, ns. None: the workload's, or [`DEFAULT_DURATION_NS`].
    pub duration_ns: Option<u64>,
    /// What a run is told beside platform, workload and policy; settings and the length come on
    /// top.
    pub options: Options,
    /// Also find how little energy the load could have taken.
    pub oracle: bool,
    /// Take down what runs where in this part of the first seed's runs.
    pub timeline: Option<Window>,
    /// Below this a difference does not matter, percent.
    pub margin_pct: f64,
}

impl Default for Request {
    /// What stands where nothing is asked for, as the command line has it: one seed, 1.
    fn default() -> Self {
        Self {
            platforms: Vec::new(),
            workloads: Vec::new(),
            load: LoadOptions::default(),
            jitter: None,
            deadlines: None,
            policies: Vec::new(),
            schedulers: Vec::new(),
            set: Vec::new(),
            seeds: vec![1],
            duration_ns: None,
            options: Options::default(),
            oracle: false,
            timeline: None,
            margin_pct: DEFAULT_MARGIN_PCT,
        }
    }
}

/// A margin that a difference can have.
pub(crate) fn check_margin(margin_pct: f64) -> Result<(), StudyError> {
    match margin_pct >= 0.0 && margin_pct.is_finite() {
        true => Ok(()),
        false => Err(StudyError::Margin(margin_pct)),
    }
}

impl Request {
    /// Reads and checks all of it: nothing of what is read can fail later.
    ///
    /// # Errors
    /// The first thing that is wrong, with the place and the nearest valid name.
    pub fn resolve(&self) -> Result<Matrix, StudyError> {
        check_margin(self.margin_pct)?;
        if let Some((key, name)) = self.twice() {
            let name = name.to_owned();
            return Err(StudyError::Twice { key, name });
        }
        let platforms = self.platforms.iter().map(Source::platform);
        let platforms = platforms.collect::<Result<Vec<_>, _>>()?;
        let Some(first) = platforms.first() else {
            return Err(StudyError::Empty(
                "no platform given; expected at least one",
            ));
        };
        if self.workloads.is_empty() {
            return Err(StudyError::Empty(
                "no workload given; expected at least one",
            ));
        }
        let specs = self.specs(first)?;
        if self.load.dialect != Dialect::default() && !specs.iter().any(Spec::is_rtapp) {
            return Err(StudyError::Empty(
                "a dialect of rt-app (`--rtapp-dialect`) is given and no workload is an rt-app \
                 file; expected such a file, or no dialect",
            ));
        }
        let (policies, options) = self.policies()?;
        let mut experiments = Vec::with_capacity(platforms.len() * specs.len());
        for (at, platform) in platforms.into_iter().enumerate() {
            let platform = Arc::new(platform);
            for (source, spec) in self.workloads.iter().zip(&specs) {
                let spec = match source.is_recording() && at > 0 {
                    true => self.varied(source.workload(&self.load, &platform)?)?,
                    false => spec.clone(),
                };
                experiments.push(self.experiment(&platform, spec, &policies, &options)?);
            }
        }
        Ok(Matrix {
            experiments,
            margin_pct: self.margin_pct,
        })
    }

    /// What kind of name stands twice, and the name: its runs would count twice.
    pub(crate) fn twice(&self) -> Option<(&'static str, &str)> {
        /// The first value that stands in the list a second time.
        fn twice<T: PartialEq>(all: &[T]) -> Option<&T> {
            let again = |at: &usize| all[..*at].contains(&all[*at]);
            (0..all.len()).find(again).map(|at| &all[at])
        }
        let found = [
            ("platform", twice(&self.platforms).map(Source::name)),
            ("workload", twice(&self.workloads).map(Source::name)),
            ("policy", twice(&self.policies).map(String::as_str)),
        ];
        let mut found = { found.into_iter() }.filter_map(|(key, name)| Some((key, name?)));
        found.next()
    }

    /// The workloads as the first platform has them; files are read once.
    fn specs(&self, platform: &Platform) -> Result<Vec<Spec>, StudyError> {
        let one = |source: &Source| self.varied(source.workload(&self.load, platform)?);
        self.workloads.iter().map(one).collect()
    }

    /// The workload with the hints, the deadlines and the jitter that are asked for.
    fn varied(&self, spec: Spec) -> Result<Spec, StudyError> {
        let spec = hinted(spec, &split_hints(&self.set)?.0)?;
        let spec = match &self.deadlines {
            None => spec,
            Some(deadlines) => spec.with_deadlines(deadlines.clone()),
        };
        match self.jitter {
            None => Ok(spec),
            Some(jitter) => spec.with_jitter(jitter).map_err(StudyError::Jitter),
        }
    }

    /// The settings of policies and of the machine's model.
    pub(crate) fn own_set(&self) -> Result<Vec<(String, String)>, StudyError> {
        Ok(split_hints(&self.set)?.1)
    }

    /// The policies and the machine's model, settings applied.
    fn policies(&self) -> Result<(Vec<Policy>, Options), StudyError> {
        let policies = self.policies.iter().map(|name| Policy::parse(name));
        let mut policies = policies.collect::<Result<Vec<_>, _>>()?;
        let mut options = self.options.clone();
        let set = self.own_set()?;
        match policies.first() {
            Some(base) => check_keys(&set, base)?,
            None => check_model_keys(&set)?,
        }
        apply_settings(&set, &mut options, &mut policies)?;
        Ok((policies, options))
    }

    /// One platform and one workload under all policies.
    fn experiment(
        &self,
        platform: &Platform,
        workload: Spec,
        policies: &[Policy],
        options: &Options,
    ) -> Result<Experiment, StudyError> {
        let seed = self.seeds.first().copied().unwrap_or(1);
        let own_ns = expand(&workload, platform, &[seed])?[0].duration_ns;
        let mut options = options.clone();
        options.duration_ns = self.duration_ns.or(own_ns).unwrap_or(DEFAULT_DURATION_NS);
        self.check(&options)?;
        Ok(Experiment {
            platform: platform.clone(),
            workload,
            policies: policies.to_vec(),
            schedulers: self.schedulers.clone(),
            options,
            seeds: self.seeds.clone(),
            oracle: self.oracle,
            timeline: self.timeline,
        })
    }
}

impl Request {
    /// What must fit the length of the run and the machine as it stays.
    fn check(&self, options: &Options) -> Result<(), StudyError> {
        if let Some(window) = self.timeline.filter(|w| w.to_ns > options.duration_ns) {
            return Err(StudyError::Timeline(window.to_ns, options.duration_ns));
        }
        if self.oracle {
            check_fixed(options)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Request, Source};
    use wakeplace_workload::Dialect;

    fn request() -> Request {
        Request {
            platforms: vec![Source::named("hikey960"), Source::named("juno-r0")],
            workloads: vec![
                Source::named("periodic:n=3,duty=5%"),
                Source::Text {
                    name: "two.json".to_owned(),
                    text: r#"{"tasks": {"a": {"instance": 2, "run": 500, "sleep": 9000}}}"#
                        .to_owned(),
                },
            ],
            policies: vec!["linux-7.3".to_owned(), "linux-7.3:busy_factor=3".to_owned()],
            set: vec![("busy_factor".to_owned(), "5".to_owned())],
            seeds: vec![1, 2],
            duration_ns: Some(50_000_000),
            ..Request::default()
        }
    }

    fn error(request: &Request) -> String {
        request.resolve().expect_err("refused").to_string()
    }

    /// Goal: several platforms and workloads are a matrix, platform by platform, and a run of it is
    /// what the same comparison alone gives.
    #[test]
    fn a_matrix_is_its_comparisons() {
        let matrix = request().resolve().unwrap();
        let all = matrix.run(2, &|_| {}).unwrap();
        let places: Vec<_> = all
            .iter()
            .map(|c| (c.platform.as_str(), c.workload.as_str()))
            .collect();
        assert_eq!(
            places,
            [
                ("hikey960", "periodic:n=3,duty=5%"),
                ("hikey960", "two.json"),
                ("juno-r0", "periodic:n=3,duty=5%"),
                ("juno-r0", "two.json"),
            ]
        );
        for (alone, of_matrix) in matrix.experiments.iter().zip(&all) {
            assert_eq!(&alone.run(1, &|_| {}).unwrap(), of_matrix);
        }
    }

    /// Goal: what one policy sets for itself the others do not get, and `--set` leaves it alone.
    #[test]
    fn settings_belong_to_a_policy() {
        let matrix = request().resolve().unwrap();
        let of = |at: usize| matrix.experiments[0].policies[at].overrides().to_vec();
        assert_eq!(of(0), [("busy_factor", "5".to_owned())]);
        assert_eq!(of(1), [("busy_factor", "3".to_owned())]);
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let mut none = request();
        none.platforms.clear();
        assert!(error(&none).contains("no platform"));
        let mut none = request();
        none.workloads.clear();
        assert!(error(&none).contains("no workload"));
        let mut key = request();
        key.set[0].0 = "busy_facter".to_owned();
        assert!(error(&key).contains("did you mean `busy_factor`"));
        let mut margin = request();
        margin.margin_pct = -1.0;
        assert!(error(&margin).contains("0 or more"));
        // A model has no dialect.
        let mut dialect = request();
        dialect.load.dialect = Dialect::parse("workgen").unwrap();
        dialect.resolve().expect("one workload is an rt-app file");
        dialect.workloads.pop();
        assert!(error(&dialect).contains("no workload is an rt-app file"));
        // Names and lists where one name is expected.
        let mut list = request();
        list.platforms = vec![Source::named("hikey960,juno-r0")];
        let said = "`hikey960,juno-r0` is a list; expected one platform, and the option once for \
                    each";
        assert_eq!(error(&list), said);
        let mut file = request();
        file.workloads = vec![Source::named("scroll")];
        assert!(error(&file).contains("did you mean `workloads/scroll.json`?"));
        // Its runs would count twice.
        let mut twice = request();
        twice.policies.push(twice.policies[0].clone());
        assert!(error(&twice).ends_with("stands twice; expected each policy once"));
        let mut twice = request();
        twice.platforms.push(Source::named("hikey960"));
        let said = "platform: `hikey960` stands twice; expected each platform once";
        assert_eq!(error(&twice), said);
    }
}
