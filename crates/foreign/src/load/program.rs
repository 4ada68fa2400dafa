//! bpf(2): programs (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: a program that is kept can run: whatever it refers to is there. Errors are the
//! kernel's errno, reasons are said by name. Free: words of refusals, but for those that tests
//! quote.
//!
//! Tests by part: `a_program_gives_what_a_kernel_gives` (`program_run`, `run_program`),
//! `what_is_not_offered_is_refused_by_name` (`helper`, `kfunc`),
//! schedulers.rs::`runs_are_the_same_twice_and_interpreted` (`program_load`, `constant`: maps,
//! variables of the kernel, functions).
//!
//! Callers: load/bpf.rs (the two commands); crates/bpf-vm asks `Names` while it links.
//!
//! Tests: crates/cli/tests/all/syscall_programs.rs,
//! crates/cli/tests/all/schedulers.rs::what_is_not_offered_is_refused_by_name

use super::attr::Attr;
use super::calls::{Answer, Call};
use super::serve::{Object, Session};
use crate::kernel::Running;
use crate::kfuncs;
use wakeplace_bpf_vm::btf::Kind;
use wakeplace_bpf_vm::memory::PAGE;
use wakeplace_bpf_vm::{Fault, Insn, Linker, MapKind, Program, Vm, helpers};
use wakeplace_sched_ext::Kernel;

/// Types of programs.
const STRUCT_OPS: u32 = 27;
const SYSCALL: u32 = 31;
/// Most instructions (`BPF_COMPLEXITY_LIMIT_INSNS`).
const MAX_INSNS: u32 = 1_000_000;
/// What libbpf puts in the place of a call that this kernel has not (`POISON_*`, libbpf.c): such
/// code is dead, which the kernel's verifier sees.
const POISONED: std::ops::Range<u32> = 2_001_000_000..2_003_000_000;
/// ... and of code that a relocation cannot reach.
const BAD_RELOCATION: u32 = 195_896_080;

impl Session<'_> {
    /// BPF_PROG_LOAD: checks and keeps a program; refuses what it calls and is not offered.
    pub(super) fn program_load(&mut self, call: &Call, attr: &Attr) -> Answer {
        let (kind, count, name) = (attr.u32(0), attr.u32(4), attr.name(48));
        if count == 0 || count > MAX_INSNS {
            return Answer::error(libc::E2BIG);
        }
        if !matches!(kind, STRUCT_OPS | SYSCALL) {
            // Nothing here calls it; that it was attached is said in results.
            return self.give(Object::Uncalled(name), PAGE);
        }
        let Some(bytes) = call.read(attr.u64(8), u64::from(count) * 8) else {
            return Answer::error(libc::EFAULT);
        };
        if let Some(Object::Btf(types)) = self.object(call, attr.u32(72)) {
            self.state.types = Some(types.clone());
        }
        let (insns, _) = bytes.as_chunks::<8>();
        let insns: Vec<_> = insns.iter().map(|insn| Insn::decode(*insn)).collect();
        let linked = Program::link(
            &name,
            insns,
            &mut Names {
                session: self,
                call,
            },
        );
        let added = linked.and_then(|program| self.vm.add_program(program));
        match added {
            Ok(number) => {
                self.known.types.resize(number + 1, kind);
                self.give(Object::Program(number), PAGE)
            }
            Err(refusal) => self.refuse(format!("program `{name}`: {refusal}")),
        }
    }

    /// `BPF_PROG_TEST_RUN` of a program of type syscall: its context is read and written.
    pub(super) fn program_run(&mut self, call: &Call, attr: &Attr) -> Answer {
        let Some(Object::Program(number)) = self.object(call, attr.u32(0)) else {
            return Answer::error(libc::EBADF);
        };
        let number = *number;
        let (size, from) = (u64::from(attr.u32(40)), attr.u64(48));
        let context = match call.read(from, size) {
            Some(context) => context,
            None => return Answer::error(libc::EFAULT),
        };
        let name = self.vm.programs()[number].name.clone();
        let ran = self.vm.memory.alloc(size.max(64)).and_then(|at| {
            let room = self.vm.memory.bytes_mut(at, size)?;
            room.copy_from_slice(&context);
            let result = self.run_program(call, number, at)?;
            let after = self.vm.memory.bytes(at, size).unwrap_or_default().to_vec();
            self.vm.memory.free(at, size.max(64));
            Ok((result, after))
        });
        match ran {
            Ok((result, after)) => {
                let told = call.write(from, &after)
                    && call.write(call.args[1] + 4, &(result as u32).to_le_bytes());
                if told {
                    Answer::Value(0)
                } else {
                    Answer::error(libc::EFAULT)
                }
            }
            Err(fault) => self.refuse(format!("program `{name}`: {fault}")),
        }
    }
}

