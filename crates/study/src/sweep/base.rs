//! What each point of a sweep is compared with: the point that has the base's values of some keys
//! and its own of all others (docs/guide/results.md, "Sweeps").
//!
//! What must stay: the base of a base is itself, and it is a point of the sweep; points of other
//! machines and loads are compared only where somebody asks, or where nothing else is varied.
//! Numbers of points are those of `Sweep::point`. Tests by part: `a_base_keeps_what_is_its_own`
//! (`of`, `base_point`, `keys`), `a_base_that_nobody_names` (`usual`, `own_policy`, `values`),
//! `a_policys_own_value_is_known_however_it_is_written` (`own_value`),
//! `a_base_that_is_no_point_is_refused` (`named`, `unknown`, `listed`), `what_makes_another_load`
//! (`is_of_load`), sweeps.rs::`the_smallest_that_holds_is_chosen` (`words_of`, by the command).
//!
//! Callers: crates/report/src/points/choice.rs and crates/report/src/html/sweep/points.rs
//! (`is_of_load`).
//!
//! Tests: below, crates/cli/tests/all/sweeps.rs::the_smallest_that_holds_is_chosen

use super::{Axis, Design, Range, Sweep, name};
use crate::{Source, StudyError, argument};
use wakeplace_policy_sys::Policy;
use wakeplace_text::{did_you_mean, nearest, shorten};

/// What points are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// Keys that a base has another value of than its points may have, and that value.
    values: Vec<(String, String)>,
    /// What the number of a point is made of, what changes fastest first.
    digits: Vec<Digit>,
}

/// A part of a point's number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Digit {
    many: usize,
    /// The base's; None: as the point.
    fixed: Option<usize>,
}

/// A key that has several values.
struct Key {
    name: String,
    values: Vec<String>,
}

impl Base {
    /// The keys that are named, and the base's values of them.
    #[must_use]
    pub fn values(&self) -> &[(String, String)] {
        &self.values
    }

    /// The number of a point's base; its own if it is one.
    #[must_use]
    pub fn of(&self, point: usize) -> usize {
        let (mut left, mut place, mut base) = (point, 1, 0);
        for digit in &self.digits {
            base += place * digit.fixed.unwrap_or(left % digit.many);
            place *= digit.many;
            left /= digit.many;
        }
        base
    }
}

impl Sweep {
    /// The values of a varied key that somebody listed; those of a range are numbers.
    #[must_use]
    pub fn words_of(&self, key: &str) -> Vec<String> {
        let axis = self.axes.iter().find(|axis| axis.key == key);
        match axis.map(|axis| &axis.range) {
            Some(Range::List(values)) => values.clone(),
            _ => Vec::new(),
        }
    }

    /// What its points are compared with: by `from`, or else the first of several policies, or else
    /// the policy's own values of what is varied, the first where it has none of them. None: the
    /// points of a Latin hypercube share no values.
    ///
    /// # Errors
    /// `from` names a key or a value that no point has.
    pub fn base_point(&self) -> Result<Option<Base>, StudyError> {
        let keys = self.keys();
        let values = match self.from.as_slice() {
            [] => self.usual(&keys),
            named => self.named(named, &keys)?,
        };
        let fixed = |key: &Key| {
            let (_, value) = values.iter().find(|(name, _)| *name == key.name)?;
            key.values.iter().position(|own| own == value)
        };
        let mut digits: Vec<Digit> = { keys.iter() }
            .map(|key| Digit {
                many: key.values.len().max(1),
                fixed: fixed(key),
            })
            .collect();
        if self.design != Design::Grid {
            // What is drawn comes after what every draw is run with.
            digits.push(Digit {
                many: self.points,
                fixed: None,
            });
        }
        Ok((!values.is_empty()).then_some(Base { values, digits }))
    }

    /// What makes the number of a point, what changes fastest first: of a Latin hypercube without
    /// what is drawn.
    fn keys(&self) -> Vec<Key> {
        let varied = |key: &str| self.axes.iter().any(|axis| axis.key == key);
        let names = |all: &[Source]| -> Vec<String> {
            all.iter().map(|one| one.name().to_owned()).collect()
        };
        let base = &self.base;
        let fixed = [
            ("policy", base.policies.clone()),
            ("workload", names(&base.workloads)),
            ("platform", names(&base.platforms)),
        ];
        let fixed = fixed.into_iter().filter(|(key, _)| !varied(key));
        let fixed = fixed.map(|(key, values)| Key {
            name: key.to_owned(),
            values,
        });
        let axes: &[Axis] = match self.design {
            Design::Grid => &self.axes,
            Design::LatinHypercube { .. } => &[],
        };
        let axes = axes.iter().rev().map(|axis| Key {
            name: axis.key.clone(),
            values: axis.values(),
        });
        fixed.chain(axes).collect()
    }

