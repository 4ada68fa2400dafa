//! All mutations of a file in one text: each place chooses by `wp_mutant` which of them is in
//! force, 0 being none. The program is built once for all (CONTRIBUTING.md, "Break it on purpose").
//!
//! What must stay: with 0 the program is as it was. Free: how it is done, and words that no test or
//! script reads. Tests by part: repo.rs::`every_justified_mutation_can_be_made` (`built_in`,
//! `mutation`, `around`, `instead`, `choices`, `side_by_side`, `apply`).
//!
//! Callers: mod.rs (`built_in`).
//!
//! Tests: xtask/src/mutants/points.rs,
//! xtask/tests/all/repo.rs::every_justified_mutation_can_be_made

use std::ops::Range;

use super::Mutation;
use super::code::Code;
use super::points::{Edit, Form, Point, points};

/// Goes before the file that includes all others. The C library is there: this build is a program.
pub(super) const CHOICE: &str = "\
extern char *getenv(const char *name);
extern int atoi(const char *text);
static unsigned int wp_mutant;
__attribute__((constructor)) static void wp_mutant_choose(void)
{
	const char *number = getenv(\"WAKEPLACE_MUTANT\");

	wp_mutant = number ? (unsigned int)atoi(number) : 0;
}
";

/// The text of a file with all of its mutations, and what they are. `first`: the number of the
/// first one.
pub(super) fn built_in(code: &Code, first: usize) -> (String, Vec<Mutation>) {
    let mut mutations = Vec::new();
    let mut edits = Vec::new();
    for function in &code.functions {
        for point in points(code, function) {
            let number = first + mutations.len();
            edits.extend(side_by_side(&point, number));
            for change in &point.changes {
                mutations.push(mutation(code, &function.name, &point, &change.edit));
            }
        }
    }
    (apply(&code.text, edits), mutations)
}

/// The lines that a change touches, on one line, as they are and as they would be.
fn mutation(code: &Code, function: &str, point: &Point, edit: &Edit) -> Mutation {
    let text = &code.text;
    let start = text[..edit.at.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[edit.at.end..].find('\n');
    let end = end.map_or(text.len(), |at| edit.at.end + at);
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let after = [
        &text[start..edit.at.start],
        &edit.text,
        &text[edit.at.end..end],
    ];
    Mutation {
        file: code.file.clone(),
        function: function.to_owned(),
        line: code.line(point.token),
        before: one_line(&text[start..end]),
        after: one_line(&after.concat()),
    }
}

/// A text that is put in at a place. Of several at one place those that end something come first,
/// the inner ones before the outer, then those that begin something, the outer ones first.
#[derive(Debug)]
struct Insertion {
    at: Range<usize>,
    text: String,
    order: (usize, u8, i64),
}

/// Text before and after a place; inner ones stay inside.
fn around(whole: &Range<usize>, rank: i64, before: String, after: String) -> Vec<Insertion> {
    let length = 4 * whole.len() as i64 + rank;
    vec![
        Insertion {
            at: whole.start..whole.start,
            text: before,
            order: (whole.start, 1, -length),
        },
        Insertion {
            at: whole.end..whole.end,
            text: after,
            order: (whole.end, 0, length),
        },
    ]
}

/// In the place of a text.
fn instead(at: &Range<usize>, text: String) -> Insertion {
    Insertion {
        at: at.clone(),
        text,
        order: (at.start, 2, 0),
    }
}

/// `wp_mutant == 7 ? FIRST : wp_mutant == 8 ? SECOND : `.
fn choices(point: &Point, number: usize) -> String {
    let each = point.changes.iter().zip(number..);
    each.map(|(change, number)| format!("wp_mutant == {number} ? ({}) : ", change.code))
        .collect()
}

/// What is put around a place so that it chooses while it runs.
fn side_by_side(point: &Point, number: usize) -> Vec<Insertion> {
    let choices = choices(point, number);
    match &point.form {
        Form::Binary {
            whole,
            operator,
            text,
        } => {
            let left = "({ __auto_type wp_l = (".to_owned();
            let right = format!("); {choices}wp_l {text} wp_r; }})");
            let mut all = around(whole, 0, left, right);
            all.push(instead(operator, "); __auto_type wp_r = (".to_owned()));
            all
        }
        Form::Value(at) => around(
            at,
            1,
            "({ __auto_type wp_v = (".to_owned(),
            format!("); {choices}wp_v; }})"),
        ),
        Form::Condition(at) => around(at, 2, format!("({choices}("), "))".to_owned()),
        Form::Statement(at) => around(
            at,
            3,
            format!("{{ if (wp_mutant != {number}) "),
            " }".to_owned(),
        ),
        Form::Operator(at, text) => vec![instead(at, format!(" += {choices}{text}"))],
    }
}

/// All insertions, in an order that nests them rightly.
fn apply(text: &str, mut edits: Vec<Insertion>) -> String {
    edits.sort_by_key(|edit| edit.order);
    let mut out = String::new();
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.at.start]);
        at = edit.at.end;
        out.push_str(&edit.text);
    }
    out.push_str(&text[at..]);
    out
}
