//! Regular expressions that const evaluation can compile and run.
//!
//! A pattern compiles to a small Thompson program and runs as a simulation of all its
//! states at once: time linear in the text, no backtracking, no allocation. So one matcher
//! serves an example checked by the compiler and a model's argument checked at run time, and a
//! pattern from a foreign schema cannot be made to run for ever.

mod class;
mod parse;
mod run;
mod sample;
#[cfg(test)]
mod tests;
mod write;

use core::fmt;

pub use self::run::Program;

/// `?` for const functions.
macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}
use attempt;

/// Largest program a pattern may compile to, in steps.
///
/// A step is about one character or class of the pattern with its counted repetitions written out:
/// `[a-z]{1,64}` takes 64. The number of a step fits in a byte.
pub const MAX_STEPS: usize = 256;

/// A regular expression known at compile time, with its program.
///
/// The subset of ECMA-262 (flag `u`) that matches in linear time: literals, `.`, classes, groups,
/// alternation, quantifiers (a lazy one means the same, for a test), `^` and `$`. As the
/// `jsonschema` crate does, it also takes a backslash before any ASCII punctuation, such as `\-` or
/// `\@`.
///
/// It is a search, not a full match: `a` matches `cat`. See [`Pattern::is_anchored`].
#[derive(Debug)]
pub struct Pattern {
    source: &'static str,
    program: Program,
    fault: Option<PatternError>,
}

impl Pattern {
    /// Compiles `source`.
    ///
    /// # Panics
    ///
    /// Where [`Pattern::parse`] returns an error; in const evaluation that is a compile error with
    /// the text of [`PatternError::message`].
    #[track_caller]
    #[allow(
        clippy::panic,
        reason = "a compile error, when called for a constant as meant"
    )]
    pub const fn new(source: &'static str) -> Self {
        match Self::parse(source) {
            Ok(pattern) => pattern,
            Err(error) => panic!("{}", error.message()),
        }
    }

    /// Compiles `source`, or says why it cannot.
    pub const fn parse(source: &'static str) -> Result<Self, PatternError> {
        match Program::parse_str(source) {
            Ok(program) => Ok(Self {
                source,
                program,
                fault: None,
            }),
            Err(error) => Err(error),
        }
    }

    /// Compiles what stands on a field or parameter. A fault is kept for `check_constraints`, which tells it once, with the path;
    /// until then the pattern matches everything.
    pub const fn stated(source: &'static str) -> Self {
        match Self::parse(source) {
            Ok(pattern) => pattern,
            Err(fault) => {
                let mut pattern = Self::new("");
                pattern.source = source;
                pattern.fault = Some(fault);
                pattern
            }
        }
    }

    /// Why a [stated](Self::stated) pattern was not compiled.
    pub const fn fault(&self) -> Option<PatternError> {
        self.fault
    }

    /// The expression as it was written.
    pub const fn source(&self) -> &'static str {
        self.source
    }

    /// The compiled form, for code that also holds programs parsed at run time.
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// Whether the expression matches somewhere in `text`.
    pub const fn is_match(&self, text: &str) -> bool {
        self.program.is_match(text)
    }

    /// Whether every alternative starts with `^` and ends with `$`, as written.
    pub const fn is_anchored(&self) -> bool {
        self.program.is_anchored()
    }
}

/// Why a pattern was not compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// `(?=…)`, `(?!…)`, `(?<=…)` or `(?<!…)`.
    Lookaround,
    /// `\1` to `\9`, or `\k<…>`.
    Backreference,
    /// `\b` or `\B`.
    WordBoundary,
    /// Not in the subset, or not an expression at all: what to write instead.
    Syntax(&'static str),
    /// More than [`MAX_STEPS`] steps, or past one of the smaller limits on classes and nesting.
    TooLarge,
}

impl PatternError {
    /// The rule that refuses it.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Lookaround | Self::Backreference | Self::WordBoundary => "pattern-lookaround",
            Self::Syntax(_) | Self::TooLarge => "pattern-syntax",
        }
    }

    /// What is wrong and what to write instead.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Lookaround => {
                "lookahead and lookbehind are not supported: write the allowed texts out as alternatives"
            }
            Self::Backreference => {
                "backreferences are not supported: repeat the part of the pattern itself"
            }
            Self::WordBoundary => {
                "\\b and \\B are not supported: write ^, $ or the class of the neighbouring character"
            }
            Self::Syntax(what) => what,
            Self::TooLarge => {
                "the pattern is too large: write smaller counts such as {1,64}, or limit the length instead"
            }
        }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for PatternError {}
