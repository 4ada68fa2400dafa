// SPDX-License-Identifier: GPL-2.0-only
//! The control socket: who may bind it and who may speak (docs/guide/live.md, "Steer").
//!
//! What must stay: rights and who is refused are a matter of safety: no test is weakened. Free:
//! names of folders and files.
//! Tests by part (in crates/scx/src): control/socket.rs: `who_may_speak` (`objection`, `own_uid`),
//! `the_kernel_says_who_is_there` (`own_gid`, `peer`), `groups_by_name_and_number` (`group_in`,
//! `group_number`), `it_has_its_permissions_and_leaves_nothing_else` (`bind`),
//! `a_dead_servers_socket_is_replaced`, `a_file_that_is_no_socket_stays` (`vacant`),
//! `a_live_server_keeps_its_socket` (`lock`), `a_successors_socket_outlives_its_predecessor`
//! (`replace`), `a_folder_where_others_may_write_is_refused_by_both_sides` (`check_folder`),
//! `a_socket_or_folder_of_somebody_else_is_not_spoken_to` (`connect`).
//! Helpers, and who fails with them: `place` (most tests,
//! `it_has_its_permissions_and_leaves_nothing_else` among them); `mode`
//! (`it_has_its_permissions_and_leaves_nothing_else`,
//! `a_folder_where_others_may_write_is_refused_by_both_sides`).

use super::*;
use std::io::Write;
use tempfile::TempDir;

const OWNER: Access = Access {
    mode: 0o600,
    group: None,
};

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("control.sock");
    (folder, path)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").mode() & 0o7777
}

#[test]
fn it_has_its_permissions_and_leaves_nothing_else() {
    let (folder, path) = place();
    let socket = Socket::bind(
        &path,
        Access {
            mode: 0o640,
            ..OWNER
        },
    )
    .expect("bound");
    assert_eq!(mode(&path), 0o640);
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .expect("readable")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["control.sock", "control.sock.lock"]);
    drop(socket);
    assert!(!path.exists());
}

#[test]
fn a_dead_servers_socket_is_replaced() {
    let (_folder, path) = place();
    // A dropped listener leaves its file: nobody listens, as after a crash.
    drop(UnixListener::bind(&path).expect("bound"));
    assert!(UnixStream::connect(&path).is_err());
    let _socket = Socket::bind(&path, OWNER).expect("replaced");
    assert!(UnixStream::connect(&path).is_ok());
}

#[test]
fn a_live_server_keeps_its_socket() {
    let (_folder, path) = place();
    let first = Socket::bind(&path, OWNER).expect("bound");
    // Also while its file is missing: the lock stands for it.
    fs::remove_file(&path).expect("removed");
    let error = Socket::bind(&path, OWNER).expect_err("taken");
    assert!(matches!(error, SocketError::Taken(_)), "{error}");
    drop(first);
    let foreign = UnixListener::bind(&path).expect("bound");
    let error = Socket::bind(&path, OWNER).expect_err("taken");
    assert!(
        error.to_string().contains("another scx_wakeplace runs"),
        "{error}"
    );
    drop(foreign);
    Socket::bind(&path, OWNER).expect("free again");
}

#[test]
fn a_successors_socket_outlives_its_predecessor() {
    let (_folder, path) = place();
    let first = Socket::replace(&path, OWNER).expect("bound");
    let _second = Socket::replace(&path, OWNER).expect("replaced");
    drop(first);
    assert!(UnixStream::connect(&path).is_ok());
}

#[test]
fn a_file_that_is_no_socket_stays() {
    let (_folder, path) = place();
    let mut file = File::create(&path).expect("made");
    file.write_all(b"mine").expect("written");
    for bound in [Socket::bind(&path, OWNER), Socket::replace(&path, OWNER)] {
        let error = bound.expect_err("not replaced");
        assert!(matches!(error, SocketError::NoSocket(_)), "{error}");
    }
    assert!(matches!(connect(&path), Err(SocketError::NoSocket(_))));
    assert_eq!(fs::read(&path).expect("still there"), b"mine");
}

#[test]
fn a_folder_where_others_may_write_is_refused_by_both_sides() {
    let (folder, path) = place();
    let _socket = Socket::bind(&path, OWNER).expect("bound");
    for (mode, safe) in [
        (0o755, true),
        (0o775, false),
        (0o777, false),
        (0o1777, false),
    ] {
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).expect("changed");
        assert_eq!(connect(&path).is_ok(), safe, "{mode:o}");
        let other = Socket::replace(&folder.path().join("other"), OWNER);
        assert_eq!(other.is_ok(), safe, "{mode:o}");
    }
}

#[test]
fn a_socket_or_folder_of_somebody_else_is_not_spoken_to() {
    let (folder, path) = place();
    let _socket = Socket::bind(&path, OWNER).expect("bound");
    if chown(&path, Some(12_345), None).is_err() {
        return; // only root may give files away; the rule's other half is tested without
    }
    let error = connect(&path).expect_err("another user's");
    assert!(
        error.to_string().contains("belongs to user 12345"),
        "{error}"
    );
    chown(&path, Some(0), None).expect("given back");
    assert!(connect(&path).is_ok());
    chown(folder.path(), Some(12_345), None).expect("given away");
    let error = connect(&path).expect_err("another user's folder");
    assert!(
        error.to_string().contains("belongs to user 12345"),
        "{error}"
    );
}

#[test]
fn who_may_speak() {
    let peer = |uid, groups: &[u32]| Peer {
        uid,
        groups: groups.to_vec(),
    };
    let stranger = own_uid() + 4_321;
    let may = |mode, group, peer: &Peer| Access { mode, group }.objection(peer).is_none();
    assert!(may(0o600, None, &peer(0, &[])));
    assert!(may(0o600, None, &peer(own_uid(), &[])));
    assert!(!may(0o600, Some(50), &peer(stranger, &[50])));
    assert!(may(0o660, Some(50), &peer(stranger, &[7, 50])));
    assert!(!may(0o660, Some(50), &peer(stranger, &[7, 51])));
    assert!(may(0o666, None, &peer(stranger, &[])));
    let text = Access {
        mode: 0o600,
        group: None,
    }
    .objection(&peer(stranger, &[]));
    assert!(
        text.expect("refused")
            .contains(&format!("user {stranger} may not"))
    );
}

#[test]
fn the_kernel_says_who_is_there() {
    let (one, _other) = UnixStream::pair().expect("a pair");
    let peer = peer(&one).expect("known");
    assert_eq!(peer.uid, own_uid());
    assert!(peer.groups.contains(&own_gid()));
}

#[test]
fn groups_by_name_and_number() {
    let list = "root:x:0:\nsched:x:977:ann,bob\nsched2:x:978:\n";
    assert_eq!(group_in(list, "sched"), Some(977));
    assert_eq!(group_in(list, "sche"), None);
    assert_eq!(group_number("977").expect("a number"), 977);
    let error = group_number("no-such-group-here").expect_err("unknown");
    assert!(error.to_string().contains("no-such-group-here"), "{error}");
}
