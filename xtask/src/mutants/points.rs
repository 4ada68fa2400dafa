//! Where a file can be broken, and how: each mutation is one small change of the kind that a slip
//! would make (CONTRIBUTING.md, "Break it on purpose").
//!
//! What must stay: each mutation compiles; a new kind of slip is one function here. Free: how it is
//! done, and words that no test or script reads. Tests by part: `operators_become_their_neighbours`
//! (`points`, `change`, `operators`, `binary`, `compound`), `conditions_lose_their_operands`
//! (`operands`, `negation`, `is_compared`, `condition`), `statements_go_and_declarations_stay`
//! (`statement`, `returned`, `says_nothing`, `passed_over`),
//! `constants_grow_or_vanish_but_not_in_labels` (`number`, `passed_over`); `changed` is the tests'
//! own.
//!
//! Callers: schemata.rs (`points`).
//!
//! Tests: below

use std::ops::Range;

use super::code::{Code, Function, Kind};

/// A change of the text.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) at: Range<usize>,
    pub(super) text: String,
}

/// One change that could be made.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) edit: Edit,
    /// What stands for it in the generated file, beside the others of its point.
    pub(super) code: String,
}

/// How the changes of a point are built in side by side.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// Two operands around an operator: each change is an expression of `wp_l` and `wp_r`.
    Binary {
        whole: Range<usize>,
        operator: Range<usize>,
        text: String,
    },
    /// A value: each change is an expression, of `wp_v` if it needs the value.
    Value(Range<usize>),
    /// A condition; each change is an expression.
    Condition(Range<usize>),
    /// A statement that one change leaves out.
    Statement(Range<usize>),
    /// An operator that is replaced, by the expression of the change or by the text at last.
    Operator(Range<usize>, String),
}

/// A place, and what can be done to it.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) token: usize,
    pub(super) form: Form,
    pub(super) changes: Vec<Change>,
}

/// All points of a function, in the order of the text.
pub(super) fn points(code: &Code, function: &Function) -> Vec<Point> {
    let mut found = Vec::new();
    let mut i = function.body.start;
    while i < function.body.end {
        i = match passed_over(code, i) {
            Some(next) => next,
            None => {
                found.extend(statement(code, i));
                found.extend(condition(code, i));
                found.extend(returned(code, function, i));
                found.extend(operators(code, function, i));
                i + 1
            }
        };
    }
    found
}

/// What is no code that runs: the label of a case, a size, a table.
fn passed_over(code: &Code, i: usize) -> Option<usize> {
    let next = |what: &str| (i..).find(|i| code.word(*i) == what);
    match code.word(i) {
        "case" => next(":"),
        "sizeof" | "__typeof__" => Some(code.pair(i + 1) + 1),
        "static" => next(";"),
        _ => None,
    }
}

/// As text of the program, and as it is shown.
fn change(at: Range<usize>, text: &str, code: &str) -> Change {
    Change {
        edit: Edit {
            at,
            text: text.to_owned(),
        },
        code: code.to_owned(),
    }
}

/// By the token's kind.
fn operators(code: &Code, function: &Function, i: usize) -> Vec<Point> {
    match (code.word(i), code.tokens[i].kind) {
        (_, Kind::Number) => number(code, function, i).into_iter().collect(),
        ("!", _) => negation(code, i).into_iter().collect(),
        ("&&" | "||", _) => operands(code, i),
        ("+=" | "-=", _) => compound(code, i).into_iter().collect(),
        _ => binary(code, i).into_iter().collect(),
    }
}

/// `<` becomes `<=` or its opposite; `+` becomes `-`. None: another operator.
fn binary(code: &Code, i: usize) -> Option<Point> {
    let others: &[&str] = match code.word(i) {
        "<" => &["<=", ">="],
        "<=" => &["<", ">"],
        ">" => &[">=", "<="],
        ">=" => &[">", "<"],
        "==" => &["!="],
        "!=" => &["=="],
        "+" => &["-"],
        "-" => &["+"],
        _ => return None,
    };
    let strength = code.binding(i)?;
    let whole = code.span(&(code.left(i, strength)..code.right(i, strength)));
    let operator = code.tokens[i].at.clone();
    let changes = others
        .iter()
        .map(|other| change(operator.clone(), other, &format!("wp_l {other} wp_r")));
    Some(Point {
        token: i,
        changes: changes.collect(),
        form: Form::Binary {
            whole,
            operator,
            text: code.word(i).to_owned(),
        },
    })
}

