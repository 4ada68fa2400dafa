//! The page of results (docs/guide/report.md, "How a page is made").
//!
//! What must stay: nothing is loaded from elsewhere, nothing of a result is markup, equal results
//! give equal bytes; results of schema 1 stay readable.
//! Tests by part (in crates/report/src): html/compared.rs:
//! `the_answer_stands_first_and_everything_after_it` (`view`, `answer`),
//! `an_older_result_has_less_and_says_so` (no verdict), `a_price_takes_the_green` (`verdict_tone`,
//! `verdict_badge`), `modelled_joules_have_a_word` (`label`, `noun`),
//! `notes_have_code_and_losses_from_nothing_have_chips` (`chips`, `figure`),
//! `runs_to_the_end_of_their_tasks_say_so` (`facts`); html/details.rs:
//! `it_can_be_read_without_eyes_and_without_a_mouse` (`chart`); html/page.rs: `nothing_is_loaded`
//! (`without_map`), `programs_of_others_end_where_they_should` (`LIBRARIES`),
//! `a_page_runs_its_own_scripts_only` (`security_policy`); html/mod.rs:
//! `what_a_result_says_is_no_markup` (`drawn`), `several_results_have_a_heading_each` (`html`,
//! `views`); crates/outcome/src/forms.rs: `results_of_version_1_are_read` (`yes`, `Pairs`);
//! html/overview.rs: `several_workloads_are_told_apart_at_a_glance` (`names`, `table`);
//! html/read.rs: `no_result_is_refused_in_a_sentence` (`read`, `parse`); html/cases.rs:
//! `counted_cases_have_a_table` (`of_runs`, `table`); html/lines.rs: `cache_lines_are_a_section`
//! (`section`); html/figures.rs:
//! `the_json_of_a_study_is_read_back` (`spread`); html/mod.rs:
//! `the_same_result_gives_the_same_bytes`.
//! Helpers, and who fails with them: `page`, `old`, `whole` (most tests); `own` (9 tests);
//! `refused` (`no_result_is_refused_in_a_sentence`); `policy_and_scripts`
//! (`a_page_runs_its_own_scripts_only`).

use super::{Source, html};
use crate::{Format, Style};
use serde_json::{Value, json};

fn page(text: &str) -> String {
    html(&[Source {
        name: "result.json",
        text,
    }])
    .expect("a result")
}

fn refused(text: &str) -> String {
    let error = html(&[Source {
        name: "result.json",
        text,
    }])
    .expect_err("no result");
    error.to_string()
}

/// The least that `compare` has given since the first version.
fn old() -> Value {
    let metric = |mean: f64| json!({"mean": mean, "rsd_pct": 1.0, "ci95": 0.1, "unit": "J"});
    let run = |policy: &str, mean: f64| {
        json!({
            "platform": "hikey960",
            "workload": "periodic:n=10",
            "policy": policy,
            "set": {},
            "seeds": [1, 2],
            "metrics": {"energy_j": metric(mean)},
            "event_hashes": ["00ff", "11ee"],
        })
    };
    json!({
        "schema_version": 1,
        "version": "0.1.0",
        "duration_ns": 1_000_000_000,
        "settings": {},
        "options": {"model.idle_states": "all"},
        "runs": [run("linux-4.17", 10.0), run("linux-4.17+energy-aware", 9.0)],
        "deltas": [{
            "metric": "energy_j", "base": "linux-4.17", "other": "linux-4.17+energy-aware",
            "delta_pct": -10.0, "ci95": [-11.0, -9.0], "significant": true,
        }],
        "notes": [],
        "warnings": ["beware"],
    })
}

