//! The machine: memory, maps, programs, and how a program is entered (docs/decisions/058). A
//! program ends with a value or a fault, whatever it is: it reaches nothing of the host.
//!
//! What must stay: a call costs the same budget compiled or interpreted; programs hold handles of
//! maps and functions, never addresses of the host. Free: how programs and maps are stored. Tests
//! by part: `programs_count_as_memory` (`add_program`), `what_is_too_long_is_interpreted`
//! (`compile`, `is_compiled`), `a_loop_without_end_is_named` and `recursion_without_end_is_named`
//! (`run`, `enter`, `taken`), `a_hash_map_is_filled_by_a_program` (`add_map`, `copy`),
//! maps.rs::`compiled_code_looks_up_as_the_helper_does` (`map_number`),
//! `compiled_programs_do_what_interpreted_ones_do` (`enter_compiled`, `call_out`).
//! programs.rs::`a_loop_of_large_copies_is_named` (`spend`, `spend_bytes`),
//! budget.rs::`what_was_not_handed_out_is_not_written` (`note_memory`). `compiled_as`, `function`,
//! `function_handle`, `run_function` and `compiles` have no test of their own here; `map`,
//! `map_mut`, `map_handle` and `nr_cpus` are looks. Callers: crates/foreign (`new`, `copy`,
//! `add_map`, `add_program`, `compile`, `run`, `call`).
//!
//! Tests: crates/bpf-vm/tests/all/budget.rs, crates/bpf-vm/tests/all/programs.rs,
//! crates/bpf-vm/tests/all/maps.rs, crates/bpf-vm/tests/all/same.rs

use crate::arena::Arena;
use crate::jit::{Compiled, Entry};
use crate::map::{ArrayView, Map, MapSpec};
use crate::memory::{Memory, STACK_TOP};
use crate::program::Program;
use crate::{Fault, Refusal, budget, interp};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What programs hold for a map: no address of the memory.
pub(crate) const MAP_HANDLE: u64 = 0x5ca1_0000_0000;
/// ... and for a function: program and instruction.
const FUNCTION_HANDLE: u64 = 0x5ca2_0000_0000;
/// Bits of the instruction.
const PC_BITS: u32 = 20;

/// The kernel around the programs.
pub trait Env {
    /// Carries out a call that `Linker` has named.
    ///
    /// # Errors
    /// What ends the program.
    fn call(&mut self, vm: &mut Vm, call: u32, args: [u64; 5]) -> Result<u64, Fault>;
}

/// What the low half of an arena's address is combined with.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct ArenaBases {
    /// High half of its addresses as the loader has them.
    pub(crate) user: u64,
    /// Where programs see the low half 0: the first page, if there is something in it. Else it is a
    /// null pointer.
    pub(crate) first: u64,
}

/// What compiled programs reach by fixed offsets.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Context {
    pub(crate) host: *mut u8,
    pub(crate) budget: i64,
    /// The top of the next frame.
    pub(crate) sp: u64,
    /// Not 0: a program ends before its time (`interp::FAULT_*`).
    pub(crate) fault: u64,
    pub(crate) fault_addr: u64,
    /// `Memory::heap`, `Memory::arena`: what may be written.
    pub(crate) heap: u64,
    pub(crate) arena_from: u64,
    pub(crate) arena_bytes: u64,
    /// Which call is being made.
    pub(crate) call: u64,
    pub(crate) arena: ArenaBases,
    /// Arrays among the maps, by their numbers, and how many maps there are.
    pub(crate) views: *const ArrayView,
    pub(crate) nr_views: u64,
    /// The CPU that programs run on.
    pub(crate) cpu: u64,
    /// Set while compiled code runs.
    pub(crate) vm: *mut Vm,
    pub(crate) env: Option<*mut (dyn Env + 'static)>,
}

/// How programs are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Compiled.
    #[default]
    Compiled,
    /// Interpreted: the compiler's oracle.
    Interpreted,
}

