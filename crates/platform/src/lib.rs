//! Machines: the model, its TOML files and their validation.
pub mod model;
pub use model::*;