    /// The base that nobody names.
    fn usual(&self, keys: &[Key]) -> Vec<(String, String)> {
        let several = || keys.iter().filter(|key| key.values.len() > 1);
        let first = |key: &Key| (key.name.clone(), key.values[0].clone());
        if let Some(policies) = several().find(|key| key.name == "policy") {
            return vec![first(policies)];
        }
        let is_axis = |key: &&Key| self.axes.iter().any(|axis| axis.key == key.name);
        let all: Vec<&Key> = several().filter(is_axis).collect();
        let own: Vec<&Key> = { all.iter().copied() }
            .filter(|key| !is_of_load(&key.name))
            .collect();
        let chosen = if own.is_empty() { all } else { own };
        let policy = self.own_policy();
        let value = |key: &&Key| {
            let own = policy.as_ref().and_then(|policy| own_value(policy, key));
            own.map_or_else(|| first(key), |value| (key.name.clone(), value.clone()))
        };
        // As they are typed.
        chosen.iter().rev().map(value).collect()
    }

    /// The first policy as it is without what is varied; none where it cannot be made so.
    fn own_policy(&self) -> Option<Policy> {
        let mut request = self.chosen(0);
        for (key, value) in self.labels_of(0) {
            let names_input = matches!(key.as_str(), "platform" | "workload" | "policy");
            if names_input && name(&mut request, &key, &value).is_err() {
                return None;
            }
        }
        let matrix = request.resolve().ok()?;
        matrix.experiments.first()?.policies.first().cloned()
    }

    /// The base that somebody names.
    fn named(
        &self,
        named: &[(String, String)],
        keys: &[Key],
    ) -> Result<Vec<(String, String)>, StudyError> {
        for (at, (key, value)) in named.iter().enumerate() {
            let refused = |why: String| StudyError::Base {
                what: shorten(&format!("{key}={value}")),
                why,
            };
            if named[..at].iter().any(|(other, _)| other == key) {
                return Err(refused(format!("`{}` is named twice", shorten(key))));
            }
            let own = keys.iter().find(|own| own.name == *key);
            let own = own.ok_or_else(|| refused(self.unknown(key, keys)))?;
            if !own.values.contains(value) {
                let near = nearest(value, own.values.iter().map(String::as_str));
                let (one, all) = (shorten(value), listed(&own.values));
                let hint = did_you_mean(near);
                return Err(refused(format!(
                    "no point has `{one}`; expected one of {all}{hint}"
                )));
            }
        }
        Ok(named.to_vec())
    }

    /// Why a key can have no value of the base's.
    fn unknown(&self, key: &str, keys: &[Key]) -> String {
        if self.axes.iter().any(|axis| axis.key == key) {
            return "the points of a Latin hypercube share no values; expected a policy, workload \
                    or platform that every point runs with"
                .to_owned();
        }
        let names = keys.iter().map(|key| key.name.as_str());
        let hint = did_you_mean(nearest(key, names.clone()));
        let names: Vec<&str> = names.collect();
        let key = shorten(key);
        format!(
            "`{key}` is not varied; expected one of {}{hint}",
            names.join(", ")
        )
    }
}

/// Which value of a key the policy has without it, however that is written: `0` is `off`. None: it
/// has none of them, or the key is no parameter of it.
fn own_value<'a>(policy: &Policy, key: &'a Key) -> Option<&'a String> {
    let parameter = Policy::parameter(&key.name);
    let mut own = policy.params().into_iter();
    let own = own.find(|param| param.key == parameter)?.value;
    let mut other = policy.clone();
    key.values.iter().find(|value| {
        let taken = other.set(&key.name, value).is_ok();
        let last = other.overrides().last();
        taken && last.is_some_and(|(_, now)| *now == own)
    })
}

