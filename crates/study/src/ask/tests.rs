use super::{Ask, parse_window};
use crate::{About, Source};
use std::sync::Arc;

fn ask() -> Ask {
    Ask {
        platform: vec![Source::named("hikey960")],
        workload: vec![Source::named("periodic:n=3,duty=5%")],
        policy: vec!["linux-7.3".into(), "linux-4.17+energy-aware".into()],
        seeds: Some("2".into()),
        duration: Some("50ms".into()),
        timeline: Some("0s..20ms".into()),
        ..Ask::default()
    }
}

/// Goal: the command is in the options' own words, quoted for a shell, and Python's lines have the
/// same arguments.
#[test]
fn the_same_question_in_two_languages() {
    let mut ask = ask();
    ask.set = vec![("busy_factor".into(), "5".into())];
    let command = "wakeplace compare --platform hikey960 --workload periodic:n=3,duty=5% \
                   --policy linux-7.3 --policy linux-4.17+energy-aware --set busy_factor=5 \
                   --duration 50ms --seeds 2 --timeline 0s..20ms";
    assert_eq!(ask.command("compare", None).as_deref(), Some(command));
    let lines = [
        "import wakeplace",
        "",
        "result = wakeplace.compare(",
        r#"    platform=["hikey960"],"#,
        r#"    workload=["periodic:n=3,duty=5%"],"#,
        r#"    policy=["linux-7.3", "linux-4.17+energy-aware"],"#,
        r#"    set={"busy_factor": "5"},"#,
        r#"    duration="50ms","#,
        r#"    seeds="2","#,
        r#"    timeline="0s..20ms","#,
        ")",
        "",
    ];
    let python = lines.join("\n");
    assert_eq!(ask.python("compare", None), Some(python));
    ask.workload = vec![Source::named("it's.json")];
    let quoted = ask.command("compare", None).unwrap();
    assert!(quoted.contains(r"--workload 'it'\''s.json'"), "{quoted}");
}

#[test]
fn a_decision_is_asked_for_in_the_same_words() {
    let mut ask = ask();
    ask.policy.truncate(1);
    (ask.seeds, ask.timeline, ask.seed) = (None, None, Some(4));
    let about = About {
        task: Some("periodic-1".into()),
        at: Some("12ms".into()),
        why_not: Some(3),
        ..About::default()
    };
    let command = "wakeplace explain --platform hikey960 --workload periodic:n=3,duty=5% --policy \
                   linux-7.3 --duration 50ms --seed 4 --task periodic-1 --at 12ms --why-not 3";
    let words = ask.command("explain", Some(&about));
    assert_eq!(words.as_deref(), Some(command));
    let python = ask.python("explain", Some(&about)).unwrap();
    assert!(python.contains("    platform=\"hikey960\",\n"), "{python}");
    assert!(python.contains("    why_not=3,\n"), "{python}");
}

/// Goal: a file that is in memory is what the same file on a disk is.
#[test]
fn bytes_are_as_good_as_a_file() {
    let folder = std::env::temp_dir().join(format!("wakeplace-ask-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = br#"{"tasks": {"a": {"instance": 2, "run": 500, "sleep": 9000}}}"#;
    let path = folder.join("two.json");
    std::fs::write(&path, text).unwrap();
    let name = path.to_str().unwrap().to_owned();
    let mut on_disk = ask();
    on_disk.workload = vec![Source::named(name.clone())];
    let mut in_memory = on_disk.clone();
    in_memory.workload = vec![Source::File {
        name,
        bytes: Arc::from(&text[..]),
    }];
    let run = |ask: &Ask| ask.request().unwrap().resolve().unwrap().run(1, &|_| {});
    assert_eq!(run(&on_disk).unwrap(), run(&in_memory).unwrap());
    assert_eq!(
        on_disk.command("compare", None),
        in_memory.command("compare", None)
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_wrong_names_its_argument() {
    let error = |change: &dyn Fn(&mut Ask)| {
        let mut ask = ask();
        change(&mut ask);
        let checked = ask.check("compare").and_then(|()| ask.request());
        checked.expect_err("refused").to_string()
    };
    let said = error(&|ask| ask.duration = Some("5 parsecs".into()));
    assert!(said.starts_with("duration: "), "{said}");
    let said = error(&|ask| ask.timeline = Some("2s..1s".into()));
    assert!(said.starts_with("timeline: it has no length"), "{said}");
    let said = error(&|ask| ask.policy.truncate(1));
    assert!(said.contains("needs two policies"), "{said}");
    let said = error(&|ask| ask.platform.clear());
    assert!(said.contains("no platform given"), "{said}");
    assert!(parse_window("1s").unwrap_err().contains("no `..`"));
}
