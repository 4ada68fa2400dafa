//! What the author of a change expects, as a file, and whether it holds (docs/guide/review.md,
//! "Claims").
//!
//! What must stay: conditions are those of `--expect`; a claim holds if it holds in every place
//! that it names and that measured the metric: a change by its interval, a value by its mean; one
//! place where it does not hold is enough for it not to hold. What cannot be looked for is refused
//! before anything runs (`read`, `check`), what nobody measured afterwards (`judge`). Keys of
//! files stay. Tests by part: `files_are_read_and_refused` (`read`),
//! crates/cli/tests/all/review.rs::`claims_are_judged` (`judge`, `place`),
//! review.rs::`wrong_claims_are_refused` (`check`, `unmeasured`).
//!
//! Tests: below, crates/cli/tests/all/review.rs

use crate::StudyError;
use crate::comparison::{Comparison, PolicyRuns};
use crate::error::Flaw;
use serde::Deserialize;
use std::collections::BTreeSet;
use toml::Spanned;
use wakeplace_metrics::{Expectation, measured_instead};
use wakeplace_outcome::{Claim, ClaimPlace, Holds};
use wakeplace_text::{did_you_mean, shorten};

type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    claim: Vec<RawClaim>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawClaim {
    /// A condition, as `--expect` has it.
    expect: Text,
    /// Platforms; absent: all.
    #[serde(default)]
    boards: Vec<Text>,
    /// Loads of the battery; absent: all.
    #[serde(default)]
    loads: Vec<Text>,
}

/// The claims of a file.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    file: String,
    text: String,
    all: Vec<Said>,
}

/// One of them; each name with its place in the text.
#[derive(Clone, Debug)]
struct Said {
    at: usize,
    expect: Expectation,
    boards: Vec<(usize, String)>,
    loads: Vec<(usize, String)>,
}

impl Claims {
    /// Reads a file of at most a megabyte.
    ///
    /// # Errors
    /// As [`Claims::read`]; it cannot be read.
    pub fn from_file(path: &str) -> Result<Self, StudyError> {
        Self::read(&crate::catalogue::read_file(path)?, path)
    }

    /// Reads a file's text; `file` is what it is called in messages.
    ///
    /// # Errors
    /// It is no TOML, has a key that nobody reads, or a condition that is none.
    pub fn read(text: &str, file: &str) -> Result<Self, StudyError> {
        let all = said(text).map_err(|flaw| flaw.locate(file, text))?;
        Ok(Self {
            file: file.to_owned(),
            text: text.to_owned(),
            all,
        })
    }

    /// A flaw at its place in the file.
    fn refuse(&self, flaw: Flaw) -> StudyError {
        flaw.locate(&self.file, &self.text)
    }

    /// Before the first run: what claims name is among what will run, given as board and load.
    ///
    /// # Errors
    /// A board or a load that is not run, with the nearest; a claim about no place.
    pub fn check(&self, places: &[(String, String)]) -> Result<(), StudyError> {
        let names = |of: fn(&(String, String)) -> &str| {
            let mut names: Vec<&str> = Vec::new();
            for name in places.iter().map(of) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            names
        };
        let (boards, loads) = (names(|(board, _)| board), names(|(_, load)| load));
        for said in &self.all {
            let sides = [
                ("board", &said.boards, &boards),
                ("load", &said.loads, &loads),
            ];
            for (what, named, known) in sides {
                let strange = { named.iter() }.find(|(_, name)| !known.contains(&name.as_str()));
                if let Some((at, name)) = strange {
                    let known = known.iter().copied();
                    return Err(self.refuse(Flaw::unknown(*at, what, name, known)));
                }
            }
            if !places
                .iter()
                .any(|(board, load)| said.is_about(board, load))
            {
                let what = "no board of this claim runs one of its loads";
                let flaw = Flaw::new(said.at, what, "expected a pair that runs");
                return Err(self.refuse(flaw));
            }
        }
        Ok(())
    }

    /// Judges all claims; `loads` are those of the comparisons.
    ///
    /// # Errors
    /// A claim about a metric that none of its places measured.
    pub fn judge(
        &self,
        loads: &[String],
        comparisons: &[Comparison],
    ) -> Result<Vec<Claim>, StudyError> {
        let mut judged = Vec::new();
        for said in &self.all {
            let both = comparisons.iter().zip(loads);
            let own = both.filter(|(of, load)| said.is_about(&of.platform, load));
            let places = own.clone().filter_map(|(of, load)| said.place(of, load));
            let places: Vec<ClaimPlace> = places.collect();
            if places.is_empty() {
                return Err(self.refuse(said.unmeasured(own.map(|(of, _)| of))));
            }
            let any = |wanted: Holds| places.iter().any(|place| place.holds == wanted);
            let plain = |names: &[(usize, String)]| -> Vec<String> {
                names.iter().map(|(_, name)| name.clone()).collect()
            };
            judged.push(Claim {
                expect: said.expect.condition(),
                boards: plain(&said.boards),
                loads: plain(&said.loads),
                holds: match (any(Holds::No), any(Holds::NotTold)) {
                    (true, _) => Holds::No,
                    (false, true) => Holds::NotTold,
                    (false, false) => Holds::Yes,
                },
                places,
            });
        }
        Ok(judged)
    }
}

