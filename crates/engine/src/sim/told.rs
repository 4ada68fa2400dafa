//! What those who watch are told, and what is counted of it.

use super::state::Views;
use crate::observe::Observer;
use crate::options::Options;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Reason;

/// The observer of a run.
pub(super) struct Told<'a, O> {
    pub(super) observer: &'a mut O,
    pub(super) views: Views,
    /// Choices so far, by reason.
    pub(super) reasons: [u64; Reason::COUNT],
    /// It is told what each wake-up was about.
    pub(super) wakeup_cases: bool,
    overutilized: bool,
}

impl<'a, O: Observer> Told<'a, O> {
    pub(super) fn new(platform: &Platform, options: &Options, observer: &'a mut O) -> Self {
        Self {
            views: Views::new(platform, observer),
            reasons: [0; Reason::COUNT],
            wakeup_cases: options.wakeup_cases,
            overutilized: false,
            observer,
        }
    }

    /// Whether the root domain is overutilized, as last told.
    pub(super) fn is_overutilized(&self) -> bool {
        self.overutilized
    }

    /// Whether it is now.
    #[inline]
    pub(super) fn overutilized(&mut self, now_ns: u64, on: bool) {
        if on != self.overutilized {
            self.overutilized = on;
            self.observer.overutilized(now_ns, on);
        }
    }
}
