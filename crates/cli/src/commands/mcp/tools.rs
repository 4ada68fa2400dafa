//! The tools, and the words of the command that a call is
//! (docs/guide/evaluate.md, "For language models: MCP").
//!
//! What must stay: names of tools and of their arguments, which are the command line's
//! (`wakeplace_study::ARGUMENTS`); a value is never taken for an option; no option that writes a
//! file can be given. Tests by part: `calls_are_commands` (`words`), `no_value_is_an_option`
//! (`words`, values), `schemas_have_all_arguments` (`all`, `schema`), `what_does_not_fit_is_said`
//! (`words`, refusals).
//!
//! Tests: below, crates/cli/tests/all/mcp.rs

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use wakeplace_policy_sys::TREE_PREFIX;
use wakeplace_study::{ARGUMENTS, Argument, Ask, Command, Kind, SCHEDULER, Source, Value as Given};
use wakeplace_text::{did_you_mean, nearest, shorten};

type Object = Map<String, Value>;

/// A tool that runs something, by the name of its command.
struct Runs {
    command: Command,
    about: &'static str,
    /// Options that every call has.
    fixed: &'static [&'static str],
    /// It takes sched_ext schedulers beside policies.
    schedulers: bool,
}

const RUNS: [Runs; 3] = [
    Runs {
        command: Command::Evaluate,
        about: "Scores a candidate beside a base on the loads of a battery: 1 is like the base, \
                more is better. The candidate is a policy with parameters, as \
                wakeplace:busy_factor=8, or a sched_ext scheduler, as /path/x.bpf.o or a command \
                in one text. The answer is JSON: score with its interval, parts (energy, \
                benchmark, latency, misses), fairness, longest wait, failures with the reason and \
                the wake-up, and the figures of each cell. A candidate that fails has no score.",
        fixed: &["--json"],
        schedulers: false,
    },
    Runs {
        command: Command::Compare,
        about: "Compares policies or schedulers on platforms with workloads: all figures with \
                intervals and what each difference means, as Markdown.",
        fixed: &["--format=md"],
        schedulers: true,
    },
    Runs {
        command: Command::Explain,
        about: "Explains one placement decision: every candidate CPU with its figures, and what \
                other policies would have done.",
        fixed: &["--format=human"],
        schedulers: true,
    },
];

/// A list: the tool's name, what it says, and its command.
const LISTS: [(&str, &str, &[&str]); 4] = [
    (
        "platforms",
        "Lists the modelled machines.",
        &["platform", "list", "--format=json"],
    ),
    (
        "policies",
        "Lists the policies: eras and features, of which names are made.",
        &["policy", "list", "--format=json"],
    ),
    (
        "workloads",
        "Lists the workload models with their keys.",
        &["workload", "list", "--format=json"],
    ),
    (
        "metrics",
        "Lists the metrics of a run with unit, direction and meaning: any of them is a goal.",
        &["metric", "list", "--format=json"],
    ),
];

/// The list of what can be set.
const PARAMETERS: &str = "parameters";

/// All tools; with trees those that run something compile foreign code, which a client must know.
pub(super) fn all(allow_trees: bool) -> Vec<Tool> {
    let annotated = |tool: Tool, reads: bool| {
        tool.with_annotations(ToolAnnotations::new().read_only(reads).open_world(!reads))
    };
    let tool = |name: &'static str, about: &'static str, schema: Object| {
        annotated(Tool::new(name, about, schema), true)
    };
    let runs = RUNS.iter().map(|runs| {
        let own = Tool::new(runs.command.name(), runs.about, schema(runs));
        annotated(own, !allow_trees)
    });
    let lists = LISTS
        .iter()
        .map(|(name, about, _)| tool(name, about, object(Map::new(), &[])));
    let policy = json!({"type": "string", "description": "A policy, as wakeplace or linux-7.3"});
    let parameters = tool(
        PARAMETERS,
        "Lists the parameters of a policy with their values, ranges and meanings.",
        object(Map::from_iter([("policy".to_owned(), policy)]), &["policy"]),
    );
    runs.chain([parameters]).chain(lists).collect()
}

/// An object with these properties and no others.
fn object(properties: Object, required: &[&str]) -> Object {
    let all = [
        ("type", json!("object")),
        ("properties", Value::Object(properties)),
        ("required", json!(required)),
        ("additionalProperties", json!(false)),
    ];
    all.into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// The arguments that a command takes.
fn arguments(command: Command) -> impl Iterator<Item = &'static Argument> {
    ARGUMENTS.iter().filter(move |one| one.is_taken_by(command))
}

