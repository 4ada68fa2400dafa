//! What a program is made of and who wakes whom in it; counted from a kernel's trace
//! (docs/guide/workloads.md, "How it is counted").
//!
//! What must stay: counts are as by hand in the test; roles are names without numbers. Free: what
//! leaves the tables of pages as they are. Tests by part: `a_trace_is_counted_as_by_hand`
//! (`of_trace`, `wake`, `left`, `waker`, `find`, `of`, `add`, `begins`, `roles`, `is_exec`,
//! `by_order`), `a_trace_without_the_program_has_no_structure` (`find`),
//! `a_task_that_names_itself_has_its_role_by_its_name` (`roles` by name),
//! `what_is_made_by_others_than_the_first_is_of_no_role` (`by_order`),
//! `roles_are_names_without_numbers` (names); `wakes` and `counts` are the tests' own.
//!
//! Tests: below

use super::list::Roles;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wakeplace_trace::read::Line;
use wakeplace_workload::task_of_thread;

/// The role of whatever is not a task of the program: its sleep was over, or a device was done.
pub(super) const INTERRUPT: &str = "interrupt";
/// Of tasks that do not belong to the program.
const OTHERS: &str = "others";
/// The bit of `wake_flags` by which a waker says that it will sleep soon (`WF_SYNC`, the same since
/// 5.15 at least).
const WF_SYNC: i32 = 0x10;

/// Counts of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Structure {
    /// Threads and processes by role, its first one included.
    pub(super) tasks: BTreeMap<String, u64>,
    /// Threads and processes it made.
    pub(super) forks: u64,
    /// Programs that it ran besides itself.
    pub(super) execs: u64,
    /// Wake-ups of its tasks, by who woke whom: `WAKER -> WOKEN`.
    pub(super) wakes: BTreeMap<String, Wakes>,
    /// Times that tasks left the CPU to sleep, by role.
    pub(super) sleeps: BTreeMap<String, u64>,
    /// Times that they left it and could have gone on: preempted, or by sched_yield.
    pub(super) gave_way: BTreeMap<String, u64>,
}

/// Wake-ups of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wakes {
    /// How many.
    pub(super) count: u64,
    /// Of these, those whose waker said that it will sleep soon.
    pub(super) sync: u64,
}

impl Structure {
    /// Notes a wake-up.
    pub(super) fn wake(&mut self, waker: &str, woken: &str, sync: bool) {
        let wakes = self.wakes.entry(format!("{waker} -> {woken}")).or_default();
        wakes.count += 1;
        wakes.sync += u64::from(sync);
    }

    /// Notes that a task left its CPU.
    pub(super) fn left(&mut self, role: &str, sleeps: bool) {
        let counts = match sleeps {
            true => &mut self.sleeps,
            false => &mut self.gave_way,
        };
        *counts.entry(role.to_owned()).or_default() += 1;
    }

    /// Counts the run of a program in a trace: from the time that its first process became the
    /// program until its end. None if it is not in the trace.
    pub(super) fn of_trace(text: &str, program: &str, roles: &Roles) -> Option<Self> {
        let lines = || text.lines().filter_map(Line::parse);
        let family = Family::find(lines(), program)?;
        let role_of = family.roles(roles);
        let mut found = Self::default();
        for role in role_of.values() {
            *found.tasks.entry(role.clone()).or_default() += 1;
        }
        // What was asked of the kernel last, by CPU: the thread to wake, and how.
        let mut asked: BTreeMap<u32, (i32, i32)> = BTreeMap::new();
        let begun = lines().skip_while(|line| !family.begins(line)).skip(1);
        for line in begun {
            let own = |key| line.number(key).and_then(|tid| role_of.get(&tid));
            match line.name {
                "sched_process_fork" => found.forks += u64::from(own("pid").is_some()),
                "sched_process_exec" => found.execs += u64::from(own("pid").is_some()),
                "ttwu" => {
                    let both = line.number("pid").zip(line.number("flags"));
                    both.and_then(|both| asked.insert(line.context.cpu, both));
                }
                "sched_waking" => {
                    let Some(woken) = own("pid") else { continue };
                    let ask = asked.remove(&line.context.cpu);
                    let sync = ask.is_some_and(|(tid, flags)| {
                        line.number("pid") == Some(tid) && flags & WF_SYNC != 0
                    });
                    found.wake(waker(&line, &role_of), woken, sync);
                }
                "sched_switch" => {
                    let state = line
                        .text("prev_state")
                        .and_then(|state| state.chars().next());
                    match (own("prev_pid"), state) {
                        // Ended.
                        (_, None | Some('X' | 'Z')) | (None, _) => {}
                        (Some(role), Some(state)) => found.left(role, state != 'R'),
                    }
                }
                _ => {}
            }
        }
        Some(found)
    }
}

