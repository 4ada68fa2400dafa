//! Tasks that wait for each other: units are given to channels and taken from them.

use super::Sim;
use crate::observe::Observer;
use crate::thread::{Action, Post};
use std::collections::VecDeque;
use wakeplace_workload::Channel;

/// A channel: units nobody has taken, or tasks that wait for one, the first one first.
#[derive(Debug)]
pub(super) struct ChannelState {
    units: u64,
    waiters: VecDeque<u32>,
}

impl ChannelState {
    pub(super) fn new(channel: &Channel) -> Self {
        Self {
            units: channel.units,
            waiters: VecDeque::new(),
        }
    }
}

impl<O: Observer> Sim<'_, O> {
    /// The running task gives a unit. Returns true if that takes time: somebody is to be woken,
    /// and the wake-up happens when its work is done.
    pub(super) fn begin_post(&mut self, cpu: u32, task: u32, post: Post) -> bool {
        let channel = &mut self.channels[post.channel as usize];
        if channel.waiters.is_empty() {
            channel.units += 1;
            return false;
        }
        let cost = self.machine.costs.wakeup;
        if cost == 0 {
            return self.post(cpu, task, post);
        }
        self.charge(cpu, cost);
        let thread = &mut self.threads[task as usize];
        thread.posting = Some(post);
        thread.action = Some(Action::Work(0));
        true
    }

    /// The work of the wake-up is done. Returns true if the task cannot take its next step yet.
    pub(super) fn post(&mut self, cpu: u32, task: u32, post: Post) -> bool {
        let channel = &mut self.channels[post.channel as usize];
        let Some(waiter) = channel.waiters.pop_front() else {
            channel.units += 1; // somebody else woke it meanwhile
            return false;
        };
        self.waiting -= 1;
        self.threads[waiter as usize].due_ns = self.now;
        self.wake(waiter, cpu, post.sync);
        let thread = &mut self.threads[task as usize];
        let held = thread.overhead > 0 || self.cpus[cpu as usize].reschedule;
        if held {
            thread.action = Some(Action::Work(0));
        }
        held
    }

    /// The running task takes a unit. Returns false if there is none: it waits from now on.
    pub(super) fn take_unit(&mut self, task: u32, channel: u32) -> bool {
        let state = &mut self.channels[channel as usize];
        if state.units > 0 {
            state.units -= 1;
            return true;
        }
        state.waiters.push_back(task);
        self.waiting += 1;
        false
    }

    /// Units of what the workload is measured by, if its warm-up is over.
    pub(super) fn count_units(&mut self, task: u32, units: u64) {
        if self.counts_from_ns().is_some_and(|from| self.now >= from) {
            self.threads[task as usize].totals.counted += units;
        }
    }

    /// When counting begins, if the workload counts and all its tasks exist.
    pub(super) fn counts_from_ns(&self) -> Option<u64> {
        Some(self.t_zero_ns? + self.warm_up_ns?)
    }

    /// All tasks that are left wait for units that nobody will give.
    pub(super) fn is_deadlock(&self) -> bool {
        self.waiting > 0 && self.waiting + self.exited == self.scripts.len()
    }

    /// Who waits for what: task and channel, by task.
    pub(super) fn waits(&self) -> Vec<(u32, u32)> {
        let channels = (0..).zip(&self.channels);
        let mut waits: Vec<(u32, u32)> = channels
            .flat_map(|(channel, state)| state.waiters.iter().map(move |task| (*task, channel)))
            .collect();
        waits.sort_unstable();
        waits
    }
}
