// SPDX-License-Identifier: GPL-2.0-only
//! Statistics of crates/scx/src/stats.rs and stats/text.rs (docs/guide/live.md, "Watch"): the
//! client of the crate `scx_stats` is at the other end, so the protocol is that crate's and not
//! ours. Samples are made in crates/scx/src/metrics/tests.rs.
//!
//! What must stay: names of fields and errors of the protocol. The text of a block may change with
//! stats/text.rs, but the result comes first. `running` and `client` serve all tests of the socket.
//! Free: lengths of patience, and figures of a sample.
//! Tests by part (in crates/scx/src): stats.rs: `the_client_of_the_scx_tools_reads_it` (`answer`,
//! `sample`), `every_field_that_is_published_is_described` (`meta`),
//! `what_it_does_not_know_is_an_error_of_the_protocol` (`refused`), `a_gigabyte_is_refused`
//! (`serve`), `a_monitor_prints_until_the_scheduler_ends` (`monitor`), `blocks_come_at_their_times`
//! (`is_due`); stats/text.rs: `a_block_says_the_result_first`,
//! `many_reasons_stay_within_the_lines`.

use super::*;
use crate::control;
use crate::metrics::tests::{busy_sample, sample};
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use tempfile::TempDir;

/// A server whose scheduler began 2 s ago, and to which nothing happens but half a second and
/// three wake-ups on CPU 0 between one request and the next.
fn running() -> (TempDir, std::path::PathBuf, Server) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scx/root/stats");
    let (asker, asks) = control::channel();
    let server = Server::bind(&path, asker).expect("bound");
    thread::spawn(move || {
        let mut sample = busy_sample();
        for ask in asks {
            ask.answer(Ok(Box::new(sample.clone())));
            sample.snapshot.at_ns += 500_000_000;
            sample.snapshot.cpus[0].wakeups += 3;
        }
    });
    (folder, path, server)
}

fn client(path: &Path) -> StatsClient {
    let client = StatsClient::new().set_path(path).connect(Some(5000));
    client.expect("it listens")
}

#[test]
fn the_client_of_the_scx_tools_reads_it() {
    let (_folder, path, _server) = running();
    let mut client = client(&path);
    let all = client
        .request::<Metrics>("stats", Vec::new())
        .expect("totals");
    assert_eq!((all.wakeups, all.interval_s), (80, 2.0));
    let next = client
        .request::<Metrics>("stats", Vec::new())
        .expect("a difference");
    assert_eq!((next.wakeups, next.interval_s), (3, 0.5));
    let target = vec![("target".to_owned(), "top".to_owned())];
    let next = client
        .request::<Metrics>("stats", target)
        .expect("a difference");
    assert_eq!(next.wakeups, 3);
    let meta = client.request::<BTreeMap<String, StatsMeta>>("stats_meta", Vec::new());
    let meta = meta.expect("descriptions");
    assert_eq!(meta["Metrics"].attrs.top.as_deref(), Some("true"));
    assert!(meta["Part"].fields.contains_key("busy_pct"));
}

#[test]
fn every_field_that_is_published_is_described() {
    let json = serde_json::to_value(Metrics::between(None, &busy_sample())).expect("JSON");
    let meta = meta();
    let described = |name: &str, value: &Value| {
        for key in value.as_object().expect("an object").keys() {
            let field = meta[name].fields.get(key);
            let field = field.unwrap_or_else(|| panic!("{name}.{key} is not described"));
            assert!(field.attrs.desc.is_some(), "{name}.{key}");
        }
    };
    described("Metrics", &json);
    described("Part", &json["classes"]["capacity 1024"]);
    let help = help();
    assert!(
        help.contains("[Metrics]") && help.contains("energy_j"),
        "{help}"
    );
    assert!(
        help.contains("[Part   ]") && help.contains("busy_pct"),
        "{help}"
    );
}

#[test]
fn what_it_does_not_know_is_an_error_of_the_protocol() {
    let (_folder, path, _server) = running();
    let mut client = client(&path);
    let target = vec![("target".to_owned(), "cpus".to_owned())];
    for (request, args, why) in [
        ("stats", target, "known: top"),
        ("stat", Vec::new(), "known: stats, stats_meta"),
    ] {
        let error = client.request::<Value>(request, args).expect_err(request);
        assert!(format!("{error:#}").contains(why), "{error:#}");
    }
    assert!(client.request::<Metrics>("stats", Vec::new()).is_ok());
}

