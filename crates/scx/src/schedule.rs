// SPDX-License-Identifier: GPL-2.0-only
//! The scheduler's life: check, load, attach, watch, let go. It changes nothing before it attaches,
//! and whatever ends it, the kernel's own scheduler is in force again (docs/guide/live.md, "Run").
//!
//! What must stay: order of check, load, attach, watch, let go; after the end the kernel's own
//! scheduler is in force. Exit codes: docs/guide/live.md. Free: words, and how often it looks.
//!
//! Tests by part: guest.sh steps (`run`, `watch`, `answer`, `change`, `sample`; hotplug-storm:
//! `rebuild`; second-instance: exit code 3), guest.sh killed (what a dead loader leaves),
//! scripts/live/systemd.sh (`catch_signals`, `finish`, `on_signal`; thrown-out-thrice: `words`),
//! crates/scx/src/follow.rs (what `follow` asks). `prepare_process`, `go_before_others`, `say_how`,
//! `say` and `mode_words` have no test of their own. `from` has no test of its own.
//!
//! Callers: main.rs (`run`).
//!
//! Tests: xtask/src/live/tests.rs, scripts/live/guest.sh, scripts/live/systemd.sh

use crate::args::{Cli, ModeArg};
use crate::control::socket::SocketError;
use crate::control::{self, Answer, Asks, Refusal, Request};
use crate::follow::Follower;
use crate::live::{Exit, Live, monotonic_ns};
use crate::machine::{self, Machine, PlatformChoice};
use crate::metrics::{Sample, Shape};
use crate::wanted::Wanted;
use crate::{Failure, notify, preflight, stats};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use wakeplace_policy_sys::{Mode, Policy, PolicyError};

/// How often it looks whether the kernel has ended it, or CPUs have come or gone. Each look
/// interrupts a task, which is protected anew then (docs/internals/live-queue.md): others wait.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// ... while CPUs have just come or gone, for they seldom go alone: until it has looked, a CPU that
/// came is in no domain.
const LOOK_EVERY_ALERT: Duration = Duration::from_millis(2);
/// Looks without a change after which it goes back to the longer pause: a second.
const ALERT_LOOKS: u32 = 500;

/// Somebody asked it to end.
static END: AtomicBool = AtomicBool::new(false);

/// Only stores to an atomic, as a handler may.
extern "C" fn on_signal(_: libc::c_int) {
    END.store(true, Ordering::Relaxed);
}

/// Interrupt, termination and hang-up end the scheduler in order.
fn catch_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only stores to an atomic.
        unsafe { libc::signal(signal, on_signal as *const () as libc::sighandler_t) };
    }
}

/// Before anything else of the process.
fn prepare_process() {
    catch_signals();
    go_before_others();
}

/// A CPU that came is used once this program has looked, and it is asked most when the machine is
/// busy: the little it does goes first, and nothing that waits for its own turn holds its memory
/// meanwhile, as khugepaged would. The threads that it starts from now on have its priority.
fn go_before_others() {
    // SAFETY: neither call takes a pointer. Where they are refused it schedules all the same.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, -20);
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
    }
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Auto => Self::Auto,
            ModeArg::Performance => Self::Performance,
            ModeArg::Balanced => Self::Balanced,
            ModeArg::Powersave => Self::Powersave,
        }
    }
}

