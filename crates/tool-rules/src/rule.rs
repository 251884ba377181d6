//! The type [`Rule`], the macro that defines the tables of rules, and messages with facts inserted.

use core::fmt::{self, Display};

use crate::dialects::Targets;

/// A rule of the catalogue, or one of several messages of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// Id of the rule, in messages, in `allow(…)` and in the documentation.
    pub id: &'static str,
    /// The problem, and what to write instead. `{0}`, `{1}` and so on are placeholders for the facts of a single fault.
    pub text: &'static str,
    /// The text after the id in brackets: `[id] text`.
    pub message: &'static str,
    /// The providers that reject a schema that breaks the rule, in some cases with their error texts; or the reason why the rule exists.
    pub evidence: &'static str,
    /// The targets that refuse a schema that breaks the rule.
    pub targets: Targets,
}

/// A named part of the catalogue.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Area {
    /// The area's name, such as `schema`.
    pub name: &'static str,
    /// The rules of the area, in the order of the catalogue.
    pub rules: &'static [Rule],
}

impl Rule {
    /// Returns the text with the facts in place of `{0}`, `{1}` and so on.
    pub const fn text_with<'a>(&self, facts: &'a [&'a dyn Display]) -> Filled<'a> {
        Filled {
            template: self.text,
            facts,
        }
    }

    /// Returns the message with the facts in place of `{0}`, `{1}` and so on.
    pub const fn message_with<'a>(&self, facts: &'a [&'a dyn Display]) -> Filled<'a> {
        Filled {
            template: self.message,
            facts,
        }
    }
}

/// A message with its facts, which [`Display`] inserts.
#[derive(Clone, Copy)]
pub struct Filled<'a> {
    template: &'static str,
    facts: &'a [&'a dyn Display],
}

impl Display for Filled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.template;
        while let Some(at) = rest.find('{') {
            let (before, placeholder) = rest.split_at(at);
            f.write_str(before)?;
            let (written, fact) = match placeholder.as_bytes() {
                [_, digit @ b'0'..=b'9', b'}', ..] => (3, Some(usize::from(digit - b'0'))),
                _ => (1, None),
            };
            let (written, after) = placeholder.split_at(written);
            match fact {
                Some(fact) => {
                    let fact = self.facts.get(fact);
                    debug_assert!(fact.is_some(), "a fact is missing: {}", self.template);
                    fact.map_or(Ok(()), |fact| fact.fmt(f))?;
                }
                None => f.write_str(written)?,
            }
            rest = after;
        }
        f.write_str(rest)
    }
}

impl fmt::Debug for Filled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Defines an area: a constant of [`Rule`] for each row, and the constant `AREA`, which lists the rows.
///
/// A row is `NAME = id, text, evidence, targets;`.
macro_rules! rules {
    ($area:literal: $($name:ident = $id:literal, $text:literal, $evidence:literal, $targets:expr;)*) => {
        /// The rules of this area.
        impl $crate::Rule {
            $(
                #[doc = concat!("`", $id, "`: ", $text)]
                pub const $name: Self = Self {
                    id: $id,
                    text: $text,
                    message: concat!("[", $id, "] ", $text),
                    evidence: $evidence,
                    targets: $targets,
                };
            )*
        }

        pub(crate) const AREA: $crate::Area = $crate::Area {
            name: $area,
            rules: &[$($crate::Rule::$name),*],
        };
    };
}
pub(crate) use rules;