/// The schema of a command's arguments.
fn schema(runs: &Runs) -> Object {
    let command = runs.command;
    let mut properties: Object = arguments(command)
        .map(|one| (one.name.to_owned(), property(one, command)))
        .collect();
    let mut required: Vec<&str> = Vec::new();
    for argument in arguments(command).filter(|one| one.is_needed_by(command)) {
        // A scheduler may stand in for a policy.
        if !(runs.schedulers && argument.name == "policy") {
            required.push(argument.name);
        }
    }
    if runs.schedulers {
        let about = "sched_ext schedulers beside the policies, as /path/x.bpf.o or a command";
        let property = json!({"type": "array", "items": {"type": "string"}, "description": about});
        properties.insert(SCHEDULER.to_owned(), property);
    }
    object(properties, &required)
}

/// One argument.
fn property(argument: &Argument, command: Command) -> Value {
    let texts = || json!({"type": "array", "items": {"type": "string"}});
    let several = command != Command::Explain;
    let mut schema = match argument.kind {
        Kind::Text => json!({"type": "string"}),
        // One of them, where there can be only one.
        Kind::Sources | Kind::Texts if !several || argument.is_positional(command) => {
            match argument.name == "compare_policy" {
                true => texts(),
                false => json!({"type": "string"}),
            }
        }
        Kind::Sources | Kind::Texts | Kind::Pairs => texts(),
        Kind::Seeds => json!({"type": ["integer", "string"]}),
        Kind::Whole => json!({"type": "integer", "minimum": 0}),
        Kind::Percent => json!({"type": "number", "minimum": 0}),
        Kind::Flag => json!({"type": "boolean"}),
    };
    let help = match argument.kind {
        Kind::Pairs => format!("{}; each as KEY=VALUE. {}", argument.help, argument.more),
        _ => format!("{}. {}", argument.help_of(command), argument.more),
    };
    schema["description"] = json!(help.trim());
    if let Some(default) = argument.default_of(command) {
        let number = default
            .parse::<u64>()
            .ok()
            .filter(|_| argument.kind != Kind::Text);
        schema["default"] = number.map_or_else(|| json!(default), |number| json!(number));
    }
    schema
}

/// The command's words for a call; or what is wrong with it.
pub(super) fn words(
    tool: &str,
    mut given: Object,
    allow_trees: bool,
) -> Result<Vec<String>, String> {
    if let Some(runs) = RUNS.iter().find(|runs| runs.command.name() == tool) {
        return runs.words(given, allow_trees);
    }
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    if tool == PARAMETERS {
        let policy = given.remove("policy");
        none_left(tool, &given)?;
        let Some(Value::String(policy)) = policy else {
            return Err("policy: not given; expected a name, as \"wakeplace\"".to_owned());
        };
        check_tree(&policy, allow_trees)?;
        let mut words: Vec<String> = own(&["policy", "show", "--format=json", "--"]);
        words.push(policy);
        return Ok(words);
    }
    if let Some((_, _, words)) = LISTS.iter().find(|(name, ..)| *name == tool) {
        none_left(tool, &given)?;
        return Ok(own(words));
    }
    let tools = all(false);
    let names = || tools.iter().map(|tool| tool.name.as_ref());
    Err(format!(
        "unknown tool `{}`; expected one of {}{}",
        shorten(tool),
        names().collect::<Vec<_>>().join(", "),
        did_you_mean(nearest(tool, names()))
    ))
}

/// Nothing is given that the tool does not take.
fn none_left(tool: &str, given: &Object) -> Result<(), String> {
    match given.keys().next() {
        None => Ok(()),
        Some(key) => Err(format!("{tool} takes no `{}`; expected none", shorten(key))),
    }
}

/// A kernel's tree is allowed, or this is none.
fn check_tree(policy: &str, allow_trees: bool) -> Result<(), String> {
    match policy.starts_with(TREE_PREFIX) && !allow_trees {
        false => Ok(()),
        true => Err(format!(
            "`{}`: a kernel tree's code would be compiled and run with your rights; expected a \
             policy or a scheduler, or a server that was started with --allow-trees",
            shorten(policy)
        )),
    }
}