/// The machine.
#[derive(Debug)]
pub struct Vm {
    /// What programs see.
    pub memory: Memory,
    maps: Vec<Map>,
    /// The same for compiled programs.
    views: Vec<ArrayView>,
    programs: Vec<Arc<Program>>,
    /// Pages shared with the loader.
    pub arena: Arena,
    /// The CPU that programs run on.
    pub cpu: u32,
    /// Somebody reads ring buffers: records stay until then. Else they are taken at once.
    pub keeps_records: bool,
    /// One has been written since this was last set to false.
    pub new_records: bool,
    nr_cpus: u32,
    compiled: Option<Arc<Compiled>>,
    pub(crate) context: Context,
    pub(crate) fault: Option<Fault>,
}

// SAFETY: the pointers of `context` are set only while compiled code of this value runs, which
// borrows it; `host` points into `memory`.
unsafe impl Send for Vm {}
// SAFETY: a shared reference reads none of the pointers.
unsafe impl Sync for Vm {}

impl Vm {
    /// An empty machine.
    ///
    /// # Errors
    /// When the host has no room for its memory.
    pub fn new(nr_cpus: u32) -> Result<Self, Fault> {
        let memory = Memory::new()?;
        Ok(Self::of(memory, nr_cpus))
    }

    /// A machine without maps and programs.
    fn of(memory: Memory, nr_cpus: u32) -> Self {
        let context = Context {
            host: memory.host(),
            budget: budget::INSNS,
            sp: STACK_TOP,
            fault: 0,
            fault_addr: 0,
            heap: 0,
            arena_from: 0,
            arena_bytes: 0,
            call: 0,
            arena: ArenaBases::default(),
            views: std::ptr::null(),
            nr_views: 0,
            cpu: 0,
            vm: std::ptr::null_mut(),
            env: None,
        };
        Self {
            memory,
            maps: Vec::new(),
            views: Vec::new(),
            programs: Vec::new(),
            arena: Arena::default(),
            cpu: 0,
            keeps_records: false,
            new_records: false,
            nr_cpus,
            compiled: None,
            context,
            fault: None,
        }
    }

    /// A copy that shares no memory with it, but its programs, compiled or not.
    ///
    /// # Errors
    /// When the host has no room.
    pub fn copy(&self) -> Result<Self, Fault> {
        let mut copy = Self::of(self.memory.copy(&self.arena.used())?, self.nr_cpus);
        copy.maps.clone_from(&self.maps);
        copy.views.clone_from(&self.views);
        copy.programs.clone_from(&self.programs);
        copy.arena = self.arena.clone();
        copy.compiled.clone_from(&self.compiled);
        Ok(copy)
    }

    /// CPUs of the machine.
    #[must_use]
    pub fn nr_cpus(&self) -> u32 {
        self.nr_cpus
    }

    /// Adds a map; returns its number. `base`: where its values are, if they are shared.
    ///
    /// # Errors
    /// Sizes that make no sense.
    pub fn add_map(&mut self, spec: MapSpec, base: Option<u64>) -> Result<usize, Refusal> {
        self.memory.reserve(budget::OBJECT_BYTES)?;
        let map = Map::new(spec, self.nr_cpus, &mut self.memory, base)?;
        self.views.push(map.view());
        self.maps.push(map);
        // Compiled code that is under way goes by these.
        self.context.views = self.views.as_ptr();
        self.context.nr_views = self.views.len() as u64;
        Ok(self.maps.len() - 1)
    }

    /// A map by its number. None: there is no such map.
    #[must_use]
    pub fn map(&self, number: usize) -> Option<&Map> {
        self.maps.get(number)
    }

    /// A map and the memory of its values. None: there is no such map.
    pub fn map_mut(&mut self, number: usize) -> Option<(&mut Map, &mut Memory)> {
        let map = self.maps.get_mut(number)?;
        Some((map, &mut self.memory))
    }

    /// All maps.
    #[must_use]
    pub fn maps(&self) -> &[Map] {
        &self.maps
    }

    /// What programs hold for a map.
    #[must_use]
    pub fn map_handle(number: usize) -> u64 {
        MAP_HANDLE + ((number as u64) << 8)
    }

    /// The map that a program means. None: it means none.
    #[must_use]
    pub fn map_number(&self, handle: u64) -> Option<usize> {
        let number = (handle.checked_sub(MAP_HANDLE)? >> 8) as usize;
        (number < self.maps.len() && Self::map_handle(number) == handle).then_some(number)
    }

