//! Text from pages, headers, commits and search engines, cut to a maximum length.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};
use tool_core::StrictSchema;
use tool_core::schema::Schema;

/// Text of an external author, such as a page's title or the name of a commit's author, cut to at most `MOST` characters.
///
/// The author of a page, a header or a commit decides how long its parts are. Results contain such parts as excerpts, so that none of them fills a
/// model's context. A longer text ends with `…`, which counts as one of the characters. An excerpt is serialized as a string.
///
/// ```
/// use tool_std::Excerpt;
///
/// assert_eq!(Excerpt::<5>::of("lamps"), "lamps");
/// assert_eq!(Excerpt::<5>::of("lamps and wires"), "lamp…");
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Excerpt<const MOST: usize>(String);

impl<const MOST: usize> Excerpt<MOST> {
    /// Creates an excerpt: the text itself, or its beginning and `…` if it has more than `MOST` characters.
    pub fn of(text: impl Into<String>) -> Self {
        const { assert!(MOST > 0, "an excerpt has at least one character") };
        let mut text = text.into();
        if text.len() > MOST && text.chars().nth(MOST).is_some() {
            let kept = text.char_indices().nth(MOST - 1);
            text.truncate(kept.map_or(0, |(at, _)| at));
            text.push('…');
            text.shrink_to_fit();
        }
        Self(text)
    }

    /// Returns the excerpt as a string slice.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MOST: usize> Deref for Excerpt<MOST> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MOST: usize> From<Excerpt<MOST>> for String {
    fn from(excerpt: Excerpt<MOST>) -> Self {
        excerpt.0
    }
}

impl<const MOST: usize> PartialEq<str> for Excerpt<MOST> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl<const MOST: usize> PartialEq<&str> for Excerpt<MOST> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl<const MOST: usize> fmt::Debug for Excerpt<MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<const MOST: usize> fmt::Display for Excerpt<MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de, const MOST: usize> Deserialize<'de> for Excerpt<MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::of)
    }
}

impl<const MOST: usize> StrictSchema for Excerpt<MOST> {
    const SCHEMA: &'static Schema = String::SCHEMA;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        assert_eq!(Excerpt::<3>::of(""), "");
        assert_eq!(Excerpt::<3>::of("äöü"), "äöü");
        assert_eq!(Excerpt::<3>::of("äöüß"), "äö…");
        assert_eq!(Excerpt::<1>::of("ab"), "…");
        let long: Excerpt<10> =
            serde_json::from_str(&format!("{:?}", "x".repeat(99))).unwrap_or_default();
        assert_eq!(long, "xxxxxxxxx…");
    }
}
