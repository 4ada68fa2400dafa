//! Options of `mcp` (docs/guide/evaluate.md, "For language models: MCP").
//!
//! What must stay: names of options, which configurations of clients have. Free: help texts. Tests
//! by part: crates/cli/tests/all/mcp.rs::`a_call_that_takes_too_long_is_ended` (`--time-limit`),
//! mcp.rs::`what_is_wrong_is_the_tools_error` (`--allow-trees`).
//!
//! Tests: crates/cli/tests/all/mcp.rs

use clap::Args;

/// `mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// How long a call may take
    #[arg(
        long,
        value_name = "TIME",
        default_value = "5m",
        value_parser = wakeplace_text::parse_duration_ns,
    )]
    pub(crate) time_limit: u64,
    /// Also take kernel trees (`kernel:...`), whose code is compiled and runs with your rights
    #[arg(long)]
    pub(crate) allow_trees: bool,
}
