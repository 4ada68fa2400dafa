//! What is read, what is refused and where, and files that would take the machine with them.
//! Page: docs/guide/import.md, "How a tree is read".
//!
//! What must stay: depth, copies and size are bounded; each refusal has its place.
//! Tests by part (in crates/platform/src): import/yaml.rs: `the_forms_of_plat_info` (`read`,
//! `scalar`), `anchors_aliases_and_merged_maps` (`alias`, `merge`),
//! `what_is_no_yaml_is_refused_with_its_place` (`wrong`), `levels_are_limited_through_aliases_too`
//! (`begin`, `add`), `copies_are_limited` (`copy`), `damaged_documents` (every byte).
//! Helpers, and who fails with them: `numbers` (`the_forms_of_plat_info`,
//! `anchors_aliases_and_merged_maps`).

use super::*;

/// The forms that occur in LISA's own files (doc/traces/plat_info.yml and the tests' one).
#[test]
fn the_forms_of_plat_info() {
    let text = concat!(
        "# a comment\n",
        "platform-info:\n",
        "    conf:\n",
        "        abi: arm64 # behind\n",
        "        cpu-capacities:\n",
        "            writeable: false\n",
        "            orig:\n",
        "                0: 446\n",
        "        freq-domains:\n",
        "        -   - 0\n",
        "            - 3\n",
        "        - [1, 2]\n",
        "        freqs: {0: [1, 2], big: [\n",
        "                3,\n",
        "                4\n",
        "            ]}\n",
        "        kernel:\n",
        "            config: !call:devlib.target.TypedKernelConfig.from_str\n",
        "                text: |\n",
        "                    CONFIG_HZ=250\n",
        "                    # no comment\n",
        "        name: 'juno-r0'\n",
    );
    let read = read(text).expect("YAML");
    let conf = read
        .get("platform-info")
        .and_then(|info| info.get("conf"))
        .expect("conf");
    assert_eq!(conf.get("abi").and_then(Yaml::text), Some("arm64"));
    assert_eq!(conf.get("name").and_then(Yaml::text), Some("juno-r0"));
    let orig = conf.get("cpu-capacities").and_then(|c| c.get("orig"));
    assert_eq!(
        orig.and_then(|o| o.get("0")).and_then(Yaml::number),
        Some(446)
    );
    let domains = conf
        .get("freq-domains")
        .and_then(Yaml::list)
        .expect("a list");
    assert_eq!(
        domains.iter().map(numbers).collect::<Vec<_>>(),
        [[0, 3], [1, 2]]
    );
    let big = conf.get("freqs").and_then(|f| f.get("big")).expect("big");
    assert_eq!(numbers(big), [3, 4]);
    let config = conf.get("kernel").and_then(|k| k.get("config"));
    let text = config.and_then(|c| c.get("text")).and_then(Yaml::text);
    assert_eq!(text, Some("CONFIG_HZ=250\n# no comment\n"));
}

fn numbers(list: &Yaml) -> Vec<u64> {
    let items = list.list().unwrap_or_default().iter();
    items.filter_map(Yaml::number).collect()
}

#[test]
fn anchors_aliases_and_merged_maps() {
    let text = concat!(
        "little: &little [450000, 850000]\n",
        "board: &board\n",
        "  freqs: {0: *little, 1: [1100000]}\n",
        "  name: first\n",
        "own:\n",
        "  <<: *board\n",
        "  name: second\n",
        "several: {<<: [{name: near}, *board], more: &more 1, again: *more}\n",
    );
    let read = read(text).expect("YAML");
    let own = read.get("own").expect("own");
    let freqs = own.get("freqs").and_then(|f| f.get("0")).expect("freqs");
    assert_eq!(numbers(freqs), [450_000, 850_000]);
    assert_eq!(own.get("name").and_then(Yaml::text), Some("second"));
    let several = read.get("several").expect("several");
    assert_eq!(several.get("name").and_then(Yaml::text), Some("near"));
    assert_eq!(several.get("again").and_then(Yaml::number), Some(1));
    assert!(several.get("freqs").is_some());
    // Objects that point at each other: the way back is nothing.
    let circle = super::read("&a {child: {parent: *a, name: 1}}").expect("YAML");
    let child = circle.get("child").expect("child");
    assert_eq!(child.get("parent"), Some(&Yaml::Nothing));
    assert_eq!(child.get("name").and_then(Yaml::number), Some(1));
    // An anchor that is given again stands for its last value.
    let twice = super::read("[&a 1, *a, &a 2, *a]").expect("YAML");
    assert_eq!(numbers(&twice), [1, 1, 2, 2]);
}