/// An interrupt, a role, or others.
fn waker<'a>(line: &Line<'_>, role_of: &'a BTreeMap<i32, String>) -> &'a str {
    if line.context.interrupt || line.context.pid == 0 {
        return INTERRUPT;
    }
    role_of
        .get(&line.context.pid)
        .map_or(OTHERS, String::as_str)
}

/// The tasks of a program.
struct Family {
    /// Thread id of its first one.
    main: i32,
    /// By thread id: who made it, how many that one had made before, its last name.
    tasks: BTreeMap<i32, Task>,
}

struct Task {
    parent: i32,
    ordinal: usize,
    name: String,
}

impl Family {
    /// Finds the process that became the program, and all that came of it. None: no process became
    /// it.
    fn find<'a>(lines: impl Iterator<Item = Line<'a>>, program: &str) -> Option<Self> {
        let mut family: Option<Self> = None;
        let mut children: BTreeMap<i32, usize> = BTreeMap::new();
        for line in lines {
            let Some(family) = &mut family else {
                family = is_exec(&line, program).then(|| Self::of(line.number("pid").unwrap_or(0)));
                continue;
            };
            let name = |task: &mut Task| {
                task.name = line.text("comm").unwrap_or_default().to_owned();
            };
            match line.name {
                "sched_process_fork" => {
                    let both = line.number("pid").zip(line.number("child_pid"));
                    let Some((parent, child)) = both else {
                        continue;
                    };
                    if family.tasks.contains_key(&parent) {
                        let ordinal = children.entry(parent).or_default();
                        family.add(child, parent, *ordinal);
                        *ordinal += 1;
                    }
                }
                "sched_process_exit" => {
                    let own = line
                        .number("pid")
                        .and_then(|tid| family.tasks.get_mut(&tid));
                    own.map(name);
                }
                _ => {}
            }
        }
        family
    }

    /// With the first process alone.
    fn of(main: i32) -> Self {
        let tasks = BTreeMap::new();
        let mut family = Self { main, tasks };
        family.add(main, 0, 0);
        family
    }

    /// A child: `ordinal` counts those of its parent.
    fn add(&mut self, tid: i32, parent: i32, ordinal: usize) {
        let name = String::new();
        let task = Task {
            parent,
            ordinal,
            name,
        };
        self.tasks.insert(tid, task);
    }

    /// Has the first process become the program here?
    fn begins(&self, line: &Line<'_>) -> bool {
        line.name == "sched_process_exec" && line.number("pid") == Some(self.main)
    }

    /// The role of each task.
    fn roles(&self, roles: &Roles) -> BTreeMap<i32, String> {
        let one = |(tid, task): (&i32, &Task)| {
            let role = match (*tid == self.main, roles) {
                (true, _) => roles.main(),
                (false, Roles::ByName) => task_of_thread(&task.name),
                (false, Roles::ByOrder { children, .. }) if task.parent == self.main => {
                    by_order(children, task.ordinal)
                }
                (false, Roles::ByOrder { .. }) => OTHERS,
            };
            (*tid, role.to_owned())
        };
        self.tasks.iter().map(one).collect()
    }
}

/// A process became this program.
fn is_exec(line: &Line<'_>, program: &str) -> bool {
    let file = line
        .text("filename")
        .and_then(|path| path.rsplit('/').next());
    line.name == "sched_process_exec" && file == Some(program)
}

