//! The names of sis-short: versions, states, parameters, what runs live. Source:
//! docs/rules/short-wakes.md#short-switch, docs/rules/short-wakes.md#short-versions;
//! docs/guide/policy.md.
//!
//! What must stay: version names and the parameters of each are the page's rows. It covers
//! crates/policy-sys/src/eras/short.rs. Free: how the rows are written.
//! Tests by part: `names_and_states`, `the_parameters_of_each_version` (eras/short.rs);
//! `every_version_runs_live` (`not_in_live_build`).
//! Helpers, and who fails with them: `value` (`names_and_states`,
//! `the_parameters_of_each_version`).
#![allow(missing_docs, reason = "not a library")]

use wakeplace_policy_sys::Policy;

const VERSIONS: [&str; 8] = ["v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8"];

fn value(policy: &Policy, key: &str) -> String {
    let found = policy.params().into_iter().find(|p| p.key == key);
    found.expect("a parameter").value
}

/// Goal: off in all eras as shipped; `+sis-short` is v5; each version is told; a mixture is "on";
/// `-sis-short` is the era as shipped. Source: docs/rules/short-wakes.md#short-switch,
/// docs/guide/policy.md (`sis-short=v1..v8`).
#[test]
fn names_and_states() {
    let state = |policy: &Policy| {
        let features = policy.features();
        let found = features.into_iter().find(|f| f.name == "sis-short");
        found.expect("a feature").state
    };
    for (era, _) in Policy::catalogue()
        .iter()
        .filter(|(n, _)| !n.starts_with('+'))
    {
        let plain = Policy::parse(era).expect("an era");
        // The product's own policy has v5, in large caches (docs/guide/policy.md, line 14).
        let own = era == "wakeplace";
        assert_eq!(state(&plain), own.then_some("v5"), "{era}");
        let without = Policy::parse(&format!("{era}-sis-short")).expect("a policy");
        assert_eq!(value(&without, "sis_short_affine"), "off");
        assert_eq!(value(&without, "sis_short_stack"), "off");
        let on = Policy::parse(&format!("{era}+sis-short")).expect("a policy");
        assert_eq!(state(&on), Some("v5"), "{era}");
        for version in VERSIONS.iter().chain(&["scan-cost"]) {
            let name = format!("{era}+sis-short={version}");
            let on = Policy::parse(&name).expect("a policy");
            assert_eq!(state(&on), Some(*version), "{era}");
            let off = Policy::parse(&format!("{name}-sis-short")).expect("a policy");
            assert_eq!(off.core_params(), without.core_params(), "{era}");
        }
        assert!(Policy::parse(&format!("{era}+sis-short=v9")).is_err());
    }
    let mut mixed = Policy::parse("linux-6.2+sis-short=v6").expect("a policy");
    mixed.set("sis_short_gate", "off").expect("a parameter");
    assert_eq!(state(&mixed), Some("on"));
    mixed.set("sis_short_gate", "on").expect("a parameter");
    assert_eq!(state(&mixed), Some("v6"));
    mixed.set("sis_short_stack", "off").expect("a parameter");
    assert_eq!(state(&mixed), Some("on"), "hunk A alone");
}

/// Goal: the parameters of each version, as its row says. Source:
/// docs/rules/short-wakes.md#short-versions.
#[test]
fn the_parameters_of_each_version() {
    let keys = [
        "sis_short_affine",
        "sis_short_dur",
        "sis_short_test",
        "sis_short_gate",
        "sis_short_no_core",
        "sis_short_this",
        "sis_short_alone",
        "sis_short_wakee",
        "sis_short_flips",
        "sis_short_mutual",
    ];
    for row in [
        "v1 first switches up-to-whole on on off any on off off",
        "v2 after-prev put-coarse up-to-whole on on off one off off off",
        "v3 after-prev put up-to-whole off on off one on off off",
        "v4 after-prev sleep up-to-eighth off on off one on off off",
        "v5 after-prev sleep below-eighth on on on at-most-one on off off",
        "v6 after-prev sleep below-eighth on on on at-most-one on on off",
        "v7 last sleep below-eighth off off on at-most-one on on on",
        "v8 last sleep migration-cost off off on at-most-one on on on",
        "scan-cost off sleep scan-cost off on off one off off off",
    ] {
        let (version, values) = row.split_once(' ').expect("a row");
        let policy = Policy::parse(&format!("linux-6.2+sis-short={version}")).expect("a policy");
        assert_eq!(value(&policy, "sis_short_stack"), "on");
        let found: Vec<_> = keys.iter().map(|key| value(&policy, key)).collect();
        assert_eq!(found.join(" "), values, "{version}");
    }
}

/// Goal: the live build holds every version on the newest base. Source: ARCHITECTURE.md (the live
/// build takes every feature on the newest base).
#[test]
fn every_version_runs_live() {
    for version in VERSIONS.iter().chain(&["scan-cost"]) {
        for era in ["linux-7.3", "wakeplace"] {
            let policy = Policy::parse(&format!("{era}+sis-short={version}")).expect("a policy");
            assert_eq!(policy.not_in_live_build(), None, "{era} {version}");
        }
    }
}
