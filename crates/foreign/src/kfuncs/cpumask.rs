//! Masks of CPUs that programs make (kernel/bpf/cpumask.c; docs/guide/schedulers.md, "What its
//! programs see").
//!
//! What must stay: answers as lib/cpumask.c and kernel/bpf/cpumask.c give them, errors included;
//! masks have 64-bit words. Free: how words are combined.
//!
//! Tests by part: schedulers.rs::`runs_are_the_same_twice_and_interpreted` with walk.bpf.c
//! (`test`). The others (`create`, `first`, `both`, `change`, `combine`, `pair`, `all`, `weight`,
//! `distribute`, `populate`, `inside`) have no test in this repository: schedulers of the kernel's
//! tree run some of them (xtask/src/tries/kernel_schedulers.rs).
//!
//! Callers: kfuncs/mod.rs, by its `TABLES`.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted,
//! xtask/src/tries/kernel_schedulers.rs

use super::cpus::read_mask;
use super::{Named, nothing, objects};
use crate::kernel::{self, Running, write_mask};
use wakeplace_bpf_vm::{Fault, Vm};

pub(super) const TABLE: &[Named] = &[
    ("bpf_cpumask_create", create),
    ("bpf_cpumask_acquire", objects::acquire),
    ("bpf_cpumask_release", objects::release),
    ("bpf_cpumask_release_dtor", nothing),
    ("bpf_cpumask_first", |_, vm, a| {
        Ok(first(vm, &read_mask(vm, a[0])))
    }),
    ("bpf_cpumask_first_zero", |_, vm, a| {
        let zeros: Vec<u64> = read_mask(vm, a[0]).iter().map(|word| !word).collect();
        Ok(first(vm, &zeros))
    }),
    ("bpf_cpumask_first_and", |_, vm, a| {
        Ok(first(vm, &both(vm, a[0], a[1])))
    }),
    ("bpf_cpumask_set_cpu", |_, vm, a| {
        change(vm, a[1], a[0], true)
    }),
    ("bpf_cpumask_clear_cpu", |_, vm, a| {
        change(vm, a[1], a[0], false)
    }),
    ("bpf_cpumask_test_and_set_cpu", |_, vm, a| {
        change(vm, a[1], a[0], true)
    }),
    ("bpf_cpumask_test_and_clear_cpu", |_, vm, a| {
        change(vm, a[1], a[0], false)
    }),
    ("bpf_cpumask_test_cpu", |_, vm, a| {
        Ok(test(vm, a[1], a[0]).into())
    }),
    ("bpf_cpumask_setall", |_, vm, a| {
        combine(vm, a[0], |_| u64::MAX)
    }),
    ("bpf_cpumask_clear", |_, vm, a| combine(vm, a[0], |_| 0)),
    ("bpf_cpumask_and", |_, vm, a| pair(vm, a, |x, y| x & y)),
    ("bpf_cpumask_or", |_, vm, a| pair(vm, a, |x, y| x | y)),
    ("bpf_cpumask_xor", |_, vm, a| pair(vm, a, |x, y| x ^ y)),
    ("bpf_cpumask_andnot", |_, vm, a| pair(vm, a, |x, y| x & !y)),
    ("bpf_cpumask_copy", |_, vm, a| {
        let mask = read_mask(vm, a[1]);
        combine(vm, a[0], |word| mask[word])
    }),
    ("bpf_cpumask_populate", populate),
    ("bpf_cpumask_equal", |_, vm, a| {
        Ok(all(vm, a, |x, y| x == y).into())
    }),
    ("bpf_cpumask_subset", |_, vm, a| {
        Ok(all(vm, a, |x, y| x & !y == 0).into())
    }),
    ("bpf_cpumask_intersects", |_, vm, a| {
        Ok((!all(vm, a, |x, y| x & y == 0)).into())
    }),
    ("bpf_cpumask_empty", |_, vm, a| {
        Ok((weight(vm, a[0]) == 0).into())
    }),
    ("bpf_cpumask_full", |_, vm, a| {
        Ok((weight(vm, a[0]) == u64::from(vm.nr_cpus())).into())
    }),
    ("bpf_cpumask_weight", |_, vm, a| Ok(weight(vm, a[0]))),
    ("bpf_cpumask_any_distribute", |running, vm, a| {
        let mask = read_mask(vm, a[0]);
        Ok(distribute(running, vm, &mask))
    }),
    ("bpf_cpumask_any_and_distribute", |running, vm, a| {
        let mask = both(vm, a[0], a[1]);
        Ok(distribute(running, vm, &mask))
    }),
];

type Result = std::result::Result<u64, Fault>;

/// `bpf_cpumask_create()`: an empty mask with one holder; 0: no memory.
fn create(running: &mut Running<'_>, vm: &mut Vm, _: [u64; 5]) -> Result {
    let bytes = running.state.layout.cpumask + 8;
    kernel::create(vm, bytes)
}

