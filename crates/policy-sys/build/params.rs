//! Reads `policy/include/wakeplace/params.def.h`, where each parameter is written once.
//!
//! The build script makes the Rust side of it (`rust.rs`), xtask the page docs/guide/parameters.md.
//!
//! What must stay: parameters in the order of the header; a row of another form is an error with
//! the row's words. Free: how a row is taken apart.
//!
//! Tests by part: xtask/src/params.rs: `a_row_has_what_the_header_says` (`parse`, `param`, `live`,
//! `choices`, `call`, `string`, `without_comments`), `what_is_of_another_form_is_refused` (`read`,
//! errors of `param` and `check`). `number` has no test of its own: a wrong default would not pass
//! the comparison with C (rust.rs, `same_in_c`).
//!
//! Callers: crates/policy-sys/build.rs (`read`), xtask/src/params.rs.

/// What values a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// `on` or `off`.
    Switch,
    /// An integer from..=to.
    Range(u32, u32),
    /// `auto` or an integer from..=to.
    Auto(u32, u32),
    /// The name of a C enum, and its constants with their names; the number is the position.
    Choice(String, Vec<(String, String)>),
}

/// What the live scheduler does with a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Live {
    /// It reads it.
    Reads,
    /// Only the simulator reads it.
    No,
    /// Its build has these forms only.
    Has(Vec<String>),
    /// It has this value, whatever the policy says.
    Sets(String),
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Param {
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) values: Values,
    pub(crate) live: Live,
    /// May it change while tasks run?
    pub(crate) anytime: bool,
    /// The value of eras that do not name it.
    pub(crate) initial: String,
    pub(crate) rule: String,
    pub(crate) doc: String,
}

impl Param {
    /// The number of a value by its name.
    pub(crate) fn number(&self, value: &str) -> Result<u32, String> {
        let none = || Err(format!("{}: no value `{value}`", self.name));
        let integer = |from: u32, to: u32| match value.parse() {
            Ok(number) if (from..=to).contains(&number) => Ok(number),
            _ => none(),
        };
        match &self.values {
            Values::Switch if value == "on" => Ok(1),
            Values::Switch if value == "off" => Ok(0),
            Values::Switch => none(),
            Values::Auto(..) if value == "auto" => Ok(u32::MAX),
            Values::Range(from, to) | Values::Auto(from, to) => integer(*from, *to),
            Values::Choice(_, list) => match list.iter().position(|(_, name)| name == value) {
                Some(at) => Ok(at as u32),
                None => none(),
            },
        }
    }

    /// Is every value that it names one of its own?
    fn check(self) -> Result<Self, String> {
        self.number(&self.initial)?;
        let live = match &self.live {
            Live::Has(values) => values.as_slice(),
            Live::Sets(value) => std::slice::from_ref(value),
            Live::Reads | Live::No => &[],
        };
        for value in live {
            self.number(value)?;
        }
        Ok(self)
    }
}

/// The header that names all others, below the folder of headers.
pub(crate) const TOP: &str = "wakeplace/params.def.h";

/// All parameters in their order; `text` gives a file below the folder of headers.
///
/// # Errors
/// A file that is not there, or what is not of the form that the header describes.
pub(crate) fn read(text: impl Fn(&str) -> Result<String, String>) -> Result<Vec<Param>, String> {
    let mut params = Vec::new();
    let top = text(TOP)?;
    let parts = top.lines().filter_map(|line| {
        let path = line.strip_prefix("#include \"")?;
        path.strip_suffix('"')
    });
    for part in parts {
        let of_file = parse(&text(part)?).map_err(|what| format!("{part}: {what}"))?;
        params.extend(of_file);
    }
    Ok(params)
}

/// The parameters of one file.
pub(crate) fn parse(text: &str) -> Result<Vec<Param>, String> {
    let mut rest = without_comments(text)?;
    let (mut group, mut params) = (String::new(), Vec::new());
    while let Some((name, args, after)) = call(&rest)? {
        match name.as_str() {
            "WP_GROUP" => group = string(args.first())?,
            _ => params.push(param(&group, &name, &args)?.check()?),
        }
        rest = after;
    }
    Ok(params)
}

