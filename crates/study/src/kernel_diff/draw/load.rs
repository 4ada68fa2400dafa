//! Loads: periodic tasks, groups that send messages, and rt-app files that mix all ways to wait.
//! All that is drawn comes from the seed (docs/guide/kernel.md, "Beside the policy core").
//!
//! What must stay: the order of draws; what is written is the language of `--workload`, so that a
//! user can run it again. Tests by part: `what_is_drawn_can_be_run` (`draw`, `mix` and its tasks),
//! `what_is_drawn_depends_on_the_seed` (by the command).
//!
//! Tests: crates/study/src/kernel_diff/draw.rs::what_is_drawn_can_be_run,
//! crates/cli/tests/all/kernel_diff.rs::what_is_drawn_depends_on_the_seed

use super::Dice;

/// What was drawn, in short.
pub(super) fn title(workload: &str, is_rtapp: bool) -> &str {
    match is_rtapp {
        true => "a mix",
        false => workload,
    }
}

/// A load for so many CPUs; true: it is an rt-app file.
pub(super) fn draw(dice: &mut Dice, cpus: u64) -> (String, bool) {
    match dice.within(0, 9) {
        0 | 1 => (periodic(dice, cpus), false),
        2 => (
            format!(
                "messaging:groups={},fds={}",
                dice.within(1, 3),
                dice.within(2, 6)
            ),
            false,
        ),
        3 => (
            format!("context-switch:pairs={},warmup=10ms", dice.within(1, cpus)),
            false,
        ),
        4 => (
            format!(
                "schbench:messages={},workers={},time=1s,warmup=10ms,cputime=2ms,sleep=3ms,\
                 message=1ms",
                dice.within(1, 3),
                dice.within(1, cpus)
            ),
            false,
        ),
        _ => (mix(dice, cpus), true),
    }
}

/// The argument of the model `periodic`, with up to three tasks a CPU.
fn periodic(dice: &mut Dice, cpus: u64) -> String {
    format!(
        "periodic:n={},period={}us,duty={}%,start={}",
        dice.within(1, 3 * cpus),
        dice.within(1_000, 40_000),
        dice.one(&[1, 3, 5, 10, 20, 40, 70]),
        dice.one(&["spread", "spread", "together"]),
    )
}

/// An rt-app file.
fn mix(dice: &mut Dice, cpus: u64) -> String {
    let mut tasks = Vec::new();
    for number in 0..dice.within(2, 8) {
        let name = format!("t{number}");
        tasks.push(match dice.within(0, 5) {
            0 | 1 => timed(dice, &name, cpus),
            2 => chain(dice, &name, cpus),
            3 => barrier(dice, &name, cpus),
            4 => burst(dice, &name, cpus),
            _ => forks(dice, &name, cpus),
        });
    }
    format!(
        "{{ \"tasks\": {{ {} }}, \"global\": {{ \"calibration\": 100, \"start_spread\": {} }} }}",
        tasks.join(",\n"),
        dice.one(&[0, 20_000]),
    )
}

/// What a task may have beside its events.
fn attributes(dice: &mut Dice, cpus: u64) -> String {
    let mut own = String::new();
    if dice.chance(25) {
        let nice = dice.within(0, 30) as i64 - 15;
        own += &format!("\"priority\": {nice}, ");
    }
    if dice.chance(15) {
        let first = dice.within(0, cpus - 1);
        let last = dice.within(first, cpus - 1);
        let list: Vec<String> = (first..=last).map(|cpu| cpu.to_string()).collect();
        own += &format!("\"cpus\": [{}], ", list.join(", "));
    }
    match dice.within(0, 19) {
        0 | 1 => own += &format!("\"util_min\": {}, ", dice.within(1, 1024)),
        2 | 3 => own += &format!("\"util_max\": {}, ", dice.within(1, 1024)),
        4 => own += "\"policy\": \"SCHED_IDLE\", ",
        5 => own += "\"policy\": \"SCHED_BATCH\", ",
        _ => {}
    }
    own
}

/// Wakes by timers.
fn timed(dice: &mut Dice, name: &str, cpus: u64) -> String {
    let period = dice.within(800, 30_000);
    let run = period * dice.one(&[1, 2, 5, 10, 30, 60]) / 100 + 1;
    format!(
        "\"{name}\": {{ \"instance\": {}, {}\"run\": {run}, \
         \"timer\": {{ \"ref\": \"unique\", \"period\": {period} }} }}",
        dice.within(1, cpus),
        attributes(dice, cpus),
    )
}

/// A task that a timer wakes, wakes others, which wake the next.
fn chain(dice: &mut Dice, name: &str, cpus: u64) -> String {
    let links = dice.within(1, 4);
    let mut all = vec![format!(
        "\"{name}\": {{ {}\"run\": {}, \"resume\": \"{name}-1\", \
         \"timer\": {{ \"ref\": \"unique\", \"period\": {} }} }}",
        attributes(dice, cpus),
        dice.within(20, 3_000),
        dice.within(1_000, 20_000),
    )];
    for link in 1..=links {
        let next = match link < links {
            true => format!("\"resume\": \"{name}-{}\", ", link + 1),
            false => String::new(),
        };
        all.push(format!(
            "\"{name}-{link}\": {{ {}\"run\": {}, {next}\"suspend\": \"{name}-{link}\" }}",
            attributes(dice, cpus),
            dice.within(20, 5_000),
        ));
    }
    all.join(",\n")
}

/// Tasks that wait for each other.
fn barrier(dice: &mut Dice, name: &str, cpus: u64) -> String {
    format!(
        "\"{name}\": {{ \"instance\": {}, {}\"run\": {}, \"barrier\": \"{name}\", \"sleep\": {} }}",
        dice.within(2, cpus + 1),
        attributes(dice, cpus),
        dice.within(50, 6_000),
        dice.within(100, 10_000),
    )
}

/// Small for a while, then big.
fn burst(dice: &mut Dice, name: &str, cpus: u64) -> String {
    format!(
        "\"{name}\": {{ \"instance\": {}, {}\"phases\": {{ \
         \"small\": {{ \"loop\": {}, \"run\": {}, \"sleep\": {} }}, \
         \"big\": {{ \"loop\": {}, \"run\": {}, \"sleep\": {} }} }} }}",
        dice.within(1, 3),
        attributes(dice, cpus),
        dice.within(3, 30),
        dice.within(100, 1_500),
        dice.within(1_000, 15_000),
        dice.within(1, 6),
        dice.within(4_000, 60_000),
        dice.within(500, 20_000),
    )
}

/// A task that makes another one now and then, which ends.
fn forks(dice: &mut Dice, name: &str, cpus: u64) -> String {
    format!(
        "\"{name}\": {{ {}\"loop\": {}, \"run\": {}, \"fork\": \"{name}-child\", \
         \"sleep\": {} }},\n\
         \"{name}-child\": {{ \"instance\": 0, \"loop\": {}, \"run\": {}, \"sleep\": {} }}",
        attributes(dice, cpus),
        dice.within(5, 60),
        dice.within(50, 2_000),
        dice.within(2_000, 20_000),
        dice.within(1, 5),
        dice.within(100, 8_000),
        dice.within(100, 3_000),
    )
}
