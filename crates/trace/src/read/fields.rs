//! The fields of an event as text prints them: `key=value` as the kernel's own format has it, the
//! same without words and arrows (`trace-cmd report -R`), or the short form of libtraceevent's
//! plugins (`comm:pid [prio] S ==> comm:pid [prio]`), which `trace-cmd report` and `perf script`
//! use (docs/guide/traces-in.md, "Forms").
//!
//! What must stay: every form that some tool prints stays readable; `None` of a field is a damaged
//! one, `None` of `kind` an event that is not looked at; names may hold anything. Free: what leaves
//! the scripts of recordings as they are (ARCHITECTURE.md, "What a change may touch"). Tests by
//! part: `raw_fields_say_the_same` (`switch`, `state`), `names_like_fields_are_names` (`named`,
//! `last`, `switched`), `short_forms_of_parked_and_idle_threads` (`short`, `short_state`),
//! text.rs::`both_forms_of_a_switch` (`who`, `woken`, `kind`),
//! text.rs::`a_field_is_found_by_its_whole_key` (`value`, `number`),
//! exported.rs::`a_timer_says_when_it_was_due_and_a_probe_that_a_waker_sleeps_soon` (`address`),
//! exported.rs::`moves_cost_also_without_a_run_between` (`migrate`),
//! text.rs::`a_field_is_found_by_its_whole_key` also `is_key` and `last_number`.
//!
//! Callers: text.rs (`value`, `number`, `kind`).
//!
//! Tests: crates/trace/tests/all/replay/forms.rs, crates/trace/tests/all/replay/gaps.rs,
//! crates/trace/tests/all/replay/exported.rs, crates/trace/src/read/text.rs

use crate::event::{Kind, SYNC_WAKE, TaskState, Who};

/// What stands behind `key=`, up to the next ` key=`; names of tasks may hold blanks.
pub(super) fn value<'a>(fields: &'a str, key: &str) -> Option<&'a str> {
    let mut from = 0;
    let start = loop {
        let at = from + fields.get(from..)?.find(key)?;
        let ends = at + key.len();
        let whole = at == 0 || fields[..at].ends_with(' ');
        if whole && fields[ends..].starts_with('=') {
            break ends + 1;
        }
        from = ends;
    };
    let rest = &fields[start..];
    let mut ends = rest.match_indices(' ').map(|(at, _)| at);
    let next = ends.find(|at| {
        let word = rest[at + 1..].split(' ').next().unwrap_or_default();
        word == "==>" || word.split_once('=').is_some_and(|(key, _)| is_key(key))
    });
    Some(rest[..next.unwrap_or(rest.len())].trim_end())
}

/// The word can be a field's name: small letters, digits, `_`.
fn is_key(word: &str) -> bool {
    let inside = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    !word.is_empty() && word.bytes().all(inside)
}

/// A number that stands behind `key=`.
pub(super) fn number<T: std::str::FromStr>(fields: &str, key: &str) -> Option<T> {
    value(fields, key)?.parse().ok()
}

/// Where ` key=` stands last, and what is behind it.
fn last<'a>(fields: &'a str, key: &str) -> Option<(usize, &'a str)> {
    let mut places = fields.rmatch_indices(key).map(|(at, _)| at);
    let at = places.find(|at| {
        let whole = fields[..*at].ends_with(' ');
        whole && fields[at + key.len()..].starts_with('=')
    })?;
    Some((at, &fields[at + key.len() + 1..]))
}

/// A number of which the last field of that key states the value.
fn last_number<T: std::str::FromStr>(fields: &str, key: &str) -> Option<T> {
    let (_, behind) = last(fields, key)?;
    behind.split(' ').next()?.parse().ok()
}

/// A name that begins at `key=` and ends before the last ` next=`: it may hold anything, such as
/// ` pid=7`.
fn named<'a>(fields: &'a str, key: &str, next: &str) -> Option<&'a str> {
    let begin = fields.find(key)? + key.len();
    let (end, _) = last(fields, next)?;
    Some(fields.get(begin..end)?.strip_prefix('=')?.trim_end())
}

/// The kernel writes the name first, then the number and the priority.
fn who<'a>(fields: &'a str, [comm, pid, prio]: [&str; 3]) -> Option<Who<'a>> {
    Some(Who {
        comm: named(fields, comm, pid)?,
        pid: last_number(fields, pid)?,
        prio: last_number(fields, prio)?,
    })
}

/// `comm:pid [prio]`; what is behind it.
fn short<'a>(text: &'a str) -> Option<(Who<'a>, &'a str)> {
    let open = text.rfind(" [")?;
    let (task, rest) = text.split_at(open);
    let (prio, rest) = rest[2..].split_once(']')?;
    let (comm, pid) = task.trim().rsplit_once(':')?;
    let who = Who {
        comm,
        pid: pid.parse().ok()?,
        prio: prio.trim().parse().ok()?,
    };
    Some((who, rest.trim()))
}

/// What libtraceevent's plugins print, by bits of their own: P (64) is `x` there, and I (128) is
/// `W`. Up to 4.13 these bits are dead tasks and, never alone, killable sleep.
fn short_state(letters: &str) -> Option<TaskState> {
    match letters {
        "x" => Some(TaskState::Parked),
        "W" => Some(TaskState::Idle),
        _ => state(letters),
    }
}