/// With everything that a page shows.
fn whole() -> Value {
    let mut all = old();
    all["verdicts"] = json!([{
        "policy": "linux-4.17+energy-aware", "metric": "energy_j", "difference": "better",
        "text": "linux-4.17+energy-aware uses 10.0 % less energy",
    }]);
    all["command"] = json!("wakeplace compare --platform hikey960");
    let details = json!({
        "energy": {
            "unit": "J",
            "board": 4.0,
            "cluster_state_energy_s": [
                ["little", "busy", 1.5, 2.0], ["little", "idle WFI", 0.5, 9.0],
            ],
            "cpu_busy_idle_transition": [[1.0, 0.25, 0.0], [0.5, 0.25, 0.0]],
        },
        "residency": [{
            "cluster": "little", "cpus": 2, "busy_pct": 40.0, "transition_pct": 1.0,
            "idle_pct": {"WFI": 59.0}, "cluster_idle_pct": {},
        }],
        "frequencies": [{
            "cpus": "0-1", "khz_time_busy_pct": [[533000, 60.0, 10.0], [999000, 40.0, 30.0]],
        }],
        "wake_latency_up_to_ns_count": [[1024, 98], [20480, 2]],
        "placements_per_run": {"idle-target": 99.0},
    });
    let timeline = json!({
        "from_ns": 1000, "to_ns": 2000, "until_ns": 2000, "cpus": 2,
        "clusters": [["little", "0-1"]], "domains": ["0-1"], "idle_states": ["WFI"],
        "tasks": [[0, "a"]],
        "cpu_task_from_to_ns": [[0, 0, 1000, 1500]],
        "cpu_idle_state_from_to_ns": [[1, 0, 1000, 2000]],
        "domain_at_ns_khz": [[0, 1000, 533000]],
        "reasons": ["idle-target"],
        "at_ns_task_prev_cpu_reason_new": [[1000, 0, 1, 0, 0, 0]],
        "overutilized_at_ns_on": [[1000, 0]],
    });
    for run in 0..2 {
        all["runs"][run]["details"] = details.clone();
        all["runs"][run]["timeline"] = timeline.clone();
    }
    all
}

/// The part of a page that is about the result: without the programs of others and their licences.
fn own(page: &str) -> String {
    let mut text = page.to_owned();
    for (_, program, licence) in super::page::LIBRARIES {
        text = text.replace(&super::page::without_map(program), "");
        for line in licence.lines() {
            text = text.replace(line, "");
        }
    }
    text
}

#[test]
fn the_answer_stands_first_and_everything_after_it() {
    let page = page(&whole().to_string());
    let places = [
        "<h1>linux-4.17+energy-aware against linux-4.17 on hikey960</h1>",
        "uses 10.0 % less energy",
        "−10.0\u{a0}%",
        "with the same 2 seeds",
        "beware",
        "<h2>What differs</h2>",
        "<h2>Energy by CPU and state</h2>",
        "<h2>Busy and idle</h2>",
        "<h2>Frequencies</h2>",
        "<h2>Wake-up latency</h2>",
        "<h2>Why CPUs were chosen</h2>",
        "<h2>What ran where</h2>",
        "<h2>All metrics</h2>",
        "<h2>Repeat it</h2>",
        "wakeplace compare --platform hikey960</pre>",
        "model.idle_states",
        "00ff",
    ];
    let mut from = page.find("<main").expect("a main part");
    for place in places {
        let at = page[from..].find(place);
        from += at.unwrap_or_else(|| panic!("`{place}` is not there, or too early"));
    }
}

#[test]
fn it_can_be_read_without_eyes_and_without_a_mouse() {
    let page = page(&whole().to_string());
    let body = &page[page.find("<body>").unwrap()..];
    let first = body.find("<a ").unwrap();
    assert!(body[first..].starts_with("<a class=\"skip\" href=\"#answer\""));
    assert!(body[first..].find("<button").unwrap() > 0 && body.contains("id=\"answer\""));
    let own = own(&page);
    let count = |what: &str| own.matches(what).count();
    assert!(count("<table") > 5);
    assert_eq!(count("<table"), count("<caption"));
    assert_eq!(
        count("<table"),
        count("role=\"region\" tabindex=\"0\" aria-labelledby")
    );
    assert_eq!(count("<th"), count("<th scope=\"") + count("<thead"));
    assert_eq!(
        count("class=\"drawing\""),
        count("role=\"img\" aria-label=\"")
    );
    assert_eq!(
        count("class=\"drawing\""),
        count("<figcaption>") - count("class=\"line\"")
    );
    assert_eq!(count("<h1>"), 1);
    // Every part that the contents lead to is there, once.
    for link in own.split("href=\"#").skip(1) {
        let id = link.split('"').next().unwrap();
        assert_eq!(count(&format!("id=\"{id}\"")), 1, "{id}");
    }
}

