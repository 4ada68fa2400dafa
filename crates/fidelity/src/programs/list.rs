//! The programs, and which model stands for each (docs/guide/workloads.md, "How it is counted").
//!
//! What must stay: keys and commands: kept counts are of these. Free: what leaves the tables of
//! pages as they are. Tests by part: `programs_are_chosen_by_key` (`chosen`),
//! `events_are_what_the_program_says` (`count`), structure.rs::`a_trace_is_counted_as_by_hand`
//! (`main`).
//!
//! Callers: programs.rs (`chosen`).
//!
//! Tests: below

use crate::Error;

/// The rt-app file: its name in the guest, and its text. The simulator reads the same bytes.
pub(super) const RT_APP_FILE: (&str, &str) = (
    "locks-and-signals.json",
    include_str!("../../data/locks-and-signals.json"),
);
/// Debian packages that have the programs.
pub(super) const PACKAGES: [&str; 4] = ["linux-perf", "rt-app", "rt-tests", "sysbench"];

/// How the tasks of a real program are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Roles {
    /// They name themselves.
    ByName,
    /// By the order in which the first process makes them, as its source has it.
    ByOrder {
        /// The first process.
        main: &'static str,
        /// Roles and how many of each; any more belong to the last.
        children: &'static [(&'static str, usize)],
    },
}

impl Roles {
    /// Role of the first process.
    pub(super) fn main(&self) -> &'static str {
        match self {
            Self::ByName => "main",
            Self::ByOrder { main, .. } => main,
        }
    }
}

/// How many things a real run did, of those that wake-ups are counted per.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Events {
    /// As its options say.
    Fixed(u64),
    /// The sum of the numbers behind a word in what it prints.
    Printed(&'static str),
}

/// How many things a model did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModelEvents {
    /// As its settings say.
    Fixed(u64),
    /// Of its own count, so many units each.
    Counted(u64),
}

/// What the simulator runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Model {
    /// `NAME:key=value,...`; empty: [`RT_APP_FILE`].
    pub(super) workload: &'static str,
    /// It is ended after this, ns.
    pub(super) duration_ns: u64,
    /// What it did until then.
    pub(super) events: ModelEvents,
}

/// A program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Short, for options and data.
    pub(super) key: &'static str,
    /// Words of the command.
    pub(super) command: &'static [&'static str],
    /// A shell command run behind it, unrecorded, that prints what it did; may be empty.
    pub(super) after: &'static str,
    /// Who its tasks are.
    pub(super) roles: Roles,
    /// What wake-ups are counted per.
    pub(super) event: &'static str,
    /// How many of those a run does.
    pub(super) events: Events,
    /// What stands for it.
    pub(super) model: Model,
    /// What explains differences, or is to be known of the counts.
    pub(super) notes: &'static [&'static str],
}

const S_NS: u64 = 1_000_000_000;

/// hackbench and perf make all receivers of a group before its senders.
const MESSAGING: Roles = Roles::ByOrder {
    main: "main",
    children: &[("receiver", 20), ("sender", 20)],
};
const WORKERS: Roles = Roles::ByOrder {
    main: "main",
    children: &[("sysbench", usize::MAX)],
};
/// 20 senders write 100 times to each of 20 receivers.
const MESSAGES: u64 = 20 * 20 * 100;
/// Longest time that a model of so many messages is given, ns.
const MESSAGES_NS: u64 = 60 * S_NS;

