//! How many tasks a core is to hold while power is saved, by kind of core.
//!
//! No fact of a machine but of a series about one kind of core, so every machine with such cores
//! has it.

use super::facts::Facts;
use super::text::{Standing, comment, entry, number, source};

/// Cores that the sched_mc series of 2011 has a table for, as the facts call them.
const CORE_KIND: &str = "cortex-a9";

/// Width of a step of the table, kHz (docs/rules/sched-mc.md#mc-freq-table).
const STEP_KHZ: u64 = 200_000;

/// The series' table of `cpu_power`; the last entry is for all above.
const CPU_POWER: &[u64] = &[4096, 4096, 4096, 1024, 1024, 1024, 1024, 1024, 1024, 1024];

/// `cpu_power` of one task.
const ONE_TASK: u64 = 1024;

/// The `[sched_mc]` table; nothing without such cores.
pub(super) fn table(facts: &Facts) -> String {
    if !facts.cpus.iter().any(|cpu| cpu.kind == CORE_KIND) {
        return String::new();
    }
    let tasks: Vec<String> = CPU_POWER
        .iter()
        .map(|power| (power / ONE_TASK).to_string())
        .collect();
    let mut out = String::from("\n");
    out += &comment(
        "While power is saved, so many tasks are packed on a core before another one takes some: \
         entry n is for n to n+1 steps of its clock, the last one for all above.",
    );
    out += "[sched_mc]\n";
    out += &entry("core_kind", CORE_KIND);
    out += &format!("step_khz = {}\n", number(STEP_KHZ));
    out += &format!("tasks = [{}]\n", tasks.join(", "));
    let words = "sched_mc series of 2011, table of cpu_power of the Cortex-A9 divided by 1024: \
                 4096 below 600 MHz, 1024 from there on";
    out + &source(words, Standing::Published)
}

#[cfg(test)]
mod tests {
    use super::{CPU_POWER, STEP_KHZ};

    /// docs/rules/sched-mc.md#mc-freq-table: below 600 MHz 4 tasks, from there on 1.
    #[test]
    fn the_limit_is_600_mhz() {
        let at = |khz: u64| CPU_POWER[((khz / STEP_KHZ) as usize).min(CPU_POWER.len() - 1)];
        assert_eq!([199_680, 399_360, 599_999].map(at), [4096; 3]);
        assert_eq!([600_000, 798_720, 998_400, 3_000_000].map(at), [1024; 4]);
    }
}
