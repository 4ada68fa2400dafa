//! The dialect, construct by construct (json-c 0.16, json_tokener.c, non-strict).
//! Rule: docs/rules/rt-app.md, "JSON dialect (json-c, not strict)".
//!
//! What must stay: json-c's answers are what is right, also where they are odd; bounds (32 levels,
//! number of values) stay.
//! Tests by part (in crates/workload/src): json/reader.rs: `numbers_are_decimal_and_saturate`
//! (`number`), `floats_are_told_from_integers` (`number_kind`, `number_ends`),
//! `words_take_either_case_and_strings_either_quote` (`word`, `null_or_nan`),
//! `comments_and_trailing_commas` (`array`, `object`),
//! `duplicate_keys_keep_the_first_place_and_the_last_value` (`insert`),
//! `the_number_of_values_is_bounded` (`value`); json/text.rs:
//! `words_take_either_case_and_strings_either_quote` (`take_word`, `take_string`, `take_escape`),
//! `comments_and_trailing_commas` (`skip_blanks`, `skip_comment`),
//! `places_count_characters_from_one` (`take`, `fault`); json/mod.rs:
//! `duplicate_keys_keep_the_first_place_and_the_last_value` (`collapsed`, `get`); json/reader.rs:
//! `depth_ends_at_32_levels`.
//! Helpers, and who fails with them: `strict` (all tests); `read`
//! (`numbers_are_decimal_and_saturate`, `floats_are_told_from_integers`,
//! `words_take_either_case_and_strings_either_quote`, `comments_and_trailing_commas`).
use super::*;

/// Strictly, as json-c reads it.
fn strict(bytes: &[u8]) -> Result<Document, Fault> {
    parse(bytes, Extensions::default())
}

fn read(text: &str) -> Result<Kind, String> {
    match strict(format!("[{text}]").as_bytes()) {
        Ok(Document {
            root:
                Value {
                    kind: Kind::Array(mut values),
                    ..
                },
            ..
        }) => Ok(values.remove(0).kind),
        Ok(other) => Err(format!("{other:?}")),
        Err(fault) => Err(fault.to_string()),
    }
}

#[test]
fn numbers_are_decimal_and_saturate() {
    for (text, value) in [
        ("010", 10),
        ("-007", -7),
        ("-0", 0),
        ("99999999999", i32::MAX),
        ("-99999999999999999999999999", i32::MIN),
        ("2147483648", i32::MAX),
        ("7/* seven */", 7),
    ] {
        assert_eq!(read(text), Ok(Kind::Int(value)), "{text}");
    }
    for text in [
        "0x10", "+5", "5-", "-", "--5", "1_000", ".5", "1.-5", "-.", "-e", "5\"\"",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn floats_are_told_from_integers() {
    for (text, value) in [
        ("10.0", 10.0),
        ("1e3", 1e3),
        ("123e+", 123.0),
        ("-.5", -0.5),
    ] {
        assert_eq!(read(text), Ok(Kind::Float(value)), "{text}");
    }
    assert_eq!(read("-infinity"), Ok(Kind::Float(f64::NEG_INFINITY)));
    assert!(matches!(read("NaN"), Ok(Kind::Float(value)) if value.is_nan()));
}

#[test]
fn words_take_either_case_and_strings_either_quote() {
    assert_eq!(read("True"), Ok(Kind::Bool(true)));
    assert_eq!(read("FALSE"), Ok(Kind::Bool(false)));
    assert_eq!(read("nUll"), Ok(Kind::Null));
    assert_eq!(read("'a\"b'"), Ok(Kind::Text("a\"b".into())));
    assert_eq!(
        read(r#""a\n\u0041\ud83d\ude00\ud800""#),
        Ok(Kind::Text("a\nA😀\u{fffd}".into()))
    );
    for text in [
        r#""a\'b""#,
        r#""\x""#,
        r#""\u12""#,
        "\"open",
        "\"nul\0\"",
        "nope",
        "tru",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn comments_and_trailing_commas() {
    assert_eq!(read("// a\n/* b * / **/ 1,"), Ok(Kind::Int(1)));
    for text in ["1,,", ",1", "# a\n1", "/ 1", "1 /* open"] {
        assert!(read(text).is_err(), "{text}");
    }
    assert!(strict(b"{} whatever [").is_ok());
    assert!(strict(b"{} // fine").is_ok());
    assert!(strict(b"{} /x").is_err());
    for text in ["", "  ", "{", "{a:1}", "{\"a\"}", "{\"a\":}", "\u{feff}{}"] {
        assert!(strict(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn duplicate_keys_keep_the_first_place_and_the_last_value() {
    let document = strict(b"{\"run\":1,\n\"sleep\":2,\n \"run\":3}").expect("JSON");
    let Kind::Object(object) = &document.root.kind else {
        panic!("{document:?}")
    };
    let members: Vec<_> = object
        .members
        .iter()
        .map(|m| (m.key.as_str(), m.value.kind.clone()))
        .collect();
    assert_eq!(members, [("run", Kind::Int(3)), ("sleep", Kind::Int(2))]);
    let again = Position { line: 3, column: 2 };
    assert_eq!(document.duplicates.len(), 1);
    assert_eq!(document.duplicates[0].again, again);
    assert_eq!(object.members[0].at, again);
}

#[test]
fn places_count_characters_from_one() {
    let fault = strict("{\n \"é\": ?}".as_bytes()).expect_err("not JSON");
    assert_eq!(fault.at, Position { line: 2, column: 7 });
    assert_eq!(fault.to_string(), "2:7: not JSON: `?`; expected a value");
}

#[test]
fn depth_ends_at_32_levels() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(strict(nested(32).as_bytes()).is_ok());
    assert!(strict(nested(33).as_bytes()).is_err());
    let scalar = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    assert!(strict(scalar(31).as_bytes()).is_ok());
    assert!(strict(scalar(32).as_bytes()).is_err());
}

#[test]
fn the_number_of_values_is_bounded() {
    let many = format!("[{}]", "1,".repeat(MAX_VALUES));
    let fault = strict(many.as_bytes()).expect_err("too many");
    assert_eq!(fault.kind, FaultKind::Unusable);
}