impl Session<'_> {
    /// Runs a program for BPF_PROG_TEST_RUN, on the caller's CPU; it may ask a running simulation.
    fn run_program(&mut self, call: &Call, number: usize, context: u64) -> Result<u64, Fault> {
        let here = self.sim.as_ref().map_or(0, |sim| sim.this_cpu());
        self.vm.cpu = self.cpu_of(call, here);
        if let Some(sim) = &mut self.sim {
            sim.loader_on(self.vm.cpu);
        }
        let sim: Option<&mut dyn Kernel> = match &mut self.sim {
            Some(sim) => Some(&mut **sim),
            None => None,
        };
        let mut running = Running::begin(self.state, self.vm, sim);
        let result = self.vm.run(&mut running, number, [context, 0, 0, 0, 0]);
        running.end(self.vm);
        if let Some(sim) = &mut self.sim {
            sim.loader_on(here);
        }
        result
    }
}

/// Finds what a program refers to.
struct Names<'a, 'b> {
    session: &'a mut Session<'b>,
    call: &'a Call,
}

impl Linker for Names<'_, '_> {
    /// Value of a 64-bit constant by its source (`BPF_PSEUDO_*`); Err: what is wrong with it.
    fn constant(&mut self, source: u8, low: u32, high: u32) -> Result<u64, String> {
        match source {
            // A map, or a place in its first value.
            1 | 2 => {
                let Some(Object::Map(number)) = self.session.object(self.call, low) else {
                    return Err(format!("descriptor {low} is no map"));
                };
                let number = *number;
                let is_arena = |map: &wakeplace_bpf_vm::Map| map.spec.kind == MapKind::Arena;
                if self.session.vm.map(number).is_some_and(is_arena) {
                    // The program that is being linked gets the next number.
                    let program = self.session.vm.programs().len();
                    self.session.known.arena_of.insert(program, number);
                }
                if source == 1 {
                    return Ok(Vm::map_handle(number));
                }
                let arena = self.session.vm.arena.user;
                let map = self.session.vm.map(number);
                let base = map.map(|map| match map.spec.kind {
                    MapKind::Arena => arena,
                    _ => map.base(),
                });
                match base {
                    Some(base) if base != 0 => Ok(base + u64::from(high)),
                    _ => Err("a map whose values have no address".to_owned()),
                }
            }
            // A symbol of the kernel's.
            3 => {
                let name = self.session.known.kernel.name(low).to_owned();
                match self.session.known.kernel.kind(low) {
                    Kind::Var => {
                        let ty = self.session.known.kernel.target(low);
                        let size = self.session.known.kernel.size(ty);
                        self.session.state.symbol(self.session.vm, &name, size)
                    }
                    // A function that is asked for only to see whether it is there.
                    Kind::Func => Ok(1),
                    _ => Err(format!("the kernel's symbol `{name}`")),
                }
            }
            other => Err(format!("a 64-bit constant of kind {other} is not offered")),
        }
    }

    /// A number that a loader poisons for dead code is a call that never runs.
    fn helper(&mut self, number: u32) -> Result<u32, String> {
        if POISONED.contains(&number) || number == BAD_RELOCATION {
            return Ok(kfuncs::DEAD_CODE);
        }
        match helpers::is_offered(number) || kfuncs::helper(number).is_some() {
            true => Ok(number),
            false => Err(format!("helper {} is not offered", helpers::name(number))),
        }
    }

    /// By its number in the offered kernel's types; modules have none here.
    fn kfunc(&mut self, number: u32, module: i16) -> Result<u32, String> {
        if module != 0 {
            return Err("functions of kernel modules are not offered".to_owned());
        }
        let name = self.session.known.kernel.name(number);
        let found = kfuncs::by_name(name);
        found.ok_or_else(|| match name {
            "" => format!("the kernel has no function of number {number}"),
            name => format!("kfunc {name} is not offered"),
        })
    }
}
