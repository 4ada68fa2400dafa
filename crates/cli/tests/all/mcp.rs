//! `wakeplace mcp`: sessions of the Model Context Protocol over pipes
//! (docs/guide/evaluate.md, "For language models: MCP"). The messages are those of
//! https://modelcontextprotocol.io/specification/2025-06-18: initialize, tools/list, tools/call.

use crate::common::{folder, program, repository};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A server with its client's ends of the pipes.
struct Session {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next: u64,
}

impl Session {
    /// Starts a server in a folder, and says hello.
    fn begin(folder: &Path, more: &[&str]) -> Self {
        let mut command = program(folder);
        let command = command.arg("mcp").args(more);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let to = child.stdin.take().expect("a pipe");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut session = Self {
            child,
            to,
            from,
            next: 1,
        };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = session.ask("initialize", &hello);
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], "2025-06-18", "{answer}");
        assert_eq!(result["serverInfo"]["name"], "wakeplace");
        assert!(result["capabilities"]["tools"].is_object());
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to, "{message}").expect("it listens");
    }

    /// A request and its answer.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        self.from.read_line(&mut line).expect("an answer");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// A tool's answer: whether it is an error, and the text.
    fn call(&mut self, tool: &str, arguments: &Value) -> (bool, String) {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = self.ask("tools/call", &params);
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{answer}")).to_owned();
        (result["isError"] == true, text)
    }

    /// The client closes its end: the server ends, well.
    fn end(self) {
        let Self { mut child, to, .. } = self;
        drop(to);
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.code(), Some(0));
    }
}

/// Goal: the session by hand of docs/guide/evaluate.md works as it is pasted: two answers, a line
/// each, and the second has a score.
#[test]
fn the_guides_session_by_hand_works() {
    let guide = std::fs::read_to_string(repository("docs/guide/evaluate.md")).expect("the guide");
    let mut blocks = guide.split("```").skip(1).step_by(2);
    let block = blocks.find(|block| block.contains("| wakeplace mcp"));
    let block = block.expect("a block that pipes into the server");
    let folder = folder();
    let own = program(folder.path()).get_program().to_owned();
    let own = Path::new(&own).parent().expect("its folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [own].into_iter().chain(std::env::split_paths(&path));
    let output = std::process::Command::new("sh")
        .args(["-c", block])
        .current_dir(folder.path())
        .env("PATH", std::env::join_paths(folders).expect("folders"))
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let read = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    let answers: Vec<Value> = text.lines().map(read).collect();
    let [hello, called] = answers.as_slice() else {
        panic!("{text}");
    };
    assert_eq!(hello["result"]["serverInfo"]["name"], "wakeplace");
    assert_eq!(called["id"], 2, "{called}");
    let found = called["result"]["content"][0]["text"].as_str();
    let found = read(found.unwrap_or_else(|| panic!("{called}")));
    assert!(
        found["score"].as_f64().is_some_and(|score| score > 0.0),
        "{found}"
    );
}

#[test]
fn a_session_lists_and_calls_tools() {
    let folder = folder();
    let mut session = Session::begin(folder.path(), &[]);
    let answer = session.ask("tools/list", &json!({}));
    let tools = answer["result"]["tools"].as_array().expect("tools");
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let expected = [
        "evaluate",
        "compare",
        "explain",
        "parameters",
        "platforms",
        "policies",
    ];
    assert_eq!(names, [&expected[..], &["workloads", "metrics"]].concat());
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["policy"]));

    let asked = json!({"policy": "wakeplace", "platform": ["juno-r0"], "seeds": 1,
                       "duration": "50ms", "goal": ["energy", "latency"]});
    let (is_error, text) = session.call("evaluate", &asked);
    assert!(!is_error, "{text}");
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert!(
        found["score"].as_f64().is_some_and(|score| score > 0.0),
        "{text}"
    );
    assert_eq!(found["candidate"]["name"], "wakeplace");

    let load = json!({"platform": "juno-r0", "workload": "periodic:n=3", "duration": "50ms"});
    let with = |more: Value| {
        let mut all = load.clone();
        let own = all.as_object_mut().expect("an object");
        own.extend(more.as_object().expect("an object").clone());
        all
    };
    let policies = with(json!({"policy": ["linux-4.17", "linux-7.3"]}));
    let (is_error, text) = session.call("compare", &policies);
    assert!(!is_error && text.contains("| cpu_energy_j |"), "{text}");
    let (is_error, text) = session.call("explain", &with(json!({"policy": "linux-7.3"})));
    assert!(!is_error && text.contains("CPU"), "{text}");
    for (tool, arguments, word) in [
        ("platforms", json!({}), "hikey960"),
        ("policies", json!({}), "linux-7.3"),
        ("workloads", json!({}), "messaging"),
        ("metrics", json!({}), "fairness_pct"),
        ("parameters", json!({"policy": "wakeplace"}), "busy_factor"),
    ] {
        let (is_error, text) = session.call(tool, &arguments);
        assert!(!is_error && text.contains(word), "{tool}: {text}");
    }
    session.end();
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "nothing is written");
}

/// Goal: what a command refuses comes back in its own sentence, and the session goes on.
#[test]
fn what_is_wrong_is_the_tools_error() {
    let folder = folder();
    let mut session = Session::begin(folder.path(), &[]);
    for (tool, arguments, words) in [
        (
            "evaluate",
            json!({"policy": "wakeplce"}),
            "did you mean `wakeplace`?",
        ),
        (
            "evaluate",
            json!({"policy": "linux-7.3"}),
            "the candidate `linux-7.3` is the base",
        ),
        (
            "evaluate",
            json!({"policy": "./none.bpf.o"}),
            "there is no such file",
        ),
        (
            "evaluate",
            json!({"policy": "wakeplace", "battry": "small"}),
            "did you mean `battery`?",
        ),
        (
            "evaluate",
            json!({"policy": "--output=x.json"}),
            "`--output=x.json`",
        ),
        (
            "evaluate",
            json!({"policy": "kernel:/tmp"}),
            "--allow-trees",
        ),
        ("evaluat", json!({}), "did you mean `evaluate`?"),
        ("parameters", json!({"policy": "linux-7.4"}), "linux-7.4"),
    ] {
        let (is_error, text) = session.call(tool, &arguments);
        assert!(is_error && text.contains(words), "{tool}: {text}");
        assert!(
            !text.contains("error: ") && text.trim().lines().count() == 1,
            "{text}"
        );
    }
    let (is_error, _) = session.call("platforms", &json!({}));
    assert!(!is_error);
    session.end();
    assert!(!folder.path().join("x.json").exists());
}

#[test]
fn a_call_that_takes_too_long_is_ended() {
    let folder = folder();
    let mut session = Session::begin(folder.path(), &["--time-limit", "200ms"]);
    let asked = json!({"policy": "wakeplace", "seeds": 1000});
    let (is_error, text) = session.call("evaluate", &asked);
    assert!(
        is_error && text.contains("longer than 200 ms and was ended"),
        "{text}"
    );
    session.end();
}
