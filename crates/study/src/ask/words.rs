//! A question as a command and as lines of Python.

use super::Ask;
use crate::{About, Source};
use serde_json::json;
use wakeplace_text::shell_word;

/// One argument: its name as Python has it, and its value.
enum Value {
    /// As typed.
    Text(String),
    Number(String),
    /// An option that is there or not.
    Flag,
    /// The same option once for each.
    Several(Vec<String>),
    /// `KEY=VALUE`, once for each.
    Pairs(Vec<(String, String)>),
}

/// A text as Python writes it: JSON's escapes are Python's, too.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

impl Source {
    /// What the command line and Python can name it by; a text is no file.
    fn word(&self) -> Option<&str> {
        match self {
            Self::Named(name) | Self::File { name, .. } => Some(name),
            Self::Text { .. } => None,
        }
    }
}

impl Ask {
    /// All that is given, in the order of the command line's help.
    fn arguments(&self) -> Option<Vec<(&'static str, Value)>> {
        let names = |sources: &[Source]| -> Option<Vec<String>> {
            let words = sources.iter().map(|one| one.word().map(str::to_owned));
            words.collect()
        };
        let mut all = vec![
            ("platform", Value::Several(names(&self.platform)?)),
            ("workload", Value::Several(names(&self.workload)?)),
            ("policy", Value::Several(self.policy.clone())),
        ];
        if !self.set.is_empty() {
            all.push(("set", Value::Pairs(self.set.clone())));
        }
        if !self.policy_at.is_empty() {
            all.push(("policy_at", Value::Several(self.policy_at.clone())));
        }
        let text = |text: &Option<String>| text.clone().map(Value::Text);
        let number = |number: Option<String>| number.map(Value::Number);
        let optional = [
            ("duration", text(&self.duration)),
            ("seed", number(self.seed.map(|seed| seed.to_string()))),
            ("seeds", text(&self.seeds)),
            ("jitter", text(&self.jitter)),
            (
                "margin",
                number(self.margin.map(|margin| margin.to_string())),
            ),
            ("hotplug", text(&self.hotplug)),
            ("rtapp_dialect", text(&self.rtapp_dialect)),
            ("timeline", text(&self.timeline)),
            (
                "allow_unmodelled",
                self.allow_unmodelled.then_some(Value::Flag),
            ),
            ("oracle", self.oracle.then_some(Value::Flag)),
        ];
        let given = optional.into_iter();
        all.extend(given.filter_map(|(name, value)| Some((name, value?))));
        Some(all)
    }

    /// The command that gives the same bytes; none where a text is no file.
    #[must_use]
    pub fn command(&self, command: &str, about: Option<&About>) -> Option<String> {
        let mut words = vec!["wakeplace".to_owned(), command.to_owned()];
        let mut all = self.arguments()?;
        all.extend(about.into_iter().flat_map(About::arguments));
        for (name, value) in all {
            let option = format!("--{}", name.replace('_', "-"));
            let mut add = |value: &str| words.extend([option.clone(), shell_word(value)]);
            match value {
                Value::Text(text) | Value::Number(text) => add(&text),
                Value::Several(all) => all.iter().for_each(|one| add(one)),
                Value::Pairs(all) => {
                    let pairs = all.iter().map(|(key, value)| format!("{key}={value}"));
                    pairs.for_each(|pair| add(&pair));
                }
                Value::Flag => words.push(option),
            }
        }
        Some(words.join(" "))
    }

    /// Lines of Python that give the same; none where a text is no file.
    #[must_use]
    pub fn python(&self, command: &str, about: Option<&About>) -> Option<String> {
        let mut lines = format!("import wakeplace\n\nresult = wakeplace.{command}(\n");
        let mut all = self.arguments()?;
        all.extend(about.into_iter().flat_map(About::arguments));
        for (name, value) in all {
            let list = |all: &[String]| {
                let all: Vec<_> = all.iter().map(|one| quoted(one)).collect();
                format!("[{}]", all.join(", "))
            };
            let value = match value {
                Value::Text(text) => quoted(&text),
                Value::Number(text) => text,
                // `compare` takes lists; of one thing the others take that thing.
                Value::Several(all) if command != "compare" && all.len() == 1 => quoted(&all[0]),
                Value::Several(all) => list(&all),
                Value::Pairs(all) => {
                    let pairs = all.iter();
                    let pairs =
                        pairs.map(|(key, value)| format!("{}: {}", quoted(key), quoted(value)));
                    format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
                }
                Value::Flag => "True".to_owned(),
            };
            lines += &format!("    {name}={value},\n");
        }
        Some(lines + ")\n")
    }
}

impl About {
    fn arguments(&self) -> Vec<(&'static str, Value)> {
        let number = |number: String| Some(Value::Number(number));
        let others = self.compare_policy.clone();
        let all = [
            ("task", self.task.clone().map(Value::Text)),
            ("wakeup", self.wakeup.and_then(|n| number(n.to_string()))),
            ("at", self.at.clone().map(Value::Text)),
            ("to", self.to.and_then(|cpu| number(cpu.to_string()))),
            (
                "why_not",
                self.why_not.and_then(|cpu| number(cpu.to_string())),
            ),
            (
                "compare_policy",
                (!others.is_empty()).then_some(Value::Several(others)),
            ),
        ];
        let given = all.into_iter();
        given
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}
