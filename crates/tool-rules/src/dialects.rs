//! Sets of the dialects that refuse a schema.

/// A set of dialects: the places where a provider or client reads a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialects(u8);

impl Dialects {
    /// No dialect: a rule of `tool-core` itself, or one for schemas that providers accept but misread.
    pub const NONE: Self = Self(0);
    /// `OpenAI` function parameters with `strict: true`.
    pub const OPENAI: Self = Self(1);
    /// Anthropic `input_schema` with `strict: true`; Bedrock has the same rules.
    pub const ANTHROPIC: Self = Self(1 << 1);
    /// Gemini `parametersJsonSchema`, JSON Schema.
    pub const GEMINI: Self = Self(1 << 2);
    /// Gemini `parameters`, a subset of `OpenAPI`.
    pub const GEMINI_PARAMETERS: Self = Self(1 << 3);
    /// MCP `inputSchema`, as existing clients read it.
    pub const MCP: Self = Self(1 << 4);
    /// JSON Schema 2020-12.
    pub const JSON_SCHEMA: Self = Self(1 << 5);
    /// Every dialect.
    pub const ALL: Self = Self(0b11_1111);

    /// The names of the dialects, in the order of their bits.
    pub const NAMES: [&'static str; 6] = [
        "openai",
        "anthropic",
        "gemini",
        "gemini_parameters",
        "mcp",
        "json_schema",
    ];

    /// The union of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every dialect of `other` is in the set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The names of the dialects in the set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES
            .into_iter()
            .enumerate()
            .filter(move |(bit, _)| self.0 >> bit & 1 == 1)
            .map(|(_, name)| name)
    }
}

// Short names for the tables.
pub(crate) const NONE: Dialects = Dialects::NONE;
pub(crate) const ALL: Dialects = Dialects::ALL;
pub(crate) const O: Dialects = Dialects::OPENAI;
pub(crate) const A: Dialects = Dialects::ANTHROPIC;
pub(crate) const J: Dialects = Dialects::GEMINI;
pub(crate) const P: Dialects = Dialects::GEMINI_PARAMETERS;
pub(crate) const M: Dialects = Dialects::MCP;
pub(crate) const OA: Dialects = O.and(A);
pub(crate) const OP: Dialects = O.and(P);
pub(crate) const AP: Dialects = A.and(P);
pub(crate) const OAP: Dialects = OA.and(P);
pub(crate) const OAJP: Dialects = OAP.and(J);
pub(crate) const OAPM: Dialects = OAP.and(M);
