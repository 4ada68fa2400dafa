//! The fair run queue of the kernels from 6.6 on (EEVDF): lag, eligibility, virtual deadlines,
//! delayed dequeue (docs/rules/queues.md#eevdf). The core's live queues (`live_queue/queue.c`) are
//! of the same idea, not the same code.
//!
//! What must stay: the sums (`check`), equal deadlines by arrival, and integers as the kernel
//! rounds them. Times are ns, virtual times scaled by weight and compared as differences. Engine's
//! eevdf.rs by part: `hogs_share_one_cpu_equally` (shares),
//! `a_sleeper_cannot_claim_the_time_it_slept` (lag), `a_delayed_sleeper_wakes_without_a_choice`
//! (delayed), `a_short_slice_preempts_at_the_first_wakeup` (slices). Free: how the tree is
//! kept; every figure only with the page.
//!
//! Tests by part: eevdf/tests.rs: `v_is_the_weighted_average_rounded_down` (`average`, `eligible`,
//! `totals`, `move_origin`), `lag_is_limited_as_the_era_has_it` (`lag`, `kept_lag`),
//! `deadlines_depend_on_how_a_task_comes` (`place`, `enqueue`, `dequeue`),
//! `a_request_ends_at_its_deadline` (`update`, `tick`),
//! `parity_protects_the_running_task_while_eligible` (`keeps`, `choose`),
//! `a_sleeper_with_a_debt_stays_until_it_is_paid` (`sleep`, `drop_sleeper`, `begin_pick`),
//! `a_new_weight_keeps_weighted_lag_and_v` (`reweight`), `the_rest_of_a_slice_is_in_run_time`,
//! `a_yield_*` (`yields`), `no_eligible_task_with_an_earlier_deadline_is_passed_over` (`pick`,
//! `next`, `insert`, `take`, `put_back`, `check`).
//!
//! Callers: eevdf/class.rs; grouped/eevdf.rs, one queue per level.
//!
//! Tests: crates/kernel-queues/src/eevdf/tests.rs, crates/engine/tests/behaviour/eevdf.rs

mod buddies;
mod class;
mod entity;
mod on_state;
mod preempt;
#[cfg(test)]
mod tests;

use crate::weight::Weight;
pub(crate) use class::Eevdf;
use entity::Arrival;
pub(crate) use entity::EevdfParams;
pub(crate) use entity::{Entity, Form};

/// How far the running task may be ahead of the origin, ns of virtual time (4.3 s): times the
/// weight of 20,000 tasks of nice -20 that still fits into 63 bits.
const FAR_NS: i64 = 1 << 32;

/// Who should run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Nobody,
    /// The running task.
    Current,
    /// The waiting task at this position.
    Waiting(usize),
}

/// One CPU's queue. The running task is beside the waiting ones.
#[derive(Debug, Default)]
pub(crate) struct EevdfQueue {
    /// Waiting tasks, and sleepers that are still queued, by descending deadline.
    waiting: Vec<(u32, Entity)>,
    current: Option<(u32, Entity)>,
    /// Who is picked next if it is eligible; it is no sleeper.
    buddy: Option<u32>,
    /// Sleepers that left while somebody looked whom to preempt.
    let_go: Vec<(u32, Entity)>,
    nr_delayed: usize,
    nr_own_slices: usize,
    /// Vruntimes are summed up as distances from here. It follows V.
    origin: i64,
    /// Over the waiting: (vruntime - origin) x weight, and weight.
    sum: i64,
    load: i64,
    /// The running task's time is over: look for another.
    resched: bool,
    /// It has run since its time was last looked at.
    ran: bool,
}

impl EevdfQueue {
    /// Tasks that can run, the running one included.
    pub(crate) fn nr(&self) -> usize {
        self.nr_queued() - self.nr_delayed
    }

    /// Counts the tasks that wait or run, and sleepers that are still queued.
    pub(crate) fn nr_queued(&self) -> usize {
        self.waiting.len() + usize::from(self.current.is_some())
    }

