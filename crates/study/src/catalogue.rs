//! The studies that are built into the program.

use crate::{Study, StudyError};
use wakeplace_text::{nearest, shorten};

include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

/// A study in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyInfo {
    /// `FAMILY/NAME`.
    pub name: String,
    /// One line about it.
    pub title: String,
    /// Runs of the reduced size.
    pub quick_runs: usize,
    /// Runs of the full size, without experiments.
    pub full_runs: usize,
    /// It has published figures to compare with.
    pub published: bool,
}

/// All built-in studies, by name.
///
/// # Panics
/// If a built-in study is invalid: an error of the program, which a test looks for.
#[must_use]
pub fn studies() -> Vec<StudyInfo> {
    let info = |name: &str| match Study::load(name) {
        Ok(study) => study.info(),
        Err(error) => panic!("built-in study: {error}"),
    };
    BUILTIN.iter().map(|(name, _, _)| info(name)).collect()
}

impl Study {
    /// A built-in study.
    ///
    /// # Errors
    /// The name is unknown; the nearest is offered.
    pub fn load(name: &str) -> Result<Study, StudyError> {
        let names = || BUILTIN.iter().map(|(known, _, _)| *known);
        let Some((_, text, readme)) = BUILTIN.iter().find(|(known, _, _)| *known == name) else {
            return Err(StudyError::UnknownName {
                name: shorten(name),
                known: names().collect::<Vec<_>>().join(", "),
                hint: nearest(name, names()).map(str::to_owned),
            });
        };
        let study = Study::from_toml(text, &format!("studies/{name}/study.toml"))?;
        Ok(study.with_readme(readme))
    }
}

#[cfg(test)]
mod tests {
    use super::{BUILTIN, studies};
    use crate::Study;

    #[test]
    fn every_built_in_study_is_valid_and_explained() {
        assert_eq!(studies().len(), BUILTIN.len());
        for (name, _, readme) in BUILTIN {
            assert!(
                readme.contains(&format!("wakeplace study run {name}")),
                "{name}"
            );
            assert!(
                readme.contains("## Distance to the published figure"),
                "{name}"
            );
        }
    }

    #[test]
    fn the_nearest_name_is_offered() {
        let error = Study::load("energy-hikey960").unwrap_err().to_string();
        assert!(
            error.contains("did you mean `energy-aware/energy-hikey960`?"),
            "{error}"
        );
    }
}
