// SPDX-License-Identifier: GPL-2.0-only
//! Requests to a running scheduler (docs/guide/live.md, "Steer").
//!
//! What must stay: what is wrong is answered and changes nothing; a client never keeps the main
//! loop waiting. Free: lengths of patience, within those of control/lines.rs.
//! Tests by part (in crates/scx/src): control.rs:
//! `the_end_takes_the_socket_away_and_a_busy_main_loop_is_not_waited_for` (`channel`),
//! `it_is_changed_while_it_runs` (`answer`), `what_is_no_request_is_answered_with_a_reason`
//! (`request`); client.rs: `a_slip_names_the_nearest_and_changes_nothing` (`set`),
//! `nobody_there_says_how_to_start_it` (`unreachable`); control/lines.rs:
//! `a_gigabyte_is_refused_at_once_and_never_kept` (`next`),
//! `a_client_that_says_nothing_is_sent_away_and_keeps_nobody_waiting` (`left`),
//! `a_hundred_clients_are_served_or_told_to_come_again` (`listen`).
//! Helpers, and who fails with them: `running`, `main_loop` (most tests,
//! `it_is_changed_while_it_runs` among them); `connect`, `answer`, `answer_within`
//! (`what_is_no_request_is_answered_with_a_reason`, `a_gigabyte_is_refused_at_once_and_never_kept`,
//! `a_client_that_says_nothing_is_sent_away_and_keeps_nobody_waiting`,
//! `a_hundred_clients_are_served_or_told_to_come_again`); `say`
//! (`what_is_no_request_is_answered_with_a_reason`).

use super::*;
use crate::args::Format;
use crate::client;
use crate::metrics::tests::busy_sample;
use crate::wanted::Wanted;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use wakeplace_policy_sys::Mode;

/// A server with a main loop that owns a policy, and no kernel side.
struct Running {
    _server: Server,
    folder: TempDir,
}

fn running() -> Running {
    let folder = tempfile::tempdir().expect("a folder");
    let (asker, asks) = channel();
    let path = folder.path().join("control.sock");
    let server = Server::bind(&path, 0o600, None, asker).expect("bound");
    thread::spawn(move || main_loop(&asks));
    Running {
        _server: server,
        folder,
    }
}

fn main_loop(asks: &Asks) {
    let mut wanted = Wanted::new("linux-7.3", Mode::Auto, &[]).expect("valid");
    for ask in asks {
        if let Request::Set { changes } = &ask.request {
            match wanted.with(changes) {
                Ok(next) => wanted = next,
                Err(error) => {
                    let error = error.to_string();
                    ask.answer(Err(Refusal { error, code: 2 }));
                    continue;
                }
            }
        }
        let mut sample = busy_sample();
        sample.mode = wanted.mode().name();
        ask.answer(Ok(Box::new(sample)));
    }
}

impl Running {
    fn connect(&self) -> UnixStream {
        UnixStream::connect(self.path()).expect("it listens")
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("control.sock")
    }

    fn set(&self, changes: &[&str]) -> Result<String, crate::Failure> {
        let changes: Vec<String> = changes.iter().map(|c| (*c).to_owned()).collect();
        client::set(&self.path(), &changes)
    }

    /// Says this and returns the answer.
    fn say(&self, text: &[u8]) -> String {
        let mut stream = self.connect();
        let _ = stream.write_all(text);
        answer(&mut stream)
    }
}

/// The error of the one line that comes.
fn answer(stream: &mut UnixStream) -> String {
    answer_within(stream, 2 * PATIENCE)
}

fn answer_within(stream: &mut UnixStream, patience: Duration) -> String {
    stream.set_read_timeout(Some(patience)).expect("a time-out");
    let mut line = String::new();
    let mut byte = [0];
    while let Ok(1) = stream.read(&mut byte) {
        line.push(byte[0].into());
        if byte[0] == b'\n' {
            break;
        }
    }
    match serde_json::from_str(&line) {
        Ok(Reply::Refused(refusal)) => refusal.error,
        Ok(Reply::Done { .. }) => "done".to_owned(),
        Err(error) => panic!("{line:?}: {error}"),
    }
}

#[test]
fn it_is_changed_while_it_runs() {
    let running = running();
    let text = running.set(&["mode=powersave"]).expect("a mode");
    assert!(text.contains("mode powersave"), "{text}");
    let text = client::status(&running.path(), Format::Text).expect("status");
    assert!(
        text.starts_with("policy linux-7.3, mode powersave"),
        "{text}"
    );
    let json = client::status(&running.path(), Format::Json).expect("status");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["mode"], "powersave");
    assert_eq!(json["totals"]["reasons"]["energy-best"], 100);
    let text = client::status(&running.path(), Format::Openmetrics).expect("status");
    assert!(
        text.contains("mode=\"powersave\"") && text.ends_with("# EOF\n"),
        "{text}"
    );
}

