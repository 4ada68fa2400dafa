//! Experiments: a platform, a workload, policies and seeds, run and compared.
//!
//! [`Experiment`] is one comparison the caller puts together. A [`Study`] is a named one, read from
//! `studies/FAMILY/NAME/study.toml`, with several cases and published figures beside the simulated
//! ones. Both run on a pool of threads; the results stand in an order that does not depend on it.
//! Nothing here prints.

mod calibration;
mod catalogue;
mod comparison;
mod error;
mod experiment;
mod file;
mod hotplug;
mod outcome;
mod plan;
mod pool;
mod rows;
mod settings;
mod study;
mod verdict;

pub use calibration::Calibration;
pub use catalogue::{StudyInfo, studies};
pub use comparison::{Comparison, PolicyRuns};
pub use error::StudyError;
pub use experiment::Experiment;
pub use hotplug::parse_hotplug;
pub use outcome::{Param, Published, Simulated, StudyResult, StudyRow};
pub use pool::Progress;
pub use settings::{SettingError, apply_settings};
pub use study::{Study, StudyOptions};