    /// Waiting tasks in no meaningful order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        let awake = self.waiting.iter().filter(|(_, e)| !e.delayed);
        awake.map(|(task, _)| *task)
    }

    /// Does the task sleep and is queued all the same?
    pub(crate) fn is_delayed(&self, task: u32) -> bool {
        let mut queued = self.waiting.iter();
        self.nr_delayed > 0 && queued.any(|(t, e)| *t == task && e.delayed)
    }

    /// The sums with the running task.
    fn totals(&self) -> (i64, i64) {
        match &self.current {
            Some((_, e)) => (
                self.sum + (e.vruntime - self.origin) * e.weight(),
                self.load + e.weight(),
            ),
            None => (self.sum, self.load),
        }
    }

    /// V: the weighted average of all vruntimes, rounded down.
    fn average(&self) -> i64 {
        let (sum, load) = self.totals();
        self.origin + sum.checked_div_euclid(load).unwrap_or(0)
    }

    /// Has it had no more than its share? Without a division, so not rounded.
    fn eligible(&self, entity: &Entity) -> bool {
        let (sum, load) = self.totals();
        sum >= (entity.vruntime - self.origin) * load
    }

    /// The origin follows V, so that the distances stay small.
    fn move_origin(&mut self) {
        let delta = self.average() - self.origin;
        self.origin += delta;
        self.sum -= delta * self.load;
    }

    /// Of equal deadlines the earlier arrival goes first.
    fn insert(&mut self, task: u32, entity: Entity) {
        self.sum += (entity.vruntime - self.origin) * entity.weight();
        self.load += entity.weight();
        let later = |(_, e): &(u32, Entity)| e.deadline > entity.deadline;
        let at = self.waiting.partition_point(later);
        self.waiting.insert(at, (task, entity));
    }

    /// The waiting entity at this place, with its part of the sums.
    fn take(&mut self, at: usize) -> (u32, Entity) {
        let (task, entity) = self.waiting.remove(at);
        self.clear_buddy(task);
        self.sum -= (entity.vruntime - self.origin) * entity.weight();
        self.load -= entity.weight();
        (task, entity)
    }

    /// Gives the position at which a task waits; panics if it does not.
    fn position(&self, task: u32) -> usize {
        let at = self.waiting.iter().rposition(|(t, _)| *t == task);
        at.expect("a waiting task is queued")
    }

    /// The running task. None: it runs none.
    pub(crate) fn current(&self) -> Option<u32> {
        self.current.map(|(task, _)| task)
    }

    /// Who is the next to run, the running task included. None: nobody is queued.
    pub(crate) fn next(&self, params: &EevdfParams) -> Option<u32> {
        match self.choose(params) {
            Choice::Nobody => None,
            Choice::Current => self.current(),
            Choice::Waiting(at) => Some(self.waiting[at].0),
        }
    }

    /// The shortest slice of the queued tasks if it is not everybody's.
    pub(crate) fn shortest_own_slice(&self, params: &EevdfParams) -> Option<u64> {
        let shortest = self.slice_of_all(params, u64::min);
        (shortest != params.slice_ns).then_some(shortest)
    }

    /// Slices of the queued tasks, longest or shortest.
    fn slice_of_all(&self, params: &EevdfParams, pick: fn(u64, u64) -> u64) -> u64 {
        let queued = self.waiting.iter().chain(&self.current);
        if self.nr_own_slices == 0 {
            return params.slice_ns;
        }
        let slices = queued.map(|(_, e)| e.slice_ns(params));
        slices.reduce(pick).unwrap_or(params.slice_ns)
    }

    /// What the queue owes a queued task, within the limit.
    fn lag(&self, params: &EevdfParams, entity: &Entity) -> i64 {
        let limit_ns = if params.form >= Form::Linux73 {
            self.slice_of_all(params, u64::max) + params.tick_ns
        } else {
            params.tick_ns.max(2 * entity.slice_ns(params))
        };
        let limit = params.virtual_time(limit_ns, entity.weight);
        (self.average() - entity.vruntime).clamp(-limit, limit)
    }

    /// Gives the lag of a sleeper that is still queued: it has gained nothing, and from 7.3 on it
    /// has not lost either.
    fn kept_lag(&self, params: &EevdfParams, entity: &Entity) -> i64 {
        let lag = self.lag(params, entity).min(0);
        match params.form >= Form::Linux73 {
            true => lag.max(entity.lag).min(0),
            false => lag,
        }
    }

    /// Gives a task that comes its vruntime and deadline. Its own weight pulls V towards it: the
    /// lag is inflated so that it has after the insertion what it had before.
    fn place(&self, params: &EevdfParams, entity: &mut Entity) {
        let (_, load) = self.totals();
        let lag = if load == 0 {
            0
        } else {
            entity.lag * (load + entity.weight()) / load
        };
        entity.vruntime = self.average() - lag;
        let slice = params.virtual_time(entity.slice_ns(params), entity.weight);
        entity.deadline = entity.vruntime
            + match entity.arrival {
                Arrival::New => slice / 2,
                Arrival::Moved if params.form > Form::Linux66 => entity.deadline,
                Arrival::Woken | Arrival::Moved => slice,
            };
    }

    /// A task joins; it waits. A sleeper that is still queued wakes where it is, but what the
    /// queue owes it is forgotten.
    pub(crate) fn enqueue(&mut self, params: &EevdfParams, task: u32, mut entity: Entity) {
        self.update(params);
        if self.is_delayed(task) {
            let at = self.position(task);
            self.nr_delayed -= 1;
            let still = self.waiting[at].1;
            let lag = self.kept_lag(params, &still);
            self.waiting[at].1.delayed = false;
            self.waiting[at].1.arrival = Arrival::Woken;
            if lag == self.average() - still.vruntime
                || params.form < Form::Linux73 && self.average() <= still.vruntime
            {
                return;
            }
            entity = self.take(at).1.off_queue(lag, Arrival::Woken);
        } else {
            self.nr_own_slices += usize::from(entity.own_slice_ns.is_some());
        }
        self.place(params, &mut entity);
        self.insert(task, entity);
        self.move_origin();
    }

    /// A waiting task leaves for another queue.
    pub(crate) fn dequeue(&mut self, params: &EevdfParams, task: u32) -> Entity {
        self.update(params);
        self.remove(params, self.position(task), Arrival::Moved)
    }

    /// Takes a task out, with what it is owed.
    fn remove(&mut self, params: &EevdfParams, at: usize, arrival: Arrival) -> Entity {
        let entity = self.waiting[at].1;
        let lag = match entity.delayed {
            true => self.kept_lag(params, &entity),
            false => self.lag(params, &entity),
        };
        self.nr_delayed -= usize::from(entity.delayed);
        self.take(at);
        self.nr_own_slices -= usize::from(entity.own_slice_ns.is_some());
        self.move_origin();
        entity.off_queue(lag, arrival)
    }

    /// Notes that nobody runs.
    fn clear_current(&mut self) {
        if let Some((task, _)) = self.current.take() {
            self.clear_buddy(task);
        }
    }

    /// Has a queued task had no more than its share?
    pub(crate) fn is_eligible(&self, task: u32) -> bool {
        let mut queued = self.waiting.iter().chain(&self.current);
        queued.any(|(t, e)| *t == task && self.eligible(e))
    }

    /// The running task leaves for another queue or to end.
    pub(crate) fn dequeue_current(&mut self, params: &EevdfParams) -> Entity {
        self.update(params);
        self.remove_current(params, Arrival::Moved)
    }

    /// The running task leaves, with what it is owed.
    fn remove_current(&mut self, params: &EevdfParams, arrival: Arrival) -> Entity {
        let (_, entity) = self.current.expect("it runs");
        let lag = self.lag(params, &entity);
        self.clear_current();
        self.nr_own_slices -= usize::from(entity.own_slice_ns.is_some());
        self.move_origin();
        entity.off_queue(lag, arrival)
    }

    /// The running task goes to sleep. None: it has had more than its share and stays queued until
    /// the others have caught up, so that it cannot sleep its debt off.
    pub(crate) fn sleep(&mut self, params: &EevdfParams) -> Option<Entity> {
        self.update(params);
        let (task, entity) = self.current.expect("it runs");
        if !params.delay_dequeue || self.eligible(&entity) {
            return Some(self.remove_current(params, Arrival::Woken));
        }
        let lag = self.lag(params, &entity);
        self.clear_current();
        self.nr_delayed += 1;
        let delayed = true;
        self.insert(
            task,
            Entity {
                delayed,
                lag,
                ..entity
            },
        );
        None
    }

    /// Lets a waiting task sleep, which has nothing left to do.
    pub(crate) fn sleep_waiting(&mut self, params: &EevdfParams, task: u32) -> Option<Entity> {
        self.update(params);
        let at = self.position(task);
        if !params.delay_dequeue || self.eligible(&self.waiting[at].1) {
            return Some(self.remove(params, at, Arrival::Woken));
        }
        self.nr_delayed += 1;
        self.clear_buddy(task);
        self.waiting[at].1.lag = self.lag(params, &self.waiting[at].1);
        self.waiting[at].1.delayed = true;
        None
    }

    /// One leaves that may not run for a while, whatever it has had: it is not delayed.
    pub(crate) fn leave(&mut self, params: &EevdfParams, id: u32) -> Entity {
        self.update(params);
        match self.current() {
            Some(current) if current == id => self.remove_current(params, Arrival::Woken),
            _ => self.remove(params, self.position(id), Arrival::Woken),
        }
    }

    /// A queued task has another slice from its next request on.
    pub(crate) fn set_own_slice(&mut self, task: u32, slice_ns: Option<u64>) {
        let queued = self.waiting.iter_mut().chain(&mut self.current);
        for (_, entity) in queued.filter(|(t, _)| *t == task) {
            self.nr_own_slices -= usize::from(entity.own_slice_ns.is_some());
            self.nr_own_slices += usize::from(slice_ns.is_some());
            entity.own_slice_ns = slice_ns;
        }
    }

    /// Lets a kept sleeper leave the queue if it is its turn.
    pub(crate) fn drop_sleeper(&mut self, params: &EevdfParams) -> Option<(u32, Entity)> {
        match self.choose(params) {
            Choice::Waiting(at) if self.waiting[at].1.delayed => {
                let task = self.waiting[at].0;
                Some((task, self.remove(params, at, Arrival::Woken)))
            }
            _ => None,
        }
    }

    /// The CPU leaves: all sleepers leave the queue now, whose turn it is or not.
    pub(crate) fn drop_sleepers(&mut self, params: &EevdfParams) -> Vec<(u32, Entity)> {
        self.update(params);
        let mut dropped = Vec::new();
        while let Some(at) = self.waiting.iter().rposition(|(_, e)| e.delayed) {
            let task = self.waiting[at].0;
            dropped.push((task, self.remove(params, at, Arrival::Woken)));
        }
        dropped
    }

    /// The running task has run for `delta_ns`. It takes the origin along: alone it goes on without
    /// an end. Where the origin is does not show, so that not each step has to move it.
    #[inline]
    pub(crate) fn charge(&mut self, params: &EevdfParams, delta_ns: u64) {
        let Some((_, entity)) = &mut self.current else {
            return;
        };
        entity.vruntime += params.virtual_time(delta_ns, entity.weight);
        self.ran |= delta_ns > 0;
        if entity.vruntime - self.origin > FAR_NS {
            self.move_origin();
        }
    }

    /// The kernel looks at the running task's time (`update_curr()`): a fulfilled request is
    /// followed by the next, and others get their chance. Without time since the last look it looks
    /// at nothing.
    fn update(&mut self, params: &EevdfParams) {
        if !std::mem::take(&mut self.ran) {
            return;
        }
        let Some((_, entity)) = &mut self.current else {
            return;
        };
        let mut over = entity.vruntime >= entity.deadline;
        if over {
            let slice = params.virtual_time(entity.slice_ns(params), entity.weight);
            entity.deadline = entity.vruntime + slice;
        }
        let entity = *entity;
        let displaced = params.preempt_short && !self.eligible(&entity);
        over |= !entity.is_protected(params) && (params.form >= Form::Linux618 || displaced);
        if over && self.nr_queued() > 1 {
            self.resched = true;
            if let Some(current) = self.current() {
                self.clear_buddy(current);
            }
        }
    }

    /// What is left of the running task's request while others are queued, ns. None: nobody else
    /// is.
    pub(crate) fn rest_of_slice_ns(&self) -> Option<u64> {
        let (_, entity) = self.current.as_ref()?;
        (self.nr_queued() > 1).then(|| entity.rest_of_request_ns())
    }

    /// The running task gives up the rest of its request, if it has not had more than its share
    /// already; in 6.6 only its deadline is put off. Returns false if nobody else is queued.
    pub(crate) fn yields(&mut self, params: &EevdfParams) -> bool {
        if self.nr_queued() <= 1 {
            return false;
        }
        self.update(params);
        let eligible = self.current.as_ref().is_some_and(|(_, e)| self.eligible(e));
        let forfeits = params.form > Form::Linux66;
        if let Some((_, entity)) = &mut self.current
            && (eligible || !forfeits)
        {
            if forfeits {
                entity.vruntime = entity.deadline;
            }
            entity.deadline += params.virtual_time(entity.slice_ns(params), entity.weight);
            self.move_origin();
        }
        true
    }

    /// At a tick: should another task run?
    pub(crate) fn tick(&mut self, params: &EevdfParams) -> bool {
        self.update(params);
        self.resched
    }

    /// The CPU looks for its next task. Does the running one go on?
    pub(crate) fn keeps(&mut self, params: &EevdfParams) -> bool {
        self.choose(params) == Choice::Current
    }

    /// The look at the queue begins.
    pub(crate) fn begin_pick(&mut self, params: &EevdfParams) {
        self.update(params);
        self.resched = false;
    }

    /// Who runs next: the buddy if it is eligible, else the running task while it is protected and
    /// eligible, else of the eligible tasks the one with the earliest deadline.
    fn choose(&self, params: &EevdfParams) -> Choice {
        self.choose_if(params, true, true)
    }

    /// Chooses the next task as `choose` does; without `protect` protection does not count, without
    /// `buddy` no buddy.
    fn choose_if(&self, params: &EevdfParams, protect: bool, buddy: bool) -> Choice {
        if self.nr_queued() <= 1 {
            return match self.current {
                Some(_) => Choice::Current,
                None if self.waiting.is_empty() => Choice::Nobody,
                None => Choice::Waiting(0),
            };
        }
        if buddy && let Some(choice) = self.eligible_buddy(params) {
            return choice;
        }
        let current = self.current.as_ref().map(|(_, e)| e);
        let current = current.filter(|e| self.eligible(e));
        if protect && current.is_some_and(|e| e.is_protected(params)) {
            return Choice::Current;
        }
        let best = self.waiting.iter().rposition(|(_, e)| self.eligible(e));
        match (best, current) {
            (Some(at), Some(e)) if e.deadline < self.waiting[at].1.deadline => Choice::Current,
            (Some(at), _) => Choice::Waiting(at),
            (None, _) => Choice::Current,
        }
    }

    /// Takes the next task; it runs.
    pub(crate) fn pick(&mut self, params: &EevdfParams) -> Option<u32> {
        let Choice::Waiting(at) = self.choose(params) else {
            return None;
        };
        let shortest = self.slice_of_all(params, u64::min);
        let (task, mut entity) = self.take(at);
        entity.protection = entity.deadline;
        if params.form >= Form::Linux618 {
            self.protect_slice(params, &mut entity, shortest);
        }
        self.current = Some((task, entity));
        Some(task)
    }

    /// A waiting entity runs, whose turn it is or not.
    #[cfg(test)]
    pub(crate) fn pick_this(&mut self, who: u32) {
        let at = self.position(who);
        self.current = Some(self.take(at));
    }

    /// The running task waits again.
    pub(crate) fn put_back(&mut self) {
        if let Some((task, entity)) = self.current.take() {
            self.insert(task, entity);
            self.move_origin();
        }
    }

    /// The running task's weight changes.
    pub(crate) fn reweight(&mut self, params: &EevdfParams, weight: Weight) {
        self.update(params);
        let Some((task, entity)) = self.current else {
            return;
        };
        self.current = Some((task, self.reweighted(params, entity, weight)));
        self.move_origin();
    }

    /// A waiting task's weight changes, and with it its place (`reweighted`).
    pub(crate) fn reweight_waiting(&mut self, params: &EevdfParams, task: u32, weight: Weight) {
        self.update(params);
        let at = self.position(task);
        let (entity, buddy) = (
            self.reweighted(params, self.waiting[at].1, weight),
            self.buddy,
        );
        self.take(at);
        self.insert(task, entity);
        self.buddy = buddy;
        self.move_origin();
    }

    /// Lag and the rest of its request stay what they were in real time, and so V stays where it
    /// is. In 7.3 so does its protection.
    fn reweighted(&self, params: &EevdfParams, entity: Entity, weight: Weight) -> Entity {
        let (average, lag) = (self.average(), self.lag(params, &entity));
        let new = weight.weight.cast_signed();
        let scaled = |distance: i64| distance * entity.weight() / new;
        let moved = |at: i64| average + scaled(at - average);
        Entity {
            weight,
            vruntime: average - scaled(lag),
            deadline: moved(entity.deadline),
            protection: if params.form >= Form::Linux73 && entity.is_protected(params) {
                moved(entity.protection)
            } else {
                entity.protection
            },
            ..entity
        }
    }

    /// The books must agree, whatever happened.
    pub(crate) fn check(&self) {
        let key = |e: &Entity| i128::from(e.vruntime - self.origin) * i128::from(e.weight());
        let entities = || self.waiting.iter().map(|(_, e)| e);
        let sum: i128 = entities().map(key).sum();
        assert_eq!(sum, i128::from(self.sum), "sum of weighted vruntimes");
        let load: i64 = entities().map(Entity::weight).sum();
        assert_eq!(load, self.load, "sum of weights");
        let delayed = entities().filter(|e| e.delayed).count();
        assert_eq!(delayed, self.nr_delayed, "sleepers that are queued");
        assert!(
            self.waiting
                .is_sorted_by(|(_, a), (_, b)| a.deadline >= b.deadline),
            "waiting tasks are ordered by deadline"
        );
        let queued = || self.waiting.iter().chain(&self.current).map(|(_, e)| e);
        let own = queued().filter(|e| e.own_slice_ns.is_some()).count();
        assert_eq!(own, self.nr_own_slices, "slices of tasks' own");
        // What some are owed the others have had too much: the lags' sum is 0, rounded down.
        let average = self.average();
        let owed = |e: &Entity| i128::from(average - e.vruntime) * i128::from(e.weight());
        let (lags, weights) = (queued().map(owed).sum::<i128>(), self.totals().1);
        assert!(
            lags <= 0 && lags > -i128::from(weights.max(1)),
            "sum of lags is {lags} for a weight of {weights}"
        );
    }
}
