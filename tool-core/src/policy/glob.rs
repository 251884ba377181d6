//! Name patterns with `*` and `?`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A pattern that matches a whole name: `*` matches any text, `?` matches one character, every other character matches itself.
///
/// ```
/// use tool_core::policy::Glob;
///
/// let glob = Glob::new("delete_*");
/// assert!(glob.matches("delete_file"));
/// assert!(!glob.matches("undelete_file"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Glob {
    text: String,
    literal: bool,
}

impl Glob {
    /// Creates a pattern. Every text is a valid pattern.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            literal: !text.contains(['*', '?']),
            text,
        }
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the pattern contains neither `*` nor `?`.
    pub fn is_literal(&self) -> bool {
        self.literal
    }

    /// Returns whether every name matches, because the pattern consists of `*` only.
    pub fn is_any(&self) -> bool {
        !self.text.is_empty() && self.text.bytes().all(|byte| byte == b'*')
    }

    /// Returns whether the pattern matches the whole name.
    #[inline]
    pub fn matches(&self, name: &str) -> bool {
        if self.literal {
            return self.text == name;
        }
        fits(&self.text, name)
    }

    /// Returns whether every name that `other` matches is also matched by this pattern. If both contain `*` or `?`, may return `false`
    /// although this is the case.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.is_any() || self == other || other.literal && self.matches(&other.text)
    }
}

/// Compares both texts from the start. On a mismatch, continues after the last `*`, which then matches one more character.
fn fits(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    let mut last_star: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let before = name.clone();
        match (pattern.next(), name.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                name = before.clone();
                last_star = Some((pattern.clone(), before));
                continue;
            }
            (Some('?'), Some(_)) => continue,
            (Some(wanted), Some(found)) if wanted == found => continue,
            _ => {}
        }
        let Some((after, taken)) = &mut last_star else {
            return false;
        };
        if taken.next().is_none() {
            return false;
        }
        (pattern, name) = (after.clone(), taken.clone());
    }
}

impl From<String> for Glob {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Glob {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<Glob> for String {
    fn from(glob: Glob) -> Self {
        glob.text
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    // M14: a glob matches the whole name.
    #[test]
    fn glob_matches_the_whole_name() {
        for (glob, name, fits) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything", true),
            ("a*", "a", true),
            ("a*", "ba", false),
            ("*_file", "read_file", true),
            ("*_file", "read_files", false),
            ("r*d_*e", "read_file", true),
            ("*ab*ab", "ababab", true),
            ("*ab*ab", "aba", false),
            ("?", "é", true),
            ("?", "", false),
            ("a?c", "abc", true),
            ("a**c", "ac", true),
            (
                "*a*a*a*a*b",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                false,
            ),
        ] {
            assert_eq!(Glob::new(glob).matches(name), fits, "{glob} {name}");
        }
    }

    // M14: `covers` is true only if the wide pattern is certain to match every name of the narrow pattern.
    #[test]
    fn covers_is_true_only_if_every_name_matches() {
        for (wide, narrow, covers) in [
            ("*", "x*", true),
            ("x*", "x*", true),
            ("x*", "xyz", true),
            ("x*", "xy*", false),
            ("x", "*", false),
        ] {
            assert_eq!(Glob::new(wide).covers(&Glob::new(narrow)), covers);
        }
    }
}