#[test]
fn a_gigabyte_is_refused() {
    let (_folder, path, _server) = running();
    let mut stream = UnixStream::connect(&path).expect("it listens");
    let zeros = vec![b'0'; 1 << 20];
    let mut taken = 0_u64;
    let error = loop {
        assert!(taken < 4 << 20, "{taken} bytes were taken");
        match stream.write(&zeros) {
            Ok(n) => taken += n as u64,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    assert!(
        client(&path)
            .request::<Metrics>("stats", Vec::new())
            .is_ok()
    );
}

#[test]
fn a_monitor_prints_until_the_scheduler_ends() {
    let (_folder, path, server) = running();
    let server = Arc::new(Mutex::new(Some(server)));
    let blocks = AtomicUsize::new(0);
    let code = monitor(&path, 0.01, &mut |text| {
        assert!(text.contains("linux-7.3"), "{text}");
        if blocks.fetch_add(1, Ordering::Relaxed) == 2 {
            server.lock().expect("held once").take();
            return Err(ErrorKind::BrokenPipe.into());
        }
        Ok(())
    });
    assert_eq!((code.expect("clean"), blocks.into_inner()), (0, 3));
    let failure = monitor(&path, 0.01, &mut |_| Ok(())).expect_err("nobody there");
    assert_eq!(failure.code, 3);
    assert!(
        failure.message.contains("sudo scx_wakeplace"),
        "{}",
        failure.message
    );
}

#[test]
fn blocks_come_at_their_times() {
    let second = 1_000_000_000;
    let mut printer = Printer::new(0.5, 5 * second);
    assert!(!printer.is_due(5 * second + second / 2 - 1));
    assert!(printer.is_due(5 * second + second / 2));
    // The sample is at 7 s: three blocks were missed, and are one.
    let block = printer.block(&busy_sample());
    assert!(block.contains("2.0 s of linux-7.3"), "{block}");
    assert!(!printer.is_due(7 * second + second / 2 - 1));
    assert!(printer.is_due(7 * second + second / 2));
    let mut later = busy_sample();
    later.snapshot.at_ns += second;
    let block = printer.block(&later);
    assert!(
        block.starts_with("no wake-ups") && block.contains("1.0 s of"),
        "{block}"
    );
}

#[test]
fn a_block_says_the_result_first() {
    let text = block(&Metrics::between(None, &busy_sample()));
    let mut lines = text.lines();
    // 110 decisions and 2.5 J in 2 s.
    assert_eq!(
        lines.next(),
        Some(
            "wake-up latency us: p50 0.009  p95 0.009  p99 0.009  max 0.009; 55 decisions/s; \
             1.00 CPUs busy; 1.25 W estimated"
        )
    );
    assert_eq!(
        lines.next(),
        Some("  2.0 s of linux-7.3, mode auto; placing by energy")
    );
    assert!(
        text.contains("energy-best 90.9 %, idle-prev 9.1 %"),
        "{text}"
    );
    let durations = "run avg us p50 3.07  p95 3.07  p99 3.07  max 3.07";
    assert!(text.contains(durations), "{text}");
    let columns = |line: &str| line.chars().count();
    let tables: Vec<_> = text
        .lines()
        .filter(|l| l.contains("1.75") || l.ends_with('J'))
        .collect();
    assert_eq!(tables.len(), 2, "{text}");
    assert_eq!(columns(tables[0]), columns(tables[1]), "{text}");
    assert!(block(&Metrics::between(None, &sample())).starts_with("no wake-ups"));
}

#[test]
fn many_reasons_stay_within_the_lines() {
    let mut busy = busy_sample();
    for reason in wakeplace_policy_sys::Reason::ALL {
        busy.snapshot.cpus[0].reason[reason.index()] = 100;
    }
    let text = block(&Metrics::between(None, &busy));
    assert!(text.lines().skip(1).all(|line| line.len() <= 100), "{text}");
    assert!(text.contains("others "), "{text}");
}
