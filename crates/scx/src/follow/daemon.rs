// SPDX-License-Identifier: GPL-2.0-only
//! The profile that power-profiles-daemon, or a service in its place such as tuned-ppd, has in
//! force: property `ActiveProfile`, asked for over D-Bus (docs/guide/live.md, "Steer").
//!
//! What must stay: the service is never started by asking. Free: how the bus is spoken to.
//!
//! Tests by part: `the_daemons_profile_goes_first` (`watch`, `profile`), `the_daemon_is_waited_for`
//! (`was_asked`). Both need dbus-daemon, and say so where it is not there.
//!
//! Callers: crates/scx/src/follow.rs.
//!
//! Tests: crates/scx/src/follow.rs::the_daemons_profile_goes_first,
//! crates/scx/src/follow.rs::the_daemon_is_waited_for

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use zbus::proxy::MethodFlags;
use zbus::wire::OwnedVariant;
use zbus::{Connection, Proxy, connection};

/// Name on the bus, which is the interface's, too, and path: since 0.20 and before.
pub(super) const SERVICES: [(&str, &str); 2] = [
    (
        "org.freedesktop.UPower.PowerProfiles",
        "/org/freedesktop/UPower/PowerProfiles",
    ),
    ("net.hadess.PowerProfiles", "/net/hadess/PowerProfiles"),
];

/// How often it is asked. A method call and its answer: some 100 us of two processes.
const EVERY: Duration = Duration::from_millis(500);
/// A bus that does not answer is left.
const PATIENCE: Duration = Duration::from_secs(2);
/// Where there is no bus or no such service, it is looked for so often.
const AGAIN: Duration = Duration::from_secs(5);

/// Which bus.
#[derive(Debug)]
pub(crate) enum Bus {
    System,
    #[cfg(test)]
    Address(String),
}

/// What the service says. A thread of its own asks, so that a bus that hangs keeps nobody waiting.
#[derive(Debug)]
pub(crate) struct Daemon(Arc<Seen>);

#[derive(Debug, Default)]
struct Seen {
    profile: Mutex<Option<String>>,
    /// It has been asked once, and has answered or not.
    asked: AtomicBool,
}

impl Daemon {
    /// Begins to ask, until the value is dropped.
    pub(crate) fn watch(bus: Bus) -> Self {
        let seen = Arc::new(Seen::default());
        let weak = Arc::downgrade(&seen);
        let ask = move || {
            let mut open = None;
            while let Some(seen) = weak.upgrade() {
                let profile = zbus::block_on(async {
                    if open.is_none() {
                        open = connect(&bus).await.ok();
                    }
                    active_profile(open.as_ref()?).await
                });
                // No answer may be the bus's end: the next look opens a new connection.
                let pause = if profile.is_some() { EVERY } else { AGAIN };
                if profile.is_none() {
                    open = None;
                }
                *seen.profile.lock().unwrap_or_else(PoisonError::into_inner) = profile;
                seen.asked.store(true, Ordering::Release);
                drop(seen);
                thread::sleep(pause);
            }
        };
        // Without the thread nothing is ever seen, as on a machine without the service.
        let started = thread::Builder::new().name("follow".to_owned()).spawn(ask);
        seen.asked.fetch_or(started.is_err(), Ordering::Release);
        Self(seen)
    }

    /// `power-saver`, `balanced` or `performance`. None: there is no such service, or not yet.
    pub(crate) fn profile(&self) -> Option<String> {
        let seen = self.0.profile.lock();
        seen.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// It has been asked, so that no profile means that it states none.
    pub(crate) fn was_asked(&self) -> bool {
        self.0.asked.load(Ordering::Acquire)
    }
}

/// To the bus, with bounded patience for its answers.
async fn connect(bus: &Bus) -> zbus::Result<Connection> {
    let builder = match bus {
        Bus::System => connection::Builder::system(),
        #[cfg(test)]
        Bus::Address(address) => connection::Builder::address(address.as_str()),
    };
    builder.method_timeout(PATIENCE).build().await
}

/// Asks without starting the service: a machine whose owner does not run it stays without.
async fn active_profile(bus: &Connection) -> Option<String> {
    for (name, path) in SERVICES {
        let properties = Proxy::new(bus, name, path, "org.freedesktop.DBus.Properties").await;
        let body = (name, "ActiveProfile");
        let answer: zbus::Result<Option<OwnedVariant>> = properties
            .ok()?
            .call_with_flags("Get", MethodFlags::NO_AUTO_START, &body)
            .await;
        if let Ok(Some(value)) = answer {
            return value.try_into().ok();
        }
    }
    None
}
