//! The root object and `resources` (docs/rules/rt-app.md#rt-app-root).
//!
//! Called by `check.rs` and `template.rs`. Order in which faults are found is rt-app's, as the
//! first one is told.
//!
//! What must stay: `global` is read before `resources` and these before tasks, as the first fault
//! ends the reading; resources are numbered in the order of the file. Free: what leaves scripts as
//! they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test
//! quotes. Tests by part: `every_file_is_read_as_rtapp_reads_it` (`read`, `read_resources`),
//! `the_dialect_workgen` (`warn_of_dialect`),
//! rtapp_keys.rs::`a_key_beside_the_tasks_that_nothing_reads_is_named` (keys of the file).
//!
//! Tests: crates/workload/tests/all/corpus.rs, crates/workload/tests/all/rtapp_events.rs,
//! crates/workload/tests/all/rtapp_keys.rs
use super::event::{Buffers, event_word};
use super::fields::{Fields, text};
use super::global::read_global;
use super::keys::{Place, warn_of_unknown};
use super::notes::Notes;
use super::structure::{Resource, Structure};
use super::task::read_task;
use crate::deadline;
use crate::error::Fault;
use crate::json::{self, Document, Extensions};
use crate::limits;

/// Types of legacy resources (rt-app 55cb0c0 src/rt-app_parse_config.c, `parse_resources`).
const RESOURCE_TYPES: [&str; 8] = [
    "mutex",
    "signal",
    "wait",
    "broadcast",
    "sync",
    "sleep",
    "run",
    "timer",
];

/// Reads a text as rt-app does.
pub(super) fn read(bytes: &[u8], notes: &mut Notes) -> Result<Structure, Fault> {
    let workgen = notes.dialect.workgen;
    let extensions = Extensions {
        keep_duplicates: workgen,
        valueless: workgen.then_some("suspend"),
    };
    let document = json::parse(bytes, extensions)?;
    warn_of_dialect(&document, notes);
    let root = document.root;
    let root = Fields::of(&root, "the root")?;
    warn_of_unknown(root.object, Place::Root, notes);
    let Some(tasks) = root.get("tasks") else {
        return Err(Fault::invalid(root.at, "`tasks` is missing").expected("an object of tasks"));
    };
    let tasks = Fields::of(&tasks.value, "tasks")?;
    let global = read_global(root, notes)?;
    let resources = read_resources(root)?;
    let deadlines = root.get(deadline::KEY);
    let deadlines = deadlines.map(|member| deadline::declared(&member.value, deadline::KEY));
    let deadlines = deadlines.transpose()?.unwrap_or_default();
    let groups = root.get(limits::KEY);
    let groups = groups.map(|member| limits::declared(&member.value));
    let groups = groups.transpose()?.unwrap_or_default();
    let mut structure = Structure {
        global,
        resources,
        deadlines,
        groups,
        tasks: Vec::new(),
    };
    let mut buffers = Buffers::new();
    for member in tasks.object.collapsed() {
        let task = read_task(member, structure.global.default_policy, &mut buffers, notes)?;
        structure.tasks.push(task);
    }
    Ok(structure)
}

/// What other dialects than the one in force would make of equal keys and missing values.
fn warn_of_dialect(document: &Document, notes: &mut Notes) {
    let workgen = notes.dialect.workgen;
    for duplicate in &document.duplicates {
        let (key, first) = (&duplicate.key, duplicate.first);
        let is_event = event_word(key).is_some();
        let other = match (is_event, workgen) {
            (true, true) => {
                "both are kept (`workgen`); rt-app keeps the first place and the last value"
            }
            (true, false) => {
                "rt-app keeps the first place and the last value; `--rtapp-dialect workgen` keeps \
                 both"
            }
            (false, _) => "rt-app keeps the first place and the last value",
        };
        let sort = if is_event {
            "equal events"
        } else {
            "equal keys"
        };
        notes.warn_alike(duplicate.again, sort, || {
            format!("`{key}` stands here again (before at {first}); {other}")
        });
    }
    for at in &document.valueless {
        let message = "a key without a value (`workgen`); rt-app refuses the file";
        notes.warn(*at, message);
    }
}

/// The object `resources`, which older files have.
fn read_resources(root: Fields<'_>) -> Result<Vec<Resource>, Fault> {
    let Some(resources) = root.get("resources") else {
        return Ok(Vec::new());
    };
    let mut list = Vec::new();
    for member in Fields::of(&resources.value, "resources")?
        .object
        .collapsed()
    {
        let resource = Fields::of(&member.value, &member.key)?;
        let Some(kind) = resource.get("type") else {
            let message = format!("resource `{}` has no `type`", member.key);
            return Err(Fault::invalid(resource.at, message).one_of("", &RESOURCE_TYPES));
        };
        let name = text(&kind.value, "type")?;
        let Some(kind) = RESOURCE_TYPES.into_iter().find(|known| *known == name) else {
            let message = format!("no resource has the type `{name}`");
            return Err(Fault::invalid(kind.value.at, message).one_of(name, &RESOURCE_TYPES));
        };
        list.push(Resource {
            name: member.key.clone(),
            kind,
        });
    }
    Ok(list)
}
