//! Which decision is asked about, in the words of the command line.

use super::Question;
use crate::{Ask, AskError};
use wakeplace_engine::Which;
use wakeplace_text::parse_duration_ns;

/// What `explain` takes beside what a run is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct About {
    /// `--task`
    pub task: Option<String>,
    /// `--wakeup`
    pub wakeup: Option<u64>,
    /// `--at`
    pub at: Option<String>,
    /// `--to`
    pub to: Option<u32>,
    /// `--why-not`
    pub why_not: Option<u32>,
    /// `--compare-policy`
    pub compare_policy: Vec<String>,
}

impl About {
    /// The question about a run.
    ///
    /// # Errors
    /// An argument that cannot be read, or several of which one is expected.
    pub fn question(&self, ask: &Ask) -> Result<Question, AskError> {
        ask.check("explain")?;
        let which = match (self.wakeup, &self.at, self.to) {
            (None, None, None) => Which::Wakeup(1),
            (Some(number), None, None) => Which::Wakeup(number),
            (None, Some(at), None) => {
                Which::At(parse_duration_ns(at).map_err(|why| AskError::Value {
                    argument: "at",
                    why: why.to_string(),
                })?)
            }
            (None, None, Some(cpu)) => Which::To(cpu),
            _ => {
                return Err(AskError::Count(
                    "explain: several of wakeup, at and to are given; expected one of them"
                        .to_owned(),
                ));
            }
        };
        Ok(Question {
            request: ask.request()?,
            task: self.task.clone(),
            which,
            others: self.compare_policy.clone(),
            why_not: self.why_not,
        })
    }
}
