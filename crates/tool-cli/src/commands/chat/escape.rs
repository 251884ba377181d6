//! Hidden characters of a text that is received in pieces.

use tool_core::hidden::{escape, is_found};

/// Maximum number of bytes of [`Escaper::context`]. An emoji of several people has about 30.
const MOST_CONTEXT: usize = 64;

/// Escapes the hidden characters of a text that is received in pieces. The result is the same for every division of the text into pieces.
#[derive(Default)]
pub(super) struct Escaper {
    /// The end of the returned text, which decides whether a joiner or a selector that follows is hidden.
    context: String,
    /// A last character that may be hidden, depending on the next one, such as a joiner, a selector or a carriage return.
    open: String,
}

impl Escaper {
    /// Adds a piece and returns the part whose meaning no longer depends on the rest of the text.
    pub(super) fn push(&mut self, text: &str) -> String {
        self.open.push_str(text);
        let last = self.open.char_indices().next_back();
        let end = match last {
            Some((at, last)) if may_be_hidden(last) => at,
            _ => self.open.len(),
        };
        self.release(end)
    }

    /// Returns the rest of the text, and begins a new text.
    pub(super) fn finish(&mut self) -> String {
        let rest = self.release(self.open.len());
        *self = Self::default();
        rest
    }

    fn release(&mut self, end: usize) -> String {
        let before = escape(&self.context).len();
        self.context.push_str(&self.open[..end]);
        self.open.drain(..end);
        let escaped = escape(&self.context)[before..].to_owned();
        let visible = |(_, c): &(usize, char)| !may_be_hidden(*c) && !is_skin_tone(*c);
        let start = self.context.char_indices().rfind(visible);
        let start = start.map_or(0, |(at, _)| at);
        let start = if self.context.len() - start > MOST_CONTEXT {
            let last = self.context.char_indices().next_back();
            last.map_or(0, |(at, _)| at)
        } else {
            start
        };
        self.context.drain(..start);
        escaped
    }
}

/// Returns whether the character is hidden if it is alone. Its neighbours can make it visible.
fn may_be_hidden(c: char) -> bool {
    is_found(c.encode_utf8(&mut [0; 4]))
}

/// Returns whether the character is a skin tone. It belongs to the symbol before it.
fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1F3FB}'..='\u{1F3FF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 7] = [
        "plain",
        "a\u{1b}[2Jb\u{7}\u{9b}1m",
        "one\r\ntwo\rthree\r",
        "a family: 👨‍👩‍👧 ❤️, 👍🏽‍, and می‌خواهم",
        "x\u{200b}y\u{e0041}\u{202e}z\u{200d}",
        "\u{200d}\u{200d}\u{fe0f}\u{fe0f}👨\u{fe0f}\u{200d}👧\u{200d}",
        "\u{feff}\u{feff}end\u{fffe}",
    ];

    // The escaped text does not depend on how the text is divided into three pieces.
    #[test]
    fn division_into_pieces_does_not_change_the_text() {
        for text in TEXTS {
            let cuts: Vec<usize> = (0..=text.len())
                .filter(|at| text.is_char_boundary(*at))
                .collect();
            for (index, one) in cuts.iter().enumerate() {
                for two in &cuts[index..] {
                    let mut escaper = Escaper::default();
                    let mut out = String::new();
                    for piece in [&text[..*one], &text[*one..*two], &text[*two..]] {
                        out += &escaper.push(piece);
                    }
                    out += &escaper.finish();
                    assert_eq!(out, escape(text), "cut at {one} and {two}");
                }
            }
        }
    }

    // A text that consists of hidden characters only does not accumulate.
    #[test]
    fn at_most_one_character_is_held() {
        let mut escaper = Escaper::default();
        for _ in 0..10_000 {
            escaper.push("\u{200b}");
            assert!(escaper.context.len() <= MOST_CONTEXT && escaper.open.len() <= 3);
        }
    }
}