#[test]
fn nothing_is_loaded() {
    let page = page(&whole().to_string());
    assert!(!page.contains("sourceMappingURL"));
    let own = own(&page);
    for load in [
        "src=",
        "@import",
        "url(",
        "fetch(",
        "XMLHttpRequest",
        "import(",
    ] {
        assert!(!own.contains(load), "{load}");
    }
    let links = own.matches("<link").count();
    assert_eq!(
        links,
        own.matches("<link rel=\"icon\" href=\"data:,\">").count()
    );
    // Addresses are names of forms only.
    let addresses = own.matches("http://").count() + own.matches("https://").count();
    assert_eq!(
        addresses,
        own.matches("https://vega.github.io/schema/vega-lite/v6.json")
            .count()
    );
}

#[test]
fn programs_of_others_end_where_they_should() {
    for (name, program, _) in super::page::LIBRARIES {
        let text = program.to_lowercase();
        assert!(
            !text.contains("</script") && !text.contains("<!--"),
            "{name}"
        );
    }
}

#[test]
fn what_a_result_says_is_no_markup() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u{2028}";
    let mut result = whole();
    result["runs"][0]["workload"] = json!(evil);
    result["runs"][1]["policy"] = json!(evil);
    result["deltas"][0]["other"] = json!(evil);
    result["verdicts"][0]["text"] = json!(evil);
    result["warnings"] = json!([evil]);
    result["command"] = json!(evil);
    result["options"][evil] = json!(evil);
    result["runs"][0]["metrics"][evil] = json!({"mean": 1.0, "unit": evil});
    result["runs"][0]["timeline"]["tasks"] = json!([[0, evil]]);
    result["runs"][0]["details"]["residency"][0]["cluster"] = json!(evil);
    result["runs"][0]["details"]["placements_per_run"][evil] = json!(1.0);
    let plain = page(&whole().to_string());
    let page = page(&result.to_string());
    assert!(!page.contains("alert(1)</script>") && !own(&page).contains("<img"));
    for mark in ["<script", "</script"] {
        assert_eq!(
            page.matches(mark).count(),
            plain.matches(mark).count(),
            "{mark}"
        );
    }
    assert!(
        page.contains("\\u003c/script\\u003e\\u003cscript\\u003ealert(1)"),
        "in the charts"
    );
    assert!(
        page.contains("&lt;img src=x onerror=alert(2)&gt;"),
        "in the text"
    );
    assert!(!page.contains('\u{2028}') || page.contains("\\u2028"));
}

/// What a browser may do, of a page's head, and the scripts that the page has.
fn policy_and_scripts(page: &str) -> (&str, Vec<&str>) {
    let head = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
    let (before, after) = page.split_once(head).expect("a policy");
    assert!(!before.contains("<script") && !before.contains("<style"));
    let (policy, page) = after.split_once('"').expect("its end");
    let scripts = page.split("<script>").skip(1);
    let scripts = scripts.map(|text| text.split_once("</script>").expect("its end").0);
    (policy, scripts.collect())
}

/// Goal: a browser runs the scripts that a page was made with, each by its hash, and no other; and
/// loads nothing. `printf '\nalert(1)\n' | openssl dgst -sha256 -binary | base64` gives the hash.
#[test]
fn a_page_runs_its_own_scripts_only() {
    const ALERT: &str = "'sha256-J8+4/wmqNoqVGih0Xof49bzVEIwR8aHhR5HvZK1wlzY='";
    let made = super::Page {
        script: "alert(1)\n",
        ..super::Page::default()
    };
    let own = made.html();
    let (policy, scripts) = policy_and_scripts(&own);
    assert_eq!(scripts.last(), Some(&"\nalert(1)\n"));
    assert!(policy.contains(ALERT), "{policy}");
    assert_eq!(policy.matches("'sha256-").count(), scripts.len());
    let rules: Vec<&str> = policy.split("; ").collect();
    assert_eq!(rules[0], "default-src 'none'");
    let script_rule = rules.iter().find(|rule| rule.starts_with("script-src "));
    let sources = script_rule.expect("of scripts").split(' ').skip(1);
    assert!(
        sources
            .into_iter()
            .all(|source| source.starts_with("'sha256-"))
    );
    assert!(rules.contains(&"worker-src 'none'"));
    // Browsers read line ends of their own kind only, and hash what they read.
    assert!(scripts.iter().all(|script| !script.contains('\r')));
    let with_module = super::Page {
        has_module: true,
        ..made
    };
    let own = with_module.html();
    let (policy, _) = policy_and_scripts(&own);
    assert!(policy.contains(ALERT) && policy.contains(" 'wasm-unsafe-eval';"));
    assert!(policy.contains("worker-src blob:"));
    assert!(!policy.contains("'unsafe-eval'"));
}

