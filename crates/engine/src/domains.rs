//! The sched domains as the core built them, checked once a run: they nest, and their groups divide
//! them; groups of nodes that overlap cover them (docs/guide/model.md).
//!
//! What must stay: it only reads, and panics: wrong domains are a fault of the core. Free: what
//! leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `what_the_core_builds_adds_up` (`check` lets right ones pass), `each_wrong_sum_is_found` (each
//! rule of `check`),
//! crates/engine/tests/behaviour/platforms.rs::`machines_with_overlapping_nodes_run` (overlapping
//! groups), both tests below (`cpus`, `groups`).
//!
//! Callers: kernel/model/report.rs (`check`).
//!
//! Tests: below, crates/engine/tests/behaviour/platforms.rs::machines_with_overlapping_nodes_run

use wakeplace_policy_sys::sys::{WP_DOMAINS_38, wp_ctx, wp_sched_domain, wp_sched_group};

/// CPUs of a domain or a group: a part of the core's one list.
fn cpus(ctx: &wp_ctx, first: u32, nr: u32) -> &[u16] {
    &ctx.list[first as usize..(first + nr) as usize]
}

/// The groups of a domain, in the core's order, the local one first.
fn groups<'a>(ctx: &'a wp_ctx, dom: &wp_sched_domain) -> &'a [wp_sched_group] {
    &ctx.groups[dom.first_group as usize..(dom.first_group + dom.nr_groups) as usize]
}

/// # Panics
/// If a domain's groups do not have each of its CPUs once (nodes that overlap: at least once), or a
/// CPU's domains do not grow.
pub(crate) fn check(ctx: &wp_ctx) {
    for (index, dom) in ctx.doms[..ctx.nr_doms as usize].iter().enumerate() {
        let span = cpus(ctx, dom.first_cpu, dom.nr_cpus);
        let parts = groups(ctx, dom);
        let of = |g: &wp_sched_group| cpus(ctx, g.first_cpu, g.nr_cpus).to_vec();
        let mut all: Vec<u16> = parts.iter().flat_map(of).collect();
        all.sort_unstable();
        // Groups of nodes may overlap (docs/rules/domains.md#numa-nodes): then they cover the span.
        if ctx.topo[dom.topo_level as usize].overlap != 0 {
            all.dedup();
        }
        assert_eq!(all, span, "domain {index}: each CPU is in one group");
        let bits: u32 = dom.span.iter().map(|word| word.count_ones()).sum();
        assert_eq!(bits, dom.nr_cpus, "domain {index}: its span");
    }
    let equal_spans = ctx.params.domain_form >= WP_DOMAINS_38;
    for (cpu, c) in ctx.cpus[..ctx.nr_cpus as usize].iter().enumerate() {
        let mut below = 1;
        for level in 0..c.topo.nr_levels as usize {
            let dom = &ctx.doms[c.topo.dom[level] as usize];
            // In 3.x a level as wide as the one below stays if only it spreads siblings.
            let grows = dom.nr_cpus > below || equal_spans && dom.nr_cpus == below;
            assert!(grows, "CPU {cpu}: level {level} is no wider");
            below = dom.nr_cpus;
            let own = &groups(ctx, dom)[c.topo.group[level] as usize];
            let has = |list: &[u16]| list.contains(&(cpu as u16));
            let at = ctx.list[(dom.first_cpu + c.topo.pos[level]) as usize];
            assert_eq!(
                usize::from(at),
                cpu,
                "CPU {cpu}: its place in level {level}"
            );
            assert!(
                has(cpus(ctx, own.first_cpu, own.nr_cpus)),
                "CPU {cpu}: its group of level {level}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::machine::core_facts;
    use wakeplace_platform::Platform;
    use wakeplace_policy_sys::sys::wp_ctx;
    use wakeplace_policy_sys::{Core, Policy};

    fn core() -> Core {
        let platform = Platform::builtin("hikey960").unwrap();
        let policy = Policy::parse("linux-7.3").unwrap();
        Core::new(&core_facts(&platform, &policy), policy.core_params()).unwrap()
    }

    #[test]
    fn what_the_core_builds_adds_up() {
        check(core().state());
    }

    #[test]
    fn each_wrong_sum_is_found() {
        let broken: [fn(&mut wp_ctx); 5] = [
            |ctx| ctx.groups[0].nr_cpus += 1,
            |ctx| ctx.groups[1].first_cpu = ctx.groups[0].first_cpu,
            |ctx| ctx.doms[0].span[0] |= 1 << 63,
            |ctx| ctx.cpus[5].topo.group[0] = 0,
            |ctx| ctx.cpus[2].topo.pos[1] = 0,
        ];
        for (index, damage) in broken.iter().enumerate() {
            let mut core = core();
            damage(core.state_mut());
            let found = std::panic::catch_unwind(|| check(core.state()));
            assert!(found.is_err(), "damage {index}");
        }
    }
}
