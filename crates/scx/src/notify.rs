// SPDX-License-Identifier: GPL-2.0-only
//! Tells systemd that the scheduler is in force (sd_notify(3)), if systemd asked for it
//! (docs/guide/live.md, "Install as a service").
//!
//! What must stay: without `NOTIFY_SOCKET` it does nothing; a manager that has gone stops no
//! scheduler. Free: further states that are told.
//!
//! Tests by part: `both_kinds_of_socket_hear_it`, `a_manager_that_has_gone_is_an_error` (`tell`),
//! scripts/live/systemd.sh (`ready`: started means in force).
//!
//! Callers: schedule.rs (`ready`, once attached).
//!
//! Tests: below

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Says `READY=1` to the socket that `NOTIFY_SOCKET` names; without one nothing.
pub(crate) fn ready() -> io::Result<()> {
    match std::env::var_os("NOTIFY_SOCKET") {
        Some(name) if !name.is_empty() => tell(name.as_bytes(), b"READY=1"),
        _ => Ok(()),
    }
}

/// One datagram to a socket with a path or an abstract name.
fn tell(name: &[u8], message: &[u8]) -> io::Result<()> {
    let address = match name {
        // The name of an abstract socket.
        [b'@', rest @ ..] => SocketAddr::from_abstract_name(rest)?,
        path => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(path))?,
    };
    UnixDatagram::unbound()?.send_to_addr(message, &address)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(socket: &UnixDatagram) -> Vec<u8> {
        let mut bytes = [0; 64];
        let n = socket.recv(&mut bytes).expect("a message");
        bytes[..n].to_vec()
    }

    #[test]
    fn both_kinds_of_socket_hear_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).expect("bound");
        tell(path.as_os_str().as_bytes(), b"READY=1").expect("told");
        assert_eq!(heard(&socket), b"READY=1");
        let name = format!("wakeplace-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let socket = UnixDatagram::bind_addr(&address).expect("bound");
        tell(format!("@{name}").as_bytes(), b"READY=1").expect("told");
        assert_eq!(heard(&socket), b"READY=1");
    }

    #[test]
    fn a_manager_that_has_gone_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notify");
        assert!(tell(path.as_os_str().as_bytes(), b"READY=1").is_err());
    }
}
