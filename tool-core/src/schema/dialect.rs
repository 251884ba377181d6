//! The providers' dialects, and a tool's definition in each of them as text made by the compiler.

use core::marker::PhantomData;

use crate::schema::lower;
use crate::schema::text::{self, Out, Run};
use crate::schema::{Example, Schema, StrictSchema, Text};

/// How a provider wants its schemas spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[doc(alias("json schema", "strict mode", "structured output"))]
pub enum Dialect {
    /// `OpenAI` functions with `strict: true`.
    OpenAi,
    /// Anthropic tools with `strict: true`.
    Anthropic,
    /// Gemini function declarations, `parametersJsonSchema`.
    Gemini,
    /// Tools of the Model Context Protocol.
    Mcp,
    /// JSON Schema 2020-12 with every constraint as a keyword.
    JsonSchema,
}

impl Dialect {
    /// Every dialect, in order of [`Dialect::index`].
    pub const ALL: [Self; 5] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::Gemini,
        Self::Mcp,
        Self::JsonSchema,
    ];

    /// Position in [`Dialect::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Name as `providers(…)` and the command line spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Mcp => "mcp",
            Self::JsonSchema => "json_schema",
        }
    }

    /// The dialect of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }
}

/// A set of dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialects(u8);

impl Dialects {
    /// Every dialect.
    pub const ALL: Self = Self(0b1_1111);
    /// No dialect.
    pub const NONE: Self = Self(0);

    /// One dialect.
    pub const fn only(dialect: Dialect) -> Self {
        Self(1 << dialect as u8)
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, dialect: Dialect) -> Self {
        Self(self.0 | 1 << dialect as u8)
    }

    /// These without one.
    #[must_use]
    pub const fn without(self, dialect: Dialect) -> Self {
        Self(self.0 & !(1 << dialect as u8))
    }

    /// Whether the dialect is among them.
    pub const fn contains(self, dialect: Dialect) -> bool {
        self.0 >> dialect as u8 & 1 == 1
    }

    /// Those in both sets.
    #[must_use]
    pub const fn intersect(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The members, in order.
    pub fn iter(self) -> impl Iterator<Item = Dialect> {
        Dialect::ALL
            .into_iter()
            .filter(move |dialect| self.contains(*dialect))
    }

    /// One bit for each dialect, by [`Dialect::index`].
    pub(crate) const fn bits(self) -> u8 {
        self.0
    }
}

/// Everything that the text of a tool's definition needs.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Name on the wire.
    pub name: &'static str,
    /// Name for people; only MCP has a place for it.
    pub title: Option<Text>,
    /// What it does and when to use it.
    pub description: Text,
    /// What a model fills in.
    pub input: &'static Schema,
    /// Calls that show how it is meant.
    pub examples: &'static [ToolExample],
    /// Dialects it is offered in.
    pub providers: Dialects,
    /// What a call does to the world.
    pub hints: Hints,
}

/// A call that shows how a tool is meant to be used.
#[derive(Clone, Copy, Debug)]
pub struct ToolExample {
    /// One sentence about it.
    pub label: Option<Text>,
    /// The arguments.
    pub input: Example,
    /// What comes back.
    pub result: Option<Example>,
}

/// MCP's annotations of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "the protocol has four independent hints"
)]
pub struct Hints {
    /// Changes nothing.
    pub read_only: bool,
    /// May remove or overwrite.
    pub destructive: bool,
    /// Twice is the same as once.
    pub idempotent: bool,
    /// Reaches beyond the host.
    pub open_world: bool,
}

/// Names a tool's [`Spec`] by its type; the generated struct of a tool implements it.
pub trait HasSpec {
    /// The facts.
    const SPEC: &'static Spec;
}

/// A definition as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// The whole definition: one element of the request's list of tools. Empty where the tool is not offered in the dialect.
    pub definition: &'static str,
    /// The part of it that is the schema of the arguments.
    pub schema: &'static str,
}

/// How many bytes a tool's definition takes in each dialect; zero in those that it is not offered in.
pub const fn measure(spec: &Spec) -> [usize; 5] {
    let mut out = Out::count(spec.providers.bits());
    lower::definition(&mut out, spec);
    out.counted()
}

/// The length of all definitions together.
pub const fn total(lens: &[usize; 5]) -> usize {
    lens[0] + lens[1] + lens[2] + lens[3] + lens[4]
}

/// Where a definition stands in the buffer, and where its schema stands in the definition.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    len: usize,
    schema: (usize, usize),
}

/// All definitions in one buffer.
struct Written<const TOTAL: usize> {
    bytes: [u8; TOTAL],
    places: [Place; 5],
}

/// A tool's definitions in all dialects, of the length in all that [`measure`] told. One buffer and one parameter for all of
/// them: each constant that a macro writes costs the compiler more than the text in it.
///
/// Name it in the body of a generic `fn` only: then `cargo check` counts and code generation writes.
pub struct Render<T, const TOTAL: usize>(PhantomData<T>);