/// The role of the child of some number; those past the last group belong to it.
fn by_order(children: &[(&'static str, usize)], ordinal: usize) -> &'static str {
    let mut before = 0;
    for (role, count) in children {
        before += count;
        if ordinal < before {
            return role;
        }
    }
    children.last().map_or(OTHERS, |(role, _)| role)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLES: Roles = Roles::ByOrder {
        main: "main",
        children: &[("receiver", 1), ("sender", 1)],
    };

    /// By hand. Before the program begins: a fork and a wake-up of what will be it. Then: two
    /// forks; main wakes the sender; the sender asks to wake the receiver, who is awake, and then
    /// wakes it sync; it wakes a stranger, who is not counted; a timer that interrupts the receiver
    /// wakes the sender; one on an idle CPU wakes the receiver; a stranger wakes main.
    const TRACE: &str = "\
# tracer: nop
sh-9 [000] ..... 1.000001: sched_process_fork: comm=sh pid=9 child_comm=sh child_pid=10
sh-9 [000] d..3. 1.000002: sched_waking: comm=sh pid=10
prog-10 [001] ..... 1.000003: sched_process_exec: filename=/bin/prog pid=10 old_pid=10
prog-10 [001] ..... 1.000004: sched_process_fork: comm=prog pid=10 child_comm=prog child_pid=11
prog-10 [001] ..... 1.000005: sched_process_fork: comm=prog pid=10 child_comm=prog child_pid=12
prog-10 [001] d..2. 1.000006: ttwu: (try_to_wake_up+0x4/0x790) pid=12 flags=0
prog-10 [001] d..3. 1.000007: sched_waking: comm=prog pid=12
prog-10 [001] d..2. 1.000008: sched_switch: prev_comm=prog prev_pid=10 prev_state=S
prog-12 [002] d..2. 1.000009: ttwu: (try_to_wake_up+0x4/0x790) pid=11 flags=16
prog-12 [002] d..2. 1.000010: ttwu: (try_to_wake_up+0x4/0x790) pid=11 flags=16
prog-12 [002] d..3. 1.000011: sched_waking: comm=prog pid=11
prog-12 [002] d..3. 1.000012: sched_waking: comm=kworker/0:0 pid=5
prog-12 [002] d..2. 1.000013: sched_switch: prev_comm=prog prev_pid=12 prev_state=R+
prog-11 [001] d.h3. 1.000014: sched_waking: comm=prog pid=12
<idle>-0 [003] d..3. 1.000015: sched_waking: comm=prog pid=11
x-7 [002] d..3. 1.000016: sched_waking: comm=prog pid=10
prog-11 [001] ..... 1.000017: sched_process_exit: comm=prog pid=11 group_dead=true
prog-11 [001] d..2. 1.000018: sched_switch: prev_comm=prog prev_pid=11 prev_state=Z
x-7 [002] ..... 1.000019: sched_process_fork: comm=x pid=7 child_comm=x child_pid=13
";

    fn wakes(pairs: &[(&str, u64, u64)]) -> BTreeMap<String, Wakes> {
        let one = |(pair, count, sync): &(&str, u64, u64)| {
            let (count, sync) = (*count, *sync);
            ((*pair).to_owned(), Wakes { count, sync })
        };
        pairs.iter().map(one).collect()
    }

    fn counts(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
        let own = pairs.iter().map(|(role, n)| ((*role).to_owned(), *n));
        own.collect()
    }

    #[test]
    fn a_trace_is_counted_as_by_hand() {
        let found = Structure::of_trace(TRACE, "prog", &ROLES).expect("it is there");
        let expected = Structure {
            tasks: counts(&[("main", 1), ("receiver", 1), ("sender", 1)]),
            forks: 2,
            execs: 0,
            wakes: wakes(&[
                ("interrupt -> receiver", 1, 0),
                ("interrupt -> sender", 1, 0),
                ("main -> sender", 1, 0),
                ("others -> main", 1, 0),
                ("sender -> receiver", 1, 1),
            ]),
            sleeps: counts(&[("main", 1)]),
            gave_way: counts(&[("sender", 1)]),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_trace_without_the_program_has_no_structure() {
        assert_eq!(Structure::of_trace(TRACE, "pro", &ROLES), None);
        assert_eq!(Structure::of_trace("", "prog", &ROLES), None);
    }

    #[test]
    fn a_task_that_names_itself_has_its_role_by_its_name() {
        let text = TRACE.replace(
            "sched_process_exit: comm=prog pid=11",
            "sched_process_exit: comm=ticker-0-0 pid=11",
        );
        let found = Structure::of_trace(&text, "prog", &Roles::ByName).expect("it is there");
        // The other one's end is not in the trace.
        assert_eq!(found.tasks, counts(&[("", 1), ("main", 1), ("ticker", 1)]));
    }

    #[test]
    fn what_is_made_by_others_than_the_first_is_of_no_role() {
        let text = TRACE.replace("comm=x pid=7 child", "comm=x pid=12 child");
        let found = Structure::of_trace(&text, "prog", &ROLES).expect("it is there");
        assert_eq!((found.forks, found.tasks.get(OTHERS)), (3, Some(&1)));
    }

    #[test]
    fn roles_are_names_without_numbers() {
        for (name, role) in [
            ("sender-17", "sender"),
            ("worker-3-0001", "worker"),
            ("sched-pipe", "sched-pipe"),
            ("-1", "-1"),
            ("a-", "a-"),
            ("main", "main"),
        ] {
            assert_eq!(task_of_thread(name), role, "{name}");
        }
    }
}
