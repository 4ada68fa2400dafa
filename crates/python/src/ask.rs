//! Arguments from Python as a request, and as the command that gives the same result.

use crate::error::{argument, input};
use pyo3::prelude::*;
use wakeplace_study::{Origin, Request, Source, parse_seeds};
use wakeplace_text::parse_duration_ns;

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
}

/// What `sim`, `compare` and `sweep` share, one item of a dict each.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Ask {
    platform: Vec<SourceArg>,
    workload: Vec<SourceArg>,
    policy: Vec<String>,
    /// The forms of `--seeds`.
    seeds: Option<String>,
    /// `--seed` of `sim`.
    seed: Option<u64>,
    duration: Option<String>,
    set: Vec<(String, String)>,
    jitter: Option<String>,
    margin: Option<f64>,
    hotplug: Option<String>,
    policy_at: Vec<String>,
    allow_unmodelled: bool,
    rtapp_dialect: Option<String>,
    oracle: bool,
    timeline: Option<String>,
}

/// A time as people write it, if there is one.
pub(crate) fn duration_ns(text: Option<&str>) -> PyResult<Option<u64>> {
    let ns = text.map(parse_duration_ns).transpose();
    ns.map_err(argument("duration"))
}

/// Seeds as people write them, if there are any.
pub(crate) fn seeds(text: Option<&str>) -> PyResult<Option<Vec<u64>>> {
    let seeds = text.map(parse_seeds).transpose();
    seeds.map_err(argument("seeds"))
}

impl Ask {
    /// The same for the study crate.
    pub(crate) fn asked(&self) -> wakeplace_study::Ask {
        let own = self.clone();
        wakeplace_study::Ask {
            platform: own.platform.iter().map(SourceArg::source).collect(),
            workload: own.workload.iter().map(SourceArg::source).collect(),
            policy: own.policy,
            seeds: own.seeds,
            seed: own.seed,
            duration: own.duration,
            set: own.set,
            jitter: own.jitter,
            margin: own.margin,
            hotplug: own.hotplug,
            policy_at: own.policy_at,
            allow_unmodelled: own.allow_unmodelled,
            rtapp_dialect: own.rtapp_dialect,
            oracle: own.oracle,
            timeline: own.timeline,
        }
    }

    /// The request; what belongs to files of platforms and workloads is read later.
    pub(crate) fn request(&self) -> PyResult<Request> {
        self.asked().request().map_err(input)
    }

    /// The command that gives the same bytes; none where a text is no file.
    pub(crate) fn origin(&self, command: &str) -> Origin {
        Origin {
            command: self.asked().command(command, None).unwrap_or_default(),
            commit: crate::COMMIT.to_owned(),
        }
    }

    /// As the command line counts.
    pub(crate) fn check(&self, command: &str) -> PyResult<()> {
        self.asked().check(command).map_err(input)
    }
}
