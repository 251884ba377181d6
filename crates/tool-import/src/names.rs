//! Conversion of names: wire names of tools, and Rust names of types and fields.

use std::collections::BTreeSet;

/// Maximum length of a tool name in bytes.
const LONGEST_TOOL: usize = 64;

/// Maximum length of a property key in bytes.
const LONGEST_KEY: usize = 64;

/// Keywords. Rust names may use them only as raw identifiers, except `union`, which is also valid as a plain identifier.
const KEYWORDS: [&str; 49] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield", "union",
];

/// Words that are reserved even as raw identifiers, and primitive types and crates, which the struct of a tool would shadow.
const TAKEN: [&str; 22] = [
    "self", "crate", "super", "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize",
    "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64", "core", "std",
];

/// Returns whether every provider accepts a property key, and a Rust field can have this name.
pub fn is_key(key: &str) -> bool {
    key.len() <= LONGEST_KEY
        && key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        // These names are invalid even as raw identifiers.
        && !["self", "Self", "crate", "super", "_"].contains(&key)
}

/// Converts the keys of one record to Rust identifiers: snake case, `field` if no letter would begin the name, a number after a duplicate, and raw
/// identifiers for keywords.
pub fn fields<'k>(keys: impl Iterator<Item = &'k str>) -> Vec<String> {
    let mut names = Names::default();
    keys.map(|key| {
        let snake = if is_snake(key) {
            key.to_owned()
        } else {
            words(key).join("_")
        };
        // `words` splits at `_`: `_1` becomes `1`, and `__` becomes an empty text. Neither is an identifier.
        let snake = match snake.as_str() {
            "" => "field".to_owned(),
            digits if digits.starts_with(|first: char| first.is_ascii_digit()) => {
                format!("field_{digits}")
            }
            _ => snake,
        };
        let unique = names.unique(&snake, "_");
        if KEYWORDS.contains(&unique.as_str()) && unique != "union" {
            format!("r#{unique}")
        } else {
            unique
        }
    })
    .collect()
}

/// Returns whether a key is in snake case. A leading `_` is not accepted, because it would mark the field as unused.
fn is_snake(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_lowercase())
        && key
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

/// Splits a name into lower-case words, at characters that are not ASCII letters or digits and at changes of case.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let breaks = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if breaks {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Converts a tool name to at most 64 characters of `[a-z0-9_]`. Two names may be converted to the same name.
pub fn tool(name: &str) -> String {
    let mut tool = words(name).join("_");
    if !tool.starts_with(|first: char| first.is_ascii_lowercase()) {
        tool.insert_str(0, "call_");
    }
    tool.truncate(LONGEST_TOOL);
    if KEYWORDS.contains(&tool.as_str()) || TAKEN.contains(&tool.as_str()) {
        tool.push('_');
    }
    tool
}

/// Converts a name to upper camel case, for types and variants. `Self` and a name that does not begin with a letter get the prefix `V`.
pub fn camel(name: &str) -> String {
    let mut camel = String::new();
    for word in words(name) {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    if !camel.starts_with(|first: char| first.is_ascii_alphabetic()) || camel == "Self" {
        camel.insert(0, 'V');
    }
    camel
}

/// The names that are already used.
#[derive(Debug, Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// Returns the name, with the first free number if it is already used.
    pub fn unique(&mut self, name: &str, before_number: &str) -> String {
        let mut free = name.to_owned();
        let mut number = 2;
        while !self.0.insert(free.clone()) {
            let tail = format!("{before_number}{number}");
            let head = name.len().min(LONGEST_TOOL - tail.len());
            free = format!("{}{tail}", &name[..head]);
            number += 1;
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::{fields, is_key};

    // The words of `_1` are `1`, and `__` has no words. Neither is an identifier, so the fields get the names `field_1` and `field`.
    #[test]
    fn keys_without_a_leading_letter_become_identifiers() {
        let keys = ["_1", "__", "_a", "1st", "type", "aB", "a_b"];
        let names = fields(keys.into_iter());
        assert_eq!(
            names,
            [
                "field_1",
                "field",
                "a",
                "field_1st",
                "r#type",
                "a_b",
                "a_b_2"
            ]
        );
        assert!(is_key("_1") && is_key("__") && !is_key("_"));
    }
}
