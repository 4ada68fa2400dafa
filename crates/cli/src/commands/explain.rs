//! `explain`: one decision, its candidates and what other policies would have done.

mod json;
mod text;
mod why_not;

use super::simulate::{experiment, inputs};
use crate::args::{AnswerFormat, ExplainArgs, FormatName, HowArgs, OutputArgs, RunArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::output::Output;
use crate::places;
use crate::settings::check_keys;
use crate::terminal::Terminal;
use crate::text::{plain, style, time};
use wakeplace_engine::{Asked, Explanation, Missing, Options, Which};
use wakeplace_platform::{Platform, PowerUnit};
use wakeplace_policy_sys::Policy;
use wakeplace_study::{Experiment, apply_settings};
use wakeplace_text::{did_you_mean, nearest};
use wakeplace_workload::Workload;

/// A decision and where it is from.
pub(super) struct Answer<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) explanation: &'a Explanation,
    /// The CPU that `--why-not` names, and the answer.
    pub(super) why_not: Option<(u32, String)>,
}

impl Answer<'_> {
    pub(super) fn platform(&self) -> &Platform {
        &self.experiment.platform
    }

    /// An estimate of energy as power on average, in the platform's unit.
    pub(super) fn power(&self, energy: u64) -> f64 {
        power(self.explanation, self.platform(), energy)
    }

    /// That unit.
    pub(super) fn power_unit(&self) -> &'static str {
        power_unit(self.platform())
    }
}

/// The models take a bogo unit for a milliwatt.
pub(super) fn power(explanation: &Explanation, platform: &Platform, energy: u64) -> f64 {
    let scale = match platform.power_unit {
        PowerUnit::Bogo => 1000.0,
        PowerUnit::Microwatt | PowerUnit::None => 1.0,
    };
    energy as f64 / explanation.energy_per_uw.unwrap_or(1.0) / scale
}

pub(super) fn power_unit(platform: &Platform) -> &'static str {
    match platform.power_unit {
        PowerUnit::Bogo => "bogo",
        PowerUnit::Microwatt | PowerUnit::None => "uW",
    }
}

/// `explain`.
pub(crate) fn explain(args: ExplainArgs, terminal: Terminal) -> Outcome {
    let (format, seed) = (args.format, args.seed);
    let (which, why_not) = (which(&args), args.why_not);
    let (task, other) = (args.task.clone(), args.compare_policy.clone());
    let run = run_args(args);
    let experiment = experiment(&run, vec![seed])?;
    let workload = experiment.first_workload().map_err(Failure::input)?;
    let policy = &experiment.policies[0];
    let others = others(&experiment, &workload, &run.how.set, &other)?;
    for (option, cpu) in [("--to", to(which)), ("--why-not", why_not)] {
        check_cpu(option, cpu, &experiment.platform)?;
    }
    let asked = asked(&workload, task.as_deref(), which)?;
    places::apart(inputs(&run), &[("--output", run.output.output.as_deref())])?;
    let output = Output::prepare(run.output.output.as_deref())?;
    let Experiment {
        platform, options, ..
    } = &experiment;
    let explanation =
        wakeplace_engine::explain(platform, policy, &workload, options, &asked, &others)
            .map_err(|missing| no_such(missing, which, task.as_deref(), options))?;
    let answer = Answer {
        experiment: &experiment,
        explanation: &explanation,
        why_not: why_not.map(|cpu| (cpu, why_not::sentence(&explanation, platform, cpu))),
    };
    let look = if output.is_stdout() {
        style(terminal)
    } else {
        plain()
    };
    let text = match format {
        AnswerFormat::Human => text::answer(&answer, look),
        AnswerFormat::Json => crate::text::json(&json::answer(&answer)),
    };
    output.write(&text, terminal)?;
    Ok(Verdict::Ok)
}

fn which(args: &ExplainArgs) -> Which {
    match (args.wakeup, args.at, args.to) {
        (_, Some(at), _) => Which::At(at),
        (_, _, Some(cpu)) => Which::To(cpu),
        (number, ..) => Which::Wakeup(number.unwrap_or(1)),
    }
}

fn to(which: Which) -> Option<u32> {
    match which {
        Which::To(cpu) => Some(cpu),
        Which::At(_) | Which::Wakeup(_) => None,
    }
}

/// What `sim` would be given.
fn run_args(args: ExplainArgs) -> RunArgs {
    RunArgs {
        platform: vec![args.platform],
        workload: vec![args.workload],
        jitter: None,
        margin: wakeplace_study::DEFAULT_MARGIN_PCT,
        export_runs: None,
        allow_unmodelled: args.allow_unmodelled,
        rtapp_dialect: args.rtapp_dialect,
        duration: args.duration,
        hotplug: args.hotplug,
        policy_at: Vec::new(),
        policy: vec![args.policy],
        how: HowArgs {
            set: args.set,
            jobs: None,
        },
        output: OutputArgs {
            format: FormatName::Human,
            output: args.output,
        },
        expect: Vec::new(),
        export_wakeup_cases: None,
        export_html: None,
        timeline: None,
        oracle: false,
        verify_determinism: false,
    }
}

