//! A generated type and its serde twin: a text is read with both decoders, and the results are compared.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use tool_core::__private0::read::{Decode, Reading, Unread, by_serde, from_text, guarded};
use tool_core::StrictSchema;
use tool_core::schema::{Kind, Schema};

/// A generated type and the same type with serde's `Deserialize`, its twin.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name of the type, without its module.
    pub name: &'static str,
    /// The schema of the type.
    pub schema: &'static Schema,
    /// Reads a text with both decoders, and compares the results with each other and with the guard.
    pub compare: fn(&str) -> Result<Verdict, Disagreement>,
}

/// The result on which both decoders agree for one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The text was read unchanged.
    Exact,
    /// The guard rewrote some values, such as null for a default; serde read the rewritten text.
    Edited,
    /// The guard refuses the text, because it is not JSON or does not match the schema.
    Unfit,
    /// The guard admits the text, and a user-defined reader refuses a value in it.
    Refused,
}

/// A difference between the results of the two decoders, or between a decoder and the guard, for one text.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The kind of the disagreement.
    pub what: &'static str,
    /// The result of the one-pass decoder.
    pub own: String,
    /// The result of the guard with serde.
    pub twin: String,
    /// The reason why the difference is accepted, if the difference is known.
    pub known: Option<Known>,
}

/// A known and accepted difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// serde's derive buffers the values inside a tagged enum, an untagged enum and a flattened record, and loses their position, so its pointer ends
    /// at the enum or record. The one-pass decoder points at the value that a user-defined reader refused. If two values were refused, serde may
    /// report the other value.
    SerdeLosesThePosition,
    /// If a user-defined reader refuses a value, the one-pass decoder reports the value as it was written, and serde reports it with the defaults
    /// filled in.
    DescribedAsWritten,
    /// serde's derive cannot read 128-bit numbers from its buffers.
    SerdeBuffersNoWideNumber,
    /// A value matches the schema of a variant of an untagged union, but a user-defined reader inside refuses the value. The one-pass decoder reports
    /// the reader's error; serde only reports that no variant matched.
    SerdeLosesTheError,
    /// A recursive record is flattened into a different record. The tree of the outer record has no node with the name of the recursive record, so
    /// the guard admits only values without the recursion. The rule `ref-target` refuses such arguments of a tool.
    FlattenedCycle,
}

impl Known {
    /// All known differences, in the order of the variants.
    pub const ALL: [Self; 5] = [
        Self::SerdeLosesThePosition,
        Self::DescribedAsWritten,
        Self::SerdeBuffersNoWideNumber,
        Self::SerdeLosesTheError,
        Self::FlattenedCycle,
    ];
}