/// All of them, in the order of the page.
pub(super) const PROGRAMS: [Program; 8] = [
    Program {
        key: "hackbench-socket",
        command: &["hackbench", "-g", "1", "-l", "100"],
        after: "",
        roles: MESSAGING,
        event: "message",
        events: Events::Fixed(MESSAGES),
        model: Model {
            workload: "messaging:groups=1,loops=100",
            duration_ns: MESSAGES_NS,
            events: ModelEvents::Fixed(MESSAGES),
        },
        notes: MESSAGING_NOTES,
    },
    Program {
        key: "hackbench-pipe",
        command: &["hackbench", "-p", "-g", "1", "-l", "100"],
        after: "",
        roles: MESSAGING,
        event: "message",
        events: Events::Fixed(MESSAGES),
        model: Model {
            workload: "messaging:groups=1,loops=100,via=pipe,writers=first",
            duration_ns: MESSAGES_NS,
            events: ModelEvents::Fixed(MESSAGES),
        },
        notes: MESSAGING_NOTES,
    },
    Program {
        key: "perf-messaging",
        command: &[
            "perf",
            "bench",
            "sched",
            "messaging",
            "-g",
            "1",
            "-l",
            "100",
        ],
        after: "",
        roles: MESSAGING,
        event: "message",
        events: Events::Fixed(MESSAGES),
        model: Model {
            workload: "messaging:groups=1,loops=100",
            duration_ns: MESSAGES_NS,
            events: ModelEvents::Fixed(MESSAGES),
        },
        notes: MESSAGING_NOTES,
    },
    Program {
        key: "perf-pipe",
        command: &["perf", "bench", "sched", "pipe", "-l", "1000"],
        after: "",
        roles: Roles::ByOrder {
            main: "parent",
            children: &[("child", 1)],
        },
        event: "round trip",
        events: Events::Fixed(1000),
        model: Model {
            workload: "context-switch:warmup=0s,start=ready",
            duration_ns: S_NS,
            // As the benchmark it is made after, it counts 2 for each.
            events: ModelEvents::Counted(2),
        },
        notes: &[
            "Forks: the program's first process is the parent and forks the child. In the model \
             both tasks are forked by a task of the simulator.",
            "The model runs for a second, not for 1000 round trips.",
            "A task is woken less than once per round trip, because sometimes the answer arrives \
             before it sleeps. In the model no answer is that fast.",
        ],
    },
    Program {
        key: "sysbench-cpu",
        command: &[
            "sysbench",
            "cpu",
            "--threads=2",
            "--events=20",
            "--time=0",
            "run",
        ],
        after: "",
        roles: WORKERS,
        event: "event",
        events: Events::Printed("total number of events:"),
        model: Model {
            workload: "sysbench-cpu:threads=2,requests=20,time=0s,version=1.0",
            duration_ns: 60 * S_NS,
            events: ModelEvents::Fixed(20),
        },
        notes: &[
            "Events wake nobody. At the start the threads wait at a barrier until all are there. \
             At the end `main` waits for each thread.",
        ],
    },
    Program {
        key: "sysbench-threads",
        command: &[
            "sysbench",
            "threads",
            "--threads=12",
            "--thread-locks=9",
            "--events=24",
            "--time=0",
            "run",
        ],
        after: "",
        roles: WORKERS,
        event: "event",
        events: Events::Printed("total number of events:"),
        model: Model {
            workload: "sysbench-threads:threads=12,locks=9,requests=24,time=0s,version=1.0",
            duration_ns: 60 * S_NS,
            events: ModelEvents::Fixed(24),
        },
        notes: &[
            "An event is 1000 times lock, sched_yield, unlock. `gave way` counts the yields after \
             which another task of that CPU ran. A yield of a task that is alone on its CPU \
             switches to nobody.",
            "Each wake-up is an unlock for which a task waits. The longer a yield takes, during \
             which the lock is held, the more there are.",
        ],
    },
    Program {
        key: "cyclictest",
        command: &["cyclictest", "-q", "-t2", "-D", "3"],
        after: "",
        roles: Roles::ByOrder {
            main: "main",
            children: &[("cyclictest", usize::MAX)],
        },
        event: "cycle",
        events: Events::Printed(" C:"),
        model: Model {
            workload: "cyclictest:threads=2,time=3s,mode=clock_nanosleep",
            duration_ns: 4 * S_NS,
            // One thread every 1 ms, one every 1.5 ms.
            events: ModelEvents::Fixed(3000 + 2000),
        },
        notes: &[
            "The kernel has fewer than 5000 cycles in 3 s, because the host stops the emulated \
             CPUs and cyclictest skips the cycles that it is late for.",
            "The first process checks every 10 ms whether the time is over. It is not in the \
             model.",
        ],
    },
    Program {
        key: "rt-app",
        command: &["rt-app", RT_APP_FILE.0],
        // Its log has a line for each period.
        after: "grep -v '^#' /tmp/rt-app-ticker*.log | sed 's/.*/period 1/'",
        roles: Roles::ByName,
        // Of the first task.
        event: "period",
        events: Events::Printed("period"),
        model: Model {
            workload: "",
            duration_ns: 4 * S_NS,
            // 4 s of 10 ms.
            events: ModelEvents::Fixed(400),
        },
        notes: &[
            "rt-app's first process creates the threads and waits for their end. It is not in the \
             model.",
            "A period that begins late on the emulated machine has no wake-up by the timer.",
        ],
    },
];