    /// Adds a program; returns its number.
    ///
    /// # Errors
    /// It is too long.
    pub fn add_program(&mut self, program: Program) -> Result<usize, Refusal> {
        if program.nr_insns() >= 1 << PC_BITS || self.programs.len() >= 1 << 10 {
            let what = format!("program `{}` is too long, or one too many", program.name);
            return Err(Refusal::Unknown(what));
        }
        let bytes = program.nr_insns() as u64 * budget::INSN_BYTES;
        self.memory.reserve(budget::OBJECT_BYTES + bytes)?;
        self.programs.push(Arc::new(program));
        self.compiled = None;
        Ok(self.programs.len() - 1)
    }

    /// All programs.
    #[must_use]
    pub fn programs(&self) -> &[Arc<Program>] {
        &self.programs
    }

    /// What a program holds for a function: program and place, told from addresses by its upper
    /// bits.
    pub(crate) fn function_handle(program: usize, pc: usize) -> u64 {
        FUNCTION_HANDLE + ((program as u64) << PC_BITS) + pc as u64
    }

    /// Program and start of a function that a program refers to. None: it is no function.
    fn function(&self, handle: u64) -> Option<(usize, usize)> {
        let at = handle.checked_sub(FUNCTION_HANDLE)?;
        let (program, pc) = (
            (at >> PC_BITS) as usize,
            (at & ((1 << PC_BITS) - 1)) as usize,
        );
        self.programs.get(program)?.function(pc)?;
        Some((program, pc))
    }