/// Returns the case of a type and its twin.
#[must_use]
pub fn case<O, T>(name: &'static str) -> Case
where
    O: StrictSchema + Decode + Debug,
    T: StrictSchema + Decode + DeserializeOwned + Debug,
{
    Case {
        name,
        schema: O::SCHEMA,
        compare: compare::<O, T>,
    }
}

fn compare<O, T>(text: &str) -> Result<Verdict, Disagreement>
where
    O: StrictSchema + Decode + Debug,
    T: StrictSchema + Decode + DeserializeOwned + Debug,
{
    let own = DecoderResult::of(from_text::<O>(text));
    let twin = DecoderResult::of(by_serde::<T>(text));
    let verdict = judge(O::SCHEMA, text, &own, &twin)?;
    // The one-pass decoder also reads the twin, and passes the inner types with a `Deserialize` to serde.
    let mixed = DecoderResult::of(from_text::<T>(text));
    judge(T::SCHEMA, text, &mixed, &twin)?;
    Ok(verdict)
}

/// The result of one decoder.
#[derive(Debug)]
struct DecoderResult {
    /// The value as `Debug` prints it.
    value: Result<String, Unread>,
    exact: bool,
}

impl DecoderResult {
    fn of<T: Debug>(read: Result<Reading<T>, Unread>) -> Self {
        match read {
            Ok(Reading { value, exact }) => Self {
                value: Ok(format!("{value:?}")),
                exact,
            },
            Err(unread) => Self {
                value: Err(unread),
                exact: false,
            },
        }
    }
}

/// Compares the results of both decoders with each other and with the guard.
fn judge(
    schema: &'static Schema,
    text: &str,
    own: &DecoderResult,
    twin: &DecoderResult,
) -> Result<Verdict, Disagreement> {
    let differ = |what| {
        Err(Disagreement {
            what,
            own: format!("{own:?}"),
            twin: format!("{twin:?}"),
            known: known(schema, own, twin),
        })
    };
    let guard = guarded(schema, text);
    // Blank text is read as `{}`, which does not count as a change.
    let corrected = |admitted: &str| admitted != text && !text.trim_ascii().is_empty();
    let verdict = match (&own.value, &guard) {
        (Ok(_), Err(_)) => {
            return differ("the one-pass decoder accepts a text that the guard refuses");
        }
        (Err(Unread { own: None, .. }), Ok(_)) => {
            return differ(
                "the one-pass decoder refuses a text that the guard admits, but no user-defined reader refused it",
            );
        }
        (Ok(_), Ok(admitted)) if own.exact && corrected(admitted) => {
            return differ("the guard corrected a text that the one-pass decoder reports as exact");
        }
        (Ok(_), Ok(_)) if own.exact => Verdict::Exact,
        (Ok(_), Ok(_)) => Verdict::Edited,
        (Err(_), Err(_)) => Verdict::Unfit,
        (Err(_), Ok(_)) => Verdict::Refused,
    };
    match (&own.value, &twin.value) {
        (Ok(own), Ok(twin)) if own != twin => differ("the values differ"),
        (Ok(_), Err(_)) => differ("the one-pass decoder reads a text that serde refuses"),
        (Err(_), Ok(_)) => differ("the one-pass decoder refuses a text that serde reads"),
        (Err(own), Err(twin)) if own.issues != twin.issues => differ("the issues differ"),
        _ => Ok(verdict),
    }
}

/// Returns the known difference that explains these results, if there is one.
fn known(schema: &'static Schema, own: &DecoderResult, twin: &DecoderResult) -> Option<Known> {
    let first_issue = |said: &DecoderResult| match &said.value {
        Err(Unread { issues, .. }) => issues.first().cloned(),
        Ok(_) => None,
    };
    let by_serde = first_issue(twin)?;
    let says = |words: &str| by_serde.expected.contains(words);
    let no_shape = says("data did not match any variant of untagged enum");
    if says("i128 is not supported")
        || says("u128 is not supported")
        || no_shape && own.value.is_ok() && is_wide(schema)
    {
        return Some(Known::SerdeBuffersNoWideNumber);
    }
    match (&own.value, first_issue(own)) {
        (Ok(_), _) if by_serde.expected == "a nested `Chain`" => Some(Known::FlattenedCycle),
        (Err(Unread { own: Some(_), .. }), Some(one))
            if no_shape && one.pointer.starts_with(&*by_serde.pointer) =>
        {
            Some(Known::SerdeLosesTheError)
        }
        (Err(Unread { own: Some(_), .. }), Some(one)) if one.expected == by_serde.expected => {
            let inside = one.pointer.strip_prefix(&*by_serde.pointer)?;
            if inside.starts_with('/') {
                Some(Known::SerdeLosesThePosition)
            } else if inside.is_empty() && one.found.starts_with("an object") {
                Some(Known::DescribedAsWritten)
            } else {
                None
            }
        }
        _ => None,
    }
}

/// Returns whether a tree contains a 128-bit integer.
fn is_wide(schema: &Schema) -> bool {
    match &schema.kind {
        Kind::Integer(integer) => matches!(integer.name, "i128" | "u128"),
        Kind::Optional(inner) | Kind::Constrained(inner, _) | Kind::Map(inner) => is_wide(inner),
        Kind::Array { items, .. } => is_wide(items),
        Kind::Tuple(items) => items.iter().any(|item| is_wide(item)),
        Kind::Object(fields) => fields.iter().any(|field| is_wide(field.schema)),
        Kind::Union(union) => {
            let mut inside = union.variants.iter().filter_map(|variant| variant.schema);
            inside.any(is_wide)
        }
        _ => false,
    }
}