fn param(group: &str, macro_name: &str, args: &[String]) -> Result<Param, String> {
    let name = args.first().cloned().unwrap_or_default();
    let lost = |what: &str| format!("{macro_name}({name}, ...): {what}");
    let number = |at: usize| {
        let found = args.get(at).and_then(|arg| arg.parse::<u32>().ok());
        found.ok_or_else(|| lost("expected an integer"))
    };
    let (values, own) = match macro_name {
        "WP_SWITCH" => (Values::Switch, 1),
        "WP_RANGE" => (Values::Range(number(1)?, number(2)?), 3),
        "WP_AUTO" => (Values::Auto(number(1)?, number(2)?), 3),
        "WP_CHOICE" => {
            let (Some(kind), Some(list)) = (args.get(1), args.last()) else {
                return Err(lost("no values"));
            };
            (Values::Choice(kind.clone(), choices(list)?), 2)
        }
        _ => return Err(lost("expected a parameter")),
    };
    let list = usize::from(macro_name == "WP_CHOICE");
    let [place, when, initial, rule, doc] = args.get(own..args.len() - list).unwrap_or_default()
    else {
        return Err(lost("expected where, when, initial, rule and doc"));
    };
    Ok(Param {
        group: group.to_owned(),
        values,
        live: live(place).map_err(|what| lost(&what))?,
        anytime: match when.as_str() {
            "ANYTIME" => true,
            "RUN" => false,
            _ => return Err(lost("expected RUN or ANYTIME")),
        },
        initial: string(Some(initial))?,
        rule: string(Some(rule))?,
        doc: string(Some(doc))?,
        name: name.clone(),
    })
}

fn live(text: &str) -> Result<Live, String> {
    match text {
        "BOTH" => return Ok(Live::Reads),
        "SIMULATOR" => return Ok(Live::No),
        _ => {}
    }
    let (name, args, _) = call(text)?.ok_or("expected where it is read")?;
    let values: Result<Vec<_>, _> = args.iter().map(|arg| string(Some(arg))).collect();
    match (name.as_str(), values?.as_slice()) {
        ("LIVE_HAS", values @ [_, ..]) => Ok(Live::Has(values.to_vec())),
        ("LIVE_SETS", [value]) => Ok(Live::Sets(value.clone())),
        _ => Err("expected BOTH, SIMULATOR, LIVE_HAS(...) or LIVE_SETS(...)".to_owned()),
    }
}

fn choices(text: &str) -> Result<Vec<(String, String)>, String> {
    let (mut rest, mut list) = (text.to_owned(), Vec::new());
    while let Some((_, args, after)) = call(&rest)? {
        let constant = args.first().cloned().unwrap_or_default();
        list.push((constant, string(args.get(1))?));
        rest = after;
    }
    Ok(list)
}

/// `NAME(ARGUMENT, ...)` at the start of a text, and what follows; `None` at its end.
fn call(text: &str) -> Result<Option<(String, Vec<String>, String)>, String> {
    let text = text.trim_start();
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = || format!("expected NAME(...): {}", &text[..text.len().min(40)]);
    let (name, rest) = text.split_once('(').ok_or_else(wrong)?;
    let (mut depth, mut quoted, mut args) = (0, false, vec![String::new()]);
    for (at, c) in rest.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted && depth == 0 => {
                let args = args.iter().map(|arg| arg.trim().to_owned()).collect();
                return Ok(Some((
                    name.trim().to_owned(),
                    args,
                    rest[at + 1..].to_owned(),
                )));
            }
            ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                args.push(String::new());
                continue;
            }
            _ => {}
        }
        args.last_mut().expect("there is one").push(c);
    }
    Err(wrong())
}

/// C strings behind one another as one text; none has an escape.
fn string(text: Option<&String>) -> Result<String, String> {
    let text = text.ok_or("expected a string")?;
    let pieces: Vec<&str> = text.split('"').collect();
    let (outside, inside): (Vec<_>, Vec<_>) =
        pieces.iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let blank = outside.iter().all(|(_, piece)| piece.trim().is_empty());
    if !blank || inside.is_empty() || text.contains('\\') {
        return Err(format!("expected a string without escapes: {text}"));
    }
    Ok(inside.into_iter().map(|(_, piece)| *piece).collect())
}

fn without_comments(text: &str) -> Result<String, String> {
    let lines = text.lines().filter(|line| !line.starts_with("//"));
    let text: Vec<&str> = lines.collect();
    let text = text.join("\n");
    let mut pieces = text.split("/*");
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (_, after) = piece.split_once("*/").ok_or("a comment without an end")?;
        kept += after;
    }
    Ok(kept)
}
