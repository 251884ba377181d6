//! Provider dialects of JSON Schema, and a tool's definition rendered in them at compile time or at run time.

use core::marker::PhantomData;

pub use tool_rules::{Dialect, Dialects};

pub use crate::schema::lower::frame::{
    Heading, definition_around, is_request, schema_key, wrapper,
};

use crate::schema::lower;
use crate::schema::text::{self, Out, Run};
use crate::schema::{Example, Schema, StrictSchema, Text};

/// The input for rendering the definition of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Name of the tool, as sent to the provider.
    pub name: &'static str,
    /// Display name; only MCP has a field for it.
    pub title: Option<Text>,
    /// Description for the model: what the tool does, and when to use it.
    pub description: Text,
    /// Schema of the arguments.
    pub input: &'static Schema,
    /// Example calls of the tool.
    pub examples: &'static [ToolExample],
    /// Dialects in which the tool is offered.
    pub providers: Dialects,
    /// Annotations about side effects.
    pub hints: Hints,
}

/// An example call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ToolExample {
    /// A description of the example, in one sentence.
    pub label: Option<Text>,
    /// The arguments of the call, as a JSON object.
    pub input: Example,
    /// The result of the call, if the example states it.
    pub result: Option<Example>,
}

/// MCP's annotations of a tool (`ToolAnnotations`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "the protocol has four independent hints"
)]
pub struct Hints {
    /// Whether the tool only reads.
    pub read_only: bool,
    /// Whether the tool may delete or overwrite data.
    pub destructive: bool,
    /// Whether repeating a call has no further effect.
    pub idempotent: bool,
    /// Whether the tool interacts with systems outside the host.
    pub open_world: bool,
}

/// Associates a type with a tool's [`Spec`]; the generated struct of a tool implements it.
pub trait HasSpec {
    /// The specification of the tool.
    const SPEC: &'static Spec;
}

/// A tool's definition as JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// The complete definition: one element of a list of tools. Empty if the tool is not offered in the dialect.
    pub definition: &'static str,
    /// The part of `definition` that is the schema of the arguments.
    pub schema: &'static str,
}

/// Returns the length in bytes of a tool's definition in each dialect; zero if the tool is not offered in the dialect.
pub const fn measure(spec: &Spec) -> [usize; Dialect::COUNT] {
    let mut out = Out::count(spec.providers.bits());
    lower::definition(&mut out, spec);
    out.counted()
}

/// Returns the sum of the lengths of all definitions.
pub const fn total(lens: &[usize; Dialect::COUNT]) -> usize {
    let (mut total, mut dialect) = (0, 0);
    while dialect < Dialect::COUNT {
        total += lens[dialect];
        dialect += 1;
    }
    total
}

/// The position of a definition in the buffer, and the range of its schema in the definition.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    len: usize,
    schema: (usize, usize),
}

/// The definitions in all dialects, in one buffer.
struct Written<const TOTAL: usize> {
    bytes: [u8; TOTAL],
    places: [Place; Dialect::COUNT],
}

/// A tool's definitions in all dialects; `TOTAL` is the [`total`] of the lengths that [`measure`] returns. All dialects share one
/// buffer and one parameter, because each constant that a macro writes costs the compiler more than the text in it.
///
/// Use this type only in the body of a generic `fn`: then `cargo check` only measures, and code generation renders.
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
            }; Dialect::COUNT],
        };
        // Write the text of all dialects once, then let each dialect pick its part.
        let (mut all, mut runs) = ([0; TOTAL], [Run::NONE; TOTAL]);
        let mut out = Out::write(T::SPEC.providers.bits(), &mut all, &mut runs);
        let schema = lower::definition(&mut out, T::SPEC);
        let Some(lens) = out.written() else {
            panic!("the schema's two passes disagree, please report this")
        };
        let (mut dialect, mut start) = (0, 0);
        while dialect < Dialect::COUNT {
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

    /// The definitions, by [`Dialect::index`].
    #[allow(unsafe_code, reason = "const evaluation pays per byte for a check")]
    pub const LOWERED: &'static [Lowered; Dialect::COUNT] = &{
        // SAFETY: `pick` has filled `WRITTEN` to the last byte.
        let texts = unsafe { text::filled(&Self::WRITTEN.bytes) };
        let mut lowered = [Lowered {
            definition: "",
            schema: "",
        }; Dialect::COUNT];
        let mut dialect = 0;
        while dialect < Dialect::COUNT {
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

/// Returns the length in bytes of the schema of a tool's output, as JSON Schema 2020-12.
pub const fn measure_schema(schema: &Schema) -> usize {
    let mut out = Out::count(Dialects::only(Dialect::JsonSchema).bits());
    out.output = true;
    lower::root(&mut out, schema);
    out.counted()[Dialect::JsonSchema as usize]
}

/// The schema of a tool's output as text; `LEN` is the length that [`measure_schema`] returns.
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

    /// The schema as JSON text.
    #[allow(unsafe_code, reason = "const evaluation pays per byte for a check")]
    pub const TEXT: &'static str = {
        // SAFETY: an `Out` has filled `BYTES` exactly.
        unsafe { text::filled(&Self::BYTES) }
    };
}

/// Renders the schema of a tool's arguments at run time.
pub fn schema_text(schema: &Schema, dialect: Dialect) -> String {
    at_run_time(dialect, false, &|out| {
        lower::root(out, schema);
    })
}

/// Renders the schema of a tool's output at run time.
pub fn output_schema_text(schema: &Schema) -> String {
    at_run_time(Dialect::JsonSchema, true, &|out| {
        lower::root(out, schema);
    })
}

/// Renders a tool's definition at run time; empty if the tool is not offered in the dialect.
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
