//! Channels: units are given and taken; one that is full keeps its givers waiting.

use super::Sim;
use crate::ids::{CpuId, TaskId};
use crate::observe::Observer;
use crate::outcome::WaitsFor;
use crate::sim::steps::Flow;
use crate::thread::{Action, Pending, Post, Then};

impl<O: Observer> Sim<'_, O> {
    /// The running task gives a unit. That takes time if somebody is to be woken: the wake-up
    /// happens when its work is done.
    pub(in crate::sim) fn begin_post(&mut self, cpu: CpuId, task: TaskId, post: Post) -> Flow {
        self.threads[task].began_ns = self.clock.now;
        let channel = &mut self.shared.channels[post.channel as usize];
        if channel.waiters.is_empty() {
            if channel
                .limit
                .is_some_and(|limit| channel.units >= limit.units)
            {
                channel.posters.push_back(task);
                self.threads[task].pending = Pending::Retry(post);
                let channel = post.channel;
                return self.park(cpu, task, WaitsFor::Room { channel });
            }
            channel.units += 1;
            channel.given_ns = self.clock.now;
            return Flow::Go;
        }
        let cost = self.machine.costs.wakeup;
        if cost == 0 {
            return self.post(cpu, task, post);
        }
        self.charge(cpu, cost);
        self.go_on_later(cpu, task, Pending::Post(post))
    }

    /// The work of the wake-up is done.
    pub(in crate::sim) fn post(&mut self, cpu: CpuId, task: TaskId, post: Post) -> Flow {
        let channel = &mut self.shared.channels[post.channel as usize];
        let limited = channel.limit.is_some();
        let Some(waiter) = channel.waiters.pop_front() else {
            return self.begin_post(cpu, task, post); // somebody else woke it meanwhile
        };
        self.release(waiter);
        let began_ns = self.threads[task].began_ns;
        let woken = &mut self.threads[waiter];
        woken.due_ns = self.clock.now;
        woken.stamp_ns = began_ns;
        if limited {
            let channel = post.channel;
            woken.pending = Pending::Taken { channel };
        }
        self.wake_by_task(waiter, cpu, post.sync);
        let thread = &mut self.threads[task];
        if thread.has_kernel_work() || self.cpus[cpu].reschedule {
            thread.action = Some(Action::Work(0));
            self.resume(cpu);
            return Flow::Held;
        }
        Flow::Go
    }

    /// The running task takes a unit; if there is none it waits from now on.
    pub(in crate::sim) fn take_unit(&mut self, cpu: CpuId, task: TaskId, channel: u32) -> Flow {
        let state = &mut self.shared.channels[channel as usize];
        if state.units > 0 {
            state.units -= 1;
            self.threads[task].stamp_ns = state.given_ns;
            return self.let_givers_go_on(cpu, task, channel);
        }
        state.waiters.push_back(task);
        self.park(cpu, task, WaitsFor::Unit { channel })
    }

    /// The running task has taken a unit: if few enough are left, it wakes those who wait for room.
    pub(in crate::sim) fn let_givers_go_on(
        &mut self,
        cpu: CpuId,
        task: TaskId,
        channel: u32,
    ) -> Flow {
        let state = &mut self.shared.channels[channel as usize];
        let Some(limit) = state.limit else {
            return Flow::Go;
        };
        if state.posters.is_empty() || state.units > limit.resume_units {
            return Flow::Go;
        }
        let most = if limit.resume_all { usize::MAX } else { 1 };
        let nr = state.posters.len().min(most);
        for _ in 0..nr {
            if let Some(poster) = self.shared.channels[channel as usize].posters.pop_front() {
                self.release(poster);
                // Pipes and sockets say sync to writers, too (pipe_read, unix_write_space).
                self.threads[task].to_wake.push((poster, true));
            }
        }
        self.threads[task].to_wake.reverse();
        self.wake_all_listed(cpu, task, Then::Step)
    }
}
