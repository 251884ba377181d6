//! Regular expressions that const evaluation can compile and run.
//!
//! A pattern compiles to a small Thompson NFA, and matching simulates all of its states at once, in time linear in the text, without backtracking and
//! without allocation. So the same matcher checks examples at compile time and a model's arguments at run time, and a pattern from a third-party
//! schema cannot cause catastrophic backtracking.

mod class;
mod parse;
mod run;
pub(crate) mod sample;
#[cfg(test)]
mod tests;
mod write;

use core::fmt;

use tool_rules::Rule;

pub(crate) use self::run::Program;

/// The `?` operator for const functions.
macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}
use attempt;

/// Maximum number of steps of a compiled pattern, including the step that accepts.
///
/// A step is about one character or class of the pattern, after counted repetitions are expanded: `[a-z]{1,64}` takes 64 steps.
/// The index of a step fits in a byte.
const MAX_STEPS: usize = 256;

/// A regular expression with a static source text, and its compiled program.
///
/// The syntax is the subset of ECMA-262 (flag `u`) that matches in linear time: literals, `.`, classes, groups, alternation, quantifiers (a lazy
/// quantifier matches the same texts), `^` and `$`. Like the `jsonschema` crate, it also accepts a backslash before any ASCII punctuation, such as
/// `\-` or `\@`.
///
/// Matching is a search, not a full match: `a` matches `cat`. See [`Pattern::is_anchored`].
#[derive(Debug)]
pub struct Pattern {
    source: &'static str,
    program: Program,
    fault: Option<PatternError>,
}

impl Pattern {
    /// Compiles `source`, in const evaluation or at run time.
    ///
    /// # Panics
    ///
    /// If [`Pattern::parse`] returns an error. In const evaluation this is a compile error with the text of
    /// [`PatternError::text`].
    #[track_caller]
    #[allow(
        clippy::panic,
        reason = "in a constant, for which this function is intended, the panic is a compile error"
    )]
    pub const fn new(source: &'static str) -> Self {
        match Self::parse(source) {
            Ok(pattern) => pattern,
            Err(error) => panic!("{}", error.text()),
        }
    }

    /// Compiles `source`, or returns why it cannot be compiled.
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

    /// Compiles the pattern of a field or parameter. An error does not panic: it is stored as [`fault`](Self::fault()), and `check_constraints`
    /// reports it, with the path of the field or parameter. A pattern with an error matches every text.
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

    /// Returns the error of a pattern that [`stated`](Self::stated) could not compile.
    pub const fn fault(&self) -> Option<PatternError> {
        self.fault
    }

    /// Returns the source text of the expression.
    pub const fn source(&self) -> &'static str {
        self.source
    }

    /// Returns whether the expression matches somewhere in `text`.
    pub const fn is_match(&self, text: &str) -> bool {
        self.program.is_match(text)
    }

    /// Returns whether every alternative starts with `^` and ends with `$` in the source text.
    pub const fn is_anchored(&self) -> bool {
        self.program.is_anchored()
    }
}

/// The reason why a pattern cannot be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// A lookaround: `(?=…)`, `(?!…)`, `(?<=…)` or `(?<!…)`.
    Lookaround,
    /// A backreference: `\1` to `\9`, or `\k<…>`.
    Backreference,
    /// A word boundary: `\b` or `\B`.
    WordBoundary,
    /// Invalid or unsupported syntax; the rule's text says what to write instead.
    Syntax(&'static Rule),
    /// More than 255 steps after counted repetitions are expanded (`[a-z]{1,64}` takes 64), or more characters, groups, classes or ranges than
    /// allowed, or groups that are nested too deep.
    TooLarge,
}

impl PatternError {
    pub(crate) const fn broken(self) -> &'static Rule {
        match self {
            Self::Lookaround => &Rule::PATTERN_LOOKAROUND,
            Self::Backreference => &Rule::PATTERN_BACKREFERENCE,
            Self::WordBoundary => &Rule::PATTERN_WORD_BOUNDARY,
            Self::Syntax(rule) => rule,
            Self::TooLarge => &Rule::PATTERN_TOO_LARGE,
        }
    }

    /// Returns the id of the rule that rejects the pattern.
    pub const fn rule(self) -> &'static str {
        self.broken().id
    }

    /// Returns the problem, and what to write instead.
    pub const fn text(self) -> &'static str {
        self.broken().text
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl core::error::Error for PatternError {}
