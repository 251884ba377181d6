//! Hidden characters in text: find, escape and remove them.
//!
//! Untrusted text (a tool's description, a result) can contain characters that a terminal or an editor does not show but a model reads: Unicode tag characters
//! spell whole sentences, bidirectional overrides change the order in which a line is read, escape sequences change the text that a terminal shows. [`find`]
//! finds them, [`escape`] writes them as `\u{e0041}`, [`remove`] removes them.
//!
//! Hidden characters are control characters except tab, line feed and CRLF, every code point that Unicode defines as invisible
//! (`Default_Ignorable_Code_Point`), invisible format characters (`Cf`), line and paragraph separators, the Braille blank, private-use characters and
//! noncharacters. The following uses are not hidden, because ordinary text needs them: one text or emoji selector (U+FE0E, U+FE0F) after a visible
//! character, a joiner between two symbols of an emoji, and one joiner or non-joiner inside a word of a script that needs it (Arabic, Indic and their
//! neighbours).
//!
//! ```
//! use tool_core::hidden;
//!
//! let description = "Reads a note.\u{e0041}\u{200b}";
//! assert!(hidden::is_found(description));
//! assert_eq!(hidden::escape(description), r"Reads a note.\u{e0041}\u{200b}");
//! assert_eq!(hidden::remove(description), "Reads a note.");
//! assert!(!hidden::is_found("a family: 👨‍👩‍👧 ❤️, and می‌خواهم"));
//! ```

use std::borrow::Cow;
use std::fmt::Write as _;

/// First and last code points of the hidden ranges, as of Unicode 17. The format characters of Arabic, Syriac and Kaithi numbers and verses
/// are left out, because they are visible.
const RANGES: [(u32, u32); 25] = [
    (0x00, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
    // Noncharacters, which text must not contain. `is_last_of_plane` finds the others.
    (0xFDD0, 0xFDEF),
    // Private use, whose appearance is not defined.
    (0xE000, 0xF8FF),
    (0xF0000, 0xFFFFF),
    (0x10_0000, 0x10_FFFF),
];

fn may_be_hidden(c: char) -> bool {
    let is_in = |(first, last): &(u32, u32)| (*first..=*last).contains(&u32::from(c));
    !matches!(c, ' '..='~' | '\n' | '\t') && (is_last_of_plane(c) || RANGES.iter().any(is_in))
}

/// Returns whether this is one of the two noncharacters at the end of each of the 17 planes, such as U+1FFFF.
fn is_last_of_plane(c: char) -> bool {
    u32::from(c) & 0xFFFE == 0xFFFE
}

/// Returns whether this symbol may be part of a joined emoji. The ranges are approximate: the blocks from arrows to dingbats, and the planes of
/// pictographs.
fn is_symbol(c: char) -> bool {
    matches!(u32::from(c), 0x2190..=0x2BFF | 0x3030 | 0x303D | 0x3297 | 0x3299 | 0x1F000..=0x1FAFF)
}

/// Returns whether this is a character of a script whose spelling uses joiners. The ranges are approximate.
fn joins(c: char) -> bool {
    matches!(
        u32::from(c),
        0x620..=0x6DC | 0x6E5..=0x8FF | 0x900..=0xDFF | 0xF00..=0x109F | 0x1780..=0x17B3 | 0x17B6..=0x18AF | 0xA8E0..=0xA8FF
            | 0xFB50..=0xFDCF | 0xFE70..=0xFEFC
    )
}

/// Iterator over the hidden characters of a text and their positions.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// The preceding character, hidden or not.
    before: Option<char>,
    /// The last visible character, if only allowed hidden characters follow it. A skin tone after it does not replace it.
    base: Option<char>,
}

impl<'a> Scan<'a> {
    const fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            before: None,
            base: None,
        }
    }

    /// Returns whether a character that may be hidden is used here as in ordinary text.
    fn is_usual(&self, c: char, next: Option<char>) -> bool {
        if c == '\r' {
            return next == Some('\n');
        }
        let Some(before) = self.before else {
            return false;
        };
        match c {
            // Selects the text or emoji form of the preceding character.
            '\u{fe0e}' | '\u{fe0f}' => !before.is_whitespace() && !may_be_hidden(before),
            '\u{200d}' | '\u{200c}' => {
                let Some(next) = next.filter(|next| !may_be_hidden(*next)) else {
                    return false;
                };
                let symbols = c == '\u{200d}'
                    && self.base.is_some_and(is_symbol)
                    && is_symbol(next)
                    && (before == '\u{fe0f}' || !may_be_hidden(before));
                symbols || (joins(before) && joins(next))
            }
            _ => false,
        }
    }
}

impl Iterator for Scan<'_> {
    type Item = (usize, char);

    fn next(&mut self) -> Option<(usize, char)> {
        loop {
            let rest = self.text.get(self.at..)?;
            let mut chars = rest.chars();
            let c = chars.next()?;
            let at = self.at;
            self.at += c.len_utf8();
            if !may_be_hidden(c) {
                // A skin tone belongs to the symbol before it.
                if !matches!(u32::from(c), 0x1F3FB..=0x1F3FF) || self.base.is_none() {
                    self.base = Some(c);
                }
                self.before = Some(c);
                continue;
            }
            let is_usual = self.is_usual(c, chars.next());
            self.before = Some(c);
            if is_usual {
                continue;
            }
            self.base = None;
            return Some((at, c));
        }
    }
}