impl Said {
    /// Does it name this board with this load?
    fn is_about(&self, board: &str, load: &str) -> bool {
        let named = |names: &[(usize, String)], name: &str| {
            names.is_empty() || names.iter().any(|(_, own)| own == name)
        };
        named(&self.boards, board) && named(&self.loads, load)
    }

    /// That none of its places measured the metric, with the nearest that one of them did.
    fn unmeasured<'a>(&self, places: impl Iterator<Item = &'a Comparison>) -> Flaw {
        let metric = &self.expect.metric;
        let runs = places.flat_map(|of| &of.runs);
        let first = runs.filter_map(|runs| runs.metrics.first());
        let names = first.flat_map(|run| run.values.iter().map(|(name, _)| name));
        let names: BTreeSet<&str> = names.collect();
        let instead = did_you_mean(measured_instead(metric, names.iter().copied()));
        let what = format!("no run that the claim is about has the metric `{metric}`");
        let expected = format!("expected a metric that one of them has{instead}");
        Flaw::new(self.at, what, expected)
    }

    /// Whether it holds here; None: the metric was not measured.
    fn place(&self, comparison: &Comparison, load: &str) -> Option<ClaimPlace> {
        let [base, change] = comparison.runs.as_slice() else {
            return None;
        };
        let mut place = ClaimPlace {
            platform: comparison.platform.clone(),
            load: load.to_owned(),
            holds: Holds::No,
            mean: None,
            delta_ci95: None,
        };
        if comparison.runs.iter().any(PolicyRuns::is_stuck) {
            return Some(place);
        }
        let found = self.expect.judge(&base.metrics, &change.metrics)?;
        place.holds = match found.holds {
            Some(true) => Holds::Yes,
            Some(false) => Holds::No,
            None => Holds::NotTold,
        };
        match found.change {
            Some(change) => place.delta_ci95 = change.bounds(),
            None => place.mean = found.mean,
        }
        Some(place)
    }
}

/// The claims of a text.
fn said(text: &str) -> Result<Vec<Said>, Flaw> {
    let raw: Raw = toml::from_str(text).map_err(|error| Flaw::from_toml(&error, &[]))?;
    let names = |texts: &[Text]| -> Vec<(usize, String)> {
        let one = |text: &Text| (text.span().start, text.get_ref().clone());
        texts.iter().map(one).collect()
    };
    let one = |claim: &RawClaim| {
        let at = claim.expect.span().start;
        let expect = Expectation::parse(claim.expect.get_ref());
        let expect = expect.map_err(|error| Flaw::from_message(at, &error.to_string()))?;
        if let Some(policy) = &expect.policy {
            let what = format!("the condition names the policy `{}`", shorten(policy));
            let expected = "expected METRIC OP LIMIT: a claim is about the change";
            return Err(Flaw::new(at, what, expected));
        }
        Ok(Said {
            at,
            expect,
            boards: names(&claim.boards),
            loads: names(&claim.loads),
        })
    };
    raw.claim.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::Claims;

    #[test]
    fn files_are_read_and_refused() {
        let good = "[[claim]]\nexpect = \"cpu_energy_j<=-3%\"\nboards = [\"hikey960\"]\n";
        let claims = Claims::read(good, "c.toml").unwrap();
        let places = [("hikey960".to_owned(), "light".to_owned())];
        claims.check(&places).unwrap();
        let other = [("juno-r0".to_owned(), "light".to_owned())];
        let message = claims.check(&other).unwrap_err().to_string();
        assert_eq!(
            message,
            "c.toml:3:11: unknown board `hikey960`; expected one of juno-r0"
        );
        let refused = |text: &str| Claims::read(text, "c.toml").unwrap_err().to_string();
        let metric = refused("[[claim]]\nexpect = \"cpu_energy_f<=-3%\"\n");
        assert!(metric.starts_with("c.toml:2:10: "), "{metric}");
        assert!(metric.contains("did you mean `cpu_energy_j`?"), "{metric}");
        let key = refused("[[claim]]\nexpects = \"cpu_energy_j<=-3%\"\n");
        assert!(key.starts_with("c.toml:2:1: "), "{key}");
        let policy = refused("[[claim]]\nexpect = \"linux-7.3 cpu_energy_j<=-3%\"\n");
        assert!(policy.contains("a claim is about the change"), "{policy}");
    }
}