#[test]
fn what_is_no_yaml_is_refused_with_its_place() {
    for (text, line, problem) in [
        ("a: 1\n  b: 2", 2, "mapping values are not allowed"),
        ("a: [1, 2", 1, "flow sequence"),
        ("a: {1]}", 1, "expected ',' or '}'"),
        ("a: 1\nb", 2, "simple key"),
        ("\ta: 1\n\tb: 2", 1, "found a tab"),
        ("a: *x", 1, "unknown anchor"),
        ("a: 1\nb: 2\na: 3", 3, "`a` for the second time"),
        ("a: 1\n---\nb: 1", 2, "a second document"),
        ("a:\n  <<: 1\n", 2, "`<<` of what is no map"),
    ] {
        let error = read(text).expect_err(text);
        assert_eq!(error.line, line, "{text:?}: {error:?}");
        assert!(error.problem.contains(problem), "{text:?}: {error:?}");
    }
    assert_eq!(read("a: 1\nb: [x, *y]").map_err(|e| e.column), Err(8));
}

#[test]
fn levels_are_limited_through_aliases_too() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert!(read(&format!("a: {deep}")).is_err());
    let block = |levels: usize| -> String {
        let line = |at: usize| format!("{}a:\n", " ".repeat(at));
        (0..levels).map(line).collect()
    };
    assert!(read(&block(MAX_DEPTH)).is_ok());
    let error = read(&block(MAX_DEPTH + 1)).expect_err("too deep");
    assert_eq!((error.line, error.problem), (MAX_DEPTH + 1, too_deep()));
    // Each line is one level deeper than the one before.
    let mut text = "- &a0 []\n".to_owned();
    for at in 1..MAX_DEPTH {
        text += &format!("- &a{at} [*a{}]\n", at - 1);
    }
    let error = read(&text).expect_err("too deep");
    assert_eq!((error.line, error.problem), (MAX_DEPTH, too_deep()));
}

/// Nine lines for a billion values, one long text many times, and anchors inside of anchors.
#[test]
fn copies_are_limited() {
    let mut laughs = "- &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for at in 1..9 {
        let ten = vec![format!("*a{}", at - 1); 10].join(", ");
        laughs += &format!("- &a{at} [{ten}]\n");
    }
    let long = format!("- &a {}\n{}", "x".repeat(1 << 20), "- *a\n".repeat(100));
    let anchors: String = (0..16).map(|at| format!("&a{at} [")).collect();
    let nested = anchors + &"x,".repeat(100_000) + &"]".repeat(16);
    for text in [laughs, long, nested] {
        let error = read(&text).expect_err("too much");
        assert!(error.problem.contains("for more than 16 MiB"), "{error:?}");
    }
}

/// Goal: every beginning and every changed byte ends in a value or a message.
#[test]
fn damaged_documents() {
    let text =
        "%YAML 1.2\n---\na: &x {b: [1, 'c', \"d\\x41\"], ? e : |+\n f}\n<<: *x\n? !t g\n: ~\n...\n";
    for end in 0..=text.len() {
        let _ = read(&text[..end]);
    }
    for at in 0..text.len() {
        for byte in 0..128u8 {
            let mut other = text.as_bytes().to_vec();
            other[at] = byte;
            let other = String::from_utf8(other).expect("ASCII");
            let _ = read(&other);
        }
    }
}