#[test]
fn the_same_result_gives_the_same_bytes() {
    let text = whole().to_string();
    assert_eq!(page(&text), page(&text));
}

#[test]
fn an_older_result_has_less_and_says_so() {
    let page = page(&old().to_string());
    assert!(page.contains("The result holds no verdict"));
    assert!(page.contains("does not record the command"));
    assert!(!page.contains(">Energy by CPU and state</h2>"));
}

/// Results that the last commit of schema 1 (dcf2b769) wrote; the study is shortened to one profile
/// and three conclusions. Goal: they are read, with all that they have, and say what they lack.
#[test]
fn results_of_version_1_are_read() {
    let compared = page(include_str!("../../tests/old/compare-1.json"));
    for part in [
        "<h1>linux-5.0 against linux-4.17 on tc2</h1>",
        "<h2>Energy by CPU and state</h2>",
        "<h2>What ran where</h2>",
        "no difference seen",
        "wakeplace compare --platform tc2 --workload periodic:n=1",
        "schema_version 1",
    ] {
        assert!(compared.contains(part), "{part}");
    }
    let study = page(include_str!("../../tests/old/study-1.json"));
    for part in [
        "<h2>Published against simulated</h2>",
        "<h2>With assumed costs halved and doubled</h2>",
        "context_switch_ns",
        "<h2>Busy and idle</h2>",
        "schema_version 1",
    ] {
        assert!(study.contains(part), "{part}");
    }
}

