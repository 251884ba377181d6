//! Pieces of text with a style.

use std::fmt;

use anstyle::Style;
use console::measure_text_width;

use crate::screen::Painted;

/// A text in which each piece has a style. Adjacent pieces have different styles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::commands::chat) struct Spans(Vec<(Style, String)>);

impl Spans {
    /// Adds a piece of text with a style.
    pub(super) fn add(&mut self, style: Style, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some((last, before)) if *last == style => before.push_str(text),
            _ => self.0.push((style, text.to_owned())),
        }
    }

    /// Adds the pieces of another text.
    pub(in crate::commands::chat) fn extend(&mut self, other: Self) {
        for (style, text) in other.0 {
            self.add(style, &text);
        }
    }

    pub(in crate::commands::chat) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::commands::chat) fn ends_with_line_break(&self) -> bool {
        self.0.last().is_some_and(|(_, text)| text.ends_with('\n'))
    }

    /// Returns the number of columns that the text has in a terminal.
    pub(super) fn width(&self) -> usize {
        let widths = self.0.iter().map(|(_, text)| measure_text_width(text));
        widths.sum()
    }

    /// Returns the text without styles.
    #[cfg(test)]
    pub(super) fn plain(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[cfg(test)]
    pub(super) fn pieces(&self) -> &[(Style, String)] {
        &self.0
    }
}

impl fmt::Display for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (style, text) in &self.0 {
            write!(f, "{}", Painted(*style, text))?;
        }
        Ok(())
    }
}
