//! The arguments of `wakeplace_study::ARGUMENTS` as options. A new argument needs nothing here:
//! help, names and values come from its entry.
//!
//! Called by clap only.
//!
//! What must stay: an option that was not typed is not given, so that files and defaults of `Ask`
//! decide. Values stay texts: `wakeplace_study` reads and refuses them, for Python too. The order
//! of options in `--help` is that of `ARGUMENTS`. Tests by part:
//! crates/cli/tests/all/help.rs::`help_is_complete_and_fits` (`augment_args`, `option`),
//! crates/cli/tests/all/bad_input.rs::`wrong_usage_is_refused` (arguments that are needed),
//! bad_input.rs::`numbers_say_what_is_expected` (`value_parser`),
//! crates/cli/tests/all/explain.rs::`named_others_only` (`ALIASES`),
//! explain.rs::`mistakes_say_what_there_is` (`excludes`),
//! crates/cli/tests/all/sweeps.rs::`study_run_takes_a_file` (`from_arg_matches` beside a file).
//!
//! Tests: crates/cli/tests/all/help.rs, crates/cli/tests/all/bad_input.rs,
//! crates/cli/tests/all/explain.rs, crates/cli/tests/all/sweeps.rs::study_run_takes_a_file

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command as ClapCommand};
use clap::{Args, FromArgMatches};
use std::marker::PhantomData;
use wakeplace_study::{ARGUMENTS, Argument, Ask, Command, Kind, SCHEDULER};

/// What a command's options ask for.
#[derive(Debug)]
pub(crate) struct Asked<C>(pub(crate) Ask, PhantomData<C>);

/// A command that takes arguments.
pub(crate) trait Takes: std::fmt::Debug {
    const COMMAND: Command;
}

macro_rules! commands {
    ($($name:ident)*) => {$(
        #[derive(Debug)]
        pub(crate) struct $name;
        impl Takes for $name {
            const COMMAND: Command = Command::$name;
        }
    )*};
}
commands!(Evaluate Compare Sim Explain Diff Sweep Study Review);

/// What a sched_ext scheduler may stand in for.
const POLICY: &str = "policy";
/// Its former name.
const ALIASES: [(&str, &str); 1] = [("compare_policy", "other")];

impl<C: Takes> Args for Asked<C> {
    /// Adds the options of this command's arguments, in the order of `ARGUMENTS`.
    fn augment_args(command: ClapCommand) -> ClapCommand {
        let own = ARGUMENTS.iter().filter(|one| one.is_taken_by(C::COMMAND));
        own.fold(command, |command, argument| {
            command.arg(option(argument, C::COMMAND))
        })
    }

    /// The same options: nothing here is updated in place.
    fn augment_args_for_update(command: ClapCommand) -> ClapCommand {
        Self::augment_args(command)
    }
}

/// An argument as clap has it; help, names and choices are the entry's.
fn option(argument: &'static Argument, command: Command) -> Arg {
    let place = argument.place;
    let is_positional = argument.is_positional(command);
    let mut option = Arg::new(argument.name).help(argument.help_of(command));
    if !is_positional {
        option = option
            .long(argument.option())
            .help_heading(place.heading)
            .display_order(place.order)
            .hide_short_help(place.long_only);
    }
    if !argument.more.is_empty() {
        let first = argument.help_of(command);
        option = option.long_help(format!("{first}\n\n{}", argument.more));
    }
    for (_, alias) in ALIASES.iter().filter(|(own, _)| *own == argument.name) {
        option = option.alias(*alias);
    }
    for other in argument.excludes {
        let is_there = wakeplace_study::argument(other).is_ok_and(|one| one.is_taken_by(command));
        if is_there || (*other == SCHEDULER && command == Command::Explain) {
            option = option.conflicts_with(*other);
        }
    }
    if argument.is_flag() {
        return option.action(ArgAction::SetTrue);
    }
    // What begins with `-` is no name, but may be a wrong number or time.
    let is_name =
        matches!(argument.kind, Kind::Sources | Kind::Pairs) || argument.value_name == "NAME";
    let several = argument.takes_several();
    option = option
        .value_name(match is_positional {
            true => "CANDIDATE",
            false => argument.value_name,
        })
        .action(match several && !is_positional {
            true => ArgAction::Append,
            false => ArgAction::Set,
        })
        .allow_hyphen_values(!is_name)
        .value_parser(|text: &str| argument.check(text).map(|()| text.to_owned()));
    // A sweep's file has its own.
    if let Some(value) = argument
        .default_of(command)
        .filter(|_| command != Command::Sweep)
    {
        option = option.default_value(value);
    }
    match argument.is_needed_by(command) {
        true if argument.name == POLICY && !is_positional => {
            option.required_unless_present(SCHEDULER)
        }
        needed => option.required(needed),
    }
}

impl<C: Takes> FromArgMatches for Asked<C> {
    /// What was typed, as an `Ask`. Values stay texts: `wakeplace_study` reads and refuses them.
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut ask = Ask::default();
        let own = ARGUMENTS.iter().filter(|one| one.is_taken_by(C::COMMAND));
        let typed =
            |one: &&Argument| matches.value_source(one.name) == Some(ValueSource::CommandLine);
        for argument in own.filter(typed) {
            if argument.is_flag() {
                ask.give(argument, "");
                continue;
            }
            let texts = matches.get_many::<String>(argument.name);
            texts
                .into_iter()
                .flatten()
                .for_each(|text| ask.give(argument, text.as_str()));
        }
        Ok(Self(ask, PhantomData))
    }

    /// Takes the new matches as a whole.
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
