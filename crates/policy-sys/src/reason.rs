//! Placeholder until generated.
/// Why a CPU was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Previous CPU.
    Prev,
}