/// `+=` becomes `-=`. None: another operator.
fn compound(code: &Code, i: usize) -> Option<Point> {
    let end = (i..).find(|i| code.word(*i) == ";")?;
    let value = code.span(&(i + 1..end));
    let other = if code.word(i) == "+=" { "-=" } else { "+=" };
    Some(Point {
        token: i,
        changes: vec![change(
            code.tokens[i].at.clone(),
            other,
            "0 - (u64)wp_v", // of the size of the sum once it is added
        )],
        form: Form::Value(value),
    })
}

/// A function that returns one number always, as functions of BPF have to return some.
fn says_nothing(code: &Code, function: &Function) -> bool {
    let body = function.body.clone();
    let mut returns = body.filter(|i| code.word(*i) == "return");
    let first = returns.next().map(|i| code.word(i + 1));
    let same = |i: usize| Some(code.word(i + 1)) == first && code.word(i + 2) == ";";
    returns.all(same)
}

/// From here on nobody miscounts by one: such a constant is doubled instead.
const LARGE: u64 = 4096;

/// A constant becomes one more, or 0.
fn number(code: &Code, function: &Function, i: usize) -> Option<Point> {
    if code.before(i) == "return" && says_nothing(code, function) {
        return None;
    }
    let at = code.tokens[i].at.clone();
    let text = code.word(i);
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = &text[digits.len()..];
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let value = value.ok()?;
    let more = if value < LARGE {
        value + 1
    } else {
        value.wrapping_mul(2)
    };
    let mut others = vec![format!("{more}{suffix}")];
    if value == 1 && code.before(i) == "return" && function.returns_int {
        others.clear(); // yes, by another number
    }
    if value > 0 {
        others.push(format!("0{suffix}"));
    }
    let changes = others.iter().map(|other| change(at.clone(), other, other));
    Some(Point {
        token: i,
        changes: changes.collect(),
        form: Form::Condition(at),
    })
}

/// `!a` becomes `a`.
fn negation(code: &Code, i: usize) -> Option<Point> {
    if code.before(i) == "!" || code.word(i + 1) == "!" {
        return None; // a value made a truth value
    }
    let end = code.right(i, 11); // stronger than any with two operands
    let whole = code.span(&(i..end));
    Some(Point {
        token: i,
        changes: vec![change(code.tokens[i].at.clone(), "", "!wp_v")],
        form: Form::Value(whole),
    })
}

/// Each operand of a chain of `&&` or `||` is left out.
fn operands(code: &Code, i: usize) -> Vec<Point> {
    let Some(strength) = code.binding(i) else {
        return Vec::new();
    };
    let neutral = if code.word(i) == "&&" { "1" } else { "0" };
    let left = code.left(i, strength)..i;
    let right = i + 1..code.right(i, strength);
    let depth = code.within(i);
    let chained = left
        .clone()
        .any(|at| code.within(at) == depth && code.word(at) == code.word(i));
    let all = [Some(right), Some(left).filter(|_| !chained)];
    let all = all.into_iter().flatten().map(|operand| {
        let at = code.span(&operand);
        Point {
            token: operand.start,
            changes: vec![change(at.clone(), neutral, neutral)],
            form: Form::Condition(at),
        }
    });
    all.collect()
}

/// Is it a truth value that other changes turn over already?
fn is_compared(code: &Code, tokens: &Range<usize>) -> bool {
    let depth = code.within(tokens.start);
    let own = |i: &usize| code.within(*i) == depth;
    code.word(tokens.start) == "!"
        || tokens
            .clone()
            .filter(own)
            .any(|i| matches!(code.binding(i), Some(1 | 2 | 6 | 7)))
}

/// `if (a)` and `a ? b : c`: always, or never.
fn condition(code: &Code, i: usize) -> Option<Point> {
    let tokens = match code.word(i) {
        "if" => i + 2..code.pair(i + 1),
        "?" => code.left(i, 0)..i,
        _ => return None,
    };
    if is_compared(code, &tokens) {
        return None;
    }
    let at = code.span(&tokens);
    Some(Point {
        token: tokens.start,
        changes: vec![change(at.clone(), "1", "1"), change(at.clone(), "0", "0")],
        form: Form::Condition(at),
    })
}

/// `return a` in a function that says yes or no.
fn returned(code: &Code, function: &Function, i: usize) -> Option<Point> {
    if code.word(i) != "return" || !function.returns_int {
        return None;
    }
    let end = (i..function.body.end).find(|i| code.word(*i) == ";")?;
    let tokens = i + 1..end;
    let single = tokens.len() == 1 && code.tokens[i + 1].kind == Kind::Number;
    let constant = tokens.len() == 1 && code.word(i + 1).starts_with("WP_");
    if tokens.is_empty() || single || constant || is_compared(code, &tokens) {
        return None;
    }
    let at = code.span(&tokens);
    let text = format!("!({})", &code.text[at.clone()]);
    Some(Point {
        token: i,
        changes: vec![change(at.clone(), &text, "!wp_v")],
        form: Form::Value(at),
    })
}

