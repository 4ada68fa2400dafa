//! `mcp`: a server of the Model Context Protocol on standard input and output, for language models
//! that search (docs/guide/evaluate.md, "For language models: MCP").
//!
//! The protocol is the crate rmcp's. `tools.rs` says which tools there are, `child.rs` carries a
//! call out.
//!
//! What must stay: names of tools; a call is a command of this program, run as a process of its
//! own, so that nothing that a candidate does reaches the server; no tool writes a file. What a
//! command refuses is the tool's error, not the protocol's. Tests by part:
//! crates/cli/tests/all/mcp.rs::`a_session_lists_and_calls_tools` (`Server`),
//! mcp.rs::`what_is_wrong_is_the_tools_error` (`call_tool`).
//!
//! Tests: crates/cli/tests/all/mcp.rs

mod child;
mod tools;

use crate::args::McpArgs;
use crate::failure::{Failure, Outcome, Verdict};
use child::{Limits, run};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServiceExt as _};
use std::fmt::Display;
use std::time::Duration;
use tokio::sync::Semaphore;

/// What a client tells its model.
const INSTRUCTIONS: &str = "wakeplace simulates Linux's task placement: where tasks run, and what \
    that costs in energy and latency, on models of real machines. `evaluate` scores a candidate \
    (a policy with parameters, or a sched_ext scheduler) beside a base: 1 is like the base, more \
    is better. `parameters` lists what can be set, `explain` says why a task went where it went, \
    `compare` has all figures. The same question has the same answer. No tool writes a \
    result to a file.";

/// Serves until the client closes standard input.
pub(crate) fn serve(args: &McpArgs) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(environment)?;
    let server = Server {
        allow_trees: args.allow_trees,
        limits: Limits::of(Duration::from_nanos(args.time_limit)),
        one_at_a_time: Semaphore::new(1),
    };
    runtime.block_on(async {
        let running = server.serve(rmcp::transport::stdio()).await;
        let running = running.map_err(|error| {
            Failure::Input(format!(
                "mcp: {error}; expected a client that speaks MCP on standard input"
            ))
        })?;
        running.waiting().await.map_err(environment)?;
        Ok(Verdict::Ok)
    })
}

/// What this machine cannot do.
fn environment(error: impl Display) -> Failure {
    Failure::Environment(format!("mcp: {error}"))
}

/// Answers calls.
struct Server {
    allow_trees: bool,
    limits: Limits,
    /// A command uses all CPUs.
    one_at_a_time: Semaphore,
}

impl Server {
    /// A tool's answer, or why there is none.
    async fn answer(&self, request: CallToolRequestParams) -> Result<Vec<String>, String> {
        let arguments = request.arguments.unwrap_or_default();
        let words = tools::words(&request.name, arguments, self.allow_trees)?;
        let permit = self.one_at_a_time.acquire().await;
        let _one = permit.map_err(|error| error.to_string())?;
        run(&words, self.limits).await
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("wakeplace", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all(
            self.allow_trees,
        )))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all(self.allow_trees)
            .into_iter()
            .find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = tokio::select! {
            answer = self.answer(request) => answer,
            () = context.ct.cancelled() => Err("cancelled".to_owned()),
        };
        let content = |texts: Vec<String>| texts.into_iter().map(ContentBlock::text).collect();
        Ok(match answer {
            Ok(texts) => CallToolResult::success(content(texts)),
            Err(why) => CallToolResult::error(content(vec![why])),
        }
        .into())
    }
}
