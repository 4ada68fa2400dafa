//! Objects that programs make, and what is given up when the value of a map goes
//! (`bpf_obj_free_fields`, kernel/bpf/syscall.c; docs/guide/schedulers.md, "What its programs
//! see").
//!
//! What must stay: what a program may hold is bounded by its memory, and given up once.
//! kfuncs/objects.rs is what programs call. Free: how objects are kept and found.
//!
//! Tests by part: `an_object_goes_with_its_last_holder` (`create`, `acquire`, `let_go`),
//! schedulers.rs::`calls_answer_as_a_kernel_does` (`give_up_retired`: timers of deleted elements).
//! `new_object`, `release`, `drop_nodes` and `object_of` have no test of their own: scx_flatcg is
//! what uses them (xtask/src/tries/kernel_schedulers.rs).
//!
//! Callers: kfuncs/objects.rs, kfuncs/cpumask.rs, kernel/running.rs and load/bpf.rs
//! (`give_up_retired`).
//!
//! Tests: below

use super::state::State;
use std::ops::Range;
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_sched_ext::{Kernel, TimerId};

/// Before an object: its size and how many hold it.
const HEADER: u64 = 64;
/// No object is so large, bytes.
pub(crate) const MAX_OBJECT: u64 = 1 << 20;

/// Room for an object that one holds.
pub(crate) fn create(vm: &mut Vm, bytes: u64) -> Result<u64, Fault> {
    let at = vm.memory.alloc(HEADER + bytes)?;
    vm.memory.set_u64(at, bytes);
    vm.memory.set_u64(at + 8, 1);
    Ok(at + HEADER)
}

/// One more holds the object; it goes with the last.
pub(crate) fn acquire(vm: &mut Vm, object: u64) -> Result<(), Fault> {
    let held = object.wrapping_sub(HEADER - 8);
    match vm.memory.u64(held) {
        0 => Ok(()),
        holders => vm.memory.store(held, 8, holders.wrapping_add(1)),
    }
}

/// One fewer does. The last one: its room, which is free then.
fn let_go(vm: &mut Vm, object: u64) -> Result<Option<Range<u64>>, Fault> {
    let at = object.wrapping_sub(HEADER);
    let (bytes, holders) = (vm.memory.u64(at), vm.memory.u64(at.wrapping_add(8)));
    if holders > 0 {
        vm.memory.store(at.wrapping_add(8), 8, holders - 1)?;
    }
    if holders != 1 || bytes == 0 || bytes >= MAX_OBJECT {
        return Ok(None);
    }
    vm.memory.free(at, HEADER + bytes);
    Ok(Some(object..object + bytes))
}

impl State {
    /// An object of a type of the program's own (`bpf_obj_new`).
    pub(crate) fn new_object(&mut self, vm: &mut Vm, bytes: u64) -> Result<u64, Fault> {
        let object = create(vm, bytes)?;
        self.objects.insert(object);
        Ok(object)
    }

    /// One fewer holds an object. With the last one go those in its lists and trees, and so on.
    pub(crate) fn release(&mut self, vm: &mut Vm, object: u64) -> Result<(), Fault> {
        let mut objects = vec![object];
        while let Some(object) = objects.pop() {
            if let Some(room) = let_go(vm, object)? {
                self.objects.remove(&object);
                objects.extend(self.drop_nodes(vm, room));
            }
        }
        Ok(())
    }

    /// Lists and trees whose heads are in this room are no more. Returns the objects in them.
    fn drop_nodes(&mut self, vm: &mut Vm, room: Range<u64>) -> Vec<u64> {
        let nodes = self.nodes.drop_in(&mut vm.memory, room);
        let object = |node: &u64| self.object_of(vm, *node);
        nodes.iter().filter_map(object).collect()
    }

    /// The object that a node is in. None: it is in none of ours.
    fn object_of(&self, vm: &Vm, node: u64) -> Option<u64> {
        let object = self.objects.range(..=node).next_back().copied()?;
        let bytes = vm.memory.u64(object - HEADER);
        (node - object < bytes).then_some(object)
    }

    /// Elements of maps have been deleted: their timers are stopped, objects that they held are let
    /// go, and their room is free.
    pub(crate) fn give_up_retired(
        &mut self,
        vm: &mut Vm,
        mut kernel: Option<&mut (dyn Kernel + '_)>,
    ) -> Result<(), Fault> {
        for value in vm.memory.take_retired() {
            let room = value.at..value.at + value.bytes;
            for number in self.timers.drop_in(&mut vm.memory, room.clone()) {
                // Before a scheduler is attached none has been started.
                if let Some(kernel) = kernel.as_deref_mut() {
                    kernel.timer_cancel(TimerId(number));
                }
            }
            let mut objects = self.drop_nodes(vm, room);
            let pointers = value.pointers.iter().map(|at| vm.memory.u64(*at));
            objects.extend(pointers.filter(|object| *object != 0));
            for object in objects {
                self.release(vm, object)?;
            }
            vm.memory.free(value.at, value.bytes);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{acquire, create, let_go};
    use wakeplace_bpf_vm::Vm;

    /// Goal: an object goes with the last one who holds it, and what is none stays.
    #[test]
    fn an_object_goes_with_its_last_holder() {
        let mut vm = Vm::new(1).expect("room");
        let object = create(&mut vm, 40).expect("room");
        acquire(&mut vm, object).expect("a holder");
        assert_eq!(let_go(&mut vm, object), Ok(None));
        assert_eq!(let_go(&mut vm, object), Ok(Some(object..object + 40)));
        assert_eq!(let_go(&mut vm, object), Ok(None), "nobody holds it");
        assert_eq!(let_go(&mut vm, 0), Ok(None));
        assert_eq!(create(&mut vm, 40), Ok(object), "its room is free");
    }
}