const KEYWORDS: [&str; 8] = [
    "return",
    "if",
    "for",
    "while",
    "switch",
    "do",
    "WP_FOR",
    "WP_BARRIER",
];

/// A call or an assignment is left out; `++` becomes `--`.
fn statement(code: &Code, i: usize) -> Vec<Point> {
    if !code.begins_statement(i) || KEYWORDS.contains(&code.word(i)) {
        return Vec::new();
    }
    let start = if code.is_cast(i) { code.pair(i) + 1 } else { i };
    let Some(after) = code.postfix(start) else {
        return Vec::new();
    };
    let assigns = matches!(
        code.word(after),
        "=" | "+=" | "-=" | "*=" | "/=" | "|=" | "&=" | "^=" | "<<=" | ">>=" | "++" | "--"
    );
    let calls = code.word(after) == ";" && code.before(after) == ")";
    let Some(end) = (after..).find(|i| code.word(*i) == ";") else {
        return Vec::new();
    };
    if !assigns && !calls {
        return Vec::new();
    }
    let at = code.span(&(i..end + 1));
    let removed = Point {
        token: i,
        changes: vec![change(at.clone(), ";", "")],
        form: Form::Statement(at),
    };
    let step = match code.word(after) {
        "++" => ("--", "-1", "1"),
        "--" => ("++", "1", "-1"),
        _ => return vec![removed],
    };
    let at = code.tokens[after].at.clone();
    let turned = Point {
        token: after,
        changes: vec![change(at.clone(), step.0, step.1)],
        form: Form::Operator(at, step.2.to_owned()),
    };
    vec![removed, turned]
}

#[cfg(test)]
mod tests {
    use super::points;
    use crate::mutants::code::Code;

    /// What each change makes of the text, in order.
    fn changed(body: &str) -> Vec<String> {
        let text = format!("int f(struct s *a, u32 b)\n{{\n{body}\n}}\n");
        let code = Code::read("x.c", &text).unwrap();
        let all = points(&code, &code.functions[0]);
        let changes = all.iter().flat_map(|point| &point.changes);
        let texts = changes.map(|change| {
            let mut new = text.clone();
            new.replace_range(change.edit.at.clone(), &change.edit.text);
            let new = &new[text.find(body).unwrap()..new.len() - 3];
            new.to_owned()
        });
        texts.collect()
    }

    #[test]
    fn operators_become_their_neighbours() {
        assert_eq!(
            changed("if (b < a->c) ;"),
            ["if (b <= a->c) ;", "if (b >= a->c) ;"]
        );
        assert_eq!(
            changed("return b - -b;")[..2],
            ["return !(b - -b);", "return b + -b;"]
        );
        assert_eq!(changed("g(!b);")[1..], ["g(b);"]);
    }

    #[test]
    fn conditions_lose_their_operands() {
        let found = changed("if (b && (a->c || !b)) ;");
        for one in [
            "if (1 && (a->c || !b)) ;",
            "if (b && 1) ;",
            "if (b && (0 || !b)) ;",
            "if (b && (a->c || 0)) ;",
            "if (b && (a->c || b)) ;",
        ] {
            assert!(found.contains(&one.to_owned()), "{one}: {found:?}");
        }
        assert_eq!(found.len(), 5);
        assert_eq!(changed("if (b) ;"), ["if (1) ;", "if (0) ;"]);
    }

    #[test]
    fn statements_go_and_declarations_stay() {
        assert_eq!(changed("u32 d = b; a->c = b;"), ["u32 d = b; ;"]);
        assert_eq!(
            changed("if (b) g(b); else b++;")[2..],
            [
                "if (b) ; else b++;",
                "if (b) g(b); else ;",
                "if (b) g(b); else b--;",
            ]
        );
        let choice = changed("return b ? b : g(b);");
        assert!(
            !choice.contains(&"return b ? b : ;".to_owned()),
            "{choice:?}"
        );
    }

    #[test]
    fn constants_grow_or_vanish_but_not_in_labels() {
        assert_eq!(
            changed("case 3: b += 2u;")[1..],
            ["case 3: b -= 2u;", "case 3: b += 3u;", "case 3: b += 0u;",]
        );
        assert_eq!(changed("g(5000u);")[1..], ["g(10000u);", "g(0u);"]);
        let both = changed("if (b) return 1; return 0;");
        assert_eq!(
            both[2..],
            ["if (b) return 0; return 0;", "if (b) return 1; return 1;"]
        );
        assert_eq!(
            changed("g(b); return 0;"),
            ["; return 0;"],
            "it says nothing"
        );
    }
}
