//! Timers and work items of a scheduler: fields of values in its maps.

use std::collections::BTreeMap;
use std::ops::Range;

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    /// The field in a map's value.
    pub(crate) at: u64,
    /// The map that holds it, as programs know it.
    pub(crate) map: u64,
    /// What is called, as programs know it; 0: nothing yet.
    pub(crate) callback: u64,
}

/// All that were made and whose values are still there. Numbers are never used again: a timer may
/// be on its way when its value goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    by_number: BTreeMap<u32, Timer>,
    /// Their numbers by their fields.
    by_field: BTreeMap<u64, u32>,
    next: u32,
}

impl Timers {
    /// The field is one from now on. False: it is one already.
    pub(crate) fn init(&mut self, at: u64, map: u64) -> bool {
        if self.by_field.contains_key(&at) {
            return false;
        }
        let timer = Timer {
            at,
            map,
            callback: 0,
        };
        self.by_field.insert(at, self.next);
        self.by_number.insert(self.next, timer);
        self.next += 1;
        true
    }

    /// The number of a field.
    pub(crate) fn find(&self, at: u64) -> Option<u32> {
        self.by_field.get(&at).copied()
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Timer> {
        self.by_number.get(&number)
    }

    /// What is called when the timer of that field fires. False: it is none.
    pub(crate) fn set_callback(&mut self, at: u64, callback: u64) -> bool {
        let number = self.by_field.get(&at);
        match number.and_then(|number| self.by_number.get_mut(number)) {
            Some(timer) => {
                timer.callback = callback;
                true
            }
            None => false,
        }
    }

    /// Those in this room are no more. Returns their numbers.
    pub(crate) fn drop_in(&mut self, room: Range<u64>) -> Vec<u32> {
        let fields: Vec<_> = self.by_field.range(room).map(|(at, _)| *at).collect();
        let numbers = fields.iter().filter_map(|at| self.by_field.remove(at));
        let numbers: Vec<_> = numbers.collect();
        for number in &numbers {
            self.by_number.remove(number);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::Timers;

    /// `__bpf_async_init`, kernel/bpf/helpers.c: a field is made a timer once, until its value
    /// goes.
    #[test]
    fn a_field_is_a_timer_once() {
        let mut timers = Timers::default();
        assert!(timers.init(64, 1));
        assert!(!timers.init(64, 1));
        assert!(timers.init(128, 1));
        assert!(timers.set_callback(64, 5));
        assert!(!timers.set_callback(65, 5));
        assert!(timers.drop_in(0..64).is_empty());
        assert_eq!(timers.drop_in(64..128), [0]);
        assert_eq!((timers.find(64), timers.find(128)), (None, Some(1)));
        assert!(timers.get(0).is_none());
        // In its place there is another one, with nothing to call.
        assert!(timers.init(64, 1));
        assert_eq!(timers.find(64), Some(2));
        assert_eq!(timers.get(2).map(|timer| timer.callback), Some(0));
    }
}
