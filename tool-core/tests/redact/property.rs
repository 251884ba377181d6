//! Property tests of redaction: any secrets, any text around them, any spelling and any split into pieces.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::redactor;

/// Generates secrets with characters that are difficult in some spelling.
fn secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9_-]{6,24}",
        "[ab%+\\\\ ]{6,12}",
        "[\"/\\\\\n\t~é密🔑 ]{6,12}",
        "[0-9]{6,12}",
        "\\PC{6,16}",
    ]
    .prop_filter("long enough", |secret| secret.trim().len() >= 6)
}

/// Generates secrets that do not begin or end with a blank, so that an adjacent blank cannot be a part of them.
fn solid_secret() -> impl Strategy<Value = String> {
    secret().prop_map(|secret| format!("<{secret}>"))
}

/// Generates text that looks like the start or the end of an escape, and any other text.
fn around() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-f0-9%\\\\u+ ]{0,8}",
        2 => "\\PC{0,12}",
        1 => Just(String::new()),
        1 => "[A-Za-z0-9+/=_-]{0,8}",
    ]
}

/// The spelling of a secret. The numbers and flags decide each choice of the encoder.
#[derive(Clone, Debug)]
enum Spelling {
    Plain,
    Hex(bool),
    Json(Vec<u8>),
    Percent(Vec<u8>),
    Base64 {
        engine: u8,
        before: Vec<u8>,
        after: Vec<u8>,
    },
}

fn spelling() -> impl Strategy<Value = Spelling> {
    let base64 = (any::<u8>(), vec(any::<u8>(), 0..4), vec(any::<u8>(), 0..4)).prop_map(
        |(engine, before, after)| Spelling::Base64 {
            engine,
            before,
            after,
        },
    );
    prop_oneof![4 => escaped(), 1 => base64]
}

/// Generates the spellings that encode only the secret, and no text around it.
fn escaped() -> impl Strategy<Value = Spelling> {
    prop_oneof![
        Just(Spelling::Plain),
        any::<bool>().prop_map(Spelling::Hex),
        vec(any::<u8>(), 24).prop_map(Spelling::Json),
        vec(any::<u8>(), 24).prop_map(Spelling::Percent),
    ]
}

impl Spelling {
    fn write(&self, secret: &str) -> String {
        match self {
            Self::Plain => secret.to_owned(),
            Self::Hex(upper) => secret
                .bytes()
                .map(|byte| {
                    if *upper {
                        format!("{byte:02X}")
                    } else {
                        format!("{byte:02x}")
                    }
                })
                .collect(),
            Self::Json(coins) => secret
                .chars()
                .zip(coins.iter().cycle())
                .map(|(character, coin)| json_character(character, *coin))
                .collect(),
            Self::Percent(coins) => percent(secret, coins),
            Self::Base64 {
                engine,
                before,
                after,
            } => {
                let bytes = [before, secret.as_bytes(), after].concat();
                match engine % 4 {
                    0 => STANDARD.encode(bytes),
                    1 => STANDARD_NO_PAD.encode(bytes),
                    2 => URL_SAFE.encode(bytes),
                    _ => URL_SAFE_NO_PAD.encode(bytes),
                }
            }
        }
    }
}

/// Writes a character in one of the forms that JSON allows.
fn json_character(character: char, coin: u8) -> String {
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units);
    let short = match character {
        '"' => Some("\\\""),
        '\\' => Some("\\\\"),
        '/' => Some("\\/"),
        '\n' => Some("\\n"),
        '\t' => Some("\\t"),
        _ => None,
    };
    match (coin % 4, short) {
        (0, _) => units.iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        (1, _) => units.iter().map(|unit| format!("\\u{unit:04X}")).collect(),
        (_, Some(short)) => short.to_owned(),
        _ => character.to_string(),
    }
}

/// Percent-encodes some of the characters.
fn percent(secret: &str, coins: &[u8]) -> String {
    secret
        .chars()
        .zip(coins.iter().cycle())
        .map(|(character, coin)| match coin % 4 {
            1 if character == ' ' => "+".to_owned(),
            0 | 1 => character.to_string(),
            2 => character
                .to_string()
                .bytes()
                .map(|byte| format!("%{byte:02x}"))
                .collect(),
            _ => character
                .to_string()
                .bytes()
                .map(|byte| format!("%{byte:02X}"))
                .collect(),
        })
        .collect()
}

/// Cuts a text into pieces of about these sizes, between characters.
fn pieces<'a>(text: &'a str, sizes: &[usize]) -> Vec<&'a str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let mut at = (*size).clamp(1, rest.len());
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let (piece, after) = rest.split_at(at);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