/// Schedules until it is told to end. Returns the exit code.
pub(crate) fn run(cli: &Cli) -> Result<u8, Failure> {
    let args = &cli.run;
    let root = Path::new("/");
    let wanted = Wanted::new(&args.policy, args.mode.into(), &args.set).map_err(Failure::input)?;
    let policy = wanted.policy().map_err(Failure::input)?;
    let obstacles = preflight::obstacles(root);
    if !obstacles.is_empty() {
        let text = format!("this machine cannot run it; nothing was changed{obstacles}");
        return Err(Failure::environment(text));
    }
    let choice = PlatformChoice::new(&args.platform);
    let machine = machine::describe(&choice, root).map_err(|problem| Failure {
        code: problem.exit_code(),
        message: problem.to_string(),
    })?;
    prepare_process();
    let (asker, asks) = control::channel();
    let group = args.socket_group.as_deref();
    let _control = control::Server::bind(&cli.socket, args.socket_mode, group, asker.clone())
        .map_err(|error| match error {
            SocketError::NoGroup(_) => Failure::input(error),
            _ => Failure::environment(format!("control socket: {error}")),
        })?;
    let mut live = Live::load(&machine, &policy, args.verbose > 1).map_err(Failure::environment)?;
    if args.verbose > 0 {
        say_how(&live, &machine);
    }
    live.attach().map_err(Failure::environment)?;
    say(&format!(
        "placing by {}{} on {} CPUs ({})",
        policy.name(),
        mode_words(wanted.mode()),
        machine.facts.capacity.len(),
        machine.source
    ));
    // Only now: until here the name may have been another scheduler's.
    let stats = stats::Server::bind(Path::new(stats::PATH), asker);
    let _stats = stats
        .map_err(|error| say(&format!("no statistics socket: {error}")))
        .ok();
    if let Err(error) = notify::ready() {
        say(&format!("systemd was not told that it runs: {error}"));
    }
    let since_ns = monotonic_ns();
    let mut running = Running {
        shape: Arc::new(Shape::new(&machine, live.core())),
        live,
        machine,
        wanted,
        policy,
        since_ns,
    };
    let printer = args
        .stats
        .map(|every_s| stats::Printer::new(every_s, since_ns));
    let follower = args.follow.map(Follower::new);
    let watched = running.watch(&asks, printer, follower);
    let ended = finish(running.live); // in any case: it says who schedules now
    watched.and(ended)
}

/// What the kernel has made of it, and lets it do.
fn say_how(live: &Live, machine: &Machine) {
    for (program, insns) in live.verified_insns() {
        let insns = insns.map_or_else(|| "unknown".to_owned(), |insns| insns.to_string());
        say(&format!("verified: {program} {insns}"));
    }
    say(&match machine.energy_under(live.core()) {
        Some(energy) => format!("energy model: {energy}"),
        None => "no energy model".to_owned(),
    });
    say(match live.queues_wakeups() {
        true => "wake-ups are queued by the target",
        false => "wake-ups are queued by the waker: this kernel has no other way",
    });
    say(match machine.preempts_lazily {
        true => "kernel threads give way at ticks, as this kernel preempts lazily",
        false => "kernel threads give way at once: this kernel does not say that it is lazy",
    });
}

/// Nothing for `auto`.
fn mode_words(mode: Mode) -> String {
    match mode {
        Mode::Auto => String::new(),
        other => format!(", mode {}", other.name()),
    }
}

/// The scheduler in force and what is said about it.
struct Running {
    live: Live,
    machine: Machine,
    shape: Arc<Shape>,
    wanted: Wanted,
    policy: Policy,
    /// When it took over, ns of the monotonic clock.
    since_ns: u64,
}

impl Running {
    /// Until a signal or the kernel ends it.
    fn watch(
        &mut self,
        asks: &Asks,
        mut printer: Option<stats::Printer>,
        mut follower: Option<Follower>,
    ) -> Result<(), Failure> {
        let mut alert_looks = 0u32;
        while !END.load(Ordering::Relaxed) && self.live.exit().is_none() {
            let pause = match alert_looks {
                0 => LOOK_EVERY,
                _ => LOOK_EVERY_ALERT,
            };
            match asks.recv_timeout(pause) {
                Ok(ask) => ask.answer(self.answer(&ask.request)),
                Err(RecvTimeoutError::Timeout) => {}
                // Both sockets are gone: the clock goes on.
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(pause),
            }
            if let Some(follower) = follower.as_mut() {
                self.follow(follower);
            }
            self.live.follow_bound_tasks();
            alert_looks = alert_looks.saturating_sub(1);
            if let Some(online) = self.live.cpus_changed() {
                self.rebuild(&online)?;
                alert_looks = ALERT_LOOKS;
            }
            if let Some(due) = printer.as_mut().filter(|p| p.is_due(monotonic_ns())) {
                let block = due.block(&self.sample());
                // Nobody reads any more (`| head`): it schedules on, silently.
                if crate::print(&block).is_err() {
                    printer = None;
                }
            }
        }
        Ok(())
    }

