//! Random texts for a schema: valid, invalid and malformed ones.

use tool_core::schema::Schema;

use crate::random::Random;
use crate::writer::{Style, Writer};

/// Returns a random text for a schema.
pub(crate) fn text(random: &mut Random, schema: &'static Schema) -> String {
    let mut style = Style {
        wrong: 0,
        odd: random.one(&[0, 0, 3, 20]),
        shuffled: random.one(&[0, 0, 20, 80]),
        absent: random.one(&[0, 20, 50, 90]),
        deep: None,
    };
    match random.below(100) {
        0..36 => Writer::new(random, style).write(schema),
        36..66 => {
            style.wrong = random.one(&[10, 30, 80]);
            Writer::new(random, style).write(schema)
        }
        66..92 => {
            style.wrong = random.one(&[0, 0, 20]);
            let text = Writer::new(random, style).write(schema);
            broken(random, &text)
        }
        92..96 => {
            style.deep = Some(random.one(&[20, 100, 122, 124, 125, 126, 127, 128, 129, 140]));
            style.odd /= 5;
            Writer::new(random, style).write(schema)
        }
        _ => whole(random, schema, style),
    }
}

/// Returns a text with an unusual root, such as a wrong type or two values.
fn whole(random: &mut Random, schema: &'static Schema, style: Style) -> String {
    let text = Writer::new(random, style).write(schema);
    match random.below(10) {
        0 => random
            .one(&[
                "", " ", "\n\t", "\u{feff}", "null", "{}", "[]", "\"\"", "0", "-", "{", "[", "\"",
                "nul", "\u{0}",
            ])
            .to_owned(),
        1 => {
            text + random.one(&[
                " x", ",", "}", "]", "{}", "null", "\u{0}", "//", "\u{a0}", " 1", "\"\"",
            ])
        }
        2 => format!(
            "{}{text}",
            random.one(&["\u{feff}", "//a\n", ",", "[", "{", "\u{a0}", "\u{b}"])
        ),
        3 => {
            let count = random.one(&[1, 126, 127, 128, 1000]);
            format!("{}{text}{}", "[".repeat(count), "]".repeat(count))
        }
        4 => serde_json::to_string(&text).unwrap_or_default(),
        5 => format!("{{\"a\":{text}}}"),
        6 => text.replace(['"'], "'"),
        7 => text.replace(':', " : ").replace(',', "\n,\t"),
        8 => text.replace('\u{22}', "\\u0022"),
        _ => format!("{text}{text}"),
    }
}

/// Returns the text with a few changes at random places.
#[allow(clippy::too_many_lines, reason = "most of the lines are texts")]
fn broken(random: &mut Random, text: &str) -> String {
    const PIECES: &[&str] = &[
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\n",
        "0",
        "1",
        "-",
        ".",
        "e",
        "E",
        "+",
        "n",
        "null",
        "true",
        "\\u0061",
        "\\u00",
        "\\ud83d",
        "\\ude00",
        "é",
        "\u{0}",
        "\u{7f}",
        "/",
        "x",
        "_",
        "a",
        "1.0",
        "1e2",
        "-0",
        "0.5",
        "99999999999999999999",
        "1e400",
        "\"a\":1,",
        ",\"a\":1",
        "[1]",
        "{}",
    ];
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..random.one(&[1, 1, 1, 2, 4]) {
        let at = random.below(text.len() + 1);
        match random.below(9) {
            0 => text.truncate(at),
            1 | 2 if at < text.len() => {
                text.remove(at);
            }
            3 | 4 if at < text.len() => {
                let piece = random.one(PIECES);
                text.splice(at..=at, piece.chars());
            }
            5 if !text.is_empty() => {
                // Copy a part of the text to a different position, with or without overwriting.
                let from = random.below(text.len());
                let to = (from + 1 + random.below(12)).min(text.len());
                let part: Vec<char> = text.get(from..to).unwrap_or_default().to_vec();
                let end = if random.chance(50) {
                    at
                } else {
                    (at + part.len()).min(text.len())
                };
                text.splice(at..end, part);
            }
            6 => {
                // Replace a number with a different one.
                let digits =
                    |at: usize, text: &[char]| text.get(at).is_some_and(char::is_ascii_digit);
                if let Some(from) = (at..text.len()).find(|at| digits(*at, &text)) {
                    let to = (from..text.len())
                        .find(|at| !digits(*at, &text))
                        .unwrap_or(text.len());
                    let other = random.one(&[
                        "1.0",
                        "1e2",
                        "-0",
                        "0.5",
                        "0",
                        "00",
                        "1e-1",
                        "10e-1",
                        "-1",
                        "18446744073709551616",
                        "1e400",
                        "256",
                        "5.0e0",
                        "null",
                    ]);
                    text.splice(from..to, other.chars());
                }
            }
            7 if text.len() > 1 => {
                let with = random.below(text.len());
                let at = at.min(text.len() - 1);
                text.swap(at, with);
            }
            _ => {
                let piece = random.one(PIECES);
                text.splice(at..at, piece.chars());
            }
        }
    }
    text.into_iter().collect()
}
