//! One type, read both ways.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use tool_core::StrictSchema;
use tool_core::private::read::{Decode, Reading, Unread, by_serde, from_text, guarded};
use tool_core::schema::{Kind, Schema};

/// A type and its twin.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The type, without its module.
    pub name: &'static str,
    /// Its schema.
    pub schema: &'static Schema,
    /// Reads a text both ways.
    pub compare: fn(&str) -> Result<Verdict, Disagreement>,
}

/// What both said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The text was read as it stands.
    Exact,
    /// The text was read, and serde and policies read another one.
    Edited,
    /// The schema refuses it.
    Unfit,
    /// The schema admits it, and a reader of the user's own refuses it.
    Refused,
}

/// What the two ways said of one text.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// What must not be.
    pub what: &'static str,
    /// What the one-pass reader said.
    pub own: String,
    /// What the other way said.
    pub twin: String,
    /// Why it is taken all the same.
    pub known: Option<Known>,
}

/// A difference that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// serde's derive keeps the values inside of a tagged enum, an untagged one and a flattened record in a buffer, and forgets where they stood: its
    /// pointer ends there, and one pass says which value a reader of the user's own refused. Which of two such values is reported follows serde's order, too.
    SerdeForgetsThePlace,
    /// A value that a reader of the user's own refused is described as it was written in one pass, and with its defaults by serde.
    DescribedAsWritten,
    /// serde's derive cannot take numbers of 128 bits out of its buffers.
    SerdeBuffersNoWideNumber,
    /// A shape of an untagged union fits its schema, and a reader of the user's own inside refuses: one pass says why, and serde only that no shape fits.
    SerdeForgetsTheReason,
    /// A record that holds itself is flattened into another one: in the tree of that, nothing has the name that it refers to, and the guard admits only
    /// what does not go there. The rule `ref-target` refuses such arguments of a tool.
    FlattenedCircle,
}

impl Known {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::SerdeForgetsThePlace,
        Self::DescribedAsWritten,
        Self::SerdeBuffersNoWideNumber,
        Self::SerdeForgetsTheReason,
        Self::FlattenedCircle,
    ];
}

/// The case of a type and its twin.
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
    let own = Said::of(from_text::<O>(text));
    let twin = Said::of(by_serde::<T>(text));
    let verdict = judge(O::SCHEMA, text, &own, &twin)?;
    // A type with parameters is read in one pass although it has a `Deserialize`, and so may be what it holds.
    let mixed = Said::of(from_text::<T>(text));
    judge(T::SCHEMA, text, &mixed, &twin)?;
    Ok(verdict)
}

/// What one way said.
#[derive(Debug)]
struct Said {
    /// The value as `Debug` writes it.
    value: Result<String, Unread>,
    exact: bool,
}

impl Said {
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

/// Compares what two ways said, and what the guard says.
fn judge(
    schema: &'static Schema,
    text: &str,
    own: &Said,
    twin: &Said,
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
    // Blank text is read as `{}`, which is neither a correction.
    let corrected = |admitted: &str| admitted != text && !text.trim_ascii().is_empty();
    let verdict = match (&own.value, &guard) {
        (Ok(_), Err(_)) => return differ("the reader takes what the guard refuses"),
        (Err(Unread { own: None, .. }), Ok(_)) => {
            return differ("the reader refuses what the guard admits, and says nothing");
        }
        (Ok(_), Ok(admitted)) if own.exact && corrected(admitted) => {
            return differ("the guard corrected what the reader says is exact");
        }
        (Ok(_), Ok(_)) if own.exact => Verdict::Exact,
        (Ok(_), Ok(_)) => Verdict::Edited,
        (Err(_), Err(_)) => Verdict::Unfit,
        (Err(_), Ok(_)) => Verdict::Refused,
    };
    match (&own.value, &twin.value) {
        (Ok(own), Ok(twin)) if own != twin => differ("the values differ"),
        (Ok(_), Err(_)) => differ("one pass reads what serde refuses"),
        (Err(_), Ok(_)) => differ("one pass refuses what serde reads"),
        (Err(own), Err(twin)) if own.issues != twin.issues => differ("the issues differ"),
        _ => Ok(verdict),
    }
}

/// Why a difference is taken.
fn known(schema: &'static Schema, own: &Said, twin: &Said) -> Option<Known> {
    let told = |said: &Said| match &said.value {
        Err(Unread { issues, .. }) => issues.first().cloned(),
        Ok(_) => None,
    };
    let by_serde = told(twin)?;
    let says = |words: &str| by_serde.expected.contains(words);
    let no_shape = says("data did not match any variant of untagged enum");
    if says("i128 is not supported")
        || says("u128 is not supported")
        || no_shape && own.value.is_ok() && is_wide(schema)
    {
        return Some(Known::SerdeBuffersNoWideNumber);
    }
    match (&own.value, told(own)) {
        (Ok(_), _) if by_serde.expected == "a nested `Chain`" => Some(Known::FlattenedCircle),
        (Err(Unread { own: Some(_), .. }), Some(one))
            if no_shape && one.pointer.starts_with(&*by_serde.pointer) =>
        {
            Some(Known::SerdeForgetsTheReason)
        }
        (Err(Unread { own: Some(_), .. }), Some(one)) if one.expected == by_serde.expected => {
            let inside = one.pointer.strip_prefix(&*by_serde.pointer)?;
            if inside.starts_with('/') {
                Some(Known::SerdeForgetsThePlace)
            } else if inside.is_empty() && one.found.starts_with("an object") {
                Some(Known::DescribedAsWritten)
            } else {
                None
            }
        }
        _ => None,
    }
}

/// Whether a whole number of 128 bits is in a tree.
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