/// Values for a message; of many the first.
fn listed(values: &[String]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = values
        .iter()
        .take(MOST)
        .map(|value| shorten(value))
        .collect();
    let more = match values.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

/// The key makes another machine, another load, or another length or draw of it. Hints do not: who
/// runs a load gives them.
#[must_use]
pub fn is_of_load(key: &str) -> bool {
    let of_model = key.strip_prefix("workload.");
    let hint = |key: &str| key.contains("clamp_") || key.contains("util_");
    let of_machine = ["platform.", "model."]
        .iter()
        .any(|part| key.starts_with(part));
    let of_run = key != "policy" && argument(key).is_ok_and(|own| own.is_axis());
    of_run || of_machine || of_model.is_some_and(|key| !hint(key))
}

#[cfg(test)]
mod tests {
    use super::{Key, is_of_load, own_value};
    use crate::{Axis, Design, Request, Source, Sweep};
    use wakeplace_policy_sys::Policy;

    fn sweep(policies: &[&str], vary: &[&str], design: Design) -> Sweep {
        let base = Request {
            platforms: ["hikey960", "juno-r0"].map(Source::named).to_vec(),
            workloads: vec![Source::named("periodic:n=2")],
            policies: policies.iter().map(|name| (*name).to_owned()).collect(),
            seeds: vec![1],
            duration_ns: Some(10_000_000),
            ..Request::default()
        };
        let axes = vary.iter().map(|text| Axis::parse(text).expect("an axis"));
        Sweep::new(base, axes.collect(), design).expect("a sweep")
    }

    fn grid(policies: &[&str], vary: &[&str], from: &[(&str, &str)]) -> Sweep {
        let mut all = sweep(policies, vary, Design::Grid);
        let own = from
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        all.from = own.collect();
        all
    }

    fn values(sweep: &Sweep) -> String {
        let base = sweep.base_point().expect("a base");
        let all = base.iter().flat_map(|base| base.values().to_vec());
        all.map(|(key, value)| format!("{key}={value}"))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Goal: what a base does not name is the point's own, on every machine and load; and a base is
    /// the base of itself.
    #[test]
    fn a_base_keeps_what_is_its_own() {
        let vary = ["busy_factor=4,16,32", "workload.duty=5%,10%"];
        for (policies, from) in [
            (&["linux-7.3"][..], &[][..]),
            (&["linux-7.3"], &[("busy_factor", "32")]),
            (
                &["linux-7.3"],
                &[("platform", "juno-r0"), ("workload.duty", "10%")],
            ),
            (&["linux-7.3", "linux-5.0"], &[]),
        ] {
            let sweep = grid(policies, &vary, from);
            let base = sweep.base_point().expect("a base").expect("one");
            for number in 0..sweep.points() {
                let of = base.of(number);
                assert_eq!(base.of(of), of, "{from:?}");
                let [own, its] = [number, of].map(|at| sweep.point(at).expect("a point"));
                let facts = |point: &crate::Point| {
                    let record = point.record().clone();
                    let mut facts = point.labels.clone();
                    facts.push(("platform".to_owned(), record.platform));
                    facts.push(("policy".to_owned(), record.policy));
                    facts
                };
                for ((key, own), (_, its)) in facts(&own).into_iter().zip(facts(&its)) {
                    let named = base.values().iter().find(|(name, _)| *name == key);
                    let expected = named.map_or(own, |(_, value)| value.clone());
                    assert_eq!(its, expected, "{key} of point {number}, {from:?}");
                }
            }
        }
    }

    /// Goal: several policies are compared with the first; else a parameter with the policy's own
    /// value, or its first; a load only where nothing else is varied.
    #[test]
    fn a_base_that_nobody_names() {
        for (policies, vary, said) in [
            (
                &["linux-7.3", "linux-5.0"][..],
                &["busy_factor=4,16"][..],
                "policy=linux-7.3",
            ),
            (
                &[],
                &["policy=linux-5.0,linux-7.3", "busy_factor=4,16"],
                "policy=linux-5.0",
            ),
            // 7.3 counts all of the time that tasks wait (docs/rules/linux-5-0-to-6-12.md).
            (
                &["linux-7.3"],
                &["runnable_boost_pct=0..100:3"],
                "runnable_boost_pct=100",
            ),
            (
                &["linux-7.3"],
                &["runnable_boost_pct=0,50"],
                "runnable_boost_pct=0",
            ),
            // It has the runnable boost of 6.5 (docs/rules/linux-5-0-to-6-12.md): on, which is 1.
            (&["linux-7.3"], &["runnable_boost=0,1"], "runnable_boost=1"),
            (
                &["linux-7.3"],
                &[
                    "workload.duty=5%,10%",
                    "busy_factor=4,5",
                    "runnable_boost_pct=50,100",
                ],
                "busy_factor=4 runnable_boost_pct=100",
            ),
            (
                &["linux-7.3"],
                &["workload.duty=5%,10%"],
                "workload.duty=5%",
            ),
            (&["linux-7.3"], &["busy_factor=4"], ""),
        ] {
            let sweep = grid(policies, vary, &[]);
            assert_eq!(values(&sweep), said, "{vary:?}");
        }
        let drawn = Design::LatinHypercube { points: 4, seed: 1 };
        assert_eq!(
            values(&sweep(&["linux-7.3"], &["busy_factor=4..32"], drawn)),
            ""
        );
        let both = sweep(&["linux-7.3", "linux-5.0"], &["busy_factor=4..32"], drawn);
        assert_eq!(values(&both), "policy=linux-7.3");
        let base = both.base_point().expect("a base").expect("one");
        for number in 0..both.points() {
            let [own, its] = [number, base.of(number)].map(|at| both.point(at).expect("a point"));
            assert_eq!(own.labels, its.labels);
            assert_eq!(its.record().policy, "linux-7.3");
            assert_eq!(own.record().platform, its.record().platform);
        }
    }

    /// Goal: `1` is on, and a feature's name is its parameter's; a key of the model is none.
    #[test]
    fn a_policys_own_value_is_known_however_it_is_written() {
        for (policy, name, values, own) in [
            ("linux-7.3", "runnable_boost", ["0", "1"], Some("1")),
            ("linux-7.3", "runnable_boost", ["true", "on"], Some("true")),
            ("linux-7.3", "busy_factor", ["015", "016"], Some("016")),
            ("linux-7.3", "busy_factor", ["14", "15"], None),
            ("linux-7.3", "model.ipi_ns", ["0", "1"], None),
            (
                "linux-3.8+power-policy=balance",
                "power-policy",
                ["performance", "balance"],
                Some("balance"),
            ),
        ] {
            let policy = Policy::parse(policy).expect("a policy");
            let key = Key {
                name: name.to_owned(),
                values: values.map(str::to_owned).into(),
            };
            let found = own_value(&policy, &key).map(String::as_str);
            assert_eq!(found, own, "{name}: {values:?}");
        }
    }

    #[test]
    fn a_base_that_is_no_point_is_refused() {
        let vary = ["busy_factor=4,16"];
        for (from, said) in [
            (
                &[("busy_facter", "4")][..],
                "base busy_facter=4: `busy_facter` is not varied; expected one of policy, \
                 workload, platform, busy_factor; did you mean `busy_factor`?",
            ),
            (
                &[("busy_factor", "5")],
                "base busy_factor=5: no point has `5`; expected one of 4, 16",
            ),
            (
                &[("platform", "hikey96")],
                "expected one of hikey960, juno-r0; did you mean `hikey960`?",
            ),
            (
                &[("busy_factor", "4"), ("busy_factor", "16")],
                "`busy_factor` is named twice",
            ),
        ] {
            let error = grid(&["linux-7.3"], &vary, from)
                .base_point()
                .expect_err(said);
            assert!(error.to_string().contains(said), "{error}");
        }
        let drawn = Design::LatinHypercube { points: 4, seed: 1 };
        let mut drawn = sweep(&["linux-7.3"], &["busy_factor=4..32"], drawn);
        drawn.from = vec![("busy_factor".to_owned(), "4".to_owned())];
        let error = drawn.base_point().expect_err("no value").to_string();
        assert!(error.contains("share no values"), "{error}");
    }

    #[test]
    fn what_makes_another_load() {
        for key in [
            "platform",
            "workload",
            "duration",
            "jitter",
            "deadlines",
            "hotplug",
        ] {
            assert!(is_of_load(key), "{key}");
        }
        for key in ["workload.n", "platform.kernel.tick_hz", "model.ipi_ns"] {
            assert!(is_of_load(key), "{key}");
        }
        let own = [
            "policy",
            "busy_factor",
            "task.decode.util_min",
            "workload.uclamp_min",
        ];
        for key in own {
            assert!(!is_of_load(key), "{key}");
        }
    }
}