/// The policies asked for; without any all eras, and the run's policy with each feature turned.
fn others(
    experiment: &Experiment,
    workload: &Workload,
    set: &[(String, String)],
    named: &[String],
) -> Result<Vec<Policy>, Failure> {
    let policy = &experiment.policies[0];
    let mut others = if named.is_empty() {
        usual_others(policy)
    } else {
        let parsed = named.iter().map(|name| Policy::parse(name));
        parsed.collect::<Result<_, _>>().map_err(Failure::input)?
    };
    check_keys(set, policy)?;
    apply_settings(set, &mut Options::default(), &mut others).map_err(Failure::input)?;
    if named.is_empty() {
        let (platform, options) = (&experiment.platform, &experiment.options);
        // What an older kernel cannot run on this machine is no answer.
        others.retain(|other| {
            other.core_params() != policy.core_params()
                && wakeplace_engine::check(platform, other, workload, options).is_ok()
        });
        return Ok(others);
    }
    for other in &others {
        wakeplace_engine::check(&experiment.platform, other, workload, &experiment.options)
            .map_err(Failure::input)?;
    }
    Ok(others)
}

fn usual_others(policy: &Policy) -> Vec<Policy> {
    let features = policy.features();
    let turned = features.iter().map(|feature| {
        let sign = if feature.state.is_some() { '-' } else { '+' };
        format!("{}{sign}{}", policy.name(), feature.name)
    });
    let catalogue = Policy::catalogue().into_iter().map(|(name, _)| name);
    let eras = catalogue.filter(|name| !name.starts_with('+'));
    let parsed = turned.chain(eras).map(|name| Policy::parse(&name));
    let mut found: Vec<Policy> = Vec::new();
    for other in parsed.flatten() {
        if !(found.iter()).any(|earlier| earlier.core_params() == other.core_params()) {
            found.push(other);
        }
    }
    found
}

fn check_cpu(option: &str, cpu: Option<u32>, platform: &Platform) -> Result<(), Failure> {
    let count = platform.cpus.len();
    match cpu {
        Some(cpu) if cpu as usize >= count => Err(Failure::Input(format!(
            "{option} {cpu}: platform `{}` has the CPUs 0 to {}",
            platform.name,
            count - 1
        ))),
        _ => Ok(()),
    }
}

/// The digits at the end of `NAME-DIGITS`.
fn numbered<'a>(name: &'a str, kind: &str) -> Option<&'a str> {
    let digits = name.strip_prefix(kind)?.strip_prefix('-')?;
    let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all.then_some(digits)
}

/// The threads that a name means: one, those of a kind, or one that is forked (`NAME-0003`).
fn asked(workload: &Workload, task: Option<&str>, which: Which) -> Result<Asked, Failure> {
    let Some(task) = task else {
        return Ok(Asked {
            scripts: None,
            fork: None,
            which,
        });
    };
    let scripts = |takes: &dyn Fn(&str) -> bool| -> Vec<u32> {
        let named = (0..).zip(&workload.tasks);
        named
            .filter(|(_, script)| takes(&script.name))
            .map(|(index, _)| index)
            .collect()
    };
    let mut found = scripts(&|name| name == task);
    if found.is_empty() {
        found = scripts(&|name| numbered(name, task).is_some());
    }
    let mut fork = None;
    if found.is_empty() {
        let of = |script: &&wakeplace_workload::TaskScript| {
            script.forks.is_some() && numbered(task, &script.name).is_some()
        };
        if let Some(script) = workload.tasks.iter().find(of) {
            found = scripts(&|name| name == script.name);
            fork = numbered(task, &script.name).and_then(|digits| digits.parse().ok());
        }
    }
    if found.is_empty() {
        let names = workload.tasks.iter().map(|script| script.name.as_str());
        let hint = did_you_mean(nearest(task, names.clone()));
        let some: Vec<_> = names.take(8).collect();
        let more = if workload.tasks.len() > 8 {
            ", ..."
        } else {
            ""
        };
        return Err(Failure::Input(format!(
            "--task: workload `{}` has no task `{task}`; expected one of {}{more}{hint}",
            workload.name,
            some.join(", ")
        )));
    }
    Ok(Asked {
        scripts: Some(found),
        fork,
        which,
    })
}

/// Why there is no such decision, and what there is.
fn no_such(missing: Missing, which: Which, task: Option<&str>, options: &Options) -> Failure {
    let of = task.map_or_else(String::new, |task| format!(" of `{task}`"));
    let there = match (missing.wakeups, missing.last_ns) {
        (0, _) | (_, None) => format!("there was no wake-up{of}"),
        (1, Some(last)) => format!("there was one wake-up{of}, at {}", time(last)),
        (n, Some(last)) => format!("there were {n} wake-ups{of}, the last at {}", time(last)),
    };
    let end = time(missing.end_ns.min(options.duration_ns));
    let what = match which {
        Which::Wakeup(0) => format!("--wakeup 0: no task{of} was made"),
        Which::Wakeup(number) => format!("--wakeup {number}: {there}"),
        Which::At(at) if at >= missing.end_ns => {
            format!("--at {}: the run was over before; {there}", time(at))
        }
        Which::At(at) => format!("--at {}: no wake-up from then on; {there}", time(at)),
        Which::To(cpu) => format!("--to {cpu}: no wake-up{of} went there; {there}"),
    };
    Failure::Input(format!("{what} (the run took {end})"))
}
