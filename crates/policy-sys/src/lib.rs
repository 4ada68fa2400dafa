//! The native build of the placement policy core and its safe face.
mod policy;
mod reason;
pub use policy::{FeatureView, ParamView, Policy, PolicyError};
pub use reason::Reason;