impl<T: HasSpec, const TOTAL: usize> Render<T, TOTAL> {
    #[allow(long_running_const_eval, reason = "the text grows with the schema")]
    const WRITTEN: Written<TOTAL> = {
        let mut written = Written {
            bytes: [0; TOTAL],
            places: [Place {
                start: 0,
                len: 0,
                schema: (0, 0),
            }; 5],
        };
        // Everything once, of which each dialect picks its own.
        let (mut all, mut runs) = ([0; TOTAL], [Run::NONE; TOTAL]);
        let mut out = Out::write(T::SPEC.providers.bits(), &mut all, &mut runs);
        let schema = lower::definition(&mut out, T::SPEC);
        let Some(lens) = out.written() else {
            panic!("the schema's two passes disagree, please report this")
        };
        let (mut dialect, mut start) = (0, 0);
        while dialect < 5 {
            let (len, schema) = text::pick(
                1 << dialect,
                &all,
                lens,
                &runs,
                schema,
                &mut written.bytes,
                start,
            );
            written.places[dialect] = Place { start, len, schema };
            start += len;
            dialect += 1;
        }
        assert!(
            start == TOTAL,
            "the schema's two passes disagree, please report this"
        );
        written
    };

    /// The texts, by [`Dialect::index`].
    #[allow(unsafe_code, reason = "const evaluation pays per byte for a check")]
    pub const LOWERED: &'static [Lowered; 5] = &{
        // SAFETY: `WRITTEN` is filled by `pick`, to the last byte.
        let texts = unsafe { text::filled(&Self::WRITTEN.bytes) };
        let mut lowered = [Lowered {
            definition: "",
            schema: "",
        }; 5];
        let mut dialect = 0;
        while dialect < 5 {
            let Place { start, len, schema } = Self::WRITTEN.places[dialect];
            let definition = texts.split_at(start).1.split_at(len).0;
            lowered[dialect] = Lowered {
                definition,
                schema: definition.split_at(schema.1).0.split_at(schema.0).1,
            };
            dialect += 1;
        }
        lowered
    };
}

/// How many bytes the schema of what we send takes, as JSON Schema 2020-12.
pub const fn measure_schema(schema: &Schema) -> usize {
    let mut out = Out::count(Dialects::only(Dialect::JsonSchema).bits());
    out.output = true;
    lower::root(&mut out, schema);
    out.counted()[Dialect::JsonSchema as usize]
}

/// The schema of what we send, of the length that [`measure_schema`] told.
pub struct RenderSchema<T, const LEN: usize>(PhantomData<T>);

impl<T: StrictSchema, const LEN: usize> RenderSchema<T, LEN> {
    #[allow(long_running_const_eval, reason = "the text grows with the schema")]
    const BYTES: [u8; LEN] = {
        let mut bytes = [0; LEN];
        let mut runs = [Run::NONE; 1];
        let mut out = Out::write(
            Dialects::only(Dialect::JsonSchema).bits(),
            &mut bytes,
            &mut runs,
        );
        out.output = true;
        lower::root(&mut out, T::SCHEMA);
        assert!(
            out.is_exact(),
            "the schema's two passes disagree, please report this"
        );
        bytes
    };

    /// The text.
    #[allow(unsafe_code, reason = "const evaluation pays per byte for a check")]
    pub const TEXT: &'static str = {
        // SAFETY: `BYTES` is filled by an `Out`, exactly.
        unsafe { text::filled(&Self::BYTES) }
    };
}

/// The schema of what a model sends, written at run time.
pub fn schema_text(schema: &Schema, dialect: Dialect) -> String {
    at_run_time(dialect, false, &|out| {
        lower::root(out, schema);
    })
}

/// The schema of what we send, written at run time.
pub fn output_schema_text(schema: &Schema) -> String {
    at_run_time(Dialect::JsonSchema, true, &|out| {
        lower::root(out, schema);
    })
}

/// A tool's definition, written at run time; empty where the tool is not offered in the dialect.
pub fn definition_text(spec: &Spec, dialect: Dialect) -> String {
    if !spec.providers.contains(dialect) {
        return String::new();
    }
    at_run_time(dialect, false, &|out| {
        lower::definition(out, spec);
    })
}

fn at_run_time(dialect: Dialect, output: bool, walk: &dyn Fn(&mut Out<'_>)) -> String {
    let mask = Dialects::only(dialect).bits();
    let mut out = Out::count(mask);
    (out.output, out.foreign_keys) = (output, true);
    walk(&mut out);
    let mut bytes = vec![0; out.counted()[dialect.index()]];
    let mut runs = [Run::NONE; 1];
    let mut out = Out::write(mask, &mut bytes, &mut runs);
    (out.output, out.foreign_keys) = (output, true);
    walk(&mut out);
    debug_assert!(out.is_exact());
    String::from_utf8(bytes).unwrap_or_default()
}
