//! Names with `*` and `?`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A pattern of a whole name: `*` stands for any text, `?` for one character, everything else for itself.
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
    /// A pattern; every text is one.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            literal: !text.contains(['*', '?']),
            text,
        }
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is a name without `*` and `?`.
    pub fn is_literal(&self) -> bool {
        self.literal
    }

    /// Whether every name fits, because the pattern is but stars.
    pub fn is_any(&self) -> bool {
        !self.text.is_empty() && self.text.bytes().all(|byte| byte == b'*')
    }

    /// Whether the whole name fits.
    #[inline]
    pub fn matches(&self, name: &str) -> bool {
        if self.literal {
            return self.text == name;
        }
        fits(&self.text, name)
    }

    /// Whether every name that fits `other` fits this too, as far as it can be told from the patterns alone.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.is_any() || self == other || other.literal && self.matches(&other.text)
    }
}

/// Walks both texts; where they part it goes back to the last star, which then takes one character more.
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

    // M14
    #[test]
    fn a_glob_fits_a_whole_name() {
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

    // M14
    #[test]
    fn a_glob_covers_what_it_surely_holds() {
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
