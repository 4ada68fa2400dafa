//! What runs spent time and energy on, and what ran where, as JSON. Long lists are arrays of
//! arrays: docs/guide/report.md says what stands in which place.

use crate::number;
use serde_json::{Map, Value, json};
use wakeplace_metrics::{EnergyProfile, Profile, Span, StateShare};
use wakeplace_study::PolicyRuns;

/// `details` of a policy's runs.
pub(super) fn details(profile: &Profile) -> Value {
    let spent = |label: &str, group: &wakeplace_metrics::ClusterProfile| {
        json!({
            label: group.name,
            "cpus": group.cpus,
            "busy_pct": number::json(group.busy_pct),
            "transition_pct": number::json(group.transition_pct),
            "idle_pct": shares(&group.idle),
        })
    };
    let cluster = |cluster: &wakeplace_metrics::ClusterProfile| {
        let mut value = spent("cluster", cluster);
        value["cluster_idle_pct"] = shares(&cluster.cluster_idle);
        value
    };
    let domain = |domain: &wakeplace_metrics::DomainProfile| {
        let opp = |opp: &wakeplace_metrics::OppShare| {
            json!([
                opp.khz,
                number::json(opp.time_pct),
                number::json(opp.busy_pct)
            ])
        };
        json!({
            "cpus": ranges(&domain.cpus),
            "khz_time_busy_pct": domain.opps.iter().map(opp).collect::<Vec<_>>(),
        })
    };
    let buckets = profile.wake_latency.iter();
    let bucket = |b: &wakeplace_metrics::LatencyBucket| json!([b.up_to_ns, b.count]);
    let reasons = profile.reasons.iter();
    let reason = |(name, count): &(&str, f64)| ((*name).to_owned(), number::json(*count));
    let mut value = json!({
        "energy": profile.energy.as_ref().map(|energy| self::energy(profile, energy)),
        "residency": profile.clusters.iter().map(cluster).collect::<Vec<_>>(),
        "frequencies": profile.domains.iter().map(domain).collect::<Vec<_>>(),
        "wake_latency_up_to_ns_count": buckets.map(bucket).collect::<Vec<_>>(),
        "placements_per_run": reasons.map(reason).collect::<Map<_, _>>(),
    });
    // Only where a cluster holds several kinds.
    if !profile.kinds.is_empty() {
        let kinds = profile.kinds.iter().map(|kind| spent("kind", kind));
        value["kinds"] = kinds.collect();
    }
    value
}

fn shares(states: &[StateShare]) -> Value {
    let share = |share: &StateShare| (share.state.clone(), number::json(share.pct));
    Value::Object(states.iter().map(share).collect())
}

fn energy(profile: &Profile, energy: &EnergyProfile) -> Value {
    let part = |part: &wakeplace_metrics::PartMean| {
        json!([
            profile.clusters[part.cluster].name,
            part.state,
            number::json(part.energy),
            number::json(part.time_s),
        ])
    };
    let cpu = |figures: &[f64; 3]| json!(figures.map(number::json));
    let mut value = json!({
        "unit": energy.unit,
        "board": energy.board.map_or(Value::Null, number::json),
        "cluster_state_energy_s": energy.parts.iter().map(part).collect::<Vec<_>>(),
        "cpu_busy_idle_transition": energy.cpus.iter().map(cpu).collect::<Vec<_>>(),
    });
    if let Some(work) = energy.work {
        value["work"] = number::json(work);
    }
    value
}

/// `timeline` of a policy's first run.
pub(super) fn timeline(runs: &PolicyRuns) -> Option<Value> {
    let line = runs.timeline.as_ref()?;
    let mut seen: Vec<u32> = line.ran.iter().map(|span| span.what).collect();
    seen.extend(line.placed.iter().map(|placed| placed.task));
    seen.sort_unstable();
    seen.dedup();
    let threads = runs.reports.first().map(|report| report.threads.as_slice());
    let name = |task: &u32| {
        let thread = threads.and_then(|all| all.get(*task as usize));
        json!([task, thread.map_or("", |thread| thread.name.as_str())])
    };
    let mut reasons: Vec<&str> = Vec::new();
    let placed: Vec<Value> = { line.placed.iter() }
        .map(|p| {
            let known = reasons.iter().position(|reason| *reason == p.reason);
            let reason = known.unwrap_or_else(|| {
                reasons.push(p.reason);
                reasons.len() - 1
            });
            json!([
                p.at_ns,
                p.task,
                p.prev_cpu,
                p.cpu,
                reason,
                u8::from(p.is_new)
            ])
        })
        .collect();
    let cluster = |(name, cpus): &(String, Vec<u32>)| json!([name, ranges(cpus)]);
    let steps = line.steps.iter();
    let marks = line.overutilized.iter();
    let marks = marks.map(|m| json!([m.at_ns, u8::from(m.on)]));
    Some(json!({
        "from_ns": line.window.from_ns,
        "to_ns": line.window.to_ns,
        "until_ns": line.until_ns,
        "cpus": line.cpus,
        "clusters": line.clusters.iter().map(cluster).collect::<Vec<_>>(),
        "domains": line.domains.iter().map(|cpus| ranges(cpus)).collect::<Vec<_>>(),
        "idle_states": line.idle_states,
        "tasks": seen.iter().map(name).collect::<Vec<_>>(),
        "cpu_task_from_to_ns": spans(&line.ran),
        "cpu_idle_state_from_to_ns": spans(&line.idle),
        "domain_at_ns_khz": steps.map(|s| json!([s.domain, s.at_ns, s.khz])).collect::<Vec<_>>(),
        "reasons": reasons,
        "at_ns_task_prev_cpu_reason_new": placed,
        "overutilized_at_ns_on": marks.collect::<Vec<_>>(),
    }))
}

fn spans(spans: &[Span]) -> Vec<Value> {
    let span = |s: &Span| json!([s.cpu, s.what, s.from_ns, s.to_ns]);
    spans.iter().map(span).collect()
}

/// CPUs as people write them: `0-3,8`.
fn ranges(cpus: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let part = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn cpus_in_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[5, 7, 8]), "5,7-8");
    }
}