    /// Takes over the profile that the machine is to have now.
    fn follow(&mut self, follower: &mut Follower) {
        if let Some(warning) = follower.warning() {
            say(&warning);
        }
        let Some(policy) = follower.changed() else {
            return;
        };
        let change = [("power-policy".to_owned(), policy.to_owned())];
        match self.change(&change) {
            Ok(()) => {
                follower.succeeded(policy);
                say(&format!("power-policy is {policy} now"));
            }
            Err(refusal) => {
                if follower.failed(policy) {
                    say(&format!("power-policy={policy}: {}", refusal.error));
                }
            }
        }
    }

    /// A change, then the counters as they are.
    fn answer(&mut self, request: &Request) -> Answer {
        if let Request::Set { changes } = request {
            self.change(changes)?;
        }
        Ok(Box::new(self.sample()))
    }

    /// All of the changes, or on an error none.
    fn change(&mut self, changes: &[(String, String)]) -> Result<(), Refusal> {
        let bad = |error: PolicyError| Refusal {
            error: error.to_string(),
            code: 2,
        };
        let wanted = self.wanted.with(changes).map_err(bad)?;
        let policy = wanted.policy().map_err(bad)?;
        self.live.apply(&policy).map_err(|error| Refusal {
            error: error.to_string(),
            code: 3,
        })?;
        (self.wanted, self.policy) = (wanted, policy);
        Ok(())
    }

    /// All counters as they are now.
    fn sample(&self) -> Sample {
        let owned = |(key, value): &(&'static str, String)| ((*key).to_owned(), value.clone());
        Sample {
            policy: self.policy.name().to_owned(),
            mode: self.wanted.mode().name(),
            parameters: self.policy.overrides().iter().map(owned).collect(),
            shape: Arc::clone(&self.shape),
            snapshot: self.live.snapshot(),
            since_ns: self.since_ns,
        }
    }

    /// New domains after CPUs came or went.
    fn rebuild(&mut self, online: &[bool]) -> Result<(), Failure> {
        self.machine.rebuild(online).map_err(Failure::environment)?;
        self.live
            .rebuild(&self.machine, &self.policy)
            .map_err(Failure::environment)?;
        self.shape = Arc::new(Shape::new(&self.machine, self.live.core()));
        Ok(())
    }
}

/// Lets go and says how it ended.
fn finish(live: Live) -> Result<u8, Failure> {
    match live.detach() {
        Some(exit) if exit.is_clean() => {
            say(&format!(
                "ended: {}; the kernel's own scheduler is in force",
                words(&exit)
            ));
            Ok(0)
        }
        Some(exit) => Err(Failure {
            message: format!(
                "the kernel ended it: {}; its own scheduler is in force",
                words(&exit)
            ),
            code: 1,
        }),
        None => Err(Failure {
            message: "it was let go, but the kernel has not said how it ended".to_owned(),
            code: 1,
        }),
    }
}

/// Why the kernel ended the scheduler, in words.
fn words(exit: &Exit) -> String {
    let mut text = exit.reason.clone();
    if !exit.message.is_empty() {
        text = format!("{text}: {}", exit.message);
    }
    if exit.code != 0 {
        text = format!("{text} (code {:#x})", exit.code);
    }
    text
}

/// One line for people, on standard error.
fn say(text: &str) {
    let text = wakeplace_text::printable_lines(text);
    anstream::eprintln!("scx_wakeplace: {text}");
}
