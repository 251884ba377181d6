//! Output of commands: text for people, or JSON for programs.

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::args::{Color, Format};
use crate::outcome::Failure;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();

/// A value that is printed in a style.
pub(crate) struct Painted<T>(pub(crate) Style, pub(crate) T);

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{:#}", self.0, self.1, self.0)
    }
}

/// Formats a value in a style.
pub(crate) fn paint(style: Style, text: impl fmt::Display) -> String {
    Painted(style, text).to_string()
}

/// Formats a number with its noun, such as `3 tools`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let more = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{more}")
}

/// The output settings of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    format: Format,
    color: Color,
}

impl Screen {
    pub(crate) fn new(format: Format, color: Color) -> Self {
        Self { format, color }
    }

    /// Returns the settings with these overrides.
    pub(crate) fn or(self, format: Option<Format>, color: Option<Color>) -> Self {
        Self {
            format: format.unwrap_or(self.format),
            color: color.unwrap_or(self.color),
        }
    }

    /// Returns whether the output is JSON.
    pub(crate) fn is_json(self) -> bool {
        self.format == Format::Json
    }

    /// Returns whether a terminal is available for questions to the user.
    pub(crate) fn is_interactive(self) -> bool {
        !self.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Returns whether a terminal is available on which progress can be drawn.
    pub(crate) fn draws(self) -> bool {
        !self.is_json() && io::stderr().is_terminal()
    }

    /// Returns whether text on standard output has styles: in a terminal, unless colour is off or the output is JSON.
    #[cfg(feature = "chat")]
    pub(crate) fn is_styled(self) -> bool {
        let is_off = match self.color {
            Color::Auto => AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never,
            Color::Always => false,
            Color::Never => true,
        };
        !self.is_json() && !is_off && io::stdout().is_terminal()
    }

    /// Returns the width of the terminal that is standard output, or `None` if standard output is not a terminal.
    pub(crate) fn width() -> Option<usize> {
        let (_, columns) = console::Term::stdout().size_checked()?;
        io::stdout().is_terminal().then(|| usize::from(columns))
    }

    fn choice(self) -> anstream::ColorChoice {
        match self.color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
    }

    /// Writes a result to standard output, without styles if colour is off.
    pub(crate) fn out(self, text: impl fmt::Display) -> Result<(), Failure> {
        let choice = match self.choice() {
            anstream::ColorChoice::Auto => AutoStream::choice(&io::stdout()),
            choice => choice,
        };
        let mut out = AutoStream::new(io::stdout().lock(), choice);
        writeln!(out, "{text}")?;
        Ok(out.flush()?)
    }

    /// Writes one JSON value as a line.
    pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(value).map_err(io::Error::from)?;
        let mut out = io::stdout().lock();
        writeln!(out, "{text}")?;
        Ok(out.flush()?)
    }

    /// Writes a message to standard error.
    pub(crate) fn note(self, text: impl fmt::Display) {
        let choice = match self.choice() {
            anstream::ColorChoice::Auto => AutoStream::choice(&io::stderr()),
            choice => choice,
        };
        let mut err = AutoStream::new(io::stderr().lock(), choice);
        // A failed write to standard error cannot be reported anywhere.
        let _ = writeln!(err, "{text}");
    }

    /// Reports why a command failed.
    pub(crate) fn fail(self, failure: &Failure) {
        if failure.text.is_empty() {
            return;
        }
        if self.is_json() {
            #[derive(Serialize)]
            struct Told<'a> {
                error: &'a str,
                text: &'a str,
                hint: Option<&'a str>,
            }
            let told = Told {
                error: failure.exit.word(),
                text: &failure.text,
                hint: failure.hint.as_deref(),
            };
            let text = serde_json::to_string(&told).unwrap_or_default();
            let _ = writeln!(io::stderr().lock(), "{text}");
            return;
        }
        self.note(format_args!("{} {}", Painted(BAD, "error:"), failure.text));
        if let Some(hint) = &failure.hint {
            self.help(hint);
        }
    }

    /// Writes a hint for a failure to standard error.
    pub(crate) fn help(self, hint: &str) {
        self.note(format_args!("{} {hint}", Painted(GOOD, " help:")));
    }
}
