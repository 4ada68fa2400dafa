//! Batteries: loads on boards, each load sized to its board, that anything can be tried on
//! (docs/guide/review.md, "Batteries"). `review` and `evaluate` run them.
//!
//! What must stay: cells stand board by board, then load by load, as the file has them; names of
//! batteries and of their loads, which results cite; a load has the same text on every board but
//! for `{cpus}`. Which boards and loads a battery has may change, with a line in CHANGELOG.md.
//! Tests by part: `cells_stand_by_boards_then_loads` (`cells`),
//! `a_load_is_sized_to_its_board` (`sized`), `own_boards_have_all_loads` (`boards`),
//! `what_is_asked_comes_before_the_file` (`request_of`), `what_is_wrong_is_named` (`load`,
//! `from_toml`), `loads_have_deadlines_and_hints` (`deadlines_of`, `path_beside`),
//! `every_built_in_battery_can_be_run` (the built-in files),
//! crates/cli/tests/all/review.rs::`a_battery_is_listed` (`loads`).
//!
//! Tests: crates/study/src/battery/tests.rs,
//! crates/cli/tests/all/review.rs::a_battery_is_listed

mod cut;
mod file;
#[cfg(test)]
mod tests;

use crate::catalogue::{read_file, workload_source};
use crate::identity::hash_of_text;
use crate::{Ask, AskError, Command, Experiment, Request, Source, StudyError};
use file::{Load, read};
use std::path::Path;
use wakeplace_text::{nearest, shorten};
use wakeplace_workload::{Deadlines, is_path};

/// How a file of somebody's own ends.
const FILE: &str = ".toml";

/// Digits of a file's hash that people are shown.
const SHA256_DIGITS: usize = 12;

/// Name and text of what is built in, the smallest first.
const BUILTIN: [(&str, &str); 3] = [
    ("small", include_str!("small.toml")),
    ("quick", include_str!("quick.toml")),
    ("full", include_str!("full.toml")),
];

/// Loads on boards.
#[derive(Clone, Debug)]
pub struct Battery {
    /// Its name, or the path of its file.
    pub name: String,
    /// What it is, in one line.
    pub title: String,
    /// First digits of its file's SHA-256; None: it is built in.
    pub sha256: Option<String>,
    /// Seeds of each run, where nobody asks for others.
    pub seeds: Vec<u64>,
    duration_ns: u64,
    boards: Vec<String>,
    loads: Vec<Load>,
}

/// A load on a board, with all that is tried on it.
#[derive(Clone, Debug)]
pub struct BatteryCell {
    /// Name of the load in the battery.
    pub load: String,
    /// What is run, for other questions about the same load.
    pub request: Request,
    /// The runs.
    pub experiment: Experiment,
}

/// A load of a battery, for lists.
#[derive(Clone, Debug)]
pub struct BatteryLoad<'a> {
    /// Its name.
    pub name: &'a str,
    /// What `--workload` takes, with `{cpus}` for the board's CPUs.
    pub workload: &'a str,
    /// Simulated time of a run, ns.
    pub duration_ns: u64,
    /// The boards that it runs on.
    pub boards: Vec<&'a str>,
}

