//! What somebody asks for in the words of the command line: the one way from them to a request, and
//! back to a command or lines of Python that give the same bytes.

mod words;

use crate::{DEFAULT_MARGIN_PCT, Jitter, Request, Source};
use crate::{parse_hotplug, parse_policy_at, parse_seeds};
use wakeplace_metrics::Window;
use wakeplace_text::parse_duration_ns;
use wakeplace_workload::{Dialect, LoadOptions};

/// What `sim`, `compare`, `explain` and sweeps share. The fields are the options of the command
/// line, their texts are its texts.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ask {
    /// `--platform`
    pub platform: Vec<Source>,
    /// `--workload`
    pub workload: Vec<Source>,
    /// `--policy`
    pub policy: Vec<String>,
    /// `--seeds`
    pub seeds: Option<String>,
    /// `--seed` of `sim` and `explain`.
    pub seed: Option<u64>,
    /// `--duration`
    pub duration: Option<String>,
    /// `--set`
    pub set: Vec<(String, String)>,
    /// `--jitter`
    pub jitter: Option<String>,
    /// `--margin`
    pub margin: Option<f64>,
    /// `--hotplug`
    pub hotplug: Option<String>,
    /// `--policy-at`
    pub policy_at: Vec<String>,
    /// `--allow-unmodelled`
    pub allow_unmodelled: bool,
    /// `--rtapp-dialect`
    pub rtapp_dialect: Option<String>,
    /// `--oracle`
    pub oracle: bool,
    /// `--timeline`
    pub timeline: Option<String>,
}

/// An argument that cannot be read, or several that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The value of one argument.
    #[error("{argument}: {why}")]
    Value {
        /// Which, as [`Ask`] calls it.
        argument: &'static str,
        /// What is wrong, and what was expected.
        why: String,
    },
    /// Too many or too few of something.
    #[error("{0}")]
    Count(String),
}

/// The value of an argument, if it is given.
fn read<T, E: ToString>(
    argument: &'static str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, AskError> {
    let value = text.map(parse).transpose();
    value.map_err(|why| AskError::Value {
        argument,
        why: why.to_string(),
    })
}

/// `FROM..TO`, times of a run.
///
/// # Errors
/// What is wrong, and what was expected.
pub fn parse_window(text: &str) -> Result<Window, String> {
    let form = "expected FROM..TO with FROM before TO, as 1s..1200ms";
    let (from, to) = text
        .split_once("..")
        .ok_or_else(|| format!("no `..` between two times; {form}"))?;
    let time = |part: &str| {
        wakeplace_text::parse_duration_or_zero_ns(part.trim())
            .map_err(|error| format!("{error}; {form}"))
    };
    let (from_ns, to_ns) = (time(from)?, time(to)?);
    if from_ns >= to_ns {
        return Err(format!("it has no length; {form}"));
    }
    Ok(Window { from_ns, to_ns })
}

impl Ask {
    /// The request; what belongs to files of platforms and workloads is read later.
    ///
    /// # Errors
    /// The first argument that cannot be read.
    pub fn request(&self) -> Result<Request, AskError> {
        let changes = self.policy_at.iter();
        let changes = changes.map(|text| read("policy_at", Some(text), parse_policy_at));
        let changes: Vec<Option<_>> = changes.collect::<Result<_, _>>()?;
        let dialect = Some(self.rtapp_dialect.as_deref().unwrap_or_default());
        let own_seed = vec![self.seed.unwrap_or(1)];
        Ok(Request {
            platforms: self.platform.clone(),
            workloads: self.workload.clone(),
            load: LoadOptions {
                allow_unmodelled: self.allow_unmodelled,
                dialect: read("rtapp_dialect", dialect, Dialect::parse)?.unwrap_or_default(),
            },
            jitter: read("jitter", self.jitter.as_deref(), Jitter::parse)?,
            policies: self.policy.clone(),
            set: self.set.clone(),
            seeds: read("seeds", self.seeds.as_deref(), parse_seeds)?.unwrap_or(own_seed),
            duration_ns: read("duration", self.duration.as_deref(), parse_duration_ns)?,
            hotplug: read("hotplug", self.hotplug.as_deref(), parse_hotplug)?.unwrap_or_default(),
            policy_at: changes.into_iter().flatten().collect(),
            oracle: self.oracle,
            timeline: read("timeline", self.timeline.as_deref(), parse_window)?,
            margin_pct: self.margin.unwrap_or(DEFAULT_MARGIN_PCT),
            ..Request::default()
        })
    }

    /// As the command line counts: `compare` needs two policies, `sim` and `explain` take one of
    /// everything.
    ///
    /// # Errors
    /// What there is too much or too little of.
    pub fn check(&self, command: &str) -> Result<(), AskError> {
        let counts = [
            ("platform", self.platform.len()),
            ("workload", self.workload.len()),
            ("policy", self.policy.len()),
        ];
        if command != "compare" {
            if let Some((name, n)) = counts.iter().find(|(_, n)| *n > 1) {
                return Err(AskError::Count(format!(
                    "{command} takes one {name}, and {n} are given; expected one, or `compare` \
                     for several"
                )));
            }
        } else if let [only] = self.policy.as_slice() {
            return Err(AskError::Count(format!(
                "compare needs two policies or more, and `{only}` is the only policy; expected \
                 another one, or `sim` for a single policy"
            )));
        }
        match counts.iter().find(|(_, n)| *n == 0) {
            Some((name, _)) => Err(AskError::Count(format!(
                "no {name} given; expected at least one"
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
