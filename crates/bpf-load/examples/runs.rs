//! Loads `sums.bpf.o`, has its program run with some arguments, and prints what came back.
//!
//! crates/cli/tests/all/syscall_programs.rs::`a_program_gives_what_a_kernel_gives` starts it twice:
//! before the simulator's kernel and before the host's (docs/guide/schedulers.md, "What its
//! programs see"). Nothing here says what is right: the two are compared.
//!
//! What must stay: 90 pairs of arguments, a line "ran ..." for each, and the size of the context,
//! which is that of crates/foreign/tests/schedulers/sums.bpf.c.

use libbpf_rs::{ObjectBuilder, ProgramInput};
use std::io::Write as _;

/// Words of the argument: two that are given, and the results.
const WORDS: usize = 2 + 32;

fn main() {
    let path = std::env::args().nth(1).expect("an object");
    let open = ObjectBuilder::default().open_file(path).expect("an object");
    let object = open.load().expect("loaded");
    let program = object.progs_mut().next().expect("a program");
    let edges = [
        0,
        1,
        7,
        64,
        0x7fff_ffff,
        0x8000_0000,
        u64::MAX >> 1,
        1 << 63,
        u64::MAX,
    ];
    for a in edges.into_iter().chain([0x0123_4567_89ab_cdef]) {
        for b in edges {
            let mut context: Vec<u8> = Vec::with_capacity(8 * WORDS);
            context.extend(a.to_ne_bytes());
            context.extend(b.to_ne_bytes());
            context.resize(8 * WORDS, 0);
            let input = ProgramInput {
                context_in: Some(&mut context),
                ..ProgramInput::default()
            };
            let result = program.test_run(input).expect("it runs").return_value;
            let words = context.chunks_exact(8).map(|word| {
                let word = word.try_into().expect("eight bytes");
                format!("{:x}", u64::from_ne_bytes(word))
            });
            let words: Vec<_> = words.collect();
            let written = writeln!(std::io::stdout(), "ran {result:x} {}", words.join(" "));
            written.expect("printed");
        }
    }
}
