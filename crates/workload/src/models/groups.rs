//! Task groups in a model's argument: `groups=NAME+NAME...,shares=N+N...` (docs/guide/workloads.md,
//! "Groups of benchmark tasks").
//!
//! Called by `periodic.rs`. Tasks go to groups in turn, in the order named. Shares are
//! `cpu.shares`: 1024 is a task of nice 0.
//!
//! What must stay: tasks go to the names in turn, `/` is no group, and a name that stands twice is
//! one group; a path names the groups around it. Free: what leaves scripts as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `tasks_go_to_the_groups_in_turn` (`names`, `nr`, `expand`, `set_names`),
//! `what_cannot_be_is_refused` (`check`, `set_shares`), group_limits.rs::`models_have_keys` (groups
//! in groups). `groups` below is the tests' own.
//!
//! Tests: below, crates/workload/tests/all/group_limits.rs

use super::limits::Limits;
use super::{ParameterInfo, parameter, parse};
use crate::script::TaskGroup;

/// The key that names the groups.
pub(crate) const GROUPS: ParameterInfo = parameter(
    "groups",
    "names such as a+b or a+a/b",
    "",
    "task groups that the tasks go to in turn, over and over; `/` is the root, a/b a group in a",
);

/// The key that says what they are worth.
pub(crate) const SHARES: ParameterInfo = parameter(
    "shares",
    "2..=262144, such as 512 or 1024+512",
    "",
    "cpu.shares of all groups, or of each in the order of their names (none for `/`); 1024 if not \
     given",
);

/// The name of the group that is none.
const ROOT: &str = "/";

/// What the two keys say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups {
    /// As given: a name may stand there more than once.
    turns: Vec<String>,
    shares: Vec<u32>,
    pub(crate) limits: Limits,
}

impl Groups {
    /// Reads `groups`; the error is what was expected.
    pub(crate) fn set_names(&mut self, text: &str) -> Result<(), &'static str> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let part = |part: &str| !part.is_empty() && part.chars().all(fits);
        let valid = |name: &str| name == ROOT || name.split('/').all(part);
        if !text.split('+').all(valid) {
            return Err("names of letters, digits, `_`, `-` and `.`, joined by `+`, or `/`");
        }
        if (text.split('+')).any(|name| name.split('/').count() > TaskGroup::MAX_LEVELS) {
            return Err("groups at most 8 deep");
        }
        self.turns = text.split('+').map(str::to_owned).collect();
        if self.names().len() > TaskGroup::MAX {
            return Err("at most 64 groups");
        }
        Ok(())
    }

    /// Reads `shares`; the error is what was expected.
    pub(crate) fn set_shares(&mut self, text: &str) -> Result<(), &'static str> {
        let number = |text: &str| parse::number(text).filter(|n| TaskGroup::SHARES.contains(n));
        let shares: Option<Vec<u32>> = text.split('+').map(number).collect();
        self.shares = shares.ok_or("numbers from 2 to 262144, joined by `+`")?;
        Ok(())
    }

    /// The groups, each once, in the order in which they are named; each after those around it.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.turns.iter().map(String::as_str) {
            let ends = name.match_indices('/').map(|(end, _)| end);
            for path in ends.chain([name.len()]).map(|end| &name[..end]) {
                if name != ROOT && !names.contains(&path) {
                    names.push(path);
                }
            }
        }
        names
    }

    /// How many there are.
    pub(crate) fn nr(&self) -> usize {
        self.names().len()
    }

    /// Do the two keys go together? The error is a message and what was expected.
    pub(crate) fn check(&self) -> Result<(), (String, String)> {
        let (groups, shares) = (self.names().len(), self.shares.len());
        if shares > 0 && groups == 0 {
            let message = "`shares` without a group".to_owned();
            return Err((message, "groups=NAME, too".to_owned()));
        }
        if shares > 1 && shares != groups {
            let message = format!("`shares` has {shares} numbers for {groups} groups");
            return Err((message, format!("1 or {groups}")));
        }
        Ok(())
    }

    /// The groups of `n` tasks; one that gets no task, by itself or in it, is left out.
    pub(crate) fn expand(&self, n: u32) -> Vec<TaskGroup> {
        let members = |name: &str| -> Vec<u32> {
            let turns = self.turns.iter().cycle();
            let tasks = (0..n).zip(turns).filter(|(_, turn)| *turn == name);
            tasks.map(|(task, _)| task).collect()
        };
        let groups = self.names().into_iter().enumerate();
        let group = |(index, name): (usize, &str)| TaskGroup {
            shares: (self.shares.get(index).or(self.shares.first()).copied())
                .unwrap_or(TaskGroup::DEFAULT_SHARES),
            limits: self.limits.of(index),
            tasks: members(name),
            ..TaskGroup::new(name)
        };
        let groups: Vec<TaskGroup> = groups.map(group).collect();
        let is_in = |inner: &TaskGroup, name: &str| {
            let rest = inner.name.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let has = |g: &&TaskGroup| {
            let mut all = groups.iter();
            all.any(|inner| is_in(inner, &g.name) && !inner.tasks.is_empty())
        };
        let mut kept: Vec<TaskGroup> = groups.iter().filter(has).cloned().collect();
        for index in 0..kept.len() {
            let outer = kept[index].name.rsplit_once('/').map(|(outer, _)| outer);
            let place = outer.and_then(|outer| kept.iter().position(|g| g.name == outer));
            kept[index].parent = place.map(|place| place as u32);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::Groups;

    fn groups(names: &str, shares: &str) -> Groups {
        let mut groups = Groups::default();
        groups.set_names(names).unwrap();
        groups.set_shares(shares).unwrap();
        groups.check().unwrap();
        groups
    }

    #[test]
    fn tasks_go_to_the_groups_in_turn() {
        let made = groups("a+/+b+a", "1024+512").expand(6);
        let made: Vec<_> = made
            .iter()
            .map(|g| (&*g.name, g.shares, &*g.tasks))
            .collect();
        assert_eq!(made, [("a", 1024, &[0, 3, 4][..]), ("b", 512, &[2][..])]);
        let alike = groups("a+b", "7").expand(2);
        assert!(alike.iter().all(|group| group.shares == 7));
        assert_eq!(groups("a+b", "7").expand(1).len(), 1, "b gets no task");
        assert!(Groups::default().expand(3).is_empty());
    }

    /// The kernel takes shares from 2 to 2^18.
    #[test]
    fn what_cannot_be_is_refused() {
        let mut g = Groups::default();
        for text in [
            "1",
            "0",
            "262145",
            "+5",
            "5+",
            "",
            "1e3",
            "-4",
            "99999999999",
        ] {
            assert!(g.set_shares(text).is_err(), "{text}");
        }
        assert!(g.set_shares("2+262144").is_ok());
        assert!(g.check().unwrap_err().0.contains("without a group"));
        for text in ["", "a++b", "a b", "a//b", "+"] {
            assert!(g.set_names(text).is_err(), "{text}");
        }
        g.set_names("a+b+c").unwrap();
        assert_eq!(g.check().unwrap_err().1, "1 or 3");
        let many: Vec<String> = (0..65).map(|n| n.to_string()).collect();
        assert!(g.set_names(&many.join("+")).is_err());
        assert!(g.set_names(&many[1..].join("+")).is_ok());
    }
}