impl Runs {
    /// The words of a call.
    fn words(&self, mut given: Object, allow_trees: bool) -> Result<Vec<String>, String> {
        let command = self.command;
        let schedulers = match given.remove(SCHEDULER).filter(|_| self.schedulers) {
            None | Some(Value::Null) => Vec::new(),
            Some(value) => serde_json::from_value::<Vec<String>>(value)
                .map_err(|_| format!("{SCHEDULER}: expected a list of texts"))?,
        };
        let ask: Ask =
            serde_json::from_value(Value::Object(given)).map_err(|error| error.to_string())?;
        ask.check(command, schedulers.len())
            .map_err(|error| error.to_string())?;
        let mut words = vec![command.name().to_owned()];
        words.extend(self.fixed.iter().map(|word| (*word).to_owned()));
        let mut positional = Vec::new();
        for (argument, values) in ask.given() {
            for value in values {
                let text = text(argument, value)?;
                check_tree(text, allow_trees)?;
                match (argument.is_positional(command), argument.kind) {
                    (true, _) => positional.push(text.to_owned()),
                    (false, Kind::Flag) => words.push(format!("--{}", argument.option())),
                    (false, _) => words.push(format!("--{}={text}", argument.option())),
                }
            }
        }
        words.extend(schedulers.iter().map(|one| format!("--{SCHEDULER}={one}")));
        if !positional.is_empty() {
            words.push("--".to_owned());
            words.extend(positional);
        }
        Ok(words)
    }
}

/// A value as the command line has it: a text that is no file has no place there.
fn text<'a>(argument: &Argument, value: &'a Given) -> Result<&'a str, String> {
    match value {
        Given::Text(text) => Ok(text),
        Given::Source(Source::Named(name)) => Ok(name),
        Given::Source(_) => Err(format!(
            "{}: a text instead of a file; expected a name or a path",
            argument.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{Object, all, words};
    use serde_json::{Value, json};

    fn of(tool: &str, given: Value) -> Result<String, String> {
        let Value::Object(given) = given else {
            return Ok(String::new());
        };
        let given: Object = given;
        words(tool, given, false).map(|words| words.join(" "))
    }

    #[test]
    fn calls_are_commands() {
        let given = json!({"policy": "wakeplace", "seeds": 2, "set": ["busy_factor=8"],
                           "platform": ["juno-r0"], "goal": ["energy"]});
        assert_eq!(
            of("evaluate", given).unwrap(),
            "evaluate --json --platform=juno-r0 --goal=energy --set=busy_factor=8 --seeds=2 -- \
             wakeplace"
        );
        let given = json!({"platform": "juno-r0", "workload": "periodic", "policy": ["linux-7.3"],
                           "scheduler": ["./x.bpf.o"], "oracle": true});
        assert_eq!(
            of("compare", given).unwrap(),
            "compare --format=md --platform=juno-r0 --workload=periodic --policy=linux-7.3 \
             --oracle --scheduler=./x.bpf.o"
        );
        let parameters = of("parameters", json!({"policy": "wakeplace"})).unwrap();
        assert_eq!(parameters, "policy show --format=json -- wakeplace");
        assert_eq!(
            of("platforms", json!({})).unwrap(),
            "platform list --format=json"
        );
    }

    /// Goal: a value is a value, whatever it looks like.
    #[test]
    fn no_value_is_an_option() {
        let given = json!({"policy": "--output=/tmp/x", "set": ["--output=/tmp/x"]});
        let said = "evaluate --json --set=--output=/tmp/x -- --output=/tmp/x";
        assert_eq!(of("evaluate", given).unwrap(), said);
        let output = of("evaluate", json!({"policy": "wakeplace", "output": "x"})).unwrap_err();
        assert!(output.contains("`output` is no argument"), "{output}");
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let said = |tool: &str, given: Value| of(tool, given).unwrap_err();
        assert!(said("evaluate", json!({})).starts_with("no policy given"));
        assert!(said("evalute", json!({})).contains("did you mean `evaluate`?"));
        assert!(said("parameters", json!({})).starts_with("policy: not given"));
        assert!(said("platforms", json!({"a": 1})).contains("takes no `a`"));
        let tree = said("evaluate", json!({"policy": "kernel:/tmp/linux"}));
        assert!(tree.contains("--allow-trees"), "{tree}");
        let text = json!({"policy": "wakeplace", "platform": [["mine", "name = 1"]]});
        assert!(said("evaluate", text).contains("expected a name or a path"));
        let both = json!({"platform": "a", "workload": "b", "policy": "c", "task": "d"});
        assert!(said("compare", both).contains("compare takes no task"));
    }

    #[test]
    fn schemas_have_all_arguments() {
        let tools = all(false);
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        let expected = [
            "evaluate",
            "compare",
            "explain",
            "parameters",
            "platforms",
            "policies",
        ];
        assert_eq!(names, [&expected[..], &["workloads", "metrics"]].concat());
        let evaluate = Value::Object((*tools[0].input_schema).clone());
        assert_eq!(evaluate["required"], json!(["policy"]));
        assert_eq!(evaluate["properties"]["policy"]["type"], "string");
        assert_eq!(evaluate["properties"]["battery"]["default"], "small");
        assert_eq!(evaluate["properties"]["set"]["items"]["type"], "string");
        assert_eq!(evaluate["properties"].get("workload"), None);
    }
}