#[test]
fn several_results_have_a_heading_each() {
    let text = whole().to_string();
    let source = Source {
        name: "a",
        text: &text,
    };
    let page = html(&[source, source]).unwrap();
    let own = own(&page);
    assert!(own.contains("<h1>2 results</h1>"));
    assert_eq!(
        own.matches("<h2>linux-4.17+energy-aware against").count(),
        2
    );
    for link in own.split("href=\"#").skip(1) {
        let id = link.split('"').next().unwrap();
        assert_eq!(own.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
}

/// Goal: of three workloads each heading and each link says which it is, and one table stands
/// before them all.
#[test]
fn several_workloads_are_told_apart_at_a_glance() {
    let texts = ["periodic", "messaging", "kbuild"].map(|workload| {
        let mut result = whole();
        for run in 0..2 {
            result["runs"][run]["workload"] = json!(workload);
        }
        result.to_string()
    });
    let alone = own(&page(&texts[0]));
    let sources = texts.each_ref().map(|text| Source { name: "a", text });
    let page = own(&html(&sources).unwrap());
    for (at, workload) in (1..).zip(["periodic", "messaging", "kbuild"]) {
        assert!(
            page.contains(&format!("<a href=\"#r{at}\">{workload}</a>")),
            "{workload}"
        );
        let heading = format!("<h2>{workload}: linux-4.17+energy-aware against linux-4.17 on");
        assert!(page.contains(&heading), "{workload}");
    }
    let table = page
        .find("<table id=\"overview\"")
        .expect("a table across them");
    assert!(table < page.find("<article").unwrap());
    let rows = &page[table..page[table..].find("</table>").unwrap() + table];
    // A row for the columns, and one for each workload.
    assert_eq!(rows.matches("<tr").count(), 1 + 3, "{rows}");
    assert_eq!(rows.matches("−10.0\u{a0}%").count(), 3, "{rows}");
    assert!(!alone.contains("id=\"overview\""));
}

/// Goal: what is better at the cost of something else is not green, and says so.
#[test]
fn a_price_takes_the_green() {
    let mut result = whole();
    let better = own(&page(&result.to_string()));
    assert!(better.contains("<p class=\"verdict better\">"));
    result["verdicts"][0]["worse"] = json!(["missed_periods_total"]);
    let priced = own(&page(&result.to_string()));
    assert!(!priced.contains("<p class=\"verdict better\">"));
    assert!(priced.contains("<span class=\"badge other\">better, at a price</span>"));
}

/// Goal: joules of a power that nobody measured are called so at each of their places.
#[test]
fn modelled_joules_have_a_word() {
    let mut result = whole();
    assert!(!own(&page(&result.to_string())).contains("Energy, modelled"));
    result["modelled_power"] = json!(true);
    let page = own(&page(&result.to_string()));
    // A chip, a tile, and a row of each of both tables.
    let (shown, drawn) = page.split_once("id=\"drawn\"").unwrap();
    assert_eq!(shown.matches("Energy, modelled").count(), 4, "{shown}");
    assert!(drawn.contains("Energy, modelled"), "in the charts");
}

/// Goal: notes have no backticks on a page, and a change from nothing has a chip and a figure.
#[test]
fn notes_have_code_and_losses_from_nothing_have_chips() {
    let mut result = whole();
    result["warnings"] = json!(["use `--seeds 10`"]);
    for (run, missed) in [(0, 0.0), (1, 124.0)] {
        result["runs"][run]["metrics"]["missed_periods_total"] =
            json!({"mean": missed, "rsd_pct": 1.0, "ci95": 0.1, "unit": ""});
    }
    result["deltas"].as_array_mut().unwrap().push(json!({
        "metric": "missed_periods_total", "base": "linux-4.17",
        "other": "linux-4.17+energy-aware", "delta_pct": null, "ci95": null,
        "significant": true, "difference": "worse",
    }));
    let page = own(&page(&result.to_string()));
    assert!(page.contains("use <code>--seeds 10</code>"));
    assert!(page.contains("<strong>from 0</strong>\n worse"));
    assert!(page.contains("<span class=\"tone worse\">worse</span>"));
}

/// Goal: runs that ended with their tasks are not said to be as long as they might have been.
#[test]
fn runs_to_the_end_of_their_tasks_say_so() {
    let mut result = whole();
    result["duration_ns"] = json!(3_600_000_000_000_u64);
    let shown = |result: &Value| own(&page(&result.to_string()));
    assert!(shown(&result).contains("3600 s"), "nothing is known");
    for run in 0..2 {
        result["runs"][run]["end_ns"] = json!([1_000, 2_000]);
    }
    let page = shown(&result);
    assert!(page.contains("<li>to the end of its tasks</li>") && !page.contains("3600 s"));
    assert!(page.contains("<dt>Simulated time</dt><dd>to the end of its tasks</dd>"));
    result["runs"][1]["complete"] = json!(false);
    assert!(shown(&result).contains("3600 s"), "it got stuck");
}

#[test]
fn no_result_is_refused_in_a_sentence() {
    let mut old_form = old();
    old_form["schema_version"] = json!(0);
    let mut without = old();
    without.as_object_mut().unwrap().remove("schema_version");
    let mut no_runs = old();
    no_runs["runs"] = json!([]);
    let with = |mut result: Value, at: &str, value: Value| {
        *result.pointer_mut(at).expect("it is there") = value;
        result
    };
    let wrong = with(old(), "/runs/0/seeds", json!("many"));
    let whole_number = with(old(), "/duration_ns", json!("long"));
    let object = with(old(), "/runs/0/metrics/energy_j", json!(3));
    let on_cpus = |ran: Value| with(whole(), "/runs/0/timeline/cpu_task_from_to_ns", ran);
    let list = on_cpus(json!([[2, 0, 1000]]));
    let outside = on_cpus(json!([[2, 0, 1000, 1500]]));
    let backwards = on_cpus(json!([[0, 0, 1500, 1400]]));
    let huge = with(whole(), "/runs/0/timeline/cpus", json!(4_000_000_000_u32));
    for (text, part) in [
        (String::new(), "result.json:1:0: EOF"),
        ("[1, 2]".to_owned(), "is no object"),
        ("{\"a\": }".to_owned(), "result.json:1:7: expected value"),
        ("[".repeat(1_000_000), "recursion limit"),
        (without.to_string(), "has no `schema_version`"),
        (
            old_form.to_string(),
            "has `schema_version` 0, and this program reads 1",
        ),
        (
            json!({"schema_version": 1, "wakeup": {}}).to_string(),
            "is the result of `explain`",
        ),
        (
            json!({"schema_version": 1}).to_string(),
            "has neither `runs` nor `study`",
        ),
        (
            json!({"schema_version": 1, "runs": [], "duration_ns": 1}).to_string(),
            "wake-up cases",
        ),
        (no_runs.to_string(), "has no runs"),
        (format!("{wrong:#}"), ": invalid type: string \"many\""),
        (
            format!("{whole_number:#}"),
            "invalid type: string \"long\", expected a whole number from 0; expected the JSON",
        ),
        (
            format!("{object:#}"),
            "invalid type: integer `3`, expected an object",
        ),
        (
            format!("{list:#}"),
            "invalid length 3, expected a list of 4 values",
        ),
        (outside.to_string(), "with CPU 2 of 2"),
        (backwards.to_string(), "1500 to 1400 ns"),
        (huge.to_string(), "4000000000 CPUs"),
    ] {
        let error = refused(&text);
        assert!(error.contains(part), "{part}: {error}");
        assert!(error.starts_with("result.json:"), "{error}");
        let expected = error
            .ends_with("expected the JSON of `compare`, `sim`, `review`, `study run` or `sweep`");
        assert!(
            expected && error.len() < 300 && !error.contains('\n'),
            "{error}"
        );
    }
}

/// Goal: wake-ups by sizes of task and CPUs have a table where they were counted, and no page has
/// an empty one. Case 1 is that of a little task on little CPUs.
#[test]
fn counted_cases_have_a_table() {
    assert!(!page(&whole().to_string()).contains("Wake-up cases"));
    let mut result = whole();
    let metric = json!({"mean": 37.0, "rsd_pct": 1.0, "ci95": 0.1, "unit": ""});
    result["runs"][0]["metrics"]["wakeup_case1_big_total"] = metric.clone();
    result["runs"][0]["metrics"]["wakeup_cases_big_total"] = metric;
    let page = page(&result.to_string());
    let table = page.rsplit("Wake-up cases").next().expect("a table");
    assert!(table.contains("linux-4.17, mean of the runs"), "{table}");
}

#[test]
fn the_json_of_a_study_is_read_back() {
    let result = crate::study::tests::fake();
    let text = crate::study(&result, Format::Json, Style::default());
    let page = page(&text);
    for part in [
        "<h2>Published against simulated</h2>",
        "less energy.",
        "33.45\u{a0}J",
        "±1.2\u{a0}%",
        "−13.4\u{a0}%",
        "a mail",
        "Experiments: Energy",
        "* are no check",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let tried = crate::study(
        &crate::study::tests::tried(),
        Format::Json,
        Style::default(),
    );
    let page = self::page(&tried);
    assert!(page.contains("With assumed costs halved and doubled"));
}

/// Goal: the most expensive cache lines are a section; a run that was not asked for them has none.
/// 300 of 400 ns are 75 %, and 200 of these 300 are 66.6.
#[test]
fn cache_lines_are_a_section() {
    let mut result = old();
    assert!(!page(&result.to_string()).contains("Cache lines"));
    let used =
        |function: &str, ns: u64| json!({"field": "load_avg", "function": function, "cost_ns": ns});
    result["runs"][0]["lines"] = json!({
        "total_ns": 400,
        "lines": [{
            "object": "struct task_group",
            "offset": 256,
            "several": false,
            "transfers": 3,
            "writes": 1,
            "far": 2,
            "transfer_ns": 200,
            "wait_ns": 100,
            "lock_ns": 0,
            "uses": [used("update_cfs_group", 200), used("update_load_avg", 100)],
        }],
    });
    let page = page(&result.to_string());
    for said in [
        "Cache lines",
        "struct task_group +256",
        "75.0 %",
        "load_avg by update_cfs_group 66.6 %",
    ] {
        assert!(page.contains(said), "{said}");
    }
}