impl Battery {
    /// Its loads, in the order of its file.
    pub fn loads(&self) -> impl Iterator<Item = BatteryLoad<'_>> {
        self.loads.iter().map(|load| BatteryLoad {
            name: &load.name,
            workload: &load.workload,
            duration_ns: load.duration_ns.unwrap_or(self.duration_ns),
            boards: { self.boards.iter() }
                .map(String::as_str)
                .filter(|board| load.runs_on(board))
                .collect(),
        })
    }

    /// Names of what is built in, the smallest first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// A built-in battery by its name, or a file of somebody's own (`.toml`).
    ///
    /// # Errors
    /// The name is unknown; the file cannot be read or breaks a rule, with its place.
    pub fn load(name: &str) -> Result<Self, StudyError> {
        if let Some((_, text)) = BUILTIN.iter().find(|(known, _)| *known == name) {
            return Self::from_toml(text, name);
        }
        if name.ends_with(FILE) {
            let text = read_file(name)?;
            let own = Self::from_toml(&text, name)?;
            let hash = hash_of_text(&text);
            return Ok(Self {
                sha256: Some(hash[..SHA256_DIGITS].to_owned()),
                ..own
            });
        }
        Err(StudyError::UnknownBattery {
            name: shorten(name),
            known: Self::names().collect::<Vec<_>>().join(", "),
            near: nearest(name, Self::names()).map(str::to_owned),
        })
    }

    /// Reads and checks a battery; `name` is the file in messages.
    ///
    /// # Errors
    /// The text is no TOML or breaks a rule; the message says where.
    pub fn from_toml(text: &str, name: &str) -> Result<Self, StudyError> {
        read(text, name).map_err(|flaw| flaw.locate(name, text))
    }

    /// What a command asks of a battery: without `seeds` the battery's own count.
    ///
    /// # Errors
    /// As [`Ask::request`].
    pub fn request(ask: &Ask, command: Command) -> Result<Request, AskError> {
        let mut request = ask.request(command)?;
        if !ask.has("seeds") {
            request.seeds.clear();
        }
        Ok(request)
    }

    /// Everything that is to be run. `asked` has the policies, schedulers and settings; platforms,
    /// seeds and the length only where the caller wants others than the battery's.
    ///
    /// # Errors
    /// As [`Request::resolve`]; no seeds.
    pub fn cells(&self, asked: &Request) -> Result<Vec<BatteryCell>, StudyError> {
        let own = &asked.platforms;
        let mut cells = Vec::new();
        for board in self.boards(asked) {
            let platform = board.platform();
            let cpus = match own.is_empty() {
                true => platform.map_err(|error| self.within(error))?,
                false => platform?,
            };
            let cpus = cpus.cpus.len();
            let loads = self.loads.iter();
            // A board that the caller brings has all loads.
            let runs = |load: &&Load| {
                let mut named = self
                    .boards
                    .iter()
                    .filter(|own| self.beside(own) == board.name());
                named.any(|board| load.runs_on(board))
            };
            let loads = loads.filter(|load| !own.is_empty() || runs(load));
            for load in loads {
                let request = self.request_of(load, &board, cpus, asked)?;
                let resolved = request.resolve();
                let of_load = |why: &str| load.set.iter().any(|(key, _)| why.contains(key));
                let mut matrix = resolved.map_err(|error| match error {
                    StudyError::Workload(_) | StudyError::Trace(_) => {
                        self.within(load.named(error))
                    }
                    StudyError::UnknownSetting(ref why) if of_load(why) => {
                        self.within(load.named(error))
                    }
                    error => error,
                })?;
                cells.push(BatteryCell {
                    load: load.name.clone(),
                    request,
                    experiment: matrix.experiments.swap_remove(0),
                });
            }
        }
        Ok(cells)
    }

    /// The boards: those that are asked for, else the battery's.
    #[must_use]
    pub fn boards(&self, asked: &Request) -> Vec<Source> {
        match asked.platforms.is_empty() {
            true => self
                .boards
                .iter()
                .map(|board| Source::named(self.beside(board)))
                .collect(),
            false => asked.platforms.clone(),
        }
    }

    /// A file that is named in a battery's file is looked for beside it first.
    fn beside(&self, name: &str) -> String {
        match is_path(name) {
            true => self.path_beside(name),
            false => name.to_owned(),
        }
    }

    /// The same of what can be no name.
    fn path_beside(&self, path: &str) -> String {
        let own = Path::new(&self.name).parent();
        let own = own.filter(|_| self.name.ends_with(FILE));
        let there = own.map(|folder| folder.join(path));
        match there.filter(|path| path.is_file()) {
            Some(path) => path.to_string_lossy().into_owned(),
            None => path.to_owned(),
        }
    }

    /// The deadlines that a load's file says.
    fn deadlines_of(&self, load: &Load) -> Result<Option<Deadlines>, StudyError> {
        let read = |path: &String| Deadlines::read(&self.path_beside(path));
        let read = load.deadlines.as_ref().map(read).transpose();
        read.map_err(|error| self.within(load.named(error.into())))
    }

    /// An error of what the battery's file names.
    fn within(&self, error: StudyError) -> StudyError {
        match self.name.ends_with(FILE) {
            true => StudyError::InFile {
                file: shorten(&self.name),
                error: Box::new(error),
            },
            false => error,
        }
    }

    /// One load on one board.
    fn request_of(
        &self,
        load: &Load,
        board: &Source,
        cpus: usize,
        asked: &Request,
    ) -> Result<Request, StudyError> {
        let argument = sized(&load.workload, cpus).map_err(|why| StudyError::File {
            file: self.name.clone(),
            reason: format!("load `{}`: {why}", load.name),
        })?;
        let own_ns = load.duration_ns.unwrap_or(self.duration_ns);
        let is_asked = |key: &String| asked.set.iter().any(|(other, _)| other == key);
        let own_set = load.set.iter().filter(|(key, _)| !is_asked(key));
        Ok(Request {
            platforms: vec![board.clone()],
            workloads: vec![workload_source(&self.beside(&argument))],
            duration_ns: asked.duration_ns.or(Some(own_ns)),
            jitter: asked.jitter.or(load.jitter),
            deadlines: match &asked.deadlines {
                Some(deadlines) => Some(deadlines.clone()),
                None => self.deadlines_of(load)?,
            },
            set: own_set.chain(&asked.set).cloned().collect(),
            seeds: match asked.seeds.is_empty() {
                true => self.seeds.clone(),
                false => asked.seeds.clone(),
            },
            ..asked.clone()
        })
    }
}

/// The argument with numbers for `{cpus}`, `{cpus*N}` and `{cpus/N}` (at least 1).
fn sized(workload: &str, cpus: usize) -> Result<String, String> {
    const FORM: &str = "expected `{cpus}`, `{cpus*N}` or `{cpus/N}` with a number N from 1 on";
    let mut text = String::new();
    let mut rest = workload;
    while let Some((before, after)) = rest.split_once('{') {
        let (word, after) = after.split_once('}').ok_or(FORM)?;
        let number = match word.strip_prefix("cpus").ok_or(FORM)? {
            "" => cpus,
            factor => {
                let (by, number) = factor.split_at_checked(1).ok_or(FORM)?;
                let number: usize = number.parse().ok().filter(|n| *n > 0).ok_or(FORM)?;
                match by {
                    "*" => cpus.checked_mul(number).ok_or(FORM)?,
                    "/" => (cpus / number).max(1),
                    _ => return Err(FORM.to_owned()),
                }
            }
        };
        text.push_str(before);
        text.push_str(&number.to_string());
        rest = after;
    }
    Ok(text + rest)
}