/// Returns the hidden characters of a text, with their byte positions.
pub fn find(text: &str) -> impl Iterator<Item = (usize, char)> {
    Scan::new(text)
}

/// Returns whether a text contains hidden characters.
pub fn is_found(text: &str) -> bool {
    // Most texts are plain ASCII, which this check accepts without a scan.
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    !text.as_bytes().iter().all(plain) && find(text).next().is_some()
}

/// Returns the text with every hidden character written as `\u{e0041}`, for people and for logs.
pub fn escape(text: &str) -> Cow<'_, str> {
    rewrite(text, |c, out| {
        let _ = write!(out, "{}", c.escape_unicode());
    })
}

/// Returns the text without its hidden characters.
pub fn remove(text: &str) -> Cow<'_, str> {
    rewrite(text, |_, _| {})
}

fn rewrite(text: &str, mut write: impl FnMut(char, &mut String)) -> Cow<'_, str> {
    if !is_found(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (at, c) in find(text) {
        out.push_str(text.get(from..at).unwrap_or_default());
        write(c, &mut out);
        from = at + c.len_utf8();
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns the [escaped](escape) text in at most `most` bytes, or 6 if `most` is smaller. A longer text is cut and ends in ` […]`.
pub fn show(text: &str, most: usize) -> Cow<'_, str> {
    const END: &str = " […]";
    // Escaping does not make a character shorter, so the text after this head is not needed.
    let head = text
        .get(..text.floor_char_boundary(most + 1))
        .unwrap_or(text);
    let shown = escape(head);
    if shown.len() <= most && head.len() == text.len() {
        return shown;
    }
    let mut shown = shown.into_owned();
    shown.truncate(shown.floor_char_boundary(most.saturating_sub(END.len())));
    shown.push_str(END);
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_found() {
        for hidden in [
            "\u{e0041}",
            "\u{e007f}",
            "\u{200b}",
            "\u{200e}",
            "\u{202e}",
            "\u{2066}",
            "\u{2069}",
            "\u{feff}",
            "\u{ad}",
            "\u{1b}[31m",
            "\u{9b}31m",
            "\u{0}",
            "\u{8}",
            "\u{7f}",
            "\u{2028}",
            "\u{2060}",
            "\u{2063}",
            "\u{3164}",
            "\u{115f}",
            "\u{e0100}",
            "\u{e01ef}",
            "\u{180e}",
            "\u{61c}",
            "\u{34f}",
            "\u{fff9}",
            "\u{2800}",
            "\u{f8ff}",
            "\u{fdd0}",
            "\u{10fffd}",
            "\u{ffff}",
            "\u{3fffe}",
            "\u{dffff}",
            "\u{fe0f}\u{fe0f}",
            "\r",
            "\u{200d}",
            "\u{200d}\u{200d}",
            "\u{200c}",
        ] {
            for text in [
                format!("a{hidden}b"),
                format!("{hidden}b"),
                format!("a{hidden}"),
                format!("a {hidden} b"),
            ] {
                assert!(is_found(&text), "{text:?}");
                assert!(!is_found(&escape(&text)), "{text:?}");
                assert!(!is_found(&remove(&text)), "{text:?}: {:?}", remove(&text));
            }
        }
        // The letters of a flag are tag characters, which can spell any text.
        assert!(is_found("🏴\u{e0067}\u{e0062}\u{e007f}"));
    }

    #[test]
    fn ordinary_text_has_no_hidden_characters() {
        for text in [
            "",
            "Reads a note.\n\n\tA line.\r\nAnother.",
            "größe, naïve, 日本語, עברית, العربية, हिन्दी, ไทย",
            "⚠️ ❤️ ✔︎ 1️⃣",
            "👨‍👩‍👧 🏳️‍🌈 🧑🏽‍💻 👩‍⚕️ 🇩🇪",
            "می‌خواهم",
            "क्‍ष",
            "a\u{a0}b\u{2003}c",
        ] {
            assert_eq!(find(text).collect::<Vec<_>>(), [], "{text}");
            assert!(matches!(escape(text), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn joiners_outside_of_scripts_that_need_them_are_found() {
        for text in [
            "a\u{200d}b",
            "ab\u{200c}c",
            "👨\u{200d}a",
            "👨\u{200d}\u{200d}👩",
            "ا\u{200c}\u{200c}ب",
            "👨 \u{200d}👩",
        ] {
            assert!(is_found(text), "{text:?}");
        }
    }

    #[test]
    fn shown_text_is_bounded() {
        assert_eq!(show("abc", 3), "abc");
        assert_eq!(show("abcdefghijk", 10), "abcd […]");
        let long = show(&"\u{e0041}".repeat(10_000), 100).into_owned();
        assert!(
            long.len() <= 100 && long.starts_with(r"\u{e0041}"),
            "{long}"
        );
        assert_eq!(show("ö\u{1b}", 100), r"ö\u{1b}");
        for most in 0..20 {
            assert!(show("größer und länger als das", most).len() <= most.max(6));
        }
    }
}