/// The letters that the kernel prints; several at once, or those of older kernels, sleep. Without
/// the event's format its number stands there (a `long`: hexadecimal where that has 32 bits).
fn state(letters: &str) -> Option<TaskState> {
    if letters.starts_with(|first: char| first.is_ascii_digit()) {
        let number = match letters.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => letters.parse(),
        };
        return number.ok().map(TaskState::left_with);
    }
    let first = letters.split('|').next()?;
    TaskState::of_letters(letters).or(match first {
        _ if letters.ends_with('+') => Some(TaskState::Preempted),
        "" => None,
        // x: dead in older kernels; W, K: waking and killable ones.
        "x" => Some(TaskState::Dead),
        "K" | "W" | "N" | "D" => Some(TaskState::Uninterruptible),
        _ => TaskState::of_letters(first).or(Some(TaskState::Interruptible)),
    })
}

/// The fields of sched_switch, in any of the forms.
fn switch(fields: &str) -> Option<Kind<'_>> {
    let mut arrows = fields.match_indices(" ==> ").map(|(at, _)| at);
    let raw = || {
        // Without the event's format there is no arrow.
        let mut places = fields.match_indices(" next_comm=").map(|(at, _)| at);
        places.find_map(|at| switched(&fields[..at], &fields[at + 1..]))
    };
    let whole = arrows.find_map(|at| switched(&fields[..at], &fields[at + 5..]));
    whole.or_else(raw)
}

/// The same, if one task stands on each side.
fn switched<'a>(left: &'a str, right: &'a str) -> Option<Kind<'a>> {
    if left.starts_with("prev_comm=") {
        return Some(Kind::Switch {
            prev: who(left, ["prev_comm", "prev_pid", "prev_prio"])?,
            prev_state: state(last(left, "prev_state")?.1.trim())?,
            next: who(right, ["next_comm", "next_pid", "next_prio"])?,
        });
    }
    let (prev, letters) = short(left)?;
    let (next, _) = short(right)?;
    Some(Kind::Switch {
        prev,
        prev_state: short_state(letters)?,
        next,
    })
}

/// The task of a wake-up and its CPU.
fn woken(fields: &str) -> Option<(Who<'_>, u32)> {
    if fields.starts_with("comm=") {
        let task = who(fields, ["comm", "pid", "prio"])?;
        return Some((task, last_number(fields, "target_cpu").unwrap_or(0)));
    }
    let (task, rest) = short(fields)?;
    let cpu = rest
        .split("CPU:")
        .nth(1)
        .and_then(|cpu| cpu.trim().parse().ok());
    Some((task, cpu.unwrap_or(0)))
}

/// An event of text; None: one that is not looked at. Some(None): one that is, and is damaged.
pub(super) fn kind<'a>(name: &str, fields: &'a str) -> Option<Option<Kind<'a>>> {
    let task = |make: &dyn Fn(Who<'a>, u32) -> Kind<'a>| {
        woken(fields).map(|(task, target_cpu)| make(task, target_cpu))
    };
    Some(match name {
        "sched_switch" => switch(fields),
        "sched_waking" => task(&|task, target_cpu| Kind::Waking { task, target_cpu }),
        "sched_wakeup" => task(&|task, target_cpu| Kind::Wakeup { task, target_cpu }),
        "sched_wakeup_new" => task(&|task, target_cpu| Kind::WakeupNew { task, target_cpu }),
        "sched_migrate_task" => migrate(fields),
        "cpu_frequency" => number(fields, "state")
            .zip(number(fields, "cpu_id"))
            .map(|(khz, cpu)| Kind::Frequency { khz, cpu }),
        "cpu_idle" => number(fields, "state")
            .zip(number(fields, "cpu_id"))
            .map(|(state, cpu)| Kind::Idle { state, cpu }),
        "softirq_entry" => value(fields, "vec")
            .and_then(|vec| vec.split(' ').next()?.parse().ok())
            .map(|vec| Kind::Softirq { vec }),
        "hrtimer_start" => address(fields)
            .zip(number(fields, "expires"))
            .map(|(timer, expires_ns)| Kind::TimerStart { timer, expires_ns }),
        "hrtimer_expire_entry" => address(fields)
            .zip(number(fields, "now"))
            .map(|(timer, now_ns)| Kind::TimerExpire { timer, now_ns }),
        "hrtimer_expire_exit" => address(fields).map(|timer| Kind::TimerDone { timer }),
        "task_newtask" => number(fields, "pid").map(|pid| Kind::NewTask {
            pid,
            comm: named(fields, "comm", "clone_flags").unwrap_or_default(),
            clone_flags: 0,
        }),
        "task_rename" => number(fields, "pid").map(|pid| Kind::Rename {
            pid,
            old: named(fields, "oldcomm", "newcomm").unwrap_or_default(),
            new: named(fields, "newcomm", "oom_score_adj").unwrap_or_default(),
        }),
        "sched_process_exit" => {
            who(fields, ["comm", "pid", "prio"]).map(|task| Kind::Exit { task, tgid: 0 })
        }
        _ if name.contains(SYNC_WAKE) => Some(Kind::SyncWake),
        _ => return None,
    })
}

/// Of a timer; in hexadecimal, with or without the sign of it.
fn address(fields: &str) -> Option<u64> {
    let text = value(fields, "hrtimer")?;
    u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

/// The fields of `sched_migrate_task`.
fn migrate(fields: &str) -> Option<Kind<'_>> {
    Some(Kind::Migrate {
        task: who(fields, ["comm", "pid", "prio"])?,
        orig_cpu: last_number(fields, "orig_cpu")?,
        dest_cpu: last_number(fields, "dest_cpu")?,
    })
}