#[test]
fn a_slip_names_the_nearest_and_changes_nothing() {
    let running = running();
    for (change, near) in [
        ("mdoe=powersave", "`mode`"),
        ("mode=powersav", "`powersave`"),
        ("vq_slice_n=1", "vq_slice_ns"),
        ("policy=linux-7.4", "linux-7.3"),
    ] {
        let failure = running
            .set(&["mode=performance", change])
            .expect_err(change);
        assert_eq!(failure.code, 2, "{change}");
        assert!(
            failure.message.contains(near),
            "{change}: {}",
            failure.message
        );
    }
    let failure = running.set(&["mode"]).expect_err("no value");
    assert_eq!(failure.code, 2);
    let text = client::status(&running.path(), Format::Text).expect("status");
    assert!(text.contains("mode auto"), "{text}");
}

#[test]
fn nobody_there_says_how_to_start_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("control.sock");
    for stale in [false, true] {
        if stale {
            drop(std::os::unix::net::UnixListener::bind(&path).expect("bound"));
        }
        let failure = client::status(&path, Format::Text).expect_err("nobody");
        assert_eq!(failure.code, 3);
        assert!(
            failure.message.contains("sudo scx_wakeplace"),
            "{}",
            failure.message
        );
    }
}

#[test]
fn what_is_no_request_is_answered_with_a_reason() {
    let running = running();
    for (text, why) in [
        (&b"hello\n"[..], "no request: "),
        (b"{}\n", "no request: "),
        (b"[]\n", "no request: "),
        (b"\n", "no request: "),
        (b"\xff\xfe\n", "no request: "),
        (b"{\"request\":\"stop\"}\n", "no request: "),
        (b"{\"request\":\"status\",\"more\":1}\n", "no request: "),
        (b"{\"request\":\"set\"}\n", "no request: "),
        (
            b"{\"request\":\"set\",\"changes\":[[\"mode\"]]}\n",
            "no request: ",
        ),
        (b"{\"request\":\"status\"}\n", "done"),
    ] {
        let answer = running.say(text);
        assert!(answer.starts_with(why), "{}: {answer}", text.escape_ascii());
    }
    let mut stream = running.connect();
    stream.write_all(b"{\"request\":").expect("it listens");
    stream
        .shutdown(std::net::Shutdown::Write)
        .expect("half closed");
    assert!(answer(&mut stream).contains("ended before its line"));
    // Nested deeper than any parser should follow.
    let answer = running.say(&[&b"[".repeat(MAX_REQUEST - 2)[..], b"\n"].concat());
    assert!(answer.starts_with("no request: "), "{answer}");
}

#[test]
fn a_gigabyte_is_refused_at_once_and_never_kept() {
    let running = running();
    let mut stream = running.connect();
    let zeros = vec![b'0'; 1 << 20];
    let mut taken = 0_u64;
    while taken < 1 << 30 {
        match stream.write(&zeros) {
            Ok(n) => taken += n as u64,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::BrokenPipe);
                break;
            }
        }
    }
    // What was read, and what the kernel had buffered.
    assert!(taken < 4 << 20, "{taken} bytes were taken");
    let why = answer(&mut stream);
    assert!(why.contains("longer than 65536 bytes"), "{why}");
    assert!(client::status(&running.path(), Format::Text).is_ok());
}

#[test]
fn a_client_that_says_nothing_is_sent_away_and_keeps_nobody_waiting() {
    let running = running();
    let mut silent = running.connect();
    assert!(client::status(&running.path(), Format::Text).is_ok());
    assert!(answer(&mut silent).contains("no request within 2 s"));
    // Neither is one that says a byte now and then: the time is for the whole request.
    let mut slow = running.connect();
    for _ in 0..5 {
        let _ = slow.write_all(b" ");
        thread::sleep(Duration::from_millis(500));
    }
    let why = answer_within(&mut slow, Duration::from_millis(500));
    assert!(why.contains("no request within 2 s"), "{why}");
}

#[test]
fn a_hundred_clients_are_served_or_told_to_come_again() {
    let running = running();
    let mut streams: Vec<_> = (0..100).map(|_| running.connect()).collect();
    let refused = streams.split_off(lines::MAX_CLIENTS);
    for mut stream in refused {
        let why = answer(&mut stream);
        assert!(why.contains("16 clients are being served"), "{why}");
    }
    for stream in &mut streams {
        stream
            .write_all(b"{\"request\":\"status\"}\n")
            .expect("it listens");
        assert_eq!(answer(stream), "done");
    }
    drop(streams);
    // Their places are free again, as soon as their threads have seen them go.
    let mut tries = 0;
    while let Err(failure) = client::status(&running.path(), Format::Text) {
        tries += 1;
        assert!(tries < 100, "{}", failure.message);
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_end_takes_the_socket_away_and_a_busy_main_loop_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("control.sock");
    let (asker, _asks) = channel();
    let asked = asker.clone();
    let server = Server::bind(&path, 0o600, None, asker).expect("bound");
    let mode = std::fs::metadata(&path)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let failure = client::status(&path, Format::Text).expect_err("nobody answers");
    // By these words crates/guest/src/switcher.rs tells it from a refusal.
    let refused = asked.ask(Request::Status {}).expect_err("nobody answers");
    assert!(
        refused.error.starts_with("no answer within "),
        "{}",
        refused.error
    );
    assert!(
        failure.message.contains("no answer within 2 s"),
        "{}",
        failure.message
    );
    drop(server);
    assert!(!path.exists());
}
