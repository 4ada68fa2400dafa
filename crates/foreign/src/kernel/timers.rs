//! Timers and work items of a scheduler: fields of values in its maps (docs/guide/schedulers.md,
//! "What its programs see").
//!
//! What must stay: numbers of timers are not used again within a run; the machine has them
//! (`TimerId`). Free: how timers are kept.
//!
//! Tests by part: `a_field_is_a_timer_until_its_value_goes` (`init`, `find`, `get`, `set_callback`,
//! `drop_in`, `bytes`).
//!
//! Callers: kfuncs/timers.rs for programs, kernel/objects.rs (`drop_in`),
//! crates/foreign/src/instance.rs (`get`, when a timer fires).
//!
//! Tests: below

use std::collections::BTreeMap;
use std::ops::Range;
use wakeplace_bpf_vm::budget::ENTRY_BYTES;
use wakeplace_bpf_vm::{Fault, Memory};

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    /// The map that holds it, as programs know it.
    pub(crate) map: u64,
    /// The key of the element that it is in.
    pub(crate) key: Vec<u8>,
    /// ... and where the value begins.
    pub(crate) value: u64,
    /// What is called, as programs know it; 0: nothing yet.
    pub(crate) callback: u64,
}

impl Timer {
    /// What it takes beside its field.
    fn bytes(&self) -> u64 {
        4 * ENTRY_BYTES + self.key.len() as u64
    }
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
    /// The field is one from now on.
    pub(crate) fn init(&mut self, memory: &mut Memory, at: u64, timer: Timer) -> Result<(), Fault> {
        let next = self.next.checked_add(1).ok_or(Fault::HeapFull)?;
        memory.reserve(timer.bytes())?;
        self.by_field.insert(at, self.next);
        self.by_number.insert(self.next, timer);
        self.next = next;
        Ok(())
    }

    /// The number of a field. None: it is no timer.
    pub(crate) fn find(&self, at: u64) -> Option<u32> {
        self.by_field.get(&at).copied()
    }

    /// None: the element that it was in has gone.
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
    pub(crate) fn drop_in(&mut self, memory: &mut Memory, room: Range<u64>) -> Vec<u32> {
        let fields: Vec<_> = self.by_field.range(room).map(|(at, _)| *at).collect();
        let numbers = fields.iter().filter_map(|at| self.by_field.remove(at));
        let numbers: Vec<_> = numbers.collect();
        for number in &numbers {
            if let Some(timer) = self.by_number.remove(number) {
                memory.give_back(timer.bytes());
            }
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::{Timer, Timers};
    use wakeplace_bpf_vm::Memory;

    fn timer() -> Timer {
        Timer {
            map: 1,
            key: vec![0; 4],
            value: 64,
            callback: 0,
        }
    }

    /// `__bpf_async_init`, kernel/bpf/helpers.c: a field is a timer until its value goes.
    #[test]
    fn a_field_is_a_timer_until_its_value_goes() {
        let mut memory = Memory::new().expect("room");
        let mut timers = Timers::default();
        timers.init(&mut memory, 64, timer()).expect("room");
        timers.init(&mut memory, 128, timer()).expect("room");
        assert!(timers.set_callback(64, 5));
        assert!(!timers.set_callback(65, 5));
        assert!(timers.drop_in(&mut memory, 0..64).is_empty());
        assert_eq!(timers.drop_in(&mut memory, 64..128), [0]);
        assert_eq!((timers.find(64), timers.find(128)), (None, Some(1)));
        assert!(timers.get(0).is_none());
        // In its place there is another one, with nothing to call.
        timers.init(&mut memory, 64, timer()).expect("room");
        assert_eq!(timers.find(64), Some(2));
        assert_eq!(timers.get(2).map(|timer| timer.callback), Some(0));
    }
}
