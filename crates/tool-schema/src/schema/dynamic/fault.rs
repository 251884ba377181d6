//! Faults of a schema, and the targets that reject the schema because of them.

use core::fmt;

use tool_rules::{Dialects, Rule};

/// A place where a schema text can be sent unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// `OpenAI` function parameters with `strict: true`.
    OpenAi,
    /// Anthropic `input_schema` with `strict: true`.
    Anthropic,
    /// Gemini `parametersJsonSchema`, JSON Schema.
    Gemini,
    /// Gemini `parameters`, a subset of `OpenAPI`.
    GeminiParameters,
    /// MCP `inputSchema`, as existing clients read it.
    Mcp,
    /// JSON Schema 2020-12 for a tool's arguments.
    JsonSchema,
}

impl Target {
    /// Every target.
    pub const ALL: [Self; 6] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::Gemini,
        Self::GeminiParameters,
        Self::Mcp,
        Self::JsonSchema,
    ];

    /// The target's name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::GeminiParameters => "gemini_parameters",
            Self::Mcp => "mcp",
            Self::JsonSchema => "json_schema",
        }
    }
}

/// A set of targets: the dialects of the rules, by [`Target`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Targets(Dialects);

impl Targets {
    /// The empty set.
    pub const NONE: Self = Self(Dialects::NONE);
    /// The set of all targets.
    pub const ALL: Self = Self(Dialects::ALL);

    pub(super) const O: Self = Self::only(Target::OpenAi);
    pub(super) const A: Self = Self::only(Target::Anthropic);
    pub(super) const J: Self = Self::only(Target::Gemini);
    pub(super) const P: Self = Self::only(Target::GeminiParameters);
    pub(super) const M: Self = Self::only(Target::Mcp);

    /// The targets that refuse what breaks a rule.
    pub(super) const fn of(rule: &Rule) -> Self {
        Self(rule.dialects)
    }

    /// The set of one target.
    pub const fn only(target: Target) -> Self {
        Self(match target {
            Target::OpenAi => Dialects::OPENAI,
            Target::Anthropic => Dialects::ANTHROPIC,
            Target::Gemini => Dialects::GEMINI,
            Target::GeminiParameters => Dialects::GEMINI_PARAMETERS,
            Target::Mcp => Dialects::MCP,
            Target::JsonSchema => Dialects::JSON_SCHEMA,
        })
    }

    /// The union of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0.and(other.0))
    }

    /// Whether the target is in the set.
    pub const fn contains(self, target: Target) -> bool {
        self.0.contains(Self::only(target).0)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

/// A fault of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// The id of the rule, such as `open-object`.
    pub rule: &'static str,
    /// Location in the schema: a JSON pointer, empty for the root.
    pub pointer: String,
    /// What is wrong and what to write instead.
    pub text: String,
    /// The targets that reject it; all of them if the schema cannot be read into the tree.
    pub targets: Targets,
}

impl SchemaFault {
    /// A fault with the rule's text, in which the facts replace the placeholders.
    pub(super) fn new(
        rule: &Rule,
        pointer: &str,
        targets: Targets,
        facts: &[&dyn fmt::Display],
    ) -> Self {
        Self {
            rule: rule.id,
            pointer: pointer.to_owned(),
            text: rule.text_with(facts).to_string(),
            targets,
        }
    }
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() {
            "/"
        } else {
            &self.pointer
        };
        write!(f, "`{place}`: [{}] {}", self.rule, self.text)
    }
}

/// The faults of a schema text, from which [`accepts`](Self::accepts) decides for each target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdicts {
    faults: Vec<SchemaFault>,
}

impl Verdicts {
    pub(super) const fn new(faults: Vec<SchemaFault>) -> Self {
        Self { faults }
    }

    /// Whether the target accepts the text unchanged.
    pub fn accepts(&self, target: Target) -> bool {
        self.against(target).next().is_none()
    }

    /// All faults: first those of single nodes in the order of the schema, then those of references and of size limits.
    pub fn faults(&self) -> &[SchemaFault] {
        &self.faults
    }

    /// Why the target rejects the text.
    pub fn against(&self, target: Target) -> impl Iterator<Item = &SchemaFault> {
        self.faults
            .iter()
            .filter(move |fault| fault.targets.contains(target))
    }
}
