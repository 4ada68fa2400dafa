//! The root object and `resources`.
use super::event::Buffers;
use super::fields::{Fields, Notes, text};
use super::global::read_global;
use super::structure::Structure;
use super::task::read_task;
use crate::error::Fault;
use crate::json::{self, Document};

const ROOT_KEYS: [&str; 3] = ["tasks", "global", "resources"];

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
    let Document { root, duplicates } = json::parse(bytes)?;
    for duplicate in &duplicates {
        let (key, first) = (&duplicate.key, duplicate.first);
        let message = format!(
            "`{key}` stands here again (before at {first}); rt-app keeps the first place and the \
             last value, number the keys (`{key}0`, `{key}1`) to have both"
        );
        notes.warn(duplicate.again, message);
    }
    let root = Fields::of(&root, "the root")?;
    notes.near_misses(root.object.members.iter(), &ROOT_KEYS);
    let Some(tasks) = root.get("tasks") else {
        return Err(Fault::invalid(root.at, "`tasks` is missing").expected("an object of tasks"));
    };
    let tasks = Fields::of(&tasks.value, "tasks")?;
    let global = read_global(root, notes)?;
    read_resources(root)?;
    let mut structure = Structure {
        global,
        tasks: Vec::new(),
    };
    let mut buffers = Buffers::new();
    for member in &tasks.object.members {
        let task = read_task(member, structure.global.default_policy, &mut buffers, notes)?;
        structure.tasks.push(task);
    }
    Ok(structure)
}

fn read_resources(root: Fields<'_>) -> Result<(), Fault> {
    let Some(resources) = root.get("resources") else {
        return Ok(());
    };
    for member in &Fields::of(&resources.value, "resources")?.object.members {
        let resource = Fields::of(&member.value, &member.key)?;
        let Some(kind) = resource.get("type") else {
            let message = format!("resource `{}` has no `type`", member.key);
            return Err(Fault::invalid(resource.at, message).one_of("", &RESOURCE_TYPES));
        };
        let name = text(&kind.value, "type")?;
        if !RESOURCE_TYPES.contains(&name) {
            let message = format!("no resource has the type `{name}`");
            return Err(Fault::invalid(kind.value.at, message).one_of(name, &RESOURCE_TYPES));
        }
    }
    Ok(())
}
