//! Arguments of a subcommand: `--name N` or `--name=N`, each with a default and bounds
//! (docs/guide/lab.md).
//!
//! What must stay: unknown options are refused with those that there are; each has bounds. Free:
//! words of refusals, but for those that tests quote.
//!
//! Tests by part: `both_forms_and_defaults` (`parse`, `flag`), `what_is_wrong_is_said` (refusals of
//! `parse`).
//!
//! Callers: the subcommands but `load`.
//!
//! Tests: below

use wakeplace_text::{did_you_mean, nearest, shorten};

use crate::error::GuestError;

/// One option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag {
    /// Name with its dashes.
    pub(crate) name: &'static str,
    /// Value where it is not given.
    pub(crate) default: u64,
    /// Smallest and largest value.
    pub(crate) bounds: (u64, u64),
}

/// An option with its default and bounds.
pub(crate) const fn flag(name: &'static str, default: u64, min: u64, max: u64) -> Flag {
    Flag {
        name,
        default,
        bounds: (min, max),
    }
}

/// The values of these options, in the order of the table.
pub(crate) fn parse<const N: usize>(
    args: &[String],
    flags: &[Flag; N],
) -> Result<[u64; N], GuestError> {
    let mut values = flags.map(|flag| flag.default);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let (name, given) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        let Some(index) = flags.iter().position(|flag| flag.name == name) else {
            let near = nearest(name, flags.iter().map(|flag| flag.name));
            return Err(GuestError::Input(format!(
                "unknown option `{}`{}",
                shorten(name),
                did_you_mean(near)
            )));
        };
        let value = given.or_else(|| rest.next().cloned()).unwrap_or_default();
        let (min, max) = flags[index].bounds;
        values[index] = value
            .parse()
            .ok()
            .filter(|number| (min..=max).contains(number))
            .ok_or_else(|| {
                let found = shorten(&value);
                GuestError::Input(format!(
                    "{name} `{found}`: expected a number {min} to {max}"
                ))
            })?;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: [Flag; 2] = [flag("--rounds", 1000, 1, 9999), flag("--pairs", 1, 1, 64)];

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn both_forms_and_defaults() {
        assert_eq!(parse(&words(""), &FLAGS), Ok([1000, 1]));
        assert_eq!(parse(&words("--pairs 4 --rounds=7"), &FLAGS), Ok([7, 4]));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, what) in [
            (
                "--round 7",
                "unknown option `--round`; did you mean `--rounds`?",
            ),
            ("7", "unknown option `7`"),
            ("--pairs", "--pairs ``: expected a number 1 to 64"),
            ("--pairs 65", "--pairs `65`: expected a number 1 to 64"),
            ("--pairs -1", "--pairs `-1`: expected a number 1 to 64"),
        ] {
            let message = parse(&words(line), &FLAGS).expect_err(line).to_string();
            assert_eq!(message, what);
        }
    }
}
