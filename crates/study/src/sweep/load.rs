//! The load of a point without what is varied of it, so that points of one load have one name.
//!
//! What must stay: of a load's keys those go that stand as they are varied; what is left keeps its
//! order, and a load that is no model's stays as it is. Tests by part:
//! `what_is_varied_is_left_out_of_a_load` (all).
//!
//! Callers: crates/report/src/points.rs, crates/report/src/html/sweep/points.rs,
//! crates/report/src/diff/kept.rs, crates/store/src/differs.rs.
//!
//! Tests: below

/// The load without the keys that are names of their own: those with `workload.` before them.
#[must_use]
pub fn without_varied<'a>(
    load: &str,
    names: impl Iterator<Item = (&'a str, &'a str)> + Clone,
) -> String {
    let Some((model, keys)) = load.split_once(':') else {
        return load.to_owned();
    };
    let varied = |setting: &&str| {
        let is_own = |(key, value): (&str, &str)| {
            let key = key.strip_prefix("workload.");
            key.is_some_and(|key| setting.split_once('=') == Some((key, value)))
        };
        names.clone().any(is_own)
    };
    let left: Vec<&str> = keys.split(',').filter(|setting| !varied(setting)).collect();
    match left.as_slice() {
        [] => model.to_owned(),
        left => format!("{model}:{}", left.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::without_varied;

    /// Goal: a column or a message does not say twice what is varied.
    #[test]
    fn what_is_varied_is_left_out_of_a_load() {
        let names = [
            ("workload.n", "2"),
            ("busy_factor", "4"),
            ("workload.duty", "5%"),
        ];
        for (load, left) in [
            (
                "periodic:period=16ms,n=2,start=spread,duty=5%",
                "periodic:period=16ms,start=spread",
            ),
            ("periodic:n=2,duty=5%", "periodic"),
            // Another value, and a key that is none of the load's.
            ("periodic:n=3,busy_factor=4", "periodic:n=3,busy_factor=4"),
            ("messaging", "messaging"),
            ("loads/a.json", "loads/a.json"),
        ] {
            assert_eq!(without_varied(load, names.into_iter()), left);
        }
    }
}
