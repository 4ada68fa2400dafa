//! What tasks do: rt-app files and workload models, expanded into scripts.
pub mod script;
pub use script::*;
