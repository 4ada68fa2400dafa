//! As much of YAML 1.2 as LISA's `plat_info` files use: block and flow collections, scalars, tags
//! (left out), comments, block scalars. Anchors and several documents are refused.

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Yaml {
    Scalar(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
    Nothing,
}

impl Yaml {
    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Yaml> {
        match self {
            Self::Map(entries) => entries.iter().find(|(own, _)| own == key).map(|(_, v)| v),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Scalar(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<u64> {
        let text = self.text()?;
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse().ok()).flatten()
    }

    pub(super) fn list(&self) -> Option<&[Yaml]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }
}

/// What is wrong, and in which line (from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct YamlError {
    pub(super) line: usize,
    pub(super) problem: &'static str,
}

/// Deepest nesting.
const MAX_DEPTH: usize = 32;

/// A line without its comment; empty ones are left out.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    number: usize,
    indent: usize,
    text: &'a str,
}

/// Reads a document.
pub(super) fn read(text: &str) -> Result<Yaml, YamlError> {
    let mut parser = Parser {
        lines: text.lines().collect(),
        next: 0,
        pending: None,
    };
    if parser.peek()?.is_some_and(|line| line.text == "---") {
        parser.next += 1;
    }
    let value = match parser.peek()? {
        Some(line) => parser.block(line.indent, 0)?,
        None => Yaml::Nothing,
    };
    match parser.peek()? {
        Some(line) => Err(line.wrong("a line that belongs to nothing before it")),
        None => Ok(value),
    }
}

impl Line<'_> {
    fn wrong(&self, problem: &'static str) -> YamlError {
        YamlError {
            line: self.number,
            problem,
        }
    }
}

struct Parser<'a> {
    lines: Vec<&'a str>,
    next: usize,
    /// What is left of a line of which `- ` was taken, at its column.
    pending: Option<Line<'a>>,
}

impl<'a> Parser<'a> {
    /// The next line with content.
    fn peek(&mut self) -> Result<Option<Line<'a>>, YamlError> {
        if self.pending.is_some() {
            return Ok(self.pending);
        }
        while let Some(raw) = self.lines.get(self.next) {
            let number = self.next + 1;
            let text = without_comment(raw).trim_end();
            let indent = text.len() - text.trim_start_matches(' ').len();
            let text = &text[indent..];
            if text.starts_with('\t') {
                return Err(YamlError {
                    line: number,
                    problem: "a tab at the beginning",
                });
            }
            if !text.is_empty() {
                return Ok(Some(Line {
                    number,
                    indent,
                    text,
                }));
            }
            self.next += 1;
        }
        Ok(None)
    }

    fn take(&mut self) {
        self.pending = None;
        self.next += 1;
    }

    /// The collection or scalar whose lines begin at this column.
    fn block(&mut self, indent: usize, depth: usize) -> Result<Yaml, YamlError> {
        let Some(line) = self.peek()? else {
            return Ok(Yaml::Nothing);
        };
        if depth > MAX_DEPTH {
            return Err(line.wrong("too many levels"));
        }
        if line.text == "-" || line.text.starts_with("- ") {
            return self.sequence(indent, depth);
        }
        if split_key(line.text).is_some() {
            return self.mapping(indent, depth);
        }
        self.take();
        self.value(line, line.text, indent, depth)
    }

    fn sequence(&mut self, indent: usize, depth: usize) -> Result<Yaml, YamlError> {
        let mut items = Vec::new();
        while let Some(line) = self.peek()? {
            let is_item = line.text == "-" || line.text.starts_with("- ");
            if line.indent != indent || !is_item {
                break;
            }
            let rest = line.text[1..].trim_start();
            if rest.is_empty() {
                self.take();
                items.push(self.below(indent, depth)?);
                continue;
            }
            // What follows stands at its own column, as a block of its own.
            let column = indent + line.text.len() - rest.len();
            self.pending = Some(Line {
                number: line.number,
                indent: column,
                text: rest,
            });
            items.push(self.block(column, depth + 1)?);
        }
        Ok(Yaml::List(items))
    }

    fn mapping(&mut self, indent: usize, depth: usize) -> Result<Yaml, YamlError> {
        let mut entries: Vec<(String, Yaml)> = Vec::new();
        while let Some(line) = self.peek()? {
            if line.indent != indent {
                break;
            }
            let Some((key, rest)) = split_key(line.text) else {
                return Err(line.wrong("no `key: value`"));
            };
            let key = unquoted(key).to_owned();
            self.take();
            let rest = untagged(rest);
            let value = match rest {
                "" => self.below_key(indent, depth)?,
                _ => self.value(line, rest, indent, depth)?,
            };
            entries.push((key, value));
        }
        match self.peek()? {
            Some(line) if line.indent > indent => Err(line.wrong("a line too far to the right")),
            _ => Ok(Yaml::Map(entries)),
        }
    }

    /// What stands below a line, farther to the right.
    fn below(&mut self, indent: usize, depth: usize) -> Result<Yaml, YamlError> {
        match self.peek()? {
            Some(line) if line.indent > indent => self.block(line.indent, depth + 1),
            _ => Ok(Yaml::Nothing),
        }
    }

    /// The same below a key, where a list may stand in the key's own column.
    fn below_key(&mut self, indent: usize, depth: usize) -> Result<Yaml, YamlError> {
        match self.peek()? {
            Some(line)
                if line.indent == indent && (line.text == "-" || line.text.starts_with("- ")) =>
            {
                self.sequence(indent, depth + 1)
            }
            _ => self.below(indent, depth),
        }
    }

    /// A value that begins in a line: a block scalar, a flow collection (over several lines), text.
    fn value(
        &mut self,
        line: Line<'a>,
        text: &'a str,
        indent: usize,
        depth: usize,
    ) -> Result<Yaml, YamlError> {
        match text.as_bytes().first() {
            Some(b'|' | b'>') => Ok(Yaml::Scalar(self.literal(indent))),
            Some(b'[' | b'{') => {
                let mut whole = text.to_owned();
                let mut brackets = Brackets::default();
                brackets.pass(text);
                while brackets.open > 0 {
                    let Some(next) = self.peek()? else {
                        return Err(line.wrong("a list or map without an end"));
                    };
                    whole.push(' ');
                    whole.push_str(next.text);
                    brackets.pass(next.text);
                    self.take();
                }
                let wrong = |problem| line.wrong(problem);
                let mut flow = Flow { rest: &whole };
                let value = flow.value(depth).map_err(wrong)?;
                match flow.rest.trim().is_empty() {
                    true => Ok(value),
                    false => Err(wrong("text behind a list or map")),
                }
            }
            Some(b'&' | b'*') => Err(line.wrong("an anchor, which is not read")),
            _ => Ok(Yaml::Scalar(unquoted(text).to_owned())),
        }
    }

    /// The lines of a block scalar: all that stand farther right than its key.
    fn literal(&mut self, indent: usize) -> String {
        let mut text = String::new();
        while let Some(raw) = self.lines.get(self.next) {
            let content = raw.trim_start_matches(' ');
            if !content.trim().is_empty() && raw.len() - content.len() <= indent {
                break;
            }
            text.push_str(content);
            text.push('\n');
            self.next += 1;
        }
        text
    }
}

