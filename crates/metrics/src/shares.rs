//! How tasks shared the CPUs: the longest wait of any, and how alike they fared
//! (docs/guide/evaluate.md, "Fairness and stalls").
//!
//! Made of what each task did, by `collector.rs`. A task's share is the time that it executed of
//! the time that it could have: what it was given of what it asked for. Fairness is Jain's index of
//! these shares, (sum x)^2 / (n sum x^2) (Jain, Chiu and Hawe, "A Quantitative Measure of Fairness
//! and Discrimination for Resource Allocation in Shared Computer Systems", DEC-TR-301, 1984): 100 %
//! where all fare alike, 100 / n % where one of n has everything.
//!
//! What must stay: tasks count alike, whatever their nice values; one that never could run counts
//! nothing. Sums run in the order of tasks. Tests by part: `shares_by_hand` (`report`),
//! `one_that_has_all` (its lower end), `who_never_could_run_has_no_share` (absence).
//!
//! Tests: below

use crate::metric::Values;
use wakeplace_engine::TaskTotals;

/// Enters the metrics; both are absent where no task ever could run.
pub(crate) fn report(tasks: &[TaskTotals], values: &mut Values) {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let asked = |task: &&TaskTotals| task.run_ns + task.wait_ns > 0;
    for task in tasks.iter().filter(asked) {
        let share = task.run_ns as f64 / (task.run_ns + task.wait_ns) as f64;
        n += 1.0;
        sum += share;
        squares += share * share;
    }
    if squares > 0.0 {
        values.set("fairness_pct", sum * sum / (n * squares) * 100.0);
    }
    let longest_ns = tasks.iter().map(|task| task.longest_wait_ns).max();
    if let Some(ns) = longest_ns.filter(|_| n > 0.0) {
        values.set("task_wait_us_max", ns as f64 / 1e3);
    }
}

#[cfg(test)]
mod tests {
    use super::report;
    use crate::metric::Values;
    use wakeplace_engine::TaskTotals;

    /// Fairness and the longest wait of tasks that executed and waited so long, us.
    fn of(tasks: &[(u64, u64)]) -> [Option<f64>; 2] {
        let task = |(run, wait): &(u64, u64)| TaskTotals {
            run_ns: run * 1000,
            wait_ns: wait * 1000,
            longest_wait_ns: wait * 500,
            ..TaskTotals::default()
        };
        let tasks: Vec<TaskTotals> = tasks.iter().map(task).collect();
        let mut values = Values::default();
        report(&tasks, &mut values);
        ["fairness_pct", "task_wait_us_max"].map(|name| values.get(name))
    }

    /// Shares 1 and 1/2: (3/2)^2 / (2 x 5/4) = 9/10. Shares 1/2 and 1/2 are alike, however long.
    #[test]
    fn shares_by_hand() {
        assert_eq!(of(&[(4, 0), (3, 3)]), [Some(90.0), Some(1.5)]);
        assert_eq!(of(&[(1, 1), (300, 300)]), [Some(100.0), Some(150.0)]);
    }

    /// Jain's index of n of which one has all is 1/n.
    #[test]
    fn one_that_has_all() {
        assert_eq!(of(&[(8, 0), (0, 8), (0, 8), (0, 8)])[0], Some(25.0));
    }

    #[test]
    fn who_never_could_run_has_no_share() {
        assert_eq!(of(&[(4, 0), (0, 0), (3, 3)])[0], Some(90.0));
        assert_eq!(of(&[(0, 0)]), [None, None]);
        assert_eq!(of(&[(0, 7)]), [None, Some(3.5)]);
    }
}
