//! Channels: units are given and taken; one that is full keeps its givers waiting. No unit is lost
//! or made: what was given was taken or is in the channel (docs/decisions/022).
//!
//! Tests by part: `waiters_are_served_in_their_order`, `units_are_kept_until_somebody_takes_them`,
//! `a_ping_pong_costs_what_its_parts_cost` (costs), sync.rs::`the_first_giver_wakes_or_all`
//! (`let_givers_go_on`). By function: `waiters_are_served_in_their_order` (`begin_post`,
//! `give_unit`, `post`, `take_unit`, `take_fetched`),
//! sync.rs::`a_full_channel_stops_its_giver_until_it_has_drained` (`give_unit` to a full one).
//!
//! What must stay: waiters and givers are served first come, first served. What a unit costs is the
//! platform's. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may
//! touch").
//!
//! Callers: mechanics/script/steps.rs (`begin_post`, `give_unit`, `take_unit`, `take_fetched`,
//! `let_givers_go_on`).
//!
//! Tests: crates/engine/tests/behaviour/channels.rs,
//! crates/engine/tests/behaviour/sync.rs::a_full_channel_stops_its_giver_until_it_has_drained

use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::mechanics::script::steps::Flow;
use crate::mechanics::thread::{Action, Pending, Post, Then};
use crate::observe::Observer;
use crate::outcome::WaitsFor;

impl<O: Observer> Mechanics<'_, O> {
    /// The running task gives a unit. That takes time if somebody is to be woken: the wake-up
    /// happens when its work is done.
    pub(in crate::mechanics::script) fn begin_post<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        post: Post,
    ) -> Flow {
        self.threads[task].began_ns = self.clock.now;
        let wait_ns = self.fetch_channel(cpu, post.channel);
        if self.await_lines(k, cpu, wait_ns) {
            return self.go_on_later(k, cpu, task, Pending::Give(post));
        }
        self.give_unit(k, cpu, task, post)
    }

    /// Its CPU has the lines of the channel.
    pub(in crate::mechanics::script) fn give_unit<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        post: Post,
    ) -> Flow {
        let channel = &mut self.shared.channels[post.channel as usize];
        let Some(waiter) = channel.waiters.front().copied() else {
            if channel
                .limit
                .is_some_and(|limit| channel.units >= limit.units)
            {
                channel.posters.push_back(task);
                self.threads[task].pending = Pending::Retry(post);
                let channel = post.channel;
                return self.park(k, cpu, task, WaitsFor::Room { channel });
            }
            channel.units += 1;
            channel.given_ns = self.clock.now;
            return Flow::Go;
        };
        if !self.pay_wakeup(k, cpu, waiter) {
            return self.post(k, cpu, task, post);
        }
        self.go_on_later(k, cpu, task, Pending::Post(post))
    }

    /// The work of the wake-up is done.
    pub(in crate::mechanics::script) fn post<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        post: Post,
    ) -> Flow {
        let channel = &mut self.shared.channels[post.channel as usize];
        let limited = channel.limit.is_some();
        let Some(waiter) = channel.waiters.pop_front() else {
            return self.begin_post(k, cpu, task, post); // somebody else woke it meanwhile
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
        self.note_waker(waiter, cpu, Some(post.channel));
        k.wake(self, waiter, cpu, post.sync);
        let thread = &mut self.threads[task];
        if thread.has_kernel_work() || k.wants_cpu(cpu) {
            thread.action = Some(Action::Work(0));
            self.resume(k, cpu);
            return Flow::Held;
        }
        Flow::Go
    }

    /// The running task takes a unit; if there is none it waits from now on.
    pub(in crate::mechanics::script) fn take_unit<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        channel: u32,
    ) -> Flow {
        let wait_ns = self.fetch_channel(cpu, channel);
        if self.await_lines(k, cpu, wait_ns) {
            return self.go_on_later(k, cpu, task, Pending::Take { channel });
        }
        self.take_fetched(k, cpu, task, channel)
    }

    /// Its CPU has the lines of the channel.
    pub(in crate::mechanics::script) fn take_fetched<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        channel: u32,
    ) -> Flow {
        let state = &mut self.shared.channels[channel as usize];
        if state.units > 0 {
            state.units -= 1;
            self.threads[task].stamp_ns = state.given_ns;
            return self.let_givers_go_on(k, cpu, task, channel);
        }
        state.waiters.push_back(task);
        self.park(k, cpu, task, WaitsFor::Unit { channel })
    }

    /// The running task has taken a unit: if few enough are left, it wakes those who wait for room.
    pub(in crate::mechanics::script) fn let_givers_go_on<K: Kernel>(
        &mut self,
        k: &mut K,
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
        self.wake_all_listed(k, cpu, task, Then::Step)
    }
}
