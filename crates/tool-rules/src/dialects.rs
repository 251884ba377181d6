//! The table of dialects and targets, and sets of dialects and of targets.
//!
//! A *dialect* is the form of JSON Schema in which a provider or client reads a tool's definition. A tool is offered in every [`Dialect`], or in
//! the dialects that `providers(…)` selects. A [`Target`] is a recipient of schema texts: every dialect is a target, and some targets are only
//! checked.

/// Generates the types of this module from the rows of the table.
///
/// A row is `Variant CONSTANT "name"`, with the documentation above it. The rows of `offered` are the dialects and the first targets; the rows
/// of `checked` are targets only. So a dialect has the same bit in `Dialects` and in `Targets`.
macro_rules! table {
    (
        offered { $($(#[doc = $offered_doc:literal])* $offered:ident $offered_bit:ident $offered_name:literal,)* }
        checked { $($(#[doc = $checked_doc:literal])* $checked:ident $checked_bit:ident $checked_name:literal,)* }
    ) => {
        /// A provider's dialect of JSON Schema.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[doc(alias("json schema", "strict mode", "structured output"))]
        pub enum Dialect {
            $($(#[doc = $offered_doc])* $offered,)*
        }

        impl Dialect {
            /// The number of dialects.
            pub const COUNT: usize = [$($offered_name),*].len();

            /// Every dialect, in the order of [`Dialect::index`].
            pub const ALL: [Self; Self::COUNT] = [$(Self::$offered),*];

            /// Returns the name used in `providers(…)` and on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$offered => $offered_name,)*
                }
            }

            /// Returns the name of the variant, for generated code.
            pub const fn variant(self) -> &'static str {
                match self {
                    $(Self::$offered => stringify!($offered),)*
                }
            }
        }

        /// A recipient to which a schema text can be sent unchanged.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Target {
            $($(#[doc = $offered_doc])* $offered,)*
            $($(#[doc = $checked_doc])* $checked,)*
        }

        impl Target {
            /// Every target, the dialects first.
            pub const ALL: [Self; [$($offered_name,)* $($checked_name),*].len()] =
                [$(Self::$offered,)* $(Self::$checked),*];

            /// Returns the target's name in messages.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$offered => $offered_name,)*
                    $(Self::$checked => $checked_name,)*
                }
            }
        }

        impl From<Dialect> for Target {
            fn from(dialect: Dialect) -> Self {
                match dialect {
                    $(Dialect::$offered => Self::$offered,)*
                }
            }
        }

        /// Constants for the sets that contain a single target.
        impl Targets {
            $(
                #[doc = concat!("The set of [`Target::", stringify!($offered), "`].")]
                pub const $offered_bit: Self = Self::only(Target::$offered);
            )*
            $(
                #[doc = concat!("The set of [`Target::", stringify!($checked), "`].")]
                pub const $checked_bit: Self = Self::only(Target::$checked);
            )*
        }
    };
}

table! {
    offered {
        /// `OpenAI` functions with `strict: true`.
        OpenAi OPENAI "openai",
        /// Anthropic tools with `strict: true`; Bedrock has the same rules.
        Anthropic ANTHROPIC "anthropic",
        /// Gemini function declarations, `parametersJsonSchema`.
        Gemini GEMINI "gemini",
        /// Tools of the Model Context Protocol, as existing clients read them.
        Mcp MCP "mcp",
        /// JSON Schema 2020-12 with every constraint as a keyword.
        JsonSchema JSON_SCHEMA "json_schema",
    }
    checked {
        /// Gemini `parameters`, a subset of `OpenAPI`.
        GeminiParameters GEMINI_PARAMETERS "gemini_parameters",
    }
}

impl Dialect {
    /// Returns the dialect's position in [`Dialect::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the dialect with this name, if the name is known.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }
}

/// A set of dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialects(u8);

impl Dialects {
    /// The set of all dialects.
    pub const ALL: Self = Self((1 << Dialect::COUNT) - 1);
    /// The empty set of dialects.
    pub const NONE: Self = Self(0);

    /// Returns the set of one dialect.
    pub const fn only(dialect: Dialect) -> Self {
        Self(1 << dialect as u8)
    }

    /// Adds a dialect to the set.
    #[must_use]
    pub const fn with(self, dialect: Dialect) -> Self {
        Self(self.0 | 1 << dialect as u8)
    }

    /// Removes a dialect from the set.
    #[must_use]
    pub const fn without(self, dialect: Dialect) -> Self {
        Self(self.0 & !(1 << dialect as u8))
    }

    /// Returns whether the set contains the dialect.
    pub const fn contains(self, dialect: Dialect) -> bool {
        self.0 >> dialect as u8 & 1 == 1
    }

    /// Returns the dialects that are in both sets.
    #[must_use]
    pub const fn intersect(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the dialects that are in at least one of the sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of dialects in the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the dialects of the set, in the order of [`Dialect::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Dialect> {
        Dialect::ALL
            .into_iter()
            .filter(move |dialect| self.contains(*dialect))
    }

    /// Returns the set as bits: the bit at [`Dialect::index`] belongs to the dialect.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// A set of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Targets(u8);

impl Targets {
    /// The empty set, for rules whose violation no target refuses.
    pub const NONE: Self = Self(0);
    /// The set of all targets.
    pub const ALL: Self = Self((1 << Target::ALL.len()) - 1);

    /// Returns the set of one target.
    pub const fn only(target: Target) -> Self {
        Self(1 << target as u8)
    }

    /// Returns the union of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether the target is in the set.
    pub const fn contains(self, target: Target) -> bool {
        self.0 >> target as u8 & 1 == 1
    }

    /// Returns whether the set contains at least one of the dialects.
    pub const fn intersects(self, dialects: Dialects) -> bool {
        self.0 & dialects.0 != 0
    }

    /// Returns whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the targets in the set, in the order of [`Target::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Target> {
        Target::ALL
            .into_iter()
            .filter(move |target| self.contains(*target))
    }
}

// Short names for the tables of rules.
pub(crate) const NONE: Targets = Targets::NONE;
pub(crate) const ALL: Targets = Targets::ALL;
pub(crate) const O: Targets = Targets::OPENAI;
pub(crate) const A: Targets = Targets::ANTHROPIC;
pub(crate) const J: Targets = Targets::GEMINI;
pub(crate) const P: Targets = Targets::GEMINI_PARAMETERS;
pub(crate) const M: Targets = Targets::MCP;
pub(crate) const OA: Targets = O.and(A);
pub(crate) const OP: Targets = O.and(P);
pub(crate) const AP: Targets = A.and(P);
pub(crate) const OAP: Targets = OA.and(P);
pub(crate) const OAJP: Targets = OAP.and(J);
pub(crate) const OAPM: Targets = OAP.and(M);
