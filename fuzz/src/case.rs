//! A run as text: one argument a line, and files after lines that begin with `===`.
//!
//! ```text
//! platform hikey960
//! workload periodic:n=4
//! policy linux-6.12+energy-aware
//! set model.irq=0:1ms:100us
//! hotplug 5ms:1=off
//! expect runtime_s<=1
//! === workload
//! {"tasks": {}}
//! ```
//!
//! What must stay: the form of inputs: what `write` gives is read again as the same run. Free:
//! which options a run has. Tests by part: trees.rs::`a_run_survives_reading_and_writing` (`read`,
//! `write`, `all`, and `file` for a workload).
//!
//! Callers: targets.rs (`read`, `all`, `write`), words.rs (`read`, `write`). Rule:
//! docs/internals/checks.md.
//!
//! Tests: fuzz/tests/all/trees.rs::a_run_survives_reading_and_writing

/// What is run, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// `(option, value)`, in the order of the file.
    pub lines: Vec<(String, String)>,
    /// A platform file instead of a name.
    pub platform: Option<String>,
    /// An rt-app file instead of a model's name.
    pub workload: Option<String>,
}

/// What begins the line before a file.
pub(crate) const FILE: &str = "=== ";

impl Case {
    /// Reads a run; None if it is no text.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut case = Self::default();
        let mut file: Option<String> = None;
        for line in text.split_inclusive('\n') {
            if let Some(name) = line.strip_prefix(FILE) {
                file = Some(name.trim().to_owned());
                if let Some(text) = file.as_deref().and_then(|name| case.file(name)) {
                    *text = Some(String::new());
                }
            } else if let Some(name) = &file {
                if let Some(Some(text)) = case.file(name) {
                    text.push_str(line);
                }
            } else {
                let line = line.trim_end_matches('\n');
                let (option, value) = line.split_once(' ').unwrap_or((line, ""));
                case.lines.push((option.to_owned(), value.to_owned()));
            }
        }
        case.lines.retain(|(option, _)| !option.is_empty());
        Some(case)
    }

    /// The place of a file by its name after `===`; `None` for a name that is left out.
    fn file(&mut self, name: &str) -> Option<&mut Option<String>> {
        match name {
            "platform" => Some(&mut self.platform),
            "workload" => Some(&mut self.workload),
            _ => None,
        }
    }

    /// The run as text, which `read` reads as the same run.
    #[must_use]
    pub fn write(&self) -> String {
        let mut text = String::new();
        for (option, value) in &self.lines {
            text.push_str(&format!("{option} {value}\n"));
        }
        for (name, file) in [("platform", &self.platform), ("workload", &self.workload)] {
            if let Some(file) = file {
                text.push_str(&format!("{FILE}{name}\n{file}\n"));
            }
        }
        text
    }

    /// All values of an option.
    pub fn all<'a>(&'a self, option: &'a str) -> impl Iterator<Item = &'a str> {
        let ours = self.lines.iter().filter(move |(name, _)| name == option);
        ours.map(|(_, value)| value.as_str())
    }
}