/// Bits of CPUs that there are.
fn inside(vm: &Vm, word: usize) -> u64 {
    let cpus = (vm.nr_cpus() as usize).saturating_sub(64 * word);
    if cpus >= 64 {
        u64::MAX
    } else {
        (1 << cpus) - 1
    }
}

/// bpf_cpumask_first(): the first CPU of the mask, or the number of CPUs.
fn first(vm: &Vm, mask: &[u64]) -> u64 {
    let words = mask
        .iter()
        .enumerate()
        .map(|(word, bits)| (word, bits & inside(vm, word)));
    let found = words.into_iter().find(|(_, bits)| *bits != 0);
    found.map_or(u64::from(vm.nr_cpus()), |(word, bits)| {
        64 * word as u64 + u64::from(bits.trailing_zeros())
    })
}

/// Gives the words of a AND b.
fn both(vm: &Vm, a: u64, b: u64) -> Vec<u64> {
    let pairs = read_mask(vm, a).into_iter().zip(read_mask(vm, b));
    pairs.map(|(a, b)| a & b).collect()
}

/// A CPU beyond the machine's is in no mask.
fn test(vm: &Vm, mask: u64, cpu: u64) -> bool {
    let cpu = cpu & 0xffff_ffff;
    cpu < u64::from(vm.nr_cpus())
        && vm.memory.u64(mask.wrapping_add(cpu / 64 * 8)) >> (cpu % 64) & 1 != 0
}

/// Sets or clears a CPU of a mask; one out of range changes nothing.
fn change(vm: &mut Vm, mask: u64, cpu: u64, set: bool) -> Result {
    let (was, cpu) = (test(vm, mask, cpu), cpu & 0xffff_ffff);
    if cpu < u64::from(vm.nr_cpus()) {
        let at = mask.wrapping_add(cpu / 64 * 8);
        let others = vm.memory.u64(at) & !(1 << (cpu % 64));
        vm.memory
            .store(at, 8, others | u64::from(set) << (cpu % 64))?;
    }
    Ok(was.into())
}

/// Writes each word of a mask; bits beyond the machine's CPUs stay 0.
fn combine(vm: &mut Vm, to: u64, of: impl Fn(usize) -> u64) -> Result {
    for word in 0..(vm.nr_cpus() as usize).div_ceil(64) {
        let bits = of(word) & inside(vm, word);
        vm.memory.store(to.wrapping_add(8 * word as u64), 8, bits)?;
    }
    Ok(0)
}

/// `dst, src1, src2`; true if a bit is set (`bpf_cpumask_and`).
fn pair(vm: &mut Vm, args: [u64; 5], of: impl Fn(u64, u64) -> u64) -> Result {
    let (a, b) = (read_mask(vm, args[1]), read_mask(vm, args[2]));
    combine(vm, args[0], |word| of(a[word], b[word]))?;
    Ok((weight(vm, args[0]) != 0).into())
}

/// Does this hold of each pair of words?
fn all(vm: &Vm, args: [u64; 5], of: impl Fn(u64, u64) -> bool) -> bool {
    let pairs = read_mask(vm, args[0])
        .into_iter()
        .zip(read_mask(vm, args[1]));
    pairs
        .enumerate()
        .all(|(word, (a, b))| of(a & inside(vm, word), b & inside(vm, word)))
}

/// Counts the CPUs in the mask.
fn weight(vm: &Vm, mask: u64) -> u64 {
    let words = read_mask(vm, mask).into_iter().enumerate();
    words
        .map(|(word, bits)| u64::from((bits & inside(vm, word)).count_ones()))
        .sum()
}

/// The next CPU of the mask after the one that this CPU got last (`cpumask_any_distribute`).
fn distribute(running: &mut Running<'_>, vm: &Vm, mask: &[u64]) -> u64 {
    let nr_cpus = vm.nr_cpus();
    let last = running
        .state
        .distributed
        .get(vm.cpu as usize)
        .copied()
        .unwrap_or(0);
    let next = (1..=nr_cpus).map(|by| (last + by) % nr_cpus);
    let mut next = next.filter(|cpu| wakeplace_sched_ext::test_cpu(mask, *cpu));
    let Some(found) = next.next() else {
        return nr_cpus.into();
    };
    running.state.distributed.resize(nr_cpus as usize, 0);
    running.state.distributed[vm.cpu as usize] = found;
    found.into()
}

/// `bpf_cpumask_populate(mask, src, size)`: at most the bits of the machine; always 0.
fn populate(running: &mut Running<'_>, vm: &mut Vm, args: [u64; 5]) -> Result {
    let _ = running;
    let words = args[2]
        .div_ceil(8)
        .min(u64::from(vm.nr_cpus()).div_ceil(64));
    let mask: Vec<u64> = (0..words)
        .map(|word| vm.memory.u64(args[1].wrapping_add(8 * word)))
        .collect();
    vm.memory.bytes_mut(args[0], 8 * words)?;
    write_mask(vm, args[0], &mask);
    Ok(0)
}
