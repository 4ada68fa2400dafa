//! One script per thread.
use super::template::{Cpus, Step, Task, Template};
use crate::MachineFacts;
use crate::error::{Fault, WorkloadError};
use crate::script::{Calibration, Event, Phase, TaskGroup, TaskScript, Timer, TimerMode, Workload};
use std::collections::BTreeMap;

/// Makes the scripts, if the machine has the CPUs they name.
pub(crate) fn expand(
    template: &Template,
    file: &str,
    machine: MachineFacts,
) -> Result<Workload, WorkloadError> {
    check_cpus(template, machine.nr_cpus).map_err(|fault| fault.in_file(file))?;
    let mut timers = Timers::default();
    let mut tasks = Vec::new();
    let mut groups: Vec<TaskGroup> = Vec::new();
    for task in &template.tasks {
        for _ in 0..task.instances {
            if let Some(name) = &task.group {
                join(&mut groups, name, tasks.len() as u32);
            }
            let name = format!("{}-{}", task.name, tasks.len());
            tasks.push(expand_thread(task, name, &mut timers));
        }
    }
    Ok(Workload {
        name: file.to_owned(),
        calibration: template.calibration,
        tasks,
        timers: timers.list,
        channels: Vec::new(),
        count: None,
        groups,
        duration_ns: template.duration_ns,
        unmodelled: template.unmodelled.clone(),
    })
}

/// A thread is in a group, which may be new.
fn join(groups: &mut Vec<TaskGroup>, name: &str, task: u32) {
    if let Some(group) = groups.iter_mut().find(|group| group.name == name) {
        return group.tasks.push(task);
    }
    groups.push(TaskGroup {
        name: name.to_owned(),
        shares: TaskGroup::DEFAULT_SHARES,
        tasks: vec![task],
    });
}

fn expand_thread(task: &Task, name: String, timers: &mut Timers) -> TaskScript {
    timers.own.clear();
    let mut phases = Vec::with_capacity(task.phases.len());
    for phase in &task.phases {
        let events = phase.steps.iter().map(|step| match step {
            Step::Event(event) => *event,
            Step::Timer {
                name: reference,
                mode,
                period_ns,
            } => {
                let timer = timers.index(reference, *mode, &name, task.delay_ns);
                Event::Timer {
                    timer,
                    period_ns: *period_ns,
                }
            }
        });
        phases.push(Phase {
            name: phase.name.clone(),
            loops: phase.loops,
            events: events.collect(),
            cpus: phase.cpus.as_ref().map(|cpus| cpus.list.clone()),
            nice: phase.nice,
        });
    }
    TaskScript {
        name,
        nice: task.nice,
        policy: task.policy,
        attributes: task.attributes,
        cpus: task.cpus.as_ref().map(|cpus| cpus.list.clone()),
        slice_ns: None,
        delay_ns: task.delay_ns,
        loops: task.loops,
        phases,
    }
}

/// The timers met so far: shared ones by name, and the present thread's own.
#[derive(Default)]
struct Timers {
    list: Vec<Timer>,
    shared: BTreeMap<String, u32>,
    own: BTreeMap<String, u32>,
}

impl Timers {
    /// The index of a timer; a name that begins with `unique` is one timer per thread.
    fn index(&mut self, reference: &str, mode: TimerMode, thread: &str, delay_ns: u64) -> u32 {
        let unique = reference.starts_with("unique");
        let known = if unique {
            &mut self.own
        } else {
            &mut self.shared
        };
        let index = match known.get(reference) {
            Some(&index) => index,
            None => {
                // At most one per event, and these are bounded far below 2^32.
                let index = self.list.len() as u32;
                known.insert(reference.to_owned(), index);
                let name = if unique {
                    format!("{thread}/{reference}")
                } else {
                    reference.to_owned()
                };
                self.list.push(Timer {
                    name,
                    mode: TimerMode::Relative,
                    start_delay_ns: if unique { delay_ns } else { 0 },
                });
                index
            }
        };
        if mode == TimerMode::Absolute {
            self.list[index as usize].mode = mode;
        }
        index
    }
}

fn check_cpus(template: &Template, nr_cpus: u32) -> Result<(), Fault> {
    let missing = |cpu: u32, at| {
        let last = nr_cpus.saturating_sub(1);
        Fault::unusable(at, format!("there is no CPU {cpu}")).expected(format!("CPUs 0 to {last}"))
    };
    if let Calibration::Cpu(cpu) = template.calibration
        && cpu >= nr_cpus
    {
        return Err(missing(cpu, template.calibration_at));
    }
    let check = |cpus: &Option<Cpus>| match cpus {
        Some(Cpus { list, highest_at }) => match list.last() {
            Some(&cpu) if cpu >= nr_cpus => Err(missing(cpu, *highest_at)),
            _ => Ok(()),
        },
        None => Ok(()),
    };
    for task in &template.tasks {
        check(&task.cpus)?;
        task.phases
            .iter()
            .try_for_each(|phase| check(&phase.cpus))?;
    }
    Ok(())
}
