//! Arguments from Python as a request, and as the command that gives the same result.

use crate::error::{argument, input};
use pyo3::prelude::*;
use wakeplace_study::{
    DEFAULT_MARGIN_PCT, Jitter, Origin, Request, Source, parse_hotplug, parse_policy_at,
    parse_seeds,
};
use wakeplace_text::{parse_duration_ns, shell_word};
use wakeplace_workload::{Dialect, LoadOptions};

/// A platform or a workload: what the command line takes, or a name and its text.
#[derive(Clone, FromPyObject)]
pub(crate) enum SourceArg {
    #[pyo3(transparent)]
    Named(String),
    Text(String, String),
}

impl SourceArg {
    pub(crate) fn source(&self) -> Source {
        match self {
            Self::Named(name) => Source::named(name),
            Self::Text(name, text) => Source::Text {
                name: name.clone(),
                text: text.clone(),
            },
        }
    }

    /// The command line can name it.
    fn word(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Text(..) => None,
        }
    }
}

/// What `sim`, `compare` and `sweep` share, one item of a dict each.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Ask {
    pub(crate) platform: Vec<SourceArg>,
    pub(crate) workload: Vec<SourceArg>,
    pub(crate) policy: Vec<String>,
    /// The forms of `--seeds`.
    pub(crate) seeds: Option<String>,
    /// `--seed` of `sim`.
    pub(crate) seed: Option<u64>,
    pub(crate) duration: Option<String>,
    pub(crate) set: Vec<(String, String)>,
    pub(crate) jitter: Option<String>,
    pub(crate) margin: Option<f64>,
    pub(crate) hotplug: Option<String>,
    pub(crate) policy_at: Vec<String>,
    pub(crate) allow_unmodelled: bool,
    pub(crate) rtapp_dialect: Option<String>,
    pub(crate) oracle: bool,
}

/// A time as people write it, if there is one.
pub(crate) fn duration_ns(text: Option<&str>) -> PyResult<Option<u64>> {
    let ns = text.map(parse_duration_ns).transpose();
    ns.map_err(argument("duration"))
}

/// A time of the run.
pub(crate) fn duration_at(text: &str) -> PyResult<u64> {
    parse_duration_ns(text).map_err(argument("at"))
}

/// Seeds as people write them, if there are any.
pub(crate) fn seeds(text: Option<&str>) -> PyResult<Option<Vec<u64>>> {
    let seeds = text.map(parse_seeds).transpose();
    seeds.map_err(argument("seeds"))
}

impl Ask {
    /// The request; what belongs to files of platforms and workloads is read later.
    pub(crate) fn request(&self) -> PyResult<Request> {
        let jitter = self.jitter.as_deref().map(Jitter::parse).transpose();
        let hotplug = self.hotplug.as_deref().map(parse_hotplug).transpose();
        let changes = self.policy_at.iter().map(|text| parse_policy_at(text));
        let dialect = self.rtapp_dialect.as_deref().unwrap_or_default();
        let own_seed = vec![self.seed.unwrap_or(1)];
        Ok(Request {
            platforms: self.platform.iter().map(SourceArg::source).collect(),
            workloads: self.workload.iter().map(SourceArg::source).collect(),
            load: LoadOptions {
                allow_unmodelled: self.allow_unmodelled,
                dialect: Dialect::parse(dialect).map_err(argument("rtapp_dialect"))?,
            },
            jitter: jitter.map_err(argument("jitter"))?,
            policies: self.policy.clone(),
            set: self.set.clone(),
            seeds: seeds(self.seeds.as_deref())?.unwrap_or(own_seed),
            duration_ns: duration_ns(self.duration.as_deref())?,
            hotplug: hotplug.map_err(argument("hotplug"))?.unwrap_or_default(),
            policy_at: changes
                .collect::<Result<_, _>>()
                .map_err(argument("policy_at"))?,
            oracle: self.oracle,
            margin_pct: self.margin.unwrap_or(DEFAULT_MARGIN_PCT),
            ..Request::default()
        })
    }

    /// The command that gives the same bytes; none where a text is no file.
    pub(crate) fn origin(&self, command: &str) -> Origin {
        Origin {
            command: self.words(command).unwrap_or_default(),
            commit: crate::COMMIT.to_owned(),
        }
    }

    fn words(&self, command: &str) -> Option<String> {
        let mut words = vec!["wakeplace".to_owned(), command.to_owned()];
        let mut option = |name: &str, value: &str| {
            words.extend([format!("--{name}"), shell_word(value)]);
        };
        for (name, sources) in [("platform", &self.platform), ("workload", &self.workload)] {
            for source in sources {
                option(name, source.word()?);
            }
        }
        self.policy.iter().for_each(|name| option("policy", name));
        for (key, value) in &self.set {
            option("set", &format!("{key}={value}"));
        }
        self.policy_at
            .iter()
            .for_each(|change| option("policy-at", change));
        let (seed, margin) = (self.seed, self.margin);
        let (seed, margin) = (seed.map(|s| s.to_string()), margin.map(|m| m.to_string()));
        for (name, value) in [
            ("duration", &self.duration),
            ("seed", &seed),
            ("seeds", &self.seeds),
            ("jitter", &self.jitter),
            ("margin", &margin),
            ("hotplug", &self.hotplug),
            ("rtapp-dialect", &self.rtapp_dialect),
        ] {
            if let Some(value) = value {
                option(name, value);
            }
        }
        for (flag, given) in [
            ("--allow-unmodelled", self.allow_unmodelled),
            ("--oracle", self.oracle),
        ] {
            words.extend(given.then(|| flag.to_owned()));
        }
        Some(words.join(" "))
    }

    /// As the command line counts: `compare` needs two policies, `sim` and `explain` take one of
    /// everything.
    pub(crate) fn check(&self, command: &str) -> PyResult<()> {
        let counts = [
            ("platform", self.platform.len()),
            ("workload", self.workload.len()),
            ("policy", self.policy.len()),
        ];
        if command != "compare" {
            if let Some((name, n)) = counts.iter().find(|(_, n)| *n > 1) {
                return Err(input(format!(
                    "{command} takes one {name}, and {n} are given; expected one, or `compare` \
                     for several"
                )));
            }
        } else if let [only] = self.policy.as_slice() {
            return Err(input(format!(
                "compare needs two policies or more, and `{only}` is the only policy; expected \
                 another one, or `sim` for a single policy"
            )));
        }
        match counts.iter().find(|(_, n)| *n == 0) {
            Some((name, _)) => Err(input(format!("no {name} given; expected at least one"))),
            None => Ok(()),
        }
    }
}
