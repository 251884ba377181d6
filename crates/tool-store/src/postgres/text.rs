//! Escaping of U+0000 in free texts, because texts of PostgreSQL cannot contain it.
//!
//! U+0000 is stored as U+F8FF (a character for private use) and `0`. U+F8FF is stored twice. All other characters are stored unchanged.

use std::borrow::Cow;

use crate::sql::columns::sql_row;

const MARK: char = '\u{f8ff}';

/// Escapes a text of a tool, a model or a user for a column.
pub(super) fn storable(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', MARK]) {
        return Cow::Borrowed(text);
    }
    let mut stored = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => stored.extend([MARK, '0']),
            MARK => stored.extend([MARK, MARK]),
            other => stored.push(other),
        }
    }
    Cow::Owned(stored)
}

/// Restores the text that [`storable`] has escaped.
pub(super) fn original(stored: &str) -> String {
    if !stored.contains(MARK) {
        return stored.to_owned();
    }
    let mut text = String::with_capacity(stored.len());
    let mut characters = stored.chars();
    while let Some(character) = characters.next() {
        match character {
            MARK => match characters.next() {
                Some('0') => text.push('\0'),
                Some(other) => text.push(other),
                None => text.push(MARK),
            },
            other => text.push(other),
        }
    }
    text
}

sql_row!(sqlx::postgres::PgRow, original);

#[cfg(test)]
mod tests {
    use super::{original, storable};

    #[test]
    fn every_text_is_read_back_and_has_no_null_character() {
        for text in [
            "",
            "plain",
            "a\0b",
            "\0",
            "\0\0",
            "\u{f8ff}",
            "\u{f8ff}0",
            "\u{f8ff}\0\u{f8ff}\u{f8ff}0",
        ] {
            let stored = storable(text);
            assert!(!stored.contains('\0'), "{text:?}");
            assert_eq!(original(&stored), text, "{text:?}");
        }
    }

    #[test]
    fn different_texts_are_stored_differently() {
        assert_ne!(storable("\0"), storable("\u{f8ff}0"));
        assert_ne!(storable("\u{f8ff}\0"), storable("\u{f8ff}\u{f8ff}0"));
    }
}