/// A flow collection.
struct Flow<'a> {
    rest: &'a str,
}

impl Flow<'_> {
    fn value(&mut self, depth: usize) -> Result<Yaml, &'static str> {
        if depth > MAX_DEPTH {
            return Err("too many levels");
        }
        self.rest = untagged(self.rest.trim_start());
        match self.rest.as_bytes().first() {
            Some(b'[') => self.items(b']', depth),
            Some(b'{') => self.items(b'}', depth),
            _ => Ok(Yaml::Scalar(self.scalar())),
        }
    }

    fn scalar(&mut self) -> String {
        let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let end = match quote {
            Some(quote) => self.rest[1..]
                .find(quote)
                .map_or(self.rest.len(), |at| at + 2),
            None => {
                let ends = |(at, c): (usize, char)| {
                    let stop = matches!(c, ',' | ']' | '}' | '[' | '{');
                    let key =
                        c == ':' && !self.rest[at + 1..].starts_with(|c: char| !c.is_whitespace());
                    (stop || key).then_some(at)
                };
                let found = self.rest.char_indices().find_map(ends);
                found.unwrap_or(self.rest.len())
            }
        };
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        unquoted(text.trim()).to_owned()
    }

    fn items(&mut self, close: u8, depth: usize) -> Result<Yaml, &'static str> {
        self.rest = &self.rest[1..];
        let (mut list, mut map) = (Vec::new(), Vec::new());
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.as_bytes().first() {
                Some(byte) if *byte == close => {
                    self.rest = &self.rest[1..];
                    break;
                }
                Some(b',') => self.rest = &self.rest[1..],
                Some(b']' | b'}') | None => return Err("a list or map with another end"),
                Some(_) => {
                    let before = self.rest.len();
                    let value = self.value(depth + 1)?;
                    if self.rest.len() == before {
                        return Err("a `:` where an entry of a list or map is expected");
                    }
                    self.rest = self.rest.trim_start();
                    if close == b'}' {
                        let Some(rest) = self.rest.strip_prefix(':') else {
                            return Err("a map with an entry that is no `key: value`");
                        };
                        self.rest = rest;
                        let Yaml::Scalar(key) = value else {
                            return Err("a map whose key is no text");
                        };
                        map.push((key, self.value(depth + 1)?));
                    } else {
                        list.push(value);
                    }
                }
            }
        }
        Ok(if close == b'}' {
            Yaml::Map(map)
        } else {
            Yaml::List(list)
        })
    }
}