    /// Takes work outside programs off the budget of the call in progress, in instructions.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn spend(&mut self, insns: u64) -> Result<(), Fault> {
        interp::spend(self, i64::try_from(insns).unwrap_or(i64::MAX))
    }

    /// Takes bytes that are copied or zeroed off the budget: a word is an instruction.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn spend_bytes(&mut self, bytes: u64) -> Result<(), Fault> {
        self.spend(bytes / 8)
    }

    /// Compiles some programs, as far as the budget goes; the others are interpreted, and so is one
    /// whose functions take too much of the host's stack.
    ///
    /// # Errors
    /// When the host has no room for the code.
    pub fn compile(&mut self, which: &[usize]) -> Result<(), Fault> {
        // One may stand for two callbacks.
        let which: BTreeSet<_> = which.iter().collect();
        let mut left = budget::COMPILED;
        let mut programs = Vec::new();
        for at in which {
            let Some(program) = self.programs.get(*at) else {
                continue;
            };
            let fits = program.longest_function() <= budget::COMPILED_FUNCTION;
            if let Some(rest) = left.checked_sub(program.nr_insns()).filter(|_| fits) {
                left = rest;
                programs.push((*at, program.clone()));
            }
        }
        self.compiled = Some(Arc::new(Compiled::new(&programs)?));
        Ok(())
    }

    /// Are programs compiled at all?
    #[must_use]
    pub fn compiles(&self) -> bool {
        self.compiled.is_some()
    }

    /// Has this program been compiled?
    #[must_use]
    pub fn is_compiled(&self, program: usize) -> bool {
        let compiled = self.compiled.as_ref();
        compiled.is_some_and(|compiled| compiled.entry(program, 0).is_some())
    }

    /// Takes the compiled programs of another machine, if its programs are the same. False: they
    /// are not.
    pub fn compiled_as(&mut self, other: &Self) -> bool {
        let same = self.programs == other.programs;
        if same {
            self.compiled.clone_from(&other.compiled);
        }
        same
    }

    /// Runs a program from its start. A fault leaves what it has done.
    ///
    /// # Errors
    /// What ended it before its time.
    pub fn run(&mut self, env: &mut dyn Env, program: usize, args: [u64; 5]) -> Result<u64, Fault> {
        self.context.budget = budget::INSNS;
        self.enter(env, program, 0, args)
    }

    /// Runs a function that a program has named: a callback with arguments, from within a call.
    ///
    /// # Errors
    /// What ended it before its time, or that it is none.
    pub fn call(&mut self, env: &mut dyn Env, handle: u64, args: [u64; 5]) -> Result<u64, Fault> {
        let not = || Fault::Call(format!("a callback that is no function, {handle:#x}"));
        let (program, pc) = self.function(handle).ok_or_else(not)?;
        self.enter(env, program, pc, args)
    }

    /// Calls a function as `call` does, but from outside: with a budget of its own.
    ///
    /// # Errors
    /// As `call`.
    pub fn run_function(
        &mut self,
        env: &mut dyn Env,
        handle: u64,
        args: [u64; 5],
    ) -> Result<u64, Fault> {
        self.context.budget = budget::INSNS;
        self.call(env, handle, args)
    }

    /// Runs a program's function, compiled or interpreted, and restores the stack.
    fn enter(
        &mut self,
        env: &mut dyn Env,
        program: usize,
        pc: usize,
        args: [u64; 5],
    ) -> Result<u64, Fault> {
        let sp = self.context.sp;
        self.memory.set_arena(self.arena.place());
        self.note_memory();
        self.context.arena = self.arena.bases();
        self.context.views = self.views.as_ptr();
        self.context.nr_views = self.views.len() as u64;
        self.context.cpu = self.cpu.into();
        let entry = self
            .compiled
            .as_ref()
            .and_then(|compiled| compiled.entry(program, pc));
        let result = match entry {
            Some(entry) => self.enter_compiled(env, entry, args),
            None => {
                let code = self.programs.get(program).cloned();
                let none = || Fault::Call(format!("no program {program}"));
                let code = code.ok_or_else(none)?;
                interp::run(self, env, (&code, program), pc, args)
            }
        };
        self.context.sp = sp;
        result
    }

    /// What compiled programs may write.
    fn note_memory(&mut self) {
        self.context.heap = self.memory.heap();
        (self.context.arena_from, self.context.arena_bytes) = self.memory.arena();
    }

    /// Runs compiled code, which reaches the machine by the context.
    fn enter_compiled(
        &mut self,
        env: &mut dyn Env,
        entry: Entry,
        args: [u64; 5],
    ) -> Result<u64, Fault> {
        // SAFETY: only the lifetime changes; the pointer is taken out again before `env` ends.
        let erased: *mut (dyn Env + 'static) = unsafe { std::mem::transmute(env) };
        let outer = (self.context.vm, self.context.env);
        let vm: *mut Self = self;
        // SAFETY: from here on the machine is reached through `vm` alone, by this function and by
        // what compiled code calls, one after the other.
        let (result, fault) = unsafe {
            (*vm).context.vm = vm;
            (*vm).context.env = Some(erased);
            let context = &raw mut (*vm).context;
            let [a, b, c, d, e] = args;
            let result = entry(context, a, b, c, d, e);
            (*context).vm = outer.0;
            (*context).env = outer.1;
            (result, std::mem::take(&mut (*context).fault))
        };
        match fault {
            0 => Ok(result),
            number => Err(self.taken(number)),
        }
    }

    /// The fault that compiled code has left.
    fn taken(&mut self, number: u64) -> Fault {
        match number {
            interp::FAULT_BUDGET => Fault::Budget {
                limit: budget::INSNS,
            },
            interp::FAULT_STORE => Fault::WildStore {
                addr: self.context.fault_addr,
            },
            interp::FAULT_STACK => Fault::Stack,
            _ => {
                let unsaid = || Fault::Call("an unknown fault".to_owned());
                self.fault.take().unwrap_or_else(unsaid)
            }
        }
    }
}

#[cfg_attr(
    not(feature = "jit"),
    expect(dead_code, reason = "compiled code calls it")
)]
/// What compiled code calls for all that it does not do itself.
pub(crate) unsafe extern "C" fn call_out(
    context: *mut Context,
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    e: u64,
) -> u64 {
    // SAFETY: `enter_compiled` has set both for as long as compiled code runs, and that code waits
    // for this call's end.
    let (vm, env, call) = unsafe {
        let Some(env) = (*context).env else {
            return 0;
        };
        (&mut *(*context).vm, &mut *env, (*context).call as u32)
    };
    let result = env.call(vm, call, [a, b, c, d, e]);
    vm.note_memory();
    match result {
        Ok(value) => value,
        Err(fault) => {
            vm.fault = Some(fault);
            vm.context.fault = interp::FAULT_CALL;
            0
        }
    }
}