const MESSAGING_NOTES: &[&str] = &[
    "A message wakes its reader only if the channel was empty. So the further the writers are \
     ahead, the fewer wake-ups there are per message. Emulated CPUs that share a few real ones \
     stop for milliseconds, which lets the writers get further ahead than on a real machine.",
    "`main` wakes and is woken at the start and the end only. At the start each task tells it that \
     it is ready, and it releases all. At the end it waits for each task.",
    "Wake-ups between two senders or two receivers are not sync. We believe that they come from \
     the kernel's lock of a pipe or socket, for which tasks sleep. The model has no such lock.",
];

/// The programs of these keys, in the order of the page; all if there are none.
pub(super) fn chosen(keys: &[String]) -> Result<Vec<&'static Program>, Error> {
    let known = || PROGRAMS.iter().map(|program| program.key);
    if let Some(unknown) = keys
        .iter()
        .find(|key| known().all(|own| own != key.as_str()))
    {
        let near: Vec<_> = wakeplace_text::nearest(unknown, known())
            .into_iter()
            .collect();
        let expected = format!(
            "expected some of {}",
            known().collect::<Vec<_>>().join(", ")
        );
        return Err(Error::Input(format!(
            "--programs: there is no program `{}`{}",
            wakeplace_text::shorten(unknown),
            wakeplace_text::did_you_mean_first(&near, &expected),
        )));
    }
    let wanted = |program: &&Program| keys.is_empty() || keys.iter().any(|key| key == program.key);
    Ok(PROGRAMS.iter().filter(wanted).collect())
}

impl Events {
    /// How many, of what the program printed. None: it printed no such number.
    pub(super) fn count(self, printed: &str) -> Option<u64> {
        let word = match self {
            Self::Fixed(count) => return Some(count),
            Self::Printed(word) => word,
        };
        let mut sum = None;
        for after in printed.split(word).skip(1) {
            let number = after.split_whitespace().next()?.parse::<u64>().ok()?;
            sum = Some(sum.unwrap_or(0) + number);
        }
        sum.filter(|sum| *sum > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_what_the_program_says() {
        // As cyclictest and sysbench print them.
        let cycles = "# /dev/cpu_dma_latency set to 0us\n\
                      T: 0 (  289) P: 0 I:1000 C:   2838 Min:    123 Act:  150 Avg:  303\n\
                      T: 1 (  290) P: 0 I:1500 C:   1915 Min:     31 Act:  467 Avg:  313\n";
        assert_eq!(Events::Printed(" C:").count(cycles), Some(2838 + 1915));
        let events = "    total time:      0.0686s\n    total number of events:              20\n";
        let total = Events::Printed("total number of events:");
        assert_eq!(total.count(events), Some(20));
        for text in ["", "total number of events: 0", "total number of events: x"] {
            assert_eq!(total.count(text), None, "{text}");
        }
        assert_eq!(Events::Fixed(7).count(""), Some(7));
    }

    #[test]
    fn programs_are_chosen_by_key() {
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        assert_eq!(chosen(&[]).expect("all").len(), PROGRAMS.len());
        let two = chosen(&keys(&["rt-app", "cyclictest"])).expect("known");
        assert_eq!([two[0].key, two[1].key], ["cyclictest", "rt-app"]);
        let refused = chosen(&keys(&["cyclic"])).expect_err("unknown");
        assert!(matches!(&refused, Error::Input(why) if why.contains("`cyclic`")));
    }
}