proptest! {
    // M8, S4-13: no spelling of a secret remains in a text.
    #[test]
    fn every_spelling_is_redacted(secret in secret(), spelling in spelling(), before in around(), after in around()) {
        let redactor = redactor(&[("it", &secret)]);
        let written = spelling.write(&secret);
        let masked = redactor.redact(&format!("{before}{written}{after}")).into_owned();
        prop_assert!(!masked.contains(&secret), "{masked}");
        prop_assert!(!masked.contains(&written), "{masked}");
        // Redacting the redacted text again does not change it.
        prop_assert_eq!(redactor.redact(&masked), masked.as_str());
    }

    // M8: the text around a secret is unchanged.
    #[test]
    fn text_around_a_secret_is_unchanged(secret in solid_secret(), spelling in escaped(), before in "[,;:!?() ]{0,8}", after in "[,;:!?() ]{0,8}") {
        let redactor = redactor(&[("it", &secret)]);
        let masked = redactor.redact(&format!("{before}{}{after}", spelling.write(&secret))).into_owned();
        let mask = ["[secret:it]", "<masked>", "***"].into_iter().find(|mask| masked.contains(mask));
        prop_assert_eq!(masked.clone(), format!("{before}{}{after}", mask.unwrap_or("\u{fffd}")));
    }

    // M8: redacting a text in pieces gives the same result as redacting the whole text.
    #[test]
    fn redacting_in_pieces_equals_redacting_the_whole(
        secrets in vec(secret(), 1..4),
        parts in vec((around(), spelling(), any::<prop::sample::Index>()), 0..4),
        end in around(),
        sizes in vec(1_usize..12, 1..6),
    ) {
        let named: Vec<(&str, &str)> = secrets.iter().zip(["a", "b", "c"]).map(|(secret, name)| (name, secret.as_str())).collect();
        let redactor = redactor(&named);
        let mut text = String::new();
        for (before, spelling, which) in &parts {
            text.push_str(before);
            text.push_str(&spelling.write(which.get::<String>(&secrets)));
        }
        text.push_str(&end);
        let whole = redactor.redact(&text).into_owned();

        let mut stream = redactor.stream();
        let mut joined = String::new();
        for piece in pieces(&text, &sizes) {
            joined.push_str(&stream.push(piece));
            for secret in &secrets {
                prop_assert!(!joined.contains(secret));
            }
        }
        joined.push_str(&stream.finish());
        prop_assert_eq!(&joined, &whole);

        let mut bytes = Vec::new();
        for piece in text.as_bytes().chunks(sizes[0]) {
            bytes.extend(stream.push_bytes(piece));
        }
        bytes.extend(stream.finish_bytes());
        prop_assert_eq!(bytes, whole.into_bytes());
    }

    // M8: the text that a stream buffers is bounded.
    #[test]
    fn text_buffered_by_a_stream_is_bounded(secret in "[ab%]{6,12}", text in "[ab%]{0,80}") {
        let redactor = redactor(&[("it", &secret)]);
        let mut stream = redactor.stream();
        let (mut given, mut longest) = (0, 0);
        for (at, piece) in pieces(&text, &[1]).into_iter().enumerate() {
            given += stream.push(piece).replace("[secret:it]", &secret).len();
            longest = longest.max((at + 1).saturating_sub(given));
        }
        // The bound counts each character of the base64 text as an escape of six characters, and one more byte.
        prop_assert!(longest <= secret.len().div_ceil(3) * 4 * 6 + 1, "{longest}");
    }

    // M8: a text without secrets is unchanged.
    #[test]
    fn text_without_secrets_is_untouched(secrets in vec("[a-z]{3}§[a-z]{3,9}", 1..4), text in "[a-zA-Z0-9 .,%+\\\\/\"\n_-]{0,200}") {
        let named: Vec<(&str, &str)> = secrets.iter().map(|secret| ("it", secret.as_str())).collect();
        let redactor = redactor(&named);
        // An escape may spell the `§` by chance.
        prop_assume!(!text.contains("%C2%A7") && !text.contains("%c2%a7"));
        prop_assert!(matches!(redactor.redact(&text), Cow::Borrowed(_)));
        let json = serde_json::to_string(&text).unwrap();
        prop_assert!(matches!(redactor.redact_json(&json), Cow::Borrowed(_)));
        let mut stream = redactor.stream();
        let given = stream.push(&text);
        prop_assert_eq!(given + &stream.finish(), text);
    }

    // M8: redacted JSON is valid JSON, and none of its values contains the secret.
    #[test]
    fn redacted_json_is_valid_json(secret in secret(), spelling in spelling(), before in around(), after in around(), depth in 0_u8..3, pretty in any::<bool>()) {
        let redactor = redactor(&[("it", &secret)]);
        let text = format!("{before}{}{after}", spelling.write(&secret));
        let mut value = Value::from(text.clone());
        for layer in 0..depth {
            value = match layer {
                0 => Value::Object(Map::from_iter([(text.clone(), Value::from(1)), ("v".to_owned(), value), ("n".to_owned(), Value::Null)])),
                _ => Value::Array(vec![value, Value::from(1.5), Value::Bool(true)]),
            };
        }
        let json = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let masked = redactor.redact_json(&json);
        let read: Value = serde_json::from_str(&masked).unwrap();
        prop_assert!(!masked.contains(&secret));
        prop_assert_eq!(redactor.redact_json(&masked), masked.as_ref());
        no_leaf_holds(&read, &secret, &spelling.write(&secret));
    }
}

fn no_leaf_holds(value: &Value, secret: &str, written: &str) {
    let check = |text: &str| {
        assert!(!text.contains(secret), "{text}");
        assert!(!text.contains(written), "{text}");
    };
    match value {
        Value::String(text) => check(text),
        Value::Array(values) => values
            .iter()
            .for_each(|value| no_leaf_holds(value, secret, written)),
        Value::Object(values) => {
            for (key, value) in values {
                check(key);
                no_leaf_holds(value, secret, written);
            }
        }
        other => check(&other.to_string()),
    }
}
