//! What sched_ext schedulers did.

use serde_json::{Map, Value, json};
use wakeplace_study::{Ended, PolicyRuns, RunReport, SchedExtReport};

/// Of each seed's run; None: no scheduler ran.
pub(super) fn of_runs(runs: &PolicyRuns) -> Option<Value> {
    let ext = runs.reports.iter().filter_map(of_run);
    let all: Vec<Value> = ext.collect();
    (!all.is_empty()).then_some(Value::Array(all))
}

fn of_run(report: &RunReport) -> Option<Value> {
    let mut value = scheduler(report.sched_ext.as_ref()?);
    if let Ended::Scheduler { exit } = &report.ended {
        value["exit"] = json!({
            "kind": exit.kind.reason(),
            "code": exit.code,
            "message": exit.message,
        });
    }
    Some(value)
}

fn scheduler(ext: &SchedExtReport) -> Value {
    let callback = |c: &wakeplace_study::CallbackTotals| {
        let figures = json!([c.calls, c.kfuncs, c.time_ns]);
        (c.callback.name().to_owned(), figures)
    };
    let callbacks: Map<_, _> = ext.callbacks.iter().map(callback).collect();
    let longest = ext.longest_wait.as_ref().map(|wait| {
        json!({
            "task": wait.task,
            "waits_ns": wait.waits_ns,
            "place": wait.place,
        })
    });
    json!({
        "name": ext.name,
        "callback_ns": ext.callback_ns,
        "kfunc_ns": ext.kfunc_ns,
        "callbacks_calls_kfuncs_ns": callbacks,
        "longest_wait": longest,
    })
}

#[cfg(test)]
mod tests {
    use super::scheduler;
    use serde_json::json;
    use wakeplace_study::{Callback, CallbackTotals, LongestWait, SchedExtReport};

    #[test]
    fn callbacks_are_listed_by_name() {
        let ext = SchedExtReport {
            name: "mine".to_owned(),
            callbacks: vec![CallbackTotals {
                callback: Callback::SelectCpu,
                calls: 5,
                kfuncs: 7,
                time_ns: 570,
            }],
            callback_ns: 100,
            kfunc_ns: 10,
            longest_wait: Some(LongestWait {
                task: Some(3),
                waits_ns: 9,
                place: "in DSQ 0x7, last on CPU 1".to_owned(),
            }),
        };
        let expected = json!({
            "name": "mine",
            "callback_ns": 100,
            "kfunc_ns": 10,
            "callbacks_calls_kfuncs_ns": { "select_cpu": [5, 7, 570] },
            "longest_wait": { "task": 3, "waits_ns": 9, "place": "in DSQ 0x7, last on CPU 1" },
        });
        assert_eq!(scheduler(&ext), expected);
    }
}