/// Brackets outside quotes that are open.
#[derive(Default)]
struct Brackets {
    open: i64,
    quote: Option<char>,
}

impl Brackets {
    fn pass(&mut self, text: &str) {
        for c in text.chars() {
            match (self.quote, c) {
                (Some(quote), c) if quote == c => self.quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => self.quote = Some(c),
                (None, '[' | '{') => self.open += 1,
                (None, ']' | '}') => self.open -= 1,
                _ => {}
            }
        }
    }
}

/// `key` and what follows the colon.
fn split_key(text: &str) -> Option<(&str, &str)> {
    let quoted = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let from = match quoted {
        Some(quote) => text[1..].find(quote)? + 2,
        None if text.starts_with(['[', '{']) => return None,
        None => 0,
    };
    let ends = |(at, _): &(usize, &str)| {
        let after = &text[from + at + 1..];
        after.is_empty() || after.starts_with(' ')
    };
    let (at, _) = text[from..].match_indices(':').find(ends)?;
    Some((text[..from + at].trim(), text[from + at + 1..].trim_start()))
}

/// Without a tag such as `!call:name`.
fn untagged(text: &str) -> &str {
    match text.strip_prefix('!') {
        Some(tag) => tag
            .split_once(' ')
            .map_or("", |(_, rest)| rest.trim_start()),
        None => text,
    }
}

fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = text
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    text
}

/// A comment begins at a `#` at the front or behind a blank, outside quotes.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if before.is_whitespace() || before == '[' => quote = Some(c),
            (None, '#') if before.is_whitespace() => return &line[..at],
            _ => {}
        }
        before = c;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms that occur in LISA's own files (doc/traces/plat_info.yml and the tests' one).
    #[test]
    fn the_forms_of_plat_info() {
        let text = concat!(
            "# a comment\n",
            "platform-info:\n",
            "    conf:\n",
            "        abi: arm64 # behind\n",
            "        cpu-capacities:\n",
            "            writeable: false\n",
            "            orig:\n",
            "                0: 446\n",
            "        freq-domains:\n",
            "        -   - 0\n",
            "            - 3\n",
            "        - [1, 2]\n",
            "        freqs: {0: [1, 2], big: [\n",
            "                3,\n",
            "                4\n",
            "            ]}\n",
            "        kernel:\n",
            "            config: !call:devlib.target.TypedKernelConfig.from_str\n",
            "                text: |\n",
            "                    CONFIG_HZ=250\n",
            "                    # no comment\n",
            "        name: 'juno-r0'\n",
        );
        let read = read(text).expect("YAML");
        let conf = read
            .get("platform-info")
            .and_then(|info| info.get("conf"))
            .expect("conf");
        assert_eq!(conf.get("abi").and_then(Yaml::text), Some("arm64"));
        assert_eq!(conf.get("name").and_then(Yaml::text), Some("juno-r0"));
        let orig = conf.get("cpu-capacities").and_then(|c| c.get("orig"));
        assert_eq!(
            orig.and_then(|o| o.get("0")).and_then(Yaml::number),
            Some(446)
        );
        let numbers = |list: &Yaml| -> Vec<u64> {
            list.list()
                .unwrap_or_default()
                .iter()
                .filter_map(Yaml::number)
                .collect()
        };
        let domains = conf
            .get("freq-domains")
            .and_then(Yaml::list)
            .expect("a list");
        assert_eq!(
            domains.iter().map(numbers).collect::<Vec<_>>(),
            [[0, 3], [1, 2]]
        );
        let big = conf.get("freqs").and_then(|f| f.get("big")).expect("big");
        assert_eq!(numbers(big), [3, 4]);
        let config = conf.get("kernel").and_then(|k| k.get("config"));
        let text = config.and_then(|c| c.get("text")).and_then(Yaml::text);
        assert_eq!(text, Some("CONFIG_HZ=250\n# no comment\n"));
    }

    #[test]
    fn what_is_no_yaml_is_refused_with_its_line() {
        for (text, line) in [
            ("a: 1\n  b: 2", 2),
            ("a: [1, 2", 1),
            ("a: &x 1", 1),
            ("a: {1]}", 1),
            ("a: [: ]", 1),
            ("a: [b: c]", 1),
            ("a: {: c}", 1),
            ("\ta: 1", 1),
            ("a: 1\nb", 2),
        ] {
            assert_eq!(
                read(text).map_err(|error| error.line),
                Err(line),
                "{text:?}"
            );
        }
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(read(&format!("a: {deep}")).is_err());
        let deep: String = (0..2000)
            .map(|at| format!("{}a:\n", " ".repeat(at)))
            .collect();
        assert!(read(&deep).is_err());
    }
}
