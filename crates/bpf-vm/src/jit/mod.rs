//! The compiler: programs to machine code, by Cranelift.
//!
//! What it makes does the same as the interpreter, to the last bit and the last fault. Addresses
//! are checked by one comparison each; only those of the program's own frame that are known need
//! none.
//!
//! Functions nest as deep as their frames in the programs' memory allow, 128 times. So that they
//! never leave the host's stack either, none of a program's functions is used if one of them takes
//! too much of it: that program is interpreted (docs/decisions/058).
//!
//! What must stay: whether a program is compiled changes no result; a function that the compiler
//! refuses is interpreted. Free: Cranelift's settings, and which functions are worth compiling.
//! Tests by part: `compiled_programs_do_what_interpreted_ones_do` (`new`, `compile`),
//! `what_is_too_long_is_interpreted` (`entry`), `large_functions_nest_within_the_hosts_stack`
//! (`MAX_NATIVE_FRAME`). `signature`, `failed` and `drop` have no test of their own. Callers: vm.rs
//! (`new`, `entry`).
//!
//! Tests: crates/bpf-vm/tests/all/same.rs::compiled_programs_do_what_interpreted_ones_do,
//! crates/bpf-vm/tests/all/budget.rs::what_is_too_long_is_interpreted,
//! crates/bpf-vm/tests/all/programs.rs::large_functions_nest_within_the_hosts_stack

mod function;
mod lookup;
mod operations;

use crate::Fault;
use crate::program::Program;
use crate::vm::Context;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, Signature};
use cranelift_codegen::settings::{self, Configurable as _};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module as _, default_libcall_names};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Most bytes of the host's stack that a compiled function may take: all that nest, with what they
/// call, fit into the stack of a thread, 2 MiB. Functions of schedulers take some hundred bytes.
const MAX_NATIVE_FRAME: u32 = 6 << 10;
/// How code is made. A frame larger than a page touches each of its pages: none of them steps over
/// what guards the end of the stack.
const FLAGS: [(&str, &str); 4] = [
    ("opt_level", "speed"),
    ("is_pic", "false"),
    ("enable_probestack", "true"),
    ("probestack_strategy", "inline"),
];

/// A compiled function: context and arguments.
pub(crate) type Entry = unsafe extern "C" fn(*mut Context, u64, u64, u64, u64, u64) -> u64;

/// Compiled programs.
pub(crate) struct Compiled {
    /// Owns the code; taken when it is freed.
    module: Option<JITModule>,
    /// Where programs begin, by their number.
    starts: Vec<Option<Entry>>,
    /// All functions, by program and first instruction.
    entries: BTreeMap<(usize, usize), Entry>,
}

// SAFETY: the code is not written after `new`, and holds no address of a machine.
unsafe impl Send for Compiled {}
// SAFETY: as above; `module` is touched again only by `drop`.
unsafe impl Sync for Compiled {}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} compiled functions", self.entries.len())
    }
}

impl Drop for Compiled {
    /// The code's memory goes; nobody can run it any more.
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: whoever could run the code held this value.
            unsafe { module.free_memory() };
        }
    }
}

/// What the host's compiler said.
fn failed(error: impl fmt::Display) -> Fault {
    Fault::Host(format!("compiled code: {error}"))
}

impl Compiled {
    /// Compiles programs, each with its number. Those whose frames are too large are left out.
    pub(crate) fn new(programs: &[(usize, Arc<Program>)]) -> Result<Self, Fault> {
        let mut flags = settings::builder();
        for (key, value) in FLAGS {
            flags.set(key, value).map_err(failed)?;
        }
        let isa = cranelift_native::builder().map_err(failed)?;
        let isa = isa.finish(settings::Flags::new(flags)).map_err(failed)?;
        let builder = JITBuilder::with_isa(isa, default_libcall_names());
        let mut module = JITModule::new(builder);
        let mut ids = BTreeMap::new();
        let signature = signature(&module);
        for (number, program) in programs {
            for function in &program.functions {
                let name = format!("p{number}_{}", function.start);
                let id = module.declare_function(&name, Linkage::Local, &signature);
                ids.insert((*number, function.start), id.map_err(failed)?);
            }
        }
        let mut scratch = FunctionBuilderContext::new();
        for (number, program) in programs {
            let mut largest = 0;
            for at in 0..program.functions.len() {
                let of = function::Source {
                    program,
                    number: *number,
                    at,
                    ids: &ids,
                };
                largest = largest.max(compile(&mut module, &mut scratch, &signature, &of)?);
            }
            if largest > MAX_NATIVE_FRAME {
                ids.retain(|(of, _), _| of != number);
            }
        }
        module.finalize_definitions().map_err(failed)?;
        let entry = |(key, id): (&(usize, usize), &FuncId)| {
            let code = module.get_finalized_function(*id);
            // SAFETY: the function was declared with this signature.
            (*key, unsafe {
                std::mem::transmute::<*const u8, Entry>(code)
            })
        };
        let entries: BTreeMap<_, _> = ids.iter().map(entry).collect();
        let count = programs.iter().map(|(number, _)| number + 1).max();
        let starts = (0..count.unwrap_or(0)).map(|number| entries.get(&(number, 0)).copied());
        Ok(Self {
            module: Some(module),
            starts: starts.collect(),
            entries,
        })
    }

    /// None: this function is interpreted.
    pub(crate) fn entry(&self, program: usize, start: usize) -> Option<Entry> {
        match start {
            0 => self.starts.get(program).copied().flatten(),
            start => self.entries.get(&(program, start)).copied(),
        }
    }
}

/// Context and five arguments to one result, all of 64 bits.
fn signature(module: &JITModule) -> Signature {
    let mut signature = module.make_signature();
    signature.params = vec![AbiParam::new(I64); 6];
    signature.returns = vec![AbiParam::new(I64)];
    signature
}

/// Returns how many bytes of the host's stack the function takes.
fn compile(
    module: &mut JITModule,
    scratch: &mut FunctionBuilderContext,
    signature: &Signature,
    of: &function::Source<'_>,
) -> Result<u32, Fault> {
    let mut context = module.make_context();
    context.func.signature = signature.clone();
    function::build(module, &mut context.func, scratch, of);
    let start = of.program.functions[of.at].start;
    module
        .define_function(of.ids[&(of.number, start)], &mut context)
        .map_err(|error| failed(format!("program `{}`: {error:?}", of.program.name)))?;
    let layout = context.compiled_code();
    let layout = layout.and_then(|code| code.buffer.frame_layout());
    let frame = layout.map_or(u32::MAX, |layout| layout.frame_to_fp_offset);
    module.clear_context(&mut context);
    Ok(frame)
}
